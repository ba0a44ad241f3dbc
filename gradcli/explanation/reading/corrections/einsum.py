"""Corrections of the equations of einsum."""

import ast
from collections.abc import Iterator
from itertools import combinations

from .case import Case, Proposal
from .nodes import value_of


def equation_first(case: Case) -> Iterator[Proposal]:
    """Write einsum("ij,jk->ik", a, b) for einsum(a, b, "ij,jk->ik")."""
    for call in case.calls("einsum"):
        texts = [a for a in call.args if isinstance(value_of(a), str)]
        if len(texts) == 1 and call.args[0] is not texts[0]:
            others = [a for a in call.args if a is not texts[0]]
            given = ", ".join(map(case.of, [*texts, *others]))
            why = "The equation is the first argument of einsum, before the operands."
            yield case.proposal(case.spanning(call.args, given), why=why)


def missing_letter(case: Case) -> Iterator[Proposal]:
    """Write 'id,jd->ij' for 'id,id->ij': a letter of the output in the place of one that an operand
    has, too.
    """
    for call, terms, rest in _equations(case):
        for k, term in reversed([*enumerate(terms)]):
            others = "".join(terms[:k] + terms[k + 1 :])
            for letter in [c for c in term if c in others]:
                new = [*terms[:k], term.replace(letter, case.match[1]), *terms[k + 1 :]]
                yield case.replaced(call.args[0], repr(",".join(new) + rest))


def letters(case: Case) -> Iterator[Proposal]:
    """Exchange two subscripts of an operand: use its transpose."""
    for call, terms, rest in _equations(case):
        for k in (int(case.match[2]), 0):
            known = _sizes(case, call, terms, k)
            shape = case.shape(call.args[k + 1]) if len(call.args) > k + 1 else None
            for term in _transposed(terms[k]):
                if shape is None or all(known.get(c, n) == n for c, n in zip(term, shape)):
                    new = [term if j == k else o for j, o in enumerate(terms)]
                    yield case.replaced(call.args[0], repr(",".join(new) + rest))


def _transposed(term: str) -> Iterator[str]:
    """The subscripts of an operand with two of them exchanged, the last ones first."""
    for i, j in reversed([*combinations(range(len(term)), 2)]):
        yield term[:i] + term[j] + term[i + 1 : j] + term[i] + term[j + 1 :]


def _sizes(case: Case, call: ast.Call, terms: list[str], place: int) -> dict[str, int]:
    """The sizes that the subscripts have in the operands other than the one at a place."""
    shapes = [case.shape(a) or () for a in call.args[1:]]
    others = [p for k, p in enumerate(zip(terms, shapes)) if k != place]
    return {c: n for term, shape in others for c, n in zip(term, shape)}


def _equations(case: Case) -> Iterator[tuple[ast.Call, list[str], str]]:
    """The calls of einsum, each with the terms of its operands and the rest of its equation."""
    for call in case.calls("einsum"):
        equation = case.value(call.args[0])
        left, arrow, right = equation.replace(" ", "").partition("->")
        yield call, left.split(","), arrow + right
