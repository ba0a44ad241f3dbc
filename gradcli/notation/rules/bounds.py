"""Values that are never negative."""

from ...graphs import Node
from .products import constant_value, is_zero_or_one, product_of

NEVER_NEGATIVE = (
    *("abs", "cosh", "exp", "exp2", "held_above", "relu", "sigmoid", "softmax", "softplus"),
    *("sqrt", "square", "std", "var", "vector_norm", "matrix_norm", "cdist", "pairwise_distance"),
)
KEEPING = ("add", "amax", "amin", "maximum", "mean", "minimum", "sum")


def is_not_negative(x: Node) -> bool:
    """Whether it is plain to see that no element is less than 0; x * (1 - x) is taken to be of
    probabilities.
    """
    if x.op.name in NEVER_NEGATIVE or is_zero_or_one(x):
        return True
    if x.op.name == "clamp":
        low = None if x.inputs[1] is None else constant_value(x.inputs[1])
        return low is not None and low >= 0
    if x.op.family == "movement" or x.op.name in KEEPING:
        return all(map(is_not_negative, x.parents))
    found = product_of(x)
    if found is None or x in found.factors:
        return False
    odd = {f for f, e in found.factors.items() if e % 2 == 1}
    opposite = {f for f in odd if _is_rest(f) and f.parents[1] in odd}
    odd -= opposite | {f.parents[1] for f in opposite}
    return found.coefficient >= 0 and all(map(is_not_negative, odd))


def _is_rest(f: Node) -> bool:
    """Whether it is 1 - x."""
    return f.op.name == "sub" and constant_value(f.parents[0]) == 1
