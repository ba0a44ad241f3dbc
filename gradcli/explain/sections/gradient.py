"""The gradient of an input at four levels at once: for any shape, by index, one element, numbers."""

from ...language.problem import Input
from ...notation import tree
from ...notation.element import short, telling_place, written_out
from ...notation.tree import Token
from ..analysis import Analysis
from ..blocks import Line, Prose, Row, Section, Table, Tensor, plain
from ..wording import Wording, role_of
from .jacobian import label


BRACKET = "A condition in brackets, as [h > 0], is 1 where it holds and 0 elsewhere."


def gradient(a: Analysis, w: Wording, x: Input, place: tuple[int, ...] | None) -> Section:
    """Formula, index notation, one element written out, numbers. `place` is the element to follow."""
    title = plain("Gradient of ", Token(x.name, role_of(x)))
    grad = a.gradient(x)
    if grad is None:
        absent = f"{a.problem.out_name} does not depend on {x.name}: PyTorch leaves {x.name}.grad at None, which is not the same as zero."
        return Section("gradient", title, (), (Prose(plain(absent)),))
    rows = [Row((plain("formula"), w.formula_line(grad)))]
    by_index = w.by_index(x)
    if by_index is not None:
        rows.append(Row((plain("index"), tuple(by_index.tokens))))
    element = _element(a, w, x, place)
    if element is not None:
        rows.append(Row((plain("element"), element)))
    value = a.value(grad)
    if value is not None:
        rows.append(Row((plain("numbers"), Tensor(value, "answer"))))
    explained = [Prose(plain(BRACKET))] if by_index is not None and _has_condition(str(by_index)) else []
    return Section("gradient", title, (), (Table(tuple(rows)), *explained))


def _has_condition(text: str) -> bool:
    return any(f" {symbol} " in text for symbol in ("<", ">", "<=", ">=", "==", "!=", "≤", "≥", "≠"))


def _element(a: Analysis, w: Wording, x: Input, place: tuple[int, ...] | None) -> Line | None:
    """`x.grad[0,0] = 1·1 + 2·1 + 3·1 + 4·1 = 10`."""
    grad = w.without_implicit_seed(a.gradient(x))
    if not x.node.numel:
        return None
    if place is None:
        place = telling_place(grad, w.names, a.value)
    written = written_out(grad, place, w.names, a.value)
    if written is None:
        return None
    flat = 0
    for k, n in zip(place, x.shape, strict=True):
        flat = flat * n + k
    line: tuple[Token, ...] = (Token(label(f"{x.name}.grad", x.shape, flat), role_of(x)),)
    for part in (written.symbols, written.numbers):
        if part is not None:
            line += (Token(" = "), *tree.tokens(part))
    return line + ((Token(" = "), Token(short(written.total), "number")) if written.total is not None else ())
