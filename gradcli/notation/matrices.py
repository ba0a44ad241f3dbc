"""Matrix formulas of Jacobians, read off their index notation: diag(2 * a), kron(eye(2), a.T).

A matrix has a row for every element of the output and a column for every element of the input, row
by row of each. In these formulas diag and outer take tensors as they stand in memory, flattened.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from math import isfinite

from ..graphs import Node
from ..graphs.shapes import Shape
from ..lazy import np
from . import tree
from .collect import is_delta, split_number
from .contractions import Contraction, Unwritten, scaled
from .expressions import (
    MINUS,
    Element,
    Expr,
    Function,
    Number,
    Power,
    Product,
    Sum,
    Total,
    is_condition,
    letters_of,
)
from .formula import formula
from .places import Place
from .sizes import told
from .spelling import spelled
from .tree import Attribute, Call, Infix, Method, Name, Prefix, Subscript, Tree
from .written import NEGATED, divides, inverted, opposite

Letters = Sequence[str]


class Matrices:
    """Formulas over the nodes that have names. None: there is no short one.

    `sizes` are those of the letters; `sides` are tensors with the letters of their dimensions, in
    terms of which sizes are written; where these are `telling`, numbers that are one of them are
    written so too. `given` are letters that stand for one value: a[i].
    """

    def __init__(
        self,
        names: Mapping[Node, Tree],
        sizes: Mapping[str, int],
        sides: Sequence[tuple[Name, Sequence[Place]]],
        telling: bool = False,
        given: Letters = (),
    ):
        self.names, self.sizes, self.sides, self.given = names, sizes, sides, given
        self.telling, self.shapes = telling, shapes_of(names) if telling else {}

    def inside(self, given: Letters) -> "Matrices":
        """The same where these letters stand for one value."""
        return Matrices(self.names, self.sizes, self.sides, self.telling, given)

    def size(self, letters: Letters) -> int:
        """How many values the letters have together."""
        return int(np.prod([self.sizes[k] for k in letters], dtype=int))

    def length(self, letters: Letters) -> Tree:
        """The same as it is written: x.numel(), x.shape[0] * x.shape[1]."""
        for name, at in self.sides:
            own = [p for p in at if isinstance(p, str)]
            if own and list(letters) == own:
                return self._length(own[0]) if len(at) == 1 else Method(name, "numel")
        out: Tree | None = None
        for letter in letters:
            one = self._length(letter)
            out = one if out is None else Infix("*", out, one)
        return tree.Number(1) if out is None else out

    def _length(self, letter: str) -> Tree:
        for name, at in self.sides:
            if letter in at:
                return Subscript(Attribute(name, "shape"), str(at.index(letter)))
        return self._constant(self.sizes[letter])

    def identity(self, rows: Letters, columns: Letters) -> Tree:
        """eye(x.shape[0])."""
        return Call("eye", (min(self.length(columns), self.length(rows), key=tree.size),))

    # ---- tensors ---------------------------------------------------------------------------------

    def tensor(self, e: Expr, letters: Letters) -> Tree | None:
        """The tensor whose dimensions are `letters`, in the language."""
        written = self._tensor(e, letters)
        if written is None:
            return None
        if letters_of(e) - {*self.given} != set(letters):
            return Method(written, "expand", tuple(map(self._length, letters)))
        return Infix("*", tree.Number(1), written) if is_condition(e) else written

    def _tensor(self, e: Expr, letters: Letters) -> Tree | None:
        if isinstance(e, Number):
            return self._constant(e.value)
        if isinstance(e, Element):
            return self._element(e, letters)
        if isinstance(e, Total):
            return self._joined([(t, self._tensor(opposite(t) or t, letters)) for t in e.terms])
        if isinstance(e, Product):
            return self._product(e, letters)
        if isinstance(e, Power):
            return self._power(e, letters)
        if isinstance(e, Sum):
            return self._summed(e, letters)
        if isinstance(e, Function):
            args = [self._tensor(a, letters) for a in e.args]
            if e.op.spelling == "~{0}" and isinstance(args[0], Infix) and args[0].symbol in NEGATED:
                return Infix(NEGATED[args[0].symbol], args[0].left, args[0].right)
            if any(a is None for a in args) or e.attrs:
                return None
            if e.op.spelling:
                return spelled(e.op.spelling, {str(k): a for k, a in enumerate(args)})
            return Call(e.op.name, tuple(args))  # type: ignore[arg-type]
        return None

    def _summed(self, e: Sum, letters: Letters) -> Tree | None:
        """A sum as a product of matrices and vectors, where it is one."""
        free = letters_of(e) - {*self.given}
        own = [k for k in letters if k in free]
        if free - {*own} or len(own) > 2:
            return None
        try:
            found = Contraction([e], self._length, self._tensor, self.given)
            if not own:
                return found.scalar()
            made = found.vector(own[0]) if len(own) == 1 else found.matrix(*own)
        except Unwritten:
            return None
        last = own == list(letters[len(letters) - len(own) :])
        return made if last else spread(made, own, letters)

    def _power(self, e: Power, letters: Letters) -> Tree | None:
        if divides(e):
            return self._product(Product((e,)), letters)
        base, exponent = self._tensor(e.base, letters), self._tensor(e.exponent, letters)
        return None if base is None or exponent is None else Infix("**", base, exponent)

    def _joined(self, terms: list[tuple[Expr, Tree | None]]) -> Tree | None:
        if any(written is None for _, written in terms):
            return None
        first, out = terms[0]
        out = Prefix("-", out) if opposite(first) is not None else out  # type: ignore[arg-type]
        for term, written in terms[1:]:
            out = Infix("-" if opposite(term) is not None else "+", out, written)  # type: ignore[arg-type]
        return out

    def _product(self, e: Product, letters: Letters) -> Tree | None:
        out: Tree | None = None
        if e.factors and e.factors[0] == MINUS:
            rest = self._tensor(Product(e.factors[1:]), letters)
            return None if rest is None else negated(rest)
        for factor in e.factors:
            under = divides(factor)
            written = self._tensor(inverted(factor) if under else factor, letters)
            if written is None:
                return None
            if out is None and not under:
                out = written
            else:
                out = Infix("/" if under else "*", tree.Number(1) if out is None else out, written)
        return out

    def _element(self, e: Element, letters: Letters) -> Tree | None:
        """A tensor that broadcasts to the dimensions of the letters."""
        if is_count(e):
            return self._count(e)
        whole = self._whole_tensor(e)
        if whole is None:
            return None
        name, at = whole
        if len(set(at) - {0}) != sum(p != 0 for p in at):
            return None
        if not letters and not any(at):
            return name
        tail = letters[len(letters) - len(at) :]
        if len(at) <= len(letters) and all(p in (0, k) for p, k in zip(at, tail)):
            return name
        own = [p for p in at if isinstance(p, str) and p in letters]
        if own != list(at) or own != [k for k in letters if k in own]:
            return None
        return spread(name, own, letters)

    def called(self, node: Node) -> Tree | None:
        """The name of a node, or the call of a function of named ones: inv(X)."""
        name = self.names.get(node)
        usual = node.attrs == node.op.attributes
        if name is not None or node.dtype != "float" or not usual or not node.parents:
            return name
        args = [self.names.get(i) for i in node.parents]
        return None if None in args else Call(node.op.name, tuple(args))  # type: ignore[arg-type]

    def _whole_tensor(self, e: Element) -> tuple[Tree, tuple[Place, ...]] | None:
        """The tensor whose element it is, `given` letters read as an index, and the other places;
        None where their letters do not run over the whole of it.
        """
        name = self.called(e.node)
        if name is None or not self._is_whole(e):
            return None
        first = tuple(p for p in e.places if p in self.given)
        if not first:
            return name, e.places
        if e.places[: len(first)] != first:
            return None
        return Subscript(name, ", ".join(map(str, first))), e.places[len(first) :]

    def _is_whole(self, e: Element) -> bool:
        return all(
            p == 0 if n == 1 else isinstance(p, str) and self.sizes[p] == n
            for p, n in zip(e.places, e.node.shape)
        )

    # ---- matrices --------------------------------------------------------------------------------

    def scaled(self, number: Tree | None, matrix: Tree | None) -> Tree | None:
        """number * matrix."""
        if matrix is None or number is None:
            return matrix
        return negated(matrix) if number == tree.Number(-1) else scaled(number, matrix)

    def number(self, e: Expr) -> tuple[Tree | None, list[Expr]]:
        """The number of a product, None for 1, and its other factors."""
        above, below, factors = split_number([e])
        rest = [f for f in factors if not is_count(f)]
        counts = [f for f in factors if is_count(f)]
        over: list[Tree] = [self._constant(below)] * (below != 1)
        over += [self._count(inverted(f)) for f in counts if divides(f)]
        top: list[Tree] = [self._constant(above)] * (above != 1)
        top += [self._count(f) for f in counts if not divides(f)]
        if over:
            return Infix("/", _times(top or [tree.Number(1)]), _times(over)), rest
        return (_times(top) if top else None), rest

    def _constant(self, value: float) -> Tree:
        """A number, by the name of a size where it is one."""
        whole = self.telling and isfinite(value) and value == int(value)
        return (told(int(value), self.shapes) if whole else None) or tree.Number(value)

    def _count(self, e: Expr) -> Tree:
        """x.shape[1]."""
        assert isinstance(e, Element)
        (x,) = e.node.parents
        own = [x] if x in self.names else []
        names = {node: self.names[node] for node in (*own, *self.names)}
        return formula(e.node, {n: name for n, name in names.items() if isinstance(name, Name)})

    def matrix(self, e: Expr, rows: Letters, columns: Letters) -> Tree | None:
        """The matrix with a row for each value of the letters in `rows`; a Kronecker product where
        it is one.
        """
        number, factors = self.number(e)
        return self.scaled(number, self._plain(factors, list(rows), list(columns)))

    def _plain(self, factors: list[Expr], rows: list[str], columns: list[str]) -> Tree | None:
        if not factors:
            return Call("ones", (self.length(rows), self.length(columns)))
        if all(is_delta(f) for f in factors):
            found = {(f.left, f.right) for f in factors} | {(f.right, f.left) for f in factors}  # type: ignore[union-attr]
            same = [self.sizes[k] for k in rows] == [self.sizes[k] for k in columns]
            if (
                same
                and len(rows) == len(factors)
                and all(pair in found for pair in zip(rows, columns))
            ):
                return self.identity(rows, columns)
        if len(factors) == 1 and isinstance(factors[0], Element):
            return self._from_element(factors[0], rows, columns)
        if len(factors) == 1 and isinstance(factors[0], Total):
            return self._total(factors[0], rows, columns)
        return self._contracted(factors, rows, columns) or self._kronecker(factors, rows, columns)

    def _total(self, e: Total, rows: list[str], columns: list[str]) -> Tree | None:
        """Matrices added up, where they are all there; a number that all have before the sum."""
        numbers = [self.number(opposite(t) or t) for t in e.terms]
        common = numbers[0][0] if all(n == numbers[0][0] for n, _ in numbers) else None
        found = []
        for t, (number, factors) in zip(e.terms, numbers):
            written = self._plain(factors, rows, columns)
            found.append((t, self.scaled(None if common else number, written)))
        if all(opposite(t) is None for t in e.terms):  # A + A.T
            found.sort(key=lambda pair: isinstance(pair[1], Attribute))
        return self.scaled(common, self._joined(found)) or self._kronecker([e], rows, columns)

    def _contracted(self, factors: list[Expr], rows: list[str], columns: list[str]) -> Tree | None:
        """A product of matrices or of vectors, between one letter and another."""
        if len(rows) != 1 or len(columns) != 1:
            return None
        (row,), (column,) = rows, columns
        try:
            found = Contraction(factors, self._length, self._tensor, self.given)
            if not found.is_apart(row, column) and not any(isinstance(f, Sum) for f in factors):
                return None
            return found.matrix(row, column)
        except Unwritten:
            return None

    def _from_element(self, e: Element, rows: list[str], columns: list[str]) -> Tree | None:
        whole = self._whole_tensor(e)
        if whole is None:
            return None
        name, at = whole
        letters = [p for p in at if p != 0]
        if set(letters) != {*rows, *columns} or len(letters) != len(rows) + len(columns):
            return self._kronecker([e], rows, columns)
        size = (self.size(rows), self.size(columns))
        shape = e.node.shape[len(e.places) - len(at) :]
        if letters == rows + columns:
            if shape == size or (not rows and shape == size[1:]):
                return name
            return self._reshaped(name, rows, columns)
        if letters == columns + rows and shape == size[::-1]:
            return Attribute(name, "T")
        return None

    def _kronecker(self, factors: list[Expr], rows: list[str], columns: list[str]) -> Tree | None:
        whole = {*rows, *columns}
        for p in range(len(rows) + 1):
            for q in range(len(columns) + 1):
                first = {*rows[:p], *columns[:q]}
                if not first or first == whole:
                    continue
                left = [f for f in factors if letters_of(f) - {*self.given} <= first]
                right = [f for f in factors if f not in left]
                if not all(letters_of(f) - {*self.given} <= whole - first for f in right):
                    continue
                a, b = (
                    self._plain(left, rows[:p], columns[:q]),
                    self._plain(right, rows[p:], columns[q:]),
                )
                if a is not None and b is not None:
                    return Call("kron", (a, b))
        return self._by_elements(factors, rows, columns)

    def _by_elements(self, factors: list[Expr], rows: list[str], columns: list[str]) -> Tree | None:
        """A tensor formula with the letters of rows and columns, as a matrix."""
        letters = [*rows, *columns]
        if {k for f in factors for k in letters_of(f)} - {*self.given} != set(letters):
            return None
        written = self.tensor(factors[0] if len(factors) == 1 else Product(tuple(factors)), letters)
        if written is None or (len(rows) == len(columns) == 1):
            return written
        return self._reshaped(written, rows, columns)

    def _reshaped(self, written: Tree, rows: Letters, columns: Letters) -> Tree:
        """As a matrix; -1 says the longer side."""
        sides = (self.length(rows), self.length(columns))
        longer = 0 if tree.size(sides[0]) >= tree.size(sides[1]) else 1
        whole = (tree.Number(-1), sides[1]) if longer == 0 else (sides[0], tree.Number(-1))
        return Method(written, "reshape", whole)


def shapes_of(names: Mapping[Node, Tree]) -> dict[Shape, Tree]:
    """What has each shape, for sizes to be written by; the first of several."""
    found: dict[Shape, Tree] = {}
    for node, name in names.items():
        if isinstance(name, Name):
            found.setdefault(node.shape, name)
    return found


def spread(written: Tree, own: Letters, letters: Letters) -> Tree:
    """A tensor with some of the letters, with a dimension of size 1 for those that follow."""
    start = letters.index(own[0])
    return Subscript(written, ", ".join(":" if k in own else "None" for k in letters[start:]))


def is_count(e: Expr) -> bool:
    """Whether it is how many elements there are, or one over that."""
    if divides(e):
        return is_count(inverted(e))
    return isinstance(e, Element) and e.node.op.name == "size"


def _times(factors: Sequence[Tree]) -> Tree:
    return reduce(lambda a, b: Infix("*", a, b), factors)


def negated(written: Tree) -> Tree:
    """-a * b, the minus at the first factor."""
    if isinstance(written, Infix) and written.symbol in ("*", "/", "@"):
        return Infix(written.symbol, negated(written.left), written.right)
    return Prefix("-", written)
