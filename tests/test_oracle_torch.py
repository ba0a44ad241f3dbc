"""PyTorch itself: the same values and gradients, at ordinary points and at odd ones."""

from itertools import product

import numpy as np
import pytest
from support import (
    Example,
    assert_equal,
    compare,
    examples,
    fixed,
    generator,
    refusal,
    run_torch,
    torch_function,
    weighted,
)

import gradcli as package
from gradcli.autodiff.reverse import backward
from gradcli.backends.numeric import Evaluator
from gradcli.errors import GradcliError
from gradcli.graphs import OPS
from gradcli.graphs.arguments import REQUIRED
from gradcli.language.posing import pose
from gradcli.operators import all_operators

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("double_precision"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


# ---- examples ------------------------------------------------------------------------------------

IN_TORCH = [e for e in examples() if e.op.torch]


@pytest.mark.parametrize("example", IN_TORCH, ids=str)
def test_examples(example: Example):
    problem = example.problem
    seed = generator(str(example)).normal(size=problem.out.shape)
    compare(example.text, example.values, seed, fixed(problem))


def torch_second_order(text, values, seed, held, weights):
    """The gradients of <weights, gradients> by the inputs and by the seed."""
    tensors = {name: torch.tensor(v, requires_grad=name not in held) for name, v in values.items()}
    wrt = [t for t in tensors.values() if t.requires_grad]
    g = torch.tensor(seed, requires_grad=True)
    first = torch.autograd.grad(
        run_torch(text, tensors), wrt, g, allow_unused=True, create_graph=True
    )
    total = sum((w * d).sum() for w, d in zip(map(torch.tensor, weights), first) if d is not None)
    second = torch.autograd.grad(total, [*wrt, g], allow_unused=True)
    return [np.zeros(()) if s is None else s.numpy(force=True) for s in second]


def our_second_order(problem, seed, held, weights):
    """The same, ours."""
    wrt = [i.node for i in problem.wrt if i.name not in held]
    first = list(backward(problem.out, problem.seed.node, wrt).of.values())
    stand_in = [OPS["input"](name=f"w{k}", shape=n.shape, dtype="float") for k, n in enumerate(wrt)]
    total = weighted(first, stand_in)
    evaluate = Evaluator(
        {**problem.values, problem.seed.node: seed, **dict(zip(stand_in, weights))}
    )
    second = backward(total, OPS["ones"](size=()), [*wrt, problem.seed.node]).of.values()
    return [np.zeros(()) if s is None else evaluate(s)[0] for s in second]


@pytest.mark.parametrize("example", IN_TORCH, ids=str)
def test_second_order(example: Example):
    problem, draw = example.problem, generator(str(example), "second order")
    held = fixed(problem)
    seed = draw.normal(size=problem.out.shape)
    weights = [draw.normal(size=i.shape) for i in problem.wrt if i.name not in held]
    theirs, refused = refusal(
        lambda: torch_second_order(example.text, example.values, seed, held, weights)
    )
    if refused:  # PyTorch does not have all second derivatives that gradcli has
        return
    ours = our_second_order(problem, seed, held, weights)
    for mine, its in zip(ours, theirs, strict=True):
        assert_equal(*np.broadcast_arrays(mine, its), rtol=1e-10, atol=1e-11)


# ---- elementwise operators at their samples, at ±0, ±inf and nan ---------------------------------

ODD = (-0.0, 0.0, np.inf, -np.inf, np.nan)
INTEGERS = (-64, -3, -1, 0, 1, 2, 5, 63, 64, 2**62)
POINTWISE = [
    op for op in all_operators().values()
    if op.family == "elementwise" and op.torch and REQUIRED not in op.attributes.values()
    and op.module != "underived"  # these are asked of detached inputs: test_torch_calls.py
]  # fmt: skip


def points(op):
    """An array for every input: all combinations of the operator's samples and the odd points."""
    floats = (*dict.fromkeys((*op.samples, *ODD[2:])), -0.0)
    others = dict.fromkeys(op.integer_inputs, INTEGERS) | dict.fromkeys(op.masks, (True, False))
    axes = [others.get(name, floats) for name in op.inputs]
    return [np.array(column) for column in zip(*product(*axes), strict=True)]


def torch_pointwise(op, arrays, seed):
    """PyTorch's values, and a function that gives its gradients."""
    tensors = [torch.tensor(a, requires_grad=a.dtype == np.float64) for a in arrays]
    out = torch_function(op)(*tensors)
    wrt = [t for t in tensors if t.requires_grad] if out.requires_grad else []

    def grads():
        found = wrt and torch.autograd.grad(out, wrt, torch.full_like(out, seed), allow_unused=True)
        return [None if g is None else g.numpy(force=True) for g in found]

    return out.detach().numpy(), grads


def our_pointwise(op, arrays, seed):
    """Our values, and a function that gives our gradients."""
    kinds = {"f": "float", "i": "int", "b": "bool"}
    nodes = [
        OPS["input"](name=f"x{k}", shape=a.shape, dtype=kinds[a.dtype.kind])
        for k, a in enumerate(arrays)
    ]
    evaluate = Evaluator(dict(zip(nodes, arrays)))
    y = op(*nodes)
    wrt = [n for n in nodes if n.dtype == "float"] if y.dtype == "float" else []

    def grads():
        of = backward(y, OPS["full"](size=y.shape, fill_value=seed), wrt).of
        return [of[n] and evaluate(of[n])[0] for n in wrt]

    return evaluate(y)[0], grads


@pytest.mark.parametrize("seed", [1.0, 0.0, -2.5])
@pytest.mark.parametrize("op", POINTWISE, ids=str)
def test_pointwise(op, seed):
    arrays = points(op)
    value, grads = our_pointwise(op, arrays, seed)
    its_value, its_grads = torch_pointwise(op, arrays, seed)
    assert_same(arrays, value, its_value, rtol=2e-14)
    ours, we_refused = refusal(grads)
    theirs, refused = refusal(its_grads)
    assert bool(refused) == bool(we_refused), (refused, we_refused)
    for mine, its in zip(ours or (), theirs or (), strict=True):
        assert (mine is None) == (its is None)
        assert_same(arrays, mine, its, rtol=2e-14)


def assert_same(arrays, ours, theirs, rtol):
    """Equal, or else a table of the points where they are not."""
    different = ~np.isclose(ours, theirs, rtol=rtol, atol=0, equal_nan=True)
    table = np.stack([*arrays, ours, theirs], axis=1)[different]
    assert not different.any(), f"points, then gradcli's, then PyTorch's\n{table}"


@pytest.mark.parametrize("ord", ["1", "2", "-2", "inf", "'nuc'"])
def test_ord_is_a_word_of_the_norms_of_matrices(ord):
    value = generator("ord").normal(size=(3, 4))
    x = torch.tensor(value, requires_grad=True)
    out = run_torch(f"torch.linalg.norm(x, ord={ord.replace('inf', 'torch.inf')})", {"x": x})
    (theirs,) = torch.autograd.grad(out, x)
    ours = package.grad(f"norm(x, ord={ord})", values={"x": value})
    assert_equal(ours, theirs.numpy(), rtol=1e-10)


@pytest.mark.parametrize(
    "text", ["hardtanh(x)", "relu6(x)", "hardshrink(x)", "softshrink(x)", "hardswish(x)"]
)
def test_lines_with_corners_at_nan(text):
    """One number alone, which fills no vector register: there PyTorch has other gradients."""
    x = torch.tensor(np.nan, requires_grad=True)
    (theirs,) = torch.autograd.grad(run_torch(text, {"x": x}), x)
    assert_equal(package.grad(text, values={"x": np.nan}), theirs.numpy(), rtol=0, atol=0)


# ---- seeds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seed"),
    [
        ("x.sum()", [1.0]),
        ("x.sum(0, keepdim=True)", 1.0),
        ("x * x", [1.0]),
        ("x * x", [[1.0, 1.0]]),
        ("x * x", None),
    ],
)
def test_a_seed_of_another_shape_is_refused(text, seed):
    x = torch.tensor([3.0, 4.0], requires_grad=True)
    out = run_torch(text, {"x": x})
    with pytest.raises(RuntimeError) as theirs:
        out.backward(None if seed is None else torch.tensor(seed))
    if seed is None:  # gradcli goes on with a symbolic seed, and says that PyTorch does not
        assert pose(text, values={"x": [3.0, 4.0]}).seed.refused
        return
    with pytest.raises(GradcliError) as ours:
        pose(text, values={"x": [3.0, 4.0]}, grad=seed)
    assert ours.value.code == "seed-shape"
    assert str(theirs.value).split(" and output")[0].split("0]")[-1] in ours.value.hint


# ---- integers -------------------------------------------------------------------------------

ORDERED = [
    "sort(x).values @ w",
    "topk(x, 2).values @ w[:2]",
    "cummax(x, 0).values @ w",
    "kthvalue(x, 2).values",
    "median(x)",
    "(sort(x).values * w[argsort(x)]).sum()",
]


@pytest.mark.parametrize("text", ORDERED)
def test_whole_numbers_that_are_put_in_order_are_values(text):
    whole, weights = [2, 0, 1], [1.5, 2.0, 5.0]
    given = {"x": whole} | ({"w": weights} if "w" in text else {})
    tensors = {n: torch.tensor(v).double().requires_grad_() for n, v in given.items()}
    run_torch(text, tensors).backward()
    for name, tensor in tensors.items():
        assert np.array_equal(package.grad(text, values=given, wrt=name), tensor.grad), name


def test_whole_numbers_that_pick_have_no_gradient():
    values = {"w": [1.0, 2, 5], "i": [2, 0, 1]}
    assert [x.name for x in pose("w[argsort(i)] @ w[i]", values=values).wrt] == ["w"]
