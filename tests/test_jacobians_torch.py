"""Jacobians and Hessians against torch.func."""

import numpy as np
import pytest
from support import assert_equal, examples, fixed, run_torch
from test_random_programs import Writer

import gradcli
from gradcli.autodiff.reverse import backward
from gradcli.backends.numeric import Evaluator
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.formulas.formula_writer import FormulaWriter
from gradcli.explanation.formulas.shortest_structure import structure_of
from gradcli.explanation.jacobian import jacobian_of, rows_by_vjp, vjp_of
from gradcli.graphs import OPS
from gradcli.language.posing import pose

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("double_precision"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

IN_TORCH = [e for e in examples() if e.op.torch]
# what PyTorch says where it has no derivative, or where vmap cannot follow a program
UNABLE = (RuntimeError, NotImplementedError, TypeError, ValueError)
WRONG = {"cdist"}  # torch.func.jacrev answers with the first row of the output at all others


def torch_jacobian(text, values, name, by_vmap=True):
    """torch.func.jacrev; row by row, where vmap cannot follow; None where PyTorch has none."""
    tensors = {n: torch.tensor(v) for n, v in values.items()}

    def run(t):
        return run_torch(text, {**tensors, name: t})

    ways = (torch.func.jacrev(run), lambda t: torch.autograd.functional.jacobian(run, t))
    for way in ways if by_vmap else ways[1:]:
        try:
            return way(tensors[name]).numpy(force=True)
        except UNABLE:
            continue
    return None


@pytest.mark.parametrize("example", IN_TORCH, ids=str)
def test_jacobians_of_examples(example):
    p = example.problem
    held = fixed(p)
    for x in p.wrt:
        if x.name in held:
            continue
        by_vmap = example.op.name not in WRONG
        theirs = torch_jacobian(example.text, example.values, x.name, by_vmap)
        if theirs is not None:
            ours = jacobian_of(p.out, x.node, Evaluator(p.values))
            assert_equal(ours, theirs, rtol=1e-9, atol=1e-11)


def test_jacobian_values_of_a_batch():
    text = "h = relu(x @ W + b); log_softmax(h @ V, 1)"
    shapes = {"x": (2, 3), "W": (3, 4), "b": (4,), "V": (4, 2)}
    for seed in range(3):  # the program again, with other values
        draw = np.random.default_rng(seed)
        values = {name: draw.standard_normal(shape) for name, shape in shapes.items()}
        given = {name: value.tolist() for name, value in values.items()}
        (answer,) = gradcli.batch([{"expr": text, "values": given, "want": "jacobian_values"}])
        for name, found in answer["jacobian_values"].items():
            theirs = torch_jacobian(text, values, name).reshape(4, -1)
            assert_equal(np.array(found), theirs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("batch", range(5))
def test_jacobians_and_hessians_of_random_programs(batch):
    for seed in range(batch, 60, 5):
        program = Writer(seed)
        p = pose(program.text, values=program.values) if program.values else None
        for i in [] if p is None else p.wrt:
            of_rows(p.out, i.node, p.values)
            total = OPS["sum"](p.out)
            (gradient,) = backward(total, OPS["constant"](value=1.0), [i.node]).of.values()
            if gradient is not None:
                of_rows(gradient, i.node, p.values)


def of_rows(out, x, values):
    """The Jacobian is that of one VJP a row."""
    way = vjp_of(out, x)
    found = jacobian_of(out, x, Evaluator(values))
    if way.grad is None:
        assert not found.any()
        return
    vjp = Evaluator(values).varying(way.grad, way.seed)
    expected = np.array([*rows_by_vjp(out.shape, vjp, range(out.numel))]).reshape(found.shape)
    assert_equal(found, expected, rtol=1e-8, atol=1e-9)


LOSSES = [
    ("binary_cross_entropy_with_logits(X @ w, y)", {"X": (7, 3), "w": (3,), "y": (7,)}, "w"),
    ("cross_entropy(x @ W, tensor([0, 2, 1]))", {"x": (3, 4), "W": (4, 3)}, "W"),
    ("mse_loss(tanh(x @ W) @ V, y)", {"x": (3, 2), "W": (2, 4), "V": (4,), "y": (3,)}, "W"),
    ("((U @ V.T - M)**2).sum()", {"U": (4, 2), "V": (3, 2), "M": (4, 3)}, "U"),
    ("x @ A @ x / (x @ x)", {"x": (3,), "A": (3, 3)}, "x"),
    ("logsumexp(A @ x, 0)", {"x": (3,), "A": (4, 3)}, "x"),
    ("(conv2d(x, w) ** 3).sum()", {"x": (1, 2, 4, 4), "w": (2, 2, 2, 2)}, "w"),
    ("layer_norm(x, (3,)).pow(3).sum()", {"x": (2, 3)}, "x"),
    ("(cumsum(x, 0) ** 2 * y).sum()", {"x": (4,), "y": (4,)}, "x"),
    ("logdet(A @ A.T + eye(3))", {"A": (3, 3)}, "A"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shapes", "name"), LOSSES)
def test_hessians(text, shapes, name):
    draw = np.random.default_rng(0)
    values = {n: draw.uniform(0.1, 0.9, shape) for n, shape in shapes.items()}
    p = pose(text, values=values)
    x = p.inputs[name].node
    (gradient,) = backward(p.out, OPS["constant"](value=1.0), [x]).of.values()
    tensors = {n: torch.tensor(v) for n, v in values.items()}
    theirs = torch.func.hessian(lambda t: run_torch(text, {**tensors, name: t}))(tensors[name])
    ours = jacobian_of(gradient, x, Evaluator(p.values))
    assert_equal(ours, theirs.numpy(), rtol=1e-9, atol=1e-11)


NOT_FINITE = [
    "(x * 0).sqrt()", "torch.norm(x * 0)", "(x - x).sqrt()", "(0 * x).reciprocal()",
    "(x * 0).log()", "(x / inf).sqrt()", "(x * inf) ** 2", "x.log()", "where(x > 1, x.log(), 0)",
    "x.sqrt().cumsum(0)", "(x / 0).exp()", "relu(x / (x - 1))",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_FINITE)
def test_zeros_times_infinity_are_nan_in_jacobians_and_hessians(text):
    values = {"x": np.array([1.0, 2.0, 0.0])}
    x = torch.tensor(values["x"])
    theirs = torch.autograd.functional.jacobian(lambda x: run_torch(text, {"x": x}), x).numpy()
    p = pose(text, values=values)
    analysis = Analysis(p)
    assert_equal(analysis.jacobian(p.inputs["x"]).matrix.reshape(theirs.shape), theirs)
    structure = structure_of(analysis, FormulaWriter(analysis), p.inputs["x"])
    assert structure.nonzero == np.count_nonzero(theirs)
    theirs = torch.autograd.functional.hessian(lambda x: run_torch(text, {"x": x}).sum(), x)
    assert_equal(gradcli.hessian(f"({text}).sum()", values=values), theirs.numpy())
