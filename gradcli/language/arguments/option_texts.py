"""Parsing of the texts after --shape, --value and --wrt into names and their shapes or values.

This module parses the spellings of shapes. Values are parsed by values.py; whether the names exist
is not checked here.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from keyword import iskeyword
from typing import Any

from ...errors import GradcliError, Span
from ...graphs.shapes import MOST_DIMENSIONS, Shape
from ...graphs.shapes import text as shape_text

LARGEST_SIZE = 2**31 - 1

SHAPE_HINT = "a shape is written x=2x3, x=(2,3) or x=(); several: x=2x3,a=3x4"
VALUE_HINT = 'a value is written NAME=VALUE: a="[[1,2,3],[4,5,6]]"'
NAME_HINT = "a name is a letter, then letters, digits and underscores; not a word of Python"


@cache
def _entry() -> re.Pattern[str]:
    """The pattern of NAME=DIMS and what may follow it; compiled when the first shape is read."""
    return re.compile(
        r"""(?P<name>[^=,;]*) =
        (?P<dims> \s* (?:torch\.Size)? \( \[ [^\[\]()]* \] \) \s*
                | \s* \( [^()]* \) \s*
                | \s* \[ [^\[\]]* \] \s*
                | [^,;()\[\]=]* )
        (?:[,;]\s*|$)""",
        re.VERBOSE,
    )


def read_shapes(texts: Sequence[str]) -> dict[str, Shape]:
    """The shapes by name, from texts such as `x=2x3,a=(3,4)` or `x=3; b=()`. Raises GradcliError
    "shape-option", with a span, for another syntax and for a name with two shapes.
    """
    shapes: dict[str, Shape] = {}
    for entry_text in texts:
        for name, shape, span in _entries(entry_text):
            if shapes.setdefault(name, shape) != shape:
                message = (
                    f"{name} has two shapes: {shape_text(shapes[name])} and {shape_text(shape)}"
                )
                raise GradcliError(
                    "shape-option", message, hint="give each name one shape", span=span
                )
    return shapes


def read_shape(name: str, text: str) -> Shape:
    """The shape in a text without a name: `2x3`, `(2, 3)`. Raises GradcliError "shape-option"."""
    return _shape(name, Span(text, 0, len(text), "--shape"))


def is_shape(value: Any) -> bool:
    """Whether a value is a list of sizes that are valid for `_size`."""
    listed = isinstance(value, tuple | list) and len(value) <= MOST_DIMENSIONS
    return listed and all(type(n) is int and 0 <= n <= LARGEST_SIZE for n in value)


def read_values(texts: Sequence[str], option: str = "--value") -> dict[str, str]:
    """The texts of values by name, from texts `NAME=VALUE` or `NAME=VALUE,NAME=VALUE`.

    VALUE may contain `=` within brackets. Raises GradcliError "value" if the `=`, the name or the
    value is missing, or if a name occurs twice.
    """
    values: dict[str, str] = {}
    for entry in (part for text in texts for part in values_apart(text)):
        name, equals, value = entry.partition("=")
        if not equals:
            whole = Span(entry, 0, len(entry), option)
            raise GradcliError(
                "value", f"there is no = in {_abbreviated(entry)}", hint=VALUE_HINT, span=whole
            )
        span = _place(entry, name, 0, option)
        name = _name(name.strip(), "value", span, VALUE_HINT)
        if not value.strip():
            raise GradcliError("value", f"{name} has no value", hint=VALUE_HINT, span=span)
        if name in values:
            message = f"{name} is given two values"
            raise GradcliError("value", message, hint="give each name one value", span=span)
        values[name] = value
    return values


def values_apart(text: str) -> Iterator[str]:
    """Split `a=[1,2],b=[3,4]` into `a=[1,2]` and `b=[3,4]`: at commas outside brackets that a name
    and = follow.
    """
    start = depth = 0
    for result in re.finditer(r"[(\[{]|[)\]}]|,(?=\s*[^\W\d]\w*\s*=[^=])", text):
        sign = result[0]
        depth += 1 if sign in "([{" else -1 if sign in ")]}" else 0
        if sign == "," and depth == 0 and _holds_equation(text[start : result.start()]):
            yield text[start : result.start()]
            start = result.end()
    yield text[start:]


def _holds_equation(text: str) -> bool:
    """Whether the last statement of a text contains an equals sign."""
    return "=" in re.split(r"[;\n]", text)[-1]


def read_tangents(texts: Sequence[str]) -> dict[str, str | None]:
    """The texts of tangents by name, from texts `NAME=VALUE`; None, for a symbol, from `NAME`
    alone. Raises GradcliError "value" as `read_values` does.
    """
    symbols = [text.strip() for text in texts if text.strip().isidentifier()]
    values = read_values([t for t in texts if t.strip() not in symbols], "--tangent")
    for k, name in enumerate(symbols):
        if name in values or name in symbols[:k]:
            message = f"{name} is given two tangents"
            raise GradcliError("value", message, hint="give each name one tangent")
    return {**values, **dict.fromkeys(symbols)}


def read_names(text: str) -> list[str]:
    """The names in `x,a`, without repetitions. Raises GradcliError "option" for an invalid one."""
    names, start = [], 0
    for part in text.split(","):
        span = _place(text, part, start, "--wrt")
        start += len(part) + 1
        names.append(_name(part.strip(), "option", span, "names are written x,a"))
    return list(dict.fromkeys(names))


def _entries(text: str):
    """Each (name, shape, span) of one text."""
    start = 0
    while start < len(text) or not start:
        match = _entry().match(text, start)
        if not match:
            rest = Span(text, start, len(text), "--shape")
            message = f"{_abbreviated(text[start:].strip())} is not NAME=SHAPE"
            hint = _cross_hint(text, start) or SHAPE_HINT
            raise GradcliError("shape-option", message, hint=hint, span=rest)
        name, dims = match["name"], match["dims"]
        span = _place(text, name, match.start("name"), "--shape")
        name = _name(name.strip(), "shape-option", span, SHAPE_HINT)
        yield name, _shape(name, _place(text, dims, match.start("dims"), "--shape")), span
        start = match.end()


def _cross_hint(text: str, start: int) -> str | None:
    """A hint for `x=2,3`, where commas separate sizes instead of shapes; None if `start` is not
    followed by sizes.
    """
    entry = re.search(r"(\w+\s*=\s*)(\d+)\s*,\s*$", text[:start])
    sizes = re.match(r"\d+(\s*,\s*\d+)*\s*(?=,|;|$)", text[start:])
    if not (entry and sizes):
        return None
    crossed = "x".join([entry[2], *re.findall(r"\d+", sizes[0])])
    return f"sizes have an x between them: {entry[1]}{crossed}"


def _shape(name: str, span: Span) -> Shape:
    """The sizes in `2x3`, `(2,3)`, `[2,3]`, `torch.Size([2, 3])` or `()`, at `span`."""
    dims = span.text[span.start : span.end]
    inner = dims.removeprefix("torch.Size").strip("()[]").strip()
    if dims[-1:] in (")", "]"):
        parts = inner.removesuffix(",").split(",") if inner else []
    else:
        parts = re.split("[xX×]", inner)
    sizes = tuple(_size(name, part.strip(), span) for part in parts)
    if len(sizes) > MOST_DIMENSIONS:
        message = f"{name} has {len(sizes)} dimensions, but at most {MOST_DIMENSIONS} are allowed"
        raise GradcliError("shape-option", message, hint=SHAPE_HINT, span=span)
    return sizes


def _size(name: str, part: str, span: Span) -> int:
    """The size that a text spells. Raises GradcliError."""
    if re.fullmatch("[0-9]+", part):
        digits = part.lstrip("0") or "0"
        if len(digits) < 20 and int(digits) <= LARGEST_SIZE:
            return int(digits)
        problem = f"is larger than {LARGEST_SIZE:,}"
    elif re.fullmatch("-[0-9]+", part):
        problem = "is negative"
    else:
        problem = "is not an integer"
    raise GradcliError(
        "shape-option",
        f"a size of {name} is missing"
        if not part
        else f"the size {_abbreviated(part)} of {name} {problem}",
        hint=SHAPE_HINT,
        span=span,
    )


def _name(name: str, code: str, span: Span, form: str) -> str:
    """`name`, if it is a valid input name. Raises GradcliError, whose hint shows `form`."""
    if not name:
        raise GradcliError(code, "a name is missing", hint=form, span=span)
    if not name.isidentifier() or iskeyword(name):
        raise GradcliError(code, f"{_abbreviated(name)} is not a name", hint=NAME_HINT, span=span)
    return name


def _place(text: str, part: str, start: int, origin: str) -> Span:
    """The span in `text` of `part`, which starts at `start`, without surrounding blanks."""
    start += len(part) - len(part.lstrip())
    return Span(text, start, start + len(part.strip()), origin)


def _abbreviated(text: str) -> str:
    """`text` in quotes, abbreviated if it is long."""
    return repr(text if len(text) <= 40 else text[:37] + "...")
