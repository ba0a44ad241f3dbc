"""Programs, coloured where the output shows colours."""

from .environment import Environment


def render_program(text: str, environment: Environment) -> str:
    """The text of a Python program as it is, or with escapes that colour it."""
    if not environment.color:
        return text
    from rich.console import Console
    from rich.syntax import Syntax

    console = Console(
        color_system="standard",
        force_terminal=True,
        force_jupyter=False,
        width=environment.width,
        legacy_windows=False,
        _environ={},
    )
    syntax = Syntax("", "python", theme="ansi_dark", background_color="default")
    with console.capture() as captured:
        console.print(syntax.highlight(text), soft_wrap=True, end="")
    return captured.get()
