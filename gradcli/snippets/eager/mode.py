"""What PyTorch keeps for the whole program: whether it records, and with which dtype it begins."""

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
        self.check_nan = True  # in anomaly mode
        self.default_dtype: DType = FLOAT32
        self.autocast: DType | None = None  # that of torch.autocast around what runs now
        self.sequence = count()  # of records: the engine goes back from the latest
        self.accumulates = True  # the backward pass that runs adds to .grad of all leaves
        self.running: Any = None  # the backward pass that runs now: an engine.Pass
        self.saved_hooks: list[Any] = []  # of autograd.graph.saved_tensors_hooks
        self.transforms: list[tuple[str, str]] = []  # of torch.func around what runs now
        self.dual_level = 0  # of forward mode: each has a number of its own; 0 outside of all
        self.dual_levels = count(1)
        self.dual_machine: Any = None  # what runs the program that entered it
        self.apply_to_duals: Callable[..., Any]  # an operator, within a level
        self.spend: Callable[[int, int], None] = lambda steps, memory: None  # the program's budget
        self.place: Callable[[], int] = lambda: 0  # the line of the text that runs now
        self.warn: Callable[[str], None] = lambda message: None  # the program of what it does
        self.refused: tuple[Any, Any] | None = None  # the record, and what it saved, that the
        # last backward pass could not read
        self.start = 0  # the seed of random numbers before manual_seed
        self.unseeded = False  # whether some were drawn before it
        self.generator: Any = None
        # by the bytes of a number, operations whose last digits may be others, and where they are
        self.unsure: dict[int, dict[str, int]] = {}
        self.near_ties: set[int] = set()  # lines whose numbers have neighbours printed otherwise
        self.numpy_errors: dict[str, Any] = {  # of np.seterr
            **dict.fromkeys(("divide", "over", "invalid"), "warn"),
            "under": "ignore",
        }
        self.numpy_options: dict[str, Any] = {}  # of np.set_printoptions

    @property
    def recording(self) -> bool:
        """Whether operations are recorded: never in inference mode."""
        return self.grad_enabled and not self.inference


MODE = Mode()


def restart() -> None:
    """Begin another program."""
    vars(MODE).clear()
    MODE.__init__()  # type: ignore[misc]


@contextmanager
def recording(on: bool) -> Iterator[None]:
    """Record, or do not record, what is computed within."""
    before, MODE.grad_enabled = MODE.grad_enabled, on
    try:
        yield
    finally:
        MODE.grad_enabled = before
