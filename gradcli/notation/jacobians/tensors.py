"""Tensors and their sizes as formulas, from index notation: out[i] * a, x.shape[0].

Letters are index letters such as i; places are index expressions such as 2 * i + 1.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from math import isfinite, prod
from typing import Self, TypeGuard

from ...graphs import Node, Operator, walk
from .. import tree
from ..formulas.formula import Writer, formula, word
from ..formulas.rules.assumed import is_symmetric
from ..formulas.sizes import LEAST, shapes_of, size_formula
from ..formulas.spelling import indexed, spelled
from ..indices.collect import is_delta
from ..indices.expressions import (
    MINUS,
    Element,
    Evaluation,
    Expr,
    Function,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    Total,
    divides,
    inner,
    inverted,
    is_condition,
    letters_of,
    product_of,
)
from ..indices.places import Linear, Picked, Place, linear, plus, runs_over
from ..indices.written import of_digits, opposite
from ..tree import (
    ALL,
    NEW_DIMENSION,
    Attribute,
    Call,
    Infix,
    Method,
    Name,
    Subscript,
    Tree,
    Verbatim,
)
from .layouts import Side
from .matrix_products import (
    Contraction,
    NoProduct,
    in_numbers,
    is_mask,
    negated,
    numbers_first,
    powers,
    scaled,
    transposed,
)

Letters = Sequence[str]
MASK = re.compile(r"nonzero\((.*)\)")
SHORT = 8  # greatest length of arguments of functions that have no index notation


class Tensors:
    """Formulas of tensors in terms of named nodes. Methods return None if there is no short
    formula.

    `sizes` are the sizes of letters; formulas write them as sizes of the tensors in `sides`, such
    as x.shape[0]. With `generic_sizes`, numbers equal to a size are written as that size. Each
    letter in `fixed` stands for one value, such as i in a[i].
    """

    def __init__(
        self,
        names: Mapping[Node, Tree],
        sizes: Mapping[str, int],
        sides: Sequence[Side],
        generic_sizes: bool = False,
        fixed: Letters = (),
    ):
        self.names, self.sizes, self.sides, self.fixed = names, sizes, sides, fixed
        self.generic_sizes, self.shapes = generic_sizes, shapes_of(names) if generic_sizes else {}
        self.tensors: dict[tuple[Expr, Letters], Tree | None] = {}

    def inside(self, fixed: Letters) -> Self:
        """A copy in which these letters are fixed."""
        return type(self)(self.names, self.sizes, self.sides, self.generic_sizes, fixed)

    def with_sizes(self, sizes: Mapping[str, int]) -> Self:
        """A copy with further letters of these sizes."""
        more = {**self.sizes, **sizes}
        return type(self)(self.names, more, self.sides, self.generic_sizes, self.fixed)

    def size(self, letters: Letters) -> int:
        """The product of the sizes of letters."""
        return prod(self.sizes[k] for k in letters)

    def length(self, letters: Letters) -> Tree:
        """The product of the sizes of letters as a formula: x.numel(), x.shape[0] * x.shape[1]."""
        for side in self.sides:
            side_letters = [p for p in side.at if isinstance(p, str)]
            if side_letters and list(letters) == side_letters:
                vector = side.own and len(side.at) == 1
                return self._length(side_letters[0]) if vector else Method(side.name, "numel")
        out: Tree | None = None
        for letter in letters:
            size = self._length(letter)
            out = size if out is None else Infix("*", out, size)
        return tree.Number(1) if out is None else out

    def _length(self, letter: str) -> Tree:
        for name, at, own in self.sides:
            if own and letter in at:
                return Subscript(Attribute(name, "shape"), (tree.Number(at.index(letter)),))
        return self.constant(self.sizes[letter])

    def identity(self, rows: Letters, columns: Letters) -> Tree:
        """The formula of an identity, such as eye(x.shape[0]). eye(3) is written only if no tensor
        has this size.
        """
        lengths = self.length(columns), self.length(rows)
        named = [n for n in lengths if not isinstance(n, tree.Number)]
        return Call("eye", (min(named or lengths, key=tree.size),))

    def ones(self, rows: Letters, columns: Letters) -> Tree:
        """ones(x.shape[0], x.shape[1])."""
        width = self.length(columns)
        square = self.size(rows) == self.size(columns)
        return Call("ones", (width if square else self.length(rows), width))

    def constant(self, value: float) -> Tree:
        """A number, or the size that it equals with `generic_sizes`."""
        is_size = self.generic_sizes and isfinite(value) and value == int(value)
        size = size_formula(int(value), self.shapes) if is_size else None
        if size is not None or float(value).is_integer() or not isfinite(value):
            return size or tree.Number(value)
        names = {n: name for n, name in self.names.items() if isinstance(name, Name)}
        written = Writer(names).numeral(value)
        return tree.Number(of_digits(value)) if isinstance(written, tree.Number) else written

    def count(self, e: Expr) -> Tree:
        """The formula of a size node: x.shape[1]."""
        assert isinstance(e, Element)
        (x,) = e.node.parents
        operand = [x] if x in self.names else []
        names = {node: self.names[node] for node in (*operand, *self.names)}
        return formula(e.node, {n: name for n, name in names.items() if isinstance(name, Name)})

    def scaled(self, number: Tree | None, matrix: Tree | None) -> Tree | None:
        """number * matrix."""
        if matrix is None or number is None:
            return matrix
        return negated(matrix) if number == tree.Number(-1) else scaled(number, matrix)

    # ---- tensors ---------------------------------------------------------------------------------

    def tensor(self, e: Expr, letters: Letters) -> Tree | None:
        """The formula of e as a tensor whose dimensions are `letters`."""
        written = self._tensor(e, letters)
        if written is None:
            return None
        if letters_of(e) - {*self.fixed} != set(letters):
            return Method(written, "expand", tuple(map(self._length, letters)))
        mask = is_condition(e) and not isinstance(e, Relation)
        return _counted(written) if mask else written

    def _tensor(self, e: Expr, letters: Letters) -> Tree | None:
        key = e, tuple(letters)
        if key not in self.tensors:
            self.tensors[key] = self._written(e, letters)
        return self.tensors[key]

    def _written(self, e: Expr, letters: Letters) -> Tree | None:
        if isinstance(e, Number):
            return self.constant(e.value)
        if isinstance(e, Element):
            return self._element(e, letters)
        if isinstance(e, Relation):
            return self._rows_of_identity(e, letters) or self._triangle(e, letters)
        if isinstance(e, Total):
            return self._sum_of_terms(
                [(t, self._tensor(opposite(t) or t, letters)) for t in e.terms]
            )
        if isinstance(e, Product):
            return self._product(e, letters)
        if isinstance(e, Power):
            return self._power(e, letters)
        if isinstance(e, Sum):
            return self._summed(e, letters)
        if isinstance(e, Function):
            if all(isinstance(a, Number) for a in e.args) and not e.op.spelling:
                return self.constant(float(Evaluation(lambda node: None)(e, {})))
            args = [self._operand(e.op, a, letters) for a in e.args]
            return None if e.attrs else _applied(e.op, args)
        return None

    def _operand(self, op: Operator, e: Expr, letters: Letters) -> Tree | None:
        """The formula of an operand: numbers become tensors if the operator needs tensors; None for
        relations, which are written as ones and zeros where a mask may be needed.
        """
        if is_condition(e) and any(isinstance(part, Relation) for part in inner(e)):
            return None
        written = self._tensor(e, letters)
        number = isinstance(e, Number) or (isinstance(e, Element) and e.node.op.shape_only)
        if written is None or op.spelling or op.numbers or not number:
            return written
        return Call("tensor", (written,))

    def _rows_of_identity(self, e: Relation, letters: Letters) -> Tree | None:
        """Write δ[i,j] as eye(n), and δ[t[i],j] as eye(n)[t]."""
        row, column = letters[-2:-1], letters[-1:]
        if is_delta(e) and {e.left, e.right} == {*row, *column}:
            return self.identity(row, column) if self.size(row) == self.size(column) else None
        label = index_in_delta(e, letters)
        rows = None if label is None else self.index(label.value, letters[:-1])
        last = letters[-1:]
        return None if rows is None else Subscript(self.identity(last, last), (rows,))

    def _triangle(self, e: Relation, letters: Letters) -> Tree | None:
        """Write [j ≤ i] as tril(ones(n, m))."""
        tied = [k for k in letters if k in letters_of(e)]
        if e.symbol != "<=" or len(tied) != 2:
            return None
        row, column = tied
        result = triangle(e, row, column, self.ones([row], [column]))
        is_last = tied == [*letters[-2:]]
        return result if is_last or result is None else spread(result, tied, letters)

    def _summed(self, e: Sum, letters: Letters) -> Tree | None:
        """A sum as a product of matrices and vectors; None if it is not one."""
        free = letters_of(e) - {*self.fixed}
        remaining = [k for k in letters if k in free]
        if free - {*remaining} or len(remaining) > 2:
            return None
        try:
            result = Contraction([e], self._length, self._tensor, self.fixed)
            if not remaining:
                return result.scalar()
            built = (result.vector if len(remaining) == 1 else result.matrix)(*remaining)
        except NoProduct:
            return None
        is_last = remaining == list(letters[len(letters) - len(remaining) :])
        return built if is_last else spread(built, remaining, letters)

    def _power(self, e: Power, letters: Letters) -> Tree | None:
        if divides(e):
            return self._product(Product((e,)), letters)
        base, exponent = self._tensor(e.base, letters), self._tensor(e.exponent, letters)
        return None if base is None or exponent is None else Infix("**", base, exponent)

    def _sum_of_terms(self, terms: list[tuple[Expr, Tree | None]]) -> Tree | None:
        """A sum of terms; masks are converted where PyTorch would not add or subtract them."""
        if any(written is None for _, written in terms):
            return None
        (index, *other_indices) = {w.items if isinstance(w, Subscript) else () for _, w in terms}
        if not other_indices and {*index} == {ALL, NEW_DIMENSION}:  # a[:, None] + b[:, None]
            inner = self._sum_of_terms([(t, w.base) for t, w in terms])  # type: ignore[union-attr]
            return None if inner is None else Subscript(inner, index)
        first, out = terms[0]
        out = negated(out) if opposite(first) is not None else out  # type: ignore[arg-type]
        for term, written in terms[1:]:
            minus = opposite(term) is not None
            if is_mask(written) and (minus or is_mask(out)):  # type: ignore[arg-type]
                written = _counted(written)  # type: ignore[arg-type]
            out = _counted(out) if minus and is_mask(out) else out  # type: ignore[arg-type]
            out = Infix("-" if minus else "+", out, written)
        return out

    def _product(self, e: Product, letters: Letters) -> Tree | None:
        out: Tree | None = None
        if e.factors and e.factors[0] == MINUS:
            rest = self._tensor(Product(e.factors[1:]), letters)
            return None if rest is None else negated(rest)
        if len(letters) == 2 and any(letters[1] in letters_of(f) for f in e.factors):
            outer = self.outer(e.factors, letters[:1], letters[1:])
            if outer is not None:
                return outer
        scalar = True  # whether the previous factors have no letters
        for factor in numbers_first(powers(e.factors)):
            is_divisor = divides(factor)
            written = self._tensor(inverted(factor) if is_divisor else factor, letters)
            if written is None:
                return None
            if out is None and not is_divisor:
                out = written
            elif is_divisor and _is_reciprocal(out):
                out = out._replace(right=Infix("*", out.right, written))
            else:
                left = tree.Number(1) if out is None else out
                ndims = (0, len(letters)) if scalar and not is_divisor else None
                out = Infix("/" if is_divisor else "*", left, written, ndims)
            scalar = scalar and not letters_of(factor) - {*self.fixed}
        return out

    def outer(self, factors: Sequence[Expr], rows: Letters, columns: Letters) -> Tree | None:
        """outer(a, b), if each factor depends on all letters of rows or all letters of columns;
        outer(a, ones(n)) if no factor depends on the columns; else None.
        """
        numbers = [f for f in factors if not letters_of(f) - {*self.fixed}]
        left = [f for f in factors if f not in numbers and letters_of(f) - {*self.fixed} <= {*rows}]
        right = [f for f in factors if f not in numbers and f not in left]
        result = [
            {k for f in side for k in letters_of(f)} - {*self.fixed} for side in (left, right)
        ]
        if not columns or result not in ([{*rows}, {*columns}], [{*rows}, set()]):
            return None
        a = flat(self.weights(product_of(left), rows), rows)
        b = flat(self.weights(product_of(right), columns), columns) if right else None
        number = self.tensor(product_of(numbers), []) if numbers else None
        if a is None or (right and b is None) or (numbers and number is None):
            return None
        return self.scaled(number, Call("outer", (a, b or Call("ones", (self.length(columns),)))))

    def weights(self, e: Expr, letters: Letters) -> Tree | None:
        """The formula of e as a floating-point tensor; masks and integers are converted."""
        if letters_of(e) - {*self.fixed} != {*letters}:
            return self.tensor(e, letters)
        written = self._tensor(e, letters)
        if written is None and len(letters) == 2:
            transposed_tensor = self._tensor(e, letters[::-1])
            written = None if transposed_tensor is None else transposed(transposed_tensor)
        if written is None:
            return None
        dtypes = [part.node.dtype for part in inner(e) if isinstance(part, Element)]
        is_integer = bool(dtypes) and "float" not in dtypes and not is_mask(written)
        return Method(written, "double") if is_integer else in_numbers(written)

    def _element(self, e: Element, letters: Letters) -> Tree | None:
        """The formula of an element as a tensor that broadcasts to the dimensions `letters`."""
        if is_count(e):
            return self.count(e)
        tensor = self._whole_tensor(e)
        if tensor is None:
            return None
        name, places = tensor
        if len(set(places) - {0}) != sum(p != 0 for p in places):
            return None
        if not letters and not any(places):
            return name
        tail = letters[len(letters) - len(places) :]
        if len(places) <= len(letters) and all(p in (0, k) for p, k in zip(places, tail)):
            return name
        if len(places) > len(letters) and places[-len(letters) :] == tuple(letters):  # w[0, 0]
            return indexed(name, ", ".join(map(str, places[: len(places) - len(letters)])))
        if isinstance(name, Name) and [p for p in places if p != 0] == [*letters]:  # x[:, 0]
            return indexed(name, ", ".join("0" if p == 0 else ":" for p in places))
        if places[::-1] == tuple(letters) and is_symmetric(e.node):
            return name
        ordered = [p for p in places if isinstance(p, str) and p in letters]
        if ordered != list(places) or ordered != [k for k in letters if k in ordered]:
            return None
        return spread(name, ordered, letters)

    def index(self, value: Expr, letters: Letters) -> Tree | None:
        """The formula of an integer tensor used as an index, with the dimensions `letters`."""
        if not isinstance(value, Element):
            return None
        if [p for p in value.places if p != 0 and p not in self.fixed] != [*letters]:
            return None
        name = self._indexed(value.node)
        if value.places == tuple(letters):
            return name
        mask = MASK.fullmatch(tree.text(name)) if value.node.shape[1:] == (1,) else None
        if mask is not None:  # eye(n)[x > 0] selects the same rows as eye(n)[nonzero(x > 0)[:, 0]]
            return Verbatim(mask[1])
        items = (":" if p in letters else str(p) for p in value.places)
        return indexed(name, ", ".join(items))

    def single_index(self, value: Expr) -> Tree | None:
        """The formula of one element of an integer tensor, as a one-dimensional tensor."""
        if not isinstance(value, Element) or not value.places:
            return self.index(value, [])
        *first, last = value.places
        if not isinstance(last, int) or any(p != 0 and p not in self.fixed for p in first):
            return None
        items = [*map(str, first)]
        if value.node.shape[-1] > 1:
            items.append(f"{last or ''}:{last + 1}")
        name = self._indexed(value.node)
        return indexed(name, ", ".join(items)) if items else name

    def _indexed(self, node: Node) -> Tree:
        names = self._plain_names
        return names.get(node) or formula(node, names)

    @property
    def _plain_names(self) -> dict[Node, Name]:
        """The nodes whose formulas are names."""
        return {n: name for n, name in self.names.items() if isinstance(name, Name)}

    def called(self, node: Node) -> Tree | None:
        """The name of a node, or a call of its operator on named nodes and short formulas, such as
        inv(X) or inv(A.T @ A).
        """
        name = self.names.get(node)
        is_default = node.attrs == node.op.attributes and (node.op.torch or node.op.spelling)
        if name is not None or node.dtype != "float" or not is_default or not node.parents:
            return name
        return _applied(node.op, [self.names.get(i) or self._short(i) for i in node.parents])

    def _short(self, node: Node) -> Tree | None:
        """A short formula in terms of named nodes; None if there is none."""
        names = self._plain_names
        nodes = walk([node], lambda n: () if n in names else n.inputs)
        if any(n not in names for n in nodes if not n.inputs):
            return None
        written = formula(node, names)
        return written if tree.size(written) <= SHORT else None

    def _whole_tensor(self, e: Element) -> tuple[Tree, tuple[Place, ...]] | None:
        """The tensor that e is an element of, indexed by the fixed letters, and the remaining
        places. None unless the other letters index all of it, a row, or a slice of a vector.
        """
        name = self.called(e.node)
        if name is None:
            return None
        if not runs_over(e.places, e.node.shape, self.sizes):
            return self._row(name, e) or self._part_of_vector(name, e)
        first = tuple(p for p in e.places if p in self.fixed)
        if not first:
            return name, e.places
        if e.places[: len(first)] != first:
            return None
        return indexed(name, ", ".join(map(str, first))), e.places[len(first) :]

    def _row(self, name: Tree, e: Element) -> tuple[Tree, tuple[Place, ...]] | None:
        """x[0] and the remaining places, if the first places are numbers; else None."""
        first = [*takewhile(lambda p: isinstance(p, int), e.places)]
        rest = e.places[len(first) :]
        if not first or not runs_over(rest, e.node.shape[len(first) :], self.sizes):
            return None
        return indexed(name, ", ".join(map(str, first))), rest

    def _part_of_vector(self, name: Tree, e: Element) -> tuple[Tree, tuple[Place, ...]] | None:
        """x[1:] and its letter, for an element x[i + 1]; else None."""
        terms, offset = linear(e.places[0]) if len(e.places) == 1 else ((), 0)
        if len(terms) != 1 or terms[0][0] not in self.sizes or terms[0][0] in self.fixed:
            return None
        ((letter, step),) = terms
        index = self.slice_of(offset, step, self.sizes[letter], e.node.numel) if step > 0 else None
        return None if index is None else (indexed(name, index), (letter,))

    def slice_of(self, start: int, step: int, count: int, size: int) -> str | None:
        """The slice of `count` indices from `start`, in ascending order: 1:, :-1, ::2; None if some
        are out of range.
        """
        low, high = sorted((start, start + step * (count - 1)))
        if not step or low < 0 or high >= size:
            return None
        begin = self._end(low, size) if low else ""
        end = "" if high + abs(step) >= size else self._end(high + 1, size)
        return f"{begin}:{end}" + (f":{abs(step)}" if abs(step) > 1 else "")

    def _end(self, index: int, size: int) -> str:
        """The text of an index, counted from the end if that is nearer: -1."""
        from_end = size - index
        is_nearer = from_end < min(index, LEAST) if self.generic_sizes else from_end < index
        return f"-{from_end}" if is_nearer else tree.text(self.constant(index))


def triangle(bound: Relation, row: str, column: str, whole: Tree) -> Tree | None:
    """tril(whole) or triu(whole, 1), for a bound between the letters of rows and columns; None for
    other relations.
    """
    form = linear(plus(bound.right, bound.left, -1))
    terms = dict(form.terms)
    if terms == {row: 1, column: -1}:
        function, diagonal = "tril", form.offset
    elif terms == {row: -1, column: 1}:
        function, diagonal = "triu", -form.offset
    else:
        return None
    return Call(function, (whole, *([tree.Number(diagonal)] if diagonal else [])))


def index_in_delta(e: Relation, letters: Sequence[str]) -> Picked | None:
    """t[i] in δ[t[i],j], where j is the last of the letters and i among the others; else None."""
    if e.symbol != "==" or letters_of(e) - {*letters}:
        return None
    for place, last in ((e.left, e.right), (e.right, e.left)):
        if isinstance(place, Linear) and last in letters[-1:] and place.offset == 0:
            ((atom, factor), *more) = place.terms
            if isinstance(atom, Picked) and factor == 1 and not more:
                return atom
    return None


def spread(written: Tree, inner: Letters, letters: Letters) -> Tree:
    """A tensor whose dimensions have the letters `inner`, with new dimensions for the other
    `letters`, so that it broadcasts: x[:, None].
    """
    start = letters.index(inner[0])
    return indexed(written, ", ".join(":" if k in inner else "None" for k in letters[start:]))


def _is_reciprocal(written: Tree | None) -> TypeGuard[Infix]:
    """Whether a formula is a number over another: 1 / 32."""
    quotient = isinstance(written, Infix) and written.symbol == "/"
    return quotient and isinstance(written.left, tree.Number)  # type: ignore[union-attr]


def _applied(op: Operator, args: Sequence[Tree | None]) -> Tree | None:
    """A call of an operator with default attributes, in its usual spelling."""
    known = [a for a in args if a is not None]
    if len(known) < len(args):
        return None
    if op.spelling:
        values: dict[str, Tree | None] = dict.fromkeys(op.attributes)
        return spelled(op.spelling, values | {str(k): a for k, a in enumerate(known)})
    if op.method:
        return Method(known[0], op.name, tuple(known[1:]))
    return Call(word(op), tuple(known))


def _counted(mask: Tree) -> Tree:
    """mask.double()."""
    return Method(mask, "double")


def is_count(e: Expr) -> bool:
    """Whether e is a size node, or 1 divided by one."""
    if divides(e):
        return is_count(inverted(e))
    return isinstance(e, Element) and e.node.op.name == "size"


def flat(written: Tree | None, letters: Letters) -> Tree | None:
    """A tensor with these dimensions, flattened to a vector, as diag and outer require."""
    return written if written is None or len(letters) == 1 else Method(written, "flatten")
