"""The explanation of the error that ends a program: the lines that lead to it, the reason why
PyTorch raises it, and the smallest correction.
"""

import ast
import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from ...snippets.eager.tensor import Record, Saved, Tensor
from ...snippets.eager.views import readable
from ...snippets.reading import Reading
from .changes import READ_AGAIN, Finding, gradients, in_words
from .corrections.nodes import dotted
from .corrections.search import Correction, correction
from .corrections.table import kinds
from .steps import operation

Evidence = tuple[int, str, str]  # line number, text, remark
MOST_OPERANDS = 4


def error_finding(reading: Reading) -> Finding | None:
    """The finding on the error that ends a program; None if nothing can be said about it."""
    failure = reading.outcome.exception
    if failure is None:
        return None
    cured = correction(reading)
    why = _why(reading, failure.message, cured)
    evidence = tuple(sorted(set(_evidence(reading))))
    if not (why or evidence or cured):
        return None
    return Finding(
        "error",
        "Why it raises",
        why,
        _cure(reading, cured) if cured else "",
        failure.line,
        evidence,
        cured.source if cured else None,
    )


def _why(reading: Reading, message: str, cured: Correction | None) -> str:
    if cured is None:
        return _of_records(reading, message) or next((k.why for k, _ in kinds(message)), "")
    first, *others = cured.steps
    sources = [*(s.before for s in others), cured.source]
    later = [
        step
        for step, after in zip(others, sources[1:])
        if step.message != first.message and changes_original(reading.source, step.before, after)
    ]
    why = _of_records(reading, message) or first.why
    return " ".join([why, *[f"Then: {s.why}" for s in later]])


def changes_original(original: str, before: str, after: str) -> bool:
    """Whether a change of a corrected program concerns the original, not only text that an earlier
    change put there.
    """
    removed = [
        "".join(words)
        for old, new in _replaced(before.split("\n"), after.split("\n"))
        for words, _ in _replaced(*(re.findall(r"\w+|\s+|.", "\n".join(x)) for x in (old, new)))
    ]
    removed = [text for text in removed if text]
    return not removed or any(text in original for text in removed)


def _replaced(before: list[str], after: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """The parts of two lists in which they differ."""
    for kind, i, j, k, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            yield before[i:j], after[k:end]


def _of_records(reading: Reading, message: str) -> str:
    """Why the backward pass cannot use a tensor that an operation saved: freed, or changed in
    place. "" for other errors.
    """
    refused = reading.trace.refused
    if refused is None:
        return ""
    record, saved = refused
    name = operation(record)
    if "second time" in message and record.freed_line:
        return (
            f"{name}, line {record.line}, saved tensors that backward at line {record.freed_line} "
            "freed; a second backward pass through it needs them."
        )
    if saved is not None and "inplace" in message:
        what = "its result" if saved.owned else "its operand"
        lines = list(dict.fromkeys(n for n in saved.tensor.version.lines[saved.version :] if n))
        wrote = " and ".join(f"line {n}" for n in lines[:3]) or "a later change"
        return f"The derivative of {name} needs {what}, which {wrote} overwrote."
    return ""


def _cure(reading: Reading, cured: Correction) -> str:
    """The correction in words, a remark on it, and the gradients of the corrected program."""
    result = gradients(cured.reading)
    lines = [in_words(reading.source, cured.source)]
    lines += dict.fromkeys(s.note for s in cured.steps if s.note)
    lines.append(f"{READ_AGAIN}runs{', ' + result if result else ''}")
    return "\n".join(lines)


# ---- the lines that lead to the error ------------------------------------------------------------


def _evidence(reading: Reading) -> Iterator[Evidence]:
    """The lines that lead to the error: (line number, text, remark)."""
    failure = reading.outcome.exception
    assert failure is not None
    rows: list[tuple[int, str]] = []
    refused = reading.trace.refused
    if refused is not None and "second time" in failure.message:
        rows += _freed(refused[0], failure.line)
    elif refused is not None and refused[1] is not None and "inplace" in failure.message:
        rows += _changed(refused[0], refused[1], failure.line)
    else:
        rows += _operands(reading, failure.line)
    lines = reading.source.split("\n")
    for line, remark in rows:
        if 0 < line <= len(lines):
            yield line, lines[line - 1].strip(), remark


def _freed(record: Record, line: int) -> Iterator[tuple[int, str]]:
    name = operation(record)
    if record.freed_line == line:
        yield record.line or 0, f"{name} saves what its backward needs"
        yield line, f"frees it the first time, so that {name} lacks it the next time"
        return
    yield record.line or 0, f"{name} saves what its backward needs"
    yield record.freed_line, "runs backward, and frees it"
    yield line, f"runs backward through {name} again"


def _changed(record: Record, saved: Saved, line: int) -> Iterator[tuple[int, str]]:
    name, version = operation(record), saved.version
    what = "result" if saved.owned else "operand"
    yield record.line or 0, f"{name} saves its {what}, version {version}"
    steps: dict[int, int] = {}
    for k, changed in enumerate(saved.tensor.version.lines[version:], version + 1):
        steps[changed] = k
    for changed, k in steps.items():
        if changed == line:
            continue
        yield changed, f"changes it in place: version {k}"
    yield line, f"{name} needs version {version}"


def _operands(reading: Reading, line: int) -> Iterator[tuple[int, str]]:
    """The named tensors on the line that raises: shapes, dtypes, and lines of assignment."""
    try:
        tree = ast.parse(reading.source)
    except SyntaxError:
        return
    values: dict[str, Tensor] = {}
    built: dict[str, int] = {}
    for a in reading.trace.assignments:
        if not readable(a.tensor):
            continue
        values[a.name], built[a.name] = a.tensor, a.line
    names = {
        dotted(n)
        for n in ast.walk(tree)
        if isinstance(n, ast.Name) and n.lineno == line and n.id in values
    }
    listed = [n for n in values if n in names][:MOST_OPERANDS]
    for name in listed:
        if built[name] != line:
            yield built[name], f"{name}: {described(values[name])}"
    if listed:
        yield line, "raises"


def described(tensor: Tensor) -> str:
    """The shape of a tensor, its dtype unless float32, and whether it requires a gradient: "2×3, a
    leaf that requires grad".
    """
    shape = "×".join(map(str, tensor.shape)) if tensor.shape else "a single number"
    if len(tensor.shape) == 1:
        shape = f"{tensor.shape[0]} element{'s' if tensor.shape[0] != 1 else ''}"
    parts = [shape]
    if tensor.dtype.name != "float32":
        parts.append(tensor.dtype.name)
    if tensor.requires_grad:
        parts.append("a leaf that requires grad" if tensor.is_leaf else "computed, requires grad")
    else:
        parts.append("requires no grad")
    return ", ".join(parts)
