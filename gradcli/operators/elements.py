"""Helpers for the `symbolic` fields of operators: selection, comparison and extremes of SymPy
elements.

SymPy's constructors try to decide or sort their arguments, which takes milliseconds for each
element; these functions decide only simple cases. nan compares as in NumPy.
"""

from itertools import combinations, islice

from ..errors import GradcliError
from ..lazy import np

FLIPPED = {"Gt": "Lt", "Ge": "Le", "Lt": "Gt", "Le": "Ge", "Eq": "Eq", "Ne": "Ne"}
RELATIONS = {">": "Gt", ">=": "Ge", "<": "Lt", "<=": "Le", "==": "Eq", "!=": "Ne"}
IMPLIED = {  # relations that a relation implies, and relations that it excludes
    "Gt": (("Ge", "Ne"), ("Lt", "Le", "Eq")),
    "Lt": (("Le", "Ne"), ("Gt", "Ge", "Eq")),
    "Eq": (("Ge", "Le"), ("Gt", "Lt", "Ne")),
    "Ge": ((), ("Lt",)),
    "Le": ((), ("Gt",)),
    "Ne": ((), ("Eq",)),
}
SMALL = 12  # nodes of the largest expression that SymPy is asked to decide
COMPARED = 32  # most elements of a symbolic argmax or argmin
JOINED = 256  # most parts of a condition


def require_few(elements, most, what):
    """Raise GradcliError "limit" for more than `most` elements."""
    if len(elements) > most:
        message = f"the {what} of {len(elements)} elements is too long to write out in symbols"
        raise GradcliError("limit", message, hint="give the inputs values with --value")


class NotWritable:
    """A `symbolic` field that raises GradcliError with the reason `why`."""

    def __init__(self, why: str):
        self.why = why

    def __call__(self, sp, *elements, **attrs):
        hint = "give the inputs values with --value"
        raise GradcliError(
            "needs-value", f"this cannot be computed in symbols: {self.why}", hint=hint
        )


def is_condition(x) -> bool:
    """Whether `x` is a SymPy boolean: true, false, a comparison or a combination of them."""
    return x.is_Boolean or x.is_Relational


def number(sp, x):
    """A condition as 1 or 0; other expressions unchanged."""
    return choice(sp, x, sp.S.One, sp.S.Zero) if is_condition(x) else x


def truth(sp, x):
    """The condition x != 0; a condition is returned unchanged."""
    if is_condition(x):
        return x
    if isinstance(x, sp.Piecewise):
        return cases(sp, x, lambda branch: truth(sp, branch))
    return compare(sp, "Ne", x, sp.S.Zero)


def choice(sp, condition, a, b):
    """A Piecewise: a if the condition holds, otherwise b; only a or b if the condition is known."""
    c = truth(sp, condition)
    if c is sp.true or a == b:
        return a
    if c is sp.false:
        return b
    if is_condition(a) or is_condition(b):
        a, b = truth(sp, a), truth(sp, b)
        return either(sp, both(sp, c, a), both(sp, negated(sp, c), b))
    a, b = _assuming(sp, a, c, True), _assuming(sp, b, c, False)
    if a == b:
        return a
    rest = b.args if isinstance(b, sp.Piecewise) else (_pair(sp, b, sp.true),)
    return unevaluated(sp, sp.Piecewise, _pair(sp, a, c), *rest)


def unevaluated(sp, kind, *parts):
    """An unevaluated SymPy expression; SymPy's constructor would expand nested Piecewise."""
    return sp.Basic.__new__(kind, *parts)


def _pair(sp, branch, condition):
    return unevaluated(sp, sp.functions.elementary.piecewise.ExprCondPair, branch, condition)


def _assuming(sp, x, condition, holds: bool):
    """`x` with the condition replaced by its truth value in nested Piecewise expressions."""
    fact, opposite = condition, negated(sp, condition)
    if not holds:
        fact, opposite = opposite, fact
    known = {fact: sp.true, opposite: sp.false}
    if fact.is_Relational:
        true, false = IMPLIED[RELATIONS[fact.rel_op]]
        for names, value in ((true, sp.true), (false, sp.false)):
            known |= {unevaluated(sp, getattr(sp, name), *fact.args): value for name in names}
    return replaced(sp, x, known)


def replaced(sp, x, known):
    """`x` with subexpressions substituted as in `known`, and otherwise unchanged."""
    result = known.get(x)
    if result is None:
        parts = [replaced(sp, part, known) for part in x.args]
        same = all(a is b for a, b in zip(parts, x.args, strict=True))
        result = known[x] = x if same else _rebuilt(sp, x, parts)
    return result


def _rebuilt(sp, x, parts):
    """The expression `x` with other arguments, simplified by the functions of this file."""
    if isinstance(x, sp.Piecewise):
        return _first_case(sp, parts)
    if isinstance(x, sp.And):
        return both(sp, *parts)
    if isinstance(x, sp.Or):
        return either(sp, *parts)
    if isinstance(x, sp.Max | sp.Min):
        return extreme(sp, x.func.__name__, *parts)
    if x.is_Relational:
        return compare(sp, RELATIONS[x.rel_op], *parts)
    if isinstance(x, sp.Tuple):
        return _pair(sp, *parts)
    return x.func(*parts)


def _first_case(sp, pairs):
    """A Piecewise of pairs (value, condition), up to the first condition that is true."""
    cases = []
    for branch, condition in pairs:
        if condition is not sp.false:
            cases.append(_pair(sp, branch, condition))
        if condition is sp.true:
            break
    while len(cases) > 1 and cases[-2].args[0] == cases[-1].args[0]:
        cases.pop(-2)
    return cases[0].args[0] if len(cases) == 1 else unevaluated(sp, sp.Piecewise, *cases)


def cases(sp, x, function):
    """Apply `function` to every branch of a Piecewise."""
    *first, last = x.args
    out = function(last[0])
    for branch, condition in reversed(first):
        out = choice(sp, condition, function(branch), out)
    return out


def compare(sp, relation, a, b):
    """The relation `Gt`, `Ge`, `Lt`, `Le`, `Eq` or `Ne` between two elements."""
    if relation in ("Eq", "Ne") and is_condition(a) and is_condition(b):
        same = either(sp, both(sp, a, b), both(sp, negated(sp, a), negated(sp, b)))
        return same if relation == "Eq" else negated(sp, same)
    a, b = number(sp, a), number(sp, b)
    if b.is_Number and isinstance(a, sp.Piecewise) and all(x.is_Number for x, _ in a.args):
        return cases(sp, a, lambda x: compare(sp, relation, x, b))
    if relation == "Eq" and isinstance(b, sp.Piecewise) and a in [x for x, _ in b.args]:
        return cases(sp, b, lambda x: compare(sp, relation, a, x))
    if a is sp.nan or b is sp.nan:
        return sp.true if relation == "Ne" else sp.false
    if isinstance(b, sp.Max | sp.Min) and not isinstance(a, sp.Max | sp.Min):
        a, b, relation = b, a, FLIPPED[relation]
    if isinstance(a, sp.Max | sp.Min):
        result = _compare_extreme(sp, relation, a, b)
        if result is not None:
            return result
    plain = not (a.is_Number and b.is_Number) and a != b and not _may_be_decided(sp, a, b)
    try:
        return getattr(sp, relation)(a, b, evaluate=False) if plain else getattr(sp, relation)(a, b)
    except TypeError:  # an element is not a real number
        return sp.true if relation == "Ne" else sp.false


def _may_be_decided(sp, a, b) -> bool:
    """Whether SymPy is asked to decide a comparison: not for two symbols or large expressions."""
    return not (a.is_Symbol and b.is_Symbol) and _small(sp, a) and _small(sp, b)


def _small(sp, x) -> bool:
    nodes = list(islice(sp.preorder_traversal(x), SMALL))
    return len(nodes) < SMALL and not any(isinstance(n, sp.Piecewise) for n in nodes)


def _compare_extreme(sp, relation, extreme, b):
    """A comparison of Max or Min with b, as comparisons of the arguments of Max or Min with b; None
    for a relation that this does not simplify.
    """
    largest = isinstance(extreme, sp.Max)
    if relation in ("Eq", "Ne"):
        if b not in extreme.args:
            return None
        among = (compare(sp, "Ge" if largest else "Le", b, x) for x in extreme.args if x != b)
        equal = both(sp, *among)
        return equal if relation == "Eq" else negated(sp, equal)
    each = (compare(sp, relation, x, b) for x in extreme.args)
    return both(sp, *each) if largest == (relation in ("Lt", "Le")) else either(sp, *each)


def negated(sp, condition):
    """The negation of a condition."""
    return sp.Not(truth(sp, condition))


def both(sp, *conditions):
    """The conjunction of conditions."""
    return _joined(sp, sp.And, sp.true, sp.false, conditions)


def either(sp, *conditions):
    """Whether one of them holds."""
    return _joined(sp, sp.Or, sp.false, sp.true, conditions)


def _joined(sp, kind, neutral, deciding, conditions):
    parts: dict = {}
    for c in conditions:
        c = truth(sp, c)
        parts.update(dict.fromkeys(c.args if isinstance(c, kind) else (c,)))
    parts.pop(neutral, None)
    if deciding in parts:
        return deciding
    if len(parts) < 2:
        return next(iter(parts), neutral)
    require_few(parts, JOINED, "condition")
    return kind(*parts, evaluate=False)


def extreme(sp, kind, *elements):
    """Max or Min of elements, according to `kind`; nan if an element is nan."""
    make, better = (sp.Max, max) if kind == "Max" else (sp.Min, min)
    parts: dict = {}
    for x in elements:
        x = number(sp, x)
        parts.update(dict.fromkeys(x.args if isinstance(x, make) else (x,)))
    if sp.nan in parts:
        return sp.nan
    numbers = [x for x in parts if x.is_Number]
    symbols = [x for x in parts if not x.is_Number]
    if not parts:
        raise ValueError("an empty tensor has no extreme")
    best = [better(numbers)] if numbers else []
    if not symbols:
        return best[0]
    return make(*symbols, *best, evaluate=False) if len(symbols) + len(best) > 1 else symbols[0]


def clipped(sp, x, low=None, high=None):
    """x, moved to the nearest bound where it lies outside."""
    x = x if low is None else extreme(sp, "Max", x, sp.sympify(low))
    return x if high is None else extreme(sp, "Min", x, sp.sympify(high))


def above_zero(sp, x, a, b):
    """a where x is above 0, otherwise b."""
    return choice(sp, compare(sp, "Gt", x, sp.S.Zero), a, b)


def argextreme(sp, kind, *elements):
    """The index of the first largest ("Max") or smallest ("Min") element."""
    require_few(elements, COMPARED, "index of the extreme")
    out = sp.Integer(len(elements) - 1)
    for k in reversed(range(len(elements) - 1)):
        relation = "Ge" if kind == "Max" else "Le"
        others = (compare(sp, relation, elements[k], x) for j, x in enumerate(elements) if j != k)
        out = choice(sp, both(sp, *others), sp.Integer(k), out)
    return out


def extreme_along(kind):
    """A `symbolic` field: Max or Min along `dim`, or of all elements if it is None."""
    return lambda sp, x, *, dim, keepdim: _along(sp, extreme, kind, x, dim, keepdim)


def argextreme_along(kind):
    """A `symbolic` field: the index of the extreme element along `dim`, or of all if it is None."""
    return lambda sp, x, *, dim, keepdim: _along(sp, argextreme, kind, x, dim, keepdim)


def _along(sp, function, kind, x, dim, keepdim):
    axis = tuple(range(x.ndim)) if dim is None else (dim % x.ndim,) if x.ndim else ()
    out = reduce_over(lambda *xs: function(sp, kind, *xs), x, axis)
    return np.expand_dims(out, axis) if keepdim else out


def reduce_over(function, x, axis):
    """Reduce x over `axis`, a tuple of non-negative axes, with `function(*elements)`."""
    unreduced = [d for d in range(x.ndim) if d not in axis]
    shape = [x.shape[d] for d in unreduced]
    count = int(np.prod([x.shape[d] for d in axis], dtype=int))
    rows = x.transpose(*unreduced, *axis).reshape(int(np.prod(shape, dtype=int)), count)
    out = np.empty(len(rows), object)
    for k, row in enumerate(rows):
        out[k] = function(*row)
    return out.reshape(shape)


def at_index(sp, index, size, element):
    """`element(k)` for a symbolic index: a Piecewise over its values from 0 to size - 1."""
    if index.is_Integer:
        return element(int(index))
    if isinstance(index, sp.Piecewise):
        return cases(sp, index, lambda branch: at_index(sp, branch, size, element))
    if index.has(sp.Piecewise):
        message = "this cannot be computed in symbols: an index depends on many comparisons"
        raise GradcliError("needs-value", message, hint="give the inputs values with --value")
    out = element(size - 1)
    for k in reversed(range(size - 1)):
        out = choice(sp, compare(sp, "Eq", index, sp.Integer(k)), element(k), out)
    return out


def gathered(sp, by_number, x, index, dim):
    """gather for symbolic elements; `by_number` computes it if the index has no symbols."""
    if index.dtype != object or not x.ndim:
        return by_number(x, index, dim=dim)
    out = np.empty(index.shape, object)
    for where in np.ndindex(index.shape):

        def element(k, where=where):
            position = list(where)
            position[dim] = k
            return x[tuple(position)]

        out[where] = at_index(sp, index[where], x.shape[dim], element)
    return out


def scattered(sp, by_number, v, index, shape, dim):
    """scatter_add into zeros of `shape`, for symbolic elements; `by_number` as in `gathered`."""
    if index.dtype != object or not shape:
        return by_number(v, index, shape=shape, dim=dim)
    out = np.full(shape, sp.S.Zero, dtype=object)
    for where in np.ndindex(index.shape):
        for k in range(shape[dim]):
            position = list(where)
            position[dim] = k

            def element(index, k=k, where=where):
                return v[where] if index == k else sp.S.Zero

            out[tuple(position)] += at_index(sp, index[where], shape[dim], element)
    return out


# ---- functions -----------------------------------------------------------------------------------


def named(name):
    """A `symbolic` field: the function of this name, not evaluated. For numbers it returns nan,
    which the caller replaces by NumPy's value.
    """

    def element(sp, *xs):
        return sp.nan if all(x.is_Number for x in xs) else sp.Function(name, real=True)(*xs)

    return element


# ---- arithmetic ----------------------------------------------------------------------------------


def power(sp, a, b):
    """a to the power of b; an exponent of 0.5 is the square root."""
    return a ** sp.Rational(str(b)) if b.is_Float and (2 * b) % 1 == 0 else a**b


def nearest(sp, x):
    """The nearest integer; halves are rounded to even."""
    return sp.Integer(round(float(x))) if x.is_number else sp.Function("round", real=True)(x)


def mean(sp, *xs):
    """The average."""
    return sp.Add(*xs) / sp.Integer(len(xs))


def variance(sp, *xs, correction):
    """The sum of squared deviations from the mean, divided by their number minus `correction`."""
    middle, freedom = mean(sp, *xs), len(xs) - correction
    spread = sp.Add(*((x - middle) ** 2 for x in xs))
    return spread / sp.sympify(freedom) if freedom > 0 else spread * sp.oo


def norm(sp, *xs, ord):
    """(sum of |x|**ord) ** (1/ord) and its limits."""
    sizes = [sp.Abs(x) for x in xs]
    if ord in (sp.oo, -sp.oo):
        return extreme(sp, "Max" if ord > 0 else "Min", *sizes)
    if ord == 0:
        return sp.Add(*(number(sp, compare(sp, "Ne", x, sp.S.Zero)) for x in xs))
    p = sp.sympify(ord)
    return power(sp, sp.Add(*(power(sp, x, p) for x in sizes)), 1 / p)


SORTED = 4  # most elements of a symbolic sort


def symbolic_argsort(sp, row, is_descending):
    """The indices that sort the elements, as Piecewise expressions."""
    require_few(row, SORTED, "order")

    def before(i, j):
        relation = ("G" if is_descending else "L") + ("e" if i < j else "t")
        return compare(sp, relation, row[i], row[j])

    def stands_at(rank, i):
        others = [j for j in range(len(row)) if j != i]
        return either(
            sp,
            *(
                both(
                    sp, *(before(j, i) if j in first else before(i, j) for j in others)
                )
                for first in combinations(others, rank)
            ),
        )  # fmt: skip

    return [
        _first_true(sp, [stands_at(rank, i) for i in range(len(row))]) for rank in range(len(row))
    ]


def _first_true(sp, conditions):
    """The index of the first condition that holds, as a Piecewise."""
    out = sp.Integer(len(conditions) - 1)
    for k in reversed(range(len(conditions) - 1)):
        out = choice(sp, conditions[k], sp.Integer(k), out)
    return out
