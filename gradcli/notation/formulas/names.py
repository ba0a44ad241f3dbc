"""The use of names in formulas: named nodes of a program replace equal subexpressions."""

from collections.abc import Callable, Collection, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from math import inf, isclose

from ...graphs import OPS, Node, walk
from ...graphs.shapes import Shape, axes, axis, fits
from ...graphs.substitution import substitute, with_attributes
from ..tree import Name
from .rules import CANDIDATES, apply_rules
from .rules.atoms import atom_of
from .rules.factoring import MOST_TERMS, expanded_terms, sum_of, terms_of_sum
from .rules.known_values import known_positive
from .rules.powers import with_powers_of, without_roots
from .rules.products import (
    MOST_PARTS,
    NOTHING,
    ONE,
    SUMS,
    TOLERANCE,
    UNITS,
    Coefficient,
    Product,
    build,
    constant_value,
    magnitude,
    multiplied_by,
    number_node,
    product_of,
    rounded,
    with_factors,
)
from .rules.reductions import constant_along
from .simplify import LARGE, stripped

CONSTANT = ("input", "constant", "zeros", "ones")  # operators that names never replace
OTHER_LEG = {"asin": "cos", "acos": "sin"}  # sqrt(1 - x ** 2), the other leg of a right triangle
INVERSES = {"asin": "sin", "acos": "cos", "atan": "tan", "asinh": "sinh", "atanh": "tanh"}
Change = Callable[[Node], Node]


class Names:
    """The names that a formula may use. An atom, an input with a definition, replaces each of them.

    A search starts with the definitions of the names in `opened` instead of their atoms, and may
    introduce these atoms again. Subexpressions of the `program` are written as they are there.
    `nonzero` are inputs that formulas may divide by, `zeros` those whose value is 0.
    """

    def __init__(
        self,
        names: Mapping[Node, Name],
        opened: Collection[Node] = (),
        program: Collection[Node] = (),
        nonzero: Collection[Node] = (),
        zeros: Collection[Node] = (),
    ):
        self.opened, self.program = opened, program
        self.nonzero, self.zeros = nonzero, zeros
        self.named_nodes = [n for n in names if n.op.name != "input"]
        self.atoms = {n: atom_of(n) for n in self.named_nodes}
        self.words = {self.atoms.get(n, n): name for n, name in names.items()}
        self.definitions: dict[Node, Node] | None = None  # by atom; None: not looked up yet
        self.replacements: dict[Node, Node] = {}  # equal nodes in terms of atoms
        self.products: list[tuple[Node, Product]] = []  # atoms that are products
        self.sums: list[tuple[Node, list[Product]]] = []  # atoms that are sums, with their terms
        self.exponentials: dict[Node, Node] = {}  # the atom that is exp of a node
        self.without_names: set[Node] = set()  # nodes that contain no definition

    def start(self, node: Node) -> Node:
        """The node with which a search starts."""
        return stripped(node, self._closed())

    def _closed(self) -> dict[Node, Node]:
        """The named nodes that are not opened, with their atoms."""
        return {n: a for n, a in self.atoms.items() if n not in self.opened}

    def with_atoms(self, node: Node) -> Node:
        """The node with atoms in place of the named nodes inside it."""
        atoms = {n: a for n, a in self.atoms.items() if n is not node}
        return stripped(node, atoms)

    def find_definitions(self, normal: Change) -> None:
        """Compute the definitions of the atoms, at the first call."""
        if self.definitions is not None:
            for atom, definition in self.definitions.items():
                atom.expansion = definition
            return
        self.definitions = {}
        for n in (n for n in walk(self.named_nodes) if n in self.atoms):
            others = {m: a for m, a in self._closed().items() if m is not n}
            atom = self.atoms[n]
            atom.expansion = self.definitions[atom] = definition = normal(stripped(n, others))
            self._add_definition(definition, atom, normal)
            if n.op.expand is not None and len(walk([n])) < LARGE:
                self._add_definition(normal(stripped(n.op.expanded(n), others)), atom, normal)
        written = dict.fromkeys(map(self.with_atoms, self.program))
        for n in written:
            for same in _equal_calls(n):
                if same not in written:
                    self.replacements.setdefault(same, n)

    def _add_definition(self, definition: Node, atom: Node, normal: Change) -> None:
        if definition.op.name in CONSTANT:
            return
        self.replacements.setdefault(definition, atom)
        for same in _equal_calls(definition):
            self.replacements.setdefault(same, atom)
            if same.attrs.get("keepdim") is False:
                column = with_attributes(same, keepdim=True)
                self.replacements.setdefault(column, atom.unsqueeze(dim=same.attrs["dim"]))
        if definition.op.name in OTHER_LEG and definition.parents[0].inputs:
            leg, other = 1 - definition.parents[0] ** 2, OPS[OTHER_LEG[definition.op.name]](atom)
            self.replacements.setdefault(normal(leg.sqrt()), other)
            self.replacements.setdefault(normal(leg.rsqrt()), 1 / other)
        if definition.op.name == "exp":
            self.exponentials.setdefault(definition.parents[0], atom)
        if definition.op.name == "log" and _adds_exponentials(definition.parents[0]):
            self.replacements.setdefault(definition.parents[0], OPS["exp"](atom))
        if definition.op.name == "sum":
            for same in apply_rules(definition, CANDIDATES):  # p @ E for (p[:, None] * E).sum(0)
                self.replacements.setdefault(normal(same), atom)
        if definition.op.name == "stack" and not definition.attrs["dim"]:
            for k, x in enumerate(definition.parents):
                whole = product_of(x) or NOTHING
                if len(whole.factors) > 1 and whole.coefficient:
                    self.products.append((atom[k], without_roots(whole)))
                if x.op.name in SUMS:
                    self.replacements.setdefault(x, atom[k])
                if x.op.name == "add":
                    self.replacements.setdefault(x.op(*reversed(x.parents)), atom[k])
        if definition.op.name == "getitem" and definition.ndim == 1:  # q = p[arange(n), y]
            self.replacements.setdefault(normal(definition.unsqueeze(dim=1)), atom.unsqueeze(dim=1))
        terms = terms_of_sum(definition)
        if 1 < len(terms) <= MOST_TERMS:
            self.sums.append((atom, terms))
        if definition.op.name in SUMS and any(i.op.name == "logsumexp" for i in definition.parents):
            self.replacements.setdefault(
                normal(OPS["exp"](definition)), OPS["exp"](atom)
            )  # a softmax
        column = definition.parents[0] if definition.op.name == "squeeze" else definition
        if column.ndim == definition.ndim + 1 and column.op.name not in CONSTANT:
            over = axes(definition.attrs["dim"], column.ndim)  # exactly one of them has size 1
            (dim,) = (d for d in over if column.shape[d] == 1)
            self.replacements.setdefault(column, atom.unsqueeze(dim=dim))
        self._add_products(definition, atom, normal)

    def _add_products(self, definition: Node, atom: Node, normal: Change) -> None:
        result = product_of(definition)
        opened = NOTHING if result is None else without_roots(result)
        is_product = len(opened.factors) > 1 or (result or NOTHING).factors != {definition: 1}
        if result is not None and result.coefficient and opened.factors and is_product:
            self.products.append((atom, opened))
            in_rows = _in_rows(result)
            if in_rows is not None:
                dim, columns = in_rows
                self.products.append((atom.unsqueeze(dim=dim), columns))
            self._add_cofactors(opened, atom)
            self.products += _complements(opened, atom)
        if definition.op.name in INVERSES:  # x / y = sin(out) for out = asin(x / y)
            operand = product_of(definition.parents[0]) or NOTHING
            if len(operand.factors) > 1:
                self.products.append((OPS[INVERSES[definition.op.name]](atom), operand))
        beside = _inverted_definition(definition, atom)
        if beside is not None:
            rest, other = beside
            whole = _expanded_product(other, normal)
            if whole is not None and any(f.inputs for f in whole.factors):
                self.products.append((rest, without_roots(whole)))

    def _add_cofactors(self, definition: Product, atom: Node) -> None:
        """tanh(x / c) = out / c for out = c * tanh(x / c): the program divides by c, so c != 0, or
        c is assumed to be positive; and k * exp(-r) = out * r for out = k * exp(-r) / r.
        """
        for f, e in definition.factors.items():
            if e == -1 and f.op.name == "input" and f.shape and len(definition.factors) > 2:
                self.products.append((atom * f, definition.without(f)))
        for f, e in definition.factors.items():
            rest = definition.without(f)
            is_divisor = f.op.name == "input" and e > 0 and self._divides(f)
            if f in self.amplitudes and any(n != int(n) for n in definition.factors.values()):
                continue  # a root is shorter as it is
            is_long = any(k.inputs for k in rest.factors) or len(rest.factors) > 2
            if is_divisor and is_long:
                self.products.append((atom / f ** number_node(e), rest))

    @cached_property
    def divisors(self) -> set[Node]:
        """The nodes at whose zeros the program is not finite, and their factors."""
        operands = (x for n in walk(self.program) for x in n.op.inputs_with_poles(n).values())
        poles = (stripped(x, {}) for x in operands)
        return {f for x in poles for f in (x, *(product_of(x) or NOTHING).factors)}

    @cached_property
    def amplitudes(self) -> set[Node]:
        """The inputs that may be divided by, though the program is finite where they are 0. Bases
        of powers are left out: rules for powers treat them.
        """
        powers = (n for n in walk(self.program) if n.op.name in ("sqrt", "pow"))
        bases = (stripped(n.parents[0], {}) for n in powers if not _is_integral(n))
        factors = (f for x in bases for f in (x, *(product_of(x) or NOTHING).factors))
        known = self.divisors.union(factors)
        return {x for x in self.nonzero if x not in known and not known_positive(x)}

    def has_same_definitions(self, other: "Names") -> bool:
        """Whether another Names has the same definitions."""
        mine, theirs = ((n.definitions, n.replacements, n.products) for n in (self, other))
        return mine == theirs

    def without_atoms(self, node: Node) -> Node:
        """The node with named nodes in place of atoms."""
        return substitute(node, {atom: n for n, atom in self.atoms.items()})

    def with_equal_definitions(self, node: Node, normal: Change) -> Node:
        """The node with atoms in place of equal definitions."""
        new = walk([node], lambda n: () if n in self.without_names else n.inputs)
        result = {n: self.replacements[n] for n in new if n in self.replacements}
        if not result:
            self.without_names.update(new)
        return normal(substitute(node, result)) if result else node

    def with_names(self, node: Node, normal: Change) -> Iterator[Node]:
        """Yield equal nodes in which an atom replaces factors: (g * x).sum() * r = (g * y).sum()
        for y = x * r.
        """
        if node in self.replacements:
            yield self.replacements[node]
        if node.op.name == "softmax" and node.parents[0] in self.exponentials:
            w = self.exponentials[node.parents[0]]
            yield w / (w.sum() if w.ndim == 1 else w.sum(dim=node.attrs["dim"], keepdim=True))
        for built in _regrouped(node):
            if built.parents[0] in self.replacements or built.parents[1] in self.replacements:
                yield built.op(*(self.replacements.get(i, i) for i in built.parents))
        result = product_of(node) if node.inputs else None
        if result is None or result.coefficient == 0:
            return
        result = without_roots(result)
        for atom, definition in self.products:
            same = with_powers_of(definition, result)
            for new in _with_atom(same, atom, definition, node.shape):
                built = build(new, node.shape)
                if built.shape == node.shape:
                    yield built
                    yield normal(built)
        yield from self._with_names_in_terms(node, normal)
        for total in self._with_multiples(node):
            if total.shape == node.shape:
                yield normal(total)

    def _with_multiples(self, node: Node) -> Iterator[Node]:
        """Yield sums in which a multiple of an atom replaces terms: k * y * out + z for the terms
        k * y * a + k * y * b + z and out = a + b. Only divisors of the program divide it.
        """
        terms = terms_of_sum(node)
        for atom, (first, *others) in self.sums if len(terms) <= MOST_TERMS else ():
            for t in terms if len(others) < len(terms) else ():
                number = _quotient(t.coefficient, first.coefficient)
                factors = with_factors(t.factors, {f: -e for f, e in first.factors.items()})
                below = (f for f, e in factors.items() if e < 0)
                if number is None or not all(map(self._divides, below)):
                    continue
                multiple = Product(number, factors)
                used = [t, *(multiplied_by(p, multiple) for p in others)]
                rest = [p for p in terms if p not in used]
                if len(rest) == len(terms) - len(used):
                    yield sum_of([multiple.times({atom: ONE}), *rest])

    def _divides(self, f: Node) -> bool:
        """Whether a formula may divide by a factor: a divisor of the program, an input assumed not
        to be 0, or one known as positive.
        """
        return f in self.divisors or f in self.amplitudes or known_positive(f)

    def _with_names_in_terms(self, node: Node, normal: Change) -> Iterator[Node]:
        """Yield expanded sums with an atom in place of some factors of a term."""
        terms = [without_roots(t) for t in expanded_terms(node)]
        for k, term in enumerate(terms if len(terms) <= MOST_TERMS else ()):
            for atom, definition in self.products:
                for new in _with_atom(term, atom, definition, node.shape):
                    total = sum_of([*terms[:k], new, *terms[k + 1 :]])
                    if total.shape == node.shape:
                        yield normal(total)


def _is_integral(power: Node) -> bool:
    """Whether a power has a constant integral exponent."""
    exponent = constant_value(power.parents[1]) if power.op.name == "pow" else None
    return exponent is not None and exponent == int(exponent)


def _regrouped(node: Node) -> Iterator[Node]:
    """(a @ B) @ c for a @ (B @ c), and the other way round."""
    if node.op.name != "matmul":
        return
    a, c = node.parents
    if c.op.name == "matmul" and _is_associative(a, *c.parents):
        yield (a @ c.parents[0]) @ c.parents[1]
    if a.op.name == "matmul" and _is_associative(*a.parents, c):
        yield a.parents[0] @ (a.parents[1] @ c)


def _is_associative(*operands: Node) -> bool:
    """Whether (a @ b) @ c = a @ (b @ c): not if one is a vector and another a batch of matrices."""
    a, b, c = operands
    return b.ndim > 1 and (max(a.ndim, b.ndim, c.ndim) == 2 or min(a.ndim, c.ndim) > 1)


def _adds_exponentials(x: Node) -> bool:
    """Whether x is a sum of exponentials, such as exp(a) + exp(b), 1 + exp(a).sum() or w @ exp(a):
    if the program has out = log(x), a formula may write exp(out) for x.
    """
    if x.op.name in ("matmul", "sum"):
        operands = [product_of(i) or NOTHING for i in x.parents]
        return any(p.once("exp") for p in operands)
    terms = [t for t in terms_of_sum(x) or () if t.factors]
    if len(terms) == 1 and any(map(_adds_exponentials, terms[0].once("sum", "matmul"))):
        return True
    return len(terms) > 1 and any(len(t.once("exp")) == 1 for t in terms)


def _inverted_definition(definition: Node, atom: Node) -> tuple[Node, Product] | None:
    """1 - out and a / b for out = 1 - a / b; out - c and a * b for out = a * b + c; out + c and
    a * c for out = c * (a - 1); None for other definitions.
    """
    terms = terms_of_sum(definition) or expanded_terms(definition)
    names = [t for t in terms if not t.factors or _is_name(t)]
    if len(terms) != 2 or len(names) != 1:
        return None
    ((name,), (other,)) = names, [t for t in terms if t not in names]
    value = build(name, definition.shape) if name.factors else number_node(name.coefficient)
    rest = value - atom if other.coefficient < 0 else atom - value
    return rest, other._replace(coefficient=magnitude(other.coefficient))


def _complements(definition: Product, atom: Node) -> Iterator[tuple[Node, Product]]:
    """Yield 1 - out and x * out for out = 1 / (1 + x); c - out and out * y / x for
    out = c * x / (x + y), where c is a number or a name.
    """
    for total in [f for f, e in definition.factors.items() if e == -1]:
        terms = terms_of_sum(total)
        for x, y in permutations(terms) if len(terms) == 2 else ():
            inverse = {f: -e for f, e in x.factors.items()}
            c = definition.without(total).times(inverse, 1 / x.coefficient)
            if not c.factors or _is_name(c):
                whole = build(c, atom.shape) if c.factors else number_node(c.coefficient)
                yield whole - atom, y.times(inverse | {atom: ONE}, 1 / x.coefficient)


def _is_name(t: Product) -> bool:
    """Whether a term is an input or an atom."""
    ((f, e), *more) = t.factors.items()
    return t.coefficient in UNITS and e == 1 and f.op.name == "input" and not more


def _in_rows(p: Product) -> tuple[int, Product] | None:
    """1 and a.sum(dim=1, keepdim=True) / b.norm(dim=1, keepdim=True) for a.sum(dim=1) /
    b.norm(dim=1); None unless all factors are reductions along one dimension.
    """
    reduced = {f: e for f, e in p.factors.items() if f.shape}
    dims = {f.attrs["dim"] if f.op.family == "reduction" else None for f in reduced}
    dim = dims.pop() if len(dims) == 1 else None
    if len({f.ndim for f in reduced}) > 1:
        return None
    if not isinstance(dim, int) or any(f.attrs["keepdim"] for f in reduced):
        return None
    columns = {with_attributes(f, keepdim=True): e for f, e in reduced.items()}
    return dim, p._replace(factors=p.without(*reduced).factors | columns)


def _expanded_product(p: Product, normal: Change) -> Product | None:
    """A product, expanded if it is a single call of a composite operator."""
    (f, *more) = p.factors
    if more or p.factors[f] != 1 or f.op.expand is None or len(walk([f])) > LARGE:
        return p
    expanded = product_of(normal(stripped(f.op.expanded(f), {})))
    return None if expanded is None else multiplied_by(p._replace(factors={}), expanded)


def _equal_calls(node: Node) -> Iterator[Node]:
    """Yield equal calls: x.sum(dim=-1) and x.sum(dim=1); a @ b and b @ a for vectors."""
    dim = node.attrs["dim"] if node.op.family == "reduction" else None
    if isinstance(dim, int) and node.parents[0].ndim:
        last = dim % node.parents[0].ndim
        for d in (last, last - node.parents[0].ndim):
            yield with_attributes(node, dim=d)
    if node.op.name == "matmul" and not node.shape:
        yield node.op(*reversed(node.parents))


def _with_atom(result: Product, atom: Node, definition: Product, shape: Shape) -> Iterator[Product]:
    """Yield products of a shape in which `atom` replaces the factors of its definition."""
    if fits(atom.shape, shape) and _divides_product(
        result.factors, _numerators(definition, result)
    ):
        power = _multiplicity(result.factors, definition.factors)
        for k in dict.fromkeys((power, 1)):
            ratio = _quotient(result.coefficient, definition.coefficient, k)
            inverse = {f: -e * k for f, e in definition.factors.items()}
            if ratio is not None:
                yield Product(ratio, with_factors(result.factors, inverse | {atom: k}))
    for total, e in result.factors.items():
        if total.op.name in ("sum", "mean") and e == 1:
            yield from _with_atom_in_sum(result, total, atom, definition)
        if total.op.name in ("matmul", "outer") and e == 1:
            yield from _with_atom_in_operand(result, total, atom, definition)


def _with_atom_in_operand(
    result: Product, call: Node, atom: Node, definition: Product
) -> Iterator[Product]:
    """As `_with_atom`, for a matrix product that has all tensors of the definition in one operand,
    and the scalars of the definition outside: A @ x @ v / t ** 2 = s @ v / t for s = A @ x / t.
    """
    scalars, tensors = definition.split(lambda f: not f.shape)
    beside = with_factors(result.factors, {call: -ONE})
    ratio = _quotient(result.coefficient, definition.coefficient)
    if ratio is None or not scalars.factors or not tensors.factors:
        return
    if not all(_divides(beside, f, e) for f, e in scalars.factors.items()):
        return
    for k, operand in enumerate(call.parents):
        inner = product_of(operand) if operand.shape == atom.shape else None
        factors = {} if inner is None else inner.factors
        if inner is not None and all(
            _divides(factors, f, e, False) for f, e in tensors.factors.items()
        ):
            body = with_factors(factors, {f: -e for f, e in tensors.factors.items()} | {atom: ONE})
            part = build(inner._replace(factors=body), operand.shape)
            new = call.op(*(part if j == k else p for j, p in enumerate(call.parents)))
            outside = {f: -e for f, e in scalars.factors.items()} | {new: ONE}
            yield Product(ratio, with_factors(beside, outside))


def _with_atom_in_sum(
    result: Product, total: Node, atom: Node, definition: Product
) -> Iterator[Product]:
    """As `_with_atom`, for a definition that has some of its factors in the sum `total` and some
    outside.
    """
    x = total.parents[0]
    inner = product_of(x)
    if inner is None or not fits(atom.shape, x.shape):
        return
    beside = with_factors(result.factors, {total: -ONE})
    inner, over = without_roots(inner), axes(total.attrs["dim"], x.ndim)
    inside = {f: e for f, e in definition.factors.items() if _divides(inner.factors, f, e, False)}
    rest = definition.without(*inside).factors
    reduced = {_reduced(f, over, total): k for f, k in rest.items()}
    outside = without_roots(Product(ONE, reduced)).factors
    if not inside or not outside or not all(_divides(beside, f, e) for f, e in outside.items()):
        return
    if not all(constant_along(f, x, over) for f in rest):
        return
    if any(f.ndim > total.ndim for f in outside) and not total.attrs["keepdim"]:
        return
    body = with_factors(inner.factors, {f: -k for f, k in inside.items()} | {atom: ONE})
    new = total.op(build(Product(inner.coefficient, body), x.shape), **total.attrs)
    factors = with_factors(beside, {f: -k for f, k in outside.items()})
    ratio = _quotient(result.coefficient, definition.coefficient)
    if ratio is not None:
        yield Product(ratio, with_factors(factors, {new: ONE}))


def _quotient(a: Coefficient, b: Coefficient, power: int = 1) -> Coefficient | None:
    """a / b ** power, as a fraction if it is a simple one: 1 / 2 for pi / (2 * pi). None if it
    overflows or underflows.
    """
    try:
        value = a / b**power
        if not 0 < abs(float(value)) < inf:
            return None
    except (OverflowError, ZeroDivisionError):
        return None
    simple = Fraction(value).limit_denominator(MOST_PARTS)
    return simple if isclose(simple, value, rel_tol=TOLERANCE) else rounded(value)


def _reduced(f: Node, over: tuple[int, ...], total: Node) -> Node:
    """t for a factor t.unsqueeze(1) of a sum over dimension 1; other factors unchanged."""
    new = f.op.name == "unsqueeze" and (axis(f.attrs["dim"], f.ndim),) == over
    return f.parents[0] if new and f.ndim > total.ndim else f


def _numerators(definition: Product, result: Product) -> Mapping[Node, Coefficient]:
    """The factors of a definition, without an input that it is divided by and that does not occur
    in the product: a * b is q * r for q = a * b / r.
    """
    factors = definition.factors
    missing = [f for f, e in factors.items() if e < 0 and f not in result.factors]
    if len(missing) != 1 or missing[0].op.name != "input" or len(factors) < 3:
        return factors
    return definition.without(*missing).factors


def _multiplicity(factors: Mapping[Node, Coefficient], part: Mapping[Node, Coefficient]) -> int:
    """The largest power of a product that divides the product of factors; at least 1."""
    return max(1, int(min(factors.get(f, 0) / e for f, e in part.items())))


def _divides_product(factors: Mapping[Node, Coefficient], part: Mapping[Node, Coefficient]) -> bool:
    """Whether a product of powers divides the product of factors."""
    has_tensors = any(f.shape for f in part)
    return all(_divides(factors, f, e, has_tensors) for f, e in part.items())


def _divides(
    factors: Mapping[Node, Coefficient], f: Node, e: Coefficient, beside_tensors: bool = True
) -> bool:
    """Whether f ** e divides the product of factors. For a scalar in a product with tensors, and
    for half powers of scalars, which are positive, a lower power is enough: s * exp(-d ** 2) is
    K / s for K = s ** 2 * exp(-d ** 2), and sqrt(a) is T / a for T = sqrt(a ** 3).
    """
    exponent = factors.get(f, 0)
    is_inverse_root = magnitude(e) == Fraction(1, 2) and exponent * e < 0
    if f.op.name == "constant" or (is_inverse_root and exponent != int(exponent)):
        return True  # 1 / sqrt(x) is sqrt(x) / x
    are_roots = f.shape == () and e != int(e) and exponent != int(exponent)
    enough = magnitude(exponent) >= magnitude(e) or are_roots
    enough = enough or (beside_tensors and f.shape == ())
    return exponent * e > 0 and enough
