"""Which names PyTorch has, so that what is missing here is told from what is missing there."""

from functools import cache
from pathlib import Path

NAMES = Path(__file__).parent.parent / "library" / "sources" / "names.txt"


@cache
def in_pytorch() -> dict[str, frozenset[str]]:
    """The public names of PyTorch's modules and of its tensors, by path."""
    names: dict[str, frozenset[str]] = {}
    path, listed = "", list[str]()
    for line in [*NAMES.read_text(encoding="utf-8").splitlines(), "end:"]:
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
