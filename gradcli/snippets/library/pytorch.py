"""torch and its modules, as a program imports them."""

from typing import Any

from ..eager.dtypes import BY_NAME
from ..eager.tables import module
from ..eager.tensor import TENSOR
from ..python.values import MISSING, Module

CONSTANTS = {
    "pi": 3.141592653589793,
    "inf": float("inf"),
    "nan": float("nan"),
    "e": 2.718281828459045,
}


def modules() -> dict[str, Module]:
    """The modules by their paths."""
    functional = module("torch.nn.functional", "F", "functional", "torch")
    of_autograd = module("torch.autograd", "autograd")
    linalg = module("torch.linalg", "linalg")
    special = module("torch.special", "special")
    nn = module("torch.nn", "nn", members={"functional": functional})
    torch = module(
        "torch",
        "torch",
        members={
            **BY_NAME,
            **CONSTANTS,
            "Tensor": TENSOR,
            "nn": nn,
            "autograd": of_autograd,
            "linalg": linalg,
            "special": special,
            "__version__": "2.13.0",
            "newaxis": None,
        },
    )
    return {
        "torch": torch,
        "torch.nn": nn,
        "torch.nn.functional": functional,
        "torch.autograd": of_autograd,
        "torch.linalg": linalg,
        "torch.special": special,
    }


def find(path: str) -> Any:
    """The module of a path, or MISSING."""
    return modules().get(path, MISSING)
