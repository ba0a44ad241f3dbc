"""Products as maps from factors to exponents: numbers collected, equal factors merged into powers,
the upstream gradient first.
"""

from collections.abc import Callable, Collection, Mapping
from fractions import Fraction
from functools import lru_cache
from math import isfinite, pi
from operator import mod
from typing import NamedTuple

from ....graphs import OPS, Node, as_node, intern
from ....graphs.shapes import numel
from ...tree import Name
from ..numerals import by_pi, divisor_of_root, root_below
from .registry import layout, rule

CACHE_SIZE = 4096  # entries of each cache
ONE = Fraction(1)
UNITS = (1, -1)
SUMS = ("add", "sub")
FILLED = {"ones": ONE, "zeros": Fraction(0)}
TOLERANCE = 1e-15  # relative
MOST_PARTS = 12  # largest denominator of a ratio of two floats
MOST = 16  # factors; longer products are unchanged
MOST_STEPS = 4_000  # visits of nodes in a product; n nested squares need 2 ** n
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
        """The factors, which like terms share."""
        return frozenset(self.factors.items())

    def times(self, more: "Mapping[Node, Coefficient]", number: "Coefficient" = ONE) -> "Product":
        """The product with more factors, and a number."""
        unit = number in UNITS
        c = self.coefficient * number if unit else _multiply_numbers(self.coefficient, number)
        return Product(c, with_factors(self.factors, more))

    def without(self, *factors: Node | None) -> "Product":
        """The product without some of its factors."""
        rest = {f: e for f, e in self.factors.items() if f not in factors}
        return Product(self.coefficient, rest)

    def __neg__(self) -> "Product":
        return Product(-self.coefficient, self.factors)

    def once(self, *operators: str) -> list[Node]:
        """The factors with exponent 1; only those of the given operators, if there are any."""
        once = [f for f, e in self.factors.items() if e == 1]
        return [f for f in once if f.op.name in operators] if operators else once

    def split(self, condition: Callable[[Node], bool]) -> "tuple[Product, Product]":
        """The coefficient times the factors that satisfy a condition, and the other factors."""
        first = {f: e for f, e in self.factors.items() if condition(f)}
        return self._replace(factors=first), self.without(*first)._replace(coefficient=ONE)


NOTHING = Product(ONE, {})  # the empty product; also used for products with too many factors


def as_number(value: float) -> Coefficient:
    """An integer as a fraction, so that 2/6 is exact; other numbers unchanged."""
    return Fraction(value) if float(value).is_integer() and abs(value) < 1e15 else value


def rounded(value: Coefficient, of: Coefficient = 0) -> Coefficient:
    """A float without the rounding error of arithmetic on numbers up to `of`, if it is close to a
    number of six digits, or to a simple fraction: 0.3 for 0.1 + 0.2.
    """
    if not isinstance(value, float):
        return value
    short = float(f"{value:.6g}") if abs(value) > TOLERANCE * of else 0.0
    close = TOLERANCE * max(abs(value), of)
    if abs(short - value) <= close or not isfinite(value):
        return short
    simple = Fraction(value).limit_denominator(MOST_PARTS)
    return simple if abs(simple - value) <= close else value


def add_numbers(a: Coefficient, b: Coefficient) -> Coefficient:
    """a + b without rounding error: 0.1 for 1.2 - 1.1."""
    total = a + b
    exact = not isinstance(total, float)
    return total if exact else rounded(total, max(abs(float(a)), abs(float(b))))


def magnitude(value: Coefficient) -> Coefficient:
    """|value|."""
    return value if value >= 0 else -value


@lru_cache(maxsize=CACHE_SIZE)
def product_of(node: Node) -> Product | None:
    """The factors of a node, including those that are broadcast to its shape; None if there are too
    many, or if their coefficient overflows.
    """
    coefficient: Coefficient = ONE
    factors: dict[Node, Coefficient] = {}
    stack: list[tuple[Node, Coefficient]] = [(node, 1)]
    for _ in range(MOST_STEPS):
        if not stack:
            break
        part, e = stack.pop()
        value = constant_value(part)
        if value is not None and not (e < 0 and _is_written_as_divisor(value)):
            if value == 0 and e <= 0:
                return None
            power = _multiply_by_power(coefficient, value, e)
            if power is None:
                return None
            coefficient = power
            continue
        inner = _split(part, e)
        if inner is None:
            factors[part] = add_numbers(factors[part], e) if part in factors else e
            if len(factors) > MOST:
                return None
        else:
            sign, parts = inner
            coefficient = coefficient if sign == 1 else -coefficient
            stack.extend(reversed(parts))
    if stack:
        return None
    if coefficient == 0 and any(e < 0 and _is_no_divisor(f) for f, e in factors.items()):
        return None
    if coefficient not in UNITS:
        coefficient = _cancelled(coefficient, factors)
    floats = any(f.dtype == "float" for f in factors)
    masks = {f for f, e in factors.items() if e > 1 and floats and is_zero_or_one(f)}
    return Product(coefficient, {f: 1 if f in masks else e for f, e in factors.items() if e != 0})


def _cancelled(coefficient: Coefficient, factors: dict[Node, Coefficient]) -> Coefficient:
    """The coefficient divided by the constant divisors of which it is a simple multiple, which are
    removed from the factors: 2 for 13 * x / 6.5, and 3/2 for 3 * pi * x / (2 * pi). Quotients of
    roots that are roots are divided too: (2 / pi) ** 0.5 for 2 / pi ** 0.5 * x / 2 ** 0.5.
    """
    for f, e in [*factors.items()]:
        value = constant_value(f) if e == -1 else None
        multiple = (_multiple(coefficient, value) or _root(coefficient, value)) if value else 0
        if multiple:
            del factors[f]
            coefficient = multiple
    return coefficient


def _multiple(coefficient: Coefficient, value: Coefficient) -> Coefficient:
    """coefficient / value, if it is a simple fraction; else 0."""
    ratio = coefficient / value
    if not isfinite(ratio):  # 1e308 / 1e-5
        return 0
    largest = MOST_PARTS if isinstance(coefficient, float) else 1
    multiple = Fraction(ratio).limit_denominator(largest)
    return multiple if abs(float(multiple) - ratio) <= TOLERANCE * abs(float(multiple)) else 0


def _root(coefficient: Coefficient, value: Coefficient) -> Coefficient:
    """coefficient / value, if both are floats and it is an expression in pi, such as
    (2 / pi) ** 0.5; else 0.
    """
    if not isinstance(coefficient, float) or not isinstance(value, float):
        return 0
    ratio = coefficient / value
    return ratio if by_pi(ratio, Name("pi")) is not None else 0


def _is_no_divisor(factor: Node) -> bool:
    """Whether a factor is a size expression such as x.shape[0] - 1 whose value is 0."""
    if factor.op.name != "sub" or factor.parents[0].op.name != "size":
        return False
    count, number = factor.parents
    (x,), dims = count.parents, count.attrs["dim"] or range(count.parents[0].ndim)
    return constant_value(number) == numel([x.shape[d] for d in dims])


def is_zero_or_one(factor: Node) -> bool:
    """Whether a factor is a mask, boolean or converted to numbers, and so equal to its square."""
    return unconverted(factor).dtype == "bool"


def unconverted(factor: Node) -> Node:
    """The mask, if a factor is a mask converted to numbers; else the factor."""
    return factor.parents[0] if factor.op.name == "double" else factor


def _is_written_as_divisor(value: Coefficient) -> bool:
    """Whether x / value is more readable than x times the reciprocal: x / 30.5, but not x / 0.5 or
    x / (1 / pi).
    """
    if not isinstance(value, float) or value == 0 or (1 / value).is_integer():
        return False
    return not (abs(value) < 1 and _multiple(pi, 1 / value))


def _multiply_by_power(a: Coefficient, value: Coefficient, e: Coefficient) -> Coefficient | None:
    """a * value**e; None if it overflows."""
    try:
        result = _multiply_numbers(a, value if e == 1 else rounded(value**e))
        return result if isfinite(result) else None
    except OverflowError:
        return None


def _multiply_numbers(a: Coefficient, b: Coefficient) -> Coefficient:
    """a * b without rounding error; a number multiplied by 1 or -1 is unchanged."""
    trivial = a in UNITS or b in UNITS
    return _as_fraction(a * b) if trivial else rounded(a * b)


def _as_fraction(value: Coefficient) -> Coefficient:
    """2/3 for 0.6666666666666666; numbers of six digits, and any that are no simple fraction, are
    unchanged.
    """
    if not isinstance(value, float) or not isfinite(value) or float(f"{value:.6g}") == value:
        return value
    simple = Fraction(value).limit_denominator(MOST_PARTS)
    return simple if float(simple) == value else value


def constant_value(node: Node) -> Coefficient | None:
    """The number that all elements of a constant node have; None for any other node."""
    name, attrs = node.op.name, node.attrs
    if name == "constant" and not isinstance(attrs["value"], bool):
        value = attrs["value"]
        return as_number(value) if abs(value) < float("inf") else None
    if name == "full":
        return as_number(attrs["fill_value"])
    return FILLED.get(name)


def without_tensor(x: Node) -> Node:
    """2. for tensor(2.); any other node is unchanged."""
    single = x.op.name == "tensor" and x.shape == () and x.dtype == "float"
    return OPS["constant"](value=float(x.attrs["data"].value)) if single else x


def _split(node: Node, e: Coefficient):
    """node ** e as a sign and powers of the operands; None if the node is a factor itself."""
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
        return None if value is None else (1, [(inputs[0], _exponent(e * rounded(value)))])
    if name in ("square", "reciprocal"):
        return 1, [(inputs[0], e * (2 if name == "square" else -1))]
    if name == "expand" or (name == "unsqueeze" and _leading(node)):
        return 1, [(inputs[0], e)]
    return None


def _exponent(e: Coefficient) -> Coefficient:
    """An integral exponent as an int, which is faster."""
    return int(e) if e == int(e) else e


def _leading(node: Node) -> bool:
    """Whether a new dimension comes first, where broadcasting would add it anyway."""
    return node.attrs["dim"] in (0, -node.ndim)


def number_node(value: Coefficient) -> Node:
    """A number as a node; 2 for 2.0."""
    return as_node(int(value) if float(value).is_integer() else float(value))


def ratio(value: Coefficient) -> tuple[Coefficient, Coefficient]:
    """The numerator and denominator of a number; for a float 5 ** 0.5 and 3 if it is 5 ** 0.5 / 3,
    otherwise itself and 1.
    """
    if isinstance(value, Fraction):
        return value.numerator, value.denominator
    divisor = divisor_of_root(value)
    return (value * divisor, divisor) if divisor > 1 else (value, 1)


def with_factors(
    factors: Mapping[Node, Coefficient], more: Mapping[Node, Coefficient]
) -> dict[Node, Coefficient]:
    """The factors multiplied by others: exponents of equal factors are added."""
    out = dict(factors)
    for f, e in more.items():
        out[f] = add_numbers(out.get(f, 0), e)
    return {f: e for f, e in out.items() if e}


def multiplied_by(a: Product, b: Product) -> Product:
    """a * b."""
    coefficient = _multiply_numbers(a.coefficient, b.coefficient)
    return Product(coefficient, with_factors(a.factors, b.factors))


def common_factors(p: Product, q: Product) -> dict[Node, Coefficient]:
    """The factors that two products have with the same exponent."""
    return {f: e for f, e in p.factors.items() if q.factors.get(f) == e}


def common_powers(p: Product, q: Product) -> dict[Node, Coefficient]:
    """The factors that two products have in common, each with the smaller of its two exponents;
    one that is divided by in both, with the smaller power.
    """
    pairs = ((f, e, q.factors.get(f, 0)) for f, e in p.factors.items())
    return {f: e if e / k <= 1 else k for f, e, k in pairs if e * k > 0}


def with_factor(factors: Mapping[Node, Coefficient], one: Node) -> dict[Node, Coefficient]:
    """The factors multiplied by one more."""
    return with_factors(factors, {one: 1})


def build(p: Product, shape: tuple[int, ...]) -> Node:
    """A product as a node of this shape."""
    return _built(p.coefficient, tuple(p.factors.items()), shape)


@lru_cache(maxsize=CACHE_SIZE, typed=True)
def _built(
    coefficient: Coefficient, factors: tuple[tuple[Node, Coefficient], ...], shape: tuple[int, ...]
) -> Node:
    if coefficient == 0:
        return OPS["zeros"](size=shape)
    numerator, denominator = ratio(coefficient)
    above = [_raised(f, e) for f, e in factors if e > 0]
    below = [_raised(f, -e) for f, e in factors if e < 0]
    above.sort(key=_rank)
    _sort_elements(above)
    if shape and all(f.shape == () for f in below) and all(f.op.name == "size" for f in above):
        above.append(OPS["ones"](size=shape))
    out = _chain(numerator, above)
    if denominator != 1 or below:
        out = out / _chain(denominator, below)
    return out if out.shape == shape else out.expand(shape=shape)


def _sort_elements(factors: list[Node]) -> None:
    """Sort the factors that are elements of one tensor by their index: x[0] * x[1]."""
    places: dict[Node, list[int]] = {}
    for k, f in enumerate(factors):
        if f.op.name == "getitem" and all(isinstance(i, int) for i in f.attrs["index"]):
            places.setdefault(f.parents[0], []).append(k)
    for own in places.values():
        for k, f in zip(own, sorted((factors[k] for k in own), key=_place), strict=True):
            factors[k] = f


def _place(element: Node) -> list[int]:
    """The index of an element x[i, j], counted from the start."""
    return [*map(mod, element.attrs["index"], element.parents[0].shape)]


def _rank(factor: Node) -> int:
    """The sort rank of a factor. The order: sizes, upstream gradients and tangents, other factors,
    sums, masks.
    """
    if factor.dtype == "bool":
        return 4  # PyTorch has no -(x > 0)
    if factor.op.name in SUMS:
        return 3
    return 0 if factor.op.name == "size" else 1 if carries_direction(factor) else 2


def _raised(factor: Node, e: Coefficient) -> Node:
    return factor if e == 1 else factor ** number_node(e)


def _chain(coefficient: Coefficient, factors: list[Node]) -> Node:
    """coefficient * factor * factor ...; -1 becomes the sign of the first factor."""
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
    """Whether a factor is an upstream gradient or a tangent, or one that is reshaped, permuted,
    summed or converted.
    """
    while node.op.name in (*REARRANGING, "sum", "double") and node.inputs[0] is not None:
        node = node.inputs[0]
    return node.op.name == "input" and node.attrs["is_direction"]


@rule("mul", "div", "neg", "pow", "square", "reciprocal", "expand")
def collect_factors(node: Node) -> Node | None:
    """g * (a / b) / b = g * a / b ** 2; 1 * x = x; 0 * x = 0; -(-x) = x; x ** 1 = x."""
    result = product_of(node)
    if result is None or result.factors == {node: 1}:
        return None
    return build(result, node.shape)


@rule(*LINEAR)
def numbers_out_of_linear_maps(node: Node) -> Node | None:
    """f(2 * x) = 2 * f(x) and f(0) = 0 for linear functions."""
    inner = node.inputs[0]
    if inner is not None and constant_value(inner) == 0:
        return OPS["zeros"](size=node.shape)
    split = None if inner is None else scalars_of(inner)
    if split is None:
        return None
    outer, rest = split
    return scaled(outer, intern(node.op, (rest, *node.inputs[1:]), node.attrs))


@rule("matmul", "outer", "solve", "solve_triangular")
def numbers_out_of_matrix_products(node: Node) -> Node | None:
    """(2 * a) @ b = 2 * (a @ b)."""
    a, b = node.parents
    split = scalars_of(a) if node.op.name in ("matmul", "outer") else None
    if split is not None:
        return scaled(split[0], node.op(split[1], b))
    split = scalars_of(b)
    return None if split is None else scaled(split[0], node.op(a, split[1], **node.attrs))


def scalars_of(node: Node) -> tuple[Product, Node] | None:
    """The scalar factors of a node, and the product of the others; None without any."""
    result = product_of(node) if node.op.name in ("mul", "div", "neg") else None
    if result is None or result.coefficient == 0 or node.shape == ():
        return None
    scalars, rest = result.split(is_scalar)
    if scalars == NOTHING or is_mask(rest.factors):
        return None
    return scalars, build(rest, node.shape)


def is_scalar(node: Node) -> bool:
    """Whether a node has no dimensions."""
    return node.shape == ()


def is_mask(factors: Collection[Node]) -> bool:
    """Whether a product of factors is not floating point; PyTorch adds and multiplies boolean
    tensors logically.
    """
    return bool(factors) and all(f.dtype != "float" or f.op.name == "constant" for f in factors)


def scaled(p: Product, node: Node) -> Node:
    """A product of scalars times a node."""
    inner = product_of(node) or Product(ONE, {node: 1})
    return build(multiplied_by(p, inner), node.shape)


@layout("mul")
def roots_below(node: Node) -> Node | None:
    """(2 * pi) ** -0.5 * x * y = x * y / (2 * pi) ** 0.5."""
    a, b = node.parents
    if a.op.name == "div" and constant_value(a.parents[1]) is not None:
        return a.parents[0] * b / a.parents[1]
    value = constant_value(a)
    root = root_below(value) if isinstance(value, float) else None
    return None if root is None else (b if value > 0 else -b) / root  # type: ignore[operator]


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
    return _with_number_first(a, b) if constant_value(a) is None and b.op.name == "mul" else None


def _with_number_first(a: Node, product: Node) -> Node | None:
    """2 * a * x for a and 2 * x; None if the product does not start with a number."""
    if product.op.name != "mul":
        return product * a if product.op.name == "constant" else None
    first, rest = product.parents
    new = _with_number_first(a, first)
    return None if new is None else new * rest
