"""The numbers of an operation, counted against the budget of the program."""

import math
from functools import partial
from typing import Any

from ...errors import GradcliError
from ...lazy import np
from ..python.values import Unsupported
from . import last_digits
from .dtypes import DType, rounded
from .mode import MODE
from .plans import Plan
from .single import in_half

STEPS = 20  # of the budget, for an operation
PRODUCTS = 8_000  # of numbers, that take as long as a step
BYTES = 16  # for an element, with what computing it takes


def computed(plan: Plan, arrays: list[Any], compute: DType) -> Any:
    """The value of an operation from the arrays of its inputs, computed in a floating dtype."""
    work = plan.products // PRODUCTS
    MODE.spend(STEPS + work, BYTES * math.prod(plan.node.shape or ()))
    last_digits.note(plan.node, compute)
    if compute.size == 2:
        narrow = partial(narrowed, compute)
        value = in_half(plan.node.op.name, compute.name, narrow, arrays, plan.node.attrs)
        if value is not NotImplemented:
            return value
    try:
        return plan.value(arrays, compute.precision)
    except GradcliError as failure:
        raise Unsupported(failure.message) from failure


def narrowed(dtype: DType, x: Any) -> Any:
    """Numbers in single precision, rounded to a dtype of half precision."""
    return rounded(np.asarray(x, dtype.numpy), dtype).astype(np.float32)
