"""Products: numbers collected, equal factors made powers, g first."""

from collections.abc import Collection, Mapping
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

from ....graphs import OPS, Node, as_node, intern
from ....graphs.shapes import numel
from .registry import layout, rule

REMEMBERED = 4096  # products
ONE = Fraction(1)
UNITS = (1, -1)
FILLED = {"ones": ONE, "zeros": Fraction(0)}
CLOSE = 1e-15  # relative
MOST_PARTS = 12  # that a ratio of two floats is made of
MOST = 16  # factors; a longer product is left as it is
REARRANGING = ("transpose", "permute", "reshape", "squeeze", "unsqueeze", "expand", "sum_to_size")
LINEAR = (
    *REARRANGING, "sum", "mean", "getitem", "flip", "roll", "tril", "triu", "diag", "put_at",
    "cumsum", "scatter_to", "trace", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle",
    "cholesky_solve",
)  # fmt: skip

Coefficient = Fraction | float  # and int, for exponents


class Product(NamedTuple):
    """coefficient * factor ** exponent * ...; factors in order of appearance."""

    coefficient: Coefficient
    factors: dict[Node, Coefficient]

    @property
    def key(self) -> frozenset:
        """What like terms have in common."""
        return frozenset(self.factors.items())

    def times(self, more: "Mapping[Node, Coefficient]", number: "Coefficient" = ONE) -> "Product":
        """The product with more factors, and a number."""
        return Product(self.coefficient * number, with_factors(self.factors, more))

    def without(self, *factors: Node | None) -> "Product":
        """The product without some of its factors."""
        return self._replace(factors={f: e for f, e in self.factors.items() if f not in factors})


NOTHING = Product(ONE, {})  # in the place of what has too many factors


def as_number(value: float) -> Coefficient:
    """A whole number exactly, so that 2/6 stays a ratio."""
    return Fraction(value) if float(value).is_integer() and abs(value) < 1e15 else value


def as_meant(value: Coefficient, of: Coefficient = 0) -> Coefficient:
    """What rules made of numbers up to `of`, as the number of six digits that it is meant to be
    where it is one: 0.3 for 0.1 + 0.2.
    """
    if not isinstance(value, float):
        return value
    short = float(f"{value:.6g}") if abs(value) > CLOSE * of else 0.0
    return short if abs(short - value) <= CLOSE * max(abs(value), of) else value


def added_up(a: Coefficient, b: Coefficient) -> Coefficient:
    """a + b as it is meant: 0.1 for 1.2 - 1.1."""
    total = a + b
    exact = not isinstance(total, float)
    return total if exact else as_meant(total, max(abs(float(a)), abs(float(b))))


def magnitude(value: Coefficient) -> Coefficient:
    """|value|."""
    return value if value >= 0 else -value


@lru_cache(maxsize=REMEMBERED)
def product_of(node: Node) -> Product | None:
    """The factors of a node, those of shapes that broadcast to its own among them; None where they
    are too many, or their numbers too large for one.
    """
    coefficient: Coefficient = ONE
    factors: dict[Node, Coefficient] = {}
    stack: list[tuple[Node, Coefficient]] = [(node, 1)]
    while stack:
        part, e = stack.pop()
        value = constant_value(part)
        if value is not None and not (e < 0 and _divides_badly(value)):
            if value == 0 and e <= 0:
                return None
            times = _times(coefficient, value, e)
            if times is None:
                return None
            coefficient = times
            continue
        inner = _split(part, e)
        if inner is None:
            factors[part] = added_up(factors[part], e) if part in factors else e
            if len(factors) > MOST:
                return None
        else:
            sign, parts = inner
            coefficient = coefficient if sign == 1 else -coefficient
            stack.extend(reversed(parts))
    if coefficient == 0 and any(e < 0 and _is_no_divisor(f) for f, e in factors.items()):
        return None
    if coefficient not in UNITS:
        coefficient = _cancelled(coefficient, factors)
    floats = any(f.dtype == "float" for f in factors)
    once = {f for f, e in factors.items() if e > 1 and floats and is_zero_or_one(f)}
    return Product(coefficient, {f: 1 if f in once else e for f, e in factors.items() if e != 0})


def _cancelled(coefficient: Coefficient, factors: dict[Node, Coefficient]) -> Coefficient:
    """The coefficient without the numbers that x is divided by and that it is a multiple of, taken
    out of the factors: 2 for 13 * x / 6.5, and 3/2 for 3 * pi * x / (2 * pi).
    """
    for f, e in [*factors.items()]:
        value = constant_value(f) if e == -1 else None
        times = _multiple(coefficient, value) if value else 0
        if times:
            del factors[f]
            coefficient = times
    return coefficient


def _multiple(coefficient: Coefficient, value: Coefficient) -> Coefficient:
    """What times `value` the coefficient is; 0 where that is no simple number."""
    ratio = coefficient / value
    if not isfinite(ratio):  # 1e308 / 1e-5
        return 0
    most = MOST_PARTS if isinstance(coefficient, float) else 1
    times = Fraction(ratio).limit_denominator(most)
    return times if abs(float(times) - ratio) <= CLOSE * abs(float(times)) else 0


def _is_no_divisor(factor: Node) -> bool:
    """Whether it is x.shape[0] - 1 where that is 0."""
    if factor.op.name != "sub" or factor.parents[0].op.name != "size":
        return False
    count, number = factor.parents
    (x,), dims = count.parents, count.attrs["dim"] or range(count.parents[0].ndim)
    return constant_value(number) == numel([x.shape[d] for d in dims])


def is_zero_or_one(factor: Node) -> bool:
    """Whether it is a mask, also one as numbers: its own square."""
    mask = factor.parents[0] if factor.op.name == "double" else factor
    return mask.dtype == "bool"


def _divides_badly(value: Coefficient) -> bool:
    """Whether x / value reads better than x times its inverse: x / 30.5."""
    return isinstance(value, float) and value != 0 and not (1 / value).is_integer()


def _times(a: Coefficient, value: Coefficient, e: Coefficient) -> Coefficient | None:
    """a * value**e; None where that is too large for a float."""
    try:
        result = _number(a, value if e == 1 else as_meant(value**e))
        return result if isfinite(result) else None
    except OverflowError:
        return None


def _number(a: Coefficient, b: Coefficient) -> Coefficient:
    """a * b, as it is meant."""
    alone = a in UNITS or b in UNITS
    return a * b if alone else as_meant(a * b)  # a number alone is left as it is


def constant_value(node: Node) -> Coefficient | None:
    """The number that every element of a node is, where that can be seen."""
    name, attrs = node.op.name, node.attrs
    if name == "constant" and not isinstance(attrs["value"], bool):
        value = attrs["value"]
        return as_number(value) if abs(value) < float("inf") else None
    if name == "full":
        return as_number(attrs["fill_value"])
    return FILLED.get(name)


def _split(node: Node, e: Coefficient):
    """A node to the power of e as a sign and powers of its parts; None for a factor."""
    if e != int(e):
        return None
    name, inputs = node.op.name, node.parents
    if name == "mul":
        return 1, [(i, e) for i in inputs]
    if name == "div":
        return 1, [(inputs[0], e), (inputs[1], -e)]
    if name == "neg":
        return (-1) ** int(e), [(inputs[0], e)]
    if name == "pow":
        value = constant_value(inputs[1]) if inputs[1].op.name == "constant" else None
        return None if value is None else (1, [(inputs[0], _exponent(e * as_meant(value)))])
    if name in ("square", "reciprocal"):
        return 1, [(inputs[0], e * (2 if name == "square" else -1))]
    if name == "expand" or (name == "unsqueeze" and _leading(node)):
        return 1, [(inputs[0], e)]
    return None


def _exponent(e: Coefficient) -> Coefficient:
    """A whole number as an int, with which Python computes quickest."""
    return int(e) if e == int(e) else e


def _leading(node: Node) -> bool:
    """Whether a new dimension comes first, where broadcasting puts it anyway."""
    return node.attrs["dim"] in (0, -node.ndim)


def number_node(value: Coefficient) -> Node:
    """A number as a node: 2 for 2.0, so that it reads well."""
    return as_node(int(value) if float(value).is_integer() else float(value))


def ratio(value: Coefficient) -> tuple[Coefficient, Coefficient]:
    """What stands above and below the line."""
    return (value.numerator, value.denominator) if isinstance(value, Fraction) else (value, 1)


def with_factors(
    factors: Mapping[Node, Coefficient], more: Mapping[Node, Coefficient]
) -> dict[Node, Coefficient]:
    """The factors and more of them, which may be among them: their exponents are added."""
    out = dict(factors)
    for f, e in more.items():
        out[f] = added_up(out.get(f, 0), e)
    return {f: e for f, e in out.items() if e}


def multiplied_by(a: Product, b: Product) -> Product:
    """a * b."""
    return Product(_number(a.coefficient, b.coefficient), with_factors(a.factors, b.factors))


def with_factor(factors: Mapping[Node, Coefficient], one: Node) -> dict[Node, Coefficient]:
    """The factors and one more, which may be among them."""
    return with_factors(factors, {one: 1})


def build(p: Product, shape: tuple[int, ...]) -> Node:
    """A product as a node of this shape."""
    return _built(p.coefficient, tuple(p.factors.items()), shape)


@lru_cache(maxsize=REMEMBERED, typed=True)
def _built(
    coefficient: Coefficient, factors: tuple[tuple[Node, Coefficient], ...], shape: tuple[int, ...]
) -> Node:
    if coefficient == 0:
        return OPS["zeros"](size=shape)
    above, below = ratio(coefficient)
    top = [_raised(f, e) for f, e in factors if e > 0]
    under = [_raised(f, -e) for f, e in factors if e < 0]
    top.sort(key=_rank)
    if shape and all(f.shape == () for f in under) and all(f.op.name == "size" for f in top):
        top.append(OPS["ones"](size=shape))
    out = _chain(above, top)
    if below != 1 or under:
        out = out / _chain(below, under)
    return out if out.shape == shape else out.expand(shape=shape)


def _rank(factor: Node) -> int:
    """Where a factor stands: sizes, g, what needs no brackets, sums, masks."""
    if factor.dtype == "bool":
        return 4  # PyTorch has no -(x > 0)
    if factor.op.name in ("add", "sub"):
        return 3
    return 0 if factor.op.name == "size" else 1 if carries_direction(factor) else 2


def _raised(factor: Node, e: Coefficient) -> Node:
    return factor if e == 1 else factor ** number_node(e)


def _chain(coefficient: Coefficient, factors: list[Node]) -> Node:
    """coefficient * factor * factor ..., a sign before the first of them."""
    if coefficient == -1 and factors:
        out = -factors[0]
    elif coefficient == 1 and factors:
        out = factors[0]
    else:
        number = number_node(coefficient) if factors else as_node(float(coefficient))
        factors = [number, *factors]
        out = number
    for factor in factors[1:]:
        out = out * factor
    return out


def carries_direction(node: Node) -> bool:
    """Whether a factor is a seed or a tangent, or one moved around."""
    while node.op.name in (*REARRANGING, "sum", "double") and node.inputs[0] is not None:
        node = node.inputs[0]
    return node.op.name == "input" and node.attrs["is_direction"]


@rule("mul", "div", "neg", "pow", "square", "reciprocal", "expand")
def collected(node: Node) -> Node | None:
    """g * (a / b) / b = g * a / b ** 2; 1 * x = x; 0 * x = 0; -(-x) = x; x ** 1 = x."""
    result = product_of(node)
    if result is None or result.factors == {node: 1}:
        return None
    return build(result, node.shape)


@rule(*LINEAR)
def numbers_out_of_linear_maps(node: Node) -> Node | None:
    """f(2 * x) = 2 * f(x) and f(0) = 0 for what is linear."""
    inner = node.inputs[0]
    if inner is not None and constant_value(inner) == 0:
        return OPS["zeros"](size=node.shape)
    if inner is None or inner.op.name not in ("mul", "div", "neg"):
        return None
    outer, rest = scalars_of(inner)
    if outer is None or rest is None:
        return None
    return scaled(outer, intern(node.op, (rest, *node.inputs[1:]), node.attrs))


@rule("matmul", "outer", "solve", "solve_triangular")
def numbers_out_of_matrix_products(node: Node) -> Node | None:
    """(2 * a) @ b = 2 * (a @ b)."""
    a, b = node.parents
    outer, rest = scalars_of(a) if node.op.name in ("matmul", "outer") else (None, None)
    if outer is not None and rest is not None:
        return scaled(outer, node.op(rest, b))
    outer, rest = scalars_of(b)
    if outer is not None and rest is not None:
        return scaled(outer, node.op(a, rest, **node.attrs))
    return None


@rule("einsum")
def numbers_out_of_einsum(node: Node) -> Node | None:
    """einsum(",ij->ij", s, a) = s * einsum("ij->ij", a)."""
    terms, arrow, right = node.attrs["equation"].replace(" ", "").partition("->")
    pairs = list(zip(terms.split(","), node.parents, strict=True))
    kept = [(t, x) for t, x in pairs if t]
    if not kept or len(kept) == len(pairs) or not arrow:
        return None
    equation = ",".join(t for t, _ in kept) + arrow + right
    out = intern(node.op, tuple(x for _, x in kept), {"equation": equation})
    for t, x in pairs:
        out = out if t else x * out
    return out


def scalars_of(node: Node) -> tuple[Product | None, Node | None]:
    """The single numbers among the factors of a node, and the rest; None where there are none."""
    if node.op.name not in ("mul", "div", "neg"):
        return None, None
    result = product_of(node)
    if result is None or result.coefficient == 0:
        return None, None
    single = {f: e for f, e in result.factors.items() if f.shape == ()}
    rest = {f: e for f, e in result.factors.items() if f.shape != ()}
    if node.shape == () or (not single and result.coefficient == 1) or is_mask(rest):
        return None, None
    return Product(result.coefficient, single), build(Product(ONE, rest), node.shape)


def is_mask(factors: Collection[Node]) -> bool:
    """Whether factors make no floating-point tensor, but True and False that PyTorch adds and
    multiplies otherwise.
    """
    return bool(factors) and all(f.dtype != "float" or f.op.name == "constant" for f in factors)


def scaled(p: Product, node: Node) -> Node:
    """A product of single numbers times a node."""
    inner = product_of(node) or Product(ONE, {node: 1})
    return build(multiplied_by(p, inner), node.shape)


@layout("mul", "neg")
def numbers_before_matrix_products(node: Node) -> Node | None:
    """2 * (a @ b) = 2 * a @ b, which needs no brackets."""
    *before, product = node.parents
    if product.op.name != "matmul" or not node.shape or any(b.shape for b in before):
        return None
    a, b = product.parents
    first = node.op(*before, a)
    return (numbers_before_matrix_products(first) or first) @ b


@layout("mul")
def numbers_first(node: Node) -> Node | None:
    """g * (2 * x * y) = 2 * g * x * y."""
    a, b = node.parents
    new = _led_by(a, b) if constant_value(a) is None and b.op.name == "mul" else None
    return new if new is not None and new.shape == node.shape else None


def _led_by(a: Node, product: Node) -> Node | None:
    """2 * a * x for a and 2 * x; None where no number comes first."""
    if product.op.name != "mul":
        return product * a if product.op.name == "constant" else None
    first, rest = product.parents
    new = _led_by(a, first)
    return None if new is None else new * rest
