"""Breaks long lines of Python inside brackets."""

from collections.abc import Iterator

WIDEST = 100
ROW = 25  # rows of a matrix with more characters get a line each
INDENT = "    "
PAIRS = {")": "(", "]": "[", "}": "{"}


def broken(text: str) -> str:
    """A program whose lines are at most WIDEST long, as far as brackets allow it."""
    return "\n".join(part for line in text.split("\n") for part in _parts(line))


def _parts(line: str) -> list[str]:
    """A line, split if it is too long: the content of its widest bracket gets separate lines."""
    if len(line) <= WIDEST or line.lstrip().startswith(('"""', "#")):
        return [line]
    widest = max(_brackets(line), key=lambda at: at[1] - at[0], default=None)
    if widest is None:
        return [line]
    start, end = widest
    indent = line[: len(line) - len(line.lstrip())] + INDENT
    inside = [part for packed in _packed(line[start + 1 : end], indent) for part in _parts(packed)]
    return [line[: start + 1], *inside, indent.removesuffix(INDENT) + line[end:]]


def _packed(inner: str, indent: str) -> Iterator[str]:
    """The content of a bracket on lines that end in commas, filled up to WIDEST; long rows of a
    matrix have a line each.
    """
    cuts = [at for at, character, depth in _characters(inner) if character == "," and not depth]
    starts = [0, *(at + 1 for at in cuts)]
    items = [inner[a:b].strip() for a, b in zip(starts, [*starts[1:], len(inner)])]
    line = indent
    for item in filter(None, items):
        is_row = item.startswith("[") and len(item) > ROW
        if line != indent and (is_row or len(line) + 1 + len(item) > WIDEST):
            yield line
            line = indent
        line += item if line == indent else f" {item}"
    yield line


def _brackets(line: str) -> Iterator[tuple[int, int]]:
    """The positions of the outermost brackets that are not empty."""
    start = 0
    for at, character, depth in _characters(line):
        if depth == 1 and character in PAIRS.values():
            start = at
        elif depth == 0 and character in PAIRS and at > start + 1:
            yield start, at


def _characters(line: str) -> Iterator[tuple[int, str, int]]:
    """Each character outside of strings and comments, and the bracket depth after it."""
    quote, depth = "", 0
    for at, character in enumerate(line):
        if quote or character in "'\"":
            quote = "" if character == quote else quote or character
            continue
        if character == "#":
            return
        depth += (character in PAIRS.values()) - (character in PAIRS)
        yield at, character, depth
