"""The namespaces in which PyTorch has a function: `gelu` is in torch.nn.functional only, and is no
method.
"""

from collections.abc import Callable

from ..errors import GradcliError
from ..operators import lookup
from ..public_names import in_pytorch
from .libraries import library_function
from .vocabulary import DTYPES, module_of

TENSOR = "Tensor"
PATHS = {
    **{"torch": "torch", TENSOR: "torch.Tensor", "F": "torch.nn.functional"},
    **{"special": "torch.special", "linalg": "torch.linalg"},
}
SPACES = {
    **dict.fromkeys(("torch.nn.functional", "nn.functional", "F"), "F"),
    **dict.fromkeys(("torch.special", "special"), "special"),
    **dict.fromkeys(("torch.linalg", "linalg"), "linalg"),
    **{"torch": "torch", "torch.Tensor": TENSOR},
}
WRITTEN = {"F": "F.{}(...)", TENSOR: "x.{}()", "torch": "torch.{}(...)"}  # in messages


def namespaces(name: str) -> list[str]:
    """The namespaces of PyTorch that have a function; none for torch.float."""
    spaces = [space for space, path in PATHS.items() if name in in_pytorch()[path]]
    return [space for space in spaces if space != "torch" or name not in DTYPES]


def check_function(path: str) -> None:
    """Raise GradcliError `unknown-function` if PyTorch's namespace lacks a function: torch.gelu."""
    module = module_of(path) or ""
    _check(path.removeprefix(f"{module}."), SPACES.get(module), f"{path}()")


def check_method(name: str) -> None:
    """Raise GradcliError `unknown-function` for a name that is no method of tensors: x.gelu()."""
    _check(name, TENSOR, f"method {name}() of tensors")


def _check(name: str, space: str | None, what: str) -> None:
    spaces = namespaces(name) if space is not None else []
    if spaces and space not in spaces and _is_in_pytorch(lookup(name)):
        home = "F" if "F" in spaces else spaces[0]
        written = WRITTEN.get(home, f"torch.{home}.{{}}(...)").format(name)
        if space == "special" and library_function(f"scipy.special.{name}"):
            written += f" of PyTorch, or scipy.special.{name}(...)"
        message = f"PyTorch has no {what}"
        raise GradcliError("unknown-function", message, hint=f"did you mean {written}?")


def _is_in_pytorch(function: Callable | None) -> bool:
    """Whether PyTorch has a function; some operators occur in formulas only."""
    return function is not None and getattr(function, "torch", "") is not None
