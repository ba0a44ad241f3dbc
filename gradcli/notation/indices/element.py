"""One element of a gradient, written as a sum of products, with its value.

a.grad[0,1] = g[0,1]·a[0,1] + g[0,1]·a[0,1] = 2·2 + 2·2 = 8

It is derived from the gradient as built by the reverse pass, so that contributions from several
paths are separate terms. Here `place` is the multi-index of the element, a tuple of integers.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from math import inf, isfinite, isnan, prod
from typing import Any, NamedTuple

from ...errors import Singular
from ...graphs import Node
from ...graphs.shapes import multi_index
from ...lazy import np
from .. import tree
from ..tree import Infix, LeftOut, Name, Tree, Verbatim
from .collect import Simplifier
from .expressions import (
    Element,
    Evaluation,
    Expr,
    Function,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    TooLong,
    Total,
    Unknown,
    factors_of,
    inner,
    is_condition,
    parts,
    product_of,
    rebuilt,
    resolved_values,
    substituted,
)
from .factors import fraction, split_number
from .lower import Lowering
from .written import IndexRenaming, Writing, opposite

Values = Callable[[Node], Any]
MOST_TERMS, FIRST = 8, 3  # terms that are written; of more terms the first ones and the last
MOST_SYMBOLS, WIDEST = 4, 70  # terms and characters up to which symbols are written too
MOST_PARTS = 100  # of an expression with unknown numbers
LONGEST = 4_000  # characters
MOST_COUNTED = 1_000  # terms that are computed
SHOWN = 5  # digits of numbers, as in printed arrays
MOST_SUMMED = 5_000  # terms of sums that are computed, including zeros
MOST_TRIED = 24  # elements that are tried in search of one to show
MOST_SEARCHED = 100_000  # elements that are searched for a nonzero one


class Written(NamedTuple):
    """The three sides of `symbols = numbers = total`; each is None if it adds no information."""

    symbols: Tree | None
    numbers: Tree | None
    total: float | None


class Terms:
    """The terms of one element of a node."""

    def __init__(
        self, node: Node, place: tuple[int, ...], names: Mapping[Node, Name], values: Values
    ):
        lower = Lowering({n: name.text for n, name in names.items()}, values)
        self.sizes, self.reserved = lower.sizes, tree.words_in_use(names.values())
        self.simplify = Simplifier(lower.sizes, collect=False)
        self.expr = self.simplify(lower(node, place))
        self.evaluate, self.remaining = Evaluation(values), MOST_SUMMED
        self.index_values: Values = lambda n: values(n) if n.dtype == "int" else None

    def __iter__(self) -> Iterator[tuple[Expr, ...]]:
        """Yield the factors of every term, without those whose relations are 0 or that are empty
        sums. Raises TooLong if there are too many.
        """
        for factors in self._terms(self.expr):
            if any(isinstance(f, Element) and not f.node.numel for f in factors):
                continue
            known: dict[Expr, float | None] = {
                f: self.value(f) for f in factors if isinstance(f, Relation)
            }
            if 0.0 not in known.values():
                resolved = (
                    resolved_values(f, self.index_values) for f in factors if known.get(f) is None
                )
                yield tuple(resolved) or (Number(1),)

    def _terms(self, e: Expr) -> Iterator[tuple[Expr, ...]]:
        if isinstance(e, Total):
            for term in e.terms:
                yield from self._terms(term)
        elif isinstance(e, Sum):
            for value in range(e.size):
                yield from self._terms(self._term_at(e, value))
        elif isinstance(e, Product):
            yield from self._expanded(e)
        elif e != Number(0):
            yield (e,)

    def _term_at(self, e: Sum, value: int) -> Expr:
        self.remaining, self.simplify.work = self.remaining - 1, 0
        if self.remaining < 0:
            raise TooLong
        return self.simplify(substituted(e.body, {e.letter: value}, self.sizes))

    def _expanded(self, e: Product) -> Iterator[tuple[Expr, ...]]:
        """Yield the factors of the terms of a product, a sum among simple factors expanded."""
        sums = [f for f in e.factors if isinstance(f, Sum)]
        totals = [f for f in e.factors if isinstance(f, Total)]
        others = [f for f in e.factors if not isinstance(f, Sum | Total)]
        plain = all(map(_is_number, others))
        simple = all(isinstance(f, Element) or is_condition(f) or _is_number(f) for f in others)
        if (len(sums) == 1 and not totals and simple) or (len(totals) == 1 and not sums and plain):
            chosen: Expr = sums[0] if sums else totals[0]
            before = e.factors[: e.factors.index(chosen)]
            after = e.factors[len(before) + 1 :]
            for term in self._terms(chosen):
                yield factors_of(self.simplify(Product((*before, *term, *after))))
        else:
            yield e.factors

    def expanded(self, e: Expr) -> Expr:
        """The expression with short sums expanded."""
        if isinstance(e, Sum) and e.size <= MOST_TERMS:
            terms = tuple(self._term_at(e, k) for k in range(e.size))
            return self.expanded(self.simplify(Total(terms)))
        if not parts(e):
            return e
        return _without_logarithm(rebuilt(e, tuple(map(self.expanded, parts(e)))))

    def length(self, e: Expr) -> int:
        """The number of parts of the expression with short sums expanded."""
        if isinstance(e, Sum) and e.size <= MOST_TERMS:
            return e.size * self.length(e.body)
        return 1 + sum(map(self.length, parts(e)))

    def lettered(self, e: Expr) -> Expr:
        """The expression with readable letters for its remaining sums."""
        return IndexRenaming({}, self.sizes)(e, self.reserved)

    def value(self, e: Expr) -> float | None:
        """The value of an expression; None if unknown, or if a singular matrix is inverted."""
        try:
            with np.errstate(all="ignore"):
                return float(self.evaluate(e, {}))
        except (Unknown, Singular):
            return None


def written_out(
    grad: Node,
    place: tuple[int, ...],
    names: Mapping[Node, Name],
    values: Values,
    widest: int = WIDEST,
) -> Written:
    """One element of a gradient as a sum of products; `values` returns arrays of nodes, or None.
    Both symbols and numbers are written if together they have at most `widest` characters.
    """
    array = values(grad)
    total = None if array is None else float(np.asarray(array)[place])
    try:
        return _equation(Terms(grad, place, names, values), names, total, widest)
    except (TooLong, RecursionError):
        return Written(None, None, total)


def _equation(
    terms: Terms, names: Mapping[Node, Name], total: float | None, widest: int
) -> Written:
    """The sides of the equation of an element, whose value is `total` if it is known."""
    result = _first_terms(terms, MOST_PARTS if total is None else inf)
    if len(result) == MOST_COUNTED:
        return Written(None, None, total)
    count, nonzero = len(result), [t for t in result if not _is_zero(t, terms)]
    if not nonzero:
        return Written(None, None, 0.0)
    if count > MOST_SYMBOLS:
        result = nonzero
    first = _shown_terms(result)
    if _length(first, terms) > MOST_PARTS and not _all_known(first, terms):
        return Written(None, None, total)
    is_nan = total is not None and isnan(total)
    if not is_nan and _any_nan(result, terms):  # nan is displayed differently
        return Written(None, None, total)
    if total is None:
        total = _total(result, terms)
    elif sum(map(len, result)) > 1 and not _is_sum(total, result, terms):
        return Written(None, None, total)  # an intermediate result overflowed, or was clamped
    return _sides(nonzero, terms, Writing(names, "·"), total, count, widest)


def elements_by_size(
    node: Node, place: tuple[int, ...], names: Mapping[Node, Name], values: Values
) -> list[tuple[Node, tuple[int, ...]]]:
    """The elements that one element is computed from, those of its largest term first."""
    try:
        terms = Terms(node, place, names, values)
        result = [*islice(terms, MOST_COUNTED)]
    except (TooLong, RecursionError):
        return []
    sizes = {t: abs(terms.value(Product(t)) or 0) for t in result}
    parts = (e for t in sorted(sizes, key=lambda t: -sizes[t]) for f in t for e in inner(f))
    elements = (e for e in parts if isinstance(e, Element))
    return [
        (e.node, e.places)  # type: ignore[misc]
        for e in elements
        if all(isinstance(p, int) for p in e.places)
    ]


def _sides(
    result: list[tuple[Expr, ...]],
    terms: Terms,
    write: Writing,
    total: float | None,
    count: int,
    widest: int,
) -> Written:
    """The sum of terms in symbols, if there are few, and in numbers; `count` is the number of terms
    before those that are 0 were left out.
    """
    if total is None:  # without a total, equal contributions are collected
        result = _in_row_major_order(_collected(result))
    few = len(result) <= MOST_SYMBOLS
    ordered = list if total is not None else _positive_first
    symbols: Tree = Verbatim(" " * widest)
    if few:
        symbols = _added(ordered([_symbols(t, terms, write) for t in result]))
    shown = [_numbers(t, terms, write) for t in _shown_terms(result)]
    numbers = _added(ordered(shown) if few else shown, count * (len(result) > MOST_TERMS))
    return _without_repetition(symbols, numbers, total, widest)


def _without_repetition(symbols: Tree, numbers: Tree, total: float | None, widest: int) -> Written:
    """The sides of an equation to show, without repetitions or sides that are too long."""
    in_symbols, in_numbers = tree.text(symbols), tree.text(numbers)
    if len(in_numbers) > LONGEST:
        return Written(None, None, total)
    is_total = total is not None and in_numbers == short(total)
    if in_symbols == in_numbers:
        return Written(None, numbers, None if is_total else total)
    is_wide = len(in_symbols) + (0 if is_total else len(in_numbers) + 3) > widest
    return Written(None if is_wide else symbols, None if is_total else numbers, total)


def _first_terms(terms: Terms, longest: float) -> list[tuple[Expr, ...]]:
    """The first terms: at most MOST_COUNTED, and fewer if they are longer than `longest`."""
    result: list[tuple[Expr, ...]] = []
    for factors in islice(terms, MOST_COUNTED):
        result.append(factors)
        if len(result) <= FIRST and _length(result, terms) > longest:
            break
    return result


def _collected(result: list[tuple[Expr, ...]]) -> list[tuple[Expr, ...]]:
    """The terms with equal ones collected."""
    times = Counter(result)
    return [factors if n == 1 else _multiple(n, factors) for factors, n in times.items()]


def _in_row_major_order(result: list[tuple[Expr, ...]]) -> list[tuple[Expr, ...]]:
    """The terms, in row-major order if all are elements of one tensor."""
    alone = [t[0] for t in result if len(t) == 1 and isinstance(t[0], Element)]
    plain = all(isinstance(p, int) for e in alone for p in e.places)
    if len(alone) < len(result) or len({e.node for e in alone}) > 1 or not plain:
        return result
    return [(e,) for e in sorted(alone, key=lambda e: e.places)]


def _without_logarithm(e: Expr) -> Expr:
    """exp(a) / b for exp(a - log(b)), as in softmax; other expressions unchanged."""
    if not isinstance(e, Function) or e.op.name != "exp" or not isinstance(e.args[0], Total):
        return e
    terms = {t: opposite(t) for t in e.args[0].terms}
    logarithm = next(
        (t for t, o in terms.items() if isinstance(o, Function) and o.op.name == "log"), None
    )
    rest = tuple(t for t in terms if t is not logarithm)
    if logarithm is None or not rest:
        return e
    numerator = e._replace(args=(Total(rest) if len(rest) > 1 else rest[0],))
    return Product((numerator, Power(terms[logarithm].args[0], Number(-1))))  # type: ignore[union-attr]


def _multiple(n: int, factors: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """A term times n."""
    numerator, denominator, rest = split_number(factors)
    number, *divisors = fraction(n * numerator, denominator)
    return tuple(f for f in (number, *rest, *divisors) if f != Number(1)) or (Number(1),)


def _length(result: list[tuple[Expr, ...]], terms: Terms) -> int:
    """The number of parts of terms."""
    return sum(terms.length(f) for factors in result for f in factors)


def _all_known(result: list[tuple[Expr, ...]], terms: Terms) -> bool:
    """Whether the values of all factors are known."""
    return all(terms.value(f) is not None for factors in result for f in factors)


def _is_zero(factors: tuple[Expr, ...], terms: Terms) -> bool:
    """Whether a known factor of a term is 0 and no known factor is infinite or nan."""
    known = [v for v in map(terms.value, factors) if v is not None]
    return 0.0 in known and all(map(isfinite, known))


def _any_nan(result: list[tuple[Expr, ...]], terms: Terms) -> bool:
    """Whether the product of the known factors of a term is nan."""
    known = ([terms.value(f) for f in factors] for factors in result)
    return any(isnan(prod(v for v in values if v is not None)) for values in known)


def _total(result: list[tuple[Expr, ...]], terms: Terms) -> float | None:
    """The sum of all terms; None if one is unknown."""
    total = 0.0
    for factors in result:
        value = terms.value(Product(factors))
        if value is None:
            return None
        total += value
    return total


def _is_sum(total: float, result: list[tuple[Expr, ...]], terms: Terms) -> bool:
    """Whether the sum of all terms is `total`, if it is known."""
    value = _total(result, terms)
    if value is None or not isfinite(value) or not isfinite(total):
        return True
    scale = sum(abs(terms.value(Product(factors)) or 0) for factors in result)
    return abs(value - total) <= 1e-6 * scale


def place_to_show(grad: Node, names: Mapping[Node, Name], values: Values) -> tuple[int, ...]:
    """The multi-index of the element to show. This is the first nonzero element with a factor
    other than 0 and 1, otherwise the first nonzero one, otherwise the first. Without values, it is
    the first element that has terms.
    """
    first, values = (0,) * grad.ndim, cache(values)
    array = values(grad)
    if not grad.ndim or not grad.numel:
        return first
    if array is None:
        return _with_terms(grad, names, values)
    flat = np.flatnonzero(np.ravel(array)[:MOST_SEARCHED])[:MOST_TRIED]
    nonzero = [multi_index(int(at), grad.shape) for at in flat]
    for place in nonzero:
        try:
            terms = Terms(grad, place, names, values)
            factors = {terms.value(f) for t in islice(terms, MOST_TERMS) for f in t}
        except (TooLong, RecursionError):
            break
        if factors - {0.0, 1.0}:
            return place
    return nonzero[0] if nonzero else first


def _with_terms(grad: Node, names: Mapping[Node, Name], values: Values) -> tuple[int, ...]:
    """The first of the tried elements that has terms; if there is none, the first element."""
    first = (0,) * grad.ndim
    for at in range(min(grad.numel, MOST_TRIED)):
        place = multi_index(at, grad.shape)
        try:
            if next(iter(Terms(grad, place, names, values)), None) is not None:
                return place
        except (TooLong, RecursionError):
            break
    return first


def short(value: float, digits: int = SHOWN) -> str:
    """A number as text with about five digits, as arrays have: 2, 0.5, 7.3891, 1e-05."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if float(value).is_integer() and abs(value) < 1e9:
        return str(int(value))
    return f"{value:.{digits if abs(value) < 1000 else max(6, digits)}g}"


def _is_number(e: Expr) -> bool:
    return isinstance(e, Number) or (isinstance(e, Power) and isinstance(e.base, Number))


def _shown_terms(terms: list) -> list:
    return terms if len(terms) <= MOST_TERMS else [*terms[:FIRST], terms[-1]]


class _Signed(NamedTuple):
    minus: bool
    tree: Tree


def _positive_first(terms: list[_Signed]) -> list[_Signed]:
    """The terms with those of positive sign first, if the first is negative."""
    return sorted(terms, key=lambda t: t.minus) if terms[0].minus else terms


def _symbols(factors: tuple[Expr, ...], terms: Terms, write: Writing) -> _Signed:
    factors = tuple(f for f in factors if not _divides_by_one(f, terms)) or (Number(1),)
    built = (
        Product(tuple(terms.expanded(f) for f in factors))
        if len(factors) > 1
        else terms.expanded(factors[0])
    )
    built = terms.lettered(built)
    positive = opposite(built)
    return _Signed(positive is not None, write(built if positive is None else positive))


def _numbers(factors: tuple[Expr, ...], terms: Terms, write: Writing) -> _Signed:
    """The tree of a term with the values of its known factors."""
    factors = _known_as_one(factors, terms)
    minus = opposite(product_of(factors))
    if minus is not None:
        factors = factors_of(minus)
    numerator: list[Tree] = []
    denominator: list[Tree] = []
    for factor in factors:
        divides = isinstance(factor, Power) and factor.exponent == Number(-1)
        shown = factor.base if divides else factor  # type: ignore[union-attr]
        value = terms.value(shown)
        if _divides_by_one(factor, terms):
            continue
        if isinstance(shown, Number) and value is not None:
            (denominator if divides else numerator).append(_number(value))
            continue
        written = write(terms.lettered(terms.expanded(shown))) if value is None else _number(value)
        (denominator if divides else numerator).append(written)
    out = _multiplied(_numbers_first(numerator)) if numerator else tree.Number(1)
    out = Infix("/", out, _multiplied(denominator)) if denominator else out
    return _Signed(minus is not None, out)


def _numbers_first(factors: list[Tree]) -> list[Tree]:
    """The factors with numbers first, unless all are numbers: -2·x[0] for x[0]·(-2)."""
    numbers = [f for f in factors if isinstance(f, Verbatim)]
    others = [f for f in factors if not isinstance(f, Verbatim)]
    if not numbers or not others:
        return factors
    first, *rest = numbers
    return [Verbatim(first.text.strip("()")), *rest, *others]


def _known_as_one(factors: tuple[Expr, ...], terms: Terms) -> tuple[Expr, ...]:
    """The factors, with one number in place of all those whose values are known, if the values of
    others are unknown: g[0]·0.26894.
    """
    known = {f: v for f in {*factors} if (v := terms.value(f)) is not None}
    number = prod(known[f] for f in factors if f in known)
    several = sum(f in known for f in factors) > 1 or any(map(is_condition, known))
    if not several or len(known) == len({*factors}) or not isfinite(number):
        return factors
    unknown = [f for f in factors if f not in known]
    if number == 1:
        return (*unknown,)
    first = next(k for k, f in enumerate(factors) if known.get(f, 1) != 1)
    before = sum(f not in known for f in factors[:first])
    return (*unknown[:before], Number(number), *unknown[before:])


def _divides_by_one(factor: Expr, terms: Terms) -> bool:
    """Whether a factor divides by numbers and sizes whose value is 1."""
    if not isinstance(factor, Power) or factor.exponent != Number(-1):
        return False
    sizes = all(p.node.op.shape_only for p in inner(factor) if isinstance(p, Element))
    return sizes and terms.value(factor.base) == 1


def _number(value: float, digits: int = SHOWN) -> Tree:
    text = short(value, digits)
    return (
        Verbatim(f"({text})" if text.startswith("-") else text)
        if value == value
        else Verbatim("nan")
    )


def _multiplied(trees: list[Tree]) -> Tree:
    out = trees[0]
    if len(trees) == 1 and isinstance(out, Verbatim):
        return Verbatim(out.text.strip("()"))
    for right in trees[1:]:
        out = Infix("·", out, right)
    return out


def _added(terms: list[_Signed], count: int = 0) -> Tree:
    """The sum of terms; `count` is the number of all terms, including omitted ones."""
    out = _negated(terms[0].tree) if terms[0].minus else terms[0].tree
    for position, term in enumerate(terms[1:], 1):
        if count > len(terms) and position == len(terms) - 1:
            out = Infix("+", out, LeftOut(count))
        minus = term.minus != _begins_with_minus(term.tree)
        shown = _negated(term.tree) if _begins_with_minus(term.tree) else term.tree
        out = Infix("-" if minus else "+", out, shown)
    return out


def _begins_with_minus(written: Tree) -> bool:
    """Whether a formula starts with a minus sign: -0.8 / 5, but not (-2)·3."""
    while isinstance(written, Infix) and written.symbol in ("·", "/"):
        written = written.left
    return isinstance(written, Verbatim) and written.text.startswith("-")


def _negated(written: Tree) -> Tree:
    """-a·b, with the sign at the first factor."""
    if isinstance(written, Infix) and written.symbol in ("·", "/"):
        return Infix(written.symbol, _negated(written.left), written.right)
    if isinstance(written, Verbatim) and written.text.startswith("-"):
        return Verbatim(written.text.removeprefix("-"))
    return tree.Prefix("-", written)
