"""Operands of binary operators: valid combinations, and errors for others."""

from typing import Any

from ...errors import GradcliError
from ...graphs import Node, Outputs
from ...graphs.arguments import CHOOSE, in_words
from ...graphs.operator import dtypes, may_be_floats


class List(tuple[Any, ...]):
    """A list of values, which indexing treats differently from a tuple."""


def is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def have_bits(left: Any, right: Any) -> bool:
    """Whether x ^ y is meant bitwise, not as a power: of masks, or of tensors that are integers
    even if the inputs are floats.
    """
    operands = left, right
    are_tensors = any(isinstance(x, Node) for x in operands)
    return are_tensors and "float" not in dtypes(operands) and not any(map(may_be_floats, operands))


def can_be_combined(left: Any, right: Any) -> bool:
    """Whether two values are valid operands of a tensor operator."""
    if isinstance(left, Node):
        return isinstance(right, Node) or is_number(right)
    return isinstance(right, Node) and is_number(left)


def unfit(left: Any, right: Any) -> GradcliError:
    several = [v for v in (left, right) if isinstance(v, tuple)]
    listed = "a list becomes a tensor with tensor([...])" if several else None
    hint = CHOOSE if any(isinstance(v, Outputs) for v in several) else listed
    message = f"{in_words(left)} and {in_words(right)} cannot be combined in this way"
    return GradcliError("arguments", message, hint=hint)
