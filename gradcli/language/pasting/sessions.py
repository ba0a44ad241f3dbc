"""What was typed, where more than that is pasted: sessions of Python and IPython, Markdown."""

import re

CELL = re.compile(r"In ?\[\d*\]: ?")
CELL_GOES_ON = re.compile(r" *\.\.\.: ?")
ANSWER = re.compile(r"Out ?\[\d*\]: ?")
FENCE = re.compile(r" *(```|~~~)")


def typed(text: str) -> str:
    """The lines behind the prompts of a session, or between the fences of Markdown; the text as it
    is where there are none.
    """
    lines = text.splitlines()
    if any(map(FENCE.match, lines)):
        lines = _fenced(lines)
    if any(line.startswith(">>>") for line in lines):
        lines = [x[3:].removeprefix(" ") for x in lines if x.startswith((">>>", "..."))]
    elif any(map(CELL.match, lines)):
        lines = _cells(lines)
    return text if lines == text.splitlines() else "\n".join(lines)


def _fenced(lines: list[str]) -> list[str]:
    inside, kept = False, []
    for line in lines:
        if FENCE.match(line):
            inside = not inside
        elif inside:
            kept.append(line)
    return kept


def _cells(lines: list[str]) -> list[str]:
    """What was typed into IPython: a cell without prompts of its own may go on for lines."""
    typing, kept = False, []
    for line in lines:
        if start := CELL.match(line) or CELL_GOES_ON.match(line):
            typing = True
            kept.append(line[start.end() :])
        elif ANSWER.match(line) or not line.strip():
            typing = False
        elif typing:
            kept.append(line)
    return kept
