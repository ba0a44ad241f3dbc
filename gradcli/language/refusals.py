"""What PyTorch has and gradcli leaves out, with the reason."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..graphs.operator import IN_PLACE

COMPLEX = "works on complex numbers, and numbers are real here"
RANDOM = "draws random numbers, so it has no one gradient"
SPARSE = "is for sparse tensors, and tensors are dense here"
MASKED = "is for masked tensors; where(mask, x, ...) says what the others are"
AUTOGRAD = "is what gradcli does: leave it out, and give the seed with --grad"
SINGLE = "rounds to a shorter floating-point type: --dtype says in which one to compute"
COPY = "is PyTorch's inner name for a function and a copy of what it answers"
INNER = "is an inner part of PyTorch, which programs do not call"
UNDERIVED = "has no derivative in PyTorch: its backward says it is not implemented"
UNSET = "holds what happened to be in memory"
ELSEWHERE = "is a function of PyTorch that gradcli has no rule for"

# Names by reason; what matches a pattern below is left out too.
REFUSED = {
    COMPLEX: "complex polar view_as_complex view_as_real cdouble cfloat chalf imag stft istft "
    "eig eigvals",
    RANDOM: "bernoulli normal multinomial poisson binomial randint randint_like randperm rand_like "
    "randn_like svd_lowrank pca_lowrank gumbel_softmax fractional_max_pool2d fractional_max_pool3d",
    SPARSE: "to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc "
    "sparse_coo_tensor sparse_csr_tensor sparse_mask to_dense coalesce",
    SINGLE: "half bfloat16",
    INNER: "slice",
    UNDERIVED: "bincount geqrf histogram ldl_factor ldl_factor_ex ldl_solve native_channel_shuffle "
    "unique unique_consecutive",
    UNSET: "empty empty_like empty_permuted empty_strided new_empty new_empty_strided",
}


class Pattern(NamedTuple):
    """Names left out for one reason: an expression for them, and how a page writes it."""

    names: str
    written: str
    why: str


PATTERNS = (
    Pattern(r"fft\..+", "torch.fft.*", COMPLEX),
    Pattern(r"sparse\..+", "torch.sparse.*", SPARSE),
    Pattern(r"masked\..+", "torch.masked.*", MASKED),
    Pattern(r"autograd\..+", "torch.autograd.*", AUTOGRAD),
    Pattern(r"[a-z]\w*[a-z0-9]_", "add_", f"{IN_PLACE}: leave out the underscore"),
    Pattern(r"(?!index_)\w+_copy", "view_copy", COPY),
    Pattern(r"_\w+|\w+_backward", "_softmax", INNER),
)
# What PyTorch calls its functions and methods, a name a line: `scripts/docs --measure` writes it.
NAMES = Path(__file__).with_name("pytorch_names.txt")


def refusal(name: str) -> str | None:
    """Why there is no function of this name here, though PyTorch has one; None for other names.

    A name may have a module before it: `fft.rfft`.
    """
    reasons = [why for why, names in REFUSED.items() if name in names.split()]
    reasons += [p.why for p in PATTERNS if re.fullmatch(p.names, name)]
    reasons += [ELSEWHERE] if name in pytorch_names() else []
    return reasons[0] if reasons else None


@cache
def pytorch_names() -> frozenset[str]:
    """What PyTorch calls its functions and methods."""
    return frozenset(NAMES.read_text("utf-8").split())
