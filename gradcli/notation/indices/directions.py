"""Which way the letter of a sum goes through what is summed."""

from collections.abc import Sequence

from . import places
from .expressions import Element, Expr, Relation, inner, letters_of


def is_mirrored(letter: str, factors: Sequence[Expr]) -> bool:
    """Whether elements are read against the direction of the letter, and none along it; where none
    is, whether the letter is bound together with others in all relations: [k ≤ n-j].
    """
    against = False
    bounds = [f for f in factors if isinstance(f, Relation) and len(letters_of(f)) > 1]
    if len(bounds) == len(factors):
        return all(_bound_together(f, letter) for f in bounds)
    for e in (e for factor in factors for e in inner(factor) if isinstance(e, Element)):
        for place in e.places:
            if place == letter:
                return False
            for atom, times in place.terms if isinstance(place, places.Linear) else ():
                if atom == letter and times != -1:
                    return False
                against = against or atom == letter
    return against


def _bound_together(e: Relation, letter: str) -> bool:
    """Whether the relation is one between the sum of letters and a number."""
    terms = dict(places.linear(places.plus(e.right, e.left, -1)).terms)
    return letter in terms and len({*terms.values()}) == 1
