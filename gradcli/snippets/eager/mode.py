"""PyTorch's global state: whether operations are recorded, the default dtype, hooks, transforms."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from .dtypes import FLOAT32, DType


class Mode:
    """The state of one program; `MODE` is that of the program that is running."""

    def __init__(self) -> None:
        self.grad_enabled = True  # torch.is_grad_enabled()
        self.inference = False
        self.anomaly = False
        self.check_nan = True  # whether anomaly mode checks gradients for nan
        self.default_dtype: DType = FLOAT32
        self.autocast: DType | None = None  # the dtype of an enclosing torch.autocast
        self.sequence = count()  # numbers of grad_fns; the engine runs the highest first
        self.accumulates = True  # whether the running backward pass adds to .grad of all leaves
        self.running: Any = None  # the running backward pass: an engine.Pass
        self.saved_hooks: list[Any] = []  # (interpreter, pack, unpack) of saved_tensors_hooks
        # the enclosing transforms of torch.func: "vmap", "grad", "vjp" or "jvp", and the randomness
        self.transforms: list[tuple[str, str]] = []
        self.dual_level = 0  # the number of the current level of forward mode; 0 if none
        self.dual_levels = count(1)
        self.dual_machine: Any = None  # the interpreter of the program that entered the level
        self.apply_to_duals: Callable[..., Any]  # applies an operator
        self.spend: Callable[[int, int], None] = lambda steps, memory: None  # charges the budget
        self.place: Callable[[], int] = lambda: 0  # the line of the program that runs
        self.warn: Callable[[str], None] = lambda message: None  # issues a warning in the program
        # the grad_fn at which the last backward pass failed, and its saved tensor or None
        self.refused: tuple[Any, Any] | None = None
        self.start = 0  # the seed in effect before manual_seed
        self.unseeded = False  # whether numbers were drawn before manual_seed
        self.generator: Any = None
        # by bytes per element: the line of each operation whose last digits may differ from
        # PyTorch's
        self.unsure: dict[int, dict[str, int]] = {}
        self.near_ties: set[int] = set()  # lines whose printed text depends on the last digit
        self.factored = False  # whether the program has factorised a matrix
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
    """Turn the recording of operations on or off within a with statement."""
    before, MODE.grad_enabled = MODE.grad_enabled, on
    try:
        yield
    finally:
        MODE.grad_enabled = before
