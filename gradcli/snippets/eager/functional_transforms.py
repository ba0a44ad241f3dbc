"""Functions that the sources of torch.func and torch.autograd.forward_ad call. These sources are
programs for the interpreter (snippets/library/sources).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from ...public_names import has
from ..python.objects import Function
from ..python.values import (
    Builtin,
    Class,
    Instance,
    Machine,
    Module,
    Object,
    Unsupported,
    functions,
)
from .apply import mark_rows
from .creation import GeneratorValue, generator
from .forward import Linearized, applied, detach_if_constant, jvp
from .function import vmap_rule
from .mode import MODE
from .records import rename
from .tables import define
from .tensor import DualTensor, Tensor


def _enter(m: Machine, kind: str, randomness: str = "") -> None:
    MODE.transforms.append((kind, randomness))


def _leave(m: Machine) -> None:
    MODE.transforms.pop()


def _leaf(m: Machine, x: Tensor) -> Tensor:
    """A leaf with the memory of `x` that requires a gradient: an input of a transform."""
    output = Tensor(x.data, x.dtype, requires_grad=True)
    output.version = x.version
    mark_rows(output, [x])
    return _inner(m, output)


def _inner(m: Machine, x: Tensor) -> Tensor:
    """Mark a tensor as made inside the next transform, where it may be changed in place."""
    x.level = len(MODE.transforms) + 1
    return x


class State(Object):
    """The state of a random number generator."""

    __slots__ = ("generator",)
    cls = Class("State")

    def __init__(self, generator: Any):
        self.generator = generator


def _generator_state(m: Machine, state: State | None = None) -> State:
    """A copy of the default generator's state; `state`, if passed, replaces it."""
    with not_transformed():
        before = State(deepcopy(generator()))
        if state is not None:
            MODE.generator = deepcopy(state.generator)
    return before


def _set_state(m: Machine, self: GeneratorValue, new_state: State) -> GeneratorValue:
    self.generator = deepcopy(new_state.generator)
    return self


GeneratorValue.cls.members |= {
    "get_state": Builtin("get_state", lambda m, self: State(deepcopy(self.generator))),
    "set_state": Builtin("set_state", _set_state),
}
define("torch", name="get_rng_state")(_generator_state)
define("torch", name="set_rng_state")(lambda m, state: _generator_state(m, state) and None)


def _random_seed(m: Machine, chosen: Any = None) -> int:
    """A 63-bit integer, drawn as PyTorch draws a seed."""
    high, low = generator(chosen).words(2).tolist()
    return (high << 32 | low) % 2**63


def _unpack_dual(m: Machine, tensor: Tensor) -> tuple[Tensor, Tensor | None]:
    if isinstance(tensor, DualTensor) and tensor.lives:
        return tensor.primal, tensor.tangent
    return tensor, None


def _enter_level(m: Machine) -> None:
    MODE.dual_level, MODE.dual_machine = next(MODE.dual_levels), m
    MODE.apply_to_duals = applied


def _leave_level(m: Machine) -> None:
    MODE.dual_level = 0


@contextmanager
def not_transformed() -> Iterator[None]:
    """Run code outside of all transforms."""
    before, MODE.transforms = MODE.transforms, []
    try:
        yield
    finally:
        MODE.transforms = before


def _batched(m: Machine, tensor: Tensor, size: int) -> Tensor:
    """Mark a tensor as a row of a vmap over `size` rows."""
    tensor.fields["batched"] = size
    return tensor


def _renamed(m: Machine, tensor: Tensor, name: str) -> Tensor:
    """Give the grad_fn of a tensor another name."""
    rename(tensor, name)
    return tensor


def _settled(m: Machine, tensor: Any, inputs: Sequence[Tensor]) -> Any:
    """A result of a transform, detached if all leaves of its graph are inputs of the transform."""
    return detach_if_constant(tensor, inputs) if isinstance(tensor, Tensor) else tensor


def _random_place(m: Machine) -> Any:
    """The position of the random generator; it changes when numbers are drawn."""
    return None if MODE.generator is None else MODE.generator.place()


def _unsupported(m: Machine, what: str) -> None:
    raise Unsupported(what)


def _refuse_known(m: Machine, path: str, name: str) -> None:
    """Raise Unsupported for an attribute that PyTorch has but that is not implemented here."""
    if has(path, name):
        raise Unsupported(f"{path}.{name}")


def _own_init(m: Machine, base: Class, name: str) -> Function:
    """A copy of the `__init__` of `base` whose errors show `name`, a derived class."""
    init = base.lookup("__init__")
    code = init.code.renamed(f"{name}.__init__")
    return Function(code, init.closure, init.defaults, init.keyword_defaults)


def _autocast(m: Machine, dtype: Any) -> Any:
    """Set the dtype of autocast (None: off). Returns the previous one."""
    before, MODE.autocast = MODE.autocast, dtype
    return before


def _become(m: Machine, instance: Instance, cls: Class) -> None:
    """Change the class of an instance."""
    instance.cls = cls


def transforms_module() -> Module:
    """The module of these functions, which interpreted sources import."""
    table: dict[str, Any] = {
        "linearized": lambda m, outputs, inputs: Linearized(outputs, inputs),
        "pushed": jvp,
        "enter": _enter,
        "leave": _leave,
        "leaf": _leaf,
        "inner": _inner,
        "level": lambda m: len(MODE.transforms),
        "unsupported": _unsupported,
        "refuse_known": _refuse_known,
        "own_init": _own_init,
        "become": _become,
        "batched": _batched,
        "vmap_rule": vmap_rule,
        "renamed": _renamed,
        "settled": _settled,
        "dual": lambda m, tensor, tangent: DualTensor(tensor, tangent),
        "unpack_dual": _unpack_dual,
        "enter_level": _enter_level,
        "leave_level": _leave_level,
        "autocast": _autocast,
        "generator_state": _generator_state,
        "random_seed": _random_seed,
        "random_place": _random_place,
        "accumulates": lambda m: MODE.accumulates,
        "pass_number": lambda m: id(MODE.running),
        "is_on_the_way": lambda m, tensor: MODE.running.will_run(tensor.edge.record),
        "increment_version": lambda m, tensor: tensor.changed(),
        "record_of": lambda m, tensor: tensor.edge.record,
        "push_saved_hooks": lambda m, *hooks: MODE.saved_hooks.append((m, *hooks)),
        "pop_saved_hooks": lambda m: MODE.saved_hooks.pop() and None,
        "has_sparse_gradient": lambda m, tensor: "sparse_gradient" in tensor.fields,
        "sparse_gradients": lambda m, tensor: tensor.fields.setdefault("sparse_gradients", True),
    }
    return Module("torch_transforms", functions(table))
