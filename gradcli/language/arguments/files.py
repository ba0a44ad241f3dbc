"""Arrays in files: .npy, .npz, lists, prints, and rows of numbers. Nothing pickled is loaded."""

import os
import re
from typing import IO, Any

from ...errors import GradcliError, Span, unreadable
from ...graphs.shapes import numel
from ...limits import Limits
from .number_words import DIGITS, WORDS, numbers, plain
from .prints import ABRIDGED_HINT, LIST_HINT, OLD_PRINT, PRINT, holds, read_text, short

NPY_MAGIC = b"\x93NUMPY"
ROWS_HINT = "a file contains rows of numbers, a list [[1, 2], [3, 4]], or an array saved as .npy"
CELL = re.compile(rf"[+-]?0*(?:{DIGITS}|inf|nan)|{WORDS}")
NPZ = re.compile(r"(?P<path>.+\.npz)(?::(?P<name>.*))?", re.DOTALL)


def read_file(path: str, limits: Limits, stdin: IO[bytes] | None) -> Any:
    """The array in the file at `path`, or in `stdin` if that is `-`. Raises GradcliError, whose
    message has the position in the file, and not its contents.
    """
    if not limits.files:
        message = "files are not opened here, but a value that begins with @ names one"
        raise GradcliError("file", message, hint="--allow-files lets requests name files")
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
        with open(npz["path"] if npz else path, "rb", opener=_opened) as file:
            return _read_npz(file, npz, limits) if npz else _read_stream(file, path, limits)
    except OSError as error:
        raise unreadable(npz["path"] if npz else path, error) from None


def _opened(path: str, flags: int) -> int:
    """The descriptor of a file; a pipe without a writer counts as empty."""
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    os.set_blocking(descriptor, True)
    return descriptor


def _read_npz(file: IO[bytes], match: re.Match, limits: Limits) -> Any:
    """The array of this name in an archive; without a name, the only one."""
    import zipfile
    import zlib

    path, name = match["path"], match["name"]
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
    except (*damage, KeyError):
        raise GradcliError("file", f"{path} is not a .npz archive, or is damaged") from None


def _read_npy(file: IO[bytes], path: str, limits: Limits) -> Any:
    """The array in .npy format; its header is read first, to check the size."""
    from numpy.lib import format as npy

    try:
        readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        shape, _, dtype = readers[npy.read_magic(file)](file)
        limits.check("elements", numel(shape), f"the array in {path} is too large")
        if dtype.hasobject:
            message = f"{path} contains pickled objects, which are never loaded"
            raise GradcliError("file", message, hint="save an array of numbers")
        file.seek(0)
        array = npy.read_array(file, allow_pickle=False)
    except (ValueError, KeyError):
        raise GradcliError("file", f"{path} is not a .npy file, or is damaged") from None
    if array.dtype.kind not in "biuf":
        raise GradcliError("value", f"{path} contains {array.dtype}, but real numbers are needed")
    return plain(array)


def _read_stream(file: IO[bytes], path: str, limits: Limits) -> Any:
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
    is_print = PRINT.match(text) or OLD_PRINT.search(text, max(0, len(text) - 200))
    try:
        return read_text(text, limits, path) if is_print else _read_rows(text, limits, path)
    except GradcliError as error:
        raise _without_text(error, path) from None


def _without_text(error: GradcliError, path: str) -> GradcliError:
    """The error with line and character in its message, and without the text of the file."""
    if error.span is None:
        return error
    *before, last = error.span.text[: error.span.start].split("\n")
    where = f"{path}, line {len(before) + 1}, character {len(last) + 1}"
    message = re.sub("`.*`", "this", error.message, flags=re.DOTALL)
    return GradcliError(error.code, f"{where}: {message}", hint=error.hint)


def _read_rows(text: str, limits: Limits, path: str) -> Any:
    """Lines of numbers separated by commas or blanks; `#` begins a comment.

    One line or one column is a vector, and one number a scalar, as in numpy.loadtxt.
    """
    separator = "," if "," in text else None
    words: list[str] = []
    width = first = start = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        begin, start = start, start + len(line)
        content = line.partition("#")[0].strip()
        if not content:
            continue
        cells = [cell.strip(' \t"') for cell in content.split(separator)]
        for bad in (cell for cell in cells if not CELL.fullmatch(cell)):
            at = begin + (line.find(bad) if bad else 0)
            may_be_header = not first and bool(text[start:].strip())
            raise _no_number(bad, may_be_header, Span(text, at, at + len(bad), path))
        if not first:
            width, first = len(cells), number
        elif len(cells) != width:
            message = f"{path}: line {number} {holds((len(cells),))}, "
            message += f"and line {first} {holds((width,))}"
            hint = "all lines need the same number of elements"
            raise GradcliError("value", message, hint=hint)
        words += cells
    if not words:
        raise GradcliError("value", f"there are no numbers in {path}", hint=LIST_HINT)
    limits.check("elements", len(words), f"{path} is too large")
    return numbers(words).reshape(-1, width).squeeze()


def _no_number(cell: str, may_be_header: bool, span: Span) -> GradcliError:
    """The error for a cell that is not a number."""
    if cell in ("...", "…"):
        message = "the printed tensor is abridged: ... stands for missing numbers"
        hint = ABRIDGED_HINT
    elif not cell:
        message, hint = "a number is missing", "between two commas there has to be a number"
    else:
        message, hint = f"{short(cell)} is not a number", _cure(cell, may_be_header)
    return GradcliError("value", message, hint=hint, span=span)


def _cure(cell: str, may_be_header: bool) -> str:
    """A hint for a cell that is not a number."""
    if cell[0] in "{[":
        return "of a .json file gradcli reads a list of numbers, nested for rows: [[1, 2], [3, 4]]"
    if ";" in cell and all(CELL.fullmatch(part.strip()) for part in cell.split(";")):
        return "numbers are separated by commas or spaces, not by semicolons"
    return "if this line is a header, delete it" if may_be_header else ROWS_HINT
