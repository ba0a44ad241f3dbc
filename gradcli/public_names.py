"""The public names of PyTorch's modules, tensors and optimisers.

`public_names.txt`, written by `scripts/docs --measure`, lists them below the path of their module
or class. Functions and methods of tensors are listed separately, below `path, functions:`.
"""

import os
from functools import cache

FILE = os.path.join(os.path.dirname(__file__), "public_names.txt")
FUNCTIONS = ", functions"  # suffix of a path

# Functions whose arguments differ between torch, where programs call them, and torch.nn.functional.
OTHER_IN_TORCH = (
    *("alpha_dropout", "batch_norm", "binary_cross_entropy_with_logits", "cosine_embedding_loss"),
    *("ctc_loss", "embedding", "embedding_bag", "feature_alpha_dropout", "hinge_embedding_loss"),
    *("instance_norm", "kl_div", "margin_ranking_loss", "poisson_nll_loss", "triplet_margin_loss"),
)


@cache
def _listed() -> dict[str, frozenset[str]]:
    """The names in the file, by the line above them, without its colon."""
    names: dict[str, frozenset[str]] = {}
    path, listed = "", list[str]()
    with open(FILE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in [*lines, "end:"]:
        if line.endswith(":"):
            names[path] = frozenset(listed)
            path, listed = line[:-1], []
        else:
            listed += line.split()
    return names


@cache
def in_pytorch() -> dict[str, frozenset[str]]:
    """The names by path."""
    names: dict[str, frozenset[str]] = {}
    for title, listed in _listed().items():
        path = title.removesuffix(FUNCTIONS)
        names[path] = names.get(path, frozenset()) | listed
    return names


@cache
def functions() -> frozenset[str]:
    """The names of all functions and methods of tensors."""
    listed = (names for title, names in _listed().items() if title.endswith(FUNCTIONS))
    return frozenset[str]().union(*listed)


def has(path: str, name: str) -> bool:
    """Whether PyTorch has a name in a module, or as a member of tensors for the path
    `torch.Tensor`. A module that is not listed may have any public name.
    """
    listed = in_pytorch().get(path)
    return name in listed if listed is not None else not name.startswith("_")
