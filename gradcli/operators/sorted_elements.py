"""The order of SymPy elements, written out."""

from itertools import combinations

from .elements import both, choice, compare, either, require_few

SORTED = 4  # elements whose order is written out


def places_in_order(sp, row, is_descending):
    """The places of the elements in order."""
    require_few(row, SORTED, "order")

    def before(i, j):
        relation = ("G" if is_descending else "L") + ("e" if i < j else "t")
        return compare(sp, relation, row[i], row[j])

    def stands_at(rank, i):
        others = [j for j in range(len(row)) if j != i]
        return either(
            sp,
            *(
                both(
                    sp, *(before(j, i) if j in first else before(i, j) for j in others)
                )
                for first in combinations(others, rank)
            ),
        )  # fmt: skip

    return [
        _first_that_holds(sp, [stands_at(rank, i) for i in range(len(row))])
        for rank in range(len(row))
    ]


def _first_that_holds(sp, conditions):
    """The number of the condition that holds."""
    out = sp.Integer(len(conditions) - 1)
    for k in reversed(range(len(conditions) - 1)):
        out = choice(sp, conditions[k], sp.Integer(k), out)
    return out
