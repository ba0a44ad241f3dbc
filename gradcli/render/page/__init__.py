"""The style and the script of the page, as files that an editor knows."""

from functools import cache
from pathlib import Path


@cache
def text(name: str) -> str:
    """The text of one of the files here."""
    return (Path(__file__).parent / name).read_text("utf-8")
