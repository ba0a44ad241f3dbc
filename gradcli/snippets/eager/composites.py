"""Functions of torch and torch.nn.functional that check their arguments before they call an
operator, or that PyTorch computes by several operations: linear, losses, dropout and others.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ...graphs import OPS
from ...lazy import np
from ...operators import lookup
from ...operators.losses import as_reduction
from ..python.values import EXCEPTIONS, Machine, Unsupported, error
from . import arithmetic, calls
from .apply import apply, call_operator, cast
from .arguments import check_where, tensor_list
from .autocast import autocast
from .checks import (
    check_broadcast,
    check_dims,
    check_floating,
    check_mm,
    check_same,
    dimension,
    refuse,
)
from .creation import generator
from .devices import device_of
from .dtypes import BOOL, BY_NAME, FLOAT64, INT64, UINT8, DType
from .kernels import SUBTRACTED_MASKS
from .layouts import drawn_over
from .mode import MODE, recording
from .printing import size
from .records import compose, rename, underived
from .tables import TABLES, define, dtype_of
from .tensor import MetaTensor, Tensor

DEFAULT_TENSOR_TYPE = (
    "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
    "torch.set_default_dtype() and torch.set_default_device() as alternatives. (Triggered "
    "internally at /__w/pytorch/pytorch/torch/csrc/tensor/python_tensor.cpp:434.)"
)
TARGET_SIZES = (
    "Using a target size ({target}) that is different to the input size ({input}). This will "
    "likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
)


def _apply(name: str, inputs: list[Any], record: str | None = None, **attrs: Any) -> Tensor:
    lookup(name)
    op = OPS[name]
    full = {n: attrs.get(n, d) for n, d in op.attributes.items()}
    return apply(op, inputs, full, name=record)


@define("F")
def linear(m: Machine, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight.T + bias."""
    if not input.ndim:
        dims = f"{input.ndim}D and {weight.ndim}D"
        text = f"both arguments to linear need to be at least 1D, but they are {dims}"
        raise error("RuntimeError", text)
    if bias is not None and isinstance(input, MetaTensor) != isinstance(weight, MetaTensor):
        devices = ("cpu", "meta") if isinstance(input, MetaTensor) else ("meta", "cpu")
        text = "Tensor on device {} is not on the expected device {}!"
        raise error("RuntimeError", text.format(*devices))
    input, weight, bias = autocast("linear", [input, weight, bias])
    transposed = _apply("transpose", [weight], "TBackward0", dim0=0, dim1=1)
    rows = input if input.ndim > 1 else call_operator("unsqueeze", input, dim=0)
    if bias is None or input.ndim != 2:
        check_mm(rows, transposed, added=bias is not None)
    if bias is None:
        return arithmetic.matmul(m, input, transposed)
    if input.ndim == 2:
        return compose(addmm(m, bias, input, transposed), "linear", input, weight, bias)
    flat = call_operator("reshape", input, shape=(-1 if input.numel else 0, input.shape[-1]))
    product = addmm(m, bias, flat, transposed)
    shape = (*input.shape[:-1], weight.shape[0])
    output = _apply("reshape", [product], "ViewBackward0", shape=shape)
    return compose(output, "linear", input, weight, bias)


@define("torch", "Tensor")
def addmm(
    m: Machine, input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""
    input, mat1, mat2 = autocast("addmm", [input, mat1, mat2])
    check_same("self and mat2", input, mat2)
    check_mm(mat1, mat2, added=True)
    return calls.call("addmm", [input, mat1, mat2], {"beta": beta, "alpha": alpha})


# ---- reductions with checks ----------------------------------------------------------------------


def _check_logits(name: str, input: Tensor, dim: Any) -> None:
    """Refuse a softmax of integers."""
    if not input.dtype.is_floating:
        last = "_lastdim" if dim in (-1, max(input.ndim - 1, 0)) else ""
        text = f"\"{name}{last}_kernel_impl\" not implemented for '{input.dtype.scalar_name}'"
        raise error("NotImplementedError", text)


def _define_checked(name: str) -> None:
    """Define a reduction such as mean, which refuses integers and dimensions out of range."""

    def function(m: Machine, input: Tensor, *args: Any, **named: Any) -> Any:
        dims = args[0] if args else named.get("dim", named.get("axis"))
        if dims is not None:
            check_dims(input, dims)
        if name == "mean" and named.get("dtype") is None:
            check_floating(name, input)
        if name in ("std", "var") and not input.dtype.is_floating:
            text = "std and var only support floating point and complex dtypes"
            raise error("RuntimeError", text)
        if name.endswith("softmax") and not named.get("dtype"):
            _check_logits(name, input, dims)
        return calls.call(name, [input, *args], named, method=True)

    define("torch", "Tensor", name=name)(function)


for _name in ("sum", "mean", "prod", "std", "var", "softmax", "log_softmax", "cumsum"):
    _define_checked(_name)


def _define_softmax(name: str) -> None:
    """Define softmax, log_softmax or softmin of torch.nn.functional, which choose a dimension, with
    a warning, if `dim` is None.
    """

    def function(
        m: Machine, input: Tensor, dim: Any = None, _stacklevel: int = 3, dtype: Any = None
    ) -> Any:
        if dim is None:
            text = (
                f"Implicit dimension choice for {name} has been deprecated. Change the call to "
                "include dim=X as an argument."
            )
            m.warn(EXCEPTIONS["UserWarning"], text)
            dim = 0 if input.ndim in (0, 1, 3) else 1
        if isinstance(dim, float) or (isinstance(dim, Tensor) and dim.ndim):
            text = f"{name}(): argument 'dim' (position 1) must be int, not "
            raise error("TypeError", text + m.class_of(dim).name)
        named = {} if dtype is None else {"dtype": dtype}
        if name == "softmin":
            return calls.call(name, [input, dim], named)
        return TABLES["torch"][name].function(m, input, dim, **named)

    define("F", name=name)(function)


for _name in ("softmax", "log_softmax", "softmin"):
    _define_softmax(_name)


@define("torch", "Tensor")
def gather(m: Machine, input: Tensor, dim: int, index: Tensor, **named: Any) -> Tensor:
    """Elements along a dimension, at the positions given by `index`."""
    if index.dtype.kind != "int":
        raise error("RuntimeError", "gather(): Expected dtype int32/int64 for index")
    return calls.call("gather", [input, dim, index], named)


@define("torch", "Tensor")
def bincount(m: Machine, input: Tensor, weights: Any = None, minlength: int = 0) -> Tensor:
    """The number of occurrences of each integer, or the sum of its weights."""
    plain = isinstance(weights, Tensor) and weights.shape == input.shape and input.ndim == 1
    if not plain or weights.requires_grad or (input.data < 0).any():
        return calls.call("bincount", [input, weights, minlength], {})
    kind = weights.dtype if weights.dtype.name == "float32" else FLOAT64
    sums = np.zeros(max(int(input.data.max(initial=-1)) + 1, minlength), kind.numpy)
    np.add.at(sums, input.data, weights.data.astype(kind.numpy))
    return Tensor(sums, kind)


@define("torch")
def where(m: Machine, condition: Tensor, *args: Any, **named: Any) -> Any:
    """torch.where: elements of two tensors chosen by a mask, or the indices of True in a mask."""
    if not named:
        check_where(m, [condition, *args])
    if not (args or named):
        return calls.call("nonzero", [condition], {"as_tuple": True})
    if condition.dtype not in (BOOL, UINT8):
        text = "where expected condition to be a boolean tensor, but got a tensor with dtype "
        raise error("RuntimeError", text + condition.dtype.scalar_name)
    return calls.call("where", [condition, *args], named)


def _where(m: Machine, self: Tensor, condition: Any, other: Any) -> Any:
    """x.where(condition, other): x where `condition` is true, `other` elsewhere."""
    check_where(m, [condition, other], method=True)
    return where(m, condition, self, other)


define("Tensor", name="where")(_where)


@define("torch")
def broadcast_tensors(m: Machine, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors expanded to their common shape; those that have it are returned unchanged."""
    for a in tensors:
        for b in tensors:
            check_broadcast(a, b)
    shape = np.broadcast_shapes(*(t.shape for t in tensors))
    return tuple(
        t if t.shape == shape else call_operator("expand", t, shape=shape) for t in tensors
    )


def _named_axis(dim: int, named: dict[str, int]) -> int:
    """The dimension argument of a function, which the program may also pass as `axis`."""
    if set(named) - {"axis"}:
        raise Unsupported(f"the argument {next(iter(named))}")
    return named.get("axis", dim)


@define("torch")
def stack(m: Machine, tensors: Any, dim: int = 0, **axis: int) -> Tensor:
    """Tensors of one shape joined along a new dimension."""
    dim = _named_axis(dim, axis)
    parts = tensor_list(m, tensors, "stack")
    for place, part in enumerate(parts):
        if part.shape != parts[0].shape:
            raise error(
                "RuntimeError",
                f"stack expects each tensor to be equal size, but got {list(parts[0].shape)} at "
                f"entry 0 and {list(part.shape)} at entry {place}",
            )
    return calls.call("stack", [parts, dimension(dim, parts[0].ndim + 1)], {})


def _define_cat(name: str) -> None:
    def cat(m: Machine, tensors: Any, dim: int = 0, **axis: int) -> Tensor:
        return _joined(tensor_list(m, tensors, name), _named_axis(dim, axis))

    define("torch", name=name)(cat)


for _name in ("cat", "concat", "concatenate"):
    _define_cat(_name)


def _joined(parts: list[Tensor], dim: int) -> Tensor:
    """Concatenate tensors along a dimension; an empty vector is skipped."""
    parts = [p for p in parts if p.shape != (0,) or p.requires_grad] or parts
    for place, part in enumerate(parts):
        if part.ndim == 0:
            text = f"zero-dimensional tensor (at position {place}) cannot be concatenated"
            raise error("RuntimeError", text)
    where = dimension(dim, parts[0].ndim)
    for place, part in enumerate(parts):
        if part.ndim != parts[0].ndim and part.shape != (0,):
            text = "Tensors must have same number of dimensions: got "
            raise error("RuntimeError", f"{text}{parts[0].ndim} and {part.ndim}")
        for d, (a, b) in enumerate(zip(parts[0].shape, part.shape)):
            if d != where and a != b:
                raise error(
                    "RuntimeError",
                    f"Sizes of tensors must match except in dimension {where}. Expected size {a} "
                    f"but got size {b} for tensor number {place} in the list.",
                )
    return calls.call("cat", [parts, where], {})


@define("torch", "Tensor")
def cholesky(m: Machine, input: Tensor, upper: bool = False) -> Tensor:
    """The older name of linalg.cholesky."""
    refuse("older.cholesky", [input], {})
    return calls.call("cholesky", [input], {"upper": upper} if upper else {})


# ---- losses --------------------------------------------------------------------------------------


def _define_loss(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Define a loss of torch.nn.functional. `function` takes the arguments in PyTorch's order,
    without the deprecated `size_average` and `reduce`, which are converted to `reduction`.
    """
    name = function.__name__

    def call(m: Machine, *args: Any, **named: Any) -> Tensor:
        record: Any = lookup(name)
        given = dict(zip(record.positional, args)) | named
        legacy = {key: given.pop(key, None) for key in ("size_average", "reduce")}
        if any(value is not None for value in legacy.values()):
            given |= as_reduction(**legacy)
            m.warn(EXCEPTIONS["UserWarning"], LEGACY_REDUCTION.format(given["reduction"]))
        if given.get("weight") is not None and "weight" not in function.__annotations__:
            raise Unsupported(f"the argument weight of {name}()")
        return function(m, **{k: v for k, v in given.items() if k != "weight" or v is not None})

    define("F", name=name)(call)
    return function


LEGACY_REDUCTION = (
    "size_average and reduce args will be deprecated, please use reduction='{}' instead."
)


@_define_loss
def huber_loss(
    m: Machine, input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """The squared difference if it is at most `delta`, else the absolute one, reduced."""
    _check_target_size(m, input, target)
    loss = calls.call("huber_loss", [input, target], {"reduction": reduction, "delta": delta})
    if input.dtype is not target.dtype and loss.requires_grad:
        of_target, of_input = target.dtype.scalar_name, input.dtype.scalar_name
        text = f"Found dtype {of_target} but expected {of_input}"
        underived(text, "HuberLossBackward0", [input, target], loss, m.line)
    return loss


def _check_target_size(m: Machine, input: Tensor, target: Tensor) -> None:
    """Warn if the target has another size, as PyTorch does; refuse shapes that do not broadcast."""
    if input.shape != target.shape:
        m.warn(
            EXCEPTIONS["UserWarning"],
            TARGET_SIZES.format(target=size(target.shape), input=size(input.shape)),
        )
    check_broadcast(input, target)


def _reduced(m: Machine, loss: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise error("ValueError", f"{reduction} is not a valid value for reduction")
    if reduction == "mean":
        check_floating("mean", loss)
    return calls.call(reduction, [loss], {})


@_define_loss
def mse_loss(m: Machine, input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Squared differences, reduced."""
    _check_target_size(m, input, target)
    return calls.call("mse_loss", [input, target], {"reduction": reduction})


@define("F")
def kl_div(
    m: Machine, input: Tensor, target: Tensor, *legacy: Any, reduction: str = "mean", **named: Any
) -> Tensor:
    """The Kullback-Leibler divergence, reduced."""
    old = [*legacy, named.get("size_average"), named.get("reduce")]
    if reduction == "mean" and all(v is None for v in old):
        m.warn(EXCEPTIONS["UserWarning"], MEAN_OF_DIVERGENCE)
    if not all(t.dtype.is_floating for t in (input, target) if isinstance(t, Tensor)):
        raise error("RuntimeError", "kl_div: Integral inputs not supported.")
    named = {"reduction": reduction, **named}
    return calls.call("kl_div", [input, target, *legacy], named)


MEAN_OF_DIVERGENCE = (
    "reduction: 'mean' divides the total loss by both the batch size and the support size."
    "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
    "'mean' will be changed to behave the same as 'batchmean' in the next major release."
)


@_define_loss
def l1_loss(m: Machine, input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Absolute differences, reduced."""
    _check_target_size(m, input, target)
    difference = arithmetic.binary("sub", input, target)
    return _reduced(m, call_operator("abs", difference), reduction)


@_define_loss
def smooth_l1_loss(
    m: Machine, input: Tensor, target: Tensor, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """The squared difference if it is less than `beta`, else the absolute one, reduced."""
    _check_target_size(m, input, target)
    return calls.call("smooth_l1_loss", [input, target], {"reduction": reduction, "beta": beta})


def _check_same(name: str, input: Tensor, target: Tensor) -> None:
    if name == "bce" and input.shape != target.shape:
        raise error(
            "ValueError",
            f"Using a target size ({size(target.shape)}) that is different to the input size "
            f"({size(input.shape)}) is deprecated. Please ensure they have the same size.",
        )
    if name == "logits" and input.shape != target.shape:
        raise error(
            "ValueError",
            f"Target size ({size(target.shape)}) must be the same as input size "
            f"({size(input.shape)})",
        )


@_define_loss
def binary_cross_entropy(
    m: Machine, input: Tensor, target: Tensor, weight: Any = None, reduction: str = "mean"
) -> Tensor:
    """The negative log likelihood of targets between 0 and 1."""
    _check_same("bce", input, target)
    _check_dtype(input, target)
    if ((input.data < 0) | (input.data > 1)).any():
        raise error("RuntimeError", "all elements of input should be between 0 and 1")
    weights = {} if weight is None else {"weight": weight}
    return calls.call("binary_cross_entropy", [input, target], weights | {"reduction": reduction})


def _check_dtype(input: Tensor, target: Tensor) -> None:
    if input.dtype is not target.dtype:
        raise error(
            "RuntimeError",
            f"Found dtype {target.dtype.scalar_name} but expected {input.dtype.scalar_name}",
        )


@_define_loss
def binary_cross_entropy_with_logits(
    m: Machine,
    input: Tensor,
    target: Tensor,
    weight: Any = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Tensor:
    """Binary cross-entropy of the sigmoid of the input."""
    _check_same("logits", input, target)
    if target.dtype.is_floating and target.dtype is not input.dtype:
        return _mixed_logistic(m, input, target, weight, reduction, pos_weight)
    if pos_weight is not None:
        check_broadcast(pos_weight, input)
    if not target.dtype.is_floating and input.dtype.is_floating:
        if target.dtype is BOOL:
            raise error("RuntimeError", SUBTRACTED_MASKS)
        kind = target.dtype.scalar_name
        text = f"result type {input.dtype.scalar_name} can't be cast to the desired output type "
        raise error("RuntimeError", text + kind)
    weights = {"weight": weight, "pos_weight": pos_weight}
    check_broadcast(input, weight)
    named = {k: v for k, v in weights.items() if v is not None} | {"reduction": reduction}
    return calls.call("binary_cross_entropy_with_logits", [input, target], named)


def _mixed_logistic(
    m: Machine, input: Tensor, target: Tensor, weight: Any, reduction: str, pos_weight: Any
) -> Tensor:
    """Binary cross-entropy of logits and targets of two floating dtypes, in the targets' dtype.

    PyTorch takes the logarithm of the sigmoid in the dtype of the logits.
    """
    dtypes = {t.dtype.name for t in (input, target)}
    if dtypes != {"float32", "float64"} or weight is not None or pos_weight is not None:
        raise Unsupported("binary_cross_entropy_with_logits() of these floating dtypes")
    logits = cast(input, target.dtype)
    loss = binary_cross_entropy_with_logits(m, logits, target, reduction=reduction)
    with recording(False):
        logarithm = cast(calls.call("logsigmoid", [input], {}), target.dtype)
        others = call_operator("sub", 1, target)
        terms = call_operator("sub", call_operator("mul", others, logits), logarithm)
        exact = terms if reduction == "none" else calls.call(reduction, [terms], {})
    loss.data[...] = exact.data
    return loss


@_define_loss
def cross_entropy(
    m: Machine,
    input: Tensor,
    target: Tensor,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The negative log likelihood of classes under a softmax."""
    dim = 0 if input.ndim == 1 else 1
    if input.shape == target.shape and not target.dtype.is_floating:
        raise _not_probabilities(target)
    _check_logits("log_softmax", input, dim)
    if target.dtype.is_floating or label_smoothing:
        if target.shape == input.shape:
            if ignore_index >= 0:
                text = "ignore_index is not supported for floating point target"
                raise error("RuntimeError", text)
        else:
            _check_classes(input, target, weight, ignore_index)
        if not 0 <= label_smoothing <= 1:
            text = "label_smoothing must be between 0.0 and 1.0. Got: "
            raise error("RuntimeError", f"{text}{label_smoothing:g}")
        options = {
            "reduction": reduction,
            "label_smoothing": label_smoothing,
            "ignore_index": ignore_index,
        }
        if weight is not None:
            options["weight"] = weight
        loss = calls.call("cross_entropy", [input, target], options)
        if target.dtype.is_floating:
            rename(loss, "DivBackward1" if reduction == "mean" else "NegBackward0")
        else:
            rename(loss, "AddBackward0")
        return loss
    logs = calls.call("log_softmax", [input, dim], {})
    loss = nll_loss(m, logs, target, weight, ignore_index, reduction)
    return compose(loss, "cross_entropy", input, target)


def _not_probabilities(target: Tensor) -> Exception:
    """PyTorch's error for integers in place of class probabilities."""
    kind = target.dtype.scalar_name
    text = "Expected floating point type for target with class probabilities, got"
    return error("RuntimeError", f"{text} {kind}")


def _check_labels(input: Tensor, target: Tensor) -> None:
    """Refuse class indices whose shape does not match the input's."""
    if input.ndim > 1 and input.shape[:1] != target.shape[:1]:
        raise error(
            "ValueError",
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0] if target.ndim else 0}).",
        )
    if input.ndim <= 2 and target.ndim > 1:
        raise error("RuntimeError", "0D or 1D target tensor expected, multi-target not supported")
    if input.ndim == 3:
        _check_target_positions(input, target)
    if input.ndim == 4 and target.ndim != 3:
        text = "only batches of spatial targets supported (3D tensors) but got targets of dimension"
        raise error("RuntimeError", f"{text}: {target.ndim}")
    if target.dtype.kind != "int" or target.dtype not in (INT64, UINT8):
        text = f"expected target dtype to be Long or Byte, but got {target.dtype.scalar_name}"
        raise error("RuntimeError", text)
    if input.ndim == 1 and target.ndim == 1 and target.numel != 1:
        text = f"For 1D input, 1D target must have size 1, but got target size: {target.numel}"
        raise error("ValueError", text)
    if input.ndim > 3:
        _check_target_positions(input, target)


def _check_classes(input: Tensor, target: Tensor, weight: Any, ignore_index: int) -> None:
    """Refuse targets that are not class indices of the input, and weights of another dtype."""
    _check_labels(input, target)
    classes = input.shape[0 if input.ndim == 1 else 1]
    labels = target.data[target.data != ignore_index]
    outside = labels[(labels < 0) | (labels >= classes)]
    if outside.size:
        raise error("IndexError", f"Target {outside.flat[0]} is out of bounds.")
    if weight is not None and weight.dtype is not input.dtype:
        kinds = input.dtype.scalar_name, weight.dtype.scalar_name
        raise error("RuntimeError", "expected scalar type {} but found {}".format(*kinds))


def _check_target_positions(input: Tensor, target: Tensor) -> None:
    """Refuse targets of an image or a sequence without one class for each position."""
    wanted, sizes = [input.shape[0], *input.shape[2:]], list(target.shape)
    if sizes != wanted and input.ndim == 4:
        text = f"size mismatch (got input: {list(input.shape)} , target: {sizes}"
        raise error("RuntimeError", text)
    if sizes != wanted:
        raise error("RuntimeError", f"Expected target size {wanted}, got {sizes}")


@_define_loss
def nll_loss(
    m: Machine,
    input: Tensor,
    target: Tensor,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Minus the input's elements at the target classes, reduced."""
    _check_classes(input, target, weight, ignore_index)
    options: dict[str, Any] = {"reduction": reduction, "ignore_index": ignore_index}
    if weight is not None:
        options["weight"] = weight
    single = input.ndim == target.ndim == 1
    classes_of = call_operator("reshape", target, shape=()) if single else target
    loss = calls.call("nll_loss", [input, classes_of], options)
    if single and loss.requires_grad:
        text = f"size mismatch (got input: {list(input.shape)}, target: {list(target.shape)})"
        underived(text, "NllLossBackward0", [input, target], loss, m.line)
    return loss


def _check_chance(p: float) -> None:
    if not 0 <= p <= 1:
        raise error("ValueError", f"dropout probability has to be between 0 and 1, but got {p}")


def _chances(input: Tensor, p: float, shape: Sequence[int]) -> Any:
    """A random mask of the given shape in the input's dtype: 0 with probability p, else 1."""
    if tuple(shape) == input.shape:
        mask = drawn_over(input, lambda size: generator().chances(size, 1 - p))
    else:
        mask = generator().chances(tuple(shape), 1 - p)
    return mask.astype(input.dtype.numpy)


def _dropped(input: Tensor, p: float, inplace: bool, shape: Sequence[int]) -> Tensor:
    """Dropout by a random mask of the given shape, with an element for each element of the input,
    or, with sizes of 1, for each channel.
    """
    if not input.dtype.is_floating:
        wanted = input.dtype.scalar_name
        text = f"result type Float can't be cast to the desired output type {wanted}"
        raise error("RuntimeError", text)
    kind = input.data.dtype.type
    factors = kind(0) if p == 1 else _chances(input, p, shape) * kind(1 / (1 - p))
    noise = Tensor(np.asarray(factors), input.dtype)
    if inplace:
        return calls.in_place("mul", input, [noise], {})
    return call_operator("mul", input, noise)


@define("F", "torch")
def dropout(
    m: Machine, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Elements set to 0 at random, the others scaled up."""
    _check_chance(p)
    inplace = calls.is_true(inplace)
    return _dropped(input, p, inplace, input.shape) if training and p else input


def _dropout_of_channels(dims: int) -> None:
    """Define F.dropout1d, dropout2d or dropout3d, for inputs with or without a batch dimension.
    dropout2d is not supported without one, where PyTorch takes the input for a batch of sequences.
    """

    def dropout(
        m: Machine, input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Tensor:
        """Channels set to 0 at random, the others scaled up."""
        _check_chance(p)
        inplace = calls.is_true(inplace)
        if input.ndim not in (dims + 1, dims + 2) or (dims == 2 and input.ndim == 3):
            raise Unsupported(f"dropout{dims}d() of an input of {input.ndim} dimensions")
        channels = input.ndim - dims
        shape = (*input.shape[:channels], *(1,) * dims)
        return _dropped(input, p, inplace, shape) if training and p else input

    define("F", name=f"dropout{dims}d")(dropout)


for _dims in (1, 2, 3):
    _dropout_of_channels(_dims)
SATURATION = 1.7580993408473766  # the limit of -selu(x) for x -> -inf


def _alpha_dropout(input: Tensor, p: float, training: bool, inplace: bool, shape: Any) -> Tensor:
    """Alpha dropout: dropped elements become the least value of selu instead of 0; the result is
    scaled and shifted so that mean and variance do not change.
    """
    _check_chance(p)
    if calls.is_true(inplace):
        raise Unsupported("alpha_dropout(inplace=True)")
    if not training or p == 0:
        return input
    if p == 1:
        return call_operator("mul", input, 0.0)
    kind = input.data.dtype.type
    noise = _chances(input, p, shape)
    scale = ((SATURATION**2 * p + 1) * (1 - p)) ** -0.5
    moved = (noise - kind(1)) * kind(SATURATION * scale) + kind(SATURATION * scale * p)
    product = call_operator("mul", input, Tensor(noise * kind(scale), input.dtype))
    return call_operator("add", product, Tensor(moved, input.dtype))


@define("F", "torch")
def alpha_dropout(
    m: Machine, input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that preserves mean and variance."""
    return _alpha_dropout(input, p, training, inplace, input.shape)


@define("F", "torch")
def feature_alpha_dropout(
    m: Machine, input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout of channels that preserves mean and variance."""
    if input.ndim < 2:
        raise Unsupported("feature_alpha_dropout() of an input without channels")
    shape = (*input.shape[:2], *(1,) * (input.ndim - 2))
    return _alpha_dropout(input, p, training, inplace, shape)


@define("F")
def normalize(
    m: Machine, input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None
) -> Tensor:
    """The input divided by its norm along a dimension."""
    if out is not None:
        raise Unsupported("the argument out of normalize()")
    check_dims(input, dim)
    norm = calls.call("norm", [input, p, dim], {"keepdim": True}, method=True)
    least = calls.call("clamp_min", [norm, eps], {}, method=True)
    return arithmetic.binary("div", input, calls.call("expand_as", [least, input], {}, method=True))


# ---- warnings of defaults ------------------------------------------------------------------------

OF_CROSS = (
    "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim "
    "explicitly or simply use torch.linalg.cross.\nThe default value of dim will change to agree "
    "with that of linalg.cross in a future release. (Triggered internally at "
    "/__w/pytorch/pytorch/aten/src/ATen/native/Cross.cpp:63.)"
)
OF_GRIDS = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
    "Please specify align_corners=True if the old behavior is desired. See the documentation of "
    "grid_sample for details."
)


def _warns_of_default(name: str, argument: str, place: int, text: str, *modules: str) -> None:
    """Define a function that warns if an argument is not passed."""

    def function(m: Machine, *args: Any, **named: Any) -> Any:
        if len(args) <= place and named.get(argument) is None:
            m.warn(EXCEPTIONS["UserWarning"], text, once=name == "cross")
        return calls.call(name, args, named)

    define(*modules, name=name)(function)


_warns_of_default("cross", "dim", 2, OF_CROSS, "torch", "Tensor")
_warns_of_default("grid_sample", "align_corners", 4, OF_GRIDS, "F")
_warns_of_default("affine_grid", "align_corners", 2, OF_GRIDS, "F")


@define("torch", "Tensor")
def float_power(m: Machine, input: Any, exponent: Any) -> Tensor:
    """A power in double precision."""
    a, b = (cast(x, FLOAT64) if isinstance(x, Tensor) else x for x in (input, exponent))
    return arithmetic.binary("pow", a, b)


# ---- comparisons and settings --------------------------------------------------------------------


@define("torch", "Tensor")
def allclose(
    m: Machine,
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Whether all elements are close to each other."""
    if input.dtype is not other.dtype:
        a, b = input.dtype.scalar_name, other.dtype.scalar_name
        raise error("RuntimeError", f"{a} did not match {b}")
    check_broadcast(input, other)
    return bool(np.allclose(input.data, other.data, rtol, atol, equal_nan))


@define("torch", "Tensor")
def equal(m: Machine, input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are the same."""
    return input.shape == other.shape and bool((input.data == other.data).all())


@define("torch")
def is_tensor(m: Machine, obj: Any) -> bool:
    """Whether a value is a tensor."""
    return isinstance(obj, Tensor)


@define("torch")
def set_default_dtype(m: Machine, d: Any) -> None:
    """Set the dtype of new floating tensors."""
    kind = dtype_of(d)
    if not isinstance(kind, DType) or not kind.is_floating:
        what = "" if isinstance(kind, DType) else "invalid dtype object: "
        text = f"{what}only floating-point types are supported as the default type"
        raise error("TypeError", text)
    MODE.default_dtype = kind


@define("torch")
def set_default_device(m: Machine, device: Any) -> None:
    """Set the device of new tensors. Raises Unsupported for any device but the CPU."""
    if device is not None and device_of(device).type != "cpu":
        raise Unsupported("a default device other than the CPU")


@define("torch")
def set_default_tensor_type(m: Machine, t: Any) -> None:
    """Set the default dtype by a tensor type or its name (deprecated)."""
    name = t.rpartition(".")[2] if isinstance(t, str) else getattr(t, "name", "")
    kinds = {d.legacy: d for d in BY_NAME.values() if d.is_floating}
    if name not in kinds:
        raise Unsupported("torch.set_default_tensor_type() with this type")
    m.warn(EXCEPTIONS["UserWarning"], DEFAULT_TENSOR_TYPE)
    MODE.default_dtype = kinds[name]


@define("torch")
def get_default_dtype(m: Machine) -> Any:
    """The dtype of new floating tensors."""
    return MODE.default_dtype


@define("torch")
def set_printoptions(
    m: Machine,
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed."""
    from .printing import Options, options

    profiles = {
        "default": Options(),
        "short": Options(precision=2, edgeitems=2),
        "full": Options(threshold=float("inf")),
    }
    base = profiles[profile] if profile else options()
    changes: dict[str, Any] = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    chosen = base._replace(**{k: v for k, v in changes.items() if v is not None})
    MODE.print_options = chosen._replace(sci_mode=sci_mode)  # type: ignore[attr-defined]
