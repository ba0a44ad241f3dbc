"""Evaluation block by block gives what evaluation of whole arrays gives, up to rounding."""

import math

import numpy as np
import pytest
import scipy.special
from support import Example, generator, pose, swept

from gradcli.autodiff.reverse import backward
from gradcli.backends import blocks, numeric
from gradcli.backends.numeric import Evaluator
from gradcli.errors import GradcliError

ROWS = 7  # not divisible by the 2 or 3 rows of a block

PROGRAMS = [
    ("softmax(x, -1)", {"x": (ROWS, 3, 4)}),
    ("softmax(x, 0) * log_softmax(x, 1)", {"x": (ROWS, 4)}),
    ("layer_norm(x, (4,), w, b)", {"x": (ROWS, 3, 4), "w": (4,), "b": (4,)}),
    ("layer_norm(x, (11,), w, b)", {"x": (ROWS, 60, 11), "w": (11,), "b": (11,)}),
    (
        "y = (x - x.mean(-1, keepdim=True)) / (w * w + 1); -y * y.sum(2, keepdim=True).sqrt() / 3",
        {"x": (ROWS, 3, 9), "w": (9,)},
    ),
    ("x.sum(1, keepdim=True) - x + x.var(1, keepdim=True, correction=2).rsqrt()", {"x": (ROWS, 8)}),
    (
        "(x * y + b) * c - x * x.sum(1, keepdim=True)",
        {"x": (ROWS, 1, 9), "y": (ROWS, 2, 1), "b": (2, 9), "c": (1, 1, 1)},
    ),
    ("softmax(q @ k.mT / 8, -1) @ v", {"q": (ROWS, 3, 2), "k": (ROWS, 3, 2), "v": (ROWS, 3, 4)}),
    ("tanh(x @ W + b).sin() @ V", {"x": (ROWS, 4), "W": (4, 5), "b": (5,), "V": (5, 2)}),
    ("x * y + z.exp()", {"x": (ROWS, 3), "y": (1, 3), "z": (ROWS, 1)}),
    ("x * y + z", {"x": (ROWS, 1, 3), "y": (ROWS, 3), "z": ()}),
    ("x * (x - x.mean(dim=0)).exp() / x.exp().sum()", {"x": (ROWS, 3)}),
    ("h = x.sin(); (h * h.sum(dim=0)).cos() + h.amax(dim=1, keepdim=True)", {"x": (ROWS, 3)}),
    ("h = x.exp(); h.T @ h", {"x": (ROWS, ROWS)}),
    ("h = x.exp(); (h @ h).tanh() + h.sum(dim=-1)", {"x": (ROWS, ROWS)}),
    ("relu(x - 0.1).sum(dim=1).unsqueeze(1) * where(x > y, x, 2)", {"x": (ROWS, 3), "y": (3,)}),
    ("x.exp().transpose(1, 2).cumsum(dim=1).var(dim=2)", {"x": (ROWS, 3, 2)}),
    ("x.exp().transpose(0, 1).sin() * x.sum(dim=1)", {"x": (ROWS, 2)}),
    ("x.exp() ** 2 + x.sigmoid()", {"x": (ROWS,)}),
    ("x.exp() * x.sin()", {"x": (1, 5)}),
    ("x.exp() * x.sin() + y.cos()", {"x": (0, 5), "y": (5,)}),
    ("(x.exp() * x.sin()).sum(dim=1)", {"x": (ROWS, 0)}),
    ("x.exp() * 2", {"x": ()}),
]


@pytest.fixture(params=[1, 2, 3, ROWS, 100])
def block_rows(request, monkeypatch):
    """How many rows a block has; no tensor is too small for blocks."""
    monkeypatch.setattr(numeric, "LARGE", 0)
    monkeypatch.setattr(blocks, "LARGE", 0)
    monkeypatch.setattr(blocks, "_block_rows", lambda run: request.param)
    return request.param


def assert_same(program: str, values: dict) -> None:
    """The output and the gradients are equal up to rounding, computed together and apart."""
    p = pose(program, values=values)
    seed = generator(program).normal(size=p.out.shape)
    given = {**p.values, p.seed.node: seed}
    of = backward(p.out, p.seed.node, [i.node for i in p.wrt]).of
    roots = [p.out, *(grad for grad in of.values() if grad is not None)]
    whole = Evaluator(given)(*roots)
    apart = [blocks.values_of(Evaluator(given), [root])[0] for root in roots]
    for found in (blocks.values_of(Evaluator(given), roots), apart):
        for ours, theirs in zip(found, whole, strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(("program", "shapes"), PROGRAMS)
def test_blocks_change_nothing(program, shapes, block_rows):
    draw = generator(program)
    assert_same(program, {name: draw.normal(size=shape) for name, shape in shapes.items()})


@pytest.mark.parametrize("example", swept())
def test_blocks_change_no_operator(example: Example, monkeypatch):
    monkeypatch.setattr(numeric, "LARGE", 0)
    monkeypatch.setattr(blocks, "LARGE", 0)
    monkeypatch.setattr(blocks, "_block_rows", lambda run: 1)
    assert_same(example.text, example.values)


def test_nothing_but_the_roots_is_kept(block_rows):
    x = np.linspace(-1, 1, 4 * ROWS).reshape(ROWS, 4)
    p = pose("h = x.exp(); (h / h.sum(dim=0)).sin()", values={"x": x})
    evaluate = Evaluator(p.values)
    blocks.values_of(evaluate, [p.out])
    assert set(evaluate.values) == {None, p.out, p.inputs["x"].node}


def test_an_error_in_a_block_has_its_place(block_rows):
    p = pose("h = x.exp(); inv(h * 0) @ h", values={"x": np.ones((ROWS, 2, 2))})
    with pytest.raises(GradcliError) as caught:
        blocks.values_of(Evaluator(p.values), [p.out])
    assert caught.value.span is not None


def test_a_type_that_a_later_block_widens(block_rows):
    whole = blocks._with_rows(None, slice(0, 1), np.array([1]), 2)
    whole = blocks._with_rows(whole, slice(1, 2), np.array([0.5]), 2)
    np.testing.assert_array_equal(whole, [1, 0.5])


def test_blocks_at_the_edges(block_rows):
    """Equal elements have variance 0 to the last bit; nan and inf stay in their rows."""
    x = np.full((ROWS, 10), 0.1)
    x[1, 3], x[2, 4], x[3] = np.nan, np.inf, 0.0
    p = pose("1 / x.var(1, keepdim=True) + 0 * x", values={"x": x})
    found = blocks.values_of(Evaluator(p.values), [p.out])[0]
    np.testing.assert_array_equal(found[[0, 3, 4, 5, 6]], np.inf)
    np.testing.assert_array_equal(found[[1, 2]], np.nan)


def test_blocks_of_single_precision(block_rows):
    x = np.linspace(0.1, 1, 5 * ROWS, dtype=np.float32).reshape(ROWS, 5)
    p = pose("(x * x - 0.3) / x", values={"x": x})
    found = blocks.values_of(Evaluator(p.values, dtype="float32"), [p.out])[0]
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, (x * x - np.float32(0.3)) / x)


@pytest.mark.parametrize("copies", [1, 2000], ids=["small", "large"])
@pytest.mark.parametrize("side", ["where(m, x, 0)", "where(~m, 0, x)"])
def test_what_a_mask_leaves_out_is_zero(side, copies):
    """Large masks choose without a branch: nothing of nan, inf or a sign is left."""
    x = np.tile([np.nan, np.inf, -2.0, -0.0, 3.0, -0.0], (copies, 1))
    m = np.tile([False, False, False, False, True, True], (copies, 1))
    p = pose(side, values={"x": x, "m": m})
    found = Evaluator(p.values)(p.out)[0]
    wanted = np.tile([0.0, 0.0, 0.0, 0.0, 3.0, -0.0], (copies, 1))
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("where(x > 0, 1, 0)", np.int64([1, 0] * 3000)),
        ("where(x > 0, 1.0, 0)", np.float64([1, 0] * 3000)),
        ("where(x > 0, x > 1, False)", np.array([True, False] * 3000)),
        ("where(x > 0, x.long(), 0)", np.int64([2, 0] * 3000)),
        ("where(x > 0, x, 1.0)", np.float64([2, 1] * 3000)),
        ("where(x > 0, 1.0, x)", np.float64([1, -2] * 3000)),
        ("where(x > 0, -0.0, x)", np.float64([-0.0, -2] * 3000)),
    ],
)
def test_a_large_choice_among_other_kinds(program, wanted):
    p = pose(f"m = {program}; m * x", values={"x": np.tile([2.0, -2.0], 3000)})
    found = Evaluator(p.values)(p.named["m"])[0]
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found * 1.0), np.signbit(wanted * 1.0))


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_error_functions_of_many_elements(name):
    x = np.array([-0.0, np.inf, -np.inf, np.nan, *np.linspace(-6, 6, 20_000)])
    p = pose(f"{name}(x)", values={"x": x})
    expected = [getattr(math, name)(value) for value in x]
    np.testing.assert_allclose(Evaluator(p.values)(p.out)[0], expected, rtol=1e-13)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "logsumexp"])
@pytest.mark.parametrize("length", [1, 2, 3, 64, 65])
def test_many_rows(name, length):
    """Rows with ties, both zeros, infinities and nan are as they are alone; SciPy's numbers."""
    x = np.random.default_rng(0).normal(size=(5_000, length)).round(1)
    x[1], x[2], x[3, 0], x[4, -1], x[5, 0] = 0.0, -0.0, np.inf, np.nan, -np.inf

    def value(x):
        p = pose(f"{name}(x, -1)", values={"x": x})
        return Evaluator(p.values)(p.out)[0]

    with np.errstate(invalid="ignore"):
        expected = getattr(scipy.special, name)(x, axis=-1)
    ours = value(x)
    np.testing.assert_allclose(ours[6:], expected[6:], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(ours[:6], value(x[:6]), rtol=1e-13, atol=0)
