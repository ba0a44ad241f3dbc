"""PyTorch's errors for arguments that are not tensors where a function takes only tensors.

Knows the functions that people call with numbers, lists, arrays and None, and the message of each.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...graphs import OPS, Operator
from ...operators import lookup
from ..python.values import Machine, error
from .tensor import Tensor

TAKE_TENSORS = frozenset((  # and all elementwise functions
    *("sum", "mean", "prod", "median", "mode", "argmax", "argmin", "cumsum", "cumprod"),
    *("logsumexp", "softmax", "log_softmax", "sort", "argsort", "topk", "kthvalue", "amax", "amin"),
    *("matmul", "mm", "mv", "dot", "bmm", "outer", "inner", "det", "inverse", "diag", "trace"),
    *("tril", "triu", "transpose", "t", "permute", "reshape", "flatten", "squeeze", "unsqueeze"),
    *("gather", "index_select", "masked_select", "take", "roll", "flip", "clone", "detach"),
    *("ones_like", "zeros_like", "rand_like", "randn_like", "full_like", "numel", "isclose"),
    *("maximum", "minimum", "atan2", "allclose", "addmm", "dist", "vdot", "cross", "mul", "histc"),
    *("round", "unbind", "bincount", "masked_fill", "scatter", "scatter_add", "nan_to_num"),
))  # fmt: skip
SECOND_ARGUMENTS = {  # the names of second arguments
    **{"matmul": "other", "inner": "other", "maximum": "other", "minimum": "other"},
    **{"atan2": "other", "mm": "mat2", "bmm": "mat2", "mv": "vec", "dot": "tensor"},
    **{"outer": "vec2", "dist": "other", "vdot": "other"},
}
OVERLOADED = ("mm", "bmm")  # the error depends on which argument is missing
JOINING = ("hstack", "vstack", "dstack", "column_stack", "row_stack")  # take a list of tensors
OF_SEVERAL = ("block_diag", "cartesian_prod", "broadcast_tensors", "meshgrid")  # take *tensors
AT_LEAST = ("atleast_1d", "atleast_2d", "atleast_3d")  # take a tensor, or a list of tensors
NN_FUNCTIONS = frozenset((
    *("linear", "relu", "gelu", "silu", "softplus", "leaky_relu", "elu", "dropout", "mish"),
    *("selu", "celu", "one_hot", "hardtanh", "relu6"),
))  # fmt: skip
LINALG = {  # the names of first arguments in torch.linalg
    name: argument
    for argument, names in {
        "A": "det diagonal inv lu lu_factor qr slogdet solve svd svdvals",
        "input": "cholesky cond cross eig eigh eigvals eigvalsh lstsq matmul matrix_exp "
        "matrix_norm matrix_power norm solve_triangular tensorinv tensorsolve vector_norm",
        "x": "vander vecdot",
    }.items()
    for name in names.split()
}
METHODS = ("softmax", "log_softmax", "sigmoid", "tanh")  # functions that call their input's method
COMPARE_SIZES = (  # functions that call size() of the target first, and then of the input
    *("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy"),
    "binary_cross_entropy_with_logits",
)
INNER = {"cross_entropy": "cross_entropy_loss", "nll_loss": "nll_loss_nd"}


def check_tensors(
    m: Machine, path: str, name: str, args: Sequence[Any], named: Mapping[str, Any]
) -> None:
    """Refuse arguments that are not tensors. Raises the program's TypeError or AttributeError."""
    if path == "torch":
        if name in ("max", "min") and len(args) == 2 and not isinstance(args[0], Tensor):
            raise _no_combination(m, name, args)
        if not isinstance(args[0], Tensor) and (name in TAKE_TENSORS or _of_elements(name)):
            raise _no_tensor(m, name, "input", 1, args[0])
        if len(args) == 1 and name in SECOND_ARGUMENTS and name not in OVERLOADED and not named:
            text = f'{name}() missing 1 required positional arguments: "{SECOND_ARGUMENTS[name]}"'
            raise error("TypeError", text)
        if len(args) > 1 and name in SECOND_ARGUMENTS and not isinstance(args[1], Tensor):
            raise _no_tensor(m, name, SECOND_ARGUMENTS[name], 2, args[1])
        if name in JOINING:
            tensor_list(m, args[0], name)
        elif name in OF_SEVERAL:
            listed = name == "meshgrid" and isinstance(args[0], list | tuple)
            tensor_list(m, args[0] if listed else args, name)
        elif name in AT_LEAST and not isinstance(args[0], Tensor):
            if not isinstance(args[0], list | tuple):
                raise no_overload(m, name, args, [("Tensor input",), ("tuple of Tensors tensors",)])
            if args[0]:
                tensor_list(m, args[0], name)
        if name == "norm" and not isinstance(args[0], Tensor):
            raise _no_attribute(m, args[0], "layout")
    elif path == "torch.linalg":
        if name in LINALG and not isinstance(args[0], Tensor):
            raise _no_tensor(m, f"linalg_{name}", LINALG[name], 1, args[0])
    elif path == "torch.nn.functional":
        if len(args) == 1 and name in TARGETED and "target" not in named:
            text = f"{name}() missing 1 required positional argument: 'target'"
            raise error("TypeError", text)
        _check_network(m, name, args)
        if name in LOSSES:
            _check_reduction(name, named.get("reduction", "mean"))


TARGETED = (*COMPARE_SIZES, *INNER, "kl_div")
LOSSES = (*TARGETED, "cosine_embedding_loss", "margin_ranking_loss")


NO_LISTS = (
    *("dict", "dict_values", "dict_keys", "dict_items", "set", "generator", "map", "zip"),
    *("collections.deque", "NoneType", "bool", "int", "float"),
)


def tensor_list(m: Machine, tensors: Any, name: str) -> list[Tensor]:
    """The items of `tensors`, the argument of a function that joins tensors, such as cat. Raises
    PyTorch's error if it is no list or tuple of tensors.
    """
    kind = m.class_of(tensors).shown
    if isinstance(tensors, Tensor) or kind in NO_LISTS:
        text = f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {kind}"
        raise error("TypeError", text)
    parts = list(m.iterate(tensors))
    for place, part in enumerate(parts):
        if not isinstance(part, Tensor):
            kind = m.class_of(part).name
            text = f"expected Tensor as element {place} in argument 0, but got {kind}"
            raise error("TypeError", text)
    if not parts and name.startswith(("cat", "concat")):
        raise error("ValueError", "torch.cat(): expected a non-empty list of Tensors")
    if not parts:
        text = f"{name.replace('row_stack', 'vstack')} expects a non-empty TensorList"
        raise error("RuntimeError", text)
    return parts


def _check_reduction(name: str, reduction: Any) -> None:
    valid = ("none", "mean", "sum", "elementwise_mean")
    if reduction not in valid:
        if name == "kl_div" and reduction == "batchmean":
            return
        raise error("ValueError", f"{reduction} is not a valid value for reduction")


def _check_network(m: Machine, name: str, args: Sequence[Any]) -> None:
    if name in COMPARE_SIZES and len(args) > 1:
        for value in (args[1], args[0]):
            if not isinstance(value, Tensor):
                raise _no_attribute(m, value, "size")
    if name == "embedding" and not isinstance(args[0], Tensor):
        raise _no_tensor(m, name, "indices", 2, args[0])
    if name in INNER:
        for place, argument in enumerate(("input", "target", "weight")[: len(args)]):
            if not isinstance(args[place], Tensor) and (place < 2 or args[place] is not None):
                raise _no_tensor(m, INNER[name], argument, place + 1, args[place])
    if isinstance(args[0], Tensor):
        return
    if name in NN_FUNCTIONS:
        raise _no_tensor(m, name, "input", 1, args[0])
    if name in METHODS:
        raise _no_attribute(m, args[0], name)


def _of_elements(name: str) -> bool:
    """Whether a function is elementwise, with a single tensor."""
    result = lookup(name)
    return (
        isinstance(result, Operator)
        and result.family == "elementwise"
        and len(result.inputs) == 1
        and result.positional[0] == result.inputs[0]
        and result.name in OPS
    )


def _no_combination(m: Machine, name: str, args: Sequence[Any]) -> Exception:
    """PyTorch's error for torch.max(0, x): no overload takes a number and a tensor."""
    inputs = ("", ", Tensor other", ", int dim, bool keepdim = False")
    outs = ("Tensor out", "Tensor out", "tuple of Tensors out")
    signatures = [f"(Tensor input{i}, *, {o} = None)" for i, o in zip(inputs, outs)]
    return no_overload(m, name, args, signatures)


WHERE = (  # strings are signatures that are listed without the reason of the mismatch
    "(Tensor condition)",
    "(Tensor condition, Tensor input, Tensor other, *, Tensor out = None)",
    ("Tensor condition", "Number self", "Tensor other"),
    ("Tensor condition", "Tensor input", "Number other"),
    ("Tensor condition", "Number self", "Number other"),
)
WHERE_OF = (("Tensor condition", "Tensor other"), ("Tensor condition", "Number other"))


def check_where(m: Machine, args: Sequence[Any], *, method: bool = False) -> None:
    """Refuse arguments of torch.where, or x.where, that are neither tensors nor numbers."""
    condition, *others = args
    if not (others or isinstance(condition, Tensor)):
        raise _no_tensor(m, "where", "condition", 1, condition)
    fit = isinstance(condition, Tensor) and all(
        isinstance(other, Tensor | bool | int | float) for other in others
    )
    if not fit or len(others) not in ((1,) if method else (0, 2)):
        raise no_overload(m, "where", args, WHERE_OF if method else WHERE)


def no_overload(
    m: Machine,
    name: str,
    args: Sequence[Any],
    signatures: Sequence[str | tuple[str, ...]],
    named: Mapping[str, Any] = MappingProxyType({}),
) -> Exception:
    """PyTorch's error for arguments that match no overload."""
    lines = [f"{mismatch_text(m, name, args, named)}, but expected one of:"]
    for wanted in signatures:
        lines.append(f" * {wanted}" if isinstance(wanted, str) else f" * ({', '.join(wanted)})")
        if not isinstance(wanted, str) and len(wanted) == len(args) + len(named):
            why = _unmatched(m, wanted, args, named)
            lines.append(f"      didn't match because some of the {why}")
    return error("TypeError", "\n".join(lines) + "\n")


def mismatch_text(m: Machine, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> str:
    """The start of a message that lists the types of the arguments that were passed."""
    by_name = (f"{k}={kind_of(m, named[k])}" for k in named)
    kinds = ", ".join([*(kind_of(m, a) for a in args), *by_name])
    kinds += ", " if named and not args else ""
    return f"{name}() received an invalid combination of arguments - got ({kinds})"


def _unmatched(
    m: Machine, wanted: Sequence[str], args: Sequence[Any], named: Mapping[str, Any]
) -> str:
    """The part of a message that says which arguments do not match a signature. PyTorch takes the
    last word of a parameter for its name: None for `Tensor min = None`, of type `Tensor min =`.
    """
    known = [w.rpartition(" ")[2] for w in wanted]
    wrong = [n for n in named if n not in known[len(args) :]]
    if wrong:
        return f"keywords were incorrect: {', '.join(wrong)}"
    marked = [_marked(m, k, a) for k, a in zip(wanted, args)]
    rest = zip(wanted[len(args) :], named.items())
    marked += [_marked(m, k, v, f"{n}=") for k, (n, v) in rest]
    end = ", " if named and not args else ""
    return f"arguments have invalid types: ({', '.join(marked)}{end})"


def _marked(m: Machine, wanted: str, value: Any, name: str = "") -> str:
    """The type of an argument, between exclamation marks if PyTorch reports it as mismatched, as it
    always does for a parameter that accepts several types, such as Number.
    """
    kind = wanted.rpartition(" ")[0]
    actual = kind_of(m, value)
    if actual == kind or (kind == "float" and actual == "int"):
        return name + actual
    return f"!{name}{_described(m, value)}!"


def _described(m: Machine, value: Any) -> str:
    inner = ", ".join(kind_of(m, v) for v in value) if isinstance(value, list | tuple) else ""
    if isinstance(value, tuple):
        return f"tuple of ({inner}{',' if len(value) == 1 else ''})"
    return f"list of [{inner}]" if isinstance(value, list) else kind_of(m, value)


def kind_of(m: Machine, value: Any) -> str:
    """PyTorch's name for the type of a value."""
    kind = m.class_of(value).name
    return IN_MODULES.get(kind, kind)


IN_MODULES = {
    **{name: f"torch.{name}" for name in ("dtype", "device", "Size")},
    "ndarray": "numpy.ndarray",
}


def _no_tensor(m: Machine, name: str, argument: str, place: int, value: Any) -> Exception:
    kind = kind_of(m, value)
    text = f"{name}(): argument '{argument}' (position {place}) must be Tensor, not {kind}"
    return error("TypeError", text)


def _no_attribute(m: Machine, value: Any, attribute: str) -> Exception:
    if attribute == "size" and m.class_of(value).name == "numpy.ndarray":
        return error("TypeError", "'int' object is not callable")  # size() gives a number
    text = f"'{m.class_of(value).name}' object has no attribute '{attribute}'"
    return error("AttributeError", text)
