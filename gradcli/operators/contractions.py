"""Sums of products over named dimensions: einsum, tensordot and inner."""

from functools import reduce
from itertools import chain
from string import ascii_letters
from typing import Any

from ..errors import GradcliError
from ..graphs import Node, as_node, shapes
from ..lazy import np
from .blas import contracted, path
from .comparisons import logical_or
from .families import composite, operator, shorthand
from .guards import unless
from .leaves import eye, ones
from .matrix import dot

EXAMPLE = "as in einsum('ik,kj->ij', a, b)"


def subscripts_of(equation, count):
    """The subscripts of each operand and of the output in an einsum equation."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    operands = left.split(",")
    if len(operands) != count:
        raise GradcliError(
            "arguments",
            f"einsum equation {equation!r} has {len(operands)} operands, and {count} were given",
            hint=EXAMPLE,
        )
    if not arrow:
        once = sorted(k for k in set(left) - {",", "."} if left.count(k) == 1)
        right = ("..." if "..." in left else "") + "".join(once)
    read, written = left.replace("...", ""), right.replace("...", "")
    odd = [k for k in read + written if not (k.isalpha() or k == ",")]
    repeats = len(set(right) - {"."}) != len(written)
    if odd or set(written) - set(left) or repeats:
        text = f"einsum cannot read the equation {equation!r}"
        raise GradcliError("arguments", text, hint=EXAMPLE)
    return operands, right


def spelled_out(equation, ranks):
    """As `subscripts_of`; but if only operands have an ellipsis, the dimensions it stands for are
    summed over, and it is replaced by letters.
    """
    operands, right = subscripts_of(equation, len(ranks))
    if "..." in right:
        return operands, right
    return _with_letters(equation, operands, ranks)[0], right


def _without_dots(equation, ranks):
    """The subscripts of each operand and of the output, with each ellipsis replaced by letters."""
    operands, right = spelled_out(equation, ranks)
    operands, longest = _with_letters(equation, operands, ranks)
    return operands, right.replace("...", longest)


def _with_letters(equation, operands, ranks):
    """The operands with each ellipsis replaced by letters, and the longest replacement."""
    free = [k for k in ascii_letters if k not in equation]
    counts = [rank - len(t.replace("...", "")) for t, rank in zip(operands, ranks, strict=True)]
    letters = ["".join(free[:count][::-1]) for count in counts]
    replaced = [t.replace("...", k) for t, k in zip(operands, letters, strict=True)]
    return replaced, max(letters, key=len, default="")


def _subscript_sizes(equation, operands, input_shapes):
    sizes: dict[str, int] = {}
    for term, s in zip(operands, input_shapes, strict=True):
        subscripts = term.replace("...", "")
        if len(subscripts) > len(s) or ("..." not in term and len(subscripts) != len(s)):
            raise GradcliError(
                "shape",
                f"einsum term {term!r} of {equation!r} does not fit the shape {shapes.text(s)}",
                hint=f"it needs a subscript for each dimension, {len(s)} here; ... matches several",
            )
        head, _, tail = term.partition("...")
        for subscript, n in [
            *zip(head, s, strict=False),
            *zip(reversed(tail), reversed(s), strict=False),
        ]:
            have = sizes.get(subscript, n)
            if have != n and 1 not in (have, n):
                raise shapes.Conflict(
                    f"subscript {subscript!r} of {equation!r} has size {have} in one operand and "
                    f"{n} in another",
                    have,
                    n,
                    "a subscript has one size: different sizes need different subscripts",
                )
            sizes[subscript] = have if n == 1 else n
    return sizes


def _dots(term, s):
    head, dots, tail = term.partition("...")
    return s[len(head) : len(s) - len(tail)] if dots else ()


def _einsum_shape(*input_shapes, equation):
    operands, right = spelled_out(equation, [len(s) for s in input_shapes])
    sizes = _subscript_sizes(equation, operands, input_shapes)
    middle = shapes.broadcast(
        *(_dots(term, s) for term, s in zip(operands, input_shapes, strict=True))
    )
    head, dots, tail = right.partition("...")
    return (*(sizes[k] for k in head), *(middle if dots else ()), *(sizes[k] for k in tail))


def _einsum(*xs, equation):
    operands, right = spelled_out(equation, [np.ndim(x) for x in xs])
    return contracted(*xs, equation=f"{','.join(operands)}->{right}")


def _flops(out, *input_shapes, equation):
    """FLOP of the contraction path. In each step, each combination of subscripts counts one
    multiplication for each operand after the first, and one addition if some are summed over.
    """
    steps = _steps(equation, input_shapes)
    return sum(
        shapes.numel([*sizes.values()]) * (count - 1 + (remaining != sizes))
        for count, sizes, remaining in steps
    )


def _workspace(out, *input_shapes, equation):
    """Elements of the two largest intermediate products, which may exist at the same time."""
    built = [shapes.numel([*sizes.values()]) for *_, sizes in _steps(equation, input_shapes)]
    return sum(sorted(built[:-1])[-2:])


def _steps(equation, input_shapes):
    """Yield, for each step of the contraction path, the number of operands that are multiplied, the
    sizes of their subscripts, and those of the subscripts that are not summed over.
    """
    left, right = _without_dots(equation, [len(s) for s in input_shapes])
    sizes = _subscript_sizes(equation, left, input_shapes)
    for group in _order(left, right, input_shapes):
        multiplied = [left.pop(k) for k in sorted(group, reverse=True)]
        subscripts = set("".join(multiplied))
        remaining = subscripts & set("".join([*left, right]))
        left.append("".join(remaining))
        yield len(multiplied), *({k: sizes[k] for k in s} for s in (subscripts, remaining))


def _order(operands, right, input_shapes):
    """The contraction path: for each step, the positions of the operands that are multiplied; their
    product is appended to the operands.
    """
    if len(operands) < 3:
        return [tuple(range(len(operands)))]
    stand_ins = [np.broadcast_to(np.False_, s) for s in input_shapes]
    return path(f"{','.join(operands)}->{right}", stand_ins)[1:]


def _without_repeats(term):
    return "".join(dict.fromkeys(term))


@operator(
    shape=_einsum_shape,
    value=_einsum,
    order="equation operands",
    input_dtypes="numbers of one dtype",
    index="einsum",
    caveat="with three or more tensors, the cheapest product is computed first; PyTorch may use "
    "another order, so inf and nan can appear in other elements",
    examples=(
        ("einsum('ik,kj->ij', a, b)", "a=2x3,b=3x4"),
        ("einsum('ii->i', a)", "a=3x3"),
        ("einsum('...ij,...kj->...ik', a, b)", "a=2x2x3,b=4x3"),
        ("einsum('i,ij,j', a, b, c)", "a=2,b=2x3,c=3"),
        ("einsum('ij->', a)", "a=2x3"),
    ),
    flops=_flops,
    workspace=_workspace,
)
def einsum(g, y, *operands, equation):
    """Products summed over the subscripts that the output lacks."""
    ranks = [x.ndim for x in operands]
    subscripts, right = spelled_out(equation, ranks)
    if _has_narrow_ellipsis(subscripts, ranks):
        subscripts, right = _without_dots(equation, ranks)
    sizes = _subscript_sizes(equation, subscripts, [x.shape for x in operands])
    return tuple(_einsum_to(k, g, operands, subscripts, right, sizes) for k in range(len(operands)))


def _has_narrow_ellipsis(terms, ranks):
    """Whether an ellipsis that follows subscripts stands for fewer dimensions than another one. The
    gradient of its operand would have the additional dimensions in the middle, where sum_to_size
    cannot remove them.
    """
    dotted = [(t, rank - len(t) + 3) for t, rank in zip(terms, ranks, strict=True) if "..." in t]
    most = max((count for _, count in dotted), default=0)
    return any(count < most and not t.startswith("...") for t, count in dotted)


def _einsum_to(k, g, operands, terms, right, sizes):
    """The gradient of operand k: the einsum with g in place of it, and ones for subscripts that
    occur nowhere else.
    """
    term = terms[k]
    others = [(t, o) for n, (t, o) in enumerate(zip(terms, operands, strict=True)) if n != k]
    known = set(right).union(*(_not_broadcast(t, o.shape, sizes) for t, o in others))
    lone = [
        subscript
        for subscript in dict.fromkeys(term)
        if subscript not in known and subscript != "."
    ]
    factors = [(right, g), *others]
    factors += [(subscript, ones(size=(sizes[subscript],))) for subscript in lone]
    dots = "..." if any("..." in t for t, _ in factors) else ""
    before, ellipsis, _ = term.partition("...")
    subscripts = _without_repeats(term.replace("...", ""))
    head = _without_repeats(before) if ellipsis else ""
    target = head + dots + subscripts[len(head) :]
    out = einsum(",".join(t for t, _ in factors) + "->" + target, *(o for _, o in factors))
    if subscripts != term.replace("...", ""):
        out = _onto_diagonal(out, term, target, sizes)
    return out


def _not_broadcast(term, s, sizes):
    """The subscripts of an operand, without those along which it is broadcast."""
    subscript_sizes = _subscript_sizes(term, [term], [s])
    return {subscript for subscript, n in subscript_sizes.items() if n == sizes[subscript]}


def _onto_diagonal(out, term, result, sizes):
    """The gradient `out`, with subscripts `result`, for an operand with repeated subscripts `term`.
    A repeated subscript reads a diagonal, so the gradient is 0 off that diagonal.
    """
    fresh = iter(k for k in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if k not in term)
    seen, renamed, links = set(), "", []
    for subscript in term:
        if subscript in seen and subscript != ".":
            other = next(fresh)
            links.append((subscript + other, eye(n=sizes[subscript])))
            subscript = other
        seen.add(subscript)
        renamed += subscript
    equation = ",".join([result, *(t for t, _ in links)]) + "->" + renamed
    expanded = einsum(equation, out, *(o for _, o in links))
    return unless(_off_diagonal(term, expanded.ndim, sizes), expanded, instead=0.0)


def _off_diagonal(term, rank, sizes):
    """The mask of indices off the diagonals of repeated subscripts, for a tensor of this rank."""
    names = dict(enumerate(term.partition("...")[0]))
    tail = reversed(term.partition("...")[2])
    names |= {rank - 1 - k: subscript for k, subscript in enumerate(tail)}
    off_diagonal = []
    for subscript in dict.fromkeys(names.values()):
        first, *others = sorted(axis for axis, name in names.items() if name == subscript)
        for other in others:
            shape = [sizes[subscript] if d in (first, other) else 1 for d in range(rank)]
            off_diagonal.append(eye(n=sizes[subscript]).eq(0).reshape(shape=tuple(shape)))
    return reduce(logical_or, off_diagonal)


# ---- sublist format ------------------------------------------------------------------------------


@shorthand()
def einsum_(*given, equation=None):
    """Products summed over the subscripts missing in the output; subscripts may be lists of
    integers after each tensor.
    """
    if equation is None and given and isinstance(given[0], str):
        equation, given = given[0], given[1:]
    elif equation is None:
        equation, given = _from_sublists(given)
    if _has_sum(equation):
        operands = chain.from_iterable(x if isinstance(x, tuple) else (x,) for x in given)
        einsum.check_dtypes([x for x in operands if isinstance(x, Node)])
    return einsum(equation, *given)


def _has_sum(equation):
    """Whether an equation sums over subscripts that the output lacks."""
    left, arrow, right = equation.partition("->")
    subscripts = {c for c in left if c.isalpha()}
    return bool(subscripts - {*right}) if arrow else any(left.count(c) > 1 for c in subscripts)


def _from_sublists(args):
    """The equation and operands of einsum(a, [0, 1], b, [1, 2], [0, 2]), the sublist format."""
    operands, terms = args[: len(args) // 2 * 2 : 2], args[1::2]
    written = [_as_subscripts(term) for term in terms]
    if len(args) % 2:
        return f"{','.join(written)}->{_as_subscripts(args[-1])}", operands
    numbers = [k for term in terms for k in term]
    once = sorted(k for k in {*numbers} - {...} if numbers.count(k) == 1)
    right = _as_subscripts([..., *once] if ... in numbers else once)
    return f"{','.join(written)}->{right}", operands


def _as_subscripts(term):
    """A sublist as subscripts: a letter for each number, dots for an ellipsis."""
    if not isinstance(term, tuple | list):
        raise GradcliError(
            "arguments",
            "einsum() without an equation needs a list of subscripts after each tensor",
            hint="as in einsum(a, [0, 1], b, [1, 2], [0, 2])",
        )
    known: dict[Any, str] = {**dict(enumerate(ascii_letters)), ...: "..."}
    odd = [k for k in term if isinstance(k, bool) or k not in known]
    if odd:
        most = len(ascii_letters) - 1
        raise GradcliError(
            "arguments", f"subscripts of einsum() must be from 0 to {most}, got {odd[0]!r}"
        )
    return "".join(known[k] for k in term)


# ---- dimensions by number ------------------------------------------------------------------------


def _contracted(a, b, dims):
    """The dimensions of a and of b to sum over, non-negative and in pairs."""
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            have = f"{shapes.text(a.shape)} and {shapes.text(b.shape)}"
            raise GradcliError("arguments", f"{dims} dimensions cannot be summed over in {have}")
        return tuple(range(a.ndim - dims, a.ndim)), tuple(range(dims))
    left, right = ((d,) if isinstance(d, int) else d for d in dims)
    if len(left) != len(right):
        raise GradcliError("arguments", f"tensordot() needs as many dims of a as of b, got {dims}")
    for over, x in ((left, a), (right, b)):
        shapes.axes(over, x.ndim)  # raises an error for repeated dimensions
    return (
        tuple(shapes.axis(d, a.ndim) for d in left),
        tuple(shapes.axis(d, b.ndim) for d in right),
    )


@composite(
    order="a b dims",
    input_dtypes="numbers of one dtype",
    examples=(
        ("tensordot(a, b)", "a=2x3x2,b=3x2x2"),
        ("tensordot(a, b, dims=([0, 1], [2, 0]))", "a=2x3x2,b=3x2x2"),
        ("tensordot(a, b, 0)", "a=2,b=2x3"),
    ),
)
def tensordot(a, b, *, dims=2):
    """Sum of products over the last `dims` dimensions of a and the first `dims` of b, or over the
    pairs that dims lists.
    """
    over_a, over_b = _contracted(a, b, dims)
    for m, n in zip(over_a, over_b, strict=True):
        if a.shape[m] == 1:  # a size of 1 is broadcast
            b = b.sum(dim=n, keepdim=True)
        elif b.shape[n] == 1:
            a = a.sum(dim=m, keepdim=True)
        elif a.shape[m] != b.shape[n]:
            message = f"tensordot() cannot sum over sizes {a.shape[m]} and {b.shape[n]} together"
            raise shapes.Conflict(message, a.shape[m], b.shape[n])
    free_a = tuple(d for d in range(a.ndim) if d not in over_a)
    free_b = tuple(d for d in range(b.ndim) if d not in over_b)
    sizes_a, sizes_b = tuple(a.shape[d] for d in free_a), tuple(b.shape[d] for d in free_b)
    size = shapes.numel([a.shape[d] for d in over_a])
    left = a.permute(dims=(*free_a, *over_a)).reshape(shape=(shapes.numel(sizes_a), size))
    right = b.permute(dims=(*over_b, *free_b)).reshape(shape=(size, shapes.numel(sizes_b)))
    return (left @ right).reshape(shape=(*sizes_a, *sizes_b))


@shorthand()
def inner(input, other):
    """Sum of products over the last dimension of both."""
    a, b = as_node(input), as_node(other)
    if 0 in (a.ndim, b.ndim):
        return a * b
    dot.check_dtypes((a, b), "inner")
    text = f"the last dimensions of inner() must be equal, got {a.shape} and {b.shape}"
    shapes.require_equal(a.shape[-1:], b.shape[-1:], text)
    return dot(a, b) if a.ndim == b.ndim == 1 else tensordot(a, b, dims=((-1,), (-1,)))
