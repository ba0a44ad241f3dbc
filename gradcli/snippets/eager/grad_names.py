"""What PyTorch calls the record of an operation: MulBackward0."""

from collections.abc import Callable, Sequence
from typing import Any

from ...graphs import Node

# Operators whose record is not called after them. A function tells by the node and the inputs.
Name = str | Callable[[Node, Sequence[Any]], str]


def _reduced(name: str) -> Name:
    """Of a reduction, whose record says whether it was along some dimensions."""
    return lambda node, inputs: f"{name}Backward{int(node.attrs.get('dim') is not None)}"


def _power(node: Node, inputs: Sequence[Any]) -> str:
    numbers = [isinstance(i, bool | int | float) for i in inputs]
    return f"PowBackward{2 if numbers[0] else 0 if numbers[1] else 1}"


def _scatter(node: Node, inputs: Sequence[Any]) -> str:
    return f"ScatterBackward{int(isinstance(inputs[2], bool | int | float))}"


def _masked_fill(node: Node, inputs: Sequence[Any]) -> str:
    return f"MaskedFillBackward{int(not isinstance(inputs[2], bool | int | float))}"


def _lerp(node: Node, inputs: Sequence[Any]) -> str:
    return f"LerpBackward{int(not isinstance(inputs[2], bool | int | float))}"


def _clamp(node: Node, inputs: Sequence[Any]) -> str:
    return "ClampBackward1"


def _attention(node: Node, inputs: Sequence[Any]) -> str:
    flash = len(node.shape or ()) == 4
    return "ScaledDotProductFlashAttentionForCpuBackward0" if flash else "UnsafeViewBackward0"


def _loss(none: str, *, mean: str = "MeanBackward0", batch: str = "DivBackward0") -> Name:
    """Of a loss, by its reduction; `none` where it has none."""
    names = {"mean": mean, "sum": "SumBackward0", "none": none, "batchmean": batch}
    return lambda node, inputs: names[node.attrs["reduction"]]


def _einsum(node: Node, inputs: Sequence[Any]) -> str:
    """A product where nothing is summed; a sum, or a permutation, of a single operand."""
    left, arrow, right = node.attrs["equation"].replace(" ", "").partition("->")
    if not arrow:
        right = "".join(c for c in left if left.count(c) == 1)
    summed = set(left) - set(right) - {","}
    if len(inputs) == 1:
        return "SumBackward1" if summed else "PermuteBackward0"
    return "ViewBackward0" if summed else "MulBackward0"


def _adaptive(node: Node, inputs: Sequence[Any]) -> str:
    size = node.attrs["output_size"]
    return "MeanBackward1" if size in (1, (1, 1), [1, 1]) else "AdaptiveAvgPool2DBackward0"


NAMES: dict[str, Name] = {
    "scaled_dot_product_attention": _attention,
    "pow": _power,
    "sum": _reduced("Sum"),
    "mean": _reduced("Mean"),
    "prod": _reduced("Prod"),
    "clamp": _clamp,
    "square": "PowBackward0",
    "log1p": "Log1PBackward0",
    "selu": "EluBackward0",
    "softsign": "DivBackward0",
    "tanhshrink": "SubBackward0",
    "diff": "SubBackward0",
    "deg2rad": "Deg2RadBackward0",
    "rad2deg": "Rad2DegBackward0",
    "kl_div": _loss("SubBackward0"),
    "outer": "MulBackward0",
    "eigvalsh": "LinalgEighBackward0",
    "svdvals": "LinalgSvdBackward0",
    "cosine_similarity": "SumBackward1",
    "pairwise_distance": "NormBackward1",
    "hinge_embedding_loss": _loss("AddBackward0"),
    "cosine_embedding_loss": _loss("AddBackward0"),
    "margin_ranking_loss": _loss("ClampMinBackward0"),
    "triplet_margin_loss": _loss("ClampMinBackward0"),
    "poisson_nll_loss": _loss("SubBackward0"),
    "gaussian_nll_loss": _loss("MulBackward0"),
    "multilabel_soft_margin_loss": _loss("DivBackward0"),
    "avg_pool1d": "SqueezeBackward1",
    "instance_norm": "ViewBackward0",
    "tensordot": "ViewBackward0",
    "quantile": "SqueezeBackward4",
    "trapezoid": "MulBackward1",
    "cov": "SqueezeBackward0",
    "corrcoef": "ClampBackward1",
    "einsum": _einsum,
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
    "avg_pool2d": "AvgPool2DBackward0",
    "layer_norm": "NativeLayerNormBackward0",
    "group_norm": "NativeGroupNormBackward0",
    "batch_norm": "NativeBatchNormBackward0",
    "block_diag": "BlockDiagBackward0",
    "inner": "ViewBackward0",
    "pad": "ConstantPadNdBackward0",
    "constant_pad_nd": "ConstantPadNdBackward0",
    "detach": "DetachBackward0",
    "double": "ToCopyBackward0",
    "sum_to_size": "SumBackward1",
    "put_at": "SliceBackward0",
    "transpose": "TransposeBackward0",
    "cross": "LinalgCrossBackward0",
    "cross_along": "LinalgCrossBackward0",
    "diag": "DiagEmbedBackward0",
    "reshape": "ViewBackward0",
    "prelu": "PreluKernelBackward0",
    "kron": "UnsafeViewBackward0",
    "scatter": _scatter,
    "masked_fill": _masked_fill,
    "lerp": _lerp,
    "adaptive_avg_pool1d": "SqueezeBackward1",
    "adaptive_avg_pool2d": _adaptive,
    "adaptive_max_pool1d": "SqueezeBackward1",
    "adaptive_max_pool2d": "AdaptiveMaxPool2DBackward0",
    "rms_norm": "MulBackward0",
    "logdet": "WhereBackward0",
    "matrix_norm": "LinalgVectorNormBackward0",
    "pinv": "LinalgPinvBackward0",
    "local_response_norm": "DivBackward0",
    "nanmean": "DivBackward0",
    "nanmedian_all": "NanmedianBackward0",
    "nanmedian_values": "NanmedianBackward1",
    "nanquantile": "SqueezeBackward4",
    "vander": "FlipBackward0",
    "fold": "Col2ImBackward0",
    "im2col": "Im2ColBackward0",
    "xlog1py": "SpecialXlog1PyBackward0",
    "entr": "SpecialEntrBackward0",
    "div_floor": "DivBackward2",
    "div_trunc": "DivBackward2",
    "repeat_each": "ViewBackward0",
    "matrix_exp": "LinalgMatrixExpBackward0",
    "bilinear": "ViewBackward0",
    "cumulative_trapezoid": "CumsumBackward0",
}


CALLS = {  # functions whose records are called after them, and not after their operators
    "batch_norm": "NativeBatchNormBackward0",
    "embedding_bag": "EmbeddingBagBackward0",
    "t": "TBackward0",
    "T": "PermuteBackward0",
    "movedim": "PermuteBackward0",
    "moveaxis": "PermuteBackward0",
    "narrow": "SliceBackward0",
    "select": "SelectBackward0",
    "tile": "RepeatBackward0",
    "diag": "DiagEmbedBackward0",
    "flatten": "ViewBackward0",
    "unsqueeze": "UnsqueezeBackward0",
    "masked_select": "MaskedSelectBackward0",
    "expand_as": "ExpandBackward0",
    "norm": "LinalgVectorNormBackward0",
    "index_put": "IndexPutBackward0",
}


OUTPUTS = {
    "std_mean": ("StdMeanBackward0", "StdMeanBackward0"),
    "var_mean": ("VarMeanBackward0", "VarMeanBackward0"),
    "aminmax": ("AminmaxBackward0", "AminmaxBackward0"),
    "lstm": ("MkldnnRnnLayerBackward0",),
}  # names of the records of several outputs


AGAIN = {  # names of the records of gradients with create_graph=True, by the operator
    **{name: f"{camel}BackwardBackward0" for name, camel in (
        *(("tanh", "Tanh"), ("sigmoid", "Sigmoid"), ("gelu", "Gelu"), ("elu", "Elu")),
        *(("relu", "Threshold"), ("selu", "Elu"), ("celu", "Elu"), ("threshold", "Threshold")),
        *(("softplus", "Softplus"), ("hardtanh", "Hardtanh"), ("leaky_relu", "LeakyRelu")),
        *(("logsigmoid", "LogSigmoid"), ("hardswish", "Hardswish"), ("softshrink", "Softshrink")),
        *(("hardshrink", "Hardshrink"), ("layer_norm", "NativeLayerNorm"), ("nll_loss", "NllLoss")),
        *(("binary_cross_entropy", "BinaryCrossEntropy"), ("batch_norm", "NativeBatchNorm")),
        ("embedding", "EmbeddingDense"),
    )},
    "softmax": "SoftmaxBackwardDataBackward0",
    "log_softmax": "LogSoftmaxBackwardDataBackward0",
    "binary_cross_entropy_with_logits": "DivBackward1",
    "mean": "DivBackward1",
    "prod": "MulBackward0",
    "amax": "MulBackward0",
    "amin": "MulBackward0",
    "cumprod": "DivBackward0",
    "repeat": "SumBackward1",
    "masked_fill": "MaskedFillBackward0",
    "gather": "ScatterAddBackward0",
    "trace": "ViewBackward0",
    "deg2rad": "MulBackward1",
    "pad": "ConstantPadNdBackward0",
    "max_pool1d": "SqueezeBackward1",
    "avg_pool1d": "SqueezeBackward1",
    **{f"{name}_all": "MaskedFillBackward1" for name in ("max", "min", "median")},
    **{f"{name}_values": "ScatterBackward0" for name in (
        *("sort", "topk", "max", "min", "kthvalue", "median", "mode"),
    )},
}  # fmt: skip
BY_RECORD = {  # the same, by the record of the operation
    "ViewBackward0": "ReshapeAliasBackward0",
    "UnsqueezeBackward0": "SqueezeBackward1",
    "SqueezeBackward0": "UnsqueezeBackward0",
    "SqueezeBackward1": "UnsqueezeBackward0",
    "SqueezeBackward2": "UnsqueezeBackward0",
    "NativeBatchNormBackward0": "NativeBatchNormBackwardBackward0",
    "NativeLayerNormBackward0": "NativeLayerNormBackwardBackward0",
    "SelectBackward0": "SelectBackwardBackward0",
    "SliceBackward0": "SliceBackwardBackward0",
    "IndexBackward0": "IndexPutImplBackward0",
    "MaskedSelectBackward0": "MaskedScatterBackward0",
    "DiagonalBackward0": "DiagonalBackwardBackward0",
    "UnfoldBackward0": "UnfoldBackwardBackward0",
    "TBackward0": "TBackward0",
    "PermuteBackward0": "PermuteBackward0",
}
PRODUCTS = {"MmBackward0": 0, "AddmmBackward0": 1}  # where their matrices begin
SQUEEZES = tuple(f"SqueezeBackward{n}" for n in range(3))  # of which the gradient is what
# arrives, where no size was 1
BY_PLACE = {("MvBackward0", 1): "MvBackward0", ("SqueezeBackward4", 0): "SqueezeBackward1"}
ZEROS_AGAIN = frozenset(  # operators whose gradients have zeros, and not None, as derivatives by
    # their input
    ("relu", "relu6", "leaky_relu", "hardtanh", "softshrink", "hardshrink", "threshold", "nll_loss")
) | {f"{kind}_pool{n}d" for kind in ("max", "avg") for n in (1, 2)}


def depends_again(operator: str) -> bool:
    """Whether PyTorch's gradient of an operator has a record for its input even where it does not
    change with it.
    """
    name = AGAIN.get(operator, "")
    return operator != "embedding" and ("BackwardBackward" in name or "BackwardData" in name)


def gradient_name(operator: str, record: Any, place: int) -> str | None:
    """The name of the record of the gradient of an operation's input at a place; None where it is
    that of the operation that computes it.
    """
    if record.name in PRODUCTS and place >= PRODUCTS[record.name]:
        return _of_product(record.call[1][place])
    return _fixed(operator, record.name, place)


def _of_product(factor: Any) -> str:
    """Of a matrix's gradient, which is computed transposed where the matrix is."""
    rows, columns = factor.shape
    return "TBackward0" if factor.strides == (1, rows) and columns > 1 else "MmBackward0"


def _fixed(operator: str, record: str, place: int) -> str | None:
    return BY_PLACE.get((record, place)) or AGAIN.get(operator) or BY_RECORD.get(record)


COMPOSED = frozenset((  # operators that are several in PyTorch, or one of another name
    *("getitem", "matmul", "conv1d_input", "conv1d_weight", "conv2d_input",),
    *("conv2d_weight", "conv3d_input", "conv3d_weight", "conv_transpose3d", "solve_triangular",),
    *("svd_left", "svd_right", "svd_left_all", "svd_right_all", "qr_q",),
    *("qr_r", "lu_l", "lu_u", "lu_solution", "cond",),
    *("affine_grid", "max_pool3d", "avg_pool3d", "adaptive_max_pool3d", "adaptive_avg_pool3d",),
    *("interpolate", "grid_sample", "powers", "eigh_vectors", "householder_product",),
    *("log_abs_determinant", "i0e", "i1", "i1e", "erfcx",),
    *("ndtr", "log_ndtr", "ndtri", "zeta", "l1_loss",),
    *("cross_entropy",),
))  # fmt: skip
OURS: set[str] = set()  # names of records that PyTorch has otherwise, as met


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
    """`log_softmax` as LogSoftmax."""
    return "".join(part[:1].upper() + part[1:] for part in name.rsplit(".", 1)[-1].split("_"))
