"""Products of vectors and matrices, and linear algebra.

Rules after M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), cited below as Giles with the section.
"""

from ..errors import GradcliError
from ..graphs import shapes
from ..lazy import np
from . import elements
from .arithmetic import where
from .families import composite, operator
from .leaves import eye, ones


def _ranks(name, *ranks):
    """A check that the operands have these numbers of dimensions."""

    def check(*given):
        for s, rank in zip(given, ranks, strict=True):
            if len(s) != rank:
                kinds = {1: "a vector", 2: "a matrix", 3: "a batch of matrices"}
                needed = " and ".join(kinds[r] for r in ranks)
                have = " and ".join(map(shapes.text, given))
                raise GradcliError("shape", f"{name}() needs {needed}, not shapes {have}")

    return check


def _product_shape(name, *ranks):
    check = _ranks(name, *ranks)

    def shape(a, b):
        check(a, b)
        if name == "bmm" and a[0] != b[0]:
            raise shapes.Conflict(
                f"bmm() needs batches of equal size, not {a[0]} and {b[0]}", a[0], b[0]
            )
        return shapes.matmul(a, b)

    return shape


def _batch_rows(a, b):
    return (True, True) if len(a) == len(b) > 2 and a[0] == b[0] else ()


@operator(
    shape=shapes.matmul,
    value=lambda a, b: np.matmul(a, b),
    rows=_batch_rows,
    spelling="{0} @ {1}",
    index="matmul",
    examples=(
        ("a @ b", "a=2x3,b=3x4"),
        ("a @ b", "a=2x3,b=3"),
        ("a @ b", "a=3,b=3x4"),
        ("a @ b", "a=3,b=3"),
        ("matmul(a, b)", "a=5x1x2x3,b=2x3x4"),
        ("a @ b", "a=3,b=5x3x4"),
        ("a @ b", "a=5x2x3,b=3"),
    ),
)
def matmul(g, y, a, b):
    """Matrix product over the last dimension of a and the last but one of b. Giles 2.2.2."""
    if a.ndim == 1 and b.ndim == 1:
        return g * b, g * a
    if a.ndim == 1:
        to_a = b @ g if b.ndim == 2 else (b @ g.unsqueeze(dim=-1)).squeeze(dim=-1)
        return to_a, _outer(a, g)
    if b.ndim == 1:
        return _outer(g, b), a.mT @ g if a.ndim == 2 else (a.mT @ g.unsqueeze(dim=-1)).squeeze(
            dim=-1
        )
    return g @ b.mT, a.mT @ g


def _outer(a, b):
    return outer(a, b) if a.ndim == b.ndim == 1 else a.unsqueeze(dim=-1) * b.unsqueeze(dim=-2)


def _product(name, ranks, sentence, examples):
    def meaning(a, b):
        return a @ b

    meaning.__name__, meaning.__doc__ = name, sentence
    return composite(
        shape=_product_shape(name, *ranks), value=lambda a, b: np.matmul(a, b), examples=examples
    )(meaning)


mm = _product("mm", (2, 2), "Product of two matrices.", (("mm(a, b)", "a=2x3,b=3x4"),))
mv = _product("mv", (2, 1), "Product of a matrix and a vector.", (("mv(a, b)", "a=2x3,b=3"),))
bmm = _product(
    "bmm", (3, 3), "Products of two batches of matrices.", (("bmm(a, b)", "a=2x3x4,b=2x4x2"),)
)


@composite(
    shape=lambda a, b: _dot_shape(a, b),
    value=lambda a, b: np.matmul(a, b),
    aliases=("inner", "vdot"),
    examples=(("dot(a, b)", "a=3,b=3"),),
)
def dot(a, b):
    """Sum of the products of two vectors."""
    return a @ b


def _dot_shape(a, b):
    _ranks("dot", 1, 1)(a, b)
    if a != b:
        raise shapes.Conflict(
            f"dot() needs vectors of equal length, not {a[0]} and {b[0]}", a[0], b[0]
        )
    return ()


@operator(
    shape=lambda a, b: (_ranks("outer", 1, 1)(a, b), (*a, *b))[1],
    value=lambda a, b: np.multiply.outer(a, b),
    aliases=("ger",),
    index="i,j->ij",
    examples=(("outer(a, b)", "a=2,b=3"),),
)
def outer(g, y, a, b):
    """Every product of an element of a and an element of b."""
    return g @ b, g.mT @ a


# ---- einsum --------------------------------------------------------------------------------------


def terms(equation, count):
    """The letters of each operand and of the output."""
    text = equation.replace(" ", "")
    left, arrow, right = text.partition("->")
    operands = left.split(",")
    if len(operands) != count:
        raise GradcliError(
            "arguments",
            f"einsum equation {equation!r} has {len(operands)} operands, and {count} were given",
        )
    if not arrow:
        letters = sorted(set(left) - {",", "."})
        right = ("..." if "..." in left else "") + "".join(k for k in letters if left.count(k) == 1)
    odd = [
        k
        for k in left.replace("...", "") + right.replace("...", "")
        if not (k.isalpha() or k == ",")
    ]
    unknown = set(right.replace("...", "")) - set(left)
    if odd or unknown or len(set(right) - {"."}) != len(right.replace("...", "")):
        raise GradcliError(
            "arguments",
            f"einsum cannot read the equation {equation!r}",
            hint="as in einsum('ik,kj->ij', a, b)",
        )
    return operands, right


def _letter_sizes(equation, operands, given):
    sizes: dict[str, int] = {}
    for term, s in zip(operands, given, strict=True):
        letters = term.replace("...", "")
        if len(letters) > len(s) or ("..." not in term and len(letters) != len(s)):
            raise GradcliError(
                "shape",
                f"einsum term {term!r} of {equation!r} does not fit the shape {shapes.text(s)}",
            )
        head, _, tail = term.partition("...")
        for letter, n in [
            *zip(head, s, strict=False),
            *zip(reversed(tail), reversed(s), strict=False),
        ]:
            have = sizes.get(letter, n)
            if have != n and 1 not in (have, n):
                raise shapes.Conflict(
                    f"einsum letter {letter!r} of {equation!r} is {have} here and {n} there",
                    have,
                    n,
                )
            sizes[letter] = have if n == 1 else n
    return sizes


def _dots(term, s):
    head, found, tail = term.partition("...")
    return s[len(head) : len(s) - len(tail)] if found else ()


def _einsum_shape(*given, equation):
    operands, right = terms(equation, len(given))
    sizes = _letter_sizes(equation, operands, given)
    middle = shapes.broadcast(*(_dots(term, s) for term, s in zip(operands, given, strict=True)))
    head, found, tail = right.partition("...")
    return (*(sizes[k] for k in head), *(middle if found else ()), *(sizes[k] for k in tail))


def _without_repeats(term):
    return "".join(dict.fromkeys(term))


@operator(
    shape=_einsum_shape,
    value=lambda *xs, equation: np.einsum(
        equation, *xs, optimize=len(xs) > 2 and np.asarray(xs[0]).dtype != object
    ),
    order="equation operands",
    index="einsum",
    examples=(
        ("einsum('ik,kj->ij', a, b)", "a=2x3,b=3x4"),
        ("einsum('ii->i', a)", "a=3x3"),
        ("einsum('...ij,...kj->...ik', a, b)", "a=2x2x3,b=4x3"),
        ("einsum('i,ij,j', a, b, c)", "a=2,b=2x3,c=3"),
        ("einsum('ij->', a)", "a=2x3"),
    ),
)
def einsum(g, y, *operands, equation):
    """Products summed over the letters that the output leaves out."""
    letters, right = terms(equation, len(operands))
    sizes = _letter_sizes(equation, letters, [x.shape for x in operands])
    return tuple(_einsum_to(k, g, operands, letters, right, sizes) for k in range(len(operands)))


def _einsum_to(k, g, operands, terms, right, sizes):
    """The gradient of operand k: the same sum with g in its place, and what g lacks put back."""
    term = terms[k]
    others = [
        (t, o) for place, (t, o) in enumerate(zip(terms, operands, strict=True)) if place != k
    ]
    known = set(right).union(*(t for t, _ in others))
    lone = [letter for letter in dict.fromkeys(term) if letter not in known and letter != "."]
    given = [(right, g), *others]
    given += [(letter, ones(size=(sizes[letter],))) for letter in lone]
    dots = "..." if any("..." in t for t, _ in given) else ""
    letters = _without_repeats(term.replace("...", ""))
    head = term.partition("...")[0] if "..." in term else ""
    target = head + dots + letters[len(head) :] if "..." in term else dots + letters
    out = einsum(",".join(t for t, _ in given) + "->" + target, *(o for _, o in given))
    if letters != term.replace("...", ""):
        out = _onto_diagonal(out, term, letters, sizes)
    return out


def _onto_diagonal(out, term, letters, sizes):
    """A letter twice in one operand reads its diagonal: the gradient lies there, 0 elsewhere."""
    fresh = iter(k for k in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if k not in term)
    seen, renamed, links = set(), "", []
    for letter in term:
        if letter in seen and letter != ".":
            other = next(fresh)
            links.append((letter + other, eye(n=sizes[letter])))
            letter = other
        seen.add(letter)
        renamed += letter
    dots = "..." if "..." in term else ""
    equation = ",".join([dots + letters, *(t for t, _ in links)]) + "->" + renamed
    return einsum(equation, out, *(o for _, o in links))


# ---- square matrices -----------------------------------------------------------------------------


def _square(s):
    if len(s) < 2:
        raise GradcliError("shape", f"a matrix is needed, and the shape is {shapes.text(s)}")
    if s[-1] != s[-2]:
        raise shapes.Conflict(
            f"a square matrix is needed, and this one is {s[-2]}×{s[-1]}", s[-2], s[-1]
        )
    return s


def _linalg(name, *arrays):
    """NumPy's function of that name, its error in our words."""
    try:
        return getattr(np.linalg, name)(*arrays)
    except np.linalg.LinAlgError:
        raise GradcliError(
            "singular",
            "the matrix is singular: it has no inverse",
            hint="PyTorch: The diagonal element is zero, the solve could not be completed",
        ) from None


LINALG = "torch.linalg."


@operator(
    shape=lambda s: (_ranks("trace", 2)(s), ())[1],
    value=lambda x: np.trace(x),
    dtype="first",
    index=lambda lower, i, x: lower.over(min(x.shape), lambda k: lower(x, (k, k))),
    method=True,
    examples=(("trace(x)", "x=3x3"), ("x.trace()", "x=2x3")),
)
def trace(g, y, x):
    """Sum of the diagonal."""
    return g * eye(n=x.shape[0], m=None if x.shape[0] == x.shape[1] else x.shape[1])


def _inverse(x, *, check):
    if check:
        return _linalg("inv", x)
    regular = np.linalg.slogdet(x)[0] != 0
    out = np.full_like(x, np.inf)
    out[regular] = np.linalg.inv(x[regular])
    return out


@operator(
    shape=lambda s, *, check: _square(s),
    value=_inverse,
    dtype="float",
    torch=LINALG + "inv",
    aliases=("inverse",),
    attributes={"check": True},
    symbolic=elements.inverse,
    spelling="inv({0})",
    examples=(("inv(x + 3 * eye(3))", "x=3x3"), ("linalg.inv(x + 3 * eye(2))", "x=2x2x2")),
)
def inv(g, y, x, *, check):
    """Inverse of a square matrix. Giles 2.2.3."""
    return -(y.mT @ g @ y.mT)


@operator(
    shape=lambda s: _square(s)[:-2],
    value=lambda x: np.linalg.det(x),
    dtype="float",
    torch=LINALG + "det",
    symbolic=elements.determinant,
    kink=lambda y, x: y.eq(0),
    caveat="the matrix is singular: PyTorch's rule gives 0, though the derivative need not be",
    examples=(("det(x)", "x=3x3"), ("x.det()", "x=2x2x2")),
)
def det(g, y, x):
    """Determinant. Giles 2.2.4."""
    scale = (g * y).unsqueeze(dim=-1).unsqueeze(dim=-1) if x.ndim > 2 else g * y
    return where(scale.eq(0), 0, scale * inv(x, check=False).mT)


def _logdet(x):
    sign, logabs = np.linalg.slogdet(x)
    return np.where(sign < 0, np.nan, logabs)


@operator(
    shape=lambda s: _square(s)[:-2],
    value=_logdet,
    dtype="float",
    symbolic=elements.log_determinant,
    examples=(("logdet(x @ x.T + eye(3))", "x=3x3"),),
)
def logdet(g, y, x):
    """Logarithm of the determinant; nan where that is negative."""
    scale = where(y.ne(y), 0, g)  # as PyTorch, for which a nan is a constant
    return (scale.unsqueeze(dim=-1).unsqueeze(dim=-1) if x.ndim > 2 else scale) * inv(x).mT


def _solution_shape(a, b):
    _square(a)
    if _is_vector(a, b):
        if b[-1] != a[-1]:
            raise shapes.Conflict(
                f"solve() needs a right-hand side of length {a[-1]}, not {b[-1]}", a[-1], b[-1]
            )
        return b
    if b[-2] != a[-1]:
        raise shapes.Conflict(
            f"solve() needs a right-hand side with {a[-1]} rows, not {b[-2]}", a[-1], b[-2]
        )
    return shapes.matmul(a, b)


def _is_vector(a, b):
    """PyTorch's rule: b is a batch of vectors where its shape is a's without the last size."""
    return len(b) == 1 or (len(a) - 1 == len(b) and b == a[:-1])


def _solve(a, b):
    vector = _is_vector(np.shape(a), np.shape(b))
    x = _linalg("solve", a, b[..., None] if vector else b)
    return x[..., 0] if vector else x


@operator(
    shape=_solution_shape,
    value=_solve,
    dtype="float",
    torch=LINALG + "solve",
    symbolic=lambda sp, a, b: elements.solution(sp, a, b, _is_vector(a.shape, b.shape)),
    examples=(
        ("solve(a + 3 * eye(3), b)", "a=3x3,b=3x2"),
        ("linalg.solve(a + 3 * eye(3), b)", "a=3x3,b=3"),
        ("solve(a + 3 * eye(2), b)", "a=2x2x2,b=2x2x3"),
    ),
)
def solve(g, y, a, b):
    """x such that a @ x is b. Giles 2.3.1."""
    to_b = solve(a.mT, g)
    to_a = -_outer(to_b, y) if _is_vector(a.shape, b.shape) else -(to_b @ y.mT)
    return to_a, to_b


@composite(examples=(("kron(a, b)", "a=2x3,b=2x2"), ("kron(a, b)", "a=2,b=3")))
def kron(a, b):
    """Kronecker product: every element of a times the whole of b, laid side by side."""
    ndim = max(a.ndim, b.ndim)
    left = a.reshape(shape=(1,) * (ndim - a.ndim) + a.shape)
    right = b.reshape(shape=(1,) * (ndim - b.ndim) + b.shape)
    apart = left.reshape(shape=tuple(n for size in left.shape for n in (size, 1)))
    repeated = right.reshape(shape=tuple(n for size in right.shape for n in (1, size)))
    pairs = zip(left.shape, right.shape, strict=True)
    return (apart * repeated).reshape(shape=tuple(m * n for m, n in pairs))
