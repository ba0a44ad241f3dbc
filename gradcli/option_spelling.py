"""The spelling of the fields of a request in each interface.

A field is an option in a shell, a field in JSON, a keyword in Python, a label in the playground, or
an option of a notebook's magic. Messages in the source have options of the shell; `respell`
replaces these for other interfaces: `-s x=2x3` becomes `shapes={"x": (2, 3)}`.
"""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .errors import GradcliError
from .fields import FIELDS

ENTRY = r"\w+=[^\s,;)]+"
OPTION = rf"(?<![\w-])(--?[a-z]+(?:-[a-z]+)*)\b(?: ({ENTRY}(?:,{ENTRY})*))?"
NAMES = {option: name for name, f in FIELDS.items() if f.meaning for option in f.options}


class Spelling(NamedTuple):
    """The spelling of options in one interface, as format strings.

    `name`: an option without its value; `field`: an option with its value; `entry`: the value for
    one input; `entries`: the values for all inputs; `shape` and `alone`: a shape of several
    dimensions and of one, "" if they are as in a shell. `known`: the fields of the interface;
    `phrases`: patterns and replacements of whole phrases, applied first; `mapping`: the word for a
    mapping; `code`: the code of errors about any field, or None if each field has its own;
    `labels`: the words for fields that are not called by their names.
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
    labels: Mapping[str, str] = MappingProxyType({})
    entries: str = "{{{}}}"


SHAPES = r"a shape is written x=2x3, x=\(2,3\) or x=\(\); several: x=2x3,a=3x4"
NEAR = (r"\? \(gradcli ops \w+ lists what is near\);", "? Else")  # for interfaces without commands
NO_LIMITS = (  # for interfaces in which no option raises a limit
    (r" \(--limit (seconds|entries)=N( shows more)?\)", ""),
    (r"; (or )?--limit seconds=N( gives more time)?", ""),
    (r"and no --limit raises that", "which no limit raises"),
)
FUNCTIONS = (  # functions of Python, in place of commands
    (r"--show (jacobian) -w (\w+)", r'gradcli.\1(..., wrt="\2")'),
    (r'gradcli (\w+) "([^"]*)"', r'gradcli.\1("\2")'),
    (r"gradcli ops (\w+) (lists|shows)", r'gradcli.ops("\1") \2'),
    (r"gradcli read FILE", "gradcli.read(text)"),
    (r"gradcli (explain|read|grad|formula|check|code|ops|examples)\b", r"gradcli.\1()"),
    (r"gradcli why lists the messages it knows", "paste its last line, as PyTorch prints it"),
)
FIXED_LIMITS = (
    (
        r"--limit (\w+)=N raises it",
        "this limit is fixed in Python: split the request into smaller ones",
    ),
    *NO_LIMITS,
)
JSON = Spelling(
    '"{}"',
    '"{}": {}',
    '"{}": {}',
    "[{}]",
    "[{}]",
    {name for name, field in FIELDS.items() if field.json},
    (
        (r"--show jacobian -w (\w+)", r'"show": ["jacobian"], "wrt": ["\1"]'),
        (r"(?<![\w-])-w (\w+)", r'"wrt": ["\1"]'),
        (r" \(--full shows all\)", ""),
        (SHAPES, 'a shape is a list of sizes: {"x": [2, 3]}, [] for a number'),
        NEAR,
    ),
    "an object",
    "request",
)
PYTHON = Spelling(
    "{}=",
    "{}={}",
    '"{}": {}',
    "({})",
    "({},)",
    set(NAMES.values()),
    (
        *FUNCTIONS,
        (SHAPES, 'a shape is a tuple of sizes: {"x": (2, 3)}, () for a number'),
        (r"(?<![\w-])-w (\w+)", r'wrt="\1"'),
        (r"(?<![\w-])--full\b", "full=True"),
        (r"--grad is given (\d) times", r"\1 seeds are given"),
        (r"--order (\d)", r"order=\1"),
        (r'--target "(\w+)=([^"]*)"', r'target={"\1": \2}'),
        (r"--target (\w[\w-]*)", r'target="\1"'),
        *FIXED_LIMITS,
    ),
    "a dict",
)
VARIABLES = (r"--allow-files lets requests name files", "-v NAME takes a variable of the notebook")
MAGIC = Spelling("", "", "", "", "", (), (*FUNCTIONS, *FIXED_LIMITS, VARIABLES), "texts")
PAGE_LABELS = {
    "shapes": "Shapes", "values": "Values", "grad": "Seed", "wrt": "With respect to",
    "assume": "Assumptions", "order": "Order", "random_seed": "Seed of randn",
    "dtype": "Precision", "expand": "Expand operators",
}  # fmt: skip
PAGE = Spelling(
    '"{}"',
    '"{}": {}',
    "{}={}",
    "",
    "",
    PAGE_LABELS.keys(),
    (
        (r"(?<![\w-])(?:--show jacobian )?-w (\w+)", r'"With respect to": \1'),
        (r" \(--full shows all\)", ""),
        (r"--limit (\w+)=N raises it", r"ask for less, or run gradcli in a terminal"),
        (r"--allow-files lets requests name files", r"give the numbers themselves"),
        NEAR,
        *NO_LIMITS,
    ),
    "texts",
    labels=PAGE_LABELS,
    entries="{}",
)


def respell_error(error: GradcliError, spelling: Spelling) -> None:
    """Respell the message, the hint and the origin of an error in place, except for words that the
    user typed.
    """
    typed = error.span.text if error.span else ""
    if error.span is not None:
        error.span = error.span._replace(origin=respell(error.span.origin, spelling))
    error.message = respell(error.message, spelling, typed)
    error.args = (error.message,)
    error.hint = error.hint and respell(error.hint, spelling, typed)


def respell(text: str, spelling: Spelling, typed: str = "") -> str:
    """`text` with its options in another spelling: `shapes={"x": (2, 3)}` for -s x=2x3.

    A value ends at a space or a comma; after a comma another NAME=VALUE may follow. Options in the
    text `typed` by the user are unchanged.
    """

    for phrase, replacement in spelling.phrases:
        text = re.sub(phrase, replacement, text)

    def respelled(option: re.Match[str]) -> str:
        name, value_text = option.groups()
        field_name = NAMES.get(name)
        if field_name is None or field_name not in spelling.known or name in typed:
            return option[0]
        label = spelling.labels.get(field_name, field_name)
        if value_text is None:
            return spelling.name.format(label)
        pairs = (entry.split("=", 1) for entry in re.findall(ENTRY, value_text))
        entries = (
            spelling.entry.format(x, _shape(value, spelling) if field_name == "shapes" else value)
            for x, value in pairs
        )
        return spelling.field.format(label, spelling.entries.format(", ".join(entries)))

    return re.sub(OPTION, respelled, text)


def field_of(origin: str) -> str:
    """The JSON field of a span with this `origin`: `grad`, or `values.x` for the value of an input.
    For a value from a file, it is the name of the file. Fields of JSON are in quotation marks.
    """
    if origin.startswith('"'):
        return origin.strip('"')
    return NAMES.get(origin) or (f"values.{origin}" if origin.isidentifier() else origin)


def _shape(value: str, spelling: Spelling) -> str:
    """A shape such as 2x3 in a spelling: `[2, 3]` in JSON."""
    sizes = value.split("x")
    template = spelling.shape if len(sizes) > 1 else spelling.alone
    known = template and all(map(str.isdigit, sizes))
    return template.format(", ".join(sizes)) if known else value
