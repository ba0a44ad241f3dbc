"""PyTorch's global state: whether operations are recorded, the default dtype, hooks, transforms."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from .dtypes import FLOAT32, DType


class Mode:
    """The state of one program; `MODE` is that of the program being run."""

    def __init__(self) -> None:
        self.grad_enabled = True  # torch.is_grad_enabled()
        self.inference = False
        self.anomaly = False
        self.check_nan = True  # of gradients, in anomaly mode
        self.default_dtype: DType = FLOAT32
        self.autocast: DType | None = None  # that of an enclosing torch.autocast
        self.sequence = count()  # of grad_fns: the engine runs the latest first
        self.accumulates = True  # whether the running backward pass adds to .grad of all leaves
        self.running: Any = None  # the running backward pass: an engine.Pass
        self.saved_hooks: list[Any] = []  # of saved_tensors_hooks
        self.transforms: list[tuple[str, str]] = []  # enclosing ones of torch.func
        self.dual_level = 0  # the level of forward mode by number; 0 outside
        self.dual_levels = count(1)
        self.dual_machine: Any = None  # the interpreter of the program that entered the level
        self.apply_to_duals: Callable[..., Any]  # applies an operator
        self.spend: Callable[[int, int], None] = lambda steps, memory: None  # charges the budget
        self.place: Callable[[], int] = lambda: 0  # the line of the program that runs
        self.warn: Callable[[str], None] = lambda message: None  # shows a warning of the program
        self.refused: tuple[Any, Any] | None = None  # the grad_fn, and the saved tensor of it, at
        # which the last backward pass failed
        self.start = 0  # the seed in effect before manual_seed
        self.unseeded = False  # whether numbers were drawn before manual_seed
        self.generator: Any = None
        # operations whose last digits may differ, with their line, by bytes per element
        self.unsure: dict[int, dict[str, int]] = {}
        self.near_ties: set[int] = set()  # lines where the last digit affects a print
        self.factored = False  # whether matrices were factored
        self.numpy_errors: dict[str, Any] = {  # np.seterr
            **dict.fromkeys(("divide", "over", "invalid"), "warn"),
            "under": "ignore",
        }
        self.numpy_options: dict[str, Any] = {}  # np.set_printoptions

    @property
    def recording(self) -> bool:
        """Whether operations are recorded; never in inference mode."""
        return self.grad_enabled and not self.inference


MODE = Mode()


def restart() -> None:
    """Reset the state for another program."""
    vars(MODE).clear()
    MODE.__init__()  # type: ignore[misc]


@contextmanager
def recording(on: bool) -> Iterator[None]:
    """Record operations, or not, within a `with` block."""
    before, MODE.grad_enabled = MODE.grad_enabled, on
    try:
        yield
    finally:
        MODE.grad_enabled = before
