"""Statements that change no gradient, and those that change what a program prints of it."""

import ast
import re
from collections.abc import Iterable

from ...operators import lookup
from ..syntax import bound, called_name, dotted

REMARKS = {
    *("print", "zero_grad", "retain_grad", "set_printoptions", "filterwarnings", "display"),
    *("set_detect_anomaly", "set_num_threads", "use_deterministic_algorithms"),
    *("set_default_device", "set_float32_matmul_precision"),
}
# What only looks at a tensor.
LOOKS = {"item", "size", "dim", "numel", "type", "tolist", "numpy", "len", "id", "repr", "str"}
RANDOM = "rand|[Dd]ropout|normal|bernoulli|uniform|multinomial|poisson|rrelu|RReLU|init"
SEEDING = {"manual_seed", "manual_seed_all"}
CLIPS = {"clip_grad_norm_", "clip_grad_value_", "clip_grad_norm"}


def is_random(body: Iterable[ast.AST]) -> bool:
    """Whether random numbers are drawn."""
    return any(re.search(RANDOM, called_name(n) or "") for e in body for n in ast.walk(e))


def remarks(body: list[ast.stmt], pasted: bool) -> list[ast.stmt]:
    """The statements that say nothing of a gradient; in a program that is `pasted`, what is
    computed and given no name says nothing either.
    """
    given: set[str] = set()
    found = []
    for s in body:
        if _is_remark(s, pasted, last=s is body[-1], given=given):
            found.append(s)
        given |= {*bound(s)}
    seeding = [s for s in body if isinstance(s, ast.Expr) and called_name(s.value) in SEEDING]
    return [*found, *seeding] if seeding and not is_random(body) else found


def _is_remark(s: ast.stmt, pasted: bool, last: bool, given: set[str]) -> bool:
    if isinstance(s, ast.Assert):
        return True
    if isinstance(s, ast.Assign):  # torch.backends.cudnn.deterministic = True
        return "backends" in (dotted(s.targets[0]) or "").split(".")
    if not isinstance(s, ast.Expr):
        return False
    name = called_name(s.value)
    if name in REMARKS or (isinstance(s.value, ast.Constant) and isinstance(s.value.value, str)):
        return True
    if name in ("set_grad_enabled", "set_default_dtype"):
        return ast.unparse(s.value).endswith(("(True)", "float64)", "float32)", "torch.double)"))
    if isinstance(s.value, ast.Name):  # what a session shows
        return not last and (pasted or s.value.id in given)
    return pasted and not last and _only_looks(s.value)


def _only_looks(e: ast.expr) -> bool:
    """Whether an expression changes nothing: no call in it is in place, or one of the program's."""
    for n in ast.walk(e):
        if isinstance(n, ast.Call):
            name = called_name(n) or ""
            if any(k.arg in ("out", "inplace") for k in n.keywords) or name == "backward":
                return False
            if name not in LOOKS and (name.endswith("_") or lookup(name) is None):
                return False
    return True
