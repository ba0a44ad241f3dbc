"""Type promotion: the dtype in which an operation is computed, and the dtype of its output."""

from collections.abc import Sequence
from typing import Any

from ...graphs import Node
from ...lazy import np
from .checks import check_fits
from .dtypes import BOOL, INT64, DType, as_array, result_type
from .mode import MODE
from .plans import narrowed
from .single import WIDE_NUMBERS
from .tensor import Tensor

Operand = Tensor | bool | int | float | None


def computing_dtype(node: Node, inputs: Sequence[Operand]) -> DType:
    """The floating dtype in which an operation is computed, even if its inputs are integers."""
    operands = [i for i in inputs if i is not None and not _picks(node, i)]
    if not operands:
        return MODE.default_dtype
    result = result_type(operands, MODE.default_dtype)
    return result if result.is_floating else MODE.default_dtype


def _picks(node: Node, value: Operand) -> bool:
    """Whether an input is a condition or an index, whose dtype does not affect the output's."""
    return isinstance(value, Tensor) and not value.dtype.is_floating and node.dtype == "float"


def array_in(value: Operand, compute: DType) -> Any:
    """The array of an input, floats in the computing dtype; numbers are returned unchanged."""
    if not isinstance(value, Tensor):
        return value
    if value.dtype.is_floating and (value.dtype is not compute or compute.size == 2):
        return value.data.astype(compute.computed_in, copy=False)
    return value.data


def _as_floats(node: Node, arrays: Sequence[Any], compute: DType) -> list[Any]:
    """The arrays of an elementwise operation with a floating result: integers and booleans are cast
    to floats, except conditions such as that of where.
    """
    kinds = zip(node.op.inputs, arrays, strict=False)
    return [
        a.astype(compute.computed_in)
        if isinstance(a, np.ndarray) and a.dtype.kind in "bi" and name not in node.op.masks
        else a
        for name, a in kinds
    ]


def output_dtype(node: Node, inputs: Sequence[Operand], compute: DType) -> DType:
    """The dtype of an operation's output."""
    first = inputs[0] if inputs else None
    if node.op.dtype == "first" and isinstance(first, Tensor) and first.dtype.is_floating:
        return first.dtype
    if node.dtype == "float":
        return compute
    if node.dtype == "bool":
        return BOOL
    if node.op.family != "elementwise" and node.op.dtype not in ("promote", "first"):
        return INT64
    return _of_integers(inputs) or INT64


def _of_integers(inputs: Sequence[Operand]) -> DType | None:
    """The result dtype of the integer tensors among inputs; None if there are none."""
    integers = [i for i in inputs if isinstance(i, Tensor) and i.dtype.kind == "int"]
    return result_type(integers) if integers else None


NEVER_WRAPPED = frozenset(["clamp", "pow", "where"])  # operators that refuse numbers out of range


def _wrapped(node: Node, inputs: Sequence[Operand], arrays: list[Any]) -> list[Any]:
    """The arrays of an elementwise operation on integers, cast to the result dtype if that is
    smaller than int64; numbers out of range wrap around.
    """
    dtype = _of_integers(inputs)
    if dtype is None or dtype is INT64 or node.op.family != "elementwise":
        return arrays
    if any(isinstance(i, float) or (isinstance(i, Tensor) and i.dtype.is_floating) for i in inputs):
        return arrays
    for place, value in enumerate(inputs):
        if isinstance(value, int) and node.op.name in NEVER_WRAPPED:
            check_fits(value, dtype)
        if isinstance(value, int) or (isinstance(value, Tensor) and value.dtype.kind == "int"):
            arrays[place] = as_array(arrays[place], dtype)
    return arrays


def arrays_of(node: Node, inputs: Sequence[Operand], compute: DType) -> list[Any]:
    """The arrays of the inputs, in the dtypes in which an operator is computed."""
    arrays = [array_in(i, compute) for i in inputs]
    if compute.size == 2 and node.op.name not in WIDE_NUMBERS:
        arrays = [float(narrowed(compute, a)) if type(a) is float else a for a in arrays]
    if node.dtype == "float" and node.op.family == "elementwise":
        return _as_floats(node, arrays, compute)
    return _wrapped(node, inputs, arrays)


def as_tensor(value: Any, dtype: DType) -> Tensor:
    """`value` itself if it is a tensor; a number as a tensor of this dtype."""
    return value if isinstance(value, Tensor) else Tensor(np.asarray(value, dtype.numpy), dtype)
