"""The closed forms of Jacobians, executed by PyTorch at two sets of sizes, against PyTorch's own
Jacobians.
"""

from contextlib import suppress

import numpy as np
import pytest
from support import first_examples, generator, run_formula, run_torch

import gradcli
from gradcli.autodiff.reverse import backward
from gradcli.backends.numeric import Evaluator
from gradcli.errors import GradcliError
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.formulas.contradictions import contradictions, of_matrix
from gradcli.explanation.formulas.formula_writer import FormulaWriter
from gradcli.explanation.formulas.other_sizes import other_shapes
from gradcli.explanation.formulas.shortest_structure import structure_of
from gradcli.explanation.jacobian import jacobian_of
from gradcli.language.arguments.option_texts import read_shapes
from gradcli.language.posing import pose

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("double_precision")]

N, M, ALL = "x.shape[0]", "x.shape[1]", "x.numel()"
PLACES = f"arange({ALL}).reshape(x.shape)"
FLAT = "out.flatten()"
COLUMNS = f"kron(ones({N}, {N}), eye({M}))"  # sums along each of them
# program, two sets of shapes, the input, the structure, its formula
FORMS = [
    ("stack([r * cos(t), r * sin(t)])", "r=(),t=()", "r=(),t=()", "r", "dense",
     "stack([cos(t), sin(t)])[:, None]"),
    ("sin(t * A)", "t=(),A=2x3", "t=(),A=4x2", "t", "dense", "(cos(t * A) * A).reshape(-1, 1)"),
    ("softmax(x / T, 0)", "T=(),x=4", "T=(),x=3", "T", "dense",
     "(out * (out @ x - x) / T ** 2)[:, None]"),
    ("stack([x @ A @ x, x @ x])", "x=3,A=3x3", "x=2,A=2x2", "x", "dense",
     "stack([(A + A.T) @ x, 2 * x])"),
    ("x ** 2 / (x @ x)", "x=3", "x=2", "x", "low-rank update",
     "2 * (diag(x) - outer(out, x)) / (x @ x)"),
    ("exp(A @ x)", "A=3x2,x=2", "A=2x4,x=4", "x", "dense", "diag(out) @ A"),
    ("x + h * tanh(A @ x)", "h=(),A=3x3,x=3", "h=(),A=2x2,x=2", "x", "dense",
     f"eye({N}) + h * diag(1 - tanh(A @ x) ** 2) @ A"),
    ("x.T", "x=2x3", "x=4x3", "x", "permutation", f"eye({ALL})[{PLACES}.T.flatten()]"),
    ("x.permute(2, 0, 1)", "x=2x3x4", "x=3x2x2", "x", "permutation",
     f"eye({ALL})[{PLACES}.permute(2, 0, 1).flatten()]"),
    ("x.roll(1)", "x=4", "x=5", "x", "permutation", f"eye({N}).roll(1, 0)"),
    ("x.roll(-2, 0)", "x=7", "x=5", "x", "permutation", f"eye({N}).roll(-2, 0)"),
    ("x.roll(1, 1)", "x=2x3", "x=3x4", "x", "permutation", f"kron(eye({N}), eye({M}).roll(1, 0))"),
    ("x.flip(0)", "x=4", "x=5", "x", "permutation", f"eye({N}).flip(0)"),
    ("x.flip(1)", "x=2x3", "x=3x2", "x", "permutation", f"kron(eye({N}), eye({M}).flip(0))"),
    ("x[1:3]", "x=4", "x=6", "x", "selection", f"eye({N})[1:3]"),
    ("x[1:]", "x=4", "x=6", "x", "selection", f"eye({N})[1:]"),
    ("x[:-1]", "x=4", "x=6", "x", "selection", f"eye({N})[:-1]"),
    ("x[::2]", "x=4", "x=7", "x", "selection", f"eye({N})[::2]"),
    ("x[2]", "x=4", "x=7", "x", "row", f"eye({N})[[2]]"),
    ("x[-1]", "x=3x4", "x=2x5", "x", "selection", f"kron(eye({N})[[-1]], eye({M}))"),
    ("x[:, 1:]", "x=3x4", "x=2x3", "x", "selection", f"kron(eye({N}), eye({M})[1:])"),
    ("x[[0, 0, 2]]", "x=4", "x=7", "x", "selection", f"eye({N})[[0, 0, 2]]"),
    ("index_select(x, 1, tensor([2, 0]))", "x=2x4", "x=3x3", "x", "selection",
     f"kron(eye({N}), eye({M})[tensor([2, 0])])"),
    ("max(x, dim=1).values", "x=2x3", "x=4x3", "x", "selection",
     f"block_diag(*[eye({M})[x.argmax(dim=1, keepdim=True)[i]] for i in range({N})])"),
    ("x * eye(x.shape[1])[tensor([0, 1])]", "x=2x3", "x=2x4", "x", "diagonal",
     "diag(eye(out.shape[1])[tensor([0, 1])].flatten())"),
    ("x.sort().values", "x=3", "x=5", "x", "selection", f"eye({N})[sort(x).indices]"),
    ("x.diagonal()", "x=3x3", "x=4x4", "x", "selection", f"eye({ALL})[{PLACES}.diagonal()]"),
    ("x.take(tensor([0, 3]))", "x=2x3", "x=3x3", "x", "selection",
     f"eye({ALL})[{PLACES}.take(tensor([0, 3]))]"),
    ("x.expand(2, -1)", "x=3", "x=4", "x", "selection", f"kron(ones(out.shape[0], 1), eye({N}))"),
    ("cat([x, y])", "x=2,y=3", "x=4,y=2", "y", "transposed selection",
     "eye(out.shape[0])[:, x.shape[0]:]"),
    ("pad(x, (1, 2))", "x=3", "x=5", "x", "transposed selection", "eye(out.shape[0])[:, 1:-2]"),
    ("stack([x, y])", "x=3,y=3", "x=4,y=4", "y", "transposed selection",
     "kron(eye(out.shape[0])[:, [1]], eye(y.shape[0]))"),
    ("diff(x)", "x=5", "x=7", "x", "banded", f"eye({N})[1:] - eye({N})[:-1]"),
    ("diff(x)", "x=2x4", "x=3x5", "x", "kronecker",
     f"kron(eye({N}), eye({M})[1:] - eye({M})[:-1])"),
    ("conv1d(x, w)", "x=1x1x7,w=1x1x2", "x=1x1x9,w=1x1x3", "x", "banded",
     f"eye({ALL}).unfold(0, w.shape[2], 1) @ w[0, 0]"),
    ("conv1d(x, w)", "x=1x1x7,w=1x1x2", "x=1x1x9,w=1x1x3", "w", "dense",
     "x[0, 0].unfold(0, w.shape[2], 1)"),
    ("avg_pool1d(x, 2, stride=1)", "x=1x1x7", "x=1x1x9", "x", "banded",
     "kron(eye(x.shape[0]), kron(eye(x.shape[1]), eye(x.shape[2]).unfold(0, 2, 1).sum(-1))) / 2"),
    ("x.cumsum(0)", "x=3", "x=5", "x", "lower-triangular", f"tril(ones({N}, {N}))"),
    ("x.cumsum(0)", "x=3x2", "x=2x4", "x", "kronecker", f"kron(tril(ones({N}, {N})), eye({M}))"),
    ("x.cumsum(1)", "x=2x3", "x=3x4", "x", "kronecker", f"kron(eye({N}), tril(ones({M}, {M})))"),
    ("x.cumsum(0).cumsum(0)", "x=3", "x=5", "x", "lower-triangular",
     f"t = tril(ones({N}, {N})); t @ t"),
    ("x.cumsum(0) ** 2", "x=3", "x=5", "x", "lower-triangular",
     f"2 * diag(x.cumsum(dim=0)) @ tril(ones({N}, {N}))"),
    ("x.triu(1)", "x=3x3", "x=2x4", "x", "diagonal",
     "diag(triu(ones(out.shape[0], out.shape[1]), 1).flatten())"),
    ("x[1:] * x[:-1]", "x=4", "x=6", "x", "banded",
     f"x[1:][:, None] * eye({N})[:-1] + x[:-1][:, None] * eye({N})[1:]"),
    ("pad(x[:-1] ** 2, (1, 0))", "x=4", "x=6", "x", "banded", "2 * diag(x[:-1], -1)"),
    ("linear(x, W)", "x=2x3,W=4x3", "x=5x2,W=3x2", "W", "permuted kronecker",
     "kron(eye(W.shape[0]), x[:, None]).reshape(-1, W.numel())"),
    ("x @ x.T", "x=2x3", "x=4x2", "x", "dense",
     f"kron(eye({N}), x) + kron(eye({N}), x[:, None]).reshape(-1, {ALL})"),
    ("relu(x @ w + b)", "x=2x3,w=3x4,b=4", "x=3x2,w=2x5,b=5", "w", "permuted block-diagonal",
     "diag((out > 0).double().flatten()) @ kron(x, eye(w.shape[1]))"),
    ("x.T * y", "x=2x3,y=3x2", "x=4x2,y=2x4", "x", "generalized permutation",
     f"diag(y.flatten()) @ eye({ALL})[{PLACES}.T.flatten()]"),
    *(
        (text, "x=4,y=4", "x=5,y=5", "x", "generalized permutation", formula)
        for text, formula in (
            ("x.roll(-1) * y", f"diag(y) @ eye({N}).roll(-1, 0)"),
            ("x.sort().values * y", f"diag(y) @ eye({N})[sort(x).indices]"),
        )
    ),
    *(
        (text, "x=3,A=3x3", "x=4,A=4x4", "x", structure, formula)
        for text, structure, formula in (
            ("x * A[0].flip(0)", "diagonal", "diag(A[0].flip(0))"),
            ("x ** 2 * A.diagonal()", "diagonal", "diag(2 * A.diagonal() * x)"),
            ("A.roll(1, 0) @ x", "dense", "A.roll(1, 0)"),
        )
    ),
    *(
        (text, "x=2x3", "x=4x2", "x", "permuted block-diagonal", formula)
        for text, formula in (
            ("log_softmax(x, 0)", f"eye({ALL}) - {COLUMNS} @ diag(exp(out).flatten())"),
            ("softmax(x, 0)", f"t = diag({FLAT}); t - t @ {COLUMNS} @ t"),
            ("x.prod(0)", f"diag(out) @ kron(ones(1, {N}), eye({M})) @ diag((1 / x).flatten())"),
        )
    ),
    ("interpolate(x, scale_factor=2)", "x=2x1x3", "x=1x3x4", "x", "selection",
     f"kron(eye({N}), kron(eye({M}), kron(eye(x.shape[2]), ones(2, 1))))"),
    ("x * arange(x.shape[0])", "x=3", "x=4", "x", "diagonal", f"diag(arange({N}))"),
    ("x[0] * x[1]", "x=2x3", "x=4x2", "x", "permuted block-diagonal",
     f"kron(eye({N})[[1]], diag(x[0])) + kron(eye({N})[[0]], diag(x[1]))"),
    ("x * (y * z).sum()", "x=2x3,y=2,z=2", "x=3x2,y=4,z=4", "y", "dense", "outer(x.flatten(), z)"),
    ("x * w.sum()", "x=3,w=2x2", "x=4,w=3x2", "w", "dense", "outer(x, ones(w.numel()))"),
    ("diag(x)", "x=3", "x=4", "x", "transposed selection",
     "eye(out.numel())[arange(out.numel()).reshape(out.shape).diag()].T"),
    ("avg_pool1d(x, 2)", "x=1x1x6", "x=1x1x8", "x", "block-diagonal",
     "kron(eye(x.shape[0]), kron(eye(x.shape[1]), eye(x.shape[2]).unfold(0, 2, 2).sum(-1))) / 2"),
    ("cat([x, x])", "x=3", "x=4", "x", "selection",
     f"eye(out.shape[0])[:, :{N}] + eye(out.shape[0])[:, {N}:]"),
    ("x.cumprod(0)", "x=3", "x=5", "x", "lower-triangular", "tril(outer(out, 1 / x))"),
    ("x.logcumsumexp(0)", "x=3", "x=5", "x", "lower-triangular", "tril(exp(x - out[:, None]))"),
    ("x.sum(1)", "x=2x3", "x=4x2", "x", "kronecker", f"kron(eye({N}), ones(1, {M}))"),
    ("x @ w", "x=2x3,w=3", "x=4x2,w=2", "x", "kronecker", f"kron(eye({N}), w)"),
    ("x.sum()", "x=2x3", "x=4x2", "x", "row", f"ones(1, {ALL})"),
    ("s ** 3", "s=()", "s=()", "s", "row", "(3 * s ** 2).reshape(1, 1)"),
    ("x @ x", "x=3", "x=4", "x", "row", "(2 * x)[None]"),
    ("(x ** 2).mean()", "x=2x3", "x=4x2", "x", "row", f"(2 * x / {ALL}).reshape(1, -1)"),
    ("relu(x @ w).sum(0) @ v", "x=2x3,w=3x4,v=4", "x=3x2,w=2x5,v=5", "x", "row",
     "((v * (x @ w > 0)) @ w.T).reshape(1, -1)"),
    ("softmax(x, 1)", "x=2x3", "x=3x4", "x", "block-diagonal",
     f"block_diag(*[diag(out[i]) - outer(out[i], out[i]) for i in range({N})])"),
    ("x.norm(dim=1)", "x=2x3", "x=3x4", "x", "block-diagonal",
     f"block_diag(*[x[i] / out[i] for i in range({N})])"),
    ("logsumexp(x, 1)", "x=2x3", "x=3x4", "x", "block-diagonal",
     f"block_diag(*[exp(x[i] - out[i]) for i in range({N})])"),
    ("h = relu(x @ W); h.sum(1)", "x=2x3,W=3x4", "x=3x2,W=2x5", "x", "block-diagonal",
     f"block_diag(*[W @ (h[i] > 0).double() for i in range({N})])"),
    ("tanh(x @ w)", "x=2x3,w=3x4", "x=3x2,w=2x5", "x", "block-diagonal",
     f"block_diag(*[diag(1 - out[i] ** 2) @ w.T for i in range({N})])"),
    ("relu(w @ x)", "x=3,w=2x3", "x=2,w=4x2", "x", "dense", "(out[:, None] > 0) * w"),
    ("sigmoid(x @ w)", "x=2x3,w=3", "x=4x2,w=2", "x", "kronecker",
     "kron(diag((1 - out) * out), w)"),
    ("x / x.norm()", "x=3", "x=5", "x", "symmetric low-rank update",
     f"(eye({N}) - outer(out, out)) / x.norm()"),
    ("x / x.sum()", "x=3", "x=5", "x", "low-rank update", f"(eye({N}) - out[:, None]) / x.sum()"),
    ("(X @ w - y) ** 2", "X=2x3,w=3,y=2", "X=4x2,w=2,y=4", "w", "dense", "2 * diag(X @ w - y) @ X"),
    (
        "(y * kron(A, B)) @ x",  # by element with y it is no Kronecker product
        "y=4x6,A=2x2,B=2x3,x=6",
        "y=6x4,A=2x2,B=3x2,x=4",
        "x",
        "dense",
        "y * kron(A, B)",
    ),
    ("x.T.flatten()", "x=2x3", "x=4x3", "x", "permutation", f"eye({ALL})[{PLACES}.T.flatten()]"),
    ("x.repeat(2)", "x=3", "x=4", "x", "selection", f"eye({N})[arange({N}).repeat(2)]"),
    ("x.flatten() * 2", "x=2x3", "x=4x3", "x", "scaled identity", f"2 * eye({ALL})"),
    ("x.reshape(-1) ** 2", "x=2x3", "x=4x3", "x", "diagonal", "diag((2 * x).flatten())"),
    ("outer(x, y).flatten()", "x=2,y=3", "x=4,y=2", "x", "kronecker",
     f"kron(eye({N}), y[:, None])"),
    ("kron(x, y)", "x=2,y=3", "x=4,y=2", "y", "kronecker", "kron(x[:, None], eye(y.shape[0]))"),
    ("(x @ w).flatten()", "x=2x3,w=3x4", "x=3x2,w=2x5", "x", "kronecker", f"kron(eye({N}), w).T"),
    ("x.reshape(-1, 3) @ w", "x=6,w=3x2", "x=12,w=3x4", "x", "kronecker",
     "kron(eye(out.shape[0]), w).T"),
    (
        "softmax(x, 1).flatten()",
        "x=2x3",
        "x=3x4",
        "x",
        "block-diagonal",
        "block_diag(*[diag(softmax(x, dim=1)[i]) - outer(softmax(x, dim=1)[i], "
        f"softmax(x, dim=1)[i]) for i in range({N})])",
    ),
    ("x.cumprod(1)", "x=2x3", "x=3x4", "x", "block-diagonal",
     f"block_diag(*[tril(outer(out[i], 1 / x[i])) for i in range({N})])"),
    ("linalg.cross(a, b)", "a=3,b=3", "a=3,b=3", "a", "skew-symmetric",
     "linalg.cross(b[None], eye(3))"),
    ("(A - A.T) @ x", "A=4x4,x=4", "A=3x3,x=3", "x", "skew-symmetric", "A - A.T"),
    ("det(X)", "X=3x3", "X=2x2", "X", "row", "(out * inv(X).T).reshape(1, -1)"),
    ("trace(X)", "X=3x3", "X=2x2", "X", "row", "eye(X.shape[1]).reshape(1, -1)"),
    ("cosine_similarity(a, b, dim=0)", "a=4,b=4", "a=3,b=3", "a", "row",
     "((b / b.norm() - a * out / a.norm()) / a.norm())[None]"),
    ("solve(A.T @ A, A.T @ b)", "A=5x3,b=5", "A=4x2,b=4", "b", "dense", "inv(A.T @ A) @ A.T"),
    ("diff(x, n=2)", "x=7", "x=9", "x", "banded", f"t = eye({N}); t[:-2] + t[2:] - 2 * t[1:-1]"),
    ("conv1d(x, w, padding=1)", "x=1x1x8,w=1x1x3", "x=1x1x7,w=1x1x2", "x", "banded",
     f"eye({ALL} + 2).unfold(0, w.shape[2], 1)[:, 1:-1] @ w[0, 0]"),
    ("(x @ w).reshape(4, 2)", "x=2x3,w=3x4", "x=4x3,w=3x2", "x", "kronecker",
     f"kron(eye({N}), w).T"),
    ("x.reshape(2, -1)", "x=2x3x2", "x=4x3", "x", "identity", f"eye({ALL})"),
    ("x.flatten()[::2]", "x=2x4", "x=3x3", "x", "selection", f"eye({ALL})[::2]"),
    ("x.reshape(-1) @ A", "x=2x3,A=6x4", "x=3x2,A=6x5", "x", "dense", "A.T"),
    ("(A * x).reshape(2, -1)", "A=4x3,x=4x3", "A=6x2,x=6x2", "A", "diagonal", "diag(x.flatten())"),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form[0]} by {form[3]} at {form[1]}")
def test_formulas_are_jacobians(form):
    text, first, second, name, structure, formula = form
    for shapes in (read_shapes([first]), read_shapes([second])):
        draw = generator(text, str(shapes))
        values = {n: draw.uniform(0.2, 0.9, shape) for n, shape in shapes.items()}
        found = gradcli.explain(text, values=values).jacobian[name]
        assert (found["structure"], found["formula"]) == (structure, formula)
        expected = torch_jacobian(text, values, name)
        np.testing.assert_allclose(as_matrix(formula, text, values), expected, atol=1e-12)


def torch_jacobian(text, values, name):
    """PyTorch's own, a matrix."""
    tensors = {n: torch.tensor(v) for n, v in values.items()}
    out = run_torch(text, tensors)
    whole = torch.autograd.functional.jacobian(
        lambda t: run_torch(text, {**tensors, name: t}), tensors[name]
    )
    return whole.reshape(out.numel(), tensors[name].numel()).numpy()


def as_matrix(formula, text, values):
    """A formula executed by PyTorch."""
    tensors = {n: torch.tensor(v) for n, v in values.items()}
    out = run_torch(text, tensors)
    h = {"h": run_torch(f"{text}; h", tensors)} if "h = " in text else {}
    return executed(formula, {**tensors, **h, "out": out})


def executed(formula, tensors):
    """A formula executed by PyTorch as it stands."""
    return run_formula(formula, tensors).numpy()


ODD = [
    *((f"x {sign} x.{f}()", "x=4") for sign in "*/-" for f in ("max", "min", "median")),
    *((f"x.{f}() * y", "x=4,y=3") for f in ("max", "min", "median", "amax")),
    *((f"{base} ** x", "x=4") for base in (2, 3.5, 10)),
    ("where(x > 0.5, x**2, -x)", "x=4"),
    ("where(x > 0.5, -x, -2 * x)", "x=2x3"),
    ("where(x > 0.5, 1 / x, -x) * 2", "x=4"),
    ("relu(x - 0.5) - relu(0.5 - x)", "x=4"),
    ("relu(x - y) + relu(x - 2 * y)", "x=4,y=4"),
    ("x.abs() * x.max()", "x=4"),
    *((text, "x=4") for text in ("x[-1]", "x[0]", "x[1:2]", "x[[2]]", "x.narrow(0, 1, 1)")),
    *((text, "x=2x3") for text in ("x[0, 1]", "x[-1, -1]", "x[0]", "x[:, 0]", "x[0, 1:]")),
    *((f"x.{f}(dim=0).values", "x=4") for f in ("max", "min", "median", "mode")),
    ("x.kthvalue(2).values", "x=4"),
    ("x.sort().values[1]", "x=4"),
    ("x.topk(1).values", "x=4"),
    ("x.gather(0, tensor([1]))", "x=4"),
    ("huber_loss(x, y, reduction='none')", "x=4,y=4"),
    ("solve(a + 3 * eye(3), b)", "a=3x3,b=3"),
    ("x * w", "x=1x1x4,w=1x1x1"),  # w * eye(4) has three dimensions
    ("conv1d(x, w)", "x=1x1x4,w=1x1x1"),
]
PROGRAMS = [(*each, (0.2, 0.9)) for each in ODD]
PROGRAMS += [(e.text, e.shapes, e.op.domain) for e in first_examples()[::5]]


def problems(text, shapes, domain):
    """A program at these sizes, and at others where there are some that it takes."""
    draw = generator(text, shapes)

    def posed(sizes):
        return pose(text, values={n: draw.uniform(*domain, s) for n, s in sizes.items()})

    here = posed(read_shapes([shapes]))
    for other in other_shapes(here):
        with suppress(GradcliError):
            there = posed(other)
            backward(there.out, there.seed.node, [x.node for x in there.wrt])
            return here, there
    return (here,)


def tensors_of(p):
    """Everything that has a name, as PyTorch's tensors."""
    nodes = p.scope | {p.out_name: p.out}
    arrays = Evaluator(p.values)(*nodes.values())
    return {name: torch.tensor(np.array(a)) for name, a in zip(nodes, arrays, strict=True)}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("text", "shapes", "domain"), PROGRAMS)
def test_every_formula_runs_and_is_the_jacobian(text, shapes, domain):
    """At the sizes of the example and at others."""
    found = problems(text, shapes, domain)
    analysis = Analysis(found[0])
    writer = FormulaWriter(analysis)
    for x in found[0].wrt:
        structure = structure_of(analysis, writer, x)
        beside = of_matrix(analysis, writer, x, structure)
        assert not [*contradictions(analysis, beside)]
        formula = structure.text
        for p in found if formula else ():
            node = p.inputs[x.name].node
            expected = jacobian_of(p.out, node, Evaluator(p.values))
            matrix = expected.reshape(p.out.numel, node.numel)
            made = executed(formula, tensors_of(p))
            assert made.shape == matrix.shape, formula
            np.testing.assert_allclose(made, matrix, rtol=1e-7, atol=1e-9, err_msg=formula)
