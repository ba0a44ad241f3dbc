"""A cache of the formulas of recent problems.

A program evaluated again at other values has the same problem at generic sizes, so that its
formulas are searched for once.
"""

from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ...graphs import Node
from ...language.problem import Problem
from ...lazy import np
from ...notation import tree

if TYPE_CHECKING:
    from ...notation.formulas.shorten import Shortener
    from ...notation.indices.index import Notation
    from ...notation.jacobians.structure import Known

CACHED = 32  # problems


class Formulas(NamedTuple):
    """Results of searches by their arguments, and formula shorteners with their own caches."""

    written: dict[tuple, tree.Tree | None]
    shortened: dict[tuple, Node]
    shorteners: "dict[frozenset[Node], Shortener]"
    # results of `_shortest_jacobian` in by_index, by input name and whether it searched
    jacobians: "dict[tuple[str, bool, bool], tuple[Node | None, Notation | None]]"
    factors: "Known"  # factors of products that are Jacobians


def formulas_of(problem: Problem, zeros: frozenset[str]) -> Formulas:
    """The cached formulas of an equal problem with the same `zeros`, or an empty cache."""
    return _formulas_of((_frozen(problem), zeros))


@lru_cache(CACHED)
def _formulas_of(key: Hashable) -> Formulas:
    return new_formulas()


def new_formulas() -> Formulas:
    """An empty cache."""
    return Formulas({}, {}, {}, {}, {})


def _frozen(value: Any) -> Hashable:
    """A hashable key, equal for equal values; arrays are replaced by a digest of their bytes."""
    if isinstance(value, np.ndarray):
        from hashlib import blake2b  # imported here: needed by few problems, and takes milliseconds

        return value.dtype.str, value.shape, blake2b(value.tobytes()).digest()
    if isinstance(value, Mapping):
        return tuple((key, _frozen(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return value
