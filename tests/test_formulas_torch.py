"""What `gradcli formula` prints is Python: under PyTorch's names it has autograd's gradient."""

import re

import numpy as np
import pytest
from support import (
    answer,
    assert_equal,
    first_examples,
    fixed,
    generator,
    refusal,
    run_formula,
    run_torch,
    torch_answer,
)

import gradcli
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.data import Data
from gradcli.explanation.formulas.contradictions import contradictions, of_gradients
from gradcli.fields import ASSUMPTIONS
from gradcli.language.arguments.assumptions import read_assumptions, with_properties

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("double_precision"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

WITHOUT_WORDS = {"grid_sample", "grid_sampled", "ctc_losses", "ctc_slopes"}  # docs/formulas.md
UNREAD = {"householder_product", "ormqr"}


def seed_of(problem, example):
    shape = problem.out.shape
    return np.ones(shape) if problem.seed.implicit else generator(str(example)).normal(size=shape)


def expected_gradients(example, problem, seed):
    """PyTorch's, where it has the operator; gradcli's by which PyTorch refuses to differentiate."""
    ours = answer(problem, seed).grads
    if example.op.torch is None:
        return ours
    held = fixed(problem)
    theirs, refused = refusal(lambda: torch_answer(example.text, example.values, seed, held))
    return ours if refused else ours | theirs.grads


@pytest.mark.parametrize("example", first_examples()[::3], ids=str)
def test_formulas_are_python(example):
    problem = example.problem
    seed = seed_of(problem, example)
    a = Analysis(problem)
    a.evaluator.values[problem.seed.node] = seed
    named = {**problem.named, problem.out_name: problem.out, problem.seed.name: problem.seed.node}
    nodes = named | {i.name: i.node for i in problem.inputs.values()}
    tensors = {name: torch.tensor(np.array(a.value(node))) for name, node in nodes.items()}
    expected = expected_gradients(example, problem, seed)
    data = Data(a)
    assert not [*contradictions(a, of_gradients(a, data.w))]
    for x in problem.wrt:
        if a.gradient(x) is None:
            continue
        formula = data.formula(x)
        if formula is None:
            assert example.op.name in WITHOUT_WORDS | UNREAD
        else:
            found = run_formula(formula, tensors)
            assert_equal(torch.as_tensor(found).numpy(), expected[x.name], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    ("text", "t"),
    [
        ("x[arange(3), t].sum()", [1, 0, 3]),
        ("x[arange(2), t[:2]].mean()", [1, 0, 3]),
        ("x.gather(1, t.reshape(-1, 1)).sum()", [[1, 0, 3]]),
        ("(x[arange(3), t] ** 2).sum()", [-1, 0, -4]),
        ("(1 / x[arange(3), t]).sum()", [-1, 0, -4]),
        ("x[t].exp().sum()", [-1, 0, -3]),
    ],
)
def test_what_labels_pick_sends_back_floats(text, t):
    values = {"x": generator(text).normal(size=(3, 4)), "t": np.array(t)}
    formula = gradcli.formula(text, shapes={"x": (3, 4)}, values={"t": values["t"]})
    tensors = {name: torch.tensor(value) for name, value in values.items()}
    found = run_torch(formula, tensors)
    run_torch(text, tensors | {"x": tensors["x"].requires_grad_()}).backward()
    assert_equal(found.numpy(force=True), tensors["x"].grad.numpy(), rtol=1e-12, atol=0)


@pytest.mark.parametrize("shape", [(3,), (3, 2), (3, 2, 2)])
@pytest.mark.parametrize(
    "mask",
    ["m", "y > 0", "~m", "m & (y > 0)", "tensor([True, False, True])", "[True, False, True]"],
)
@pytest.mark.parametrize("picked", ["x[{0}].sum()", "(x[{0}] ** 2).sum()", "x[{0}].exp().sum(0)"])
def test_what_masks_pick_sends_back_zeros_elsewhere(picked, mask, shape):
    text = picked.format(mask)
    known = {"m": np.array([True, False, True]), "y": np.array([0.5, -1.0, 2.0])}
    used = {n: v for n, v in known.items() if re.search(rf"\b{n}\b", text)}
    values = {"x": generator(text).normal(size=shape), **used}
    problem = {"values": values, "wrt": ["x"], "grad": "ones_like(out)"}
    formula = gradcli.formula(text, **problem)
    tensors = {name: torch.tensor(value) for name, value in values.items()}
    out = run_torch(text, tensors | {"x": tensors["x"].requires_grad_()})
    out.backward(torch.ones_like(out))
    found = run_torch(formula, tensors | {"g": torch.ones_like(out)})
    assert_equal(found.numpy(force=True), tensors["x"].grad.numpy(), rtol=1e-12, atol=0)


BLOCK = """
h = layer_norm(x, (6,)); q = h @ Wq; k = h @ Wk; v = h @ Wv
a = softmax(q @ k.T / 6**0.5, -1) @ v; y = x + a @ Wo; z = layer_norm(y, (6,))
y + relu(z @ W1 + b1) @ W2 + b2
"""
IN_BLOCK = {"x": (4, 6), "W1": (6, 9), "b1": (9,), "W2": (9, 6), "b2": (6,)} | dict.fromkeys(
    ["Wq", "Wk", "Wv", "Wo"], (6, 6)
)


@pytest.mark.parametrize("name", IN_BLOCK)
def test_a_block_of_a_transformer_has_formulas_in_statements(name):
    formula = gradcli.formula(BLOCK, shapes=IN_BLOCK, wrt=[name])
    assert len(formula) < 600
    draw = generator("block")
    values = {n: draw.normal(size=shape) for n, shape in IN_BLOCK.items()}
    tensors = {n: torch.tensor(v, requires_grad=True) for n, v in values.items()}
    out = run_torch(BLOCK, tensors)
    seed = torch.tensor(draw.normal(size=out.shape))
    (expected,) = torch.autograd.grad(out, tensors[name], seed)
    steps = "\n".join(line for line in BLOCK.strip().splitlines()[:-1])
    found = run_torch(f"{steps}\n{formula}", tensors | {"out": out, "g": seed})
    assert_equal(found.detach().numpy(), expected.numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("order", [2, -2])
def test_spectral_norms_hold_with_the_norm_that_pytorch_computes(order):
    """Its last digit differs from that of svdvals for about every second matrix."""
    formula = gradcli.formula(f"linalg.matrix_norm(x, {order})", shapes={"x": (3, 4)})
    for k in range(40):
        array = np.random.default_rng(k).normal(size=(2 + k % 3, 2 + k % 4))
        x = torch.tensor(array, requires_grad=True)
        out = torch.linalg.matrix_norm(x, order)
        (expected,) = torch.autograd.grad(out, x, retain_graph=True)
        found = run_torch(formula, {"x": x.detach(), "out": out.detach()})
        assert_equal(found.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


EXTREMES = ("eigvalsh(x + x.T).max()", "eigvalsh(x + x.T).min()", "svdvals(x).max()")


@pytest.mark.parametrize("program", EXTREMES)
def test_extreme_eigenvalues_hold_with_those_that_pytorch_computes(program):
    """Where a gradient is asked for, PyTorch computes eigenvalues another way."""
    formula = gradcli.formula(program, shapes={"x": (3, 3)})
    for k in range(20):
        x = torch.tensor(np.random.default_rng(k).normal(size=(3, 3)), requires_grad=True)
        out = run_torch(program, {"x": x})
        (expected,) = torch.autograd.grad(out, x, retain_graph=True)
        found = run_torch(formula, {"x": x.detach(), "out": out.detach()})
        assert_equal(found.numpy(), expected.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("program", "name", "sizes"),
    [
        ("x[4:2][:2].sum() + x.sum()", "x", {"x": (5,)}),
        ("x[3:1].sum() + x.sum()", "x", {"x": (5,)}),
        ("(cholesky(A).T @ diag(x, 1)).tril().sum()", "x", {"A": (4, 4), "x": (3,)}),
        ("(cholesky(A).T @ diag(x)).tril().sum()", "x", {"A": (4, 4), "x": (4,)}),
    ],
)
def test_parts_and_triangles_at_their_edges(program, name, sizes):
    """Slices of nothing, and a diagonal beside the main one."""
    draw = np.random.default_rng(0)
    values = {x: draw.normal(size=shape) for x, shape in sizes.items()}
    if "A" in values:
        values["A"] = values["A"] @ values["A"].T + np.eye(4)
    written = gradcli.formula(program, values=values, wrt=name)
    expected = torch_answer(program, values, None, set()).grads[name]
    tensors = {name: torch.tensor(v) for name, v in values.items()}
    assert_equal(run_torch(written, tensors).numpy(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("program", "name", "sizes"),
    [
        ("U, S, V = svd(x); (U @ (S * V.T)) * y", "y", {"x": (3, 3), "y": (3, 3)}),
        ("U, S, V = svd(x); (U @ (S[:, None] * S)) * y", "y", {"x": (3, 3), "y": (3, 3)}),
        ("L, V = linalg.eigh(x); ((V * L[:, None]) @ V.T) * y", "y", {"x": (3, 3), "y": (3, 3)}),
        ("clamp(x.T, max=m.T).T * y", "y", {"x": (2, 3), "m": (2, 3), "y": (2, 3)}),
        ("x.transpose(0, 0) @ ones(3, 2)", "x", {"x": (3, 3)}),  # turned into itself
        ("inv(x + x.transpose(1, -1))", "x", {"x": (3, 3)}),
        ("(x.transpose(0, 0) * y).sum(1)", "y", {"x": (3, 3), "y": (3, 3)}),
        ("y[:, None].transpose(1, 1) @ x", "x", {"x": (1, 3), "y": (3,)}),
        ("A @ x.expand(3, 4)", "x", {"x": (1,), "A": (2, 3)}),
        ("x.expand(2, 3) @ A", "x", {"x": (1,), "A": (3, 4)}),
        ("((x > 0) / 1 - (y > 0) / 1) * z", "z", {"x": (3,), "y": (3,), "z": (3,)}),
        ("x.clamp(min=1e-9).log()", "x", {"x": (6,)}),
        ("y / x.clamp(min=1e-9)", "y", {"x": (6,), "y": (6,)}),
        ("einsum('b,b...->b...', w, x)", "x", {"w": (2,), "x": (2, 3)}),
        ("einsum('b,b...->b...', w, x)", "w", {"w": (2,), "x": (2, 3)}),
    ],
)
def test_what_looks_like_something_shorter_is_not_taken_for_it(program, name, sizes):
    draw = np.random.default_rng(0)
    values = {x: draw.normal(size=shape) for x, shape in sizes.items()}
    written = gradcli.formula(program, values=values, wrt=name)
    tensors = {n: torch.tensor(v, requires_grad=True) for n, v in values.items()}
    steps = program.rpartition("; ")[0]
    out = run_torch(program, tensors)
    seed = torch.tensor(draw.normal(size=out.shape))
    (expected,) = torch.autograd.grad(out, tensors[name], seed)
    found = run_torch(f"{steps}\n{written}", tensors | {"out": out, "g": seed})
    assert_equal(found.detach().numpy(), expected.numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("program", "values"),
    [
        ("(x * x * (x.norm(p=-1) != 0)).sum()", {"x": [0.0, 1.0, 2.0]}),
        ("(x * x * (x.norm(dim=1) != 0)).sum()", {"x": [[0.0, 0.0], [3.0, 1.0]]}),
        ("(x * x * (x * y != 0)).sum()", {"x": [1.0, 2.0], "y": [0.0, 1.0]}),
        ("where(x * y == 0, 0, x * x).sum()", {"x": [1.0, 2.0], "y": [0.0, 1.0]}),
        ("where(x * y == 0, 0, 1 / x).sum()", {"x": [1.0, 2.0], "y": [0.0, 1.0]}),
    ],
)
def test_masks_hold_where_not_all_is_zero(program, values):
    values = {name: np.array(value) for name, value in values.items()}
    written = gradcli.formula(program, shapes={n: v.shape for n, v in values.items()}, wrt="x")
    expected = torch_answer(program, values, None, set()).grads["x"]
    found = run_torch(written, {name: torch.tensor(v) for name, v in values.items()})
    assert_equal(found.numpy(), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    "program",
    [
        "exp(-cdist(x, x) ** 2)",
        "exp(-cdist(x, y) ** 2)",
        "1 / (1 + cdist(x, x) ** 2)",
        "(cdist(x, y) ** 2).min(1).values",
        "pdist(x) ** 2",
    ],
)
def test_squared_distances_hold_where_points_coincide(program):
    """What cdist means is called cdist, so that it does not divide what is 0 by itself."""
    draw = np.random.default_rng(0)
    values = {name: draw.normal(size=(3, 2)) for name in "xy" if name in program}
    if "y" in values:
        values["y"][0] = values["x"][0]
    formula = gradcli.formula(program, shapes=dict.fromkeys(values, (3, 2)), wrt="x")
    assert "norm(" not in formula
    out = run_torch(program, {name: torch.tensor(v) for name, v in values.items()})
    seed = draw.normal(size=out.shape)
    expected = torch_answer(program, values, seed, set()).grads["x"]
    named = values | {"out": out, "g": seed}
    found = run_torch(formula, {name: torch.as_tensor(v) for name, v in named.items()})
    assert_equal(found.numpy(), expected, rtol=1e-9, atol=1e-12)


CHOICES = ("where(x > 0, x, 0.5 * x)", "where(y > 0, x, y * x)", "(relu(x) - 0.1 * relu(-x))")


@pytest.mark.parametrize(
    "program",
    [
        *(f"h = {choice}; {out}" for choice in CHOICES for out in ("h.norm()", "(h * h).sum()")),
        *(f"{choice}.square().mean().sqrt()" for choice in CHOICES),
        *(f"({x} * {y}.sum()).sum()" for x in ("-x", "2 * x", "x") for y in ("x", "(-x)", "y")),
        "(-x * x.mean() * y).sum()",
        "-relu(x) * relu(x).sum() @ y",
        "abs((x - y) * (y - x)).sum()",
        "(abs((x - y) * (y - x) ** 3) * y).sum()",
    ],
)
def test_formulas_hold_below_zero_and_at_other_sizes(program):
    """Where a formula chooses by signs, and where a name is nearly what is meant."""
    names = [name for name in "xy" if name in program]
    formula = gradcli.formula(program, shapes=dict.fromkeys(names, (4,)), wrt="x")
    for size in (4, 7):
        draw = np.random.default_rng(size)
        values = {name: draw.normal(size=size) for name in names}
        answer = torch_answer(program, values, None, set())
        tensors = {name: torch.tensor(v) for name, v in values.items()}
        tensors |= {"out": torch.tensor(answer.out)}
        if program.startswith("h = "):
            tensors["h"] = torch.as_tensor(run_torch(program.partition(";")[0], tensors))
        found = run_torch(formula, tensors)
        assert_equal(found.numpy(), answer.grads["x"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("corners", ["", ", align_corners=False", ", align_corners=True"])
@pytest.mark.parametrize(
    "to", ["size=(3, 5)", "scale_factor=(1.5, 2.0)", "size=(2, 2), antialias=True"]
)
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_interpolation_goes_back_by_matrices_of_weights(mode, to, corners):
    is_the_gradient_of_pytorch(f"interpolate(x, mode='{mode}', {to}{corners})", (1, 1, 2, 3))


@pytest.mark.parametrize(
    ("program", "shape"),
    [
        ("interpolate(x, scale_factor=(2.0, 1.5, 1.0), mode='trilinear')", (1, 1, 2, 2, 3)),
        ("batch_norm(x, None, None, training=True) ** 2", (4, 3)),
    ],
)
def test_dimensions_before_the_last(program, shape):
    is_the_gradient_of_pytorch(program, shape)


def is_the_gradient_of_pytorch(program, shape):
    """The formula of x.grad, run by PyTorch."""
    values = {"x": np.random.default_rng(3).normal(size=shape)}
    formula = gradcli.formula(program, shapes={"x": shape})
    out = run_torch(program, {"x": torch.tensor(values["x"])})
    seed = np.random.default_rng(4).normal(size=tuple(out.shape))
    answer = torch_answer(program, values, seed, set())
    named = {"x": torch.tensor(values["x"]), "out": out, "g": torch.tensor(seed)}
    assert_equal(run_torch(formula, named).numpy(), answer.grads["x"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("program", "formula"),
    [
        ("hinge_embedding_loss(x, ones_like(x), reduction='sum')", "ones_like(x)"),
        ("hinge_embedding_loss(x, -ones_like(x))", None),
        ("(hinge_embedding_loss(x, 1 - zeros_like(x), reduction='none') ** 2).sum()", None),
        ("hypot(x, ones_like(x)).sum()", None),
        ("hypot(x, zeros_like(x)).sum()", None),
        ("atan2(x, ones_like(x)).sum()", None),
    ],
)
def test_what_is_the_same_number_everywhere(program, formula):
    """It decides what holds, and stays a tensor where PyTorch's function takes tensors alone."""
    written = gradcli.formula(program, shapes={"x": (5,)})
    assert formula in (None, written)
    values = {"x": np.random.default_rng(0).normal(size=5)}
    answer = torch_answer(program, values, None, set())
    tensors = {"x": torch.tensor(values["x"]), "out": torch.tensor(answer.out)}
    assert_equal(run_torch(written, tensors).numpy(), answer.grads["x"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("program", "numbers", "size"),
    [
        ("layer_norm(x, [100])", ["1e-05"], (3, 100)),
        ("rms_norm(x, [100], eps=1e-6)", ["1e-06"], (3, 100)),
        ("x.reshape(10, 10) * 0.01", ["0.01"], (100,)),
        ("(x.view(20, 5) + 0.05).log()", ["0.05"], (100,)),
        ("x.view(2, 50) / 2500", ["2500"], (100,)),
    ],
)
def test_numbers_are_no_sizes(program, numbers, size):
    """Where the text fixes a size, numbers that are made of its digits are numbers still."""
    formula = gradcli.formula(program, shapes={"x": size})
    assert all(number in formula for number in numbers)


@pytest.mark.parametrize("shape", [(2, 3), (3, 7), (1, 2)])
def test_the_rest_of_a_wide_matrix_is_a_difference_of_its_sizes(shape):
    formula = gradcli.formula("linalg.qr(x).R", shapes={"x": (2, 5)})
    assert "zeros(x.shape[0], x.shape[1] - x.shape[0])" in formula
    draw = generator(str(shape))
    x = torch.tensor(draw.normal(size=shape), requires_grad=True)
    out = torch.linalg.qr(x).R
    seed = torch.tensor(draw.normal(size=shape))
    (expected,) = torch.autograd.grad(out, x, seed)
    assert_equal(run_torch(formula, {"x": x, "out": out, "g": seed}).detach().numpy(), expected)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("a[0, 1] * a[0, 1]", "zeros_like(a).index_put((tensor(0), tensor(1)), 2 * a[0, 1])"),
        ("a[0, 1]", "outer(eye(a.shape[0])[0], eye(a.shape[1])[1])"),
        ("(2 * a)[-1, [0, 2]] @ b[:2]",
         "zeros_like(a).index_put((tensor(-1), tensor([0, 2])), 2 * b[:2], accumulate=True)"),
        ("(a[1, 1:3] ** 2).sum()",
         "zeros_like(a).select_scatter(zeros(a.shape[1])"
         ".slice_scatter(2 * a[1, 1:3], start=1, end=3), 0, 1)"),
        ("(a[:, 1:] ** 2).sum()", "pad(2 * a[:, 1:], (1, 0))"),
    ],
)  # fmt: skip
def test_elements_are_put_back_in_words_of_pytorch(program, expected):
    shapes = {"a": (4, 5)} | ({"b": (6,)} if "b" in program else {})
    assert gradcli.formula(program, shapes=shapes, wrt=["a"]) == expected
    draw = generator(program)
    given = {n: torch.tensor(draw.normal(size=s), requires_grad=True) for n, s in shapes.items()}
    out = run_torch(program, given)
    (grad,) = torch.autograd.grad(out, given["a"])
    assert_equal(run_formula(expected, given).detach().numpy(), grad)


ASSUMED = [
    ("abs(x) * y", "x", "x=positive", "g * y"),
    ("relu(x) * y", "x", "x=positive", "g * y"),
    ("log(abs(x))", "x", "x=positive", "g / x"),
    ("x.norm(1)", "x", "x=positive", "ones_like(x)"),
    ("sqrt(x**2) * y", "y", "x=positive", "g * x"),
    ("sign(x) * y", "y", "x=positive", "g"),
    ("abs(x) * y", "y", "x=nonneg", "g * x"),
    ("relu(x * y) * z", "z", "x=nonneg,y=nonneg", "g * x * y"),
    ("x.clamp(min=0) * y", "y", "x=nonneg", "g * x"),
    ("sqrt(x**2) * y", "y", "x=nonneg", "g * x"),
    ("where(x >= 0, x, y) * z", "z", "x=nonneg", "g * x"),
    ("x @ A @ x", "x", "A=skew", "zeros_like(x)"),
    ("x @ A @ y", "x", "A=skew", "A @ y"),
    ("x @ A.T @ y", "y", "A=skew", "A @ x"),
    ("trace(A) * x", "x", "A=skew", "zeros_like(x)"),
    ("x * A.diag()", "x", "A=skew", "zeros_like(x)"),
    ("((A @ x) ** 2).sum()", "x", "A=permutation", "2 * x"),
    ("inv(A) @ x", "x", "A=permutation", "A @ g"),
    ("(A * A) @ x", "x", "A=permutation", "A.T @ g"),
    ("A.sum(0) * x", "x", "A=permutation", "g"),
    ("abs(A) @ x", "x", "A=permutation", "A.T @ g"),
    ("x.norm() * y", "y", "x=unit", "g"),
    ("x @ x * y", "y", "x=unit", "g"),
    ("x.sum() * y", "y", "x=simplex", "g"),
    ("abs(x) * y", "y", "x=simplex", "g * x"),
    ("A.sum(dim=-1) * x", "x", "A=simplex", "g"),
    ("A @ ones(4) * x", "x", "A=simplex", "g"),
    ("log(A.sum(dim=-1)) * x", "x", "A=simplex", "zeros_like(x)"),
    ("A.sum(dim=-1) * x", "x", "A=onehot", "g"),
    ("(A * A) @ x", "x", "A=onehot", "A.T @ g"),
    ("(A @ ones(4)) * x", "x", "A=onehot", "g"),
    ("A.norm(dim=1) * x", "x", "A=onehot", "g"),
    ("A.T @ A @ x", "x", "A=onehot", "g * A.sum(dim=0)"),
    ("abs(A) @ x", "x", "A=onehot", "A.T @ g"),
    ("x @ x * y", "y", "x=onehot", "g"),
    ("pinv(A) @ x", "x", "A=invertible", "g @ inv(A)"),
    ("A @ pinv(A) @ x", "x", "A=invertible", "g"),
    ("pinv(A) @ A @ x", "x", "A=invertible", "g"),
    ("pinv(A.T) @ x", "x", "A=invertible", "inv(A) @ g"),
    ("(det(A) != 0) * x", "x", "A=invertible", "g"),
    ("sign(det(A)) ** 2 * x", "x", "A=invertible", "g"),
    ("A.tril() @ x", "x", "A=lower", "A.T @ g"),
    ("A.triu(1) @ x", "x", "A=lower", "zeros_like(x)"),
    ("A.triu() @ x", "x", "A=lower", "g * A.diag()"),
    ("det(A) * x", "x", "A=lower", "g * A.diag().prod()"),
    ("inv(A).tril() @ x", "x", "A=lower", "g @ inv(A)"),
    ("trace(inv(A)) * x", "x", "A=lower", "g * (1 / A.diag()).sum()"),
    ("inv(A).diag() * x", "x", "A=lower", "g / A.diag()"),
    ("(A @ A).diag() * x", "x", "A=lower", "g * A.diag() ** 2"),
    ("(A + eye(1)).tril() @ x", "x", "A=lower", "g @ (A + eye(1).expand_as(A).tril())"),
    ("A.triu() @ x", "x", "A=upper", "A.T @ g"),
    ("A.tril(-1) @ x", "x", "A=upper", "zeros_like(x)"),
    ("A.T.tril() @ x", "x", "A=upper", "A @ g"),
    ("det(A) * x", "x", "A=upper", "g * A.diag().prod()"),
    ("inv(A).diag() * x", "x", "A=upper", "g / A.diag()"),
    ("(A * B).sum() * y", "y", "A=upper,B=lower", "g * (A.diag() @ B.diag())"),
    ("(A @ A).trace() * y", "y", "A=upper", "g * (A.diag() @ A.diag())"),
    ("sign(x * z) * y", "y", "x=positive", "g * sign(z)"),
    ("(x**2)**1.5", "x", "x=positive", "3 * g * x ** 2"),
    ("x.norm(1) * y", "y", "x=nonneg", "g * x.sum()"),
    ("(x**2)**1.5 * y", "y", "x=nonneg", "g * x ** 3"),
    ("abs(x * z) * y", "y", "x=nonneg", "g * x * abs(z)"),
    ("relu(x * z) * y", "y", "x=nonneg", "g * x * relu(z)"),
    ("leaky_relu(x) * y", "y", "x=nonneg", "g * x"),
    ("logdet(A @ A) * x", "x", "A=lower", "g * log(abs(A.diag() ** 2)).sum()"),
    ("trace(matrix_exp(A)) * x", "x", "A=lower", "g * exp(A.diag()).sum()"),
    ("(A * B).tril() @ x", "x", "A=lower", "g @ (A * B)"),
    ("matrix_exp(A).diag() * x", "x", "A=upper", "g * exp(A.diag())"),
    ("trace(inv(A)) * x", "x", "A=upper", "g * (1 / A.diag()).sum()"),
    ("(A * B).triu() @ x", "x", "A=upper", "g @ (A * B)"),
    ("(A + A.T) @ x", "x", "A=skew", "zeros_like(x)"),
    ("A.T @ x - A @ x", "x", "A=skew", "2 * A @ g"),
    ("x @ A @ x", "x", "A=symmetric", "2 * A @ x"),
    ("A @ x + A.T @ x", "x", "A=symmetric", "2 * A @ g"),
    ("(A - A.T) @ x", "x", "A=symmetric", "zeros_like(x)"),
    ("trace(A @ B)", "B", "A=symmetric", "A"),
    ("(A * B).sum() + (A.T * B).sum()", "B", "A=symmetric", "2 * A"),
    ("x @ inv(A) @ x", "x", "A=posdef", "2 * inv(A) @ x"),
    ("pinv(A) @ x", "x", "A=posdef", "inv(A) @ g"),
    ("(det(A) != 0) * x", "x", "A=posdef", "g"),
    ("A @ pinv(A) @ x", "x", "A=posdef", "g"),
    ("A.T @ x + A @ x", "x", "A=posdef", "2 * A @ g"),
    ("inv(A) @ x", "x", "A=orthogonal", "A @ g"),
    ("((A @ x) ** 2).sum()", "x", "A=orthogonal", "2 * x"),
    ("A.T @ A @ x", "x", "A=orthogonal", "g"),
    ("pinv(A) @ x", "x", "A=orthogonal", "A @ g"),
    ("trace(A.T @ A) * x", "x", "A=orthogonal", "A.shape[0] * g"),
    ("x @ A @ x", "x", "A=diagonal", "2 * A @ x"),
    ("A.tril() @ x", "x", "A=diagonal", "A @ g"),
    ("det(A) * x", "x", "A=diagonal", "g * A.diag().prod()"),
    ("inv(A).diag() * x", "x", "A=diagonal", "g / A.diag()"),
    ("A.triu(1) @ x", "x", "A=diagonal", "zeros_like(x)"),
    ("y / x.norm()", "y", "x=unit", "g"),
    ("log(x.norm()) * y", "y", "x=unit", "zeros_like(y)"),
    ("x @ outer(x, y)", "y", "x=unit", "g"),
    ("y - 2 * (x @ y) * x / (x @ x)", "y", "x=unit", "g - 2 * (g @ x) * x"),
    ("relu(x) * y", "y", "x=simplex", "g * x"),
    ("x.norm(1) * y", "y", "x=simplex", "g"),
]


def test_every_word_shortens_at_least_five_formulas():
    words = []
    for program, wrt, assume, expected in ASSUMED:
        if gradcli.formula(program, shapes=shapes_of_assumed(program), wrt=[wrt]) != expected:
            words += {*re.findall(r"=(\w+)", assume)}
    assert all(words.count(word) >= 5 for word in ASSUMPTIONS)


def shapes_of_assumed(program):
    """Shapes by name of the input: capitals are matrices."""
    return {n: (4, 4) if n in "AB" else (4,) for n in "ABxyz" if re.search(rf"\b{n}\b", program)}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("lower-triangular", "lower"), ("Skew-Symmetric", "skew"), ("one_hot", "onehot"),
        ("row-stochastic", "simplex"), ("positive-definite", "posdef"), ("unit-norm", "unit"),
    ],
)  # fmt: skip
def test_words_of_mathematics_are_understood(text, word):
    assert read_assumptions(f"A={text}") == {"A": (word,)}


@pytest.mark.parametrize(("program", "wrt", "assume", "expected"), ASSUMED)
def test_what_is_assumed_shortens_formulas(program, wrt, assume, expected):
    words = read_assumptions(assume)
    draw = generator(program + assume)
    shapes = shapes_of_assumed(program)
    assert gradcli.formula(program, shapes=shapes, wrt=[wrt], assume=assume) == expected
    values = {n: with_properties(words.get(n, ()), draw.normal(size=s)) for n, s in shapes.items()}
    given = {n: torch.tensor(v, requires_grad=True) for n, v in values.items()}
    out = run_torch(program, given)
    seed = torch.tensor(draw.normal(size=tuple(out.shape)) if out.ndim else 1.0)
    (grad,) = torch.autograd.grad(out, given[wrt], seed)
    shown = run_formula(expected, given | {"g": seed})
    assert_equal(shown.detach().numpy(), grad, rtol=1e-9, atol=1e-12)
