"""Explanations as pictures in SVG: what a terminal shows, on white paper, below the command."""

import io
import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from ..explanation.blocks import Document
from .environment import Environment
from .terminal import render_terminal

INK, PAPER, RULE = (27, 31, 39), (255, 255, 255), "#dde1e8"
ANSI = [(0, 0, 0), (170, 0, 0), (0, 110, 0), (125, 85, 0), (0, 0, 170), (170, 0, 170)]
THEME = TerminalTheme(PAPER, INK, [*ANSI, (0, 110, 110), (85, 85, 85)])
PICTURE = (  # as rich's own, without its fonts from elsewhere and without the frame of a window
    '<svg viewBox="0 24 {width} {height}" xmlns="http://www.w3.org/2000/svg">\n'
    "<style>\n.{unique_id}-matrix {{ font: {char_height}px/{line_height}px ui-monospace, Menlo, "
    "Consolas, 'DejaVu Sans Mono', monospace }}\n{styles}\n</style>\n"
    "<defs>{lines}</defs>\n"
    f'<rect y="24" width="100%" height="100%" rx="10" fill="#ffffff" stroke="{RULE}"/>\n'
    '<g transform="translate({terminal_x}, {terminal_y})">\n'
    '{backgrounds}<g class="{unique_id}-matrix">\n{matrix}\n</g>\n</g>\n</svg>\n'
)


def render_svg(documents: Sequence[Document], environment: Environment) -> str:
    """Documents as one picture, which is as wide as its longest line."""
    text = Text("\n\n").join(_shown(d, environment) for d in documents)
    width = max((line.cell_len for line in text.split("\n")), default=1)
    console = Console(
        file=io.StringIO(),
        width=max(width, 1),
        color_system="256",
        force_terminal=True,
        force_jupyter=False,
        legacy_windows=False,
        record=True,
        _environ={},
    )
    console.print(text, soft_wrap=True)
    return console.export_svg(theme=THEME, code_format=PICTURE)


def _shown(document: Document, environment: Environment) -> Text:
    """The command, and what it answers."""
    answer = render_terminal(document._replace(more=()), environment._replace(color=True))
    text = Text.from_ansi(answer.strip("\n"))
    if not document.command:
        return text
    typed = textwrap.wrap(f"$ {document.command}", environment.width, subsequent_indent="    ")
    return Text("\n").join([Text("\n".join(typed), "bold"), Text(""), text])
