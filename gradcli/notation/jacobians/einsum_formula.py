"""Entries that are sums of products over several index letters, written as einsum:
einsum('ikl,lm,jmn,nk->ij', A, S, A, S).

It is used for sums that are not matrix products, such as Σ A[i,k,l] S[l,m] A[j,m,n] S[n,k].
"""

from collections.abc import Iterator, Sequence

from ..indices.expressions import (
    Element,
    Expr,
    Product,
    Sum,
    factors_of,
    letters_of,
    product_of,
)
from ..tree import Call, Tree, Verbatim
from .masks import has_relation
from .matrices import Matrices

LETTERS = "ijklmnopqrstuvwxyzabcdefgh"
FEWEST = 3  # fewest letters of an operand; with fewer, the sum is a matrix product


def einsum_formula(
    write: Matrices, e: Expr, rows: Sequence[str], columns: Sequence[str]
) -> Tree | None:
    """The formula of an entry with these letters of rows and columns, as a matrix. None if it
    contains no sum, contains a relation, has a factor without a formula, or is a product of
    vectors and matrices only.
    """
    number, factors = write.number(e)
    parts = [*_parts(factors)]
    free = [*rows, *columns]
    if write.fixed or len(parts) == len(factors) or any(map(has_relation, parts)):
        return None
    scalars = [f for f in parts if not letters_of(f)]
    operands = [f for f in parts if letters_of(f)]
    subscripts = [_letters(f) for f in operands]
    tensors = [write.tensor(f, letters) for f, letters in zip(operands, subscripts)]
    scale = write.tensor(product_of(scalars), []) if scalars else None
    known = {k for letters in subscripts for k in letters}
    written = [t for t in tensors if t is not None]
    if len(written) < len(operands) or (scalars and scale is None):
        return None
    if not known.issuperset(free) or len(known) > len(LETTERS):
        return None
    if all(len(letters) < FEWEST for letters in subscripts):
        return None
    equation = _equation(subscripts, free)
    result: Tree = Call("einsum", (Verbatim(repr(equation)), *written))
    if len(rows) != 1 or len(columns) != 1:
        result = write.reshaped(result, rows, columns)
    return write.scaled(number, write.scaled(scale, result))


def _parts(factors: Sequence[Expr]) -> Iterator[Expr]:
    """The factors of a product, and those of sums over letters."""
    for f in factors:
        if isinstance(f, Sum):
            yield from _parts(factors_of(f.body))
        elif isinstance(f, Product):
            yield from _parts(f.factors)
        else:
            yield f


def _letters(f: Expr) -> tuple[str, ...]:
    """The letters of an operand, for an element in the order of its dimensions."""
    places = f.places if isinstance(f, Element) else ()
    in_order = tuple(p for p in places if isinstance(p, str))
    return in_order if {*in_order} == letters_of(f) else tuple(sorted(letters_of(f)))


def _equation(operands: Sequence[Sequence[str]], free: Sequence[str]) -> str:
    """The equation of einsum, in which the letters of the result come first in the alphabet."""
    order = dict.fromkeys([*free, *(k for letters in operands for k in letters)])
    new = dict(zip(order, LETTERS, strict=False))
    *left, right = ("".join(new[k] for k in letters) for letters in (*operands, free))
    return f"{','.join(left)}->{right}"
