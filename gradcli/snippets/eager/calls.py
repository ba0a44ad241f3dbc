"""Calls PyTorch's functions by name, by means of gradcli's operators.

A call is translated once into a graph of operators, with placeholders for its tensors; the graph is
cached by their shapes and dtypes, and then computed operation by operation.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ...errors import MISUSES, GradcliError
from ...graphs import OPS, Node, Operator, Outputs, walk
from ...lazy import np
from ...operators import lookup
from ...operators.families import Shorthand
from ...operators.leaves import Array
from ..python.methods import TUPLE
from ..python.operations import plain
from ..python.values import Builtin, Class, Instance, Machine, Property, Unsupported, error
from . import (  # noqa: F401  (their checks)
    dimension_refusals,
    einsum_refusals,
    index_refusals,
    layer_refusals,
    matrix_refusals,
    plans,
    pools,
    same_dtypes,
)
from .apply import apply, cast, run_graph
from .autocast import autocast
from .checks import LONG_NAMES, check_broadcast_all, check_output_shape, dimension, refuse
from .dispatch import implements
from .dtypes import BOOL, KINDS, DType, result_type
from .grad_names import OUTPUTS, name_of_call
from .kernels import check_alpha, check_divisor, check_dtypes, check_masks, not_implemented
from .mode import MODE
from .promotion import as_tensor
from .single import COMPOSITES, fused_sum
from .tensor import Saved, Tensor, scalar, tensors_in
from .views import check_writable, has_repeats, lacks_batch, warn_of_repeats

MOST_CALLS = 4096
IGNORED = ("device", "requires_grad", "memory_format", "layout", "pin_memory", "non_blocking")


Names = tuple[str, ...]
_return_types: dict[tuple[str, Names], Class] = {}
_outputs_of: dict[Class, tuple[str, Names]] = {}  # class -> function, output names


def named_outputs(name: str, names: Names, values: Sequence[Any]) -> Instance:
    """The outputs of an operation that has several, as an instance of torch.return_types."""
    if (name, names) not in _return_types:
        cls = _return_types[name, names] = _return_type(name, names)
        _outputs_of[cls] = name, names
    return Instance(_return_types[name, names], payload=tuple(values))


def _return_type(name: str, names: Names) -> Class:
    """The class of these outputs in torch.return_types: a named tuple."""
    label = name.replace(".", "_")

    def text(m: Machine, self: Instance) -> str:
        parts = [f"{field}={m.repr(v)}" for field, v in zip(names, self.payload)]
        return f"torch.return_types.{label}(\n" + ",\n".join(parts) + ")"

    members: dict[str, Any] = {member: Builtin(member, text) for member in ("__repr__", "__str__")}
    for place, member in enumerate(names):
        get = Builtin(member, lambda m, self, place=place: self.payload[place])
        members[member] = Property(get)
    return Class(f"torch.return_types.{label}", (TUPLE,), members)


def of_linalg(result: Any) -> Any:
    """The outputs of an operation as the named tuple of torch.linalg, such as
    torch.return_types.linalg_eigh; other results unchanged.
    """
    outputs = _outputs_of.get(result.cls) if isinstance(result, Instance) else None
    if outputs is None or outputs[0].startswith("linalg_"):
        return result
    name, names = outputs
    return named_outputs(f"linalg_{name.removeprefix('linalg.')}", names, result.payload)


def known(name: str) -> bool:
    """Whether an operator has this name."""
    return lookup(name) is not None


@implements("function")
def call(name: str, args: Sequence[Any], named: Mapping[str, Any], *, method: bool = False) -> Any:
    """Call a function of PyTorch; if it is a method, its tensor is the first argument."""
    args = autocast(name, args)
    named = {k: v for k, v in named.items() if k not in IGNORED}
    dtype = named.pop("dtype", None)
    if isinstance(dtype, DType):
        args = [
            cast(a, dtype) if isinstance(a, Tensor) and a.dtype is not dtype else a for a in args
        ]
    args, inplace = _without_inplace(name, args, named)
    if inplace:
        return in_place(name, args[0], args[1:], named)
    refuse(name, args, named)
    called = (lookup(f"Tensor.{name}") if method else None) or lookup(name)
    if called is None:
        raise Unsupported(f"torch.{name}")
    args, named = _with_scalars(called, args, named)
    tensors = tensors_in([*args, *named.values()])
    graph, values = _graph(name, called, args, named, tensors, method)
    result = _computed(name, graph, values)
    if name in COMPOSITES and all(t.dtype.name == "float32" for t in tensors) and result.numel:
        arrays = [a.data if isinstance(a, Tensor) else a for a in args]
        options = {k: v.data if isinstance(v, Tensor) else v for k, v in named.items()}
        result.data[...] = COMPOSITES[name](*arrays, **options)
    if isinstance(called, Shorthand) and called.saved:
        _guard([result] if isinstance(result, Tensor) else result, called, args, named)
    if isinstance(dtype, DType) and isinstance(result, Tensor) and dtype.kind == "int":
        return cast(result, dtype)
    return result


INPLACE_AT = {  # the position of `inplace` among the arguments
    **dict.fromkeys(("relu", "relu6", "selu", "silu", "mish", "hardswish", "hardsigmoid"), 1),
    **{"leaky_relu": 2, "elu": 2, "celu": 2, "hardtanh": 3, "threshold": 3},
}


def _without_inplace(
    name: str, args: Sequence[Any], named: dict[str, Any]
) -> tuple[Sequence[Any], bool]:
    """The arguments without `inplace`, and whether it is set."""
    inplace = named.pop("inplace", False)
    place = INPLACE_AT.get(name, len(args))
    if place < len(args):
        args, inplace = args[:place], args[place]
    return args, is_true(inplace)


def is_true(value: Any) -> bool:
    """Whether a flag is set; a program may also pass a tensor for one."""
    if isinstance(value, Tensor) and value.numel > 1:
        text = "Boolean value of Tensor with more than one value is ambiguous"
        raise error("RuntimeError", text)
    return bool(value.data if isinstance(value, Tensor) else value)


def _with_scalars(
    called: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]]:
    """The arguments, with numbers in place of tensors for scalar parameters such as `alpha`."""
    names = ("alpha", *called.attributes) if isinstance(called, Operator) else ("alpha",)
    places = called.positional if isinstance(called, Operator) else ()
    if any(isinstance(a, Tensor) and n in names for a, n in zip(args, places)):
        first = [scalar(a) if n in names else a for a, n in zip(args, places)]
        args = [*first, *args[len(first) :]]
    return args, {k: scalar(v) if k in names else v for k, v in named.items()}


def _guard(
    outputs: Sequence[Tensor], called: Shorthand, args: Sequence[Any], named: Mapping[str, Any]
) -> None:
    """Register the tensors that PyTorch saves for an operation: a backward pass raises if they were
    changed, and frees them afterwards.
    """
    if called.saved_dtype not in (None, outputs[0].dtype.name):
        return
    tensors = [t for t in called.saved_of(args, named) if isinstance(t, Tensor)]
    records = [o.record for o in outputs if o.record is not None]
    for record in records:
        record.fused_with = records
        record.guards += [] if MODE.saved_hooks else [Saved(t) for t in tensors]


BROADCAST = ("add", "sub", "mul", "div", "pow", "remainder", "maximum", "minimum")
ALIASES = ("t", "T")  # these return a view of a vector, not the vector itself
_graphs: dict[Any, tuple[Any, list[Node]]] = {}


def _graph(
    name: str,
    called: Callable[..., Any],
    args: Sequence[Any],
    named: Mapping[str, Any],
    tensors: Sequence[Tensor],
    method: bool,
) -> tuple[Any, dict[Node, Any]]:
    """The graph of a call, and the tensor of each of its leaves."""
    reads_numbers = not isinstance(called, Operator) and bool(getattr(called, "concrete", False))
    key = None if reads_numbers else _key(name, args, named, method)
    entry = _graphs.get(key) if key is not None else None
    if entry is None:
        places = {id(t): k for k, t in enumerate(tensors)}
        leaves = [plans.leaf(k, t.shape, t.dtype.kind) for k, t in enumerate(tensors)]
        stand_in = _StandIns(called, places, leaves)
        try:
            graph = stand_in.call(args, named)
        except GradcliError as failure:
            elementwise = isinstance(called, Operator) and called.family == "elementwise"
            if elementwise or name in BROADCAST:
                check_broadcast_all(tensors)
            _check_dimension(failure.message)
            raise Unsupported(f"{name}(): {failure.message}") from failure
        except MISUSES as failure:
            raise Unsupported(f"these arguments of {name}()") from failure
        entry = graph, leaves
        if key is not None:
            if len(_graphs) >= MOST_CALLS:
                _graphs.clear()
            _graphs[key] = entry
    return entry[0], dict(zip(entry[1], tensors))


NO_DIMENSION = re.compile(r"dimension (-?\d+) is out of range for a tensor with (\d+)")


def _check_dimension(message: str) -> None:
    """Raise PyTorch's IndexError if a message of gradcli reports a dimension out of range."""
    match = NO_DIMENSION.match(message)
    if match:
        dimension(*map(int, match.groups()))


PLAIN_KEYS = frozenset({int, float, bool, str, type(None)})


class Unkeyed(Exception):
    """An argument that cannot be part of a cache key."""


def _key(name: str, args: Sequence[Any], named: Mapping[str, Any], method: bool) -> Any:
    """The cache key of a call's graph; None if an argument cannot be part of one."""
    seen: dict[int, int] = {}

    def part(value: Any) -> Any:
        value = plain(value)
        if isinstance(value, Tensor):
            place = seen.setdefault(id(value), len(seen))
            return "tensor", place, value.shape, value.dtype.kind
        if isinstance(value, list | tuple):
            return type(value).__name__, tuple(map(part, value))
        if type(value) in PLAIN_KEYS:
            return type(value), value, value == 0 and repr(value)  # distinguishes 0.0 and -0.0
        if isinstance(value, slice | DType) or value is Ellipsis:
            return type(value), repr(value)
        raise Unkeyed

    try:
        return name, method, tuple(map(part, args)), tuple((k, part(v)) for k, v in named.items())
    except Unkeyed:
        return None


class _StandIns:
    """Calls an operation with graph leaves in place of its tensors. `places` maps the id of a
    tensor to the position of its leaf in `leaves`.
    """

    def __init__(self, called: Any, places: Mapping[int, int], leaves: Sequence[Node]):
        self.called, self.places, self.leaves = called, places, leaves
        self.concrete = getattr(called, "concrete", ()) if not isinstance(called, Operator) else ()

    def call(self, args: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """The graph of the call."""
        names = (*self.called.positional, *(None,) * len(args))
        tensors = [self.value(a, n) for a, n in zip(args, names)]
        options = {k: self.value(v, k) for k, v in named.items()}
        if isinstance(self.called, Operator):
            return self.called.call(tensors, options)
        return self.called(*tensors, **options)

    def value(self, value: Any, name: str | None) -> Any:
        """One argument, with leaves in place of tensors."""
        value = plain(value)
        if isinstance(value, Tensor):
            if name in self.concrete:
                return int(value.data) if value.ndim == 0 else Array(value.data)
            return self.leaves[self.places[id(value)]]
        if isinstance(value, list | tuple):
            return tuple(self.value(v, name) for v in value)
        if isinstance(value, bool | int | float | str | slice | None):
            return value
        raise Unsupported(f"an argument of the type {type(value).__name__.lower()}")


def _computed(name: str, graph: Any, values: dict[Node, Any]) -> Any:
    """The tensors that a graph computes from `values`, which maps its leaves to tensors."""
    if isinstance(graph, Node):
        if name in ALIASES and graph in values:
            source = values[graph]
            return apply(
                OPS["reshape"], [source], {"shape": source.shape}, name=name_of_call(name, graph)
            )
        run_graph([graph], values, {graph: name_of_call(name, graph)})
        return as_tensor(values[graph], MODE.default_dtype)
    if isinstance(graph, Outputs):
        for place, node in enumerate(graph):
            names = OUTPUTS.get(name, ())
            run_graph([node], values, {node: names[place]} if place < len(names) else {})
        results = [values[n] for n in graph]
        return named_outputs(name, tuple(graph.names), results) if graph.names else tuple(results)
    if isinstance(graph, list | tuple):
        return tuple(_computed(name, part, values) for part in graph)
    return graph


# functions that still read operands while they write the result: in place, this matters
SUMS_OF_PRODUCTS = ("addmm", "addmv", "baddbmm", "addbmm")
MAY_REPEAT = (
    "masked_fill",
    "index_fill",
    "index_put",
    "threshold",
)  # may write expanded tensors


def in_place(name: str, target: Tensor, args: Sequence[Any], named: Mapping[str, Any]) -> Tensor:
    """The in-place method `target.name_(...)`: the result of `name`, written into the target."""
    _check_in_place(name, target, args, named)
    called = lookup(f"Tensor.{name}") or lookup(name)
    if called is None:
        raise Unsupported(f"Tensor.{name}_")
    args, named = _with_scalars(called, args, named)
    check_alpha([target, *args], named.get("alpha"))
    tensors = tensors_in([target, *args, *named.values()])
    graph, values = _graph(name, called, [target, *args], named, tensors, True)
    if not isinstance(graph, Node):
        raise Unsupported(f"Tensor.{name}_")
    numbers = [a for a in (*args, *named.values()) if isinstance(a, bool | int | float)]
    check_result(name, target, graph, [*tensors, *numbers])
    inner = [i for i in graph.inputs if i is not None and i not in values]
    run_graph(inner, values)
    inputs = [None if i is None else values[i] for i in graph.inputs]
    if graph in values or graph.op.family == "leaf":
        raise Unsupported(f"Tensor.{name}_")
    value = _with_alpha(name, target, args, named.get("alpha", 1))
    record_name = GRAD_FN_BY_RESULT.get(name) or name_of_call(name, graph)
    apply(graph.op, inputs, graph.attrs, name=record_name, into=target, value=value)
    if name in GRAD_FN_BY_RESULT and target.record is not None:
        _keep_result(name, target, graph)
    return target


GRAD_FN_BY_RESULT = {  # grad_fns of in-place operations that PyTorch differentiates by their result
    "leaky_relu": "LeakyReluBackward1",
    "celu": "CeluBackward1",
    "threshold": "ThresholdBackward1",
    **dict.fromkeys(("elu", "selu"), "EluBackward1"),
}


def _keep_result(name: str, target: Tensor, graph: Node) -> None:
    """Register the result of an in-place operation as saved; refuse leaky_relu_ with a negative
    slope, which is not invertible.
    """
    if name == "leaky_relu" and graph.attrs.get("negative_slope", 0) < 0:
        raise Unsupported(
            "leaky_relu_() with negative_slope < 0 on a tensor that requires a gradient"
        )
    record = target._record
    if record is not None and target.view is None and not MODE.saved_hooks:
        record.guards.append(Saved(target, record))


def _check_in_place(
    name: str, target: Tensor, args: Sequence[Any], named: Mapping[str, Any]
) -> None:
    """Raise PyTorch's error if it refuses an in-place operation."""
    if MODE.transforms and lacks_batch(target, args):
        raise Unsupported(f"{name}_() inside vmap() on a tensor without the mapped dimension")
    if args and args[0] is None and name in ("add", "sub", "mul", "div"):
        text = f"{name}_(): argument 'other' (position 1) must be Tensor, not NoneType"
        raise error("TypeError", text)
    repeats = name in MAY_REPEAT
    others = tensors_in(args[:1] if name == "masked_fill" else args)
    if name in SUMS_OF_PRODUCTS and any(np.shares_memory(target.data, t.data) for t in others):
        raise Unsupported(f"{name}_() on a tensor that is also one of its factors")
    check_writable(target, others, repeats=repeats, called=_overload(name, args or named))
    if name == "index_put" and has_repeats(target):
        raise Unsupported("index_put_() on an expanded tensor")  # the order of writes is not known
    warn_of_repeats(target, f"{name}_")
    refuse(name, [target, *args], named)
    if name == "sub" and args:
        check_masks(target, args[0])
    if name in ("cumsum", "cumprod") and target.dtype is BOOL:
        raise not_implemented(f"{name}_out_cpu", BOOL)
    if name in ("remainder", "fmod") and args:
        check_dtypes(name, [target, *args])
        check_divisor(target, args[0])


def _overload(name: str, arguments: Collection[Any]) -> str:
    """PyTorch's name of an in-place operation, such as add_.Tensor; "" if it is not known."""
    if name in ("add", "sub", "mul", "div"):
        return f"{name}_.Tensor"
    return "" if arguments else f"{name}_"


def _with_alpha(name: str, target: Tensor, args: Sequence[Any], alpha: Any) -> Any:
    """The array of `target.add_(other, alpha=...)` in float32, rounded once; else None."""
    if alpha == 1 or name not in ("add", "sub") or len(args) != 1:
        return None
    operands = (target, args[0])
    if not all(isinstance(t, Tensor) and t.dtype.name == "float32" for t in operands):
        return None
    return fused_sum(name, target.data, args[0].data, alpha)


def check_result(name: str, target: Tensor, graph: Node, operands: Sequence[Any]) -> None:
    """Raise PyTorch's error if a result does not fit the shape or dtype of its target."""
    check_output_shape(target, graph.shape)
    result = result_type(list(operands), MODE.default_dtype)
    if graph.dtype == "float" and not result.is_floating:
        result = MODE.default_dtype
    if graph.dtype == "float" or result.kind == graph.dtype:
        check_kind(target, result, name)


def check_kind(target: Tensor, result: DType, name: str = "") -> None:
    """Refuse a result of the in-place function `name` that cannot be cast to the target's dtype."""
    if KINDS.index(result.kind) <= KINDS.index(target.dtype.kind):
        return
    kind = LONG_NAMES[target.dtype.name] if name.startswith("clamp") else target.dtype.scalar_name
    raise error(
        "RuntimeError",
        f"result type {result.scalar_name} can't be cast to the desired output type {kind}",
    )


def numbers_of(value: Any) -> Any:
    """A tensor's array, or any other value converted to an array."""
    return value.data if isinstance(value, Tensor) else np.asarray(value)


def leaves_of(roots: Sequence[Node]) -> list[Node]:
    """The leaves of a graph."""
    return [n for n in walk(roots) if n.op.name == "input"]
