"""Sums of products as NumPy's einsum gives them; of two large arrays by multiplying matrices."""

from ..lazy import np

LARGE = 2**12  # elements from which on matrices are worth being made
MOST_SEARCHED = 5  # operands of which all orders are compared
BETWEEN = 1 << 24  # elements that a product of some of the operands may have


def contracted(*xs, equation):
    """einsum of arrays."""
    arrays = [np.asarray(x) for x in xs]
    if len(arrays) == 2 and all(x.dtype == float for x in arrays):
        equation, arrays = _lone_summed(equation, arrays)
    terms = _terms(equation, arrays)
    if terms is not None:
        return _product(*arrays, *terms)
    several = len(arrays) > 2 and arrays[0].dtype != object
    return np.einsum(equation, *arrays, optimize=path(equation, arrays) if several else False)


def _lone_summed(equation, arrays):
    """The same with subscripts that only one operand has summed over first, as PyTorch does."""
    left, _, out = equation.replace(" ", "").partition("->")
    a, b = left.split(",")
    kept = [
        "".join(k for k in term if k in other or k in out or k == ".")
        for term, other in ((a, b), (b, a))
    ]
    summed = [
        x if term == short else np.einsum(f"{term}->{short}", x)
        for x, term, short in zip(arrays, (a, b), kept)
    ]
    return f"{','.join(kept)}->{out}", summed


def path(equation, arrays):
    """Which operands are multiplied at a time, as np.einsum_path says it: the way of fewest
    operations, where there are few operands to choose from.
    """
    search = "optimal" if len(arrays) <= MOST_SEARCHED else "greedy"
    return np.einsum_path(equation, *arrays, optimize=(search, BETWEEN))[0]


def _terms(equation, arrays):
    """The subscripts of two operands and of the output; None if it is no product of matrices."""
    left, _, out = equation.replace(" ", "").partition("->")
    a, _, b = left.partition(",")
    plain = len(arrays) == 2 and "." not in equation and "->" in equation
    if not plain or max(x.size for x in arrays) < LARGE or any(x.dtype != float for x in arrays):
        return None
    sizes = dict(zip(a, arrays[0].shape))
    agree = all(sizes.setdefault(k, n) == n for k, n in zip(b, arrays[1].shape))
    once = all(len(set(term)) == len(term) for term in (a, b))
    no_lone = all(k in out for k in set(a) ^ set(b))
    return (a, b, out) if agree and once and no_lone else None


def _product(x, y, a, b, out):
    """The innermost dimension of the larger one stays innermost, so that little is copied."""
    larger, subscripts = (x, a) if x.size >= y.size else (y, b)
    if _innermost(larger, subscripts) not in set(b) - set(a):
        x, y, a, b = y, x, b, a
    shared = [k for k in a if k in b and k in out]
    summed = [k for k in a if k in b and k not in out]
    rows, columns = [k for k in a if k not in b], [k for k in b if k not in a]
    product = _matrices(x, a, shared, rows, summed) @ _matrices(y, b, shared, summed, columns)
    sizes = dict(zip(a, x.shape)) | dict(zip(b, y.shape))
    have = [*shared, *rows, *columns]
    return product.reshape([sizes[k] for k in have]).transpose([have.index(k) for k in out])


def _innermost(x, subscripts):
    """The subscript of the dimension whose elements are next to each other."""
    return min(zip(subscripts, x.strides, x.shape), key=lambda item: (item[1], -item[2]))[0]


def _matrices(x, subscripts, shared, rows, columns):
    """A batch of matrices with these subscripts as rows and columns, over the shared ones."""
    if subscripts and _innermost(x, subscripts) in rows:
        return _matrices_by_row(x, subscripts, shared, columns, rows).swapaxes(-1, -2)
    return _matrices_by_row(x, subscripts, shared, rows, columns)


def _matrices_by_row(x, subscripts, shared, rows, columns):
    sizes = dict(zip(subscripts, x.shape))
    order = [subscripts.index(k) for k in (*shared, *rows, *columns)]
    count = [int(np.prod([sizes[k] for k in group], dtype=int)) for group in (rows, columns)]
    return x.transpose(order).reshape([*(sizes[k] for k in shared), *count])
