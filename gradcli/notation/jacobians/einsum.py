"""Numbers of closed forms: each term an einsum over its arrays, placed where its deltas say."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from ...graphs import Node
from ...graphs.shapes import numel
from ...lazy import np
from ..indices import places
from ..indices.expressions import (
    MINUS,
    Element,
    Expr,
    Function,
    Number,
    Power,
    Product,
    Relation,
    Total,
    parts,
)  # fmt: skip
from ..indices.places import Place
from .closed_form import ClosedForm, Term

Operand = tuple[Any, tuple[str, ...]]  # an array, and the letter of each of its dimensions


def matrix(form: ClosedForm, value: Callable[[Node], Any], most: int) -> Any:
    """The array of a closed form, with a dimension for each of its letters.

    `value` gives the arrays of its nodes; NumPy's warnings are off. None where a product is not
    finite (which of 0 and infinity wins depends on the order of the operations), or an array would
    have more than `most` elements.
    """
    try:
        return _Contraction(form, value, most)()
    except _GivenUp:
        return None


class _GivenUp(Exception):
    """Another way is better."""


class _Contraction:
    def __init__(self, form: ClosedForm, value: Callable[[Node], Any], most: int):
        self.form, self.value, self.most = form, value, most
        self.sizes = form.sizes

    def __call__(self) -> Any:
        shape, out = self.form.shape, None
        for term in self.form.terms:
            values = self._numbers(term)
            if not (term.single or np.isfinite(values).all()):
                raise _GivenUp
            if out is None and not term.fixed and values.shape == shape:
                out = self._own(values)
                continue
            if out is None:
                out = np.zeros(shape)
            self._put(out, term, values)
        return np.zeros(shape) if out is None else out

    def _own(self, values: Any) -> Any:
        """Floats, row by row in memory, that share nothing with the values of nodes."""
        own = np.ascontiguousarray(values, float)
        given = map(self.value, self.form.nodes)
        return own.copy() if any(np.may_share_memory(own, a) for a in given) else own

    # ---- one term --------------------------------------------------------------------------------

    def _numbers(self, term: Term) -> Any:
        node = term.alone
        if node is not None and node.shape == term.shape:
            return self.value(node)
        return self._values(term)

    def _values(self, term: Term) -> Any:
        """Its numbers, with a dimension for each free letter, of size 1 where all along it are the
        same.
        """
        free = term.free
        operands = [(self._operand(e, letters), letters) for letters, e in term.groups.items()]
        if term.sums:
            operands = [self._summed(o, operands, free) for o in operands]
        while len(operands) > 1:
            a, b = self._cheapest(operands, free)
            rest = [o for o in operands if o is not a and o is not b]
            operands = [*rest, self._pair(a, b, {*free, *(k for _, own in rest for k in own)})]
        if not operands:
            return np.full((1,) * len(free), term.number)
        array = self._along(*operands[0], free)
        return array if term.number == 1 else term.number * array

    def _operand(self, e: Expr, letters: tuple[str, ...]) -> Any:
        self._afford(letters)
        return np.asarray(self._array(e, letters), float)

    def _summed(
        self, operand: Operand, operands: Sequence[Operand], free: Collection[str]
    ) -> Operand:
        """An operand summed over the letters that no other has."""
        array, letters = operand
        others = {*free, *(k for o in operands if o is not operand for k in o[1])}
        alone = tuple(d for d, k in enumerate(letters) if k not in others)
        if not alone:
            return operand
        whole = np.broadcast_to(array, [self.sizes[k] for k in letters])
        return whole.sum(axis=alone), tuple(k for k in letters if k in others)

    def _cheapest(
        self, operands: Sequence[Operand], free: Collection[str]
    ) -> tuple[Operand, Operand]:
        """The two operands whose product has the fewest elements."""

        def cost(pair: tuple[Operand, Operand]) -> int:
            rest = {k for o in operands if o is not pair[0] and o is not pair[1] for k in o[1]}
            kept = {*pair[0][1], *pair[1][1]} & {*free, *rest}
            return numel([self.sizes[k] for k in kept])

        pairs = [(a, b) for k, a in enumerate(operands) for b in operands[k + 1 :]]
        return pairs[0] if len(pairs) == 1 else min(pairs, key=cost)

    def _pair(self, a: Operand, b: Operand, kept: Collection[str]) -> Operand:
        """Two operands multiplied, and summed over the letters that are not `kept`."""
        both = [k for k in a[1] if k in b[1]]
        over = tuple(k for k in both if k not in kept)
        batch = tuple(k for k in both if k in kept)
        left, right = (tuple(k for k in own if k not in both) for _, own in (a, b))
        letters = (*batch, *left, *right)
        self._afford(letters)
        if not over:
            return self._along(*a, letters) * self._along(*b, letters), letters
        first = self._blocks(a, batch, left, over)
        second = self._blocks(b, batch, over, right)
        shape = [self.sizes[k] for k in letters]
        return np.matmul(first, second).reshape(shape), letters

    def _blocks(self, operand: Operand, batch, rows, columns) -> Any:
        """An operand as matrices, one for each place of `batch`."""
        letters = (*batch, *rows, *columns)
        array = self._along(*operand, letters)
        array = np.broadcast_to(array, [self.sizes[k] for k in letters])
        count, height, width = (numel([self.sizes[k] for k in g]) for g in (batch, rows, columns))
        array = array.reshape(count, height, width)
        return array if batch else array[0]

    def _along(self, array: Any, letters: tuple[str, ...], wanted: tuple[str, ...]) -> Any:
        """The array with a dimension for each letter wanted."""
        if letters == wanted:
            return array
        order = [letters.index(k) for k in wanted if k in letters]
        shape = [array.shape[letters.index(k)] if k in letters else 1 for k in wanted]
        return array.transpose(order).reshape(shape)

    def _afford(self, letters: Collection[str]) -> None:
        if numel([self.sizes[k] for k in letters]) > self.most:
            raise _GivenUp

    # ---- numbers of factors ----------------------------------------------------------------------

    def _array(self, e: Expr, letters: tuple[str, ...]) -> Any:
        """The numbers of an expression without sums, with a dimension for each of `letters`."""
        if isinstance(e, Number):
            return np.full((1,) * len(letters), float(e.value))
        if isinstance(e, Element):
            return self._element(e, letters)
        if isinstance(e, Relation):
            left, right = (self._place(p, letters) for p in (e.left, e.right))
            held = left == right if e.symbol == "==" else left <= right
            return np.asarray(held).astype(float)
        if isinstance(e, Product):
            return self._product(e.factors, letters)
        arrays = [self._array(part, letters) for part in parts(e)]
        if isinstance(e, Power):
            return np.power(np.asarray(arrays[0], float), arrays[1])
        if isinstance(e, Total):
            return sum(arrays[1:], arrays[0])
        assert isinstance(e, Function)
        return np.asarray(e.op.value(*[np.asarray(a, float) for a in arrays], **dict(e.attrs)))

    def _product(self, factors: Sequence[Expr], letters: tuple[str, ...]) -> Any:
        total: Any = None
        for factor in factors:
            if isinstance(factor, Power) and factor.exponent == MINUS:
                total = (1.0 if total is None else total) / self._array(factor.base, letters)
            else:
                array = self._array(factor, letters)
                total = array * 1.0 if total is None else total * array
        return total

    def _element(self, e: Element, letters: tuple[str, ...]) -> Any:
        array = self.value(e.node)
        if e.places == letters and array.shape == tuple([self.sizes[k] for k in letters]):
            return array
        own = tuple(p for p in e.places if p != 0)
        if len(set(own)) == len(own) and all(isinstance(p, str) for p in own) and self._whole(e):
            shape = [n for n, p in zip(array.shape, e.places) if p != 0]
            return self._along(array.reshape(shape), own, letters)  # type: ignore[arg-type]
        at = [self._place(p, letters) for p in e.places]
        return array[tuple(np.clip(p, 0, n - 1) for p, n in zip(at, array.shape))]

    def _whole(self, e: Element) -> bool:
        return all(
            p == 0 if n == 1 else isinstance(p, str) and self.sizes[p] == n
            for p, n in zip(e.places, e.node.shape)
        )

    def _place(self, place: Place, letters: tuple[str, ...]) -> Any:
        """A place as an array of whole numbers, with a dimension for each of `letters`."""
        dims = range(len(letters))
        env = {
            k: np.arange(self.sizes[k]).reshape([-1 if d == axis else 1 for d in dims])
            for axis, k in enumerate(letters)
        }
        result = places.at(place, env, lambda e: self._array(e, letters).astype(int))
        return np.asarray(result).reshape((1,) * len(letters)) if np.ndim(result) == 0 else result

    # ---- where it stands -------------------------------------------------------------------------

    def _put(self, out: Any, term: Term, values: Any) -> None:
        """Add the values where the term's deltas are 1."""
        if term.strides is not None:
            view = np.ndarray(term.shape, float, out, 0, term.strides)
            view += values
            return
        fixed = dict(term.fixed)
        flat, inside, stride = np.zeros((1,) * len(term.free), int), np.asarray(True), out.size
        for letter in self.form.letters:
            size = self.sizes[letter]
            stride //= size
            place = self._place(fixed.get(letter, letter), term.free)
            inside = inside & (place >= 0) & (place < size)
            flat = flat + stride * place
        values, inside, flat = (np.broadcast_to(a, term.shape) for a in (values, inside, flat))
        out.reshape(-1)[flat[inside]] += values[inside]
