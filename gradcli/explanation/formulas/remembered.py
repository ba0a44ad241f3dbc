"""What is known of the formulas of a problem, kept for the next one that asks the same.

A program is asked again at other values, and in general, at sizes that tell, it is the same
problem: its formulas are searched for once.
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

REMEMBERED = 32  # problems


class Formulas(NamedTuple):
    """Results of searches by what was searched for, and those who search: what they learn of a node
    they know for the next.
    """

    written: dict[tuple, tree.Tree | None]
    shortened: dict[tuple, Node]
    shorteners: "dict[frozenset[Node], Shortener]"
    # as the Jacobian by an input is shortest by index, after a search or without
    jacobians: "dict[tuple[str, bool], tuple[Node | None, Notation | None]]"
    factors: "Known"  # of products that Jacobians are


def formulas_of(problem: Problem) -> Formulas:
    """Those of the latest problem that asked the same, where there was one."""
    return _formulas_of(_frozen(problem))


@lru_cache(REMEMBERED)
def _formulas_of(asked: Hashable) -> Formulas:
    return new_formulas()


def new_formulas() -> Formulas:
    """Those of a problem of which nothing is known."""
    return Formulas({}, {}, {}, {}, {})


def _frozen(value: Any) -> Hashable:
    """What is equal for equal values: arrays by their numbers, all else as it is compared."""
    if isinstance(value, np.ndarray):
        from hashlib import blake2b  # which few problems need, and takes milliseconds

        return value.dtype.str, value.shape, blake2b(value.tobytes()).digest()
    if isinstance(value, Mapping):
        return tuple((key, _frozen(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return value
