"""Messages for click's errors on a command line."""

import itertools
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from ..errors import GradcliError, did_you_mean, similar
from .mistakes import ended_at_a_space, question, without_sign
from .options import in_full

MINUS = '; an expression that begins with - comes after --: gradcli -- "-x * y"'

FIRST_INPUT = "if {0} is a variable, write gradcli explain {0}"
QUOTED = 'put an expression with spaces in quotes: "x * y"; a value after -v too'


def usage_error(error: Any, arguments: Sequence[str], commands: Sequence[str]) -> GradcliError:
    """The error for a UsageError of click on these arguments."""
    first = arguments[0]
    command = f"gradcli {first if first in commands else 'explain'}"
    hint, text = f"{command} --help lists the options", error.format_message().rstrip(".")
    kind, message = type(error).__name__, text[:1].lower() + text[1:]
    refusal = partial(GradcliError, "option")
    unfinished = _unfinished(error, arguments)
    if unfinished:
        return _without_value(unfinished, hint)
    if kind == "BadParameter" and error.param is not None:
        return refusal(_not_taken(error.param, error.message) or message, hint=hint)
    if "requires an argument" in text:
        return _without_value(_as_typed(error.option_name, arguments), hint)
    if kind == "MissingParameter" and error.param is not None:
        glued = any(len(a) > len("-x") and a[0] == "-" != a[1] for a in arguments)
        hint = f"write {command} {error.param.metavar}; {hint}{MINUS * glued}"
        return refusal(message, hint=hint)
    if kind == "NoSuchOption" and not error.option_name.startswith("--"):
        return refusal(message, hint=hint + MINUS)
    if kind == "NoSuchOption":
        option = _as_typed(error.option_name, arguments)
        return refusal(f"no such option: {option}", hint=_near(error, hint))
    if is_extra(error):
        hint = f"options stand before --; {hint}" if "--" in arguments else hint
        return _extra(arguments, error, message, commands, hint)
    return refusal(message, hint=hint)


def _as_typed(option: str, arguments: Sequence[str]) -> str:
    """The option as it was typed; click reports its long name."""
    names = (a.partition("=")[0] for a in arguments)
    return next((name for name in names if in_full([name]) == [option]), option)


def _near(error: Any, hint: str) -> str:
    """The hint, after a suggestion of a similar option."""
    known = [name[2:] for p in error.ctx.command.params for name in p.opts if name[:2] == "--"]
    near = did_you_mean(error.option_name[2:].lower(), [*known, "help", "version"])
    near = near and near.replace("mean ", "mean --")
    return f"{near} {hint}" if near else hint


def _without_value(option: str, hint: str) -> GradcliError:
    message = f"option '{option}' requires an argument"
    return GradcliError("option", message, hint=f"write it after a space: {option} …; {hint}")


def _unfinished(error: Any, arguments: Sequence[str]) -> str | None:
    """The last argument, if it is an option that lacks its value; click then complains about an
    earlier expression that begins with -.
    """
    if type(error).__name__ != "NoSuchOption":
        return None
    taking = {
        name
        for p in error.ctx.command.params
        if not getattr(p, "is_flag", False)
        for name in p.opts
    }
    return arguments[-1] if arguments[-1] in taking else None


def is_extra(error: Any) -> bool:
    """Whether there are more words than the command takes."""
    return "unexpected extra argument" in error.format_message()


def expression_last(error: Any, arguments: Sequence[str]) -> list[str] | None:
    """The arguments with an expression that begins with - moved after --. None if no argument can
    be such an expression; a single letter such as -x is a mistyped option.
    """
    option = getattr(error, "option_name", "--")
    result = [a for a in arguments if a.startswith(option) and len(a) > len("-x")]
    result = [] if _unfinished(error, arguments) else result
    if type(error).__name__ != "NoSuchOption" or option.startswith("--") or "--" in arguments:
        return None
    return [*(a for a in arguments if a is not result[0]), "--", result[0]] if result else None


def check_not_a_command(arguments: Sequence[str], commands: Sequence[str]) -> None:
    """Refuse a single word as a mistyped command, unless it is a single letter or an input with a
    shape or a value.
    """
    word, *others = arguments
    named = any(re.search(rf"\b{re.escape(word)}\b", other) for other in others)
    alone = not others or others[0].startswith("-")
    if alone and len(word) > 1 and word.isascii() and word.isidentifier() and not named:
        raise no_command(word, commands)


def no_command(word: str, commands: Sequence[str], hint: str = "") -> GradcliError:
    """The error for a word that is not a command, with similar commands."""
    from ..operators import lookup, names

    shown = word if lookup(word) else similar(word, names(), cutoff=0.8)
    near = did_you_mean(word, commands) or (shown and f"gradcli ops {shown} shows {shown}()")
    hint = near or f"gradcli --help lists them; {hint or FIRST_INPUT.format(word)}"
    return GradcliError("option", f"there is no command {word}", hint=hint)


def _extra(
    arguments: Sequence[str], error: Any, text: str, commands: Sequence[str], hint: str
) -> GradcliError:
    """The error for more words than a command takes: a value or an expression without quotes, a
    question, or a wrong command.
    """
    split = ended_at_a_space(arguments)
    if split:
        return split
    first, *others = arguments
    typed = others if first in commands and first != "why" else arguments
    question_error = question(" ".join(itertools.takewhile(lambda a: a[:1] != "-", typed)))
    if question_error:
        return question_error
    if first.isidentifier() and first not in commands:
        return no_command(first, commands, QUOTED)
    if any(p.metavar == "EXPR" for p in error.ctx.command.params):
        hint = without_sign(arguments) or f"{QUOTED}; {hint}"
    return GradcliError("option", text, hint=hint)


def _not_taken(option: Any, message: str) -> str | None:
    """The message on a value that an option does not take: `--order must be an integer from 1 to 9,
    got two`; None for options of other types.
    """
    kind, value = option.type, message.partition(" is not ")[0].strip("'")
    choices = [str(getattr(c, "value", c)) for c in getattr(kind, "choices", ())]
    if choices:
        takes = f"one of {', '.join(choices)}"
    elif getattr(kind, "min", None) is not None:
        takes = f"an integer from {kind.min} to {kind.max}"
    elif kind.name.startswith("int"):
        takes = "an integer"
    else:
        return None
    return f"{option.opts[-1]} must be {takes}, got {value or 'an empty text'}"
