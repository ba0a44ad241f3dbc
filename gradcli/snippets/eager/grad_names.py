"""What PyTorch calls the record of an operation: MulBackward0."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from ...graphs import Node
from ...lazy import np

# Operators whose record is not called after them. A function tells by the node and the inputs.
Name = str | Callable[[Node, Sequence[Any]], str]


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _reduced(name: str) -> Name:
    """Of a reduction, whose record says whether it was along some dimensions."""
    return lambda node, inputs: f"{name}Backward{int(node.attrs.get('dim') is not None)}"


def _of_numbers(name: str, number: int, tensor: int) -> Name:
    """Of an operation whose record says whether its last input is a number."""
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
    if dims[0] == 2 < dims[1] and inputs[0].requires_grad:  # PyTorch turns it, and turns it back
        return "TransposeBackward0" if 1 in (node.shape or ())[-2:] else "CloneBackward0"
    return PRODUCTS.get(dims, "UnsafeViewBackward0")


PRODUCTS = {
    (1, 1): "DotBackward0",
    (2, 1): "MvBackward0",
    (2, 2): "MmBackward0",
    (1, 2): "SqueezeBackward4",
}


def _reshaped(node: Node, inputs: Sequence[Any]) -> str:
    """A view of what lies in order; another view where there is one, or a copy."""
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
    """A product where nothing is summed; a sum, or a permutation, of a single operand."""
    left, arrow, right = node.attrs["equation"].replace(" ", "").partition("->")
    if not arrow:
        right = "".join(c for c in left if left.count(c) == 1)
    summed = set(left) - set(right) - {","}
    if len(inputs) == 1:
        return "SumBackward1" if summed else "PermuteBackward0"
    return "ViewBackward0" if summed else "MulBackward0"


def _loss(none: str = "", *, mean: str = "MeanBackward0") -> Name:
    """Of a loss that PyTorch computes of other functions, by its reduction."""

    def name(node: Node, inputs: Sequence[Any]) -> str:
        reduction = node.attrs["reduction"]
        if reduction == "none" and none:
            return none
        return {"sum": "SumBackward0", "batchmean": "DivBackward0"}.get(reduction, mean)

    return name


def _cross_entropy(node: Node, inputs: Sequence[Any]) -> str:
    if not inputs[1].dtype.is_floating:
        return "AddBackward0"
    return "DivBackward1" if node.attrs["reduction"] == "mean" else "NegBackward0"


def _nll_loss(node: Node, inputs: Sequence[Any]) -> str:
    return "NllLoss2DBackward0" if inputs[0].ndim > 2 else "NllLossBackward0"


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


NAMES: dict[str, Name] = {
    "scaled_dot_product_attention": _attention,
    "pow": _power,
    "sum": _reduced("Sum"),
    "mean": _reduced("Mean"),
    "prod": _reduced("Prod"),
    "clamp": _clamp,
    "matmul": _product,
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
    "nll_loss": _nll_loss,
    "pad": _padded,
    "interpolate": _resampled,
    "adaptive_avg_pool1d": "SqueezeBackward1",
    "adaptive_max_pool1d": "SqueezeBackward1",
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
    "square": "PowBackward0",
    "selu": "EluBackward0",
    "softsign": "DivBackward0",
    "tanhshrink": "SubBackward0",
    "diff": "SubBackward0",
    "normalize": "DivBackward0",
    "nanmean": "DivBackward0",
    "nanmedian_all": "NanmedianBackward0",
    "nanmedian_values": "NanmedianBackward1",
    "outer": "MulBackward0",
    "kron": "UnsafeViewBackward0",
    "bilinear": "ViewBackward0",
    "rms_norm": "MulBackward0",
    "local_response_norm": "DivBackward0",
    "prelu": "PreluKernelBackward0",
    "div_floor": "DivBackward2",
    "div_trunc": "DivBackward2",
    "eigvalsh": "LinalgEighBackward0",
    "eigh_vectors": "LinalgEighBackward0",
    "svdvals": "LinalgSvdBackward0",
    "qr_q": "LinalgQrBackward0",
    "qr_r": "LinalgQrBackward0",
    "pinv": "LinalgPinvBackward0",
    "matrix_exp": "LinalgMatrixExpBackward0",
    "log_abs_determinant": "LinalgSlogdetBackward0",
    "logdet": "WhereBackward0",
    "cond": "SqueezeBackward1",
    "solve_triangular": "LinalgSolveTriangularBackward0",
    "cosine_similarity": "SumBackward1",
    "pairwise_distance": "NormBackward1",
    "avg_pool1d": "SqueezeBackward1",
    "instance_norm": "ViewBackward0",
    "tensordot": "ViewBackward0",
    "quantile": "SqueezeBackward4",
    "nanquantile": "SqueezeBackward4",
    "vander": "FlipBackward0",
    "repeat_each": "ViewBackward0",
    "cumulative_trapezoid": "CumsumBackward0",
    "trapezoid": lambda node, inputs: f"{'Mul' if inputs[1] is None else 'Div'}Backward1",
    "cov": "SqueezeBackward0",
    "corrcoef": "ClampBackward1",
    "max_values": "MaxBackward0",
    "min_values": "MinBackward0",
    "max_all": "MaxBackward1",
    "min_all": "MinBackward1",
    "median_all": "MedianBackward0",
    "median_values": "MedianBackward1",
    "sort_values": "SortBackward0",
    "topk_values": "TopkBackward0",
    "kthvalue_values": "KthvalueBackward0",
    "mode_values": "ModeBackward0",
    "cummax_values": "CummaxBackward0",
    "cummin_values": "CumminBackward0",
    "vector_norm": "LinalgVectorNormBackward0",
    "matrix_norm": lambda node, inputs: (
        "LinalgVectorNormBackward0" if node.attrs["ord"] == "fro" else "SumBackward1"
    ),
    "inv": "LinalgInvExBackward0",
    "det": "LinalgDetBackward0",
    "solve": "LinalgSolveExBackward0",
    "cholesky": "LinalgCholeskyExBackward0",
    "logsigmoid": "LogSigmoidBackward0",
    "conv1d": "ConvolutionBackward0",
    "conv2d": "ConvolutionBackward0",
    "conv3d": "ConvolutionBackward0",
    "conv_transpose1d": "ConvolutionBackward0",
    "conv_transpose2d": "ConvolutionBackward0",
    "rnn_tanh_cell": "TanhBackward0",
    "rnn_relu_cell": "ReluBackward0",
    "max_pool1d": "SqueezeBackward1",
    "max_pool2d": "MaxPool2DWithIndicesBackward0",
    "layer_norm": "NativeLayerNormBackward0",
    "group_norm": "NativeGroupNormBackward0",
    "batch_norm": "NativeBatchNormBackward0",
    "inner": "ViewBackward0",
    "constant_pad_nd": "ConstantPadNdBackward0",
    "unfold": lambda node, inputs: (
        "Im2ColBackward0" if "kernel_size" in node.attrs else "UnfoldBackward0"
    ),
    "fold": "Col2ImBackward0",
    "grid_sample": "GridSampler2DBackward0",
    "affine_grid": "AffineGridGeneratorBackward0",
    "double": "ToCopyBackward0",
    "sum_to_size": "SumBackward1",
    "put_at": "SliceBackward0",
    "cross": "LinalgCrossBackward0",
    "cross_along": "LinalgCrossBackward0",
    "diag": lambda node, inputs: (
        "DiagEmbedBackward0" if inputs[0].ndim == 1 else "DiagonalBackward0_copy"
    ),
    "scatter_to": "ScatterBackward0",
    "take": "TakeBackward0",
    **{
        name: f"Special{name.title().replace('_', '')}Backward0"
        for name in ("entr", "erfcx", "xlog1py", "i0e", "i1", "i1e", "ndtri", "log_ndtr")
    },
}


def _is_input(node: Node | None) -> bool:
    return node is not None and node.op.name == "input"


Root = Callable[[Node], str | None]  # tells by the operation that a function ends with
# Functions whose records are called after them, and not after their operators.
CALLS: dict[str, str | Root] = {
    "batch_norm": "NativeBatchNormBackward0",
    "max_unpool1d": "SqueezeBackward1",
    "max_unpool2d": "MaxUnpool2DBackward0",
    "max_unpool3d": "MaxUnpool3DBackward0",
    "embedding_bag": "EmbeddingBagBackward0",
    "t": "TBackward0",
    "T": "PermuteBackward0",
    "movedim": "PermuteBackward0",
    "moveaxis": "PermuteBackward0",
    "narrow": "SliceBackward0",
    "select": "SelectBackward0",
    "tile": "RepeatBackward0",
    "unsqueeze": "UnsqueezeBackward0",
    "unflatten": "ViewBackward0",
    "ravel": "ViewBackward0",
    "expand_as": "ExpandBackward0",
    "vdot": "VdotBackward0",
    "inner": "ViewBackward0",
    "chain_matmul": "ViewBackward0",
    "multi_dot": "ViewBackward0",
    "dist": "DistBackward0",
    "rsub": "RsubBackward0",
    "clamp_min": lambda root: f"ClampMinBackward{int(_is_input(root.inputs[1]))}",
    "clamp_max": lambda root: f"ClampMaxBackward{int(_is_input(root.inputs[2]))}",
    "round": lambda root: None if root.op.name == "round" else "RoundBackward1",
    "repeat_interleave": "ViewBackward0",
    "rot90": "Rot90Backward0",
    "tensor_split": "SliceBackward0",
    "hsplit": "SliceBackward0",
    "vsplit": "SliceBackward0",
    "masked_select": "MaskedSelectBackward0",
    "index_put": "IndexPutBackward0",
    "combinations": "StackBackward0",
    "block_diag": "BlockDiagBackward0",
    "lstsq": "LinalgLstsqBackward0",
    "rrelu": "RreluWithNoiseBackward0",
    "special.ndtr": "MulBackward1",
    "triplet_margin_with_distance_loss": "MeanBackward0",
}


OUTPUTS = {
    "std_mean": ("StdMeanBackward0", "StdMeanBackward0"),
    "var_mean": ("VarMeanBackward0", "VarMeanBackward0"),
    "aminmax": ("AminmaxBackward0", "AminmaxBackward0"),
    "lstm": ("MkldnnRnnLayerBackward0",),
    "linalg.svd": ("LinalgSvdBackward0",) * 3,
    "svd": ("LinalgSvdBackward0",) * 3,
}  # names of the records of several outputs


# Names of the records of gradients with create_graph=True, by the name of the record: first those
# whose gradient is an operator of its own, which depends on the input even where that is linear.
_OWN = (
    *("Tanh", "Sigmoid", "Gelu", "Elu", "Softplus", "Hardtanh", "LeakyRelu", "LogSigmoid", "Glu"),
    *("Softshrink", "Hardshrink", "Hardswish", "Threshold", "PreluKernel", "RreluWithNoise"),
    *("BinaryCrossEntropy", "MseLoss", "SmoothL1Loss", "HuberLoss", "SoftMarginLoss", "NllLoss"),
    *("NllLoss2D", "NativeLayerNorm", "NativeBatchNorm", "Convolution", "MaxPool2DWithIndices"),
    *("AvgPool2D", "AdaptiveAvgPool2D", "AdaptiveMaxPool2D", "GridSampler2D"),
    *("ReflectionPad1D", "ReflectionPad2D", "ReplicationPad1D", "ReplicationPad2D"),
)
OWN_AGAIN = {
    **{f"{name}Backward0": f"{name}BackwardBackward0" for name in _OWN},
    "ReluBackward0": "ThresholdBackwardBackward0",
    "CeluBackward0": "EluBackwardBackward0",
    "SoftmaxBackward0": "SoftmaxBackwardDataBackward0",
    "LogSoftmaxBackward0": "LogSoftmaxBackwardDataBackward0",
}
_VIEWS = ("Select", "Slice", "Diagonal", "Unfold", "EmbeddingBag")
SCATTERED = (
    *("MaxBackward0", "MinBackward0", "MedianBackward1", "NanmedianBackward1", "ModeBackward0"),
    *("KthvalueBackward0", "SortBackward0", "TopkBackward0"),
)
AGAIN = {
    **OWN_AGAIN,
    **{f"{name}Backward0": f"{name}BackwardBackward0" for name in _VIEWS},
    "EmbeddingBackward0": "EmbeddingDenseBackwardBackward0",
    **dict.fromkeys(("MeanBackward0", "MeanBackward1"), "DivBackward1"),
    **dict.fromkeys(("Exp2Backward0", "Deg2RadBackward0", "Rad2DegBackward0"), "MulBackward1"),
    "LerpBackward0": "MulBackward1",
    "TraceBackward0": "ViewBackward0",
    "CumprodBackward0": "DivBackward0",
    **dict.fromkeys((f"SqueezeBackward{n}" for n in range(3)), "UnsqueezeBackward0"),
    "MaskedSelectBackward0": "MaskedScatterBackward0",
    **{
        f"Upsample{mode}Backward0": f"Upsample{mode}BackwardBackward0"
        for mode in ("Nearest1D", "Nearest2D", "Linear1D", "Bilinear2D")
    },
    **dict.fromkeys(("MaxBackward1", "MinBackward1", "MedianBackward0"), "MaskedFillBackward1"),
    **dict.fromkeys(SCATTERED, "ScatterBackward0"),
    **dict.fromkeys(
        ("CummaxBackward0", "CumminBackward0", "GatherBackward0"), "ScatterAddBackward0"
    ),
    **dict.fromkeys(
        ("AmaxBackward0", "AminBackward0", "AminmaxBackward0", "ProdBackward0"), "MulBackward0"
    ),
    **dict.fromkeys(
        (
            *("MaximumBackward0", "MinimumBackward0", "FmaxBackward0", "FminBackward0"),
            "MaskedFillBackward0",
        ),
        "MaskedFillBackward0",
    ),
    "IndexBackward0": "IndexPutImplBackward0",
    "UnsqueezeBackward0": "SqueezeBackward1",
    "TBackward0": "TBackward0",
    "PermuteBackward0": "PermuteBackward0",
    "RepeatBackward0": "SumBackward1",
    "DiagEmbedBackward0": "DiagonalBackward0",
    "AsStridedBackward0": "AsStridedBackward0",
    "CatBackward0": "SliceBackward0",
    "StackBackward0": "SelectBackward0",
    "ConstantPadNdBackward0": "ConstantPadNdBackward0",
    "LinalgDetBackward0": "LinalgSolveExBackward0",
    "LinalgSlogdetBackward0": "LinalgSolveExBackward0",
}

AGAIN_OF_OPERATORS = {  # the same of operators whose record is called after another one
    "cross_entropy": "LogSoftmaxBackwardDataBackward0",
    "logdet": "LinalgSolveExBackward0",
    "outer": "ViewBackward0",
    **dict.fromkeys(("max_pool1d", "avg_pool1d", "adaptive_avg_pool1d"), "SqueezeBackward1"),
}
# Those of the gradients of products, by the dimensions of their inputs.
PRODUCTS_AGAIN: dict[tuple[int, ...], tuple[str | None, str | None]] = {
    (1, 2): ("SqueezeBackward1", "MmBackward0"),
    (3, 2): ("ViewBackward0", "MmBackward0"),
    (4, 2): ("ViewBackward0", "MmBackward0"),
}
MATRICES = {"MmBackward0": 0, "AddmmBackward0": 1}  # where the matrices of products begin
BY_PLACE = {
    ("MvBackward0", 1): "MvBackward0",
    ("MaskedFillBackward1", 0): "MaskedFillBackward0",
}
SQUEEZES = tuple(f"SqueezeBackward{n}" for n in range(3))  # of which the gradient is what
# arrives, where no size was 1
ZEROS_AGAIN = frozenset(  # operators whose gradients have zeros, and not None, as derivatives by
    # their input
    ("relu", "relu6", "leaky_relu", "hardtanh", "softshrink", "hardshrink", "threshold", "nll_loss")
) | {f"{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2)}


def gradient_name(record: Any, node: Node, place: int, root: Node) -> str | None:
    """The name of the record of a gradient with create_graph=True: that of the input at this place
    of the operation `node`, which `root` computes. None where it is called after root's operator.
    """
    factor = record.name in MATRICES and place >= MATRICES[record.name]
    if factor and record.call[1][place].ndim == 2:
        return _of_matrix(record.call[1][place])
    name = BY_PLACE.get((record.name, place))
    return name or _of_operator(node, place, root) or _of_record(record.name, node)


def _of_matrix(factor: Any) -> str:
    """Of a matrix's gradient, which is computed transposed where the matrix is."""
    rows, columns = factor.shape
    return "TBackward0" if factor.strides == (1, rows) and columns > 1 else "MmBackward0"


def _of_operator(node: Node, place: int, root: Node) -> str | None:
    op = node.op.name
    if op == "prelu" and place == 1:
        return "SumBackward1" if len(node.shape or ()) < 2 else "ViewBackward0"
    if op == "matmul":
        dims = tuple(len(i.shape or ()) for i in node.inputs if i is not None)
        return PRODUCTS_AGAIN.get(dims, (None, None))[place]
    if op == "binary_cross_entropy_with_logits" and node.attrs["reduction"] == "mean":
        return "DivBackward1"
    if root.op.name == "sum" and (node.op.family == "elementwise" or op == "expand"):
        return "ViewBackward0" if root.shape and _has_fewer_dims(root) else None
    return AGAIN_OF_OPERATORS.get(op)


def _has_fewer_dims(root: Node) -> bool:
    summed = root.inputs[0]
    return summed is not None and len(summed.shape or ()) > len(root.shape or ())


def _of_record(record: str, node: Node) -> str | None:
    is_loss = record == "MeanBackward0" and node.op.name != "mean"
    return None if is_loss else AGAIN.get(record)


def name_of_call(function: str, root: Node) -> str | None:
    """The name of the record of a function's output, where that is not its operator's."""
    name = CALLS.get(function)
    return name(root) if callable(name) else name


COMPOSED = frozenset((  # operators that are several in PyTorch, or one of another name
    *("conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input"),
    *("conv3d_weight", "conv_transpose3d", "svd_left", "svd_right", "svd_left_all"),
    *("svd_right_all", "lu_l", "lu_u", "lu_solution", "max_pool3d", "adaptive_max_pool3d"),
    *("adaptive_avg_pool3d", "powers", "householder_product", "ndtr", "zeta", "l1_loss"),
))  # fmt: skip
UNNAMED = "UnnamedBackward"
OURS: set[str] = {UNNAMED}  # names of records that PyTorch has otherwise, as met


def grad_name(node: Node, inputs: Sequence[Any]) -> str:
    """The name of the record of an operator on these inputs."""
    name = NAMES.get(node.op.name)
    if callable(name):
        return name(node, inputs)
    if name is None:
        name = f"{camel_case(node.op.name)}Backward0"
        if node.op.torch is None or node.op.name in COMPOSED:
            OURS.add(name)
    return name


def camel_case(name: str) -> str:
    """`log_softmax` as LogSoftmax, and `conv2d` as Conv2D."""
    parts = name.rsplit(".", 1)[-1].split("_")
    joined = "".join(part[:1].upper() + part[1:] for part in parts)
    return re.sub(r"\d[a-z]", lambda match: match[0].upper(), joined)
