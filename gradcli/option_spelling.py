"""Ways to give a request: options of a shell, fields of JSON, keywords of Python.

Messages speak of options; where a request came in another way, they are said again in its words.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from .errors import GradcliError
from .fields import FIELDS

ENTRY = r"\w+=[^\s,;)]+"
OPTION = re.compile(rf"(?<![\w-])(--?[a-z]+(?:-[a-z]+)*)\b(?: ({ENTRY}(?:,{ENTRY})*))?")
NAMES = {option: name for name, f in FIELDS.items() if f.meaning for option in f.options}


class Way(NamedTuple):
    """How one way writes a name alone, one with a value, a value by name of the input, and a shape;
    the names that it has; whole phrases, which are looked for first; what it calls a mapping, and
    the code of errors of all its fields.
    """

    name: str
    field: str
    entry: str
    shape: str
    alone: str
    known: Collection[str]
    phrases: tuple[tuple[str, str], ...]
    mapping: str
    code: str | None = None


JSON = Way(
    '"{}"',
    '"{}": {}',
    '"{}": {}',
    "[{}]",
    "[{}]",
    {name for name, field in FIELDS.items() if field.json},
    (
        (r"gradcli jacobian -w (\w+)", r'"show": ["jacobian"], "wrt": ["\1"]'),
        (r"(?<![\w-])-w (\w+)", r'"wrt": ["\1"]'),
    ),
    "an object",
    "request",
)
PYTHON = Way(
    "{}=",
    "{}={}",
    '"{}": {}',
    "({})",
    "({},)",
    set(NAMES.values()),
    (
        (r"gradcli (\w+) -w (\w+)", r'gradcli.\1(..., wrt="\2")'),
        (r'gradcli (\w+) "([^"]*)"', r'gradcli.\1("\2")'),
        (r"gradcli ops (\w+) (lists|shows)", r'gradcli.ops("\1") \2'),
        (r"gradcli read FILE", "gradcli.read(text)"),
        (r"gradcli (explain|read|grad|formula|check|code|ops|examples)\b", r"gradcli.\1()"),
        (r"gradcli why lists those that are", "paste its last line, as PyTorch prints it"),
        (r"(?<![\w-])-w (\w+)", r'wrt="\1"'),
        (r"(?<![\w-])--full\b", "full=True"),
        (r"--grad is given (\d) times", r"\1 seeds are given"),
        (r"--order (\d)", r"order=\1"),
        (r"--limit (\w+)=N raises it", r"this limit is fixed in Python: less is asked at a time"),
        (r" \(--limit (seconds=N|entries=N shows more)\)", ""),
        (r'--target "(\w+)=([^"]*)"', r'target={"\1": \2}'),
        (r"--target (\w[\w-]*)", r'target="\1"'),
        (r"; (or )?--limit seconds=N( gives more time)?", ""),
        (r"and no --limit raises that", "which no limit raises"),
    ),
    "a dict",
)


def tell(error: GradcliError, way: Way) -> None:
    """Say an error in the words of `way`, but for what stands in the text that it is about."""
    typed = error.span.text if error.span else ""
    error.message = said(error.message, way, typed)
    error.args = (error.message,)
    error.hint = error.hint and said(error.hint, way, typed)


def said(text: str, way: Way, typed: str = "") -> str:
    """A message about options in the words of `way`: `shapes={"x": (2, 3)}` for -s x=2x3. A value
    ends at a space, or at a comma; after that another name may have one. What was `typed` is no
    option.
    """

    for phrase, other in way.phrases:
        text = re.sub(phrase, other, text)

    def in_words(option: re.Match[str]) -> str:
        name, given = option.groups()
        known = NAMES.get(name)
        if known not in way.known or name in typed:
            return option[0]
        if given is None:
            return way.name.format(known)
        pairs = (entry.split("=", 1) for entry in re.findall(ENTRY, given))
        entries = (
            way.entry.format(of, _shape(value, way) if known == "shapes" else value)
            for of, value in pairs
        )
        return way.field.format(known, f"{{{', '.join(entries)}}}")

    return OPTION.sub(in_words, text)


def field_of(origin: str) -> str:
    """What holds the text of a place in JSON: the field `grad`, or `values.x` for the value of an
    input; or the file that a value was read from.
    """
    return NAMES.get(origin) or (f"values.{origin}" if origin.isidentifier() else origin)


def _shape(value: str, way: Way) -> str:
    """`[2, 3]` for 2x3."""
    sizes = value.split("x")
    written = way.shape if len(sizes) > 1 else way.alone
    return written.format(", ".join(sizes)) if all(map(str.isdigit, sizes)) else value
