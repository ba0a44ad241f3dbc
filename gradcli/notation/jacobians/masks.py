"""Where an expression can be other than 0, entry by entry: its relations, evaluated."""

from collections.abc import Sequence
from typing import Any

from ...lazy import np
from ..indices import places
from ..indices.expressions import Expr, Number, Product, Relation, Sum, Total, parts


def mask(e: Expr, letters: Sequence[str], sizes: Sequence[int]) -> Any:
    """A mask with a dimension for each letter."""
    env: dict[str, Any] = {}
    for place, (letter, size) in enumerate(zip(letters, sizes, strict=True)):
        env[letter] = np.arange(size).reshape([-1 if d == place else 1 for d in range(len(sizes))])
    return np.broadcast_to(_mask(e, env), sizes)


def work(e: Expr) -> int:
    """How often parts are looked at for the sums they stand in."""
    inside = max(map(work, parts(e)), default=1)
    return inside * e.size if isinstance(e, Sum) and has_relation(e) else inside


def has_relation(e: Expr) -> bool:
    """Whether it depends on a condition between places."""
    return isinstance(e, Relation) or any(map(has_relation, parts(e)))


def _mask(e: Expr, env: dict[str, Any]) -> Any:
    if isinstance(e, Number):
        return np.asarray(e.value != 0)
    if isinstance(e, Relation):
        return _holds(e, env)
    if not has_relation(e) or not isinstance(e, Product | Total | Sum):
        return np.asarray(True)
    if isinstance(e, Sum):
        out = np.asarray(False)
        for value in range(e.size):
            out = out | _mask(e.body, env | {e.letter: np.asarray(value)})
        return out
    out = _mask(parts(e)[0], env)
    for part in parts(e)[1:]:
        out = out & _mask(part, env) if isinstance(e, Product) else out | _mask(part, env)
    return out


def _holds(e: Relation, env: dict[str, Any]) -> Any:
    try:
        left, right = (places.at(p, env, _unknown) for p in (e.left, e.right))
    except LookupError:  # a place that a tensor holds
        return np.asarray(True)
    return np.asarray(left == right if e.symbol == "==" else left <= right)


def _unknown(value: Any) -> int:
    raise LookupError
