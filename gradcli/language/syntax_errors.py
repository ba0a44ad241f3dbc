"""Python's syntax errors in the terms of the language, with hints."""

import keyword
import re

from ..errors import EXAMPLE, GradcliError, Span
from ..operators import lookup

UNENDED = "a string begins here and does not end"
ASSIGNED = "an assignment needs a name: y = x ** 2"
LATEX = "LaTeX is not supported: a formula is written as in Python, sin(x) / y"
QUOTED = "the quotes around an expression are the shell's: leave this one out"
UNCLOSED = "the closing quote is missing"
REASONS = {
    "invalid syntax": "this is not an expression",
    "unterminated string literal": UNENDED,
    "invalid decimal literal": "a number ends here, and a letter follows",
}
# Hints by the character at which an error begins; "" for the end of the text.
INSTEAD = {
    "": "the text ends too early: is a bracket or an operand missing?",
    "!": "the opposite of a mask is written ~mask",
    "=": "a comparison is written ==",
    "'": "a transpose is written A.T; a derivative is not written out",
    "*": "a product is written x * y, and a power x ** 2",
    ":": ASSIGNED,
    ";": "statements are separated by one ;, and the last one is the output: h = relu(x); h.sum()",
    "$": LATEX,
    "?": "a choice is written where(condition, a, b)",
}
# A word and the following one without an operator between; the first may end where an error begins.
SIDE_BY_SIDE = re.compile(r"([\w.]+)[ \t]+(?=[\w(])")
# An unclosed or wrongly closed opening bracket; an unmatched closing bracket.
BRACKET = re.compile(r"(?:closing .* opening parenthesis |unmatched )?'([()\[\]{}])'")
CLOSING = {"(": ")", "[": "]", "{": "}"}
ELEMENTWISE = re.compile(r".?\.([*/^])")  # x .^ 2, as in MATLAB
DERIVED = re.compile(r"\s*[d∂]\w*\s*/\s*[d∂]\w+[ \t(\[]")  # d/dx x ** 2
TRANSPOSED = re.compile(r"[\w)\]]'$")  # with an apostrophe, as in A'


def syntax_error(error: SyntaxError, text: str, origin: str) -> GradcliError:
    """The error for a syntax error of Python's parser, with its span."""
    line, column = error.lineno or 1, (error.offset or 1) - 1
    before = sum(len(x) for x in text.splitlines(keepends=True)[: line - 1])
    start = min(before + max(column, 0), len(text))
    return GradcliError(
        "syntax",
        _reason(error.msg),
        span=Span(text, start, start + 1, origin),
        hint=_hint(error.msg, text, start),
    )


def _reason(message: str) -> str:
    """Python's message without its suggestion."""
    reason = message.split(" Maybe you meant")[0].split(". Perhaps you forgot")[0]
    reason = re.sub(r" \(detected at line \d+\)$", "", reason.removesuffix(" here."))
    if "Exceeds the limit" in reason:
        return "this integer has too many digits"
    return REASONS.get(reason, reason)


def _hint(message: str, text: str, start: int) -> str | None:
    """A hint, from Python's message and the text around the error."""
    if message.startswith("cannot assign to function call"):
        return "a function is its body, with its arguments as inputs: x ** 2, not f(x) = x ** 2"
    if message.startswith("cannot assign to"):
        return ASSIGNED
    if text[start - 1 : start] == "\\":
        return LATEX
    if message == "invalid decimal literal":
        return "a product is written with a sign: 2 * x"
    character = text[start : start + 1]
    if elementwise := ELEMENTWISE.match(text[max(start - 1, 0) : start + 2]):
        sign = elementwise[1].replace("^", "**")
        return f"elementwise operators have the plain sign: x {sign} y"
    if DERIVED.match(text):
        return "a derivative is not written out: type x ** 2, and -w x to choose x"
    if bracket := BRACKET.match(message):
        return _closed(bracket[1])
    if character == "=" and not text[:start].strip():
        return ASSIGNED
    if _reason(message) == UNENDED and not TRANSPOSED.search(text[: start + 1]):
        inside = text[:start].strip() and text[start + 1 :].strip()
        return UNCLOSED if inside else QUOTED
    if text[:start].rstrip().endswith(")") and re.match(r"\w", character):
        return "a product is written with a sign: sin(x) * cos(x)"
    words = re.search(r"[\w.]*[ \t]*$", text[:start])
    pair = SIDE_BY_SIDE.match(text, words.start() if words and words[0].strip() else start)
    if pair and message.startswith("invalid syntax"):
        return _without_sign(pair[1], in_brackets="comma" in message)
    if character == "|":
        lengths = "||" in text
        return "a length is written norm(x)" if lengths else "an absolute value is written abs(x)"
    return INSTEAD.get(character, EXAMPLE)


def _closed(bracket: str) -> str:
    """A hint for an unmatched bracket."""
    if bracket in CLOSING:
        return f"write {CLOSING[bracket]} where it ends"
    return "leave it out, or write the bracket that it closes"


def _without_sign(word: str, in_brackets: bool) -> str:
    """A hint for two words without an operator between, of which `word` is the first."""
    if keyword.iskeyword(word):
        return EXAMPLE
    if lookup(word):
        return f"a function is called with brackets: {word}(x)"
    comma = "; arguments are separated by commas" if in_brackets else ""
    return f"a product is written with a sign: x * y, and of matrices A @ B{comma}"
