"""Proofs that two formulas are equal for all values, and, at generic sizes, for all sizes.

They are equal if rewriting gives the same formula, or if the expanded index notation of both has
the same normal form: a sum of terms, each a number, sums over indices and powers of factors. The
normal form uses no identities of functions, except those of comparisons.
"""

from collections.abc import Iterable, Mapping
from itertools import permutations, product
from typing import NamedTuple

from ...graphs import OPS, Node
from ...graphs.substitution import substitute
from ...notation.formulas.rules.guards import OPPOSITE
from ...notation.formulas.simplify import simplify
from ...notation.indices.collect import Simplifier
from ...notation.indices.expressions import (
    Element,
    Expr,
    Function,
    Number,
    Power,
    Product,
    Sum,
    TooLong,
    Total,
    letters_of,
    parts,
    substituted,
)
from ...notation.indices.lower import Lowering
from ...notation.tree import Name
from .points import Point

MOST_TERMS, MOST_LETTERS, HIGHEST = 400, 4, 4
DIGITS = 11  # number of digits to which the numbers of like terms are compared


def same(claim: Node, right: Node, point: Point, names: Mapping[Node, Name]) -> bool:
    """Whether two formulas are equal, by rewriting or in index notation."""
    if claim.shape != right.shape:
        return False
    claim, right = (_with_seed(node, point) for node in (claim, right))
    atoms = {n: label for n, label in names.items() if n not in (claim, right)}
    inputs = {n: label for n, label in atoms.items() if n.op.name == "input"}
    return any(
        _by_rewriting(claim, right, atoms_used) or _by_index(claim, right, atoms_used)
        for atoms_used in (atoms, inputs)
    )


def _with_seed(node: Node, point: Point) -> Node:
    """A node with the value of the seed substituted, if it has one."""
    seed = point.problem.seed
    return node if seed.value is None else substitute(node, {seed.node: seed.value})


def _by_rewriting(claim: Node, right: Node, names: Iterable[Node]) -> bool:
    """Whether both simplify to the same formula, or their difference to zeros."""
    keep = {*names}
    if simplify(claim, keep=keep) is simplify(right, keep=keep):
        return True
    return claim.dtype == "float" and simplify(claim - right, keep=keep).op.name == "zeros"


def _by_index(claim: Node, right: Node, names: Mapping[Node, Name]) -> bool:
    """Whether both have the same normal form in index notation."""
    lower = Lowering({n: label.text for n, label in names.items()})
    at = tuple(f"i{d}" for d in range(right.ndim))
    lower.sizes |= dict(zip(at, right.shape))
    collect = Simplifier(lower.sizes)
    try:
        short = (simplify(node, keep=names) for node in (claim, right))
        forms = [normal_form(collect(lower(node, at)), lower.sizes) for node in short]
    except (TooLong, RecursionError, OverflowError):
        return False
    return forms[0] == forms[1]


# ---- normal forms --------------------------------------------------------------------------------


class Term(NamedTuple):
    """number · Σ over `sums` (indices with their sizes) of factors, each with an exponent."""

    number: float
    sums: dict[str, int]
    factors: dict[Expr, int]


def normal_form(e: Expr, sizes: Mapping[str, int], depth: int = 0) -> Expr:
    """The normal form of an expression. Raises TooLong."""
    return _Normal(sizes, depth).form(e)


class _Normal:
    """The normal form at one nesting depth, which has index names of its own."""

    def __init__(self, sizes: Mapping[str, int], depth: int):
        self.sizes, self.depth, self.fresh = sizes, depth, 0

    def form(self, e: Expr) -> Expr:
        """The sum of terms in canonical order, with like terms combined."""
        numbers: dict[Expr, float] = {}
        for term in self.terms(e):
            key = self.canonical(term)
            numbers[key] = numbers.get(key, 0.0) + term.number
        largest = max(map(abs, numbers.values()), default=0.0)
        terms = {k: n for k, n in numbers.items() if abs(n) > largest * 10.0**-DIGITS}
        ordered = sorted(terms, key=_key)
        return Total(tuple(Product((Number(_rounded(terms[k])), k)) for k in ordered))

    # ---- terms -----------------------------------------------------------------------------------

    def terms(self, e: Expr) -> list[Term]:
        """The terms of an expanded expression."""
        if isinstance(e, Number):
            return [Term(float(e.value), {}, {})]
        if isinstance(e, Total):
            return _bounded(t for part in e.terms for t in self.terms(part))
        if isinstance(e, Product):
            result = [Term(1.0, {}, {})]
            for factor in e.factors:
                pairs = product(result, self.terms(factor))
                result = _bounded(self.times(a, b) for a, b in pairs)
            return result
        if isinstance(e, Sum):
            return [_summed(t, e.letter, e.size) for t in self.terms(e.body)]
        if isinstance(e, Power):
            return self.power(e)
        return self.function(e) if isinstance(e, Function) else [Term(1.0, {}, {e: 1})]

    def times(self, a: Term, b: Term) -> Term:
        """The product of two terms; the summation indices of the second are renamed."""
        names = {letter: self._new_index() for letter in b.sums}
        factors = dict(a.factors)
        for factor, exponent in b.factors.items():
            built = substituted(factor, names, self.sizes) if names else factor
            factors[built] = factors.get(built, 0) + exponent
        sums = a.sums | {names[letter]: size for letter, size in b.sums.items()}
        return Term(a.number * b.number, sums, {f: n for f, n in factors.items() if n})

    def _new_index(self) -> str:
        self.fresh += 1
        return f"~{self.depth}.{self.fresh}"

    def power(self, e: Power) -> list[Term]:
        """A power: an integer power of a single term is a power of each factor, and a small integer
        power of a sum is expanded.
        """
        exponent = e.exponent.value if isinstance(e.exponent, Number) else 0.5
        base = self.terms(e.base)
        if float(exponent).is_integer() and len(base) == 1 and not base[0].sums and base[0].number:
            ((number, _, factors),) = base
            n = int(exponent)
            return [Term(number**n, {}, {f: k * n for f, k in factors.items()})]
        if float(exponent).is_integer() and 1 <= exponent <= HIGHEST:
            return self.terms(Product((e.base,) * int(exponent)))
        inner = self.inner(e.base)
        if float(exponent).is_integer():
            return [Term(1.0, {}, {inner: int(exponent)})]
        return [Term(1.0, {}, {Power(inner, self.inner(e.exponent)): 1})]

    def function(self, e: Function) -> list[Term]:
        """A function of normal forms. ~(a <= b) becomes a > b, relu(a) > 0 becomes a > 0, and a !=
        a becomes 0.
        """
        e = _without_relu(e)
        inside = e.args[0] if e.op.name == "logical_not" else None
        if isinstance(inside, Function) and inside.op.name in OPPOSITE:
            return self.terms(Function(OPS[OPPOSITE[inside.op.name]], inside.args, inside.attrs))
        args = tuple(map(self.inner, e.args))
        if e.op.name in ("ne", "eq") and args[0] == args[1]:
            return self.terms(Number(int(e.op.name == "eq")))
        if inside is not None and args[0] == Total(()):
            return self.terms(Number(1))
        return [Term(1.0, {}, {Function(e.op, args, e.attrs): 1})]

    def inner(self, e: Expr) -> Expr:
        """The normal form of a subexpression that is not expanded, such as an argument."""
        return normal_form(e, self.sizes, self.depth + 1)

    # ---- canonical terms -------------------------------------------------------------------------

    def canonical(self, term: Term) -> Expr:
        """The term without its number, with canonical index names and order of factors."""
        names = [f"#{self.depth}.{k}" for k in range(len(term.sums))]
        orders: Iterable[tuple[str, ...]] = permutations(term.sums)
        if len(term.sums) > MOST_LETTERS:
            orders = [tuple(term.sums)]
        written = (self._written(term, dict(zip(order, names))) for order in orders)
        return min(written, key=_key)

    def _written(self, term: Term, names: dict[str, str]) -> Expr:
        """The product of factors within sums over indices, renamed by `names`."""
        factors = sorted(
            (
                Power(substituted(f, names, self.sizes) if names else f, Number(n))
                for f, n in term.factors.items()
            ),
            key=_key,
        )
        body: Expr = Product(tuple(factors))
        for letter in sorted(names, key=names.__getitem__, reverse=True):
            body = Sum(names[letter], term.sums[letter], body)
        return body


def _without_relu(e: Function) -> Function:
    """a > 0 for relu(a) > 0, and a <= 0 for relu(a) <= 0."""
    compared = e.args[0] if e.op.name in ("gt", "le") and e.args[1] == Number(0) else None
    if isinstance(compared, Function) and compared.op.name == "relu":
        return Function(e.op, (*compared.args, e.args[1]), e.attrs)
    return e


def _summed(term: Term, letter: str, size: int) -> Term:
    """The sum of a term over an index; multiplies by `size` if the index does not occur."""
    if any(letter in letters_of(f) for f in term.factors):
        return term._replace(sums=term.sums | {letter: size})
    return term._replace(number=term.number * size)


def _bounded(terms: Iterable[Term]) -> list[Term]:
    result: list[Term] = []
    for term in terms:
        result.append(term)
        if len(result) > MOST_TERMS:
            raise TooLong
    return result


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


def _key(e: Expr) -> str:
    """A sort key of expressions that distinguishes nodes."""
    if isinstance(e, Element):
        return f"{e.node.serial}{e.places!r}"
    if not parts(e):
        return repr(e)
    head = e.op.name + repr(e.attrs) if isinstance(e, Function) else type(e).__name__
    head += f"{e.letter}{e.size}" if isinstance(e, Sum) else ""
    return f"{head}({','.join(map(_key, parts(e)))})"
