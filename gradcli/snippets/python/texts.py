"""Values as text: repr(), str(), format specifications, `%` and str.format."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from .objects import (
    PLAIN,
    SCALARS,
    Function,
    Generator,
    Iterable,
    Super,
    View,
)
from .operations import plain, translated
from .values import (
    EXCEPTIONS,
    MISSING,
    Bound,
    Builtin,
    Class,
    Exhausted,
    Module,
    error,
)

WIDTH = 100_000  # largest width in a format specification
PERCENT = re.compile(r"%(?:\(([^)]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlL]?(.)?", re.DOTALL)
EMPTY: dict[type, str] = {set: "set()", frozenset: "frozenset()"}
NESTING = 200  # largest nesting of containers in a repr


class Texts:
    """The part of the interpreter that converts values to text."""

    class_of: Callable[[Any], Class]
    call: Callable[..., Any]
    spend: Callable[..., None]
    get: Callable[[Any, str], Any]
    get_item: Callable[[Any, Any], Any]
    special: Callable[[Any, str], Any]
    type_name: Callable[[Any], str]
    number: Callable[[Any, str], Any]
    index: Callable[[Any], int]
    identity: Callable[[Any], int]
    writing: list[int]  # containers whose repr is being computed, by id

    # ---- repr and str ----------------------------------------------------------------------------

    def repr(self, value: Any) -> str:
        """The result of repr()."""
        kind = type(value)
        if kind in SCALARS:
            try:
                return repr(value)
            except ValueError as e:
                raise translated(e) from None
        if kind in PLAIN:
            return self.container(value)
        return self.checked(self.call(self.special(value, "__repr__"), (value,)), "__repr__")

    def checked(self, text: Any, name: str) -> str:
        """The result of a method such as `__repr__`, which must be a string."""
        text = plain(text)
        if type(text) is not str:
            raise error("TypeError", f"{name} returned non-string (type {self.type_name(text)})")
        return text

    def container(self, value: Any) -> str:
        """The repr of a list, tuple, dict, set, range or slice, which may contain itself."""
        kind = type(value)
        if kind not in (list, tuple, dict, set, frozenset, slice):
            return repr(value)
        if id(value) in self.writing:
            return "[...]" if kind is list else "{...}" if kind is dict else "(...)"
        if len(self.writing) > NESTING:
            text = "maximum recursion depth exceeded while getting the repr of an object"
            raise error("RecursionError", text)
        self.writing.append(id(value))
        try:
            return self.written(kind, value)
        finally:
            self.writing.pop()

    def written(self, kind: type, value: Any) -> str:
        """The repr of a container that does not contain itself."""
        if kind is slice:
            return (
                f"slice({', '.join(self.repr(p) for p in (value.start, value.stop, value.step))})"
            )
        self.spend(15 + 5 * len(value))
        if kind is dict:
            parts = [f"{self.repr(k)}: {self.repr(v)}" for k, v in value.items()]
        else:
            parts = [self.repr(item) for item in value]
        self.spend(0, sum(map(len, parts)) + 2 * len(parts))
        inside = ", ".join(parts)
        if kind is list:
            return f"[{inside}]"
        if kind is tuple:
            return f"({inside},)" if len(parts) == 1 else f"({inside})"
        if not parts and kind is not dict:
            return EMPTY[kind]
        return f"frozenset({{{inside}}})" if kind is frozenset else f"{{{inside}}}"

    def default_repr(self, value: Any) -> str:
        """The repr of a value whose class does not define it."""
        match value:
            case Class():
                return f"<class '{value.full_name}'>"
            case Function():
                return f"<function {value.code.qualname} at {self.address(value)}>"
            case Builtin():
                return f"<built-in function {value.name}>"
            case Bound(function=Builtin(name=name), owner=owner) if "." not in name:
                kind = self.class_of(owner).name
                return f"<built-in method {name} of {kind} object at {self.address(owner)}>"
            case Bound():
                name = self.method_name(value.function)
                return f"<bound method {name} of {self.repr(value.owner)}>"
            case Module():
                return f"<module '{value.name}'>"
            case Generator():
                return f"<generator object {value.name} at {self.address(value)}>"
            case View():
                return f"{value.cls.name}({self.repr(list(value.host))})"
            case Iterable():
                return f"<{value.cls.name} object at {self.address(value)}>"
            case Super():
                return f"<super: <class '{value.start.name}'>, {self.repr(value.owner)}>"
        cls = self.class_of(value)
        if cls.derives_from(EXCEPTIONS["BaseException"]):
            return f"{cls.name}({', '.join(self.repr(a) for a in value.payload or ())})"
        host = plain(value)
        if host is not value:
            return self.repr(host)
        return f"<{cls.full_name} object at {self.address(value)}>"

    def method_name(self, function: Any) -> str:
        """The qualified name of a function, such as Net.forward."""
        if isinstance(function, Function):
            return function.code.qualname
        return function.name if isinstance(function, Builtin) else self.type_name(function)

    def address(self, value: Any) -> str:
        """The address in a default repr. Unlike in Python, it is the same in every run."""
        return f"0x{self.identity(value):012x}"

    def text(self, value: Any) -> str:
        """The result of str()."""
        kind = type(value)
        if kind is str:
            return value
        if kind in PLAIN:
            return self.repr(value)
        return self.checked(self.call(self.special(value, "__str__"), (value,)), "__str__")

    def message(self, value: Any) -> str:
        """The result of str() for an exception."""
        args: tuple[Any, ...] = value.payload or ()
        if len(args) == 1:
            key = value.cls.derives_from(EXCEPTIONS["KeyError"])
            return self.repr(args[0]) if key else self.text(args[0])
        if len(args) == 2 and value.cls.derives_from(EXCEPTIONS["OSError"]):
            return f"[Errno {self.text(args[0])}] {self.text(args[1])}"
        return self.repr(tuple(args)) if args else ""

    # ---- format ----------------------------------------------------------------------------------

    def format(self, value: Any, spec: str) -> str:
        """The result of format(value, spec)."""
        if not spec and type(value) in PLAIN:
            return self.text(value)
        if type(value) in SCALARS:
            return self.host_format(value, spec)
        if type(value) not in PLAIN:
            function = self.special(value, "__format__")
            if function is not MISSING:
                return self.checked(self.call(function, (value, spec)), "__format__")
            if not spec:
                return self.text(value)
            host = plain(value)
            if host is not value:
                return self.format(host, spec)
        raise error(
            "TypeError", f"unsupported format string passed to {self.type_name(value)}.__format__"
        )

    def host_format(self, value: Any, spec: str) -> str:
        """format() of a built-in number or string."""
        self.check_width(*re.findall(r"\d+", spec))
        try:
            return format(value, spec)
        except (ValueError, TypeError, OverflowError) as e:
            raise translated(e) from None

    def check_width(self, *widths: str) -> None:
        """Refuse a width that would make the text too long."""
        if any(len(w) > 6 or int(w) > WIDTH for w in widths):
            raise Exhausted("memory", "has a format width of more than 100,000 characters")

    def converted(self, value: Any, conversion: str | None) -> Any:
        """A value after the conversion !r, !s or !a of a format field."""
        if conversion in (None, ""):
            return value
        if conversion == "s":
            return self.text(value)
        if conversion in ("r", "a"):
            text = self.repr(value)
            return text if conversion == "r" else ascii_only(text)
        raise error("ValueError", f"Unknown conversion specifier {conversion!r}")

    # ---- percent ---------------------------------------------------------------------------------

    def percent(self, template: str, values: Any) -> str:
        """template % values."""
        host = plain(values)
        pending = list(host) if type(host) is tuple else [values]
        keyed = type(host) is dict
        position = 0

        def following() -> Any:
            nonlocal position
            if position >= len(pending):
                raise error("TypeError", "not enough arguments for format string")
            position += 1
            return pending[position - 1]

        def piece(match: re.Match) -> str:
            key, flags, width, precision, kind = match.groups()
            if kind == "%" and match.group() == "%%":
                return "%"
            if kind is None:
                raise error("ValueError", "incomplete format")
            if key is not None and not keyed:
                raise error("TypeError", "format requires a mapping")
            if width == "*":
                width = str(self.index(following()))
            dotted = "." in match.group()
            if precision == "*":
                precision = str(self.index(following()))
            value = self.get_item(host, key) if key is not None else following()
            self.check_width(*(w.lstrip("-") for w in (width, precision) if w))
            spec = f"%{flags}{width or ''}{'.' + (precision or '') if dotted else ''}{kind}"
            return self.percent_piece(spec, kind, value)

        text = PERCENT.sub(piece, template)
        if position < len(pending) and not keyed:
            raise error("TypeError", "not all arguments converted during string formatting")
        self.spend(0, len(text))
        return text

    def percent_piece(self, spec: str, kind: str, value: Any) -> str:
        """The text of one value for one conversion, such as %d."""
        if kind in "sra":
            value = self.converted(value, kind)
            spec = spec[:-1] + "s"
        elif kind in "eEfFgG":
            value = self.number(value, "__float__")
        elif kind in "diuoxXc":
            value = self.number(value, "__int__")
        if type(value) not in PLAIN:
            name = self.type_name(value)
            needed = "must be real number" if kind in "eEfFgG" else f"%{kind} format: a real number"
            if kind in "eEfFgG":
                raise error("TypeError", f"{needed}, not {name}")
            raise error("TypeError", f"{needed} is required, not {name}")
        try:
            return spec % (value,)
        except (TypeError, ValueError, OverflowError) as e:
            raise translated(e) from None

    # ---- str.format ------------------------------------------------------------------------------

    def format_template(
        self, template: str, args: tuple, named: Mapping[str, Any], depth: int = 2
    ) -> str:
        """template.format(*args, **named)."""
        if depth < 0:
            raise error("ValueError", "Max string recursion exceeded")
        parts: list[str] = []
        automatic = 0
        for literal, field, spec, conversion in parsed_template(template):
            parts.append(literal)
            if field is None:
                continue
            name, rest = re.match(r"([^.\[]*)(.*)", field, re.DOTALL).groups()  # type: ignore
            if name == "":
                name, automatic = str(automatic), automatic + 1
            value = self.replacement(name, args, named)
            for attribute, key in re.findall(r"\.([^.\[]+)|\[([^\]]+)\]", rest):
                if attribute:
                    value = self.get(value, attribute)
                else:
                    value = self.get_item(value, int(key) if key.isdecimal() else key)
            inner = spec
            if "{" in spec:
                following = args[automatic:]
                inner = self.format_template(spec, following, named, depth - 1)
                automatic += spec.count("{}")
            parts.append(self.format(self.converted(value, conversion), inner))
        self.spend(0, sum(map(len, parts)))
        return "".join(parts)

    def replacement(self, name: str, args: tuple, named: Mapping[str, Any]) -> Any:
        """The argument of str.format for a field with this name or number."""
        if name.isdecimal():
            if len(name) > 9 or int(name) >= len(args):
                raise error(
                    "IndexError",
                    f"Replacement index {name} out of range for positional args tuple",
                )
            return args[int(name)]
        if name not in named:
            raise error("KeyError", name)
        return named[name]


def parsed_template(template: str) -> list[tuple[str, str | None, str, str | None]]:
    """The parts of a str.format template: (literal text, field name, specification, conversion);
    the field name is None if no field follows.
    """
    parts: list[tuple[str, str | None, str, str | None]] = []
    literal, i = "", 0
    while i < len(template):
        c = template[i]
        if template[i : i + 2] in ("{{", "}}"):
            literal, i = literal + c, i + 2
        elif c == "}":
            raise error("ValueError", "Single '}' encountered in format string")
        elif c == "{":
            end = matching(template, i)
            parts.append((literal, *field_parts(template[i + 1 : end])))
            literal, i = "", end + 1
        else:
            literal, i = literal + c, i + 1
    return [*parts, (literal, None, "", None)]


def matching(template: str, start: int) -> int:
    """The index of the brace that closes the field that starts at `start`."""
    depth = 0
    for i in range(start, len(template)):
        depth += {"{": 1, "}": -1}.get(template[i], 0)
        if depth == 0:
            return i
    if start == len(template) - 1:
        raise error("ValueError", "Single '{' encountered in format string")
    raise error("ValueError", "expected '}' before end of string")


def field_parts(field: str) -> tuple[str, str, str | None]:
    """The name, specification and conversion of a replacement field."""
    head, _, spec = field.partition(":")
    name, mark, conversion = head.partition("!")
    return name, spec, conversion if mark else None


def ascii_only(text: str) -> str:
    """A text with escapes in place of characters that are not ASCII."""
    return text.encode("ascii", "backslashreplace").decode("ascii")
