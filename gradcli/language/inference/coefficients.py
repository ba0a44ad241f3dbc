"""Names that textbooks use for scalars: coefficients, intercepts, temperatures."""

import ast

from ..program import Program
from ..syntax import negated
from .products import bare, called, chain, elementwise, names_in, vectors

NUMBERS = ("lam", "lamb", "lambd", "lambda_", "lmbda", "λ", "tau", "temperature", "lr")
TINY = "eps"  # a scalar, unless it is a factor, such as the noise in mu + sigma * eps
INTERCEPTS = ("b", "b0", "bias", "intercept")
# Names of scalars if they are factors.
GREEK = ("alpha", "beta", "gamma", "delta", "eta", "mu", "rho", "sigma")
COEFFICIENTS = (*GREEK, "c", "k")


def coefficients(program: Program) -> set[str]:
    """Names of scalars: lam, d in `q @ k.T / sqrt(d)`, T in `softmax(x / T, -1)`, gamma in
    `exp(-gamma * D)`, and s in `s**2 * eye(n)`.
    """
    result = {*NUMBERS, TINY}
    for e in program.syntax:
        if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Mult):
            result |= _negated(e.left) | _of_identity(e)
            result -= {TINY} & {s.id for s in (e.left, e.right) if isinstance(s, ast.Name)}
        elif isinstance(e, ast.BinOp) and isinstance(e.op, ast.Div):
            result |= _under_root(e.right) | _large(e)
    return result


def _large(e: ast.BinOp) -> set[str]:
    """T in `x / T`: an upper-case divisor of lower-case names."""
    is_number = isinstance(e.right, ast.Name) and e.right.id[0].isupper()
    return names_in(e.right) if is_number and any(map(str.islower, names_in(e.left))) else set()


def multipliers(program: Program) -> set[str]:
    """Names that may be scalars: beta in `beta * (a - b)`, but not in `beta * x`."""
    products = (e for e in program.syntax if isinstance(e, ast.BinOp))
    sides = ((e.left, e.right) for e in products if isinstance(e.op, ast.Mult))
    names = ([e.id for e in pair if isinstance(e, ast.Name)] for pair in sides)
    return {pair[0] for pair in names if len(pair) == 1 and pair[0] in COEFFICIENTS}


def _negated(e: ast.expr) -> set[str]:
    """gamma in `-gamma`."""
    name = negated(e)
    return {name.id} & {*COEFFICIENTS} if isinstance(name, ast.Name) else set()


def _of_identity(e: ast.BinOp) -> set[str]:
    """The lower-case names in an elementwise expression that multiplies an identity matrix. A
    single name, as in `x * eye(3)`, may be a diagonal instead.
    """
    pairs = (e.left, e.right), (e.right, e.left)
    pending = [p for identity, e in pairs if _is_identity(identity) for p in elementwise(e)]
    result: set[str] = set()
    while pending:
        part = pending.pop()
        result |= {part.id} if isinstance(part, ast.Name) and part.id.islower() else set()
        pending += elementwise(part)
    return result


def _is_identity(e: ast.expr) -> bool:
    op = called(e) if isinstance(e, ast.Call) else None
    return op is not None and op.name == "eye"


def _under_root(e: ast.expr) -> set[str]:
    """d in `sqrt(d)` and `d**0.5`."""
    if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Pow):
        inner = e.left if isinstance(e.right, ast.Constant) and e.right.value == 0.5 else None
    else:
        is_root = isinstance(e, ast.Call) and ast.unparse(e.func).split(".")[-1] == "sqrt"
        inner = e.args[0] if is_root and e.args else None  # type: ignore[attr-defined]
    return {inner.id} if isinstance(inner, ast.Name) else set()


def divisors(program: Program) -> set[str]:
    """The names in divisors, such as T in `z / T` and N in `x.sum() / N`."""
    pairs = (e for e in program.syntax if isinstance(e, ast.BinOp))
    right = (e.right for e in pairs if isinstance(e.op, ast.Div))
    return {e.id for e in right if isinstance(e, ast.Name)}


def intercepts(program: Program) -> set[str]:
    """Names of scalars: b in `X @ w + b`, for data X and a vector w, and in `w.T @ x + b`."""
    small = vectors(program)
    result = set()
    for e in program.syntax:
        if isinstance(e, ast.BinOp) and isinstance(e.op, ast.Add) and _is_fit(e.left, small):
            result |= names_in(e.right) & {*INTERCEPTS} if isinstance(e.right, ast.Name) else set()
    return result


def _is_fit(e: ast.expr, small: set[str]) -> bool:
    """Whether e is `X @ w` or `w.T @ x`, where w and x are in `small`, the names of vectors."""
    factors = [n.id if isinstance(n, ast.Name) else "" for n in map(bare, chain(e))]
    of_data = factors[0].startswith("X") or factors[0] in small
    return len(factors) == 2 and of_data and factors[1] in small
