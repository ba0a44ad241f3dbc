"""Formulas in mathematical notation, common to LaTeX and MathML.

A matrix product is written by juxtaposition, a product of elements with ⊙ if both sides are
tensors, a quotient as a fraction, `x.T` as x⊤, `x.grad` as ∂L/∂x, and a condition as an indicator,
1 if it holds and 0 otherwise. Other operators are names of functions with arguments in parentheses.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ...budget import tick
from ..tree import (
    Attribute,
    Between,
    Block,
    Bracketed,
    Call,
    Condition,
    Derivative,
    Indexed,
    Infix,
    LeftOut,
    Listing,
    Method,
    Multiples,
    Name,
    Number,
    Prefix,
    Quotient,
    Slice,
    Subscript,
    Sum,
    Tree,
    Verbatim,
    children,
    leaves,
    size,
)  # fmt: skip
from ..tree.as_text import COMPARISONS, PRECEDENCE, REGROUPED, SUM, Form, Part, walk
from ..tree.as_text import number as number_text
from .pieces import (
    ABOVE,
    ABSOLUTE,
    BELOW,
    BELOW_GROUP,
    CASES,
    CLOSE,
    DIFFERENTIAL,
    DOT,
    EQUALS,
    FLOOR,
    FRACTION,
    MATRIX,
    NORM,
    OPEN,
    ROOT,
    TIMES,
    TRANSPOSED,
    UNDER,
    Digits,
    Function,
    Identifier,
    Piece,
    Sign,
    Words,
    identifier,
    in_rows,
    laid_out,
    number,
)  # fmt: skip

LOSS = Identifier("L")  # the L of ∂L/∂x
ATOM, SCRIPTED, UNARY = PRECEDENCE["atom"], PRECEDENCE["**"], PRECEDENCE["unary"]
APPLIED = 8  # precedence of f(x): parenthesized for an exponent, but not for an index
ADDED, MULTIPLIED = PRECEDENCE["+"], PRECEDENCE["*"]
ELEMENTWISE = 4.5  # precedence of ⊙, lower than that of juxtaposition
MOST_PIECES = 20_000  # most pieces of a formula
MANY = 1_000  # pieces after which a formula's leaves are counted
MOST_CACHED = 200_000  # most pieces of cached formulas
OMITTED = ("dim", "keepdim", "full_matrices")  # arguments that are written as indices, or omitted
MOST_PARTS = 20  # parts of a formula that may be a number
MOST_EXPONENT = 5  # most length of an exponent; longer ones are arguments of exp
SIGNS = {
    "==": "=", "!=": "≠", "<": "<", "<=": "≤", ">": ">", ">=": "≥", "|": "∨", "&": "∧",
    "+": "+", "-": "−", "*": "⊙", "·": "⋅", "%": "mod",
}  # fmt: skip


class _Condition(NamedTuple):
    """A formula of which only the truth value matters."""

    tree: Tree


class _Recent:
    """Caches the pieces of recent formulas, because each is measured before it is written."""

    def __init__(self) -> None:
        # the tree is stored too, so that its id is not reused
        self.by_id: dict[int, tuple[Tree, list[Piece] | None]] = {}
        self.count = 0  # of pieces

    def pieces(self, tree: Tree) -> list[Piece] | None:
        """See the function `pieces`."""
        known = self.by_id.get(id(tree))
        if known is None:
            tick()
            known = tree, _pieces(tree)
            self.count += len(known[1] or ()) + 1
            if self.count > MOST_CACHED:
                self.by_id, self.count = {}, 0
            self.by_id[id(tree)] = known
        return known[1]


_recent = _Recent()


def pieces(tree: Tree) -> list[Piece] | None:
    """The pieces of a formula from left to right; None if there are more than MOST_PIECES."""
    return _recent.pieces(tree)


def _pieces(tree: Tree) -> list[Piece] | None:
    result: list[Piece] = []
    for piece in walk(tree, _form, (OPEN, CLOSE)):
        result.append(piece)
        if len(result) > MOST_PIECES or (len(result) == MANY and leaves(tree) > MOST_PIECES):
            return None
    return result


def _form(tree: Any) -> Form:
    return _FORMS[type(tree)](tree)


# ---- names and numbers ---------------------------------------------------------------------------


def _name(tree: Name) -> Form:
    text = tree.text
    name, dot, rest = text.partition(".")
    if dot and rest.startswith("grad"):
        return _attribute(Attribute(Name(name, tree.role), rest))
    if text.startswith("∂"):
        return Form(MULTIPLIED, [DIFFERENTIAL, *identifier(text[1:], tree.role)])
    return Form(ATOM, number(text) or identifier(text, tree.role))  # inf and nan are numbers


def _number(tree: Number) -> Form:
    return _numeral(number_text(tree.value)) or Form(ATOM, [Words(str(tree.value))])


def _numeral(text: str) -> Form | None:
    """The pieces of a number in Python's syntax; None for other texts."""
    result = number(text)
    if result is None:
        return None
    binding = UNARY if text.startswith("-") else MULTIPLIED if "e" in text else ATOM
    return Form(binding, result)


def _verbatim(tree: Verbatim) -> Form:
    text = tree.text.strip()
    bare = text[1:-1] if text.startswith("(") and text.endswith(")") else text
    numeral = _numeral(bare)
    if numeral is not None:
        return numeral if bare == text else Form(ATOM, [OPEN, *numeral.pieces, CLOSE])
    rows = _literal(text)
    return Form(ATOM, [Words(text)] if rows is None else rows)


def _literal(text: str) -> Iterator[Any] | None:
    """A list of numbers as a vector, a list of such lists as a matrix; None for other texts."""
    try:
        value = ast.literal_eval(text) if text.startswith("[") else None
    except (SyntaxError, ValueError):
        return None
    if not isinstance(value, list) or not value:
        return None
    rows = value if all(isinstance(row, list) for row in value) else [value]
    flat = [item for row in rows for item in row]
    if not all(isinstance(item, int | float) for item in flat) or len({*map(len, rows)}) > 1:
        return None
    return in_rows(MATRIX, [[_number(Number(item)).pieces for item in row] for row in rows])


# ---- operators -----------------------------------------------------------------------------------


def _infix(tree: Infix) -> Form:
    symbol = tree.symbol
    if symbol in COMPARISONS or symbol in ("|", "&"):
        return _indicator(tree)
    return _OPERATORS.get(symbol, _added)(tree)


def _added(tree: Infix) -> Form:
    right = Part(tree.right, ATOM if _begins_with_sign(tree.right) else ELEMENTWISE)
    return Form(ADDED, [Part(tree.left, ADDED), Sign(SIGNS[tree.symbol]), right])


def _times(tree: Infix) -> Form:
    """A product of numbers or elements, with parentheses if the right side begins with a minus."""
    if tree.symbol == "*" and _elementwise(tree):
        right = Part(tree.right, SCRIPTED if _begins_with_sign(tree.right) else MULTIPLIED)
        left = Part(tree.left, MULTIPLIED if isinstance(tree.left, Sum) else ELEMENTWISE)
        return Form(ELEMENTWISE, [left, Sign("⊙"), right])
    dot = tree.symbol == "·" or _begins_with_digit(tree.right)
    again = isinstance(tree.right, Infix) and tree.right.symbol == tree.symbol in REGROUPED
    right = Part(tree.right, MULTIPLIED if again else SCRIPTED)
    left = Part(tree.left, MULTIPLIED + isinstance(tree.left, Sum))
    return Form(MULTIPLIED, [left, Sign("⋅") if dot else TIMES, right])


def _elementwise(tree: Infix) -> bool:
    """Whether both sides are tensors or, if that is unknown, may be."""
    if tree.ndims is not None:
        return all(tree.ndims)
    return not _is_number(tree.left) and not _is_number(tree.right)


def _is_number(tree: Tree) -> bool:
    """Whether a formula consists of numbers and sizes only."""
    stack = [tree]
    for part in stack:
        if isinstance(part, Infix | Prefix) and len(stack) < MOST_PARTS:
            stack += children(part)
        elif not _is_single(part):
            return False
    return True


def _is_single(tree: Tree) -> bool:
    if isinstance(tree, Subscript):
        return isinstance(tree.base, Attribute) and tree.base.name == "shape"
    if isinstance(tree, Method) and not tree.args and not tree.named:
        return tree.name in ("numel", "sum", "mean", "item")
    return isinstance(tree, Number)


def _matmul(tree: Infix) -> Form:
    left = tree.left
    if tree.ndims is not None and tree.ndims[0] == 1:
        left = Attribute(left, "T")
    right = Part(tree.right, SCRIPTED)
    return Form(MULTIPLIED, [Part(left, MULTIPLIED + isinstance(left, Sum)), TIMES, right])


def _divided(tree: Infix) -> Form:
    return Form(SCRIPTED, laid_out(FRACTION, [Part(tree.left)], [Part(tree.right)]))


def _floored(tree: Infix) -> Form:
    return Form(ATOM, laid_out(FLOOR, _divided(tree).pieces))


def _remainder(tree: Infix) -> Form:
    return Form(MULTIPLIED, [Part(tree.left, MULTIPLIED), Sign("mod"), Part(tree.right, SCRIPTED)])


def _raised(tree: Infix) -> Form:
    if tree.right == Number(0.5):
        return Form(ATOM, laid_out(ROOT, [Part(tree.left)]))
    return _power(tree.left, [Part(tree.right)])


def _power(base: Tree, exponent: Iterable[Any]) -> Form:
    return Form(SCRIPTED, laid_out(ABOVE, [Part(base, ATOM)], exponent))


def _prefix(tree: Prefix) -> Form:
    if tree.symbol == "~":
        return _indicator(tree)
    return Form(UNARY, [Sign("−"), Part(tree.operand, UNARY + (_begins_with_sign(tree.operand)))])


def _begins_with_sign(tree: Tree) -> bool:
    """Whether the first character of a formula is a minus."""
    while isinstance(tree, Infix) and tree.symbol not in ("/", "**"):
        tree = tree.left
    negative = isinstance(tree, Number) and number_text(tree.value).startswith("-")
    verbatim = isinstance(tree, Verbatim) and tree.text.startswith("-")
    return negative or verbatim or (isinstance(tree, Prefix) and tree.symbol == "-")


def _begins_with_digit(tree: Tree) -> bool:
    while isinstance(tree, Infix) and tree.symbol not in ("/", *COMPARISONS, "|", "&"):
        tree = tree.left
    return isinstance(tree, Number | Verbatim)


# ---- conditions ----------------------------------------------------------------------------------


def _indicator(tree: Tree) -> Form:
    """The indicator function of a condition."""
    return Form(ATOM, [Sign("𝟙"), Sign("["), Part(_Condition(tree)), Sign("]")])  # type: ignore[arg-type]


def _truth(condition: _Condition) -> Form:
    tree = condition.tree
    if isinstance(tree, Infix) and tree.symbol in ("|", "&"):
        own = PRECEDENCE[tree.symbol]
        sides = (Part(_Condition(side), own) for side in (tree.left, tree.right))  # type: ignore[arg-type]
        left, right = sides
        return Form(own, [left, Sign(SIGNS[tree.symbol]), right])
    if isinstance(tree, Infix) and tree.symbol in COMPARISONS:
        return Form(ADDED, [Part(tree.left), Sign(SIGNS[tree.symbol]), Part(tree.right)])
    if isinstance(tree, Prefix) and tree.symbol == "~":
        return Form(UNARY, [Sign("¬"), Part(_Condition(tree.operand), UNARY)])  # type: ignore[arg-type]
    return _form(tree)


def _condition(tree: Condition) -> Form:
    return _indicator(tree.condition)


def _between(tree: Between) -> Form:
    low, high = Number(tree.low), Number(tree.high)
    return Form(ADDED, [Part(low), Sign("≤"), Part(tree.place), Sign("<"), Part(high)])


def _where(args: tuple[Tree, ...]) -> Form:
    condition, value, other = args
    if other == Number(0):
        return _times(Infix("*", condition, value, (1, 1)))
    rows: list[list[list[Any]]] = [
        [[Part(value)], [Words("if\N{NO-BREAK SPACE}"), Part(_Condition(condition))]],  # type: ignore[arg-type]
        [[Part(other)], [Words("otherwise")]],
    ]
    return Form(ATOM, in_rows(CASES, rows))


# ---- elements and sums ---------------------------------------------------------------------------


def _indexed(tree: Indexed) -> Form:
    base = tree.base
    if isinstance(base, Name) and base.text.startswith("∂"):
        inner = Indexed(Name(base.text[1:], base.role), tree.places)
        return Form(MULTIPLIED, [DIFFERENTIAL, Part(inner)])
    if isinstance(base, Attribute) and base.name == "grad":
        return _attribute(Attribute(Indexed(base.base, tree.places), "grad"))
    if isinstance(base, Name) and base.text.endswith(".grad"):
        inner = Indexed(Name(base.text.removesuffix(".grad"), base.role), tree.places)
        return _attribute(Attribute(inner, "grad"))
    return _below(base, tree.places)


def _below(base: Tree, items: tuple[Tree, ...]) -> Form:
    """A formula with an index; single letters in it need no commas."""
    short = all(isinstance(p, Name) and len(p.text) == 1 for p in items)
    short = short or all(isinstance(p, Number) and 0 <= p.value < 10 for p in items)
    index: list[Any] = []
    for place, item in enumerate(items):
        index += [*[Sign("," if not short else "\N{INVISIBLE SEPARATOR}")] * bool(place)]
        index.append(Part(item))
    whole = [*_form(base).pieces]
    plain = len(whole) == 1 and isinstance(whole[0], Identifier)
    return Form(ATOM, laid_out(BELOW if plain else BELOW_GROUP, [Part(base, APPLIED)], index))


def _sum(tree: Sum) -> Form:
    letters = [piece for letter in tree.letters for piece in identifier(letter)]
    body = Part(tree.body, ATOM if _begins_with_sign(tree.body) else SUM)
    return Form(SUM, [*laid_out(UNDER, [Sign("∑")], letters), body])


def _derivative(tree: Derivative) -> Form:
    order = len(tree.by)
    raised = [DIFFERENTIAL]
    if order > 1:
        raised = [*laid_out(ABOVE, [DIFFERENTIAL], [Digits(str(order))])]
    below: list[Any] = []
    for by in tree.by:
        below += [*[TIMES] * bool(below), DIFFERENTIAL, Part(by)]
    return Form(SCRIPTED, laid_out(FRACTION, [*raised, Part(tree.of)], below))


def _multiples(tree: Multiples) -> Form:
    ordered = sorted(tree.terms, key=lambda term: term[1] < 0)
    first = [(atom, n) for atom, n in ordered if n > 0]
    signed: list[tuple[bool, list[Any]]] = [(n < 0, _multiple(atom, abs(n))) for atom, n in ordered]
    if tree.offset or not signed:
        at = 0 if tree.offset > 0 and not first else len(signed)
        signed.insert(at, (tree.offset < 0, [Digits(str(abs(tree.offset)))]))
    out: list[Any] = []
    for place, (minus, part) in enumerate(signed):
        out += [Sign("−")] * minus + [Sign("+")] * (place > 0 and not minus) + part
    return Form(ADDED if len(signed) > 1 else MULTIPLIED, out)


def _multiple(atom: Tree, times: int) -> list[Any]:
    return [Part(atom, UNARY)] if times == 1 else [Digits(str(times)), TIMES, Part(atom, UNARY)]


def _quotient(tree: Quotient) -> Form:
    whole = [Part(tree.place)]
    if tree.by > 1:
        whole = [*laid_out(FLOOR, laid_out(FRACTION, whole, [Digits(str(tree.by))]))]
    if not tree.size:
        return Form(ATOM, whole)
    left = whole if tree.by > 1 else [Part(tree.place, MULTIPLIED)]
    return Form(MULTIPLIED, [*left, Sign("mod"), Digits(str(tree.size))])


def _left_out(tree: LeftOut) -> Form:
    return Form(MULTIPLIED, [Sign("⋯"), Words(f"\N{NO-BREAK SPACE}({tree.count} terms)")])


# ---- attributes, indexing and lists --------------------------------------------------------------


def _attribute(tree: Attribute) -> Form:
    base, name = tree.base, tree.name
    if name in ("T", "mT", "H", "mH"):
        inverse = _argument_of_inverse(base)
        if inverse is not None:
            return _power(inverse, [Sign("−"), TRANSPOSED])
        return Form(SCRIPTED, laid_out(ABOVE, [Part(base, APPLIED)], [TRANSPOSED]))
    if name.startswith("grad") and name.removeprefix("grad").isdecimal() + (name == "grad"):
        return _gradient(base, name.removeprefix("grad"))
    if name == "tangent":
        return Form(ATOM, laid_out(DOT, [Part(base)]))
    if name == "values":
        return _form(base)
    if isinstance(base, Call | Method) and name != "shape":
        args = base.args if isinstance(base, Call) else (base.base, *base.args)
        function = base.function if isinstance(base, Call) else base.name
        return _applied(_without_module(function), args, base.named, of=name)
    return _applied(name, (base,), ())


def _gradient(base: Tree, order: str) -> Form:
    raised = [Digits(order)] if order else []
    above = laid_out(ABOVE, [DIFFERENTIAL], raised) if raised else [DIFFERENTIAL]
    by = laid_out(ABOVE, [Part(base, ATOM)], raised) if raised else [Part(base, MULTIPLIED)]
    return Form(SCRIPTED, laid_out(FRACTION, [*above, LOSS], [DIFFERENTIAL, *by]))


def _argument_of_inverse(tree: Tree) -> Tree | None:
    """The argument of an inverse; None for other formulas."""
    call = isinstance(tree, Call) and tree.function.removeprefix("linalg.") in ("inv", "inverse")
    if call and len(tree.args) == 1:  # type: ignore[union-attr]
        return tree.args[0]  # type: ignore[union-attr]
    method = isinstance(tree, Method) and tree.name in ("inverse", "inv") and not tree.args
    return tree.base if method else None  # type: ignore[union-attr]


def _subscript(tree: Subscript) -> Form:
    base, items = tree.base, tree.items
    if isinstance(base, Attribute) and base.name == "shape" and len(items) == 1:
        return _applied("size", (base.base,), (("dim", items[0]),))
    if isinstance(base, Call) and base.function == "eye" and len(items) == 1 == len(base.args):
        return _unit(items[0]) if isinstance(items[0], Number) else _below(base, items)
    return _below(base, items)


def _unit(place: Tree) -> Form:
    """The unit vector e with an index."""
    return Form(ATOM, laid_out(BELOW, [Identifier("e")], [Part(place)]))


def _slice(tree: Slice) -> Form:
    out: list[Any] = [] if tree.start is None else [Part(tree.start)]
    out.append(Sign(":"))
    out += [] if tree.stop is None else [Part(tree.stop)]
    out += [] if tree.step is None else [Sign(":"), Part(tree.step)]
    return Form(ADDED, out)


def _listing(tree: Listing) -> Form:
    opening, closing = tuple(tree.brackets)
    return Form(ATOM, [Sign(opening), *_separated(tree.items), Sign(closing)])


def _separated(items: Iterable[Tree]) -> list[Any]:
    out: list[Any] = []
    for item in items:
        out += [*[Sign(",")] * bool(out), Part(item)]
    return out


def _bracketed(tree: Bracketed) -> Form:
    return Form(ATOM, [OPEN, Part(tree.inner), CLOSE])


def _block(tree: Block) -> Form:
    out: list[Any] = []
    for name, value in tree.statements:
        out += [Part(name), EQUALS, Part(value), Sign(";")]
    return Form(0, [*out, Part(tree.result)])


# ---- functions -----------------------------------------------------------------------------------


def _call(tree: Call) -> Form:
    return _function(tree.function, tree.args, tree.named)


def _method(tree: Method) -> Form:
    return _element(tree) or _function(tree.name, (tree.base, *tree.args), tree.named)


def _element(tree: Method) -> Form | None:
    """A matrix of zeros with one other element, as a product with unit vectors; or None."""
    zeros = isinstance(tree.base, Call) and tree.base.function.startswith("zeros")
    index, *values = tree.args if tree.name == "index_put" and zeros else (None,)
    places = index.items if isinstance(index, Listing) else ()
    units = [p.args[0] for p in places if isinstance(p, Call) and p.function == "tensor"]
    single = len(units) == len(places) == 2 and all(isinstance(p, Number) for p in units)
    if not single or tree.named:
        return None
    row, column = (_unit(p).pieces for p in units)
    transposed = laid_out(ABOVE, column, [TRANSPOSED])
    return Form(MULTIPLIED, [Part(values[0], MULTIPLIED), TIMES, *row, TIMES, *transposed])


def _function(name: str, args: tuple[Tree, ...], named: tuple[tuple[str, Tree], ...]) -> Form:
    name = _without_module(name)
    if name == "where" and len(args) == 3 and not named:
        return _where(args)
    if len(args) == 1 and not named and name in _OF_ONE:
        return _OF_ONE[name](args[0])
    if len(args) == 2 and not named and name in _OF_TWO:
        return _OF_TWO[name](*args)
    return _applied(_CALLED.get(name, name), args, named)


def _without_module(name: str) -> str:
    """The name of a function without its module."""
    for library in ("torch.", "linalg.", "special.", "math."):
        name = name.removeprefix(library)
    return name


def _applied(
    name: str, args: tuple[Tree, ...], named: tuple[tuple[str, Tree], ...], of: str = ""
) -> Form:
    """f(x, y), with the dimension and the name `of` a result as an index of f."""
    text = [Function(name)] if name != "sigmoid" else [Identifier("σ")]
    dims = [value for key, value in named if key == "dim"]
    below = _separated(dims)
    if of:
        below += [*[Sign(",")] * bool(dims), Identifier(of) if len(of) == 1 else Words(of)]
    head = laid_out(BELOW, text, below) if below else iter(text)
    rest = [(key, value) for key, value in named if key not in OMITTED]
    inside = _separated(args)
    for key, value in rest:
        inside += [*[Sign(",")] * bool(inside), Words(f"{key}"), EQUALS, Part(value)]
    return Form(APPLIED, [*head, OPEN, *inside, CLOSE])


def _exponential(x: Tree) -> Form:
    if size(x) > MOST_EXPONENT:
        return _applied("exp", (x,), ())
    return Form(SCRIPTED, laid_out(ABOVE, [Identifier("e")], [Part(x)]))


def _over(numerator: Iterable[Any], denominator: Iterable[Any]) -> Form:
    return Form(SCRIPTED, laid_out(FRACTION, numerator, denominator))


def _masked(x: Tree) -> Form:
    """A mask converted to numbers, which an indicator is already."""
    return _form(x)


def _identity(n: Tree) -> Form:
    """An identity matrix, with its size if that is a number."""
    numbered = isinstance(n, Number)
    return Form(
        ATOM, laid_out(BELOW, [Identifier("I")], [Part(n)]) if numbered else [Identifier("I")]
    )


def _stacked(parts: Tree) -> Form:
    """A stack of numbers as a column, nested ones as a matrix, and a tensor of one number as it."""
    if not isinstance(parts, Listing):
        return _form(parts)
    rows = [_row(item) for item in parts.items]
    if () in rows or len({*map(len, rows)}) > 1:
        rows = [(item,) for item in parts.items]
    return Form(ATOM, in_rows(MATRIX, [[[Part(_whole(item))] for item in row] for row in rows]))


def _row(item: Tree) -> tuple[Tree, ...]:
    """The items of a nested stack; () for anything else."""
    if isinstance(item, Call) and item.function in ("stack", "tensor") and not item.named:
        item = item.args[0]
    return item.items if isinstance(item, Listing) else ()


def _whole(item: Tree) -> Tree:
    """3 for 3.0 and for tensor(3.0)."""
    if isinstance(item, Call) and item.function == "tensor" and isinstance(item.args[0], Number):
        item = item.args[0]
    if isinstance(item, Number) and item.value == int(item.value):
        return Number(int(item.value))
    return item


def _filled(digit: str) -> Callable[[Tree], Form]:
    return lambda like: Form(ATOM, [Sign(digit)])


def _side_by_side(left: Iterable[Any], right: Iterable[Any]) -> Form:
    return Form(MULTIPLIED, [*left, TIMES, *right])


_OPERATORS: dict[str, Callable[[Infix], Form]] = {
    "*": _times, "·": _times, " ": _times, "@": _matmul, "/": _divided, "//": _floored,
    "%": _remainder, "**": _raised,
}  # fmt: skip
_OF_ONE: dict[str, Callable[[Tree], Form]] = {
    "exp": _exponential,
    "sqrt": lambda x: Form(ATOM, laid_out(ROOT, [Part(x)])),
    "rsqrt": lambda x: _over([Digits("1")], laid_out(ROOT, [Part(x)])),
    "square": lambda x: _power(x, [Digits("2")]),
    "reciprocal": lambda x: _over([Digits("1")], [Part(x)]),
    "abs": lambda x: Form(ATOM, laid_out(ABSOLUTE, [Part(x)])),
    "norm": lambda x: Form(ATOM, laid_out(NORM, [Part(x)])),
    "floor": lambda x: Form(ATOM, laid_out(FLOOR, [Part(x)])),
    "inv": lambda x: _power(x, [Sign("−"), Digits("1")]),
    "inverse": lambda x: _power(x, [Sign("−"), Digits("1")]),
    "pinv": lambda x: _power(x, [Sign("+")]),
    "neg": lambda x: _prefix(Prefix("-", x)),
    "double": _masked,
    "float": _masked,
    "eye": _identity,
    "stack": _stacked,
    "tensor": _stacked,
    "ones_like": _filled("𝟏"),
    "ones": _filled("𝟏"),
    "zeros_like": _filled("𝟎"),
    "zeros": _filled("𝟎"),
}
_OF_TWO: dict[str, Callable[[Tree, Tree], Form]] = {
    "outer": lambda u, v: _side_by_side(
        [Part(u, MULTIPLIED)], laid_out(ABOVE, [Part(v, APPLIED)], [TRANSPOSED])
    ),
    "dot": lambda u, v: _side_by_side(
        laid_out(ABOVE, [Part(u, APPLIED)], [TRANSPOSED]), [Part(v, SCRIPTED)]
    ),
    "kron": lambda a, b: Form(MULTIPLIED, [Part(a, UNARY), Sign("⊗"), Part(b, UNARY)]),
    "one_hot": lambda y, n: _unit(y),
    "ones": lambda n, m: Form(ATOM, [Sign("𝟏")]),
    "zeros": lambda n, m: Form(ATOM, [Sign("𝟎")]),
}
_CALLED = {"trace": "tr", "multi_dot": "product"}

_FORMS: dict[type, Callable[..., Form]] = {
    _Condition: _truth, Name: _name, Number: _number, Infix: _infix, Prefix: _prefix, Call: _call,
    Method: _method, Attribute: _attribute, Subscript: _subscript, Slice: _slice, Listing: _listing,
    Indexed: _indexed, Derivative: _derivative, Multiples: _multiples, Quotient: _quotient,
    Condition: _condition, Between: _between, Sum: _sum, Verbatim: _verbatim, LeftOut: _left_out,
    Bracketed: _bracketed, Block: _block,
}  # fmt: skip
