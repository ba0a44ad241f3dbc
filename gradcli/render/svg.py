"""Explanations as SVG pictures: the terminal's output on white, below the command. Only sparsity
patterns are drawn, in smaller cells than in a terminal.
"""

import io
import textwrap
from collections.abc import Iterator, Sequence
from math import ceil

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from ..budget import expect
from ..explanation.blocks import Block, Code, Document, Picture, Prose
from .environment import Environment
from .spy import fine_legend, fine_rows, outlines
from .terminal import render_terminal

INK, PAPER, RULE = (27, 31, 39), (255, 255, 255), "#dde1e8"
ANSI = [(0, 0, 0), (170, 0, 0), (0, 110, 0), (125, 85, 0), (0, 0, 170), (170, 0, 170)]
THEME = TerminalTheme(PAPER, INK, [*ANSI, (0, 110, 110), (85, 85, 85)])
PICTURE = (  # rich's picture, without external fonts and window frame
    '<svg viewBox="0 24 {width} {height}" xmlns="http://www.w3.org/2000/svg">\n'
    "<style>\n.{unique_id}-matrix {{ font: {char_height}px/{line_height}px ui-monospace, Menlo, "
    "Consolas, 'DejaVu Sans Mono', monospace }}\n{styles}\n</style>\n"
    "<defs>{lines}</defs>\n"
    f'<rect y="24" width="100%" height="100%" rx="10" fill="#ffffff" stroke="{RULE}"/>\n'
    '<g transform="translate({terminal_x}, {terminal_y})">\n'
    '{backgrounds}<g class="{unique_id}-matrix">\n{matrix}\n</g>\n</g>\n</svg>\n'
)


COLUMN, LINE = 12.2, 24.4  # size of a character in rich's picture
PER_CHARACTER = 2e-6  # seconds that rich needs for its picture
MOST_LINES = 18  # lines of a drawn pattern
HERE = "\ue000"  # placeholder for a drawn pattern: a private-use character
FILLS = {1: "#8d9fd0", 2: "#34488f"}


def render_svg(documents: Sequence[Document], environment: Environment) -> str:
    """Documents as one picture, as wide as its longest line."""
    text = Text("\n\n").join(_shown(d, environment) for d in documents)
    expect(len(text.plain) * PER_CHARACTER)
    lines = text.plain.split("\n")
    console = Console(
        file=io.StringIO(),
        width=max([1, *(Text(line).cell_len for line in lines)]),
        color_system="256",
        force_terminal=True,
        force_jupyter=False,
        legacy_windows=False,
        record=True,
        _environ={},
    )
    console.print(text, soft_wrap=True)
    drawn = "\n".join(_drawn(_pictures(documents), lines))
    frame = PICTURE.replace("{matrix}", "{matrix}" + drawn)
    return console.export_svg(theme=THEME, code_format=frame).replace(HERE, "")


def _shown(document: Document, environment: Environment) -> Text:
    """The command and its answer."""
    sections = tuple(s._replace(blocks=tuple(_spaced(s.blocks))) for s in document.sections)
    document = document._replace(more=(), sections=sections)
    answer = render_terminal(document, environment._replace(color=True))
    text = Text.from_ansi(answer.strip("\n"))
    if not document.command:
        return text
    typed = textwrap.wrap(f"$ {document.command}", environment.width, subsequent_indent="    ")
    return Text("\n").join([Text("\n".join(typed), "bold"), Text(""), text])


# ---- sparsity patterns ---------------------------------------------------------------------------


def _spaced(blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks, with empty lines in place of a drawn pattern."""
    for block in blocks:
        if not isinstance(block, Picture):
            yield block
            continue
        high = len(fine_rows(block)) * _cell_side(block)
        yield Code("\n".join([HERE] * (ceil(high / LINE) + 1)), "")
        yield Prose(fine_legend(block))


def _pictures(documents: Sequence[Document]) -> Iterator[Picture]:
    for document in documents:
        for section in document.sections:
            yield from (b for b in section.blocks if isinstance(b, Picture))


def _cell_side(picture: Picture) -> float:
    """The side of a cell, at most the height of a line."""
    rows = fine_rows(picture)
    return min(LINE, MOST_LINES * LINE / max(len(rows), *map(len, rows)))


def _drawn(pictures: Iterator[Picture], lines: Sequence[str]) -> Iterator[str]:
    """The SVG of each pattern, at the position of its placeholder."""
    marked = [line.strip() == HERE for line in lines]
    starts = (k for k, here in enumerate(marked) if here and not (k and marked[k - 1]))
    for start, picture in zip(starts, pictures):
        rows, side = fine_rows(picture), _cell_side(picture)
        paths = "".join(f'<path fill="{FILLS[s]}" d="{path}"/>' for s, path in outlines(rows))
        frame = f'<rect width="{len(rows[0])}" height="{len(rows)}" fill="none" stroke="{RULE}"'
        at = f"translate({2 * COLUMN:g} {(start + 0.5) * LINE:g}) scale({side:g})"
        yield (
            f'<g class="spy" transform="{at}" shape-rendering="crispEdges">{paths}'
            f'{frame} vector-effect="non-scaling-stroke"/></g>'
        )
