"""torch.autograd, and the switches no_grad, enable_grad, inference_mode, detect_anomaly."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...graphs import Node
from ..python.objects import Function, Generator
from ..python.values import (
    EXCEPTIONS,
    Builtin,
    Class,
    Instance,
    Machine,
    Object,
    Property,
    Unsupported,
    Wrapper,
    error,
)
from . import calls, engine, indexing
from .grad_names import OURS
from .mode import MODE
from .printing import size
from .records import detached_copy, rename, shown, zeros_like
from .tables import TABLES, define
from .tensor import FREED, LABELS, RECORD, Accumulator, Edge, Record, Saved, Tensor, record_class
from .transforms import refuse_backward

CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter "
    "and its gradient which can cause a memory leak. We recommend using autograd.grad when "
    "creating the graph to avoid this. If you have to use this function, make sure to reset the "
    ".grad fields of your parameters to None after use to break the cycle and avoid the leak. "
    "(Triggered internally at /__w/pytorch/pytorch/torch/csrc/autograd/engine.cpp:1307.)"
)
UNUSED = (
    "The differentiated Tensor at index {place} appears to not have been used in the graph. Set "
    "allow_unused=True if this is the desired behavior."
)


class Handle(Object):
    """torch.utils.hooks.RemovableHandle: removes a hook."""

    __slots__ = ("hook", "hooks")
    cls = Class("RemovableHandle", module="torch.utils.hooks")

    def __init__(self, hooks: list[Any], hook: Any):
        self.hooks, self.hook = hooks, hook


def _remove(m: Machine, self: Handle) -> None:
    if self.hook in self.hooks:
        self.hooks.remove(self.hook)


def _number(m: Machine, self: Handle) -> int:
    raise Unsupported("the id of a hook's handle")


Handle.cls.members |= {
    "remove": Builtin("remove", _remove),
    "id": Property(Builtin("id", _number)),
    "__enter__": Builtin("__enter__", lambda m, self: self),
    "__exit__": Builtin("__exit__", lambda m, self, *_: _remove(m, self)),
}


def as_list(m: Machine, value: Any) -> list[Any]:
    """A list of tensors, from one tensor or from an iterable of them."""
    return [value] if isinstance(value, Tensor) or _edge_in(value) else list(m.iterate(value))


def _seeds(m: Machine, outputs: Sequence[Tensor], grad_outputs: Any) -> list[Tensor | None]:
    """The upstream gradients that are passed for the outputs."""
    if grad_outputs is None:
        return [None] * len(outputs)
    seeds = as_list(m, grad_outputs)
    for seed in seeds:
        if seed is not None and not isinstance(seed, Tensor):
            kind = m.class_of(seed).name.rpartition(".")[2]
            text = f"gradients can be either Tensors or None, but got {kind}"
            raise error("TypeError", text)
    if len(seeds) != len(outputs):
        text = f"got {len(outputs)} tensors and {len(seeds)} gradients"
        raise error("RuntimeError", text)
    return seeds


@define("autograd", name="backward")
def backward(
    m: Machine,
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add gradients to the .grad of leaves."""
    refuse_backward()
    if grad_variables is not None:
        if grad_tensors is not None:
            raise error(
                "RuntimeError",
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
                "`backward()`. Please only use `grad_tensors`.",
            )
        grad_tensors = grad_variables
    wanted = None if inputs is None else as_list(m, inputs)
    if wanted is not None and not wanted:
        raise error("RuntimeError", "`inputs` argument to `backward()` cannot be empty.")
    outputs = as_list(m, tensors)
    roots = engine.outputs_and_seeds(outputs, _seeds(m, outputs, grad_tensors))
    keep = create_graph if retain_graph is None else retain_graph
    edges = None if wanted is None else [_edge_of(t, "backward") for t in wanted]
    for tensor in wanted or ():
        retain(tensor)
    if create_graph:
        m.warn(EXCEPTIONS["UserWarning"], CYCLE)
    finished = observe(m, outputs, roots, wanted, "backward")
    engine.go_back(m, roots, keep=bool(keep), create_graph=create_graph, wanted=edges)
    finished(())


def retain(tensor: Any) -> None:
    """Keep the gradient of a tensor that is not a leaf, as retain_grad() does."""
    if isinstance(tensor, Tensor) and tensor.record is not None:
        tensor.retains_grad = True
        tensor.record.retained[tensor.output] = tensor


def observe(
    m: Machine, outputs: Any, roots: Any, wanted: Any, kind: str
) -> Callable[[Sequence[Tensor | None]], None]:
    """Report the start of a backward pass to MODE.on_backward, if it is set. Returns the function
    to call at the end with the gradients of the `wanted` tensors.
    """
    watcher = getattr(MODE, "on_backward", None)
    if watcher is None:
        return lambda gradients: None
    return watcher(m, outputs, [seed for _, seed in roots], wanted, kind)


def _edge_in(value: Any) -> Edge | None:
    """The edge of a GradientEdge that the program passes; None for any other value."""
    parts = getattr(value, "payload", None)
    if isinstance(parts, tuple) and len(parts) == 3 and isinstance(parts[0], Record | Accumulator):
        return Edge(parts[0], parts[1])
    return None


def _edge_of(tensor: Any, called: str) -> Edge:
    edge = tensor.edge if isinstance(tensor, Tensor) else _edge_in(tensor)
    if edge is None and called == "backward" and not tensor.requires_grad:
        text = "can't retain_grad on Tensor that has requires_grad=False"
        raise error("RuntimeError", text)
    if edge is None and not (isinstance(tensor, Tensor) and tensor.requires_grad):
        raise error("RuntimeError", "One of the differentiated Tensors does not require grad")
    return edge or Edge(Accumulator(tensor), 0)  # a view without a grad_fn


@define("autograd", name="grad")
def grad(
    m: Machine,
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...] | dict[Any, Any]:
    """The gradients of outputs with respect to inputs; by name where the inputs are a dict."""
    if materialize_grads and allow_unused is False:
        raise error("ValueError", MATERIALIZED)
    if isinstance(inputs, dict):
        answers = grad(
            *(m, outputs, list(inputs.values()), grad_outputs, retain_graph, create_graph),
            *(only_inputs, allow_unused, is_grads_batched, materialize_grads),
        )
        return dict(zip(inputs, answers, strict=True))
    if isinstance(inputs, Instance) and isinstance(inputs.payload, dict):  # such as an OrderedDict
        text = f"`inputs` argument to `grad()` must be a dict, not {inputs.cls.name}. "
        raise error("TypeError", f"{text}Other Mapping types are not supported.")
    if not only_inputs:
        m.warn(EXCEPTIONS["UserWarning"], ONLY_INPUTS)
    results, wanted = as_list(m, outputs), as_list(m, inputs)
    _check_inputs(m, wanted)
    keep = create_graph if retain_graph is None else retain_graph
    seeds = _seeds(m, results, grad_outputs)
    if is_grads_batched:
        return _batched(m, results, wanted, seeds, keep, create_graph, allow_unused)
    gradients = _captured(m, results, wanted, seeds, bool(keep), create_graph)
    if materialize_grads:
        gradients = [_materialized(t, g, create_graph) for t, g in zip(wanted, gradients)]
    elif not allow_unused and None in gradients:
        raise error("RuntimeError", UNUSED.format(place=gradients.index(None)))
    return tuple(None if g is None else unaliased(g) for g in gradients)


def _captured(
    m: Machine,
    outputs: Sequence[Tensor],
    wanted: Sequence[Any],
    seeds: Sequence[Tensor | None],
    keep: bool,
    create_graph: bool,
) -> list[Tensor | None]:
    """The gradients of the `wanted` tensors, computed by a backward pass that adds to no .grad."""
    roots = engine.outputs_and_seeds(outputs, seeds)
    edges = [_edge_of(t, "grad") for t in wanted]
    finished = observe(m, outputs, roots, wanted, "grad")
    captured = engine.go_back(
        m, roots, keep=keep, create_graph=create_graph, wanted=edges, accumulate=False
    )
    gradients = [captured[edge] for edge in edges]
    finished(gradients)
    return gradients


def _materialized(tensor: Tensor, answer: Any, create_graph: bool) -> Any:
    """A gradient, or zeros if none flows to the tensor."""
    if answer is not None:
        return answer
    zeros = zeros_like(tensor)
    zeros.requires_grad = create_graph
    return zeros


def _check_inputs(m: Machine, inputs: Sequence[Any]) -> None:
    """Refuse an empty list of inputs, and inputs that are neither tensors nor GradientEdges."""
    for tensor in inputs:
        if not isinstance(tensor, Tensor) and _edge_in(tensor) is None:
            kind = m.class_of(tensor).name
            text = f"all inputs have to be Tensors or GradientEdges, but got {kind}"
            raise error("RuntimeError", text)
    if not inputs:
        raise error("RuntimeError", "`inputs` argument to `grad()` cannot be empty.")


MATERIALIZED = (
    "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
    "allow_unused=False."
)
ONLY_INPUTS = (
    "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate "
    "gradient for other parts of the graph, please use torch.autograd.backward."
)


def unaliased(gradient: Tensor) -> Tensor:
    """A gradient that the program may modify: a copy, unless the gradient has a graph itself."""
    return gradient if gradient.requires_grad else detached_copy(gradient)


def _batched(
    m: Machine,
    outputs: Sequence[Tensor],
    wanted: Sequence[Tensor],
    seeds: Sequence[Tensor | None],
    keep: bool | None,
    create_graph: bool,
    allow_unused: bool | None,
) -> tuple[Any, ...]:
    """Gradients for each row of the seeds, stacked: is_grads_batched=True."""
    for place, (output, seed) in enumerate(zip(outputs, seeds)):
        if seed is not None and seed.shape[1:] != output.shape:
            shapes = size(seed.shape[2:]), size(output.shape)  # as PyTorch's message shows it
            raise error("RuntimeError", BATCHED.format(place, *shapes))
    count = seeds[0].shape[0] if seeds and seeds[0] is not None else 0
    rows = []
    for k in range(count):
        row = [None if s is None else indexing.get(s, k) for s in seeds]
        keep_row = bool(keep) or k + 1 < count
        rows.append(
            grad(m, list(outputs), list(wanted), row, keep_row, create_graph, True, allow_unused)
        )
    return tuple(None if column[0] is None else _stacked(column) for column in zip(*rows))


def _stacked(column: Sequence[Tensor]) -> Tensor:
    """The gradients for all rows; PyTorch computes them at once, with another grad_fn."""
    stacked = calls.call("stack", [list(column)], {})
    OURS.add("Batched")
    rename(stacked, "Batched")
    return stacked


BATCHED = (
    "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the "
    "batch dimension. The sizes of the remaining dimensions are expected to match the shape of "
    "corresponding output, but a mismatch was detected: grad_output[{0}] has a shape of "
    "{1} and output[{0}] has a shape of {2}. If "
    "you only want some tensors in `grad_output` to be considered batched, consider using vmap."
)


# ---- switches ------------------------------------------------------------------------------------


class Switch(Object):
    """An instance of no_grad, enable_grad, set_grad_enabled, inference_mode or detect_anomaly.
    `set` has the attributes of MODE that it sets, `before` their previous values.
    """

    __slots__ = ("before", "cls", "set")

    def __init__(self, cls: Class, **settings: Any):
        self.cls, self.set = cls, settings
        self.before: list[dict[str, Any]] = []


def _enter(m: Machine, self: Switch) -> None:
    self.before.append({name: getattr(MODE, name) for name in self.set})
    vars(MODE).update(self.set)


def _exit(m: Machine, self: Switch, *_: Any) -> bool:
    vars(MODE).update(self.before.pop())
    return False


def _decorate(m: Machine, self: Switch, function: Any) -> Any:
    """The switch as a decorator: the function runs with the switch on."""

    def run(m: Machine, *args: Any, **named: Any) -> Any:
        _enter(m, self)
        try:
            result = m.call(function, args, named)
        finally:
            _exit(m, self)
        if isinstance(result, Generator) and isinstance(function, Function):
            return Generator(_steps(m, self, result.host), result.name)
        return result

    named = not isinstance(function, Tensor)
    return Wrapper(m.text(m.get(function, "__name__")) if named else "decorate_context", run)


ANOMALY = (
    "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
    "enabled for debugging."
)


def _steps(m: Machine, self: Switch, body: Any) -> Iterator[Any]:
    """The items of a decorated generator. The switch is on only while the generator's body runs."""
    sent: Any = None
    while True:
        _enter(m, self)
        try:
            item = body.send(sent)
        except StopIteration as end:
            return end.value
        finally:
            _exit(m, self)
        sent = yield item


def _switch(name: str, settings: Any, *places: str) -> Class:
    """The class of a context manager such as no_grad. `settings(*args)` returns the attributes of
    MODE that an instance sets.
    """

    def make(m: Machine, cls: Class, *args: Any, **named: Any) -> Any:
        at_once = name.startswith("set_")  # works without `with`, too
        if len(args) == 1 and not isinstance(args[0], bool) and not at_once:
            return _decorate(m, Switch(cls, **settings()), args[0])
        if at_once and not (args or named):
            text = f"{name}.__init__() missing 1 required positional argument: 'mode'"
            raise error("TypeError", text)
        if name == "detect_anomaly":
            m.warn(EXCEPTIONS["UserWarning"], ANOMALY)
        switch = Switch(cls, **settings(*args, **named))
        if at_once:
            _enter(m, switch)
            switch.set = {}
        return switch

    members: dict[str, Any] = {"__enter__": _enter, "__exit__": _exit, "__call__": _decorate}
    table = {key: Builtin(key, f) for key, f in members.items()}
    if name.startswith("set_"):
        table["__enter__"] = Builtin("__enter__", lambda m, self: None)
    cls = Class(name, members=table, module="torch.autograd.grad_mode", make=make)
    for place in places:
        TABLES.setdefault(place, {})[name] = cls  # type: ignore[assignment]
    return cls


_switch("no_grad", lambda: {"grad_enabled": False}, "torch", "autograd")
_switch("enable_grad", lambda: {"grad_enabled": True}, "torch", "autograd")
_switch("set_grad_enabled", lambda mode: {"grad_enabled": bool(mode)}, "torch", "autograd")
_switch(
    "inference_mode",
    lambda mode=True: {"inference": mode, "grad_enabled": not mode},
    "torch",
)
_switch(
    "detect_anomaly",
    lambda check_nan=True: {"anomaly": True, "check_nan": check_nan},
    "autograd",
)


_switch(
    "set_detect_anomaly",
    lambda mode, check_nan=True: {"anomaly": bool(mode), "check_nan": check_nan},
    "autograd",
)


@define("torch")
def is_anomaly_enabled(m: Machine) -> bool:
    """Whether anomaly mode is on."""
    return MODE.anomaly


@define("torch")
def is_grad_enabled(m: Machine) -> bool:
    """Whether operations are recorded."""
    return MODE.grad_enabled


@define("torch")
def is_inference_mode_enabled(m: Machine) -> bool:
    """Whether inference mode is on."""
    return MODE.inference


# ---- grad_fn of a program's tensors --------------------------------------------------------------


def _next_functions(m: Machine, self: Record | Accumulator) -> tuple[Any, ...]:
    return tuple((None, 0) if e is None else (e.record, e.output) for e in _shown_edges(self))


WITHOUT_EDGE = ("condition", "mask", "index", "indices")  # inputs not in next_functions
PRODUCTS = ("DotBackward0", "MvBackward0", "MmBackward0", "BmmBackward0")
NUMBERS_WITHOUT_EDGE = ("PowBackward0", "PowBackward2", "RsubBackward1", "MaskedFillBackward0")


def _shown_edges(record: Record | Accumulator) -> list[Edge | None]:
    """The edges that PyTorch's next_functions shows: none for indices, masks, missing arguments,
    and numbers of some operations.
    """
    call = getattr(record, "call", None)
    if not (isinstance(call, tuple) and isinstance(call[0], Node)):
        return list(record.edges)
    if call[0].op.name == "matmul" and record.name not in PRODUCTS:
        raise Unsupported("next_functions of a matmul that PyTorch computes in several operations")
    names = call[0].op.inputs
    shown = []
    for name, value, edge in zip(names, call[1], record.edges, strict=False):
        number = isinstance(value, bool | int | float) and record.name in NUMBERS_WITHOUT_EDGE
        label = name == "target" and call[0].op.name == "nll_loss"
        if value is not None and name not in WITHOUT_EDGE and not number and not label:
            shown.append(edge)
    return shown + list(record.edges[len(names) :])


def _saved_of_elementwise(record: Record, name: str) -> Saved | None:
    """The tensor that the backward of an elementwise operation saved as grad_fn._saved_NAME, where
    `name` is self, other or result; None if it saved none.
    """
    if not (isinstance(record.call, tuple) and record.call[0].op.family == "elementwise"):
        return None
    _, inputs, output = record.call
    places = {"self": 0, "other": 1}
    wanted = output if name == "result" else None
    if name in places and places[name] < len(inputs):
        wanted = inputs[places[name]]
    saved = (s for s in record.saved if s.in_pytorch and s.tensor is wanted)
    return next(saved, None)


def _exponent(record: Record) -> Any:
    """grad_fn._saved_exponent of pow with a number as exponent."""
    if not isinstance(record.call, tuple):
        raise Unsupported("grad_fn._saved_exponent after the backward pass")
    return record.call[1][1]


def _call_record(m: Machine, self: Record, *grads: Any) -> Any:
    """Call a grad_fn: the gradients of its inputs from those of its outputs."""
    if len(grads) != len(self.metas):
        text = f"expected {len(self.metas)} arguments, got {len(grads)} instead"
        raise error("TypeError", text)
    result = tuple(self.backward(m, self, list(grads)))
    return result[0] if len(result) == 1 else result


def _saved_attribute(m: Machine, self: Record, name: str) -> Any:
    """A saved tensor by its attribute, such as grad_fn._saved_self."""
    if name == "_saved_exponent" and self.name == "PowBackward0":
        return _exponent(self)
    if name.startswith("_saved_"):
        if getattr(self, "freed", False):
            raise error("RuntimeError", FREED)
        saved = _saved_of_elementwise(self, name.removeprefix("_saved_"))
        if saved is None:
            raise Unsupported(f"grad_fn.{name}")
        return saved.unpack(self)
    text = f"'{self.cls.name}' object has no attribute '{name}'"
    raise error("AttributeError", text)


def _register(m: Machine, self: Record, hook: Any) -> Handle:
    self.hooks.append(hook)
    return Handle(self.hooks, hook)


def _register_before(m: Machine, self: Record, hook: Any) -> Handle:
    self.pre_hooks.append(hook)
    return Handle(self.pre_hooks, hook)


def _describe() -> None:
    """Define the attributes and methods of grad_fns that programs can use."""
    RECORD.members.update(
        {
            "name": Builtin("name", lambda m, self: LABELS.get(shown(self), self.name)),
            "__call__": Builtin("__call__", _call_record),
            "__getattr__": Builtin("__getattr__", _saved_attribute),
            "next_functions": Property(Builtin("next_functions", _next_functions)),
            "requires_grad": Property(Builtin("requires_grad", lambda m, self: True)),
            "register_hook": Builtin("register_hook", _register),
            "register_prehook": Builtin("register_prehook", _register_before),
            "_sequence_nr": Builtin("_sequence_nr", lambda m, self: self.sequence),
            "metadata": Property(Builtin("metadata", _metadata)),
            "__repr__": Builtin("__repr__", _record_text),
        }
    )
    leaves = record_class("AccumulateGrad")
    leaves.members["variable"] = Property(Builtin("variable", lambda m, self: self.tensor))


def _metadata(m: Machine, self: Record | Accumulator) -> dict[str, Any]:
    return self.fields.setdefault("metadata", {})


def _record_text(m: Machine, self: Record | Accumulator) -> str:
    shown(self)
    return f"<{self.cls.full_name} object at 0x{id(self):x}>"


_describe()
