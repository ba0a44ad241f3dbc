"""Values of Jacobians from their index notation: each term is an einsum of its arrays, added to the
entries that its deltas, such as δ[i,j], select.

Letters are index letters such as i; places are index expressions such as 2 * i + 1.
"""

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

Operand = tuple[Any, tuple[str, ...]]  # an array, and the letters of its dimensions


def matrix(form: ClosedForm, value: Callable[[Node], Any], most: int) -> Any:
    """The array of a closed form, with a dimension for each of its letters.

    `value` returns the arrays of nodes; NumPy's warnings must be off. Returns None if a product is
    not finite (0 times infinity depends on the order of operations), or an array would have more
    than `most` elements.
    """
    try:
        return _Evaluation(form, value, most)()
    except _NotApplicable:
        return None


class _NotApplicable(Exception):
    """The closed form cannot be used."""


class _Evaluation:
    def __init__(self, form: ClosedForm, value: Callable[[Node], Any], most: int):
        self.form, self.value, self.most = form, value, most
        self.sizes = form.sizes

    def __call__(self) -> Any:
        shape, out = self.form.shape, None
        for term in self.form.terms:
            values = self._term_values(term)
            if not (term.is_power or np.isfinite(values).all()):
                raise _NotApplicable
            if out is None and not term.fixed and values.shape == shape:
                out = self._as_new_array(values)
                continue
            if out is None:
                out = np.zeros(shape)
            self._add_at_deltas(out, term, values)
        return np.zeros(shape) if out is None else out

    def _as_new_array(self, values: Any) -> Any:
        """Contiguous floats that do not share memory with the values of nodes."""
        array = np.ascontiguousarray(values, float)
        arrays = map(self.value, self.form.nodes)
        return array.copy() if any(np.may_share_memory(array, a) for a in arrays) else array

    # ---- one term --------------------------------------------------------------------------------

    def _term_values(self, term: Term) -> Any:
        node = term.array_node
        if node is not None and node.shape == term.shape:
            return self.value(node)
        return self._values(term)

    def _values(self, term: Term) -> Any:
        """The values of a term, with a dimension for each free letter, of size 1 if they are
        constant along it.
        """
        free = term.free
        operands = [(self._operand(e, letters), letters) for letters, e in term.groups.items()]
        if term.sums:
            operands = [self._summed(o, operands, free) for o in operands]
        while len(operands) > 1:
            a, b = self._cheapest(operands, free)
            rest = [o for o in operands if o is not a and o is not b]
            needed = {*free, *(k for _, others in rest for k in others)}
            operands = [*rest, self._pair(a, b, needed)]
        if not operands:
            return np.full((1,) * len(free), term.number)
        array = self._with_dims(*operands[0], free)
        return array if term.number == 1 else term.number * array

    def _operand(self, e: Expr, letters: tuple[str, ...]) -> Any:
        self._check_size(letters)
        return np.asarray(self._array(e, letters), float)

    def _summed(
        self, operand: Operand, operands: Sequence[Operand], free: Collection[str]
    ) -> Operand:
        """An operand summed over letters that occur in no other operand and not in the result."""
        array, letters = operand
        others = {*free, *(k for o in operands if o is not operand for k in o[1])}
        axes = tuple(d for d, k in enumerate(letters) if k not in others)
        if not axes:
            return operand
        expanded = np.broadcast_to(array, [self.sizes[k] for k in letters])
        return expanded.sum(axis=axes), tuple(k for k in letters if k in others)

    def _cheapest(
        self, operands: Sequence[Operand], free: Collection[str]
    ) -> tuple[Operand, Operand]:
        """The two operands whose product has the fewest elements."""

        def cost(pair: tuple[Operand, Operand]) -> int:
            rest = {k for o in operands if o is not pair[0] and o is not pair[1] for k in o[1]}
            remaining = {*pair[0][1], *pair[1][1]} & {*free, *rest}
            return numel([self.sizes[k] for k in remaining])

        pairs = [(a, b) for k, a in enumerate(operands) for b in operands[k + 1 :]]
        return pairs[0] if len(pairs) == 1 else min(pairs, key=cost)

    def _pair(self, a: Operand, b: Operand, kept: Collection[str]) -> Operand:
        """The product of two operands, summed over the letters that are not `kept`."""
        both = [k for k in a[1] if k in b[1]]
        over = tuple(k for k in both if k not in kept)
        batch = tuple(k for k in both if k in kept)
        left, right = (tuple(k for k in own if k not in both) for _, own in (a, b))
        letters = (*batch, *left, *right)
        self._check_size(letters)
        if not over:
            return self._with_dims(*a, letters) * self._with_dims(*b, letters), letters
        first = self._blocks(a, batch, left, over)
        second = self._blocks(b, batch, over, right)
        shape = [self.sizes[k] for k in letters]
        return np.matmul(first, second).reshape(shape), letters

    def _blocks(self, operand: Operand, batch, rows, columns) -> Any:
        """An operand as matrices of `rows` by `columns`, one for each index of `batch`."""
        letters = (*batch, *rows, *columns)
        array = self._with_dims(*operand, letters)
        array = np.broadcast_to(array, [self.sizes[k] for k in letters])
        count, height, width = (numel([self.sizes[k] for k in g]) for g in (batch, rows, columns))
        array = array.reshape(count, height, width)
        return array if batch else array[0]

    def _with_dims(self, array: Any, letters: tuple[str, ...], wanted: tuple[str, ...]) -> Any:
        """The array with a dimension for each wanted letter, of size 1 for those that it lacks."""
        if letters == wanted:
            return array
        order = [letters.index(k) for k in wanted if k in letters]
        shape = [array.shape[letters.index(k)] if k in letters else 1 for k in wanted]
        return array.transpose(order).reshape(shape)

    def _check_size(self, letters: Collection[str]) -> None:
        if numel([self.sizes[k] for k in letters]) > self.most:
            raise _NotApplicable

    # ---- values of factors -----------------------------------------------------------------------

    def _array(self, e: Expr, letters: tuple[str, ...]) -> Any:
        """The values of an expression without sums, with a dimension for each of `letters`."""
        if isinstance(e, Number):
            return np.full((1,) * len(letters), float(e.value))
        if isinstance(e, Element):
            return self._element(e, letters)
        if isinstance(e, Relation):
            left, right = (self._place(p, letters) for p in (e.left, e.right))
            holds = left == right if e.symbol == "==" else left <= right
            return np.asarray(holds).astype(float)
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
        used = tuple(p for p in e.places if p != 0)
        are_letters = all(isinstance(p, str) for p in used)
        whole = places.runs_over(e.places, e.node.shape, self.sizes)
        if are_letters and len(set(used)) == len(used) and whole:
            shape = [n for n, p in zip(array.shape, e.places) if p != 0]
            return self._with_dims(array.reshape(shape), used, letters)  # type: ignore[arg-type]
        indices = [self._place(p, letters) for p in e.places]
        return array[tuple(np.clip(p, 0, n - 1) for p, n in zip(indices, array.shape))]

    def _place(self, place: Place, letters: tuple[str, ...]) -> Any:
        """A place as an array of integers, with a dimension for each of `letters`."""
        dims = range(len(letters))
        env = {
            k: np.arange(self.sizes[k]).reshape([-1 if d == axis else 1 for d in dims])
            for axis, k in enumerate(letters)
        }
        result = places.at(place, env, lambda e: self._array(e, letters).astype(int))
        return np.asarray(result).reshape((1,) * len(letters)) if np.ndim(result) == 0 else result

    # ---- entries ---------------------------------------------------------------------------------

    def _add_at_deltas(self, out: Any, term: Term, values: Any) -> None:
        """Add the values of a term to the entries where its deltas are 1."""
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
