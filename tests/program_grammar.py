"""Programs as people write them with PyTorch, drawn from the grammar in program_grammar.txt.

There, a section `[symbol]` has an alternative a line, and `[[symbol]]` has alternatives of several
lines with empty lines between them. `<symbol>` in a text is replaced by one of the symbol's
alternatives, and `<nothing>` by nothing; lines that are added keep the indentation of the line. In
expressions, S is a single number, V a vector of 3, M a 2×3 matrix and K a 3×2 matrix; the first two
alternatives of these are where deep texts end.
"""

import random
import re
from functools import cache
from pathlib import Path

START = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
NESTED = ("S", "V", "M", "K")
END = (0.1, 0.5, 0.8, 1.0)  # how often an expression ends, by its depth


@cache
def grammar() -> dict[str, list[str]]:
    """The alternatives of each symbol."""
    text = (Path(__file__).parent / "program_grammar.txt").read_text(encoding="utf-8")
    result = {}
    for section in re.split(r"^(?=\[+\w+\]+$)", text, flags=re.MULTILINE)[1:]:
        head, _, body = section.partition("\n")
        separator = "\n\n" if head.startswith("[[") else "\n"
        parts = [part.strip("\n") for part in body.strip("\n").split(separator)]
        result[head.strip("[]")] = ["" if part == "<nothing>" else part for part in parts]
    return result


def program(seed: int) -> str:
    """A program drawn from the grammar."""
    draw = random.Random(f"grammar {seed}")
    return f"{START}torch.manual_seed({seed % 7})\n{_expanded('<program>', draw, 0)}\n"


def _expanded(text: str, draw: random.Random, depth: int) -> str:
    """A text with all its symbols replaced."""
    lines = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()))
        filled = re.sub(r"<(\w+)>", lambda match: _one(match[1], draw, depth), line)
        lines += [indent * bool(k) + part for k, part in enumerate(filled.split("\n"))]
    return "\n".join(line for line in lines if line.strip())


def _one(symbol: str, draw: random.Random, depth: int) -> str:
    """One of a symbol's alternatives."""
    alternatives = grammar()[symbol]
    nested = symbol in NESTED
    if nested and draw.random() < END[min(depth, 3)]:
        alternatives = alternatives[:2]
    text = _expanded(draw.choice(alternatives), draw, depth + nested)
    return f"({text})" if nested and re.search(r"^-| [-+*/@]+ |^\d", text) else text
