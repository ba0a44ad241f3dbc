"""Nested lists and pasted prints of PyTorch, NumPy and JAX, converted to a NumPy array.

The reader keeps one flat list of words and, for each open bracket, the shape of its contents; so
nesting costs no recursion, and a row of numbers is one token of any length.
"""

import re
from typing import Any, NoReturn

from ...errors import GradcliError, Span
from ...graphs.shapes import MOST_DIMENSIONS, Shape, numel
from ...graphs.shapes import text as shape_text
from ...limits import Limits
from .number_words import DIGITS, NUMBER, cast, is_complex, kind_of, numbers

MAKERS = (
    r"(?:(?:torch|np|numpy|jnp|jax|tf|nn|cuda|autograd)\.)*"
    r"(?:tensor|as_tensor|\w*Tensor|Parameter|Variable|array|asarray|Array|DeviceArray|matrix"
    r"|b?float\d*|double|half|u?int\d*|longlong|bool_?)"
)
TOKEN = re.compile(
    rf"""\s*(?:
      (?P<close> [\])] )
    | (?P<comma> , )
    | (?P<open> \[ | (?:{MAKERS}\s*)? \( )
    | (?P<factor> {DIGITS}[ ]*\*[ \t]*\n )
    | (?P<gaps> {NUMBER}(?:\s+{NUMBER}){{1,1000}} )
    | (?P<numbers> {NUMBER}(?:\s*,\s*{NUMBER}){{0,1000}} )
    | (?P<keyword> [^\W\d]\w*\s*=\s*(?:<[^<>]*>|'[^']*'|"[^"]*"|\([^()]*\)|[\w.]+)(?=\s*[,)]) )
    | (?P<dots> \.\.\. | … )
    | (?P<end> \Z )
    | (?P<other> [^\s,\[\]()]+ )
    )""",
    re.VERBOSE,
)
FIRST = re.compile(
    r"\s*(?:(?:Parameter|Variable)\s+containing:\s*)?(?P<start>)"
    rf"(?:{NUMBER}|None\b|null\b|{MAKERS}\s*\(|(?P<name>[^\W\d]))?"
)
PRINT = re.compile(rf"\s*(?:[\[(]|(?:Parameter|Variable)\s+containing:|{MAKERS}\s*\()")
OLD_PRINT = re.compile(r"\[torch\.[\w.]*Tensor (?:of size )?(?P<size>[^\[\]]*)\]\s*\Z")
OLD_BLOCK = re.compile(r"^\([\d.,\s]*\)[ ]*=[ \t]*$", re.MULTILINE)

SHORT = 40  # characters of a value that are quoted in a hint
LIST_HINT = "a value is a list of numbers, such as [[1, 2], [3, 4]]"
ABRIDGED_HINT = (
    "print all of it with torch.set_printoptions(threshold=10**9) or "
    "np.set_printoptions(threshold=10**9), or save it to a file and write @file.npy"
)


class NotLiteral(GradcliError):
    """The text is not a value, but may be an expression."""


def read_text(text: str, limits: Limits, origin: str) -> Any:
    """The array in a list or a pasted print."""
    text = text.replace("\N{MINUS SIGN}", "-")
    old = OLD_PRINT.search(text, max(0, len(text) - 200))
    if not old:
        first = FIRST.match(text)
        start = first.end("start") if first else 0
        return _Scanner(text, limits, origin).read(start)
    # Old prints number their blocks; blanks in place of the numbers preserve the positions of
    # errors.
    body = OLD_BLOCK.sub(lambda block: " " * len(block[0]), text[: old.start()])
    head = re.match(r"\s*(?:(?:Parameter|Variable) containing:)?", body)
    start = head.end() if head else 0
    return _Scanner(body, limits, origin, many=True).read(start, _sizes(old["size"]))


def _sizes(text: str) -> Shape:
    """The sizes in `2x3`, `(2, 3)`, `2x3 (GPU 0)`."""
    return tuple(map(int, re.findall(r"\d{1,18}", text.partition(" (GPU")[0])))


class _Bracket:
    """An open bracket, and the items read so far."""

    __slots__ = (
        "comma",
        "commas",
        "gaps",
        "holds_one",
        "item",
        "keywords",
        "length",
        "opener",
        "start",
    )

    def __init__(self, opener: str, start: int):
        self.opener, self.start = opener, start
        self.holds_one = opener not in ("[", "(", "many")  # as tensor(...) and the whole text do
        self.length = 0
        self.item: Shape | None = None  # the shape of each item
        self.comma = self.commas = self.gaps = False  # just read; separators so far
        self.keywords: dict[str, str] = {}


class _Scanner:
    """Reads a text token by token, with a method for each kind of token."""

    def __init__(self, text: str, limits: Limits, origin: str, many: bool = False):
        self.text, self.limits, self.origin = text, limits, origin
        self.words: list[str] = []  # row-major
        self.open = [_Bracket("many" if many else "", 0)]
        self.kind = ""  # what a dtype makes of the numbers: "float", "int", "bool" or ""
        self.factor = 1.0  # old prints begin with `1.0e-05 *`

    def read(self, start: int, shape: Shape | None = None) -> Any:
        """The array that begins at `start`; `shape` is given if brackets do not determine it."""
        for token in TOKEN.finditer(self.text, start):
            getattr(self, f"_{token.lastgroup}")(token)
        self.limits.check("elements", len(self.words), "the value is too large", self._span(start))
        shape = (self.open[0].item or ()) if shape is None else shape
        if numel(shape) != len(self.words):
            self._fail(
                f"there are {len(self.words)} numbers for the shape {shape_text(shape)}", start
            )
        if len(shape) > MOST_DIMENSIONS:
            self._fail(f"more than {MOST_DIMENSIONS} dimensions", start)
        array = cast(numbers(self.words), self.kind).reshape(shape)
        return array if self.factor == 1 else array * self.factor

    def _span(self, start: int, end: int | None = None) -> Span:
        return Span(self.text, start, len(self.text.rstrip()) if end is None else end, self.origin)

    def _fail(
        self,
        message: str,
        start: int,
        end: int | None = None,
        hint: str = LIST_HINT,
        error=GradcliError,
    ) -> NoReturn:
        raise error("value", message, hint=hint, span=self._span(start, end))

    def _numbers(self, token: re.Match) -> None:
        words = token["numbers"].replace(",", " ").split()
        self._add((), token.start("numbers"), token.end(), words)
        self.open[-1].commas |= len(words) > 1

    def _gaps(self, token: re.Match) -> None:
        words = token["gaps"].split()
        start = token.start("gaps")
        self._add((), start, token.end(), words)
        if self.open[-1].commas or self.open[-1].opener == "(":
            self._fail(
                "a comma is missing between two numbers", start, token.end(), error=NotLiteral
            )
        self.open[-1].gaps = True

    def _add(self, shape: Shape, start: int, end: int, words: list[str] | tuple = ()) -> None:
        """Add an item of this shape, or a row of numbers, to the innermost open bracket."""
        inside = self.open[-1]
        if inside.holds_one and (inside.length or len(words) > 1):
            self._fail_several(start, end)
        if inside.length:
            inside.commas |= inside.comma
            inside.gaps |= not inside.comma
            if inside.gaps and (inside.commas or inside.opener == "("):
                self._fail("a comma is missing before this", start, end, error=NotLiteral)
        if inside.item not in (None, shape):
            self._fail_ragged(inside, shape, start, end)
        inside.item = shape
        inside.length += len(words) or 1
        inside.comma = False
        self.words += words

    def _fail_several(self, start: int, end: int | None = None) -> NoReturn:
        text = self.text.strip(", ")
        plain = len(text) <= SHORT and not set(text) & {*"[](){}"}
        hint = f"several values need brackets: [{text}]" if plain else LIST_HINT
        self._fail("several values, where one is needed", start, end, hint, NotLiteral)

    def _fail_ragged(self, inside: _Bracket, shape: Shape, start: int, end: int) -> NoReturn:
        this = [bracket.length for bracket in self.open if not bracket.holds_one]
        first = [*this[:-1], 0]
        self._fail(
            f"the list is ragged: {_row(this)} {holds(shape)}, "
            f"and {_row(first)} {holds(inside.item or ())}",
            start,
            end,
            hint="all rows of a list need the same number of elements",
        )

    def _open(self, token: re.Match) -> None:
        opener, start = token["open"], token.start("open")
        if len(self.open) > self.limits.sizes["nesting"]:
            self.limits.check("nesting", len(self.open), "lists within lists", self._span(start))
        self.open.append(_Bracket(opener.rstrip("( \t\n") or "(", start))

    def _close(self, token: re.Match) -> None:
        start, done = token.start("close"), self.open[-1]
        closer = token["close"]
        if len(self.open) == 1:
            self._fail(f"there is no bracket that this {closer} closes", start, token.end())
        if (done.opener == "[") != (closer == "]"):
            self._fail(f"{self.text[done.start]} is closed by {closer}", start, token.end())
        self.open.pop()
        self._add(self._shape(done, token.end()), done.start, token.end())

    def _shape(self, done: _Bracket, end: int) -> Shape:
        """The shape of a closed bracket."""
        if done.holds_one:
            return self._shape_of_call(done, end)
        if done.opener == "(" and done.length == 1 and not done.comma:  # (1) is 1, not (1,)
            return done.item or ()
        return (done.length, *(done.item or ()))

    def _shape_of_call(self, call: _Bracket, end: int) -> Shape:
        """The shape of tensor(...), which may declare a dtype and a size."""
        if call.item is None:
            self._fail("there is no value in these brackets", call.start, end)
        if call.opener.endswith("Tensor") and not call.item and not call.keywords:
            self._fail(f"{short(call.opener)} of a size has undefined values", call.start, end)
        dtype = call.keywords.get("dtype", call.opener)
        if is_complex(dtype):
            self._fail(
                f"{short(dtype)} is complex, but only real numbers are supported", call.start, end
            )
        if all(outer.holds_one for outer in self.open):
            self.kind = kind_of(dtype) or self.kind
        declared = call.keywords.get("size") or call.keywords.get("shape")
        if not declared:
            return call.item
        shape = _sizes(declared)
        large = numel([size or 1 for size in shape])
        self.limits.check(
            "elements", large, "the declared shape is too large", self._span(call.start, end)
        )
        if numel(shape) != numel(call.item):
            message = f"shape {shape_text(shape)} is declared, and the numbers have shape "
            self._fail(message + shape_text(call.item), call.start, end)
        return shape

    def _comma(self, token: re.Match) -> None:
        inside = self.open[-1]
        if inside.comma or not (inside.length or inside.keywords):
            self._fail("a number is missing before this comma", token.start("comma"), token.end())
        inside.comma = True

    def _keyword(self, token: re.Match) -> None:
        inside = self.open[-1]
        if not inside.holds_one or len(self.open) == 1 or not inside.length:
            self._other(token)
        name, value = re.split(r"\s*=\s*", token["keyword"], maxsplit=1)
        inside.keywords[name] = value
        inside.comma = False

    def _factor(self, token: re.Match) -> None:
        if self.words or not all(
            bracket.holds_one or bracket.opener == "many" for bracket in self.open
        ):
            self._other(token)
        self.factor = float(token["factor"].rstrip("* \t\n"))

    def _dots(self, token: re.Match) -> None:
        self._fail(
            "the printed tensor is abridged: ... stands for missing numbers",
            token.start("dots"),
            token.end(),
            ABRIDGED_HINT,
        )

    def _other(self, token: re.Match) -> None:
        kind = token.lastgroup or 0
        start, word = token.start(kind), token[kind]
        self._fail(f"{short(word)} is not a number", start, token.end(), _hint(word), NotLiteral)

    def _end(self, token: re.Match) -> None:
        inside, whole = self.open[-1], self.open[0]
        if len(self.open) > 1:
            self._fail(
                f"this {self.text[inside.start]} is never closed", inside.start, inside.start + 1
            )
        if whole.item is None and whole.opener != "many":
            self._fail("there is no value here", 0)
        if whole.comma:
            self._fail_several(0)


def _row(index: list[int]) -> str:
    """A row of a list in messages: `row 1`, or `row [0, 1]` in a nested list."""
    return f"row {index[0] if len(index) == 1 else index}"


def holds(shape: Shape) -> str:
    if len(shape) == 1:
        return f"has {shape[0]} element{'s' * (shape[0] != 1)}"
    return f"has shape {shape_text(shape)}" if shape else "is a number"


def short(word: str) -> str:
    return f"`{word}`" if len(word) <= 40 else f"`{word[:37]}...`"


def _hint(word: str) -> str:
    """A hint on what to write instead of `word`."""
    if re.fullmatch("0[0-9]+", word):
        return "numbers have no leading zeros, and thousands no commas: 1000"
    if re.fullmatch(r"[-+.\dEe]*[jJ]", word):
        return "complex numbers are not supported"
    if re.fullmatch(r"[^\W\d]\w*=", word):
        return "each value needs its own option: -v a=[1] -v b=[2]"
    return "standard input is written @-" if word == "-" else LIST_HINT
