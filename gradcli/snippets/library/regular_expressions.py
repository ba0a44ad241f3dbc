"""The module re of interpreted programs. Patterns whose search could take very long are refused.

Python's re does the matching; the program's patterns and matches wrap its objects.
"""

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

from ..python.builtins import lazy
from ..python.methods import host_call
from ..python.operations import plain
from ..python.values import (
    EXCEPTIONS,
    OBJECT,
    Builtin,
    Class,
    Instance,
    Module,
    Property,
    Unsupported,
    error,
    functions,
)

LONGEST_PATTERN = 1_000  # characters
MOST_STEPS = 1e8  # steps of one search
FLAGS = "A ASCII I IGNORECASE L LOCALE M MULTILINE S DOTALL X VERBOSE U UNICODE"
FAILED = Class("error", (EXCEPTIONS["Exception"],), module="re")


# ---- how long a search may take ------------------------------------------------------------------


def repeats(items: Iterable[Any], *, within: bool = False) -> int:
    """The number of variable-length parts of a parsed pattern, such as `a*`. The time of a search
    grows with the length of the text to this power.

    Raises Unsupported for such a part inside a repetition, as in `(a*)*`, which can take
    exponential time.
    """
    count = 0
    for operation, value in items:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, inner = value
            count += _of_repeat(least, most, inner, within)
        elif name == "BRANCH":
            if within:
                raise Unsupported("a regular expression with alternatives inside a repetition")
            count += max(repeats(branch) for branch in value[1])
        elif name == "SUBPATTERN":
            count += repeats(value[-1], within=within)
        elif name in ("ASSERT", "ASSERT_NOT"):
            count += repeats(value[1], within=within)
        elif name == "ATOMIC_GROUP":
            count += repeats(value, within=within)
        elif name == "GROUPREF_EXISTS":
            count += sum(repeats(branch, within=within) for branch in value[1:] if branch)
    return count


def _of_repeat(least: int, most: int, inner: Any, within: bool) -> int:
    if least == most:
        return least * repeats(inner, within=within)
    if within:
        raise Unsupported("a regular expression with a repetition inside a repetition")
    if most == 1:
        return 1 + repeats(inner)
    return 1 + repeats(inner, within=True)


def spend(m: Any, pattern: re.Pattern, text: str) -> None:
    """Count a search against the budget. Raises Unsupported if it could exceed the budget."""
    # no public module parses patterns
    choices = 1 + repeats(re._parser.parse(pattern.pattern, pattern.flags))  # type: ignore
    size = choices * math.log(len(text) + 1) - math.lgamma(choices + 1)
    if size > math.log(MOST_STEPS):  # (length + 1) ** choices / choices! combinations
        raise Unsupported("this regular expression on so long a string")
    m.spend(1 + len(text) // 100, 8 * len(text))


# ---- patterns ------------------------------------------------------------------------------------


def compiled(m: Any, pattern: Any, flags: Any = 0) -> re.Pattern:
    """Python's compiled pattern for a string or a pattern of the program."""
    if isinstance(pattern, Instance) and isinstance(pattern.payload, re.Pattern):
        return pattern.payload
    text = plain(pattern)
    if not isinstance(text, str):
        raise Unsupported("a regular expression that is not a string")
    if len(text) > LONGEST_PATTERN:
        raise Unsupported("so long a regular expression")
    try:
        return re.compile(text, flags)
    except re.error as e:
        raise error(FAILED, str(e)) from None


def matched(m: Any, result: re.Match | None) -> Instance | None:
    """The program's value for a match of Python's re; None for no match."""
    return None if result is None else m.instance(MATCH, result)


def replacement(m: Any, repl: Any) -> Any:
    """The replacement in a substitution: a string, or a function that calls the program's."""
    if not m.callable(repl):
        return plain(repl)
    return lambda result: plain(m.call(repl, (matched(m, result),)))


def _string(m: Any, text: Any) -> str:
    given = plain(text)
    if not isinstance(given, str):
        kind = m.type_name(text)
        raise error("TypeError", f"expected string or bytes-like object, got '{kind}'")
    return given


def _searched(m: Any, pattern: re.Pattern, string: Any) -> str:
    """The string to search, after counting the search against the budget."""
    text = _string(m, string)
    spend(m, pattern, text)
    return text


def _search(name: str) -> Callable[..., Any]:
    def run(m: Any, pattern: re.Pattern, string: Any, *places: Any) -> Any:
        return matched(m, getattr(pattern, name)(_searched(m, pattern, string), *places))

    return run


def _find_all(m: Any, pattern: re.Pattern, string: Any, *places: Any) -> list[Any]:
    return pattern.findall(_searched(m, pattern, string), *places)


def _find_iter(m: Any, pattern: re.Pattern, string: Any, *places: Any) -> Any:
    results = pattern.finditer(_searched(m, pattern, string), *places)
    return m.call(MATCHES, ([matched(m, r) for r in results],))


def _split(m: Any, pattern: re.Pattern, string: Any, maxsplit: int = 0) -> list[Any]:
    return pattern.split(_searched(m, pattern, string), maxsplit)


def _sub(m: Any, pattern: re.Pattern, repl: Any, string: Any, count: int = 0) -> str:
    return _subn(m, pattern, repl, string, count)[0]


def _subn(m: Any, pattern: re.Pattern, repl: Any, string: Any, count: int = 0) -> tuple[str, int]:
    text = _searched(m, pattern, string)
    by = replacement(m, repl)
    if isinstance(by, str):
        m.spend(0, len(by) * (len(text) + 1))
    try:
        return pattern.subn(by, text, count)
    except re.error as e:
        raise error(FAILED, str(e)) from None


SEARCHES: dict[str, Callable[..., Any]] = {
    **{name: _search(name) for name in ("search", "match", "fullmatch")},
    **{"findall": _find_all, "finditer": _find_iter, "split": _split, "sub": _sub, "subn": _subn},
}


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda m, self, *args, **named: function(m, self.payload, *args, **named)


def _function(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the module re, which compiles its pattern first."""

    def run(m: Any, pattern: Any, *args: Any, flags: Any = 0, **named: Any) -> Any:
        size = 3 if function in (_sub, _subn) else 2 if function is _split else 1
        if len(args) > size:
            *args, flags = args  # type: ignore[assignment]
        return function(m, compiled(m, pattern, flags), *args, **named)

    return run


def _field(name: str) -> Property:
    return Property(Builtin(name, lambda m, self: getattr(self.payload, name)))


PATTERN = Class(
    "Pattern",
    (OBJECT,),
    {
        **functions({name: _method(function) for name, function in SEARCHES.items()}),
        **functions({"__repr__": lambda m, self: repr(self.payload)}),
        **{name: _field(name) for name in ("pattern", "flags", "groups")},
        "groupindex": Property(Builtin("groupindex", lambda m, s: dict(s.payload.groupindex))),
    },
    module="re",
)
MATCHES = lazy("callable_iterator", lambda m, found: iter(found))


# ---- matches -------------------------------------------------------------------------------------


def _of_match(name: str) -> Callable[..., Any]:
    def run(m: Any, self: Instance, *args: Any, **named: Any) -> Any:
        return host_call(m, getattr(self.payload, name), args, named)

    return run


METHODS = "group groups groupdict start end span expand __getitem__"
MATCH = Class(
    "Match",
    (OBJECT,),
    {
        **functions({name: _of_match(name) for name in METHODS.split()}),
        **functions({"__repr__": lambda m, self: repr(self.payload)}),
        **{name: _field(name) for name in ("string", "pos", "endpos", "lastindex", "lastgroup")},
        "re": Property(Builtin("re", lambda m, self: m.instance(PATTERN, self.payload.re))),
    },
    module="re",
)


def re_module() -> Module:
    """The module re."""
    members: dict[str, Any] = {
        **functions({name: _function(function) for name, function in SEARCHES.items()}),
        **functions(
            {
                "compile": lambda m, pattern, flags=0: m.instance(
                    PATTERN, compiled(m, pattern, flags)
                ),
                "escape": lambda m, text: re.escape(_string(m, text)),
                "purge": lambda m: None,
            }
        ),
        **{name: int(getattr(re, name)) for name in FLAGS.split()},
        **{"Pattern": PATTERN, "Match": MATCH, "error": FAILED},
    }
    return Module("re", members)
