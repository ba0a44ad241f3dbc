"""The options that commands share, each said once."""

from enum import Enum
from typing import Annotated

import typer

Expression = Annotated[str, typer.Argument(metavar="EXPR", help='An expression, as "relu(x @ W + b).sum()"; - reads it from standard input.', show_default=False)]
Shapes = Annotated[list[str], typer.Option("-s", "--shape", metavar="NAME=DIMS", help="The shape of an input: x=2x3. Repeatable.", show_default=False)]
Values = Annotated[list[str], typer.Option("-v", "--value", metavar="NAME=VALUE", help="The value of an input: a list, a pasted tensor, an expression, @file. Repeatable.", show_default=False)]
Grad = Annotated[str | None, typer.Option("-g", "--grad", metavar="SEED", help="The seed, the argument of backward(): as a value, or over the inputs: ones_like(out).", show_default=False)]
Wrt = Annotated[str | None, typer.Option("-w", "--wrt", metavar="NAME,...", help="The inputs to differentiate by; all of them, if left out.", show_default=False)]
Seed = Annotated[int, typer.Option("--random-seed", metavar="N", help="Where randn and rand begin, as torch.manual_seed.")]
LimitOption = Annotated[list[str], typer.Option("--limit", metavar="KIND=N", help="Raise a limit: length, nesting, operations, elements, digits.", show_default=False)]
Dtype = Annotated[str, typer.Option("--dtype", metavar="NAME", help="The precision of the numbers: float64 or float32.")]
Output = Annotated[str | None, typer.Option("-o", "--output", metavar="FILE", help="Write to a file.", show_default=False)]
Show = Annotated[str | None, typer.Option("--show", metavar="SECTION,...", help="Only these: answer, inputs, forward, seed, jacobian, backward, gradient, checks, code, notes.", show_default=False)]
Element = Annotated[str | None, typer.Option("--element", metavar="x[0,1]", help="The element to follow.", show_default=False)]
Precision = Annotated[int, typer.Option("-p", "--precision", metavar="N", help="Significant digits.", min=1, max=17)]
Width = Annotated[int | None, typer.Option("--width", metavar="N", help="Columns; those of the terminal, if left out.", min=40, max=10_000, show_default=False)]
Full = Annotated[bool, typer.Option("--full", help="Leave nothing out of long lists and large tables.", show_default=False)]
Ascii = Annotated[bool, typer.Option("--ascii", help="Nothing but ASCII.", show_default=False)]
Debug = Annotated[bool, typer.Option("--debug", help="Show a traceback with an error.", show_default=False)]


class Color(str, Enum):
    """When to use colour."""

    auto = "auto"
    always = "always"
    never = "never"


class Format(str, Enum):
    """What an explanation can be written as."""

    terminal = "terminal"
    plain = "plain"
    markdown = "markdown"
    json = "json"


class GraphFormat(str, Enum):
    """What a graph can be drawn as."""

    terminal = "terminal"
    plain = "plain"
    markdown = "markdown"
    json = "json"
    mermaid = "mermaid"
    dot = "dot"


ColorOption = Annotated[Color, typer.Option("--color", help="Before NO_COLOR and FORCE_COLOR.")]
FormatOption = Annotated[Format | None, typer.Option("-f", "--format", help="terminal, or plain in a pipe, if left out.", show_default=False)]
GraphFormatOption = Annotated[GraphFormat | None, typer.Option("-f", "--format", help="terminal, or plain in a pipe, if left out.", show_default=False)]
