"""Checks of the equations and operands of einsum, with PyTorch's error messages."""

import re
from collections.abc import Sequence
from typing import Any

from ..python.values import Unsupported, error
from .checks import check
from .dtypes import BOOL
from .kernels import not_implemented
from .tensor import Tensor


@check("einsum")
def _einsum(equation: Any, *operands: Any, **_: Any) -> None:
    parts = (
        operands[0] if len(operands) == 1 and isinstance(operands[0], list | tuple) else operands
    )
    if isinstance(equation, str):
        for place, part in enumerate(parts):
            if not isinstance(part, Tensor):
                kind = getattr(getattr(part, "cls", None), "name", type(part).__name__)
                text = f"expected Tensor as element {place} in argument 1, but got {kind}"
                raise error("TypeError", text)
        _check_equation(equation, parts)
    if operands and isinstance(equation, Tensor) and isinstance(operands[0], Tensor):
        _check_numbers(operands[0])
    kinds = [p.dtype for p in parts if isinstance(p, Tensor)]
    for kind in kinds[1:]:
        if kind is not kinds[0]:
            text = f"expected scalar type {kinds[0].scalar_name} but found {kind.scalar_name}"
            raise error("RuntimeError", text)
    if kinds and kinds[0].kind == "bool":
        _check_masks(str(equation), len(parts))


def _check_numbers(term: Tensor) -> None:
    """Refuse a tensor in place of the sublist of subscripts that follows an operand."""
    if term.ndim == 0:
        raise error("TypeError", "iteration over a 0-d tensor")
    if term.ndim > 1 and term.numel and term.numel != term.shape[0]:
        raise error("RuntimeError", "Boolean value of Tensor with more than one value is ambiguous")
    raise Unsupported("einsum() with a tensor instead of a list of numbers")


def _check_equation(equation: str, operands: Sequence[Tensor]) -> None:
    """Refuse an invalid equation, and one that does not match the operands."""
    left, arrow, right = equation.partition("->")
    terms = left.replace(" ", "").split(",")
    _check_characters(left, 0)
    if len(terms) > len(operands):
        raise _refused("fewer operands were provided than specified in the equation")
    if len(terms) < len(operands):
        raise _refused("more operands were provided than specified in the equation")
    for place, (term, operand) in enumerate(zip(terms, operands)):
        _check_dimensions(term, operand, place)
    _check_characters(right, len(left + arrow))
    _check_output(right.replace(" ", ""), left)
    sizes: dict[str, int] = {}
    for place, (term, operand) in enumerate(zip(terms, operands)):
        _check_sizes(term, operand, place, sizes)


def _refused(text: str) -> Exception:
    return error("RuntimeError", f"einsum(): {text}")


def _check_characters(text: str, start: int) -> None:
    wrong = re.search(r"[^a-zA-Z,. ]", text)
    if wrong:
        raise _refused(
            f"invalid subscript given at index {start + wrong.start()} in the equation string, "
            "subscripts must be in [a-zA-Z]"
        )


def _check_dimensions(term: str, operand: Tensor, place: int) -> None:
    letters = len(term.replace("...", ""))
    of = f"the number of dimensions ({operand.ndim}) for operand {place}"
    if "..." in term and letters > operand.ndim:
        raise _refused(f"the number of subscripts in the equation ({letters}) is more than {of}")
    if "..." not in term and letters != operand.ndim:
        raise _refused(
            f"the number of subscripts in the equation ({letters}) does not match {of} and no "
            "ellipsis was given"
        )


def _check_output(output: str, left: str) -> None:
    seen: set[str] = set()
    for letter in output.replace("...", ""):
        if letter in seen:
            raise _refused(f"output subscript {letter} appears more than once in the output")
        if letter not in left:
            raise _refused(
                f"output subscript {letter} does not appear in the equation for any input operand"
            )
        seen.add(letter)


def _check_sizes(term: str, operand: Tensor, place: int, sizes: dict[str, int]) -> None:
    """Refuse a subscript with two sizes. `sizes` has the sizes in earlier operands."""
    head, _, tail = term.partition("...")
    ends = [*zip(head, operand.shape), *zip(reversed(tail), reversed(operand.shape))]
    letter_sizes: dict[str, int] = {}
    for letter, size in ends:
        if letter_sizes.setdefault(letter, size) != size:
            raise _refused(
                f"subscript {letter} is repeated for operand {place} but the sizes don't match, "
                f"{size} != {letter_sizes[letter]}"
            )
    for letter, size in letter_sizes.items():
        seen = sizes.get(letter, 1)
        if 1 not in (seen, size) and seen != size:
            raise _refused(
                f"subscript {letter} has size {size} for operand {place} which does not broadcast "
                f"with previously seen size {seen}"
            )
        sizes[letter] = max(seen, size)


def _check_masks(equation: str, count: int) -> None:
    """Refuse einsum of boolean tensors where PyTorch's product has no kernel for them."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    letters = set(inputs) - {",", "."}
    output_letters = set(output) if arrow else {c for c in letters if inputs.count(c) == 1}
    summed = letters - output_letters
    if not summed:
        return
    first, *others = map(set, inputs.split(","))
    if count == 2 and summed & first & others[0]:
        raise not_implemented("bmm", BOOL)
    raise Unsupported("einsum() that sums over boolean tensors")
