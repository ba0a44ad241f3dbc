"""Dtypes that PyTorch's operators do not accept, such as bool in `abs`, and the errors for them.

The checks know only dtypes, not shapes.
"""

from collections.abc import Sequence
from typing import Any

from ...lazy import np
from ..python.values import Raised, error
from .dtypes import BOOL, DType, result_type
from .tensor import Tensor

ON_MASKS = {  # by operator, the kernel that is not implemented for bool
    "abs": "abs_cpu",
    "addcmul": "addcmul_cpu_out",
    "ceil": "ceil_vml_cpu",
    "cross": "cross",
    "cross_along": "cross",
    "floor": "floor_vml_cpu",
    "fmod": "fmod_cpu",
    "kthvalue_values": "kthvalue_cpu",
    "median_all": "median_cpu",
    "median_values": "median_out",
    "pow": "pow",
    "remainder": "remainder_cpu",
    "round": "round_vml_cpu",
    "softsign": "abs_cpu",
    "trace": "trace",
    "trunc": "trunc_vml_cpu",
}
ON_FLOATS_ONLY = {  # by operator, the kernel that is implemented for floats only
    "binary_cross_entropy": "binary_cross_entropy",
    "binary_cross_entropy_with_logits": "log_sigmoid_cpu",
    "celu": "elu_cpu",
    "elu": "elu_cpu",
    "frac": "frac_cpu",
    "gelu": "GeluKernelImpl",
    "glu": "glu_cpu",
    "hardshrink": "hardshrink_cpu",
    "hardsigmoid": "hardsigmoid_cpu",
    "hardswish": "hardswish_cpu",
    "huber_loss": "huber_cpu",
    "hypot": "hypot_cpu",
    "leaky_relu": "leaky_relu_cpu",
    "logaddexp": "logaddexp_cpu",
    "logcumsumexp": "logcumsumexp_out_cpu",
    "logsigmoid": "log_sigmoid_cpu",
    "mish": "mish_cpu",
    "mse_loss": "mse_cpu",
    "selu": "elu_cpu",
    "silu": "silu_cpu",
    "smooth_l1_loss": "smooth_l1_cpu",
    "softplus": "softplus_cpu",
    "softshrink": "softshrink_check",
}
NEGATED_MASK = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
    "mask, use the `~` or `logical_not()` operator instead."
)
SUBTRACTED_MASKS = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
    "`logical_xor()` operator instead."
)
ONE_MASK = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
    "invert a mask, use the `~` or `logical_not()` operator instead."
)
FRACTIONAL_ALPHA = "For integral input tensors, argument alpha must not be a floating point number."
MASKS = {  # by operator, the error for bool
    "cov": "cov(): bool dtype is not supported for input",
    "hardtanh": "Bool inputs not supported for hardtanh",
    "neg": NEGATED_MASK,
    "positive": "The `+` operator, on a bool tensor is not supported.",
    "relu": "Boolean inputs not supported for relu",
    "relu6": "Bool inputs not supported for hardtanh",
    "topk_values": "topk does not support bool dtypes on CPU",
}
VECTOR_NORM = "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}"
FLOATS = {  # by operator, the error for anything but floats
    "cdist": "cdist only supports floating-point dtypes, X1 got: {}",
    "linalg_norm": VECTOR_NORM,
    "nanmean": "nanmean(): expected input to have floating point or complex dtype but got {}",
    "std": "std and var only support floating point and complex dtypes",
    "var": "std and var only support floating point and complex dtypes",
    "vector_norm": VECTOR_NORM,
}


def check_dtypes(operator: str, operands: Sequence[Any]) -> None:
    """Refuse operands whose promoted dtype (bool or an integer type) an operator rejects."""
    values = [o for o in operands if isinstance(o, Tensor | bool | int | float)]
    if not values or any(isinstance(o, Tensor) and o.dtype.is_floating for o in values):
        return
    dtype = result_type(values)
    if dtype.is_floating:
        return
    kernel = ON_FLOATS_ONLY.get(operator)
    if dtype is BOOL:
        kernel = kernel or ON_MASKS.get(operator)
    if kernel is not None:
        raise not_implemented(kernel, dtype)
    reason = MASKS.get(operator) if dtype is BOOL else None
    reason = reason or FLOATS.get(operator)
    if reason is not None:
        raise error("RuntimeError", reason.format(dtype.scalar_name))


def not_implemented(kernel: str, dtype: DType) -> Raised:
    """PyTorch's error for an operand of a dtype for which a C++ kernel is not implemented."""
    text = f"\"{kernel}\" not implemented for '{dtype.scalar_name}'"
    return error("NotImplementedError", text)


def check_divisor(dividend: Any, divisor: Any) -> None:
    """Refuse integer division by 0."""
    numbers = divisor.data if isinstance(divisor, Tensor) else divisor
    if not result_type([dividend, divisor]).is_floating and np.any(np.equal(numbers, 0)):
        raise error("RuntimeError", "ZeroDivisionError")


def check_alpha(operands: Sequence[Any], alpha: Any) -> None:
    """Refuse a floating `alpha`, as in add(x, y, alpha=0.5), for integer operands."""
    if isinstance(alpha, float) and not result_type(operands).is_floating:
        raise error("RuntimeError", FRACTIONAL_ALPHA)


def check_masks(left: Any, right: Any) -> None:
    """Refuse to subtract bool tensors."""
    masks = [
        isinstance(v, bool) or (isinstance(v, Tensor) and v.dtype is BOOL) for v in (left, right)
    ]
    if all(masks):
        raise error("RuntimeError", SUBTRACTED_MASKS)
    if any(masks):
        raise error("RuntimeError", ONE_MASK)
