"""Sums of products as products of matrices: Σ_k X[k,i] d[k] X[k,j] is X.T @ diag(d) @ X.

The index letters of a sum (i, j, k) are the vertices of a graph, and each factor with two letters
is an edge. If the graph has no cycles, the factors on the path from the row's letter to the
column's become a product of matrices. A subtree that branches off the path becomes a vector,
written as a diagonal matrix, and every other component becomes a scalar factor.
"""

from collections.abc import Callable, Collection, Sequence
from functools import reduce

from ...graphs import OPS
from .. import tree
from ..formulas.rules.assumed import is_symmetric
from ..indices.alpha_equivalence import canonical
from ..indices.expressions import (
    Element,
    Expr,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    Total,
    factors_of,
    letters_of,
    product_of,
)
from ..tree import Attribute, Call, Infix, Method, Prefix, Tree

Write = Callable[[Expr, Sequence[str]], Tree | None]  # (expression, dimensions) -> formula
Length = Callable[[str], Tree]  # letter -> formula of its size


class NoProduct(Exception):
    """The sum is not a product of matrices and vectors."""


class Contraction:
    """The graph of factors and letters.

    `tensor(expression, letters)` writes factors without sums as a formula with these letters as
    dimensions. `length(letter)` writes the size of a letter. Letters in `fixed` have one value and
    are not vertices.
    """

    def __init__(
        self, factors: Sequence[Expr], length: Length, tensor: Write, fixed: Collection[str] = ()
    ):
        self.length, self.tensor, self.fixed = length, tensor, {*fixed}
        self.letters: set[str] = set()
        self.numbers: list[Expr] = []
        self.own: dict[str, list[Expr]] = {}
        self.edges: dict[str, dict[str, list[Expr]]] = {}
        for factor in factors:
            self._take(factor)

    def _take(self, e: Expr) -> None:
        """Add a factor to the graph. Raises NoProduct."""
        if isinstance(e, Sum):
            self.letters.add(e.letter)
            return self._take(e.body)
        if isinstance(e, Product):
            for factor in e.factors:
                self._take(factor)
            return None
        if isinstance(e, Total):
            common, inside = factored(e)
            if common:
                return self._take(Product((*common, inside)))
        letters = sorted(letters_of(e) - self.fixed)
        self.letters |= {*letters}
        if len(letters) > 2:
            raise NoProduct
        if not letters:
            self.numbers.append(e)
        elif len(letters) == 1:
            self.own.setdefault(letters[0], []).append(e)
        else:
            for a, b in (letters, letters[::-1]):
                self.edges.setdefault(a, {}).setdefault(b, []).append(e)
        return None

    # ---- formulas --------------------------------------------------------------------------------

    def matrix(self, row: str, column: str) -> Tree:
        """The formula of the matrix whose rows and columns have these letters. Raises NoProduct."""
        near = self._connected(row)
        number = self._number({*near, *self._connected(column)})
        if column in near:
            return scaled(number, self._path_product(self._path(row, column)))
        left, right = (self._vector(k) or self._ones(k) for k in (row, column))
        return scaled(number, Call("outer", (left, right)))

    def vector(self, letter: str) -> Tree:
        """The formula of the vector whose elements have this letter. Raises NoProduct."""
        number = self._number(self._connected(letter))
        return scaled(number, self._vector(letter) or self._ones(letter))

    def scalar(self) -> Tree:
        """The formula of the whole expression, which must be a scalar: every letter is summed.
        Raises NoProduct.
        """
        return self._number(set()) or tree.Number(1)

    def is_disconnected(self, row: str, column: str) -> bool:
        """Whether the letters are in different components."""
        return column not in self._connected(row)

    # ---- the graph -------------------------------------------------------------------------------

    def _connected(self, letter: str) -> set[str]:
        """The component of a letter. Raises NoProduct if it has a cycle."""
        result, waiting, edges = {letter}, [letter], 0
        while waiting:
            neighbours = self.edges.get(waiting.pop(), {})
            edges += len(neighbours)
            waiting += [k for k in neighbours if k not in result]
            result |= {*neighbours}
        if edges != 2 * (len(result) - 1):
            raise NoProduct
        return result

    def _path(self, start: str, end: str, previous: str = "") -> list[str]:
        """The letters of the path from `start` to `end`, both included; [] if there is no path."""
        if start == end:
            return [end]
        for neighbour in self.edges.get(start, {}):
            rest = self._path(neighbour, end, start) if neighbour != previous else []
            if rest:
                return [start, *rest]
        return []

    # ---- the parts -------------------------------------------------------------------------------

    def _path_product(self, path: list[str]) -> Tree:
        """The product of the matrices on a path, with diag(v) between them for the vector v of each
        letter's branches. A boolean v scales the columns of the preceding matrix (A * mask)
        instead.
        """
        out: list[Tree] = []
        for place, letter in enumerate(path):
            neighbours = path[max(place - 1, 0) : place + 2]
            weight = self._vector(letter, neighbours)
            if weight is not None and out and is_mask(weight):
                out[-1] = Infix("*", out[-1], weight)
            elif weight is not None:
                out.append(Call("diag", (in_numbers(weight),)))
            if place + 1 < len(path):
                out.append(self._edge(letter, path[place + 1]))
        out = [in_numbers(m) for m in out] if len(out) > 1 else out
        return reduce(multiplied, out)

    def _vector(self, letter: str, excluded: Collection[str] = ()) -> Tree | None:
        """The elementwise product of a letter's own factors and its branches, except those to
        letters in `excluded`. None stands for a vector of ones.
        """
        factors: list[Tree] = []
        factors_of_letter = self.own.get(letter)
        if factors_of_letter:
            factors.append(self._written(factors_of_letter, [letter]))
        for neighbour in self.edges.get(letter, {}):
            if neighbour not in excluded:
                factors.append(self._times(letter, neighbour))
        return tree.product(factors) if factors else None

    def _times(self, letter: str, neighbour: str) -> Tree:
        """The matrix of the edge to a neighbour, times the neighbour's vector."""
        matrix, vector = self._edge(letter, neighbour), self._vector(neighbour, (letter,))
        if vector is None:
            return Method(matrix, "sum", (), (("dim", tree.Number(1)),))
        return Infix("@", matrix, in_numbers(vector))

    def _edge(self, row: str, column: str) -> Tree:
        factors = self.edges[row][column]
        try:
            return self._written(factors, [row, column])
        except NoProduct:
            reversed_edge = self._written(factors, [column, row])
            symmetric = all(isinstance(f, Element) and is_symmetric(f.node) for f in factors)
            return reversed_edge if symmetric else transposed(reversed_edge)

    def _ones(self, letter: str) -> Tree:
        return Call("ones", (self.length(letter),))

    def _number(self, used: Collection[str]) -> Tree | None:
        """The product of the scalar factors and of the components that contain no letter in `used`;
        None if there are none.
        """
        result = [self._written(powers(self.numbers), [])] if self.numbers else []
        done = {*used}
        for letter in sorted(self.letters):
            if letter not in done:
                component = self._connected(letter)
                done |= component
                result.append(self._total(component))
        return tree.product(result) if result else None

    def _total(self, component: Collection[str]) -> Tree:
        """The sum over all letters of a component: a @ x, a @ X @ b, (x ** 2).sum()."""
        ends = [k for k in sorted(component) if self.own.get(k)]
        start = next((k for k in ends if len(self.edges.get(k, {})) <= 1), None)
        if start is not None:
            factors, neighbours = self.own[start], [*self.edges.get(start, {})]
            if neighbours:
                left = self._written(factors, [start])
                vector = self._vector(neighbours[0], (start,))
                if vector is not None:
                    row = Infix("@", in_numbers(left), self._edge(start, neighbours[0]))
                    return Infix("@", row, in_numbers(vector))
            elif len(factors) == 2:
                a, b = (self._written([f], [start]) for f in factors)
                return Infix("@", in_numbers(a), in_numbers(b))
        letter = start or min(component)
        vector = self._vector(letter)
        return self.length(letter) if vector is None else Method(vector, "sum")

    def _written(self, factors: Sequence[Expr], letters: Sequence[str]) -> Tree:
        built = self.tensor(product_of(factors), letters)
        if built is None:
            raise NoProduct
        return built


def in_numbers(written: Tree) -> Tree:
    """(x > 0).double() for a mask, because PyTorch has no matrix product of masks."""
    return Method(written, "double") if is_mask(written) else written


def is_mask(written: Tree) -> bool:
    """Whether a formula is a boolean tensor."""
    if isinstance(written, Call):
        return written.function in OPS and OPS[written.function].dtype == "bool"
    if isinstance(written, Prefix):
        return written.symbol == "~"
    if not isinstance(written, Infix):
        return False
    both = written.symbol == "*" and is_mask(written.left) and is_mask(written.right)
    return both or written.symbol in (*tree.COMPARISONS, "&", "|")


def factored(e: Total, scalars: bool = False) -> tuple[list[Expr], Expr]:
    """Factor a sum. Returns the factors common to all terms and the remaining sum. Factors with
    letters are taken out, or, with `scalars=True`, those without letters; numbers never are.
    """
    terms = [[*factors_of(t)] for t in e.terms]
    shared = [f for f in terms[0] if all(f in t for t in terms[1:])]
    common: list[Expr] = []
    common += (f for f in shared if not isinstance(f, Number) and bool(letters_of(f)) != scalars)
    for factor in common:
        for term in terms:
            if factor in term:
                term.remove(factor)
    return common, Total(tuple(map(product_of, terms)))


def powers(factors: Sequence[Expr]) -> list[Expr]:
    """The factors, with equal ones collected into powers. Factors that differ only in the names of
    summation letters are equal.
    """
    result: dict[Expr, tuple[Expr, float]] = {}
    for f in factors:
        is_power = isinstance(f, Power) and isinstance(f.exponent, Number)
        base, exponent = (f.base, f.exponent.value) if is_power else (f, 1)  # type: ignore[union-attr]
        first, previous = result.get(canonical(base), (base, 0))
        result[canonical(base)] = first, previous + exponent
    return [b if n == 1 else Power(b, Number(n)) for b, n in result.values() if n]


def numbers_first(factors: Sequence[Expr]) -> list[Expr]:
    """If a factor is a Relation (a Kronecker delta or <=), put scalars first, so that lam * eye(n)
    is written; otherwise keep the order.
    """
    if not any(isinstance(f, Relation) for f in factors):
        return [*factors]
    return sorted(factors, key=lambda f: bool(letters_of(f)) or isinstance(f, Power))


def multiplied(left: Tree, right: Tree) -> Tree:
    """left @ right, without parentheses around a product `right`. A scalar factor of `right` comes
    first.
    """
    if isinstance(right, Infix) and right.symbol == "@":
        return Infix("@", multiplied(left, right.left), right.right)
    if isinstance(right, Infix) and is_multiple(right):
        return scaled(right.left, multiplied(left, right.right))
    return Infix("@", left, right)


def transposed(written: Tree) -> Tree:
    """A.T for A, A for A.T, and s * A for s * A.T with a scalar s."""
    if isinstance(written, Attribute) and written.name == "T":
        return written.base
    if isinstance(written, Infix) and is_multiple(written):
        return written._replace(right=transposed(written.right))
    return Attribute(written, "T")


def is_multiple(written: Infix) -> bool:
    """Whether a formula is a scalar times a matrix."""
    return written.symbol == "*" and written.ndims == (0, 2)


def scaled(number: Tree | None, written: Tree) -> Tree:
    """number * written. If `written` is a matrix product, its first matrix is multiplied."""
    if number is None:
        return written
    if isinstance(number, Infix) and number.symbol == "/":
        numerator = written if number.left == tree.Number(1) else scaled(number.left, written)
        return Infix("/", numerator, number.right)
    if isinstance(written, Infix) and written.symbol == "@":
        return written._replace(left=scaled(number, written.left))
    return Infix("*", number, written, (0, 2))


def added(out: Tree | None, written: Tree, minus: bool) -> Tree:
    """out + written, or out - written. Without `out`, `written` is the first term of a sum."""
    if out is None:
        return negated(written) if minus else written
    return Infix("-" if minus else "+", out, written)


def negated(written: Tree) -> Tree:
    """The formula with a minus sign before its first factor. A mask becomes -1 * (x > 0), because
    PyTorch does not negate masks.
    """
    if isinstance(written, Infix) and written.symbol in ("*", "/", "@"):
        return Infix(written.symbol, negated(written.left), written.right)
    if is_mask(written):
        return Infix("*", tree.Number(-1), written)
    return Prefix("-", written)
