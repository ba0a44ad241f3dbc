"""The gradient of an input at four levels at once: for any shape, by index, one element,
numbers.
"""

from ...language.problem import Input
from ...notation.element import telling_place
from ...notation.tree import Token
from ..analysis import Analysis
from ..blocks import Line, Prose, Row, Section, Table, Tensor, plain, words
from ..wording import Wording, role_of
from .jacobian import element_line

DELTA = "δ[j,k] is 1 where j and k are equal and 0 elsewhere."
BRACKET = "A condition in brackets, as [h > 0], is 1 where it holds and 0 elsewhere."


def gradient(a: Analysis, w: Wording, x: Input, place: tuple[int, ...] | None) -> Section:
    """Formula, index notation, one element written out, numbers; `place` chooses the element."""
    title = plain("Gradient of ", Token(x.name, role_of(x)))
    if a.problem.order > 1:
        title += plain(f", order {a.problem.order}")
    grad = a.gradient(x)
    if grad is None:
        absent = (
            f"No gradient flows from {a.problem.out_name} to {x.name}: "
            f"PyTorch leaves {x.name}.grad at None, which is not the same as zero."
        )
        return Section("gradient", title, (), (Prose(words(absent)),))
    rows = [Row((words("formula"), w.formula_line(w.gradient(x) or grad)))]
    by_index = w.by_index(x)
    if by_index is not None:
        rows.append(Row((words("index"), tuple(by_index.tokens))))
    element = _element(a, w, x, place)
    if element is not None:
        rows.append(Row((words("element"), element)))
    value = a.value(grad)
    if value is not None:
        rows.append(Row((words("numbers"), Tensor(value, "answer"))))
    explained = _signs("" if by_index is None else str(by_index))
    return Section("gradient", title, (), (Table(tuple(rows)), *explained))


def _signs(text: str) -> list[Prose]:
    """What the signs of index notation mean that occur in a text."""
    relations = ("<", ">", "<=", ">=", "==", "!=", "=", "≤", "≥", "≠")
    inside = text.partition(" = ")[2]
    met = [BRACKET] * any(f" {r} " in inside for r in relations) + [DELTA] * ("δ" in inside)
    return [Prose(words(sentence)) for sentence in met]


def _element(a: Analysis, w: Wording, x: Input, place: tuple[int, ...] | None) -> Line | None:
    """The element to follow, or the first that tells something, written out."""
    if not x.node.numel:
        return None
    grad = a.gradient(x)
    assert grad is not None
    if place is None:
        place = telling_place(w.without_implicit_seed(grad), w.names, a.value)
    return element_line(a, w, x, flat(place, x.shape))


def flat(place: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """A place counted row by row."""
    count = 0
    for k, n in zip(place, shape, strict=True):
        count = count * n + k
    return count
