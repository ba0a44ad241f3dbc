"""Matrix formulas of Jacobians, from their index notation: diag(2 * a), kron(eye(2), a.T).

A matrix has a row for every element of the output and a column for every element of the input, both
in row-major order. The formulas are valid PyTorch code. Letters are index letters such as i; places
are index expressions such as 2 * i + 1.
"""

from collections.abc import Sequence
from itertools import product

from ...budget import tick
from .. import tree
from ..formulas.rules.assumed import is_symmetric
from ..formulas.spelling import indexed
from ..indices import places
from ..indices.collect import is_delta
from ..indices.expressions import (
    Element,
    Expr,
    Relation,
    Sum,
    Total,
    divides,
    inverted,
    letters_of,
    product_of,
)
from ..indices.factors import split_number
from ..indices.places import Place
from ..indices.written import opposite
from ..tree import ALL, NEW_DIMENSION, Attribute, Call, Infix, Method, Subscript, Tree
from .matrix_products import (
    Contraction,
    NoProduct,
    scaled,
    transposed,
)
from .relation_matrices import matrix_from_relations
from .tensors import Letters, Tensors, is_count

Split = tuple[Tree | None, list[Expr]]  # the coefficient of a product, None for 1, and its factors


class Matrices(Tensors):
    """Formulas of matrices and tensors. Methods return None if there is no short formula."""

    def number(self, e: Expr) -> Split:
        """The coefficient of a product, including sizes, and its other factors."""
        numerator, denominator, factors = split_number([e])
        rest = [f for f in factors if not is_count(f)]
        counts = [f for f in factors if is_count(f)]
        divisors: list[Tree] = [self.constant(denominator)] * (denominator != 1)
        divisors += [self.count(inverted(f)) for f in counts if divides(f)]
        multipliers: list[Tree] = [self.constant(numerator)] * (numerator != 1)
        multipliers += [self.count(f) for f in counts if not divides(f)]
        if divisors:
            return Infix("/", tree.product(multipliers), tree.product(divisors)), rest
        return (tree.product(multipliers) if multipliers else None), rest

    def common_number(self, terms: Sequence[Expr]) -> tuple[Tree | None, list[Split]]:
        """The coefficient that all terms share up to their signs, None if there is none; and the
        coefficient and factors of each term without its sign.
        """
        splits = [self.number(opposite(t) or t) for t in terms]
        first = splits[0][0]
        return (first if all(number == first for number, _ in splits) else None), splits

    def matrix(self, e: Expr, rows: Letters, columns: Letters) -> Tree | None:
        """The formula of e as a matrix with the letters `rows` and `columns`."""
        number, factors = self.number(e)
        return self.scaled(number, self.plain(factors, list(rows), list(columns)))

    def _are_pairs(self, factors: Sequence[Expr], rows: list[str], columns: list[str]) -> bool:
        """Whether the factors are a delta for each pair of a row's and a column's letter."""
        pairs = {p for f in factors if is_delta(f) for p in ((f.left, f.right), (f.right, f.left))}
        same = [self.sizes[k] for k in rows] == [self.sizes[k] for k in columns]
        one_each = len(rows) == len(factors) and all(map(is_delta, factors))
        return same and one_each and pairs.issuperset(zip(rows, columns))

    def plain(self, factors: Sequence[Expr], rows: list[str], columns: list[str]) -> Tree | None:
        """The formula of a product without a coefficient, as a matrix."""
        tick()
        if not any(letters_of(f) - {*self.fixed} for f in factors):
            return self._constant(factors, rows, columns)
        if self._are_pairs(factors, rows, columns):
            return self.identity(rows, columns)
        if len(rows) <= 1 and len(columns) <= 1 and any(isinstance(f, Relation) for f in factors):
            row, column = (letters[0] if letters else None for letters in (rows, columns))
            return matrix_from_relations(self, self.plain, factors, row, column)
        if len(rows) + len(columns) > 2 or not any(letters_of(f) & {*columns} for f in factors):
            outer = self.outer(factors, rows, columns)
            if outer is not None:
                return outer
        if len(factors) == 1 and isinstance(factors[0], Element):
            return self._from_element(factors[0], rows, columns)
        if len(factors) == 1 and isinstance(factors[0], Total):
            return self._total(factors[0], rows, columns)
        return (
            self._contracted(factors, rows, columns)
            or self._kronecker(factors, rows, columns)
            or self._contracted(factors, rows, columns, weighted=True)
        )

    def _constant(self, factors: Sequence[Expr], rows: Letters, columns: Letters) -> Tree | None:
        """ones(n, m), times factors without letters of rows or columns."""
        ones = self.ones(rows, columns)
        if not factors:
            return ones
        try:
            result = Contraction(factors, self._length, self._tensor, self.fixed)
            return scaled(result.scalar(), ones)
        except NoProduct:
            return None

    def _total(self, e: Total, rows: list[str], columns: list[str]) -> Tree | None:
        """The sum of the matrices of terms, times their common coefficient; or None."""
        common, splits = self.common_number(e.terms)
        result = []
        for t, (number, factors) in zip(e.terms, splits):
            written = self.plain(factors, rows, columns)
            result.append((t, self.scaled(None if common else number, written)))
        if all(opposite(t) is None for t in e.terms):  # A + A.T
            result.sort(key=lambda pair: isinstance(pair[1], Attribute))
        else:  # B - A
            result.sort(key=lambda pair: opposite(pair[0]) is not None)
        return self.scaled(common, self._sum_of_terms(result)) or self._kronecker(
            [e], rows, columns
        )

    def _contracted(
        self,
        factors: Sequence[Expr],
        rows: list[str],
        columns: list[str],
        weighted: bool = False,
    ) -> Tree | None:
        """A product of matrices, or an outer product, for one letter of rows and one of columns.
        With `weighted`, products without a sum are also written, such as diag(d) @ A.
        """
        if len(rows) != 1 or len(columns) != 1:
            return None
        (row,), (column,) = rows, columns
        try:
            result = Contraction(factors, self._length, self._tensor, self.fixed)
            summed = any(isinstance(f, Sum) for f in factors)
            if not (summed or weighted or result.is_disconnected(row, column)):
                return None
            return result.matrix(row, column)
        except NoProduct:
            return None

    def _from_element(self, e: Element, rows: list[str], columns: list[str]) -> Tree | None:
        tensor = self._whole_tensor(e)
        if tensor is None:
            return self._windows(e, rows, columns)
        name, at = tensor
        letters = [p for p in at if p != 0]
        if set(letters) != {*rows, *columns} or len(letters) != len(rows) + len(columns):
            return self._kronecker([e], rows, columns)
        size = (self.size(rows), self.size(columns))
        shape = e.node.shape[len(e.places) - len(at) :]
        if letters == rows + columns:
            if shape == size or (not rows and shape == size[1:]):
                return name
            return self.reshaped(name, rows, columns)
        if letters == columns + rows and shape == size[::-1]:
            return name if is_symmetric(e.node) else transposed(name)
        return None

    def _windows(self, e: Element, rows: list[str], columns: list[str]) -> Tree | None:
        """x.unfold(0, k, 1), for the element i+j of a vector; else None."""
        name, place = self.called(e.node), e.places[-1] if e.places else 0
        if name is None or len(rows) != 1 or len(columns) != 1 or any(e.places[:-1]):
            return None
        (row,), (column,) = rows, columns
        terms, offset = dict(places.linear(place).terms), places.linear(place).offset
        step, size = terms.get(row, 0), self.sizes[column]
        last = e.node.shape[-1] - size
        if terms != {row: step, column: 1} or offset or step < 1:
            return None
        if last < 0 or last // step + 1 != self.sizes[row]:
            return None
        first = ", ".join("0" * (e.node.ndim - 1))
        vector = indexed(name, first) if first else name
        width = self._length(column)
        return Method(vector, "unfold", (tree.Number(0), width, tree.Number(step)))

    def _kronecker(
        self, factors: Sequence[Expr], rows: list[str], columns: list[str]
    ) -> Tree | None:
        """kron(A, B), if the factors separate into those of leading and of other letters; matrices
        are tried before vectors. Otherwise kron(A, B) with permuted rows, or a tensor of all
        letters as a matrix.
        """
        all_letters = {*rows, *columns}
        cuts = product(range(len(rows) + 1), range(len(columns) + 1))
        for p, q in sorted(cuts, key=lambda cut: 0 in cut):
            leading = {*rows[:p], *columns[:q]}
            if not leading or leading == all_letters:
                continue
            left = [f for f in factors if letters_of(f) - {*self.fixed} <= leading]
            right = [f for f in factors if f not in left]
            if not all(letters_of(f) - {*self.fixed} <= all_letters - leading for f in right):
                continue
            a, b = (
                self.plain(left, rows[:p], columns[:q]),
                self.plain(right, rows[p:], columns[q:]),
            )
            if a is not None and b is not None:
                return Call("kron", (a, b))
        permuted = self._permuted_kronecker(factors, rows, columns)
        return permuted or self._by_elements(factors, rows, columns)

    def _permuted_kronecker(
        self, factors: Sequence[Expr], rows: list[str], columns: list[str]
    ) -> Tree | None:
        """kron(A, B[:, None]).reshape(-1, m), a kron(A, B) with permuted rows, if trailing letters
        of rows separate with leading letters of columns; for relations only, a permutation.
        """
        if all(isinstance(f, Relation) for f in factors):
            return self._permutation(factors, rows, columns)
        for p, q in product(range(1, len(rows)), range(1, len(columns))):
            group = {*rows[p:], *columns[:q]}
            left = [f for f in factors if letters_of(f) - {*self.fixed} <= group]
            right = [f for f in factors if f not in left]
            if any(letters_of(f) & group for f in right):
                continue
            a, b = (
                self.plain(left, rows[p:], columns[:q]),
                self.plain(right, rows[:p], columns[q:]),
            )
            if a is not None and b is not None:
                built = Call("kron", (a, Subscript(b, (ALL, NEW_DIMENSION))))
                return Method(built, "reshape", (tree.Number(-1), self.length(columns)))
        return None

    def _permutation(
        self, factors: Sequence[Expr], rows: list[str], columns: list[str]
    ) -> Tree | None:
        """eye(n)[arange(n).reshape(x.shape).T.flatten()], if the letters of rows are a permutation
        of those of columns; else None.
        """
        side = next((s for s in self.sides if s.own and [*s.at] == columns), None)
        column: dict[Place, int] = {}
        for f in factors:
            for left, right in ((f.left, f.right), (f.right, f.left)) if is_delta(f) else ():
                if left in rows and right in columns:
                    column[left] = columns.index(right)
        order = [column.get(row, -1) for row in rows]
        if side is None or len(factors) != len(rows) or sorted(order) != [*range(len(columns))]:
            return None
        count = Method(side.name, "numel")
        places = Method(Call("arange", (count,)), "reshape", (Attribute(side.name, "shape"),))
        permuted: Tree = Attribute(places, "T")
        if order != [1, 0]:
            permuted = Method(places, "permute", tuple(map(tree.Number, order)))
        return Subscript(Call("eye", (count,)), (Method(permuted, "flatten"),))

    def _by_elements(
        self, factors: Sequence[Expr], rows: list[str], columns: list[str]
    ) -> Tree | None:
        """The formula of a tensor with all letters, reshaped to a matrix."""
        letters = [*rows, *columns]
        if {k for f in factors for k in letters_of(f)} - {*self.fixed} != set(letters):
            return None
        written = self.tensor(product_of(factors), letters)
        if written is None or (len(rows) <= 1 and len(columns) == 1):
            return written
        return self.reshaped(written, rows, columns)

    def reshaped(self, written: Tree, rows: Letters, columns: Letters) -> Tree:
        """The formula reshaped to a matrix, v[:, None] for a vector as a column; -1 stands for the
        size with the longer formula.
        """
        if len(rows) == 1 and not columns:
            return Subscript(written, (ALL, NEW_DIMENSION))
        sides = (self.length(rows), self.length(columns))
        longer = 0 if tree.size(sides[0]) >= tree.size(sides[1]) else 1
        shape = (tree.Number(-1), sides[1]) if longer == 0 else (sides[0], tree.Number(-1))
        return Method(written, "reshape", shape)
