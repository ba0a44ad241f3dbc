"""The text of a value → a NumPy array: nested lists, pasted prints, files. Nothing is executed.

Knows how PyTorch, NumPy and JAX print tensors and how arrays are filed. Does not know the
language: a text that is an expression is left to the caller.

A list is read as one flat row of words and, for each open bracket, the shape of what it holds; so
nesting costs no recursion, and a row of numbers is one token however long it is.
"""

import ast
import os
import re
from typing import IO, TYPE_CHECKING, NoReturn

from ..errors import GradcliError, Span, did_you_mean
from ..graphs.shapes import Shape, numel
from ..graphs.shapes import text as shape_text
from ..limits import Limits

if TYPE_CHECKING:
    import numpy as np

NPY_MAGIC = b"\x93NUMPY"
MOST_DIMENSIONS = 64  # NumPy has no more

# Words as others write them. In JSON, gradcli itself writes "inf" as a string.
SPELLINGS = {"Infinity": "inf", "+Infinity": "inf", "-Infinity": "-inf", "NaN": "nan"}
SPELLINGS |= {"true": "True", "false": "False", "np.True_": "True", "np.False_": "False"}
SPELLINGS |= {
    f"{sign}{module}.{word}": sign + word
    for sign in ("", "+", "-")
    for module in ("np", "numpy", "torch", "math")
    for word in ("inf", "nan")
}
for word in ("inf", "-inf", "nan"):
    SPELLINGS |= {f"'{word}'": word, f'"{word}"': word}
SPELLINGS |= {"-float('inf')": "-inf", '-float("inf")': "-inf"}
TRUTH = {"True": "1", "False": "0"}

WORDS = "|".join(map(re.escape, sorted([*SPELLINGS, *TRUTH], key=len, reverse=True)))
DIGITS = r"(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
NUMBER = (
    rf"(?:[+-]?(?:{DIGITS}|inf|nan)|{WORDS})"
    r"(?=[\s,\])]|\Z)"
)
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
CELL = re.compile(rf"[+-]?0*(?:{DIGITS}|inf|nan)|{WORDS}")
NPZ = re.compile(r"(?P<path>.+\.npz)(?::(?P<name>.*))?", re.DOTALL)

KINDS = {"bool": "bool", "float": "float|double|half", "int": "int|long|short|char|byte"}

LIST_HINT = "a value is a list of numbers, such as [[1, 2], [3, 4]]"
ABRIDGED_HINT = (
    "print all of it with torch.set_printoptions(threshold=10**9) or "
    "np.set_printoptions(threshold=10**9), or save it to a file and write @file.npy"
)


class NotLiteral(GradcliError):
    """A text that is no value, but may be an expression."""


def read_array(
    text: str, *, limits: Limits, stdin: IO[bytes] | None = None, origin: str
) -> "np.ndarray | None":
    """The array that `text` writes down, or None where it is an expression of the language.

    `text` is a number, a nested list, a print of PyTorch, NumPy or JAX, `@file`, or `@-` for
    `stdin`; `origin` names the option, for errors. The array is int64, bool or else float64.
    GradcliError "value" for what is no array of numbers, "file" for what cannot be read, "limit"
    for what is too large.
    """
    limits.check("length", len(text), "the value is too long")
    if text.lstrip().startswith("@"):
        return _read_file(text.strip()[1:], limits, stdin)
    first = FIRST.match(text)
    if first and first["name"]:  # of a function or an input: no value begins with it
        return None
    try:
        return _read_text(text, limits, origin)
    except NotLiteral:
        if _is_expression(text):
            return None
        raise


# What kind of text it is.


def _is_expression(text: str) -> bool:
    """Whether Python's grammar takes `text`, and nothing in it stands where a number has to."""
    try:
        todo = [ast.parse(text.strip(), mode="eval").body]
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError):  # large, so no slip of the pen: the language has limits
        return True
    computed = False
    while todo:
        node = todo.pop()
        if isinstance(node, ast.List | ast.Tuple):
            todo += node.elts
        elif isinstance(node, ast.UnaryOp):
            todo.append(node.operand)
        elif isinstance(node, ast.BinOp):
            computed = True
            todo += [node.left, node.right]
        elif isinstance(node, ast.Call) and _is_maker(node.func):
            todo += node.args
        elif not isinstance(node, ast.Constant):
            computed = True
        elif not isinstance(node.value, int | float):
            return False
    return computed


def _is_maker(function: ast.expr) -> bool:
    """Whether `function` is `tensor`, `np.array` and the like."""
    parts = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    parts.append(function.id if isinstance(function, ast.Name) else "")
    return re.fullmatch(MAKERS, ".".join(reversed(parts))) is not None


def _read_text(text: str, limits: Limits, origin: str) -> "np.ndarray":
    """The array in a list or a pasted print."""
    text = text.replace("\N{MINUS SIGN}", "-")
    old = OLD_PRINT.search(text, max(0, len(text) - 200))
    if not old:
        first = FIRST.match(text)
        start = first.end("start") if first else 0
        return _Scanner(text, limits, origin).read(start)
    # The old prints number their blocks; blanks in the place of that keep the carets right.
    body = OLD_BLOCK.sub(lambda block: " " * len(block[0]), text[: old.start()])
    head = re.match(r"\s*(?:(?:Parameter|Variable) containing:)?", body)
    start = head.end() if head else 0
    return _Scanner(body, limits, origin, many=True).read(start, _sizes(old["size"]))


def _sizes(text: str) -> Shape:
    """The sizes in `2x3`, `(2, 3)`, `2x3 (GPU 0)`."""
    return tuple(map(int, re.findall(r"\d{1,18}", text.partition(" (GPU")[0])))


# Lists and prints.


class _Bracket:
    """A bracket that is still open, and what it holds so far."""

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
        self.holds_one = opener not in ("[", "(", "many")  # tensor(...), or the text as a whole
        self.length = 0
        self.item: Shape | None = None  # the shape that all items share
        self.comma = self.commas = self.gaps = False  # one just now; between items: commas, blanks
        self.keywords: dict[str, str] = {}


class _Scanner:
    """Reads one text, token by token: a method for each kind of token."""

    def __init__(self, text: str, limits: Limits, origin: str, many: bool = False):
        self.text, self.limits, self.origin = text, limits, origin
        self.words: list[str] = []  # the numbers, row-major, as they are spelled
        self.open = [_Bracket("many" if many else "", 0)]
        self.kind = ""  # what a dtype makes of the numbers: "float", "int", "bool" or ""
        self.factor = 1.0  # old prints begin with `1.0e-05 *`

    def read(self, start: int, shape: Shape | None = None) -> "np.ndarray":
        """The array that is written from `start` on; `shape` is known where no brackets tell it."""
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
        array = _cast(_numbers(self.words), self.kind).reshape(shape)
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
        """Put an item of this shape, or a run of numbers, into the innermost bracket."""
        inside = self.open[-1]
        if inside.holds_one and (inside.length or len(words) > 1):
            self._fail("several values, where one is needed", start, end, error=NotLiteral)
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

    def _fail_ragged(self, inside: _Bracket, shape: Shape, start: int, end: int) -> NoReturn:
        this = [bracket.length for bracket in self.open if not bracket.holds_one]
        first = [*this[:-1], 0]
        self._fail(
            f"the list is ragged: {_row(this)} {_holds(shape)}, "
            f"and {_row(first)} {_holds(inside.item or ())}",
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
            return self._made(done, end)
        if done.opener == "(" and done.length == 1 and not done.comma:  # (1) is 1, and (1,) a tuple
            return done.item or ()
        return (done.length, *(done.item or ()))

    def _made(self, call: _Bracket, end: int) -> Shape:
        """The shape of tensor(...), after its dtype and its size are heard."""
        if call.item is None:
            self._fail("there is no value in these brackets", call.start, end)
        if call.opener.endswith("Tensor") and not call.item and not call.keywords:
            self._fail(f"{call.opener} of a size has no definite values", call.start, end)
        if all(outer.holds_one for outer in self.open):
            self.kind = _kind(call.keywords.get("dtype", call.opener)) or self.kind
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
            "the print is abridged: ... stands for numbers",
            token.start("dots"),
            token.end(),
            ABRIDGED_HINT,
        )

    def _other(self, token: re.Match) -> None:
        kind = token.lastgroup or 0
        start, word = token.start(kind), token[kind]
        self._fail(f"{_short(word)} is not a number", start, token.end(), _hint(word), NotLiteral)

    def _end(self, token: re.Match) -> None:
        inside, whole = self.open[-1], self.open[0]
        if len(self.open) > 1:
            self._fail(
                f"this {self.text[inside.start]} is never closed", inside.start, inside.start + 1
            )
        if whole.item is None and whole.opener != "many":
            self._fail("there is no value here", 0)
        if whole.comma:
            self._fail("several values, where one is needed", 0, error=NotLiteral)


def _row(place: list[int]) -> str:
    """`row 1`, or `row [0, 1]` of a list in a list."""
    return f"row {place[0] if len(place) == 1 else place}"


def _holds(shape: Shape) -> str:
    if len(shape) == 1:
        return f"has {shape[0]} element{'s' * (shape[0] != 1)}"
    return f"has shape {shape_text(shape)}" if shape else "is a number"


def _short(word: str) -> str:
    return f"`{word}`" if len(word) <= 40 else f"`{word[:37]}...`"


def _hint(word: str) -> str:
    """What would be right in place of `word`."""
    if re.fullmatch("0[0-9]+", word):
        return "numbers have no leading zeros, and thousands no commas: 1000"
    if re.fullmatch(r"[-+.\dEe]*[jJ]", word):
        return "complex numbers are not supported"
    return LIST_HINT


def _kind(name: str) -> str:
    """What the name of a dtype or of a tensor class makes of numbers: float, int, bool or ""."""
    if name in ("Tensor", "torch.Tensor"):
        return "float"
    return next((kind for kind, names in KINDS.items() if re.search(names, name.lower())), "")


def _numbers(words: list[str]) -> "np.ndarray":
    """The numbers that `words` spell, shape (n,): bool, int64 if all are whole, or float64."""
    import numpy as np

    if not words:
        return np.zeros(0)
    words = [SPELLINGS.get(word, word) for word in words]
    if TRUTH.keys() >= set(words):
        return np.array([word == "True" for word in words])
    words = [TRUTH.get(word, word) for word in words]
    try:
        return np.array(list(map(int, words)), dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array(list(map(float, words)), dtype=np.float64)


def _cast(array: "np.ndarray", kind: str) -> "np.ndarray":
    """`array` as a dtype of this kind; whole numbers that int64 cannot hold stay float64."""
    import numpy as np

    if kind == "int" and not (np.abs(array.astype(float)) < 2**63).all():
        return array
    return array.astype(
        {"float": np.float64, "int": np.int64, "bool": np.bool_}.get(kind, array.dtype)
    )


# Files.


def _read_file(path: str, limits: Limits, stdin: IO[bytes] | None) -> "np.ndarray":
    """The array in the file at `path`, or in `stdin` where that is `-`."""
    if path == "-":
        if stdin is None:
            raise GradcliError("file", "there is no standard input here", hint="write @file")
        return _read_stream(stdin, "standard input", limits)
    if not path:
        raise GradcliError(
            "file", "@ needs the name of a file", hint="@data.npy, or @- for standard input"
        )
    path = os.path.expanduser(path)
    npz = NPZ.fullmatch(path)
    try:
        with open(npz["path"] if npz else path, "rb") as file:
            return _read_npz(file, npz, limits) if npz else _read_stream(file, path, limits)
    except OSError as error:
        raise _unreadable(npz["path"] if npz else path, error) from None


def _unreadable(path: str, error: OSError) -> GradcliError:
    hint = None
    folder, name = os.path.split(path)
    if isinstance(error, FileNotFoundError) and os.path.isdir(folder or "."):
        hint = did_you_mean(name, os.listdir(folder or "."))
    return GradcliError("file", f"cannot read {path}: {error.strerror or error}", hint=hint)


def _read_npz(file: IO[bytes], asked: re.Match, limits: Limits) -> "np.ndarray":
    """The array of this name in an archive; without a name, the only one."""
    import zipfile
    import zlib

    path, name = asked["path"], asked["name"]
    damage = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
    try:
        with zipfile.ZipFile(file) as archive:
            names = [n.removesuffix(".npy") for n in archive.namelist()]
            hint = f"it has {', '.join(names) or 'none'}"
            if not name and len(names) != 1:
                message = f"{path} has {len(names)} arrays, and one is needed"
                raise GradcliError("file", message, hint=f"{hint}; write @{path}:NAME")
            if name and name not in names:
                raise GradcliError("file", f"{path} has no array {name}", hint=hint)
            with archive.open((name or names[0]) + ".npy") as member:
                return _read_npy(member, path, limits)
    except (*damage, KeyError) as error:
        raise GradcliError("file", f"{path} is no .npz archive, or is damaged: {error}") from None


def _read_npy(file: IO[bytes], path: str, limits: Limits) -> "np.ndarray":
    """The array in .npy format; its header is heard first, for it says how large the rest is."""
    import numpy as np
    from numpy.lib import format as npy

    try:
        readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        shape, _, dtype = readers[npy.read_magic(file)](file)
        limits.check("elements", numel(shape), f"the array in {path} is too large")
        if dtype.hasobject:
            message = f"{path} holds pickled objects, which are never loaded"
            raise GradcliError("file", message, hint="save an array of numbers")
        file.seek(0)
        array = npy.read_array(file, allow_pickle=False)
    except (ValueError, KeyError) as error:
        raise GradcliError("file", f"{path} is no .npy file, or is damaged: {error}") from None
    if array.dtype.kind not in "biuf":
        raise GradcliError("value", f"{path} holds {array.dtype}, and real numbers are needed")
    if array.dtype.kind == "b":
        return array
    whole = array.dtype.kind == "i" or (array.dtype.kind == "u" and (array < 2**63).all())
    return array.astype(np.int64 if whole else np.float64)


def _read_stream(file: IO[bytes], path: str, limits: Limits) -> "np.ndarray":
    """The array in a .npy file, or in a text: a list, a print, or rows of numbers."""
    import io

    data = file.read(len(NPY_MAGIC))
    if data == NPY_MAGIC:
        data += file.read(16 * limits.sizes["elements"] + 4096)
        return _read_npy(io.BytesIO(data), path, limits)
    data += file.read(limits.sizes["length"] + 1)
    limits.check("length", len(data), f"{path} is too long")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        message = f"{path} is neither UTF-8 text nor a .npy file"
        raise GradcliError(
            "file", message, hint="save it as .npy, .npz, .json, .csv or .txt"
        ) from None
    if PRINT.match(text) or OLD_PRINT.search(text, max(0, len(text) - 200)):
        return _read_text(text, limits, path)
    return _read_rows(text, limits, path)


def _read_rows(text: str, limits: Limits, path: str) -> "np.ndarray":
    """Lines of numbers, apart by commas or blanks; `#` begins a comment.

    One line or one column is a vector and one number is a number, as numpy.loadtxt has it.
    """
    separator = "," if "," in text else None
    words: list[str] = []
    width = first = start = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        span = Span(text, start, start + len(line.rstrip()), path)
        start += len(line)
        content = line.partition("#")[0].strip()
        if not content:
            continue
        cells = [cell.strip(' \t"') for cell in content.split(separator)]
        _check_cells(cells, number, not first, span)
        if not first:
            width, first = len(cells), number
        elif len(cells) != width:
            message = f"line {number} {_holds((len(cells),))}, and line {first} {_holds((width,))}"
            raise GradcliError(
                "value", message, hint="all lines need the same number of elements", span=span
            )
        words += cells
    if not words:
        raise GradcliError("value", f"there are no numbers in {path}", hint=LIST_HINT)
    limits.check("elements", len(words), f"{path} is too large")
    return _numbers(words).reshape(-1, width).squeeze()


def _check_cells(cells: list[str], number: int, is_first: bool, span: Span) -> None:
    """Refuse what is no number, in line `number`."""
    bad = next((cell for cell in cells if not CELL.fullmatch(cell)), None)
    if bad is None:
        return
    hint: str | None
    if bad in ("...", "…"):
        message, hint = "the print is abridged: ... stands for numbers", ABRIDGED_HINT
    elif not bad:
        message, hint = "a number is missing", "between two commas there has to be a number"
    else:
        message = f"{_short(bad)} is not a number"
        hint = "if this line is a header, delete it" if is_first else None
    raise GradcliError("value", f"line {number}: {message}", hint=hint, span=span)
