"""The nonzero pattern of an expression in index notation, from the values of its relations, such as
[i ≤ j]: 1 where it holds, otherwise 0. Places are index expressions such as 2 * i + 1.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ...graphs.shapes import numel
from ...lazy import np
from ..indices import places
from ..indices.expressions import (
    ZERO,
    Expr,
    Number,
    Product,
    Relation,
    Sum,
    Total,
    factors_of,
    inner,
    letters_of,
    parts,
    product_of,
)


def mask(e: Expr, letters: Sequence[str], sizes: Sequence[int]) -> Any:
    """The boolean pattern of indices where e may be nonzero, with a dimension for each letter."""
    env: dict[str, Any] = {}
    for place, (letter, size) in enumerate(zip(letters, sizes, strict=True)):
        env[letter] = np.arange(size).reshape([-1 if d == place else 1 for d in range(len(sizes))])
    return np.broadcast_to(_mask(e, env), sizes)


def count(e: Expr, sizes: Mapping[str, int], most: int) -> int | None:
    """The number of indices at which e may be nonzero, for letters of these sizes. None if more
    than `most` elements would have to be computed.
    """
    conditions = [f for f in factors_of(e) if not _is_everywhere(f)]
    relations = [r for f in conditions for r in inner(f) if isinstance(r, Relation)]
    tied = {k: n for k, n in sizes.items() if any(k in letters_of(r) for r in relations)}
    if numel([*tied.values()]) * max(map(work, conditions), default=1) > most:
        return None
    result = mask(product_of(conditions), [*tied], [*tied.values()]).sum()
    return int(result) * numel([n for k, n in sizes.items() if k not in tied])


def work(e: Expr) -> int:
    """How often the innermost part of e is evaluated: sums that contain relations are loops."""
    inside = max(map(work, parts(e)), default=1)
    return inside * e.size if isinstance(e, Sum) and has_relation(e) else inside


def has_relation(e: Expr) -> bool:
    """Whether e contains a relation between places."""
    return isinstance(e, Relation) or any(map(has_relation, parts(e)))


def is_a_count(e: Expr) -> bool:
    """Whether e has no factors other than relations, so that its value is a count: Σ_k [k ≤ i] is
    the number of k for which the relation holds.
    """
    if isinstance(e, Product | Total | Sum):
        return all(map(is_a_count, parts(e)))
    return isinstance(e, Relation)


def _is_everywhere(e: Expr) -> bool:
    """Whether no relation makes e 0 anywhere."""
    if isinstance(e, Total):
        return any(map(_is_everywhere, e.terms))
    if isinstance(e, Product | Sum):
        return all(map(_is_everywhere, parts(e)))
    return e != ZERO and not isinstance(e, Relation)


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
    except LookupError:  # the place is an element of an integer tensor
        return np.asarray(True)
    return np.asarray(left == right if e.symbol == "==" else left <= right)


def _unknown(value: Any) -> int:
    raise LookupError
