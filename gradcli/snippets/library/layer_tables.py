"""Compiles layers of torch.nn from tables of one entry each. Such a layer stores its arguments and
calls a function.

    LeakyReLU(negative_slope=0.01, inplace=False)
        | F.leaky_relu(input, negative_slope, inplace) | negative_slope=, inplace?

are the call that makes a layer, whose arguments become attributes; its output, in which names are
attributes or inputs; and what its text shows: `p=` with the name, `p` without, `p?` if it is true.
A name that ends in Loss is a loss, whose weights are buffers.
"""

import ast
import re

START = 'LAYERS = """\n'  # the first line of a table in sources/*.txt
LIBRARIES = {"F", "torch"}
OF_LOSSES = "size_average", "reduce", "reduction"  # arguments that the base class _Loss takes
OF_MODULES = "reduction", "training", "weight"  # attributes of base classes
BUFFERS = {"weight", "pos_weight"}


def entries(block: str) -> dict[str, str]:
    """The entries of a table, each in one line, by the name of the layer."""
    lines = re.sub(r"\n {4}", " ", block.split('"""')[1].strip()).splitlines()
    return {line.partition("(")[0]: line for line in lines}


def as_class(entry: str, module: str) -> str:
    """The source of the class of a layer; `module` is the base class's prefix: "nn." or ""."""
    call, output, shown = (part.strip() for part in entry.split("|"))
    name, _, parameters = call.removesuffix(")").partition("(")
    arguments = _names(parameters)
    is_loss = name.endswith("Loss")
    base = "_Loss" if is_loss else "Module"
    if is_loss and "weight" not in arguments and "weight" in output:
        base = "_WeightedLoss"
    forward = _Forward({*arguments, *OF_MODULES})
    computed = ast.unparse(forward.visit(ast.parse(output, mode="eval")))
    lines = [f"class {name}({module}{base}):"]
    if arguments:
        lines += [f"    def __init__(self, {parameters}):", *_constructor(arguments, is_loss)]
    lines += [f"    def forward(self, {', '.join(forward.inputs)}):", f"        return {computed}"]
    if shown:
        texts = ", ".join(_shown(part.strip()) for part in shown.split(","))
        lines += ["    def extra_repr(self):", f"        return ', '.join([{texts}])"]
    return "\n".join(lines)


def _names(parameters: str) -> list[str]:
    """The parameter names in a parameter list such as "input, p=0.5"."""
    given = ast.parse(f"lambda {parameters}: 0", mode="eval").body.args  # type: ignore[attr-defined]
    return [a.arg for a in (*given.args, *given.kwonlyargs)]


def _constructor(arguments: list[str], is_loss: bool) -> list[str]:
    """The statements of `__init__`: super().__init__() and an assignment for each argument."""
    of_class = [a for a in OF_LOSSES if is_loss and a in arguments]
    lines = [f"super().__init__({', '.join(f'{a}={a}' for a in of_class)})"]
    for a in (a for a in arguments if a not in of_class):
        is_buffer = is_loss and a in BUFFERS
        lines.append(f"self.register_buffer('{a}', {a})" if is_buffer else f"self.{a} = {a}")
    return [" " * 8 + line for line in lines]


class _Forward(ast.NodeTransformer):
    """Rewrites the output expression: names of attributes become `self.NAME`. `inputs` collects all
    other names, in order.
    """

    def __init__(self, attributes: set[str]):
        self.attributes = attributes
        self.inputs: dict[str, None] = {}

    def visit_Name(self, e: ast.Name) -> ast.expr:
        if e.id in self.attributes:
            return ast.Attribute(ast.Name("self"), e.id)
        if e.id not in LIBRARIES:
            self.inputs[e.id] = None
        return e


def _shown(part: str) -> str:
    """The source of an expression for the repr() of a layer: the items for one attribute."""
    if part.endswith("?"):
        return f"*(['{part[:-1]}=True'] if self.{part[:-1]} else [])"
    start, attribute = (part, part[:-1]) if part.endswith("=") else ("", part)
    return f"f'{start}{{self.{attribute}!r}}'"
