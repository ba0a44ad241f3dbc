"""Where PyTorch has each function: `gelu` is in torch.nn.functional alone, and no method."""

from functools import cache
from pathlib import Path

from ..errors import GradcliError
from .libraries import library_function
from .vocabulary import module_of

# A function a line, and the namespaces that have it: `scripts/docs --measure` writes it.
FILE = Path(__file__).with_name("pytorch_namespaces.txt")
TENSOR = "Tensor"
SPACES = {
    **dict.fromkeys(("torch.nn.functional", "nn.functional", "F"), "F"),
    **dict.fromkeys(("torch.special", "special"), "special"),
    **dict.fromkeys(("torch.linalg", "linalg"), "linalg"),
    **{"torch": "torch", "torch.Tensor": TENSOR},
}
WRITTEN = {"F": "F.{}(...)", TENSOR: "x.{}()", "torch": "torch.{}(...)"}  # others by their names


@cache
def namespaces() -> dict[str, tuple[str, ...]]:
    """The namespaces of each function that gradcli and PyTorch have."""
    rows = (line.split() for line in FILE.read_text("utf-8").splitlines())
    return {name: tuple(spaces) for name, *spaces in rows}


def check_function(path: str) -> None:
    """Raise GradcliError `unknown-function` for a function with a prefix that lacks it in PyTorch:
    torch.gelu.
    """
    module = module_of(path) or ""
    _check(path.removeprefix(f"{module}."), SPACES.get(module), f"{path}()")


def check_method(name: str) -> None:
    """Raise GradcliError `unknown-function` for what is no method of tensors: x.gelu()."""
    _check(name, TENSOR, f"method {name}() of tensors")


def _check(name: str, space: str | None, what: str) -> None:
    spaces = namespaces().get(name, ())
    if spaces and space is not None and space not in spaces:
        home = "F" if "F" in spaces else spaces[0]
        written = WRITTEN.get(home, f"torch.{home}.{{}}(...)").format(name)
        if space == "special" and library_function(f"scipy.special.{name}"):
            written += f" of PyTorch, or scipy.special.{name}(...)"
        message = f"PyTorch has no {what}"
        raise GradcliError("unknown-function", message, hint=f"did you mean {written}?")
