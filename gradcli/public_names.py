"""The public names of PyTorch's modules, of its tensors, modules and optimisers.

`public_names.txt` has them by path: `scripts/docs --measure` writes it.
"""

from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("public_names.txt")


@cache
def in_pytorch() -> dict[str, frozenset[str]]:
    """The names by path."""
    names: dict[str, frozenset[str]] = {}
    path, listed = "", list[str]()
    for line in [*FILE.read_text(encoding="utf-8").splitlines(), "end:"]:
        if line.endswith(":"):
            names[path] = frozenset(listed)
            path, listed = line[:-1], []
        else:
            listed += line.split()
    return names


def has(path: str, name: str) -> bool:
    """Whether PyTorch has a name in a module; `torch.Tensor`: whether tensors have it. Of a module
    that is not listed, it may have any public name.
    """
    listed = in_pytorch().get(path)
    return name in listed if listed is not None else not name.startswith("_")
