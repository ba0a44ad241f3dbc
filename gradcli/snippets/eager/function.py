"""torch.autograd.Function: operations with a backward written by the program."""

from collections.abc import Sequence
from typing import Any

from ...lazy import np
from ..python.objects import Function as PythonFunction
from ..python.values import (
    EXCEPTIONS,
    MISSING,
    Bound,
    Builtin,
    Class,
    ClassMethod,
    Machine,
    Object,
    Property,
    Static,
    Unsupported,
    error,
)
from .dtypes import FLOAT32
from .mode import MODE, recording
from .records import detached
from .tables import TABLES
from .tensor import (
    FUNCTION_RECORD,
    RECORD,
    DualTensor,
    Edge,
    Gradients,
    Meta,
    Record,
    Saved,
    Tensor,
    function_class,
    tensors_in,
)
from .transforms import in_vmap, running
from .views import as_view, rebase

INSTANCE = (
    "{} should not be instantiated. Methods on autograd functions are all static, so you should "
    "invoke them on the class itself. Instantiating an autograd function will raise an error in a "
    "future version of PyTorch."
)
LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style "
    "autograd function with static forward method. (Example: "
    "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)
NO_BACKWARD = (
    "You must implement either the backward or vjp method for your custom autograd.Function to use "
    "it with backward mode AD."
)
BOTH = (
    "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
    "implement one of them."
)
NO_FORWARD = "You must implement the forward function for custom autograd.Function."
ONCE = "trying to differentiate twice a function that was marked with @once_differentiable"
NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The "
    "inputs that are modified inplace must all be outputs of the Function."
)
SAVED_AS_IS = (
    "An input that has been returned as-is as output is being saved for backward. This is not "
    "supported if you override setup_context. You should return and save a view of the input "
    "instead, e.g. with x.view_as(x) or setup ctx inside the forward function itself."
)


class Context(Object):
    """The ctx argument: stores what forward saves for backward."""

    __slots__ = (
        "cls",
        "dirty",
        "fields",
        "materialize",
        "needs",
        "plain",
        "record",
        "saved",
    )

    def __init__(self, name: str, needs: Sequence[bool]):
        self.cls = context_class(name)
        self.fields: dict[str, Any] = {}
        self.saved: tuple[Any, ...] = ()
        self.needs = tuple(needs)
        self.dirty: tuple[Tensor, ...] = ()
        self.plain: tuple[Tensor, ...] = ()  # the arguments of mark_non_differentiable
        self.materialize = True
        self.record: Record | None = None


def _save(m: Machine, self: Context, *tensors: Any) -> None:
    self.saved = tensors


def _saved_tensors(m: Machine, self: Context) -> tuple[Any, ...]:
    if self.record is None:
        return self.saved
    unpacked = iter(self.record.unpack())
    return tuple(None if t is None else next(unpacked) for t in self.saved)


def _mark_dirty(m: Machine, self: Context, *tensors: Tensor) -> None:
    self.dirty = tensors


def _mark_plain(m: Machine, self: Context, *tensors: Tensor) -> None:
    self.plain = tensors


def _set_materialize(m: Machine, self: Context, value: bool) -> None:
    self.materialize = value


CONTEXT = Class(
    "BackwardCFunction",
    members={
        "save_for_backward": Builtin("save_for_backward", _save),
        "save_for_forward": Builtin("save_for_forward", lambda m, self, *_: None),
        "saved_tensors": Property(Builtin("saved_tensors", _saved_tensors)),
        "saved_variables": Property(Builtin("saved_variables", _saved_tensors)),
        "needs_input_grad": Property(Builtin("needs_input_grad", lambda m, self: self.needs)),
        "mark_dirty": Builtin("mark_dirty", _mark_dirty),
        "mark_non_differentiable": Builtin("mark_non_differentiable", _mark_plain),
        "set_materialize_grads": Builtin("set_materialize_grads", _set_materialize),
    },
)
_contexts: dict[str, Class] = {}


def context_class(name: str) -> Class:
    """The class of ctx and grad_fn of a Function: NameBackward for the Function `name`."""
    if name not in _contexts:
        _contexts[name] = Class(f"{name}Backward", (CONTEXT,))
    return _contexts[name]


def _apply(m: Machine, cls: Class, *positional: Any, **named: Any) -> Any:
    """Function.apply: calls forward without recording, and records the call as one operation."""
    has_setup = cls.lookup("setup_context") is not FUNCTION.members["setup_context"]
    if named:
        _check_named(cls, positional, named, has_setup)
    if has_setup:
        positional, named = _bound(cls, positional, named)
    args = (*positional, *named.values())  # in the order in which backward returns their gradients
    _check_transforms(cls, args)
    needs = [isinstance(a, Tensor) and a.requires_grad for a in args]
    recorded = MODE.recording and any(needs)
    context = Context(cls.name, needs)
    with recording(False):
        outputs = _forward(m, cls, context, positional, named)
    several = isinstance(outputs, tuple)
    results = list(outputs) if several else [outputs]
    for place, value in enumerate(context.saved):
        if value is not None and not isinstance(value, Tensor):
            text = (
                f"save_for_backward can only save variables, but argument {place} is of type "
                f"{m.class_of(value).name}"
            )
            raise error("TypeError", text)
    for tensor in context.dirty:
        if not any(tensor is r for r in results):
            raise error("RuntimeError", NOT_RETURNED)
    _check_dirty(context)
    if has_setup:
        _check_saved(context, args, results)
    for tensor in context.dirty:
        tensor.changed()
    results = [_output(r, args, context) for r in results]
    if recorded:
        _record(m, cls, context, args, results)
    return tuple(results) if several else results[0]


def _check_transforms(cls: Class, args: Sequence[Any]) -> None:
    """Refuse a Function without the method that the call needs: jvp for a tangent, setup_context
    inside a transform of torch.func, vmap inside vmap.
    """
    if any(isinstance(a, DualTensor) for a in args) and cls.lookup("jvp") is MISSING:
        raise error("NotImplementedError", NO_JVP)
    if not running():
        return
    if cls.lookup("setup_context") is FUNCTION.members["setup_context"]:
        raise error("RuntimeError", NO_SETUP)
    generated = cls.lookup("generate_vmap_rule")
    if not in_vmap():
        return
    if cls.lookup("vmap") is not MISSING:
        raise Unsupported("a Function that defines its own vmap() method, inside vmap()")
    if generated in (MISSING, False):
        raise error("RuntimeError", NO_VMAP.format(cls.name))


NO_JVP = (
    "You must implement the jvp function for custom autograd.Function to use it with forward mode "
    "AD."
)
SEE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
NO_SETUP = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...)"
    f", it must override the setup_context staticmethod. {SEE}"
)
NO_VMAP = (
    "You tried to vmap over {}, but it does not have vmap support. Please override and implement "
    f"the vmap staticmethod or set generate_vmap_rule=True. {SEE}"
)


def vmap_rule(m: Machine, function: Any) -> Any:
    """The vmap staticmethod of a Function, if `function` is the apply method of one; else None."""
    apply = FUNCTION.members["apply"].function
    if not isinstance(function, Bound) or function.function is not apply:
        return None
    rule = function.owner.lookup("vmap")
    if rule is MISSING or running():
        return None
    return rule.function if isinstance(rule, Static) else rule


def _written_forward(cls: Class) -> PythonFunction | None:
    """The forward that the program defines; None if it defines none."""
    member = cls.lookup("forward")
    function = member.function if isinstance(member, Static) else member
    return function if isinstance(function, PythonFunction) else None


def _check_named(cls: Class, args: Sequence[Any], named: dict[str, Any], has_setup: bool) -> None:
    """Refuse keywords that forward does not have. With `has_setup`, the Function defines
    setup_context, and forward takes no ctx.
    """
    function = _written_forward(cls)
    if function is None or function.code.stars:
        return
    code, start = function.code, 0 if has_setup else 1
    for name in named:
        if name not in code.names:
            text = f"got an unexpected keyword argument '{name}'"
            raise error("TypeError", text if has_setup else f"forward() {text}")
    required = code.names[start : len(code.names) - len(code.keyword_only)]
    required = required[: len(required) - len(function.defaults)]
    for place, name in enumerate(required):
        if place >= len(args) and name not in named and not has_setup:
            text = f"forward() missing required argument: '{name}' (position {place})"
            raise error("TypeError", text)


def _bound(
    cls: Class, args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a forward without ctx as positional ones, and keyword-only ones by name;
    defaults are filled in.
    """
    function = _written_forward(cls)
    if function is None:
        return args, named
    code = function.code
    defaults = dict(zip(reversed(code.names), reversed(function.defaults)))
    rest = [n for n in code.names[len(args) :] if n not in code.keyword_only]
    for name in rest:
        if name not in named and name not in defaults:
            raise error("TypeError", f"missing a required argument: '{name}'")
    more = [named[n] if n in named else defaults[n] for n in rest]
    return (*args, *more), {n: v for n, v in named.items() if n not in rest}


def _forward(
    m: Machine, cls: Class, context: Context, args: Sequence[Any], named: dict[str, Any]
) -> Any:
    forward, setup = cls.lookup("forward"), cls.lookup("setup_context")
    if forward is MISSING or forward is FUNCTION.members["forward"]:
        raise error("NotImplementedError", NO_FORWARD)
    function = forward.function if isinstance(forward, Static | ClassMethod) else forward
    if setup is MISSING or setup is FUNCTION.members["setup_context"]:
        return m.call(function, [context, *args], named)
    output = m.call(function, args, named)
    chosen = setup.function if isinstance(setup, Static) else setup
    m.call(chosen, [context, tuple(args), output])
    return output


def _check_dirty(context: Context) -> None:
    """Refuse mark_dirty of a leaf that requires a gradient."""
    for tensor in context.dirty:
        if MODE.recording and tensor.is_leaf and tensor.requires_grad:
            text = "a leaf Variable that requires grad has been used in an in-place operation."
            raise error("RuntimeError", text)


def _check_saved(context: Context, args: Sequence[Any], results: Sequence[Any]) -> None:
    """Refuse to save an input in setup_context that forward returns unchanged."""
    as_is = [r for r in results if any(r is a for a in tensors_in(args))]
    as_is = [r for r in as_is if not any(r is t for t in context.dirty)]
    if any(value is r for value in context.saved if value is not None for r in as_is):
        raise error("RuntimeError", SAVED_AS_IS)


def _output(result: Any, args: Sequence[Any], context: Context) -> Any:
    """An output of forward as apply returns it. An input that forward returns unchanged becomes a
    view of itself, unless it is marked dirty.
    """
    if not isinstance(result, Tensor) or any(result is t for t in context.dirty):
        return result
    if any(result is t for t in tensors_in(args)):
        return as_view(Tensor(result.data, result.dtype), result, "custom")
    if result.view is not None and any(result.view.base is t for t in tensors_in(args)):
        return as_view(result, result.view.base, "custom")
    if result.requires_grad:
        return detached(result)
    return result


def _record(
    m: Machine, cls: Class, context: Context, args: Sequence[Any], results: Sequence[Any]
) -> None:
    """Set the grad_fn of the outputs, whose backward is that of the Function."""
    edges = [a.edge if isinstance(a, Tensor) else None for a in args]
    outputs = [r for r in results if isinstance(r, Tensor)]
    metas = [Meta(r.shape, r.dtype) if isinstance(r, Tensor) else NO_META for r in results]
    back = _Backward(cls, context, [isinstance(a, Tensor) for a in args])
    record = Record(f"{cls.name}Backward", edges, metas, back, (), m.line)
    record.cls = function_class(record.name)
    record.call = ("function", cls, tuple(args))
    context.record = record
    for place, result in enumerate(results):
        if not isinstance(result, Tensor):
            continue
        plain = any(result is t for t in context.plain) or not result.dtype.is_floating
        if plain:
            continue
        if result.view is None or not any(result is t for t in context.dirty):
            result.set_record(record, place)
        elif len(results) == 1:
            rebase(result, record)
        else:
            raise Unsupported("a Function that has several outputs and changes a view in place")
    for value in context.saved:
        if value is not None:
            is_output = any(value is r for r in outputs)
            record.saved.append(Saved(value, record if is_output else None).pack())


NO_META = Meta((), FLOAT32)  # for an output that is no tensor


class _Backward:
    """The backward pass of a Function: calls the backward that the program defines."""

    def __init__(self, cls: Class, context: Context, tensors: Sequence[bool]):
        self.cls, self.context, self.tensors = cls, context, list(tensors)

    def __call__(self, m: Machine, record: Record, grads: Gradients) -> Gradients:
        """The gradients of the inputs of forward."""
        if self.context.materialize:
            grads = [
                Tensor(np.zeros(meta.shape, meta.dtype.numpy), meta.dtype)
                if g is None and meta is not NO_META
                else g
                for g, meta in zip(grads, record.metas)
            ]
        answer = m.call(self._function(), [self.context, *grads])
        answers = list(answer) if isinstance(answer, tuple | list) else [answer]
        return self._checked(m, record, answers)

    def _function(self) -> Any:
        functions = [self.cls.lookup(name) for name in ("backward", "vjp")]
        defined = [f for f in functions if f is not MISSING and f is not _NOT_WRITTEN]
        if not defined:
            raise error("NotImplementedError", NO_BACKWARD)
        if len(defined) > 1:
            raise error("RuntimeError", BOTH)
        function = defined[0]
        return function.function if isinstance(function, Static | ClassMethod) else function

    def _checked(self, m: Machine, record: Record, answers: list[Any]) -> Gradients:
        """The gradients that the program's backward returned, after PyTorch's checks of their
        number and types.
        """
        expected, got = len(self.tensors), len(answers)
        while len(answers) > expected and answers[-1] is None:
            answers.pop()
        if len(answers) != expected:
            text = (
                f"function {record.name} returned an incorrect number of gradients (expected "
                f"{expected}, got {got})"
            )
            raise error("RuntimeError", text)
        for place, (answer, is_tensor) in enumerate(zip(answers, self.tensors)):
            if answer is None:
                continue
            if not is_tensor:
                text = (
                    f"function {record.name} returned a gradient different than None at position "
                    f"{place + 1}, but the corresponding forward input was not a Variable"
                )
                raise error("RuntimeError", text)
            if not isinstance(answer, Tensor):
                text = f"expected Variable or None (got {m.class_of(answer).name})"
                raise error("RuntimeError", text)
        return answers


def once_differentiable(m: Machine, function: Any) -> Builtin:
    """The decorator once_differentiable: a second derivative raises an error."""

    def run(m: Machine, context: Context, *grads: Any) -> Any:
        tracked = MODE.recording and any(t.requires_grad for t in tensors_in(grads))
        with recording(False):
            answer = m.call(function, [context, *grads])
        if not tracked:
            return answer
        several = isinstance(answer, tuple | list)
        answers = [_once(a, grads) for a in (answer if several else [answer])]
        return tuple(answers) if several else answers[0]

    return Builtin(m.text(m.get(function, "__name__")), run)


def _once(answer: Any, grads: Sequence[Any]) -> Any:
    if not isinstance(answer, Tensor):
        return answer
    output = Tensor(answer.data, answer.dtype)
    edges: list[Edge | None] = [t.edge for t in tensors_in(grads)]

    def refuse(m: Machine, record: Record, received: Gradients) -> Gradients:
        raise error("RuntimeError", ONCE)

    output.set_record(Record("DelayedError", edges, [Meta(output.shape, output.dtype)], refuse))
    return output


def _of_context(name: str) -> Property:
    """A property of a Function's grad_fn with the value that ctx has."""
    get: Property = CONTEXT.members[name]
    return Property(Builtin(name, lambda m, self: m.call(get.fget, [self.backward.context])))


def _context_field(m: Machine, self: Record, name: str) -> Any:
    """An attribute of grad_fn: one that forward has set on ctx, or any other attribute."""
    back: Any = self.backward
    if name in back.context.fields:
        return back.context.fields[name]
    return m.call(RECORD.members["__getattr__"], [self, name])


FUNCTION_RECORD.members |= {
    n: _of_context(n) for n in ("saved_tensors", "saved_variables", "needs_input_grad")
}
FUNCTION_RECORD.members["__getattr__"] = Builtin("__getattr__", _context_field)


def _not_written(m: Machine, *_: Any) -> Any:
    raise error("NotImplementedError", NO_BACKWARD)


def _instantiated(m: Machine, self: Any, *args: Any, **named: Any) -> None:
    m.warn(EXCEPTIONS["DeprecationWarning"], INSTANCE.format(m.repr(m.class_of(self))))


def _call_instance(m: Machine, self: Any, *args: Any) -> Any:
    raise error("RuntimeError", LEGACY)


_NOT_WRITTEN = Static(Builtin("backward", _not_written))
FUNCTION = Class(
    "Function",
    members={
        "apply": ClassMethod(Builtin("apply", _apply)),
        "forward": Static(Builtin("forward", _not_written)),
        "backward": _NOT_WRITTEN,
        "vjp": _NOT_WRITTEN,
        "setup_context": Static(Builtin("setup_context", _not_written)),
        "__init__": Builtin("__init__", _instantiated),
        "__call__": Builtin("__call__", _call_instance),
    },
    module="torch.autograd.function",
)
TABLES.setdefault("autograd", {})["Function"] = FUNCTION  # type: ignore[assignment]
TABLES.setdefault("autograd.function", {}).update(
    {
        "Function": FUNCTION,  # type: ignore[dict-item]
        "once_differentiable": Builtin("once_differentiable", once_differentiable),
    }
)
