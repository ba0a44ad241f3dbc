"""Mistaken inputs in place of an expression, and hints for them: options inside the quotes, file
names, questions, and values with unquoted spaces.
"""

import os
import re
from collections.abc import Collection, Sequence

from ..errors import GradcliError, Span
from .options import LONG_NAMES, OTHER_NAMES, TAKE_A_VALUE

PROGRAMS = (".py", ".md")
NOTEBOOKS = (".ipynb",)
REQUESTS = (".jsonl", ".ndjson")
ARRAYS = (".npy", ".npz", ".csv", ".tsv", ".json", ".txt")
# An option after an operand, with a value, or without for a long name.
INSIDE = r"""(?<=[\w)\]'"])[ \t]+(--[a-z][a-z-]*(?=[ \t=]|$)|-[a-z](?=[ \t]+\S))"""
QUESTION_START = (
    r"(what|why|how|when|which|who|is|are|can|could|does|do|did|should|explain|show|give|tell|find|"
    r"compute|calculate|please|i|my|the|gradient|derivative|jacobian|hessian)('?s)?\s+\w+\s+\w+"
)
NAMES = {*LONG_NAMES, *LONG_NAMES.values(), *OTHER_NAMES}
FEWEST_WORDS = 3  # of a question
NOT_FINITE = r"\b(nan|inf|infinite|zero|none|vanish\w*|explod\w*)\b"
QUESTION = "this is a question, and gradcli takes an expression"
QUESTIONS = """\
gradcli examples lists questions that people ask, and their answers
gradcli why "MESSAGE" explains an error message of PyTorch"""
WHY_NUMBERS = 'with your expression and its values: gradcli why "sqrt(x)" -v "x=[0., 4.]"'


def check_expression(text: str, command: str) -> None:
    """Refuse a text that is no expression, even if it can be parsed (GradcliError `option`)."""
    _check_no_file(text)
    if "--" not in text:
        return
    for result in re.finditer(INSIDE, text):
        if result[1].startswith("--") and result[1] in NAMES:
            raise _option_in_expression(text, result, command)


def plainer(error: GradcliError, command: str) -> GradcliError:
    """A clearer error if the input is a known mistake; otherwise the error itself."""
    if error.code != "syntax" or error.span is None or error.span.origin != "the expression":
        return error
    text = error.span.text
    inside = (result for result in re.finditer(INSIDE, text) if result[1] in NAMES)
    result = next(inside, None)
    if result:
        return _option_in_expression(text, result, command)
    return question(text) or error


def question(text: str) -> GradcliError | None:
    """The error for a question; None for other texts."""
    text = text.strip()
    words = re.findall(r"[A-Za-z']+", text)
    is_question = text.endswith("?") or re.match(QUESTION_START, text, re.IGNORECASE)
    if len(words) < FEWEST_WORDS or not is_question:
        return None
    not_finite = re.search(NOT_FINITE, text, re.IGNORECASE)
    cures = [WHY_NUMBERS] if not_finite else _about(words)
    return GradcliError("syntax", QUESTION, hint="\n".join([*cures, QUESTIONS]))


def _about(words: Collection[str]) -> list[str]:
    """Example commands for the first operator that a question names."""
    from ..operators import lookup, names

    known = {*names()} - {"mean", "where", "compute", "all", "any", "square", "gradient", "is"}
    operator = next((lookup(word.lower()) for word in words if word.lower() in known), None)
    examples = getattr(operator, "examples", ())
    return [f'for instance: gradcli "{examples[0][0]}"'] if examples else []


def _option_in_expression(text: str, result: re.Match[str], command: str) -> GradcliError:
    """The error for an option that was typed within the quotes of the expression."""
    expression, options = text[: result.start()].strip(), text[result.start(1) :].strip()
    message = f"{result[1]} stands within the quotes of the expression"
    cure = f"{command} {quoted(expression)} {options}"
    span = Span(text, result.start(1), len(text.rstrip()))
    return GradcliError("option", message, hint=f"end the quotes before it: {cure}", span=span)


def quoted(text: str) -> str:
    """A text quoted for a shell, in double quotes if possible."""
    import shlex

    return shlex.quote(text) if re.search(r'["$`\\!]', text) else f'"{text}"'


def _check_no_file(text: str) -> None:
    """Refuse the name of a file."""
    name, ending = text.strip(), os.path.splitext(text.strip())[1].lower()
    if len(name.split()) != 1 or not re.fullmatch(r"[^()\[\]{}*+=@,;]+", name):
        return
    cures = {
        PROGRAMS: f"gradcli read {name} explains the program in it",
        NOTEBOOKS: f"gradcli reads programs: jupyter nbconvert --to script {name}",
        REQUESTS: f"gradcli batch {name} answers its requests",
        ARRAYS: f'an input has its numbers with -v: gradcli "x*x" -v x=@{name}',
    }
    cure = next((cure for endings, cure in cures.items() if ending in endings), None)
    if cure:
        message = f"{name} is the name of a file, and gradcli takes an expression"
        raise GradcliError("option", message, hint=cure)


def ended_at_a_space(arguments: Sequence[str]) -> GradcliError | None:
    """The error for an unquoted value with spaces, which a shell splits into several words; None if
    no word continues in the next one.
    """
    for k in range(len(arguments) - 1):
        end = k + 1
        while end < len(arguments) and _is_incomplete(" ".join(arguments[k:end])):
            end += 1
        whole = " ".join(arguments[k:end])
        if end == k + 1 or _is_incomplete(whole):
            continue
        option = arguments[k - 1] if k else ""
        before = f"{option} " if OTHER_NAMES.get(option, option) in TAKE_A_VALUE else ""
        message = f"{whole} holds a space, and no quotes stand around it"
        return GradcliError("option", message, hint=f"write {before}{quoted(whole)}")
    return None


def without_sign(arguments: Sequence[str]) -> str | None:
    """The hint `write -v a=2` for -v a 2; None for other arguments."""
    for option, name, value, *_ in zip(arguments, arguments[1:], arguments[2:], strict=False):
        if option in ("-v", "--value", "-s", "--shape") and name.isidentifier():
            return f"write {option} {name}={value}"
    return None


def _is_incomplete(text: str) -> bool:
    """Whether a text ends with a comma or inside a bracket."""
    depth = sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))
    return depth > 0 or text.endswith(",")
