"""Second derivatives and Jacobian-vector products against those of PyTorch and JAX."""

import itertools
import json
import math
import re

import numpy as np
import pytest
from console import gradcli as run
from second_derivatives import FORMS
from support import assert_equal, examples, fixed, generator, run_formula, run_torch, torch_answer

import gradcli
from gradcli.autodiff.reverse import double_backward_errors
from gradcli.errors import GradcliError
from gradcli.language.arguments.option_texts import read_shapes
from gradcli.language.posing import pose

pytest.importorskip("torch")
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("double_precision"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

# A vector of inputs that are differentiated by; the first is moved.
PROGRAMS = [
    ("x @ A @ x", {"x": (3,), "A": (3, 3)}),
    ("((A @ x - b)**2).sum()", {"x": (3,), "A": (4, 3), "b": (4,)}),
    ("logsumexp(x, 0)", {"x": (4,)}),
    ("h = tanh(X @ W + b); (h * h).mean()", {"W": (3, 2), "X": (4, 3), "b": (2,)}),
    ("((U @ V.T - M)**2).sum()", {"U": (3, 2), "V": (4, 2), "M": (3, 4)}),
    ("linalg.norm(x) * x.prod()", {"x": (3,)}),
    ("softmax(X @ w, dim=0) @ y", {"w": (3,), "X": (4, 3), "y": (4,)}),
    ("(exp(x)[:, None] * sin(y)[None, :]).sum()", {"x": (2,), "y": (3,)}),
    ("linalg.det(X) + trace(linalg.inv(X))", {"X": (3, 3)}),
    ("layer_norm(x, (4,)).pow(3).sum()", {"x": (2, 4)}),
    ("(x[..., 1:] * x[..., :-1]).cumsum(-1).sum()", {"x": (2, 3)}),
    ("x ** 3", {"x": ()}),
    ("relu(X @ w).sum() + x.abs().sum()", {"w": (3,), "X": (4, 3), "x": (2,)}),
]


@pytest.mark.parametrize("more", [0, 2])
@pytest.mark.parametrize(("text", "shapes", "by", "_"), FORMS)
def test_closed_forms_have_the_numbers_of_torch(text, shapes, by, _, more):
    """The formula, executed by PyTorch, at the sizes of the corpus and at larger ones."""
    import torch

    larger = re.sub(r"\d+", lambda n: str(int(n[0]) + more), shapes)
    values, wrt = drawn(text, read_shapes([larger])), by.split(",")
    tensors = {n: torch.tensor(v) for n, v in values.items()}
    (answer,) = gradcli.batch([{"expr": text, "values": values, "wrt": wrt, "want": "hessian"}])
    formula = answer["hessian"][by]["formula"]
    found = run_formula(formula, tensors | {"out": run_torch(text, tensors)})
    given = [tensors[n] for n in wrt]
    blocks = torch.func.hessian(
        lambda *given: run_torch(text, tensors | dict(zip(wrt, given, strict=True))),
        argnums=(*range(len(wrt)),),
    )(*given)
    shape = given[0].numel(), given[-1].numel()
    theirs = blocks[0][-1].reshape(shape).numpy()
    assert_equal(found.numpy(), theirs, rtol=1e-9, atol=1e-11)


def drawn(text, shapes):
    draw = generator(text)
    return {name: draw.uniform(0.5, 1.5, shape) for name, shape in shapes.items()}


def torch_function(text, values):
    """The program as a function of its inputs, and these."""
    import torch

    names = list(values)
    tensors = tuple(torch.tensor(values[name]) for name in names)
    return lambda *given: run_torch(text, dict(zip(names, given))), tensors


def by_name(found, names):
    """One answer, or a dict by name, as gradcli gives them."""
    return {names[0]: found} if len(names) == 1 else found


@pytest.mark.parametrize(("text", "shapes"), PROGRAMS)
def test_hessian_is_that_of_torch(text, shapes):
    import torch

    values = drawn(text, shapes)
    names = list(values)
    function, tensors = torch_function(text, values)
    theirs = torch.func.hessian(function, argnums=tuple(range(len(names))))(*tensors)
    ours = gradcli.hessian(text, values=values)
    if len(names) == 1:
        ours = {names[0]: {names[0]: ours}}
    for i, x in enumerate(names):
        for k, z in enumerate(names):
            assert_equal(ours[x][z], theirs[i][k].numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("text", "shapes"), PROGRAMS)
def test_hessian_times_tangents_is_that_of_torch(text, shapes):
    import torch

    values = drawn(text, shapes)
    names, draw = list(values), generator(text, "tangents")
    moved = names[0]
    tangents = {moved: draw.normal(size=shapes[moved])}
    function, tensors = torch_function(text, values)
    directions = [torch.tensor(tangents.get(n, np.zeros(shapes[n]))) for n in names]
    gradient = torch.func.grad(function, argnums=tuple(range(len(names))))
    theirs = torch.func.jvp(gradient, tensors, tuple(directions))[1]
    ours = by_name(gradcli.hessian(text, values=values, tangents=tangents), names)
    for name, expected in zip(names, theirs):
        assert_equal(ours[name], expected.numpy(), rtol=1e-9, atol=1e-11)


JAX_PROGRAMS = [
    ("x @ A @ x", lambda jnp: lambda x, A: x @ A @ x, {"x": (3,), "A": (3, 3)}),
    (
        "log(1 + exp(X @ w)).sum()",
        lambda jnp: lambda X, w: jnp.log(1 + jnp.exp(X @ w)).sum(),
        {"X": (3, 2), "w": (2,)},
    ),
    ("tanh(x).prod()", lambda jnp: lambda x: jnp.tanh(x).prod(), {"x": (3,)}),
]


@pytest.mark.parametrize(("text", "function", "shapes"), JAX_PROGRAMS)
def test_hessian_is_that_of_jax(text, function, shapes):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    values = drawn(text, shapes)
    names = list(values)
    numbers = tuple(range(len(names)))
    theirs = jax.hessian(function(jax.numpy), argnums=numbers)(*values.values())
    ours = gradcli.hessian(text, values=values)
    if len(names) == 1:
        ours = {names[0]: {names[0]: ours}}
    for i, x in enumerate(names):
        for k, z in enumerate(names):
            assert_equal(ours[x][z], np.asarray(theirs[i][k]), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("lower", [True, False])
def test_hessian_of_the_factor_of_one_triangle_is_that_of_jax(lower):
    jax = pytest.importorskip("jax")
    linalg = pytest.importorskip("jax.scipy.linalg")
    jax.config.update("jax_enable_x64", True)
    x = np.array([[2.0, 0.3], [0.5, 1.4]])
    weights = np.array([[1.0, 2.0], [3.0, 4.0]])
    theirs = jax.hessian(lambda x: (linalg.cholesky(x, lower=lower) * weights).sum())(x)
    text = f"(jax.scipy.linalg.cholesky(x, lower={lower}) * weights).sum()"
    ours = gradcli.hessian(text, values={"x": x, "weights": weights}, wrt="x")
    assert_equal(ours, np.asarray(theirs), rtol=1e-9, atol=1e-11)


LOW_RANK = {  # a matrix, or a batch, for each rank below that of a matrix with an inverse
    "rank 1 of 2": [[1.0, 2.0], [2.0, 4.0]],
    "rank 0 of 2": [[0.0, 0.0], [0.0, 0.0]],
    "rank 2 of 3": [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 1.0, 1.0]],
    "rank 2 of 3, negative": [[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    "rank 2 of 3, equal values": [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]],
    "rank 1 of 3": [[2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    "rank 0 of 1": [[0.0]],
    "small": [[1e-8, 0.0], [0.0, 2e-8]],
    "nearly": [[1.0, 2.0], [2.0, 4.0 + 1e-15]],
    "one of two": [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]],
}
OF_DETERMINANTS = [
    "det(X).sum()",
    "(det(X)**2).sum()",
    "exp(det(X)).sum()",
    "det(X).sum() * X.sum()",
    "det(X @ X.mT).sum()",
]


@pytest.mark.parametrize("text", OF_DETERMINANTS)
@pytest.mark.parametrize("matrix", LOW_RANK.values(), ids=LOW_RANK)
def test_second_derivatives_of_determinants_near_0_are_those_of_torch(text, matrix):
    """With create_graph=True PyTorch has another gradient there; where it has nan there is nan."""
    import torch

    X = torch.tensor(matrix)
    theirs = torch.autograd.functional.hessian(lambda X: run_torch(text, {"X": X}), X).numpy()
    ours = gradcli.hessian(text, values={"X": matrix})
    assert_equal(ours, theirs, rtol=1e-9, atol=1e-9)
    if X.numel() == 1 and text == "det(X).sum()":  # a line: torch.autograd.grad refuses
        return
    seed = generator(text, "seed").normal(size=X.shape)
    found = gradcli.grad(text, values={"X": matrix}, order=2, grads=[seed])
    assert_equal(found, np.tensordot(seed, theirs, axes=seed.ndim), rtol=1e-9, atol=1e-9)


OF_MATRICES = [  # with what is read on one side of the diagonal alone, and what has no inverse
    ("cholesky_solve(B, A).sum()", [[2.0, 0.7], [0.5, 1.5]]),
    ("cholesky_solve(B, A, upper=True).sum()", [[2.0, 0.7], [0.5, 1.5]]),
    ("cholesky_inverse(A).sum() * B.sum()", [[2.0, 0.7], [0.5, 1.5]]),
    ("linalg.solve_triangular(A, B, upper=True).sum()", [[2.0, 0.7], [0.5, 1.5]]),
    ("linalg.solve_triangular(A, B, upper=True).sum()", [[2.0, 0.7], [0.5, 0.0]]),
    ("linalg.vander(A).sum() * B.sum()", [[0.0, 1.0], [2.0, 0.0]]),
    ("(linalg.vander(A, N=4) ** 2).sum() * B.sum()", [[0.0, 1.0], [2.0, 0.0]]),
    ("linalg.vander(A, N=3).sum() * B.sum()", [[2.0, np.inf], [0.0, np.nan]]),
    ("linalg.vander(A, N=4).sum() * B.sum()", [[1e200, np.inf], [0.0, -1e17]]),
]


@pytest.mark.parametrize(("text", "matrix"), OF_MATRICES)
def test_second_derivatives_of_odd_matrices_are_those_of_torch(text, matrix):
    assert_hessian_of_torch(text, {"A": np.array(matrix), "B": np.array([[1.0, 2.0], [3.0, 4.0]])})


def assert_hessian_of_torch(text, values):
    """By A and B."""
    import torch

    function = lambda A, B: run_torch(text, {"A": A, "B": B})  # noqa: E731
    theirs = torch.autograd.functional.hessian(function, tuple(map(torch.tensor, values.values())))
    ours = gradcli.hessian(text, values=values)
    for of, row in zip("AB", theirs, strict=True):
        for by, block in zip("AB", row, strict=True):
            assert_equal(ours[of][by], block.numpy(), rtol=1e-9, atol=1e-12)


NAN_AT_ORDER_2 = [  # where the backward pass divides by 0 or by infinity
    ("(logcumsumexp(A, 0) * B).sum()", [[0.3, 2.0], [1.0, -1.0]], [[0.0, 1.0], [-2.0, 0.0]]),
    ("logcumsumexp(A, 1)[:, 0].sum() * B.sum()", [[0.3, 2.0], [1.0, -1.0]], [[1.0, 1.0]]),
    ("A.prod() * B.sum()", [[np.inf, 2.0], [3.0, 4.0]], [[1.0, 1.0]]),
    ("A.prod() * B.sum()", [[np.nan, 2.0], [3.0, 4.0]], [[1.0, 1.0]]),
    ("A.prod() * B.sum()", [[1e200, 1e200], [3.0, 4.0]], [[1.0, 1.0]]),
    ("A.prod(1).sum() * B.sum()", [[-np.inf, 2.0], [3.0, 4.0]], [[1.0, 1.0]]),
    ("A.prod(1).sum() * B.sum()", [[0.0, 2.0], [3.0, 4.0]], [[1.0, 1.0]]),
    ("A.prod() * B.sum()", [[0.0, np.inf], [2.0, np.nan]], [[1.0, 1.0]]),
    ("A.prod(0).sum() * B.sum()", [[0.0, np.nan], [np.inf, 0.0]], [[1.0, 1.0]]),
    ("A.prod() * B.sum()", [[1e-200, 1e-200], [3.0, 1.0]], [[1.0, 1.0]]),
    ("A.cumprod(0).sum() * B.sum()", [[1e-200, 1e-200], [1e-200, 2.0]], [[1.0, 1.0]]),
    *(
        (f"A.cumprod({dim}).sum() + (B * B).sum()", rows, [[1.0, 1.0]])
        for dim in (0, 1)
        for rows in (
            [[np.inf, 2.0, 3.0], [1.0, 2.0, 3.0]],
            [[1.0, 2.0, -np.inf], [1.0, 2.0, 3.0]],
            [[1e200, 1e200, 3.0], [np.nan, 2.0, 3.0]],
            [[0.0, 2.0, 3.0], [1.0, 0.0, 3.0]],
            [[2.0, 0.0, np.inf], [1.0, 2.0, 3.0]],
            [[2.0, np.inf, 0.0], [np.nan, 0.0, 3.0]],
            [[0.0, -np.inf, 3.0], [1e200, 1e200, 0.0]],
        )
    ),
]


AT_ORDER_2 = [  # at the bounds, inside, outside and at nan
    (f"{name}(A, B, reduction='{how}')", [1.0, -1.0, 0.5, 2.0, np.nan], [0.0] * 5)
    for name in ("huber_loss", "smooth_l1_loss")
    for how in ("mean", "sum")
]


ROUNDED = [  # where the terms of the backward pass are large, and cancel
    ("(logcumsumexp(A, 0) * B).sum()", [3e16, -1e17, 2e17], [1.0, -1.0, 1.0]),
    ("(logcumsumexp(A, 0) * B).sum()", [1e200, 1e200, 2.0], [1.0, 1.0, -1.0]),
    ("(logcumsumexp(A, 0) * B).sum()", [3e3, -1e4, 2e4], [1.0, 1.0, 1.0]),
]


@pytest.mark.parametrize(("text", "A", "B"), NAN_AT_ORDER_2 + AT_ORDER_2 + ROUNDED)
def test_second_derivatives_beside_nan_are_those_of_torch(text, A, B):
    assert_hessian_of_torch(text, {"A": np.array(A), "B": np.array(B)})


@pytest.mark.parametrize("text", ["(det(X)**2).sum()", "exp(det(X)).sum()", "det(X).sum()"])
@pytest.mark.parametrize("order", [2, 3])
def test_determinants_of_one_element_are_that_element(text, order):
    values = {"X": [[0.0]]}
    same = text.replace("det(X)", "X.sum()")
    ask = [lambda t=t: gradcli.grad(t, values=values, order=order) for t in (text, same)]
    if text == "det(X).sum()":
        for found in ask:
            with pytest.raises(GradcliError, match="no gradient flows"):
                found()
    else:
        assert ask[0]() == ask[1]()


@pytest.mark.parametrize("text", ["logdet(X)", "slogdet(X).logabsdet"])
def test_second_derivatives_of_logarithms_of_singular_matrices_are_refused_as_by_torch(text):
    import torch

    matrix = [[1.0, 1.0], [1.0, 1.0]]
    with pytest.raises(torch.linalg.LinAlgError, match="singular"):
        torch.autograd.functional.hessian(lambda X: run_torch(text, {"X": X}), torch.tensor(matrix))
    with pytest.raises(GradcliError) as caught:
        gradcli.hessian(text, values={"X": matrix})
    assert caught.value.code == "singular"


@pytest.mark.parametrize("text", OF_DETERMINANTS)
@pytest.mark.parametrize("rank", [name for name in LOW_RANK if name != "rank 0 of 1"])
def test_jvps_of_determinants_near_0_are_those_of_torch(text, rank):
    """Forward mode has the plain gradient; PyTorch forgets it for a matrix of one element."""
    import torch

    X = torch.tensor(LOW_RANK[rank])
    along = generator(text, rank).normal(size=X.shape)
    function = lambda X: run_torch(text, {"X": X})  # noqa: E731
    theirs = torch.func.jvp(function, (X,), (torch.tensor(along),))[1]
    ours = gradcli.jvp(text, values={"X": LOW_RANK[rank]}, tangents={"X": along})
    assert_equal(ours, theirs.numpy(), rtol=1e-9, atol=1e-9)


ORDERS = [
    *("x**5", "sin(x) * exp(x)", "tanh(x)", "x.sigmoid()"),
    *("1 / x", "log(x)", "sqrt(x)", "erf(x)"),
]


@pytest.mark.parametrize("text", ORDERS)
@pytest.mark.parametrize("order", [2, 3, 4])
def test_orders_are_those_of_torch(text, order):
    import torch

    x = torch.tensor(0.7, requires_grad=True)
    found = run_torch(text, {"x": x})
    for _ in range(order):
        (found,) = torch.autograd.grad(found, x, create_graph=True)
    ours = gradcli.grad(text, values={"x": 0.7}, order=order)
    assert_equal(ours, found.detach().numpy(), rtol=1e-10)


SEEDS = ["ones_like(out)", "x * x", "2 * out", "x.detach()"]


@pytest.mark.parametrize("first", SEEDS)
@pytest.mark.parametrize("second", SEEDS)
def test_seeds_of_each_order_are_those_of_torch(first, second):
    import torch

    text, value = "sin(x) * x", np.array([0.3, 0.8, 1.1])
    x = torch.tensor(value, requires_grad=True)
    found = run_torch(text, {"x": x})
    for seed in (first, second):
        weights = run_torch(seed, {"x": x, "out": found})
        (found,) = torch.autograd.grad(found, x, weights, create_graph=True)
    ours = gradcli.grad(text, values={"x": value}, grad=first, order=2, grads=[second])
    assert_equal(ours, found.detach().numpy(), rtol=1e-12)


# ---- every operator ------------------------------------------------------------------------------


@pytest.mark.parametrize("example", [e for e in examples() if e.op.torch], ids=str)
def test_jvp_is_what_the_vjps_of_torch_say(example):
    """⟨g, J·t⟩ = ⟨g·J, t⟩, the right side from PyTorch, whose reverse mode covers more than its
    forward mode.
    """
    held, draw = fixed(example.problem), generator(example.text, "tangents")
    moving = [x for x in example.problem.wrt if x.name not in held]
    tangents = {x.name: draw.normal(size=x.shape) for x in moving}
    ours = gradcli.jvp(example.text, values=example.values, tangents=tangents)
    for _ in range(3):
        seed = draw.normal(size=ours.shape)
        theirs = torch_answer(example.text, example.values, seed, held).grads
        along = sum(np.sum(theirs[n] * t) for n, t in tangents.items() if theirs[n] is not None)
        assert_equal(np.sum(seed * ours), along, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("example", [e for e in examples() if e.op.torch], ids=str)
def test_the_table_says_what_torch_differentiates_once(example):
    import torch

    problem, held = example.problem, fixed(example.problem)
    tensors = {name: torch.tensor(value) for name, value in example.values.items()}
    for moved in problem.wrt:
        if moved.name in held:
            continue
        x = tensors[moved.name].clone().requires_grad_()
        out = run_torch(example.text, tensors | {moved.name: x})
        said = "" if out.requires_grad else None
        try:
            (first,) = torch.autograd.grad(out.sum(), x, create_graph=True, allow_unused=True)
            if first is not None and first.requires_grad:
                torch.autograd.grad(first.sum(), x, allow_unused=True)
        except RuntimeError as error:
            said = str(error)
        told = list(double_backward_errors(problem.out, moved.node).values())
        assert bool(told) == bool(said and re.search("_backward'? is not implemented", said))
        assert all(words in said for words in told)


HEADS = "F.scaled_dot_product_attention(x, x, x"
MANY_HEADS = (
    "F.multi_head_attention_forward(x, x, x, 2, 1, torch.eye(2).repeat(3, 1), None, None, "
    "None, False, 0.0, torch.eye(2), None, need_weights={})[0]"
)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        (HEADS + ")", (1, 1, 2, 2)),
        (HEADS + ", is_causal=True)", (1, 2, 2, 2)),
        (HEADS + ", attn_mask=torch.zeros(1, 2))", (1, 1, 2, 2)),
        (HEADS + ", attn_mask=torch.zeros(1, 2, 2))", (1, 1, 2, 2)),
        (HEADS + ", attn_mask=x[0, 0] * 2)", (1, 1, 2, 2)),
        (HEADS + ", attn_mask=x[0, 0] > 0)", (1, 1, 2, 2)),
        (MANY_HEADS.format(True), (2, 1, 2)),
        (MANY_HEADS.format(False), (2, 1, 2)),
        ("F.scaled_dot_product_attention(x, x[:, :1], x[:, :1])", (1, 2, 2, 2)),
        ("F.scaled_dot_product_attention(x, x[:, :1], x[:, :1], enable_gqa=True)", (1, 2, 2, 2)),
        ("F.scaled_dot_product_attention(x, x, x.repeat(1, 1, 1, 2))", (1, 1, 2, 2)),
        ("F.scaled_dot_product_attention(x, x[:1], x[:1])", (2, 1, 2, 2)),
        ("F.scaled_dot_product_attention(x[:, :1], x[:, :1], x)", (1, 2, 2, 2)),
        *(
            (f"segment_reduce(x ** 2, '{reduce}', lengths=tensor([2, 1]))", (3,))
            for reduce in ("sum", "mean", "prod", "max", "min")
        ),
    ],
)
def test_the_table_says_which_calls_torch_differentiates_once(text, shape):
    import torch

    x = torch.linspace(-1, 2, math.prod(shape)).reshape(shape).requires_grad_()
    (first,) = torch.autograd.grad(run_torch(text, {"x": x}).sum(), x, create_graph=True)
    try:
        said = torch.autograd.grad(first.sum(), x) and []
    except RuntimeError as error:
        said = [str(error)]
    problem = pose(text, shapes={"x": shape})
    assert [*double_backward_errors(problem.out, problem.wrt[0].node).values()] == said


@pytest.mark.parametrize("turned", [False, True])
def test_one_of_two_calls_that_torch_differentiates_once_is_told(turned):
    import torch

    calls = ["cdist(x, x.detach() + 1).sum()", "cdist(x.repeat(10, 1), x.detach()).sum()"]
    text = " + ".join(calls[::-1] if turned else calls)
    x = torch.arange(8.0).reshape(4, 2).requires_grad_()
    (first,) = torch.autograd.grad(run_torch(text, {"x": x}), x, create_graph=True)
    with pytest.raises(RuntimeError, match="_cdist_backward"):
        first.sum().backward()
    problem = pose(text, shapes={"x": (4, 2)})
    assert "cdist" in double_backward_errors(problem.out, problem.wrt[0].node)


def test_a_refusal_says_what_torch_differentiates_once():
    import torch

    x = torch.tensor([1.0, 2.5], requires_grad=True)
    out = run_torch("hardsigmoid(x).sum()", {"x": x})
    (first,) = torch.autograd.grad(out, x, create_graph=True)
    with pytest.raises(RuntimeError, match="not implemented") as theirs:
        torch.autograd.grad(first.sum(), x)
    with pytest.raises(GradcliError) as ours:
        gradcli.grad("hardsigmoid(x).sum()", values={"x": x.tolist()}, order=2, grads=["x"])
    who, said = ours.value.hint.splitlines()[-1].split(": ")
    assert who == "PyTorch"
    assert said in str(theirs.value)


@pytest.mark.parametrize("rows", [4, 30])
def test_a_note_says_what_torch_differentiates_once(rows):
    """Distances of more than 25 rows it has from products, which it differentiates again."""
    text, shapes = "cdist(x, x.detach() + 1).sum()", {"x": (rows, 2)}
    found = str(gradcli.explain(text, shapes=shapes, order=2, grads=["ones_like(out)"]))
    assert ("it raises an error" in " ".join(found.split())) == (rows <= 25)


MASKED = [
    *("sinc(x)", "linalg.vander(x)", "logit(x, eps=0.2)", "relu(x) / (x + 2)", "x.sort().values"),
    *("where(x > 0, x.log(), 0)", "std_mean(x * 0, dim=0, correction=0)[0]", "norm(x * 0)"),
    *("x ** tensor([0, 1, 2])", "xlogy(x, x)", "prelu(x, x[:1])", "x.abs().sqrt() * x[:, None]"),
]


@pytest.mark.parametrize("text", MASKED)
def test_jvps_where_a_rule_masks_infinite_slopes_are_those_of_torch(text):
    import torch

    x, along = torch.tensor([0.0, 1.0, 0.25]), torch.tensor([1.0, -2.0, 3.0])
    theirs = torch.func.jvp(lambda x: run_torch(text, {"x": x}), (x,), (along,))[1]
    ours = gradcli.jvp(text, values={"x": x.numpy()}, tangents={"x": along.numpy()})
    assert_equal(ours, theirs.numpy())


FORWARD = [
    *("relu(x)", "abs(x)", "clamp(x, 0, 1)"),
    *("x.prod()", "x.cumprod(0)", "norm(x - x[:1])", "norm(x, p=1)", "norm(x, p=inf)"),
    *("x.max()", "x.max(0)[0]", "x.amax(0)", "x.amin()", "x.cummax(0)[0]", "fmin(x, x.flip(0))"),
    *("maximum(x, x.flip(0))", "minimum(x, 0 * x)", "x.median()", "x.median(0)[0]"),
    *("x.sort()[0]", "x.topk(2)[0]", "x.kthvalue(2)[0]", "x.quantile(0.5)", "sqrt(x - x[:1])"),
]


@pytest.mark.parametrize("text", FORWARD)
@pytest.mark.parametrize("x", [[0.0, 1.0, 0.0], [-1.0, 0.0, -1.0]], ids=str)
def test_jvps_at_kinks_are_those_of_torch_forward_mode(text, x):
    assert_equal(*_in_forward_mode(text, {"x": x}))


REVERSE = [  # where PyTorch's forward mode has another derivative than its reverse mode
    ("fmax(x, y)", {"x": [0.0], "y": [0.0]}, [1.0], [2.0]),
    ("atan2(x, y)", {"x": [0.0], "y": [0.0]}, [0.0], [np.nan]),
    ("gaussian_nll_loss(x, torch.ones(1), y)", {"x": [0.0], "y": [0.0]}, -1e12, -1e6),
    ("cosine_similarity(x, y, dim=0)", {"x": [1e-9], "y": [1.0]}, 9e7, 1e8),
]


@pytest.mark.parametrize(("text", "values", "ours", "theirs"), REVERSE)
def test_jvps_where_forward_mode_of_torch_differs(text, values, ours, theirs):
    """As docs/kinks.md says; the tangents are 1 and 2."""
    found, in_torch = _in_forward_mode(text, values)
    assert_equal(found, ours, rtol=1e-5, atol=1e-5)
    assert_equal(in_torch, theirs, rtol=1e-5, atol=1e-5)


def _in_forward_mode(text, values):
    """The Jacobian-vector product of gradcli and of torch.func.jvp, along 1, 2, 3, ..."""
    import torch

    sizes = itertools.accumulate(map(len, values.values()))
    along = {n: np.arange(end - len(v), end) + 1.0 for (n, v), end in zip(values.items(), sizes)}
    function = lambda *xs: run_torch(text, dict(zip(values, xs)))  # noqa: E731
    given = tuple(torch.tensor(v) for v in values.values())
    theirs = torch.func.jvp(function, given, tuple(torch.tensor(t) for t in along.values()))[1]
    return gradcli.jvp(text, values=values, tangents=along), theirs.numpy()


@pytest.mark.parametrize("rows", [("x", "x"), ("x", "y"), ("y", "x"), ("y", "y")], ids="".join)
def test_hessian_of_cross_entropy_at_0_and_1_is_that_of_torch(rows):
    import torch

    text = "binary_cross_entropy(x, y, tensor(-0.375))"
    values = {"x": np.array([0.0, 0, 1, 1, 0.3]), "y": np.array([0.0, 1, 0, 1, 0.6])}
    function = lambda x, y: run_torch(text, {"x": x, "y": y})  # noqa: E731
    theirs = torch.autograd.functional.hessian(function, tuple(map(torch.tensor, values.values())))
    of, by = rows
    ours = gradcli.hessian(text, values=values, wrt=["x", "y"])[of][by]
    assert_equal(ours, theirs["xy".index(of)]["xy".index(by)].numpy())


def test_hessian_of_prelu_at_0_is_that_of_torch():
    import torch

    values = {"x": np.array([0.0, 1.0, -1.0]), "w": np.array([0.5])}
    function = lambda x, w: torch.nn.functional.prelu(x, w).sum()  # noqa: E731
    theirs = torch.autograd.functional.hessian(function, tuple(map(torch.tensor, values.values())))
    ours = gradcli.hessian("prelu(x, w).sum()", values=values, wrt=["x", "w"])
    for of, row in zip("xw", theirs, strict=True):
        for by, block in zip("xw", row, strict=True):
            assert_equal(ours[of][by], block.numpy())


FLAT = [
    "relu(x)", "relu6(x)", "leaky_relu(x)", "hardtanh(x)", "softshrink(x)", "hardshrink(x)",
    "abs(x)", "norm(x, p=1)",
    "threshold(x, 0.1, 20.0)", "prelu(x, tensor([0.25]))", "rrelu(x)", "max_pool1d(x[None], 2)",
    "max_pool2d(x.reshape(1, 2, 2), 2)", "relu(relu(x))", "stack([relu(x), x])",
    "cumsum(relu(x), 0)", "lerp(relu(x), x, 0.5)", "avg_pool1d(x[None], 2)",
    "adaptive_max_pool1d(x[None], 1)", "nll_loss(x[None], tensor([1]))",
    "nll_loss(x.reshape(1, 2, 2), tensor([[0, 1]]))", "pad(x[None], (1, 2), mode='reflect')",
    "pad(x[None], (1, -1), mode='replicate')", "adaptive_avg_pool1d(x[None], 3)",
    "adaptive_avg_pool2d(x.reshape(1, 2, 2), (2, 1))", "remainder(2 * x.detach(), x)",
    "adaptive_avg_pool3d(x.reshape(1, 1, 2, 2), 2)", "fmod(2 * x.detach(), x)",
    "interpolate(x.reshape(1, 1, 4), 3, mode='area')", "relu(x) * x.detach()",
]  # fmt: skip
BENT = ["elu(x)", "elu(x, 0.5)", "celu(x)", "celu(x, 0.5)", "selu(x)"]


@pytest.mark.parametrize("text", FLAT + BENT)
@pytest.mark.parametrize("x", [[0.3, -1.2, 2.0, 0.9], [0.0, -0.0, 0.0, 0.5]], ids=str)
def test_lines_with_corners_are_flat_at_order_2(text, x):
    import torch

    at = torch.tensor(x, requires_grad=True)
    (first,) = torch.autograd.grad(run_torch(text, {"x": at}).sum(), at, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), at)
    found = gradcli.grad(
        f"({text}).sum()", values={"x": x}, grad=1.0, order=2, grads=["ones_like(out)"]
    )
    assert_equal(found, second.numpy(force=True), rtol=1e-7)


CHOSEN = [  # masks that know what the line is, though the rule of the line does not
    "max(relu6(x)) * x.detach()", "minimum(x, relu6(x))", "maximum(prelu(x, x[0].detach()), x)",
    "relu6(x).clamp(0, 1)",
]  # fmt: skip
CURVED = ["x * x", "x ** 2", "square(x)", "square(x) * x", "linalg.vander(x, N=2)"]
STILL = [  # a 0 that stays 0, which torch multiplies by what it goes back to
    "abs(abs(x))", "abs(x * x)", "abs(abs(x) * x)", "norm(x * x, p=inf)", "dist(x * x, x[0], 1)",
    "l1_loss(x * x, x.detach())", "abs(x * x) + x",
]  # fmt: skip
BEHIND = [re.sub(r"\bx\b", "(x * x)", f, count=1) for f in FLAT if f.startswith(("pad", "ad"))]


@pytest.mark.parametrize(
    "text",
    [*FLAT, *CHOSEN, *BEHIND, *CURVED, *STILL, "relu(leaky_relu(x))", "leaky_relu(relu(x))",
     "relu(x**0)", "linalg.lu(x[None]).P * x", "lp_pool1d(x[None], inf, 2)",
     "pad(x[None], (1, 1), mode='circular')", "adaptive_avg_pool1d(x[None], 1)"],
)  # fmt: skip
@pytest.mark.parametrize("order", [2, 3, 4, 5])
def test_lines_with_corners_at_higher_orders(text, order):
    """Their second derivative is a 0 from which torch goes back where it knows their output."""
    import torch

    x = torch.tensor([0.3, -1.2, 2.0, 0.9], requires_grad=True)
    found = run_torch(text, {"x": x}).sum()
    seeds = ["ones_like(out)"] * (order - 1)
    ask = {"values": {"x": x.tolist()}, "grad": 1.0, "order": order, "grads": seeds}
    try:
        for _ in range(order):
            (found,) = torch.autograd.grad(found.sum(), x, create_graph=True)
    except RuntimeError:
        with pytest.raises(GradcliError, match="no gradient flows"):
            gradcli.grad(f"({text}).sum()", **ask)
    else:
        assert_equal(gradcli.grad(f"({text}).sum()", **ask), found.numpy(force=True))


SENT_ON = [  # zeros of a derivative, which are nan times infinity in all but abs and norms
    *("relu({})", "relu6({})", "leaky_relu({})", "rrelu({})", "hardtanh({}, -0.5, 2.0)", "abs({})"),
    *("softshrink({})", "hardshrink({})", "threshold({}, 0.1, 20.0)", "prelu({}, tensor([0.25]))"),
    *("norm({}, p=1)", "norm({}, p=inf)", "dist({}, tensor([1.0]), p=inf)", "norm({}, p=1, dim=0)"),
    *("remainder(tensor(3.0), {})", "max_pool1d({}[None], 1)", "nll_loss({}, tensor(0))"),
    *("relu(abs({}))", "abs(relu({}))"),
]


@pytest.mark.parametrize("text", SENT_ON)
@pytest.mark.parametrize("inner", ["(x * x)", "exp(x)", "x"])
def test_second_derivatives_of_lines_at_infinity_and_nan_are_those_of_torch(text, inner):
    import torch

    text, function = text.format(inner), lambda x: run_torch(text.format(inner), {"x": x}).sum()
    for value in ([np.inf], [-np.inf], [np.nan], [1.0, np.inf]):
        x, t = torch.tensor(value), torch.ones(len(value))
        theirs = torch.autograd.functional.hessian(function, x)
        assert_equal(gradcli.hessian(f"({text}).sum()", values={"x": value}), theirs.numpy())
        theirs = torch.autograd.functional.vhp(function, x, t)[1]
        ours = gradcli.hessian(f"({text}).sum()", values={"x": value}, tangents={"x": t.numpy()})
        assert_equal(ours, theirs.numpy(force=True))


@pytest.mark.parametrize("text", ["softplus(x)", "softplus(x, 1, 2)", "celu(x)", "celu(x, 0.5)"])
def test_lines_beyond_a_curve_are_flat_at_order_2(text):
    import torch

    at = torch.tensor([-1.0, 2.0, 20.0, 25.0, np.inf, -np.inf], requires_grad=True)
    theirs = torch.autograd.functional.hessian(lambda x: run_torch(text, {"x": x}).sum(), at)
    assert_equal(gradcli.hessian(f"{text}.sum()", values={"x": at.tolist()}), theirs.numpy())


ENDS = [  # curves and where they end
    *((text, 0.0) for text in ("elu(x)", "elu(x, 0.5)", "celu(x)", "celu(x, 2.)", "selu(x)")),
    *(("softplus(x)", 20.0), ("softplus(x, 1, 1)", 1.0), ("prelu(x, x)", 0.0)),
]


@pytest.mark.parametrize(("text", "x"), ENDS)
def test_formulas_where_a_curve_ends_have_the_numbers_of_torch(text, x):
    import torch

    at, one = torch.tensor([x], requires_grad=True), torch.ones(1)
    (first,) = torch.autograd.grad(run_torch(text, {"x": at}), at, one, create_graph=True)
    (second,) = torch.autograd.grad(first, at, one)
    found = gradcli.explain(text, values={"x": [x]}, grad=[1.0], order=2, grads=[[1.0]])
    formula = run_torch(found.grad["x"]["formula"], {"x": at, "g": one, "g_2": one})
    assert found.grad["x"]["value"] == second
    torch.testing.assert_close(formula, second, rtol=0, atol=1e-8)  # softplus ends at 2e-9
    assert "kink" in [note["code"] for note in found.notes]


@pytest.mark.parametrize("seeds", [(1.0, 1.0), (np.inf, 1.0), (1.0, np.inf)], ids=str)
@pytest.mark.parametrize("x", [[1e17, 0.0, 2.0], [1e4, 1e4, 3e3], [1.0, np.inf], [2.0, -1.0]])
def test_second_derivatives_of_logcumsumexp_are_those_of_torch(x, seeds):
    import torch

    at, text = torch.tensor(x, requires_grad=True), "logcumsumexp(x, 0) * x"
    found = run_torch(text, {"x": at})
    for seed in seeds:
        (found,) = torch.autograd.grad(found, at, torch.full_like(at, seed), create_graph=True)
    first, second = ([seed] * len(x) for seed in seeds)
    ours = gradcli.grad(text, values={"x": x}, grad=first, order=2, grads=[second])
    assert_equal(ours, found.numpy(force=True))


PIECEWISE = [
    *("elu(x)", "elu(x, 0.5)", "celu(x, 0.5)", "selu(x)", "softplus(x)", "softplus(x, 2, 3)"),
    *("smooth_l1_loss(x, tensor([0.0]))", "huber_loss(x, tensor([0.0]), delta=0.5)"),
]


@pytest.mark.parametrize("text", [*PIECEWISE, "sigmoid(x)"])
@pytest.mark.parametrize("seeds", [(np.inf, 1.0), (1.0, -np.inf), (0.0, np.inf)], ids=str)
def test_infinite_seeds_at_order_2_are_those_of_torch(text, seeds):
    import torch

    for value in (-1.0, 0.0, 0.3, 1.0, 25.0, np.inf, np.nan):
        x = torch.tensor([value], requires_grad=True)
        found = run_torch(text, {"x": x}).reshape(1)
        for seed in seeds:
            seed = torch.tensor([seed])
            (found,) = torch.autograd.grad(found, x, seed, create_graph=True)
        ask = {"values": {"x": [value]}, "grad": [seeds[0]], "grads": [[seeds[1]]]}
        ours = gradcli.grad(f"({text}).reshape(1)", order=2, **ask)
        assert_equal(ours, found.numpy(force=True))


CURVES = [
    *("mish(x)", "gelu(x)", "silu(x)", "sigmoid(x)", "logsigmoid(x)", "elu(x, 0.5)", "selu(x)"),
    *("celu(x)", "softplus(x)", "tanh(x)", "tanhshrink(x)", "softsign(x)", "erf(x)", "log1p(x)"),
    *("gelu(x, approximate='tanh')", "hypot(x, x)", "asinh(x)", "atan(x)", "sinc(x)", "x ** 2.5"),
]
FAR = [20.0, 40.0, 200.0, 709.0, 710.0, 800.0, 1e8, 1e160, 1e300, np.inf]


@pytest.mark.parametrize("text", CURVES)
@pytest.mark.parametrize("order", [1, 2])
def test_curves_far_from_0_are_those_of_torch(text, order):
    """One by one, for vector registers have other numbers; small ones are equal as large ones."""
    import torch

    for value in (*FAR, *(-v for v in FAR), np.nan):
        x = torch.tensor(value, requires_grad=True)
        found = run_torch(text, {"x": x})
        for k in range(order):
            (found,) = torch.autograd.grad(found, x, create_graph=k + 1 < order)
        ours = gradcli.grad(text, values={"x": value}, order=order)
        assert_equal(ours, found.numpy(force=True), rtol=1e-6, atol=1e-250)


AT_ODD_POINTS = [  # where rounding, underflow or a sign of 0 tells one expression from another
    *((f"{outer}(gelu(x))", x, 2) for outer in ("log", "reciprocal") for x in (-0.0, -1e-300)),
    ("sqrt(gelu(x))", -10.0, 2),
    *((f"{outer}(x * x)", x, 2) for outer in ("abs", "softsign") for x in (np.inf, np.nan)),
    *((f"norm(x * x, p={p})", x, 2) for p in (0.5, 1) for x in (np.inf, np.nan)),
    *((f"gelu(x, approximate={how!r})", x, 3) for how in ("none", "tanh") for x in (39.0, 1e154)),
    ("gelu(x, approximate='tanh')", -10.0, 2),
    *(("glu(x, 0)", [a, b], 2) for a in (1.0, np.inf, -1e17) for b in (-40.0, -1.0, 0.0, np.inf)),
    ("log(reciprocal(x))", 1e200, 2),
    *(
        (f"{number} / x", x, order)
        for number in ("1e-300", "0", "1e300", "2", "tensor(0.0)")
        for x in (1e-170, 1e170)
        for order in (1, 2)
    ),
    *(("soft_margin_loss(x, ones_like(x))", x, 2) for x in (-400.0, -360.0, -800.0, 40.0)),
    ("x.prod()", [], 2),
    *((f"{outer}(1 / x)", x, 2) for outer in ("relu", "sqrt", "sin") for x in (0.0, 1e-300)),
    *(("sinc(x)", x, 2) for x in (1e-10, 1e-8, -1e-6)),
    ("logit(x)", -1e-300, 2),
    ("logit(x, eps=0.1)", 1e-300, 2),
]


@pytest.mark.parametrize(("text", "x", "order"), AT_ODD_POINTS)
def test_derivatives_at_odd_points_are_those_of_torch(text, x, order):
    import torch

    at = torch.tensor(x, requires_grad=True)
    found = run_torch(text, {"x": at})
    for _ in range(order):
        (found,) = torch.autograd.grad(found.sum(), at, create_graph=True)
    grads = ["ones_like(out)"] * order
    ours = gradcli.grad(text, values={"x": x}, grad=grads[0], order=order, grads=grads[1:])
    assert_equal(ours, found.numpy(force=True), rtol=1e-9, atol=1e-250)


@pytest.mark.parametrize("text", ["where(x > 0, x, 0)", "clamp(x, -0.5, 0.7)", "x.max()"])
def test_where_torch_keeps_no_graph_of_the_gradient_there_is_none(text):
    import torch

    x = torch.tensor([0.3, -1.2, 2.0, 0.9], requires_grad=True)
    (first,) = torch.autograd.grad(run_torch(text, {"x": x}).sum(), x, create_graph=True)
    assert not first.requires_grad
    with pytest.raises(GradcliError) as caught:
        gradcli.grad(
            f"({text}).sum()", values={"x": x.tolist()}, grad=1.0, order=2, grads=["ones_like(out)"]
        )
    assert caught.value.code == "not-differentiable"


@pytest.mark.parametrize("outer", ["log", "log2", "sqrt", "rsqrt", "reciprocal", "exp"])
@pytest.mark.parametrize("x", [-4.0, -3.0, -1.0, 0.0, 3.0, 4.0, np.nan])
def test_second_derivatives_through_hardswish_are_those_of_torch(outer, x):
    import torch

    text, given = f"{outer}(hardswish(x))", torch.tensor(x, requires_grad=True)
    (first,) = torch.autograd.grad(run_torch(text, {"x": given}), given, create_graph=True)
    (theirs,) = torch.autograd.grad(first, given)
    assert_equal(gradcli.grad(text, values={"x": x}, order=2), theirs.numpy())


@pytest.mark.parametrize(
    ("text", "shapes", "by"),
    [
        ("0.5 * (((x[1:] - x[:-1]).norm(dim=1) - r) ** 2).sum()", "x=4x2,r=()", "x"),
        (
            "S = normalize(X, dim=1) @ normalize(Y, dim=1).T / t; "
            "(cross_entropy(S, l) + cross_entropy(S.T, l)) / 2",
            "X=3x2,Y=3x2,t=()",
            "X",
        ),
    ],
)
def test_a_hessian_without_a_formula_has_one_times_a_direction(text, shapes, by):
    import torch

    integers = {"l": [0, 1, 2]} if "l)" in text else {}
    options = [f"-v{n}={v}" for n, v in integers.items()]
    out = run("hessian", text, "-s", shapes, "-w", by, "-f", "json", *options).out
    product = json.loads(out)["hessian"][by]["product"]
    draw = generator(text)
    given = {n: torch.tensor(draw.normal(size=s)) for n, s in read_shapes([shapes]).items()}
    given |= {n: torch.tensor(v) for n, v in integers.items()}
    t = torch.tensor(draw.normal(size=given[by].shape))
    named = {}
    for statement in text.split("; ")[:-1]:
        name, _, value = statement.partition(" = ")
        named[name] = run_torch(value, given)
    found = run_formula(product["formula"], given | named | {product["direction"]: t})
    _, product = torch.autograd.functional.hvp(
        lambda x: run_torch(text, given | {by: x}), given[by], t
    )
    assert_equal(found.numpy(), product.numpy(), rtol=1e-9, atol=1e-12)
