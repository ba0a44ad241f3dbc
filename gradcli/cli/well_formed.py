"""Parses valid command lines without typer, whose import takes as long as an answer.

Anything that may be invalid is left to typer, which reports errors.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .options import OPTIONS, Command, Option, in_full

LONGEST_NUMBER = 10  # digits of an integer


def read(
    arguments: Sequence[str], commands: Mapping[str, Command]
) -> tuple[Command, dict[str, Any]] | None:
    """The command and the values of its options; None for help, and if it may be invalid."""
    if not arguments:
        return None
    first, *rest = arguments
    if first not in commands:
        if first.isidentifier() or first.startswith("-"):
            return None  # a mistyped command, or an option
        first, rest = "explain", [*arguments]
    values = _values(in_full(rest), commands[first].names)
    return None if values is None else (commands[first], values)


def _values(words: Sequence[str], names: Sequence[str]) -> dict[str, Any] | None:
    """The values of the OPTIONS `names`, by name; None if one of `words` may be invalid."""
    by_word = {OPTIONS[n].names[-1]: n for n in names if OPTIONS[n].names}
    arguments = [n for n in names if not OPTIONS[n].names]
    result = {n: [] if OPTIONS[n].repeatable else OPTIONS[n].default for n in names}
    left = iter(words)
    for word in left:
        if word == "-" or word[:1] != "-":
            name = arguments.pop(0) if arguments else None
            value = name and _value(OPTIONS[name], word)
        else:
            option, equals, text = word.partition("=")
            name = by_word.get(option)
            value = name and _value_after(OPTIONS[name], text if equals else None, left)
        if name is None or value is None:
            return None
        result[name] = [*result[name], value] if OPTIONS[name].repeatable else value
    return None if any(OPTIONS[n].required for n in arguments) else result


def _value_after(option: Option, text: str | None, left: Iterator[str]) -> Any:
    """The value of an option, with `text` after an equals sign; None if it may be invalid."""
    if option.type is bool:
        return True if text is None else None
    return _value(option, next(left, "") if text is None else text)


def _value(option: Option, text: str) -> Any:
    """The value of an option from text; None if it may be invalid."""
    if not text or (text.startswith("-") and text != "-"):
        return None  # perhaps the next option
    if option.choices:
        return text if text in option.choices else None
    return _number(option, text) if option.type is int else text


def _number(option: Option, text: str) -> int | None:
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        return None
    least, most = option.within
    value = int(text)
    return value if (least is None or least <= value) and (most is None or value <= most) else None
