"""einsum of NumPy arrays; a product of two large arrays is computed as a matrix product."""

from ..lazy import np

LARGE = 2**12  # elements of an operand above which a matrix product is used
MOST_SEARCHED = 5  # most operands for which all contraction orders are compared
BETWEEN = 1 << 24  # most elements of an intermediate product


def contracted(*xs, equation):
    """The einsum of arrays."""
    arrays = [np.asarray(x) for x in xs]
    if len(arrays) == 2 and all(x.dtype == float for x in arrays):
        equation, arrays = _without_lone_subscripts(equation, arrays)
    terms = _terms(equation, arrays)
    if terms is not None:
        return _product(*arrays, *terms)
    several = len(arrays) > 2 and arrays[0].dtype != object
    return np.einsum(equation, *arrays, optimize=path(equation, arrays) if several else False)


def _without_lone_subscripts(equation, arrays):
    """The equation and arrays after summing over subscripts that occur in one operand only, as
    PyTorch does first.
    """
    left, _, out = equation.replace(" ", "").partition("->")
    a, b = left.split(",")
    remaining = [
        "".join(k for k in term if k in other or k in out or k == ".")
        for term, other in ((a, b), (b, a))
    ]
    summed = [
        x if term == short else np.einsum(f"{term}->{short}", x)
        for x, term, short in zip(arrays, (a, b), remaining)
    ]
    return f"{','.join(remaining)}->{out}", summed


def path(equation, arrays):
    """The contraction path of np.einsum_path; the optimal one if there are few operands."""
    search = "optimal" if len(arrays) <= MOST_SEARCHED else "greedy"
    return np.einsum_path(equation, *arrays, optimize=(search, BETWEEN))[0]


def _terms(equation, arrays):
    """The subscripts of the two operands and of the output; None if the einsum cannot be computed
    as a matrix product, or if both operands are small.
    """
    left, _, out = equation.replace(" ", "").partition("->")
    a, _, b = left.partition(",")
    plain = len(arrays) == 2 and "." not in equation and "->" in equation
    if not plain or max(x.size for x in arrays) < LARGE or any(x.dtype != float for x in arrays):
        return None
    sizes = dict(zip(a, arrays[0].shape))
    agree = all(sizes.setdefault(k, n) == n for k, n in zip(b, arrays[1].shape))
    once = all(len(set(term)) == len(term) for term in (a, b))
    return (a, b, out) if agree and once else None


def _product(x, y, a, b, out):
    """The product of two arrays with subscripts a and b. The innermost dimension of the larger
    array stays innermost, so that little is copied.
    """
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
    """The subscript of the dimension with the smallest stride."""
    return min(zip(subscripts, x.strides, x.shape), key=lambda item: (item[1], -item[2]))[0]


def _matrices(x, subscripts, shared, rows, columns):
    """x as a batch of matrices: the batch is `shared`, `rows` and `columns` are flattened."""
    if subscripts and _innermost(x, subscripts) in rows:
        return _matrices_by_row(x, subscripts, shared, columns, rows).swapaxes(-1, -2)
    return _matrices_by_row(x, subscripts, shared, rows, columns)


def _matrices_by_row(x, subscripts, shared, rows, columns):
    sizes = dict(zip(subscripts, x.shape))
    order = [subscripts.index(k) for k in (*shared, *rows, *columns)]
    count = [int(np.prod([sizes[k] for k in group], dtype=int)) for group in (rows, columns)]
    return x.transpose(order).reshape([*(sizes[k] for k in shared), *count])
