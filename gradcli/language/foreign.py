"""Python syntax that is not part of the language, and its replacements."""

import ast

from ..errors import EXPRESSION, LONGEST_VALUE, GradcliError, Span
from .syntax import Source, dotted

HINTS: dict[str, tuple[str, str | None]] = {
    "IfExp": ("a conditional expression", "a choice is written where(condition, a, b)"),
    "BoolOp": (
        "and / or",
        "masks are combined with & and |, each in brackets: (x > 0) & (x < 1)",
    ),
    "Lambda": ("a lambda", "write its body"),
    "NamedExpr": (
        "an assignment inside an expression",
        "make it a separate statement, before ;",
    ),
    "Starred": ("an argument with *", "write the arguments out"),
    "JoinedStr": ("an f-string", None),
    "Set": ("a set", "lists are written [1, 2]"),
    "Dict": ("a dictionary", "lists are written [1, 2]"),
    "ListComp": ("a loop in brackets", "write its elements out"),
    "GeneratorExp": ("a loop in brackets", "write its elements out"),
}

FORMS: dict[type[ast.stmt], tuple[str, str]] = {
    ast.FunctionDef: ("a function definition", "write its body as statements, separated by ;"),
    ast.ClassDef: (
        "a class definition",
        "write out what it computes, its parameters as inputs: h = relu(x @ W.T + b)",
    ),
    ast.Import: ("an import", "functions have their PyTorch names, and no import is needed"),
    ast.ImportFrom: ("an import", "functions have their PyTorch names, and no import is needed"),
    ast.For: ("a loop", "write its steps out, or use operations on whole tensors"),
    ast.While: ("a loop", "write its steps out, or use operations on whole tensors"),
    ast.If: ("a branch", "a choice is written where(condition, a, b)"),
    ast.With: ("a with block", "write its body; what no_grad() hides is written x.detach()"),
}

RUN = "with a value for each input the program is run, in-place changes included; "
COPIES = "a changed copy is where(x > 0, y, x), x.index_put((tensor(0),), y), x.slice_scatter(y)"
DERIVATIVE = "a derivative is not written out: gradcli differentiates the expression"
# Functions in other notations, with hints on what to write.
SPELLINGS = {
    "at": "as in x.at[i].set(v) and x.at[i].add(v) of JAX",
    "ln": "write log(x)",
    "lg": "write log10(x)",
    "sec": "write 1 / cos(x)",
    "csc": "write 1 / sin(x)",
    "cot": "write 1 / tan(x)",
    "tg": "write tan(x)",
    "sgn": "write sign(x)",
    "σ": "write sigmoid(x)",
    "tr": "write trace(A)",
    "print": "leave it out: gradcli shows the last expression",
    "mse": "write mse_loss(input, target)",
    "mae": "write l1_loss(input, target)",
    "bce": "write binary_cross_entropy(input, target)",
    "ce": "write cross_entropy(input, target)",
    "reduce_sum": "write x.sum()",
    "reduce_mean": "write x.mean()",
    **dict.fromkeys(("s_", "index_exp"), "write the index where it is used: x[0:2]"),
    "r_": "write np.concatenate([a, b])",
    "c_": "write np.column_stack([a, b])",
    **dict.fromkeys(("mgrid", "ogrid"), "write np.meshgrid(a, b, indexing='ij')"),
    "d": DERIVATIVE,
    "gradient": "gradcli answers with the gradient itself; finite differences are x.gradient()[0]",
}
LIBRARIES = {  # unsupported libraries, by their usual prefixes
    **{"tf": "TensorFlow", "tensorflow": "TensorFlow", "tfp": "TensorFlow Probability"},
    **{"keras": "Keras", "sympy": "SymPy", "sp": "SymPy or SciPy", "cp": "CuPy", "cupy": "CuPy"},
    **{"mx": "MXNet", "theano": "Theano", "optax": "Optax", "flax": "Flax"},
}


def foreign(e: ast.expr, span: Span) -> GradcliError:
    """The error for a piece of syntax that is not part of the language."""
    what, hint = HINTS.get(type(e).__name__, ("this", "gradcli ops lists the operations"))
    return GradcliError("syntax", f"{what} is not part of the language", span=span, hint=hint)


def foreign_statement(s: ast.stmt, span: Span) -> GradcliError:
    """The error for a statement that is not part of the language."""
    unknown = ("this statement", "statements look like this: h = relu(x @ W)")
    what, hint = FORMS.get(type(s), unknown)
    return GradcliError("syntax", f"{what} is not part of the language", span=span, hint=hint)


def assigned(node: ast.Assign, source: Source) -> GradcliError:
    """The error for `x[0] = y`, and other assignment targets that are not names."""
    target = node.targets[0]
    hint = _changed_copy(target, node.value, source)
    if isinstance(target, ast.Tuple | ast.List):
        hint = "unpack nested tuples one at a time: a, b = y; c, d = b"
    message = "only names can be assigned to"
    return GradcliError("syntax", message, span=source.span(target), hint=hint)


def augmented(node: ast.AugAssign, source: Source) -> GradcliError:
    """The error for `x += y`, which modifies x in place in PyTorch."""
    name = source.segment(node.target)
    sign = source.segment(node)[len(name) :].split("=")[0].strip()
    message = f"{sign}= changes {name} in place, which gradcli never does"
    hint = COPIES
    if len(source.segment(node.value)) < LONGEST_VALUE:
        result = ast.BinOp(node.target, node.op, node.value)
        hint = _changed_copy(node.target, result, source)
    return GradcliError("syntax", message, span=source.span(node), hint=hint)


def _changed_copy(target: ast.expr, value: ast.expr, source: Source) -> str:
    """A hint for an assignment in place: `write x = where(x > 0, y, x)` for x[x > 0] = y."""
    if isinstance(target, ast.Name):
        return f"write {target.id} = {ast.unparse(value)}"
    masked = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Compare)
    if masked and not any(isinstance(n, ast.Subscript) for n in ast.walk(value)):
        name, mask = map(ast.unparse, (target.value, target.slice))  # type: ignore[attr-defined]
        return f"write {name} = where({mask}, {ast.unparse(value)}, {name})"
    return RUN + COPIES if source.origin == EXPRESSION else COPIES


def several_outputs(e: ast.expr) -> str:
    """A hint on what to write instead of several outputs; max(x, 0) may mean clamp(x, min=0)."""
    if isinstance(e, ast.Tuple | ast.List | ast.Constant):
        return "it is an expression, such as (x * y).sum(); several are joined by cat([x, y])"
    choose = "choose one of its outputs: [0], or .values"
    if isinstance(e, ast.Call) and len(e.args) == 2:
        words = {"max": ("larger", "min"), "min": ("smaller", "max")}
        which, bound = words.get((dotted(e.func) or "").removeprefix("torch."), ("", ""))
        x, number = map(ast.unparse, e.args)
        written = f"the {which} of {x} and {number} is written clamp({x}, {bound}={number})"
        return f"{choose}; {written}" if bound else choose
    return choose


def not_a_function(name: str, what: str) -> GradcliError:
    """The error for a call of a name that has a value."""
    message = f"{name} is {what} here, and cannot be called"
    hint = f"a product is written {name} * (...); give it another name than that of a function"
    return GradcliError("arguments", message, hint=hint)


def not_called(e: ast.Call) -> GradcliError:
    """The error for a call of something that is not a function, as in `(x + 1)(x - 1)`."""
    sides = "a product is written with a sign: (x + 1) * (x - 1)"
    number = isinstance(e.func, ast.Constant)
    hint = "write 2 * (x + 1) for a product, sin(x) ** 2 for a power" if number else sides
    return GradcliError("syntax", "only functions and methods can be called", hint=hint)
