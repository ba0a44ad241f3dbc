"""Names of grad_fn, such as MulBackward0, as in PyTorch."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ...graphs import Node
from ...lazy import np

TABLE = Path(__file__).with_suffix(".txt")

# The name of a grad_fn, or a function that returns it for a node and its inputs.
Name = str | Callable[[Node, Sequence[Any]], str]


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _reduced(name: str) -> Name:
    """The name for a reduction, such as SumBackward1 with `dim` and SumBackward0 without."""
    return lambda node, inputs: f"{name}Backward{int(node.attrs.get('dim') is not None)}"


def _of_numbers(name: str, number: int, tensor: int) -> Name:
    """The name for an operation, with suffix `number` if the last input is one, else `tensor`."""
    return lambda node, inputs: f"{name}Backward{number if _is_number(inputs[-1]) else tensor}"


def _power(node: Node, inputs: Sequence[Any]) -> str:
    numbers = [_is_number(i) for i in inputs]
    return f"PowBackward{2 if numbers[0] else 0 if numbers[1] else 1}"


def _clamp(node: Node, inputs: Sequence[Any]) -> str:
    numbers = all(i is None or _is_number(i) for i in inputs[1:])
    return "ClampBackward1" if numbers else "ClampBackward0"


def _attention(node: Node, inputs: Sequence[Any]) -> str:
    flash = len(node.shape or ()) == 4
    return "ScaledDotProductFlashAttentionForCpuBackward0" if flash else "UnsafeViewBackward0"


def _product(node: Node, inputs: Sequence[Any]) -> str:
    dims = tuple(np.ndim(getattr(i, "data", i)) for i in inputs)
    if dims[0] == 2 < dims[1] and inputs[0].requires_grad:  # PyTorch computes (b.T @ a.T).T
        return "TransposeBackward0" if 1 in (node.shape or ())[-2:] else "CloneBackward0"
    return PRODUCTS.get(dims, "UnsafeViewBackward0")


PRODUCTS = {
    (1, 1): "DotBackward0",
    (2, 1): "MvBackward0",
    (2, 2): "MmBackward0",
    (1, 2): "SqueezeBackward4",
}


def _reshaped(node: Node, inputs: Sequence[Any]) -> str:
    """The name for a view, an alias or a copy, whichever PyTorch's reshape makes."""
    data = inputs[0].data
    if data.flags.c_contiguous:
        return "ViewBackward0"
    is_view = np.may_share_memory(data.reshape(node.shape), data)
    return "ReshapeAliasBackward0" if is_view else "UnsafeViewBackward0"


def _squeezed(node: Node, inputs: Sequence[Any]) -> str:
    dim = node.attrs["dim"]
    return f"SqueezeBackward{0 if dim is None else 1 if isinstance(dim, int) else 2}"


def _element(node: Node, inputs: Sequence[Any]) -> str:
    index = node.attrs["index"]
    last = index[-1] if isinstance(index, tuple) and index else index
    return "SelectBackward0" if isinstance(last, int) else "SliceBackward0"


def _einsum(node: Node, inputs: Sequence[Any]) -> str:
    """The name for an einsum, by the operation that PyTorch computes last: a sum or permutation for
    one operand, a product if nothing is summed.
    """
    left, arrow, right = node.attrs["equation"].replace(" ", "").partition("->")
    if not arrow:
        right = "".join(c for c in left if left.count(c) == 1)
    summed = set(left) - set(right) - {","}
    if len(inputs) == 1:
        return "SumBackward1" if summed else "PermuteBackward0"
    return "ViewBackward0" if summed else "MulBackward0"


def _loss(none: str = "") -> Name:
    """The name for a loss that PyTorch composes of other functions: that of its reduction, or
    `none` for reduction="none".
    """

    def name(node: Node, inputs: Sequence[Any]) -> str:
        reduction = node.attrs["reduction"]
        if reduction == "none" and none:
            return none
        return {"sum": "SumBackward0", "batchmean": "DivBackward0"}.get(reduction, "MeanBackward0")

    return name


def _cross_entropy(node: Node, inputs: Sequence[Any]) -> str:
    if not inputs[1].dtype.is_floating:
        return "AddBackward0"
    return "DivBackward1" if node.attrs["reduction"] == "mean" else "NegBackward0"


def _padded(node: Node, inputs: Sequence[Any]) -> str:
    kind = {"reflect": "Reflection", "replicate": "Replication"}.get(node.attrs["mode"])
    if kind is None:
        return "CopySlices" if node.attrs["mode"] == "circular" else "ConstantPadNdBackward0"
    return f"{kind}Pad{len(node.attrs['pad']) // 2}DBackward0"


def _resampled(node: Node, inputs: Sequence[Any]) -> str:
    mode = camel_case(str(node.attrs["mode"]).replace("-", "_"))
    return f"Upsample{mode}{inputs[0].ndim - 2}DBackward0"


def _averaged(node: Node, inputs: Sequence[Any]) -> str:
    one = node.attrs["output_size"] in (1, (1, 1))
    return "MeanBackward1" if one else "AdaptiveAvgPool2DBackward0"


@cache
def _sections() -> dict[str, str]:
    text = re.sub(r"(?m)^#.*\n", "", TABLE.read_text("utf-8"))
    parts = re.split(r"(?m)^\[(.*)\]\n", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _table(section: str) -> dict[str, str]:
    """A section of grad_names.txt: names of grad_fn, by operator or function."""
    rows = (line.split(": ") for line in _sections()[section].split("\n") if line)
    return {key: _full(name) for name, keys in rows for key in keys.split()}


def _gradients(section: str) -> dict[str, str]:
    """A section of grad_names.txt: names of the grad_fn of a gradient under create_graph=True, by
    the grad_fn whose backward computes that gradient.
    """
    rows = _table(section).items()
    return {_full(key): name.replace("-", key) for key, name in rows}


def _full(name: str) -> str:
    return name if re.search(r"Backward\d$", name) else f"{name}Backward0"


def _matrix_norm(node: Node, inputs: Sequence[Any]) -> str:
    """The name for a matrix norm, by the last operation for its order."""
    order = node.attrs["ord"]
    if order == "fro":
        return "LinalgVectorNormBackward0"
    if node.attrs["keepdim"] and order in (2, -2, "nuc"):
        return "PermuteBackward0"
    return "SumBackward1" if order == "nuc" else f"A{'max' if order > 0 else 'min'}Backward0"


NAMES: dict[str, Name] = {
    **_table("operators"),
    "scaled_dot_product_attention": _attention,
    "pow": _power,
    "sum": _reduced("Sum"),
    "mean": _reduced("Mean"),
    "prod": _reduced("Prod"),
    "clamp": _clamp,
    "matmul": _product,
    "linear": lambda node, inputs: "ViewBackward0" if inputs[0].ndim > 2 else "AddmmBackward0",
    "reshape": _reshaped,
    "squeeze": _squeezed,
    "getitem": _element,
    "einsum": _einsum,
    "remainder": _of_numbers("Remainder", 0, 1),
    "fmod": _of_numbers("Fmod", 0, 1),
    "lerp": _of_numbers("Lerp", 0, 1),
    "scatter": _of_numbers("Scatter", 1, 0),
    "masked_fill": _of_numbers("MaskedFill", 0, 1),
    "cross_entropy": _cross_entropy,
    "nll_loss": lambda node, inputs: (
        "NllLoss2DBackward0" if inputs[0].ndim > 2 else "NllLossBackward0"
    ),
    "pad": _padded,
    "interpolate": _resampled,
    "repeat_interleave": lambda node, inputs: (
        "IndexSelectBackward0" if len(inputs) > 1 else "ViewBackward0"
    ),
    "adaptive_avg_pool2d": _averaged,
    "kl_div": lambda node, inputs: _loss(
        "MulBackward0" if node.attrs["log_target"] else "SubBackward0"
    )(node, inputs),  # type: ignore[operator]
    "hinge_embedding_loss": _loss("AddBackward0"),
    "margin_ranking_loss": _loss("ClampMinBackward0"),
    "triplet_margin_loss": _loss("ClampMinBackward0"),
    "cosine_embedding_loss": _loss("AddBackward0"),
    "poisson_nll_loss": _loss("SubBackward0"),
    "gaussian_nll_loss": _loss("MulBackward0"),
    "multilabel_soft_margin_loss": _loss("DivBackward0"),
    "trapezoid": lambda node, inputs: f"{'Mul' if inputs[1] is None else 'Div'}Backward1",
    "matrix_norm": _matrix_norm,
    "unfold": lambda node, inputs: (
        "Im2ColBackward0" if "kernel_size" in node.attrs else "UnfoldBackward0"
    ),
    "bilinear": lambda node, inputs: (
        "ViewBackward0" if len(inputs) < 4 or inputs[3] is None else "AddBackward0"
    ),
    "diag": lambda node, inputs: (
        "DiagEmbedBackward0" if inputs[0].ndim == 1 else "DiagonalBackward0_copy"
    ),
}


def _is_input(node: Node | None) -> bool:
    return node is not None and node.op.name == "input"


Root = Callable[[Node], str | None]  # returns the name for the last operation of a function
# Functions whose grad_fn is named after them, not after their operators.
CALLS: dict[str, str | Root] = {
    **_table("functions"),
    "clamp_min": lambda root: f"ClampMinBackward{int(_is_input(root.inputs[1]))}",
    "clamp_max": lambda root: f"ClampMaxBackward{int(_is_input(root.inputs[2]))}",
    "round": lambda root: None if root.op.name == "round" else "RoundBackward1",
}


OUTPUTS = {
    "std_mean": ("StdMeanBackward0", "StdMeanBackward0"),
    "var_mean": ("VarMeanBackward0", "VarMeanBackward0"),
    "aminmax": ("AminmaxBackward0", "AminmaxBackward0"),
    "lstm": ("MkldnnRnnLayerBackward0",),
    "linalg.svd": ("LinalgSvdBackward0",) * 3,
    "svd": ("LinalgSvdBackward0",) * 3,
}  # function -> the name for each of its outputs


# grad_fn -> the grad_fn of the gradient that it computes, with create_graph=True
SEPARATE = _gradients("own gradients")
GRADIENTS = _gradients("gradients") | SEPARATE
SCATTERED = frozenset(name for name, again in GRADIENTS.items() if again == "ScatterBackward0")

GRADIENTS_BY_OPERATOR = {  # by operator, if its grad_fn is named after another one
    "cross_entropy": "LogSoftmaxBackwardDataBackward0",
    "logdet": "LinalgSolveExBackward0",
    "outer": "ViewBackward0",
    **dict.fromkeys(("max_pool1d", "avg_pool1d", "adaptive_avg_pool1d"), "SqueezeBackward1"),
}
# The same for products of matrices, by the dimensions of their inputs.
PRODUCT_GRADIENTS: dict[tuple[int, ...], tuple[str | None, str | None]] = {
    (1, 2): ("SqueezeBackward1", "MmBackward0"),
    (3, 2): ("ViewBackward0", "MmBackward0"),
    (4, 2): ("ViewBackward0", "MmBackward0"),
}
MATRICES = {"MmBackward0": 0, "AddmmBackward0": 1}  # position of the first input that is a matrix
BY_PLACE = {
    ("MvBackward0", 1): "MvBackward0",
    ("MaskedFillBackward1", 0): "MaskedFillBackward0",
}
SQUEEZES = tuple(f"SqueezeBackward{n}" for n in range(3))  # their gradient is the
# upstream gradient itself, if no size was 1
ZERO_SECOND = frozenset(  # operators whose second derivative with respect to their input is
    # zeros in PyTorch, not None
    ("relu", "leaky_relu", "hardtanh", "softshrink", "hardshrink", "threshold", "nll_loss")
) | {f"{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2)}


def gradient_name(record: Any, node: Node, place: int, root: Node) -> str | None:
    """The name of the grad_fn of a gradient under create_graph=True, or None if it is the default
    name of the operator `root`. The gradient is that of input number `place` of the operation
    `node`; `root` is the last operation that computes it.
    """
    factor = record.name in MATRICES and place >= MATRICES[record.name]
    if factor and record.call[1][place].ndim == 2:
        return _of_matrix(record.call[1][place])
    name = BY_PLACE.get((record.name, place))
    return name or _of_operator(node, place, root) or _of_record(record.name, node)


def _of_matrix(factor: Any) -> str:
    """The name for the gradient of a matrix factor: PyTorch's last operation is a transpose if the
    factor is stored transposed.
    """
    rows, columns = factor.shape
    return "TBackward0" if factor.strides == (1, rows) and columns > 1 else "MmBackward0"


def _of_operator(node: Node, place: int, root: Node) -> str | None:
    op = node.op.name
    if op == "prelu" and place == 1:
        return "SumBackward1" if len(node.shape or ()) < 2 else "ViewBackward0"
    if op == "matmul":
        dims = tuple(len(i.shape or ()) for i in node.inputs if i is not None)
        return PRODUCT_GRADIENTS.get(dims, (None, None))[place]
    if op == "binary_cross_entropy_with_logits" and node.attrs["reduction"] == "mean":
        return "DivBackward1"
    if root.op.name == "sum" and (node.op.family == "elementwise" or op == "expand"):
        return "ViewBackward0" if root.shape and _has_fewer_dims(root) else None
    return GRADIENTS_BY_OPERATOR.get(op)


def _has_fewer_dims(root: Node) -> bool:
    summed = root.inputs[0]
    return summed is not None and len(summed.shape or ()) > len(root.shape or ())


def _of_record(record: str, node: Node) -> str | None:
    is_loss = record == "MeanBackward0" and node.op.name != "mean"
    return None if is_loss else GRADIENTS.get(record)


def name_of_call(function: str, root: Node) -> str | None:
    """The name of the grad_fn of a function's output; None if it is that of the operator `root`."""
    name = CALLS.get(function)
    return name(root) if callable(name) else name


COMPOSED = frozenset((  # operators that PyTorch composes, or names differently
    *("conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input"),
    *("conv3d_weight", "conv_transpose3d", "svd_left", "svd_right", "svd_left_all"),
    *("svd_right_all", "lu_l", "lu_u", "lu_solution", "max_pool3d", "adaptive_max_pool3d"),
    *("adaptive_avg_pool3d", "powers", "householder_product", "ndtr", "zeta", "l1_loss"),
))  # fmt: skip
UNNAMED = "UnnamedBackward"
OURS: set[str] = {UNNAMED}  # names of grad_fns for which PyTorch's names are not known


def grad_name(node: Node, inputs: Sequence[Any]) -> str:
    """The name of the grad_fn of an operator `node` on these inputs."""
    name = NAMES.get(node.op.name)
    if callable(name):
        return name(node, inputs)
    if name is None:
        name = f"{camel_case(node.op.name)}Backward0"
        if node.op.torch is None or node.op.name in COMPOSED:
            OURS.add(name)
    return name


def camel_case(name: str) -> str:
    """`log_softmax` -> LogSoftmax, `conv2d` -> Conv2D."""
    parts = name.rsplit(".", 1)[-1].split("_")
    joined = "".join(part[:1].upper() + part[1:] for part in parts)
    return re.sub(r"\d[a-z]", lambda match: match[0].upper(), joined)
