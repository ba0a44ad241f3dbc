"""What must hold for every operator, from its record in the table and with no code of its own."""

import ast
import inspect
import itertools
import math
import re
import subprocess
import sys
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes
from support import (
    Checks,
    Example,
    answer,
    everything,
    examples,
    first_examples,
    generator,
    one_in,
    pose,
    stand_ins,
    weighted,
)

from gradcli import operators
from gradcli.autodiff.forward import jvp
from gradcli.autodiff.reverse import backward
from gradcli.backends.numeric import Evaluator
from gradcli.graphs import OPS, Node, Operator, walk
from gradcli.graphs.arguments import REQUIRED
from gradcli.operators import bounds
from gradcli.snippets.eager import forward, grad_names, single, zeros

KINDS = {"f": "float", "i": "int", "u": "int", "b": "bool"}  # by NumPy's codes
EXAMPLES = examples()
checks = Checks()
each_operator = pytest.mark.parametrize("op", list(operators.all_operators().values()), ids=str)


@each_operator
def test_it_is_infinite_at_its_poles(op):
    """And at no other zeros of an operand; both at 0.5 and at 1.5 for the other operands."""
    needed = REQUIRED in op.attributes.values()
    if op.family != "elementwise" or op.integer_inputs or op.dtype == "bool" or needed:
        return
    nodes = [OPS["input"](name=name, shape=(), dtype="float") for name in op.inputs]
    y = op(*nodes)
    for name, x in zip(op.inputs, nodes, strict=True):
        points = ({n: np.array(0.0 if n is x else v) for n in nodes} for v in (0.5, 1.5))
        with np.errstate(all="ignore"):
            infinite = all(np.isinf(Evaluator(point)(y)[0]) for point in points)
        assert infinite == (name in op.inputs_with_poles(y)), name


def test_powers_with_negative_exponents_have_a_pole():
    x = OPS["input"](name="x", shape=(), dtype="float")
    assert [[*y.op.inputs_with_poles(y)] for y in (x**-2, x**2, x**x)] == [["a"], [], []]


class Setting:
    """An example at its values: the graph, a seed, and a random direction for inputs and seed."""

    def __init__(self, example: Example):
        self.problem = example.problem
        self.out, self.seed = self.problem.out, self.problem.seed.node
        self.inputs = [i.node for i in self.problem.wrt]
        self.draw = generator(str(example), "setting")
        self.point = {**self.problem.values, self.seed: self.draw.normal(size=self.out.shape)}
        self.direction = {
            n: self.draw.normal(size=n.shape) for n in (*self.inputs, self.seed) if n in self.point
        }
        held = [n for n in everything(self.out) if n.op.family == "barrier"]
        self.held = dict(zip(held, Evaluator(self.point)(*held)))

    @cached_property
    def gradients(self) -> list[Node | None]:
        return list(backward(self.out, self.seed, self.inputs).of.values())

    def at(self, step: float, *more: tuple[dict, float]) -> Evaluator:
        """An evaluator so far along the direction; what a barrier holds back stays as it is."""
        moved = {n: v + step * self.direction.get(n, 0) for n, v in self.point.items()}
        return Evaluator({**moved, **self.held})

    def slope(self, node: Node, step: float = 1e-4) -> float:
        """The derivative of a 0-d node along the direction, by differences of fourth order."""
        values = [float(self.at(k * step)(node)[0]) for k in (-2, -1, 1, 2)]
        return np.dot(values, [1, -8, 8, -1]) / (12 * step)

    def along(self, node: Node, wrt: list[Node]) -> float:
        """The same from the gradient of the node."""
        of = backward(node, OPS["ones"](size=()), wrt).of
        evaluate = self.at(0)
        return sum(
            float(np.sum(self.direction[n] * evaluate(g)[0]))
            for n, g in of.items()
            if g is not None
        )


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_example(example):
    checks.run(example, Setting(example))


@checks
def gradient_against_differences(example, s):
    value = (s.seed * s.out).sum()
    assert s.along(value, [*s.inputs, s.seed]) == pytest.approx(s.slope(value), rel=1e-7, abs=1e-8)


@checks
def values_have_the_kind_that_is_declared(example, s):
    nodes = walk([s.out])
    for node, value in zip(nodes, s.at(0)(*nodes), strict=True):
        assert KINDS[np.asarray(value).dtype.kind] == node.dtype, node.op.name


@checks
def second_order_against_differences(example, s):
    weights = stand_ins(s.inputs, "w")
    s.point |= {w: s.draw.normal(size=w.shape) for w in weights}
    value = weighted(s.gradients, weights)
    assert s.along(value, [*s.inputs, s.seed]) == pytest.approx(s.slope(value), rel=1e-6, abs=1e-7)


@checks
def vjp_and_jvp_are_transposes(example, s):
    tangents = stand_ins(s.inputs, "t")
    arrays = {t: s.draw.normal(size=t.shape) for t in tangents}
    evaluate = Evaluator({**s.point, **arrays})
    pushed = jvp(s.out, dict(zip(s.inputs, tangents)))
    left = 0.0 if pushed is None else np.sum(s.point[s.seed] * evaluate(pushed)[0])
    (right,) = evaluate(weighted(s.gradients, tangents))
    assert left == pytest.approx(float(right), rel=1e-12, abs=1e-12)


@checks
def value_and_rule_against_the_meaning(example, s):
    """Of every node that has a meaning beside its own value or rule."""
    for node in everything(s.out):
        if node.op is example.op and node.op.expand and (node.op.value or node.op.rule):
            compare_with_the_meaning(example, node)


@checks
def values_against_what_formulas_write(example, s):
    """Of every node, also of the gradients, that formulas write with other operators; they leave
    out what `otherwise` guards against.
    """
    roots = [g for g in s.gradients if g is not None]
    nodes = [n for n in {*everything(s.out), *walk(roots)} if n.op.torch_expand]
    written = {n: n.op.torch_expand(*n.inputs, **n.attrs) for n in nodes}
    pairs = [(n, w) for n, w in written.items() if w is not None and n.op.name != "otherwise"]
    for pair in pairs:
        np.testing.assert_allclose(*s.at(0)(*pair), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    "how",
    [
        *("size=(2, 3), mode='bicubic'", "size=(5, 6), mode='bicubic', align_corners=True"),
        *(
            "scale_factor=(1.5, 0.5), mode='bilinear'",
            "size=(2, 3), mode='bicubic', antialias=True",
        ),
        *("size=(2, 3), mode='bilinear', antialias=True", "size=(2, 3), mode='nearest-exact'"),
        *("size=(2, 3), mode='area'", "scale_factor=2.5, mode='nearest'"),
    ],
)
def test_resampling_as_formulas_write_it(how):
    problem = pose(f"interpolate(x, {how})", shapes={"x": (1, 1, 4, 5)})
    example = Example(OPS["interpolate"], f"interpolate(x, {how})", "x=1x1x4x5")
    assert any(n.op.name == "resample" for n in everything(problem.out))
    values_against_what_formulas_write(example, Setting(example))


def compare_with_the_meaning(example, node):
    meaning, seed = node.op.expanded(node), stand_ins([node], "g")[0]
    arrays = {seed: generator(str(example), "meaning").normal(size=node.shape)}
    evaluate = Evaluator({**example.problem.values, **arrays})
    close = {"rtol": 1e-11, "atol": 1e-12}
    np.testing.assert_allclose(*evaluate(node, meaning), **close)
    floats = [i for i in node.parents if i.dtype == "float"]
    ours, expected = backward(node, seed, floats).of, backward(meaning, seed, floats).of
    symmetric = [i for name, i in zip(node.op.inputs, node.inputs) if name in node.op.symmetric]
    for i in floats:
        assert (ours[i] is None) == (expected[i] is None)
        if ours[i] is not None:
            both = evaluate(ours[i], expected[i])
            if i in symmetric:
                both = [a + np.swapaxes(a, -1, -2) for a in both]
            np.testing.assert_allclose(*both, **close)


BOUNDED = [op for op in operators.all_operators().values() if op.bounds is not None]


@pytest.mark.parametrize("op", BOUNDED, ids=str)
def test_values_are_in_bounds(op):
    """By the bounds of its inputs: those of what they hold, alone and with 0."""
    ways = (lambda v: v), (lambda v: 0.01 * abs(v) if v.dtype.kind == "f" else v)
    negative = Example(OPS["softplus"], "softplus(x, beta=-1.5)", "x=3")
    tried = [e for e in (*EXAMPLES, negative) if e.op is op]
    for example, way in itertools.product(tried, ways):
        evaluate = Evaluator({n: way(v) for n, v in example.problem.values.items()})
        for node in (n for n in everything(example.problem.out) if n.op is op):
            held = [None if i is None else np.asarray(evaluate(i)[0], float) for i in node.inputs]
            alone = [None if a is None else (np.nanmin(a), np.nanmax(a)) for a in held]
            with_0 = [ends and (min(ends[0], 0), max(ends[1], 0)) for ends in alone]
            value = evaluate(node)[0]
            for ends in (alone, with_0):
                low, high = op.bounds(*ends, **node.attrs) if callable(op.bounds) else op.bounds
                assert np.all((low <= value) & (value <= high))


@pytest.mark.parametrize(
    ("of_elements", "of_sums", "beside_zeros"),
    [
        ((0, 1), (0, math.inf), (0, 1)),
        ((1, 2), (0, math.inf), (0, 2)),  # a sum of no elements is 0
        ((-1, 0), (-math.inf, 0), (-1, 0)),
        ((-2, -1), (-math.inf, 0), (-2, 0)),
        ((0, 0), (0, 0), (0, 0)),
        ((-1, 2), (-math.inf, math.inf), (-1, 2)),
    ],
)
def test_bounds_are_as_narrow_as_they_can_be(of_elements, of_sums, beside_zeros):
    assert bounds.summed(of_elements) == of_sums
    assert bounds.with_zero(of_elements) == beside_zeros


# Kinks that are none along some directions, as those of elements that are all equal, and functions
# that PyTorch says are 0 beside a jump; kinks of elements that are tied with what is left out.
MORE_THAN_KINKS = {
    "copysign", "cosine_similarity", "det", "div_trunc", "elu_backward", "fmod", "frac",
    "kthvalue_values", "logcumsumexp_backward", "median_all", "median_values", "nanmedian_all",
    "nanmedian_values", "nanquantile", "nextafter", "prelu_backward_weight", "quantile",
    "sort_values", "topk_values", "trunc",
}  # fmt: skip
LESS_THAN_KINKS = {"clamp", "cummin_values", "cummin_indices", "frexp_mantissa", "margin_terms"}


def kinks_of(example):
    """For values that are ordinary, equal, 0 or whole: each node of the operator, the values, the
    mask of its kinks and the inputs that move.
    """
    drawn = example.problem.values
    patterns = (0.0, 1, 0, -1, 1, 0.5), (0.0,), (1.0,), (2.0, 1, 1, -2, -2, 0, 0.5, -0.5)
    ways = [lambda v, p=p: np.resize(np.array(p), v.shape) for p in patterns]
    for way in (lambda v: v, np.round, lambda v: np.round(2 * v) / 2, *ways):
        point = {n: way(v) if n.dtype == "float" else v for n, v in drawn.items()}
        for node in (n for n in everything(example.problem.out) if n.op is example.op):
            moved = [i for i in node.inputs if i in point and i.dtype == "float"]
            found = example.op.kink(node, *node.inputs, **node.attrs)
            of_each = isinstance(found, tuple)
            pairs = zip(found, ([i] for i in node.inputs)) if of_each else [(found, moved)]
            for mask, by in pairs:
                if mask is not None and mask.shape in ((), node.shape) and set(by) & set(moved):
                    yield node, point, mask, by


def roughness(node, point, moved, step=1e-5):
    """1 where the slopes on both sides differ, or the value jumps, in one of three directions; 0
    where not, and nan where there are no numbers.
    """
    draw, worst = np.random.default_rng(1), np.zeros(node.shape)
    (here,) = Evaluator(point)(node)
    for _ in range(3):
        along = {n: draw.choice([-1, 1], n.shape) * draw.uniform(0.5, 1, n.shape) for n in moved}
        ends = (point | {n: point[n] + k * step * d for n, d in along.items()} for k in (1, -1))
        plus, minus = (Evaluator(end)(node)[0] - here for end in ends)
        apart = np.abs(plus + minus) > 1e-3 * (step + np.abs(plus) + np.abs(minus))
        jump = np.maximum(np.abs(plus), np.abs(minus)) > 0.01 * (1 + np.abs(here))
        worst = np.maximum(worst, np.where(np.isfinite(plus + minus), apart | jump, np.nan))
    return worst


def test_kinks_are_where_slopes_on_both_sides_differ():
    checked, more, less = 0, set(), set()
    for example in (e for e in EXAMPLES if e.op.kink):
        for node, point, mask, moved in kinks_of(example):
            checked += 1
            known = np.broadcast_to(Evaluator(point)(mask)[0], node.shape)
            rough = roughness(node, point, moved)
            more |= {example.op.name} if np.any(known & (rough == 0)) else set()
            less |= {example.op.name} if np.any(~known & (rough == 1)) else set()
    assert checked > 1_000
    assert more == MORE_THAN_KINKS
    assert less == LESS_THAN_KINKS


@each_operator
def test_record(op):
    assert op.examples or op.family == "leaf"
    assert op.sentence

    signature = op.signature()
    for name in (*op.inputs, *op.attributes):
        assert name in signature
    without = () if callable(op.without_derivative) else op.without_derivative
    assert {*op.integer_inputs, *without} <= {*op.inputs}
    assert op.rule or op.expand
    assert op.value or op.expand or not op.inputs
    assert set(op.typical_same_shape) <= set(op.inputs) - set(op.integer_inputs)


@pytest.mark.parametrize("example", [e for e in first_examples() if e.op.log], ids=str)
def test_the_logarithm_in_a_record_is_finite_where_a_value_underflows(example):
    out = example.problem.out
    logarithm = OPS[example.op.log](*out.inputs, **out.attrs)
    values = example.problem.values
    (value,), (result,) = Evaluator(values)(out), Evaluator(values)(logarithm)
    np.testing.assert_allclose(result, np.log(value), rtol=1e-12)
    far = {
        x: np.where(np.arange(v.size).reshape(v.shape) % 2, 0.0, -1e3) for x, v in values.items()
    }
    (value,), (result,) = Evaluator(far)(out), Evaluator(far)(logarithm)
    assert np.any(value == 0)
    assert np.all(np.isfinite(result))


def test_fields_are_told():
    body = ast.parse(inspect.getsource(Operator)).body[0].body
    told = {
        field.target.id
        for field, said in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(said, ast.Expr)
    }
    assert told == {*Operator.__annotations__}


@pytest.mark.parametrize(
    "folder",
    ["autodiff", "backends", "cli", "frameworks", "language", "render"]
    + [f"explanation/{room}" for room in ("checking", "formulas", "higher", "in_pytorch", "seeds")],
)
def test_operators_but_leaves_are_not_known_by_name(folder):
    leaves = {name for name, op in operators.all_operators().items() if op.family == "leaf"}
    for path in Path(operators.__file__).parents[1].joinpath(folder).rglob("*.py"):
        asked = re.findall(r"op\.name\b(.*)", path.read_text())
        for words in (re.findall(r'"(\w+)"', line) for line in asked):
            assert leaves.issuperset(words), path


def test_tables_of_eager_mode_name_operators():
    named = {*grad_names.ZERO_SECOND, *forward.LINEAR, *forward.JOINING, *zeros.EXTREMES}
    named |= {*single.KERNELS, *single.BACKWARDS}
    assert named - operators.all_operators().keys() == set()


def test_a_sign_stands_between_two_operands():
    known = {op.sign for op in operators.all_operators().values()}
    assert known == {"", *"+-*/%&|<>@", "//", "**", "==", "!=", "<=", ">="}


# ---- broadcasting --------------------------------------------------------------------------------

BROADCAST = [
    op for op in operators.all_operators().values()
    if op.family == "elementwise" and len(op.inputs) > 1 and op.dtype in ("promote", "float")
]  # fmt: skip


def operands(op, shapes, draw):
    """An input node and its array for every operand."""
    for k, (name, shape) in enumerate(zip(op.inputs, shapes)):
        dtype = "int" if name in op.integer_inputs else "float"
        array = draw.integers(-3, 9, shape) if dtype == "int" else draw.uniform(*op.domain, shape)
        if name in op.masks:
            dtype, array = "bool", array > 3
        yield OPS["input"](name=f"x{k}", shape=shape, dtype=dtype), np.asarray(array)


@pytest.mark.parametrize("op", one_in(3, BROADCAST))
@settings(max_examples=25)
@given(data=st.data())
def test_broadcasting(op, data):
    count = len(op.inputs)
    drawn = mutually_broadcastable_shapes(num_shapes=count, min_side=0, max_side=3, max_dims=3)
    shapes = data.draw(drawn).input_shapes
    values = dict(operands(op, shapes, np.random.default_rng(data.draw(st.integers(0, 99)))))
    nodes = list(values)
    y = op(*nodes)
    if not has_gradient(op, y):
        return
    seed = OPS["input"](name="g", shape=y.shape, dtype="float")
    full = [n.expand(shape=y.shape) for n in nodes]
    evaluate = Evaluator({**values, seed: np.random.default_rng(1).normal(size=y.shape)})
    of = backward(y, seed, nodes).of
    explicit = backward(op(*full), seed, full).of
    np.testing.assert_array_equal(*evaluate(y, op(*full)))
    for n, whole in zip(nodes, full):
        if of[n] is not None:
            assert of[n].shape == n.shape
            summed = explicit[whole].sum_to_size(shape=n.shape)
            np.testing.assert_allclose(*evaluate(of[n], summed), rtol=1e-12, atol=1e-12)


def has_gradient(op, y):
    """Whether the operator has a derivative at all: // refuses to be asked for one."""
    from gradcli.errors import GradcliError

    try:
        backward(y, OPS["ones"](size=y.shape), y.parents)
    except GradcliError as error:
        return error.code != "not-differentiable"
    return True


# ---- numbers by hand -----------------------------------------------------------------------------

BY_HAND = [  # a program, its input, the seed, its value and the gradient
    ("round(x, decimals=-1)", [24.0, 26.0], [1.0, 2.0], [20.0, 30.0], [0.0, 0.0]),
    ("x.index_copy(0, tensor([0]), x.sum())", [3.0], [2.0], [3.0], [2.0]),
    ("torch.segment_reduce(x, 'max', lengths=[3])", [2.0, 2.0, 1.0], [0.5], [2.0], [0.25, 0.25, 0]),
    ("F.embedding_bag(tensor([[0, 1]]), x)", [[2.0], [4.0]], [[1.0]], [[3.0]], [[0.5], [0.5]]),
    ("atan2(x, 1e-200)", 1e-200, 1e200, math.pi / 4, 0.0),  # PyTorch's, where x * x is 0
    ("pinv(x, atol=1e-20)", [[2.0], [0.0]], [[1.0, 0.0]], [[0.5, 0.0]], [[-0.25], [0.0]]),
    ("pinv(diag(x), atol=1e-20)", [1.0, 1e-18], np.eye(2), np.diag([1, 1e18]), [-1, -1e36]),
    (  # the mean of what stands on the right
        *("linalg.lstsq(ones(2, 2, 1), x).solution", [[1.0, 3.0], [4.0, 8.0]], [[1.0], [4.0]]),
        *([[2.0], [6.0]], [[0.5, 0.5], [2.0, 2.0]]),
    ),
    ("x * linalg.inv_ex(tensor([[inf, 1], [1, 0]])).info", 1.0, 1.0, 2.0, 2.0),
    ("rot90(x, 2)", [[1.0, 2], [3, 4]], [[5.0, 6], [7, 8]], [[4, 3], [2, 1]], [[8, 7], [6, 5]]),
    ("adaptive_max_pool1d(x, 0)", [[1.0]], np.ones((1, 0)), np.ones((1, 0)), [[0.0]]),
]


@pytest.mark.parametrize(("text", "x", "seed", "out", "grad"), BY_HAND)
def test_numbers_by_hand(text, x, seed, out, grad):
    found = answer(pose(text, values={"x": np.array(x)}), np.array(seed))
    np.testing.assert_allclose(found.out, out, rtol=1e-14)
    np.testing.assert_allclose(found.grads["x"], grad, rtol=1e-14, atol=1e-14)


EQUATIONS = [  # and the sizes of the operands; one is large enough for products of matrices
    ("ij,jk->ik", (70, 60), (60, 3)),
    ("ij,jk->ki", (3, 60), (60, 70)),
    ("bij,bkj->bik", (5, 30, 40), (5, 2, 40)),
    ("ij,ij->i", (70, 60), (70, 60)),
    ("ij,jk->k", (70, 60), (60, 3)),
    ("iij,jk->ik", (16, 16, 20), (20, 3)),
    ("ij,jk->ik", (70, 1), (60, 70)),  # one column for all
]


@pytest.mark.parametrize(("equation", "a", "b"), EQUATIONS)
def test_large_sums_of_products_are_those_of_numpy(equation, a, b):
    draw = generator(equation, str(a))
    values = {"a": draw.normal(size=a), "b": draw.normal(size=b)}
    p = pose(f"einsum('{equation}', a, b)", values=values)
    expected = np.einsum(equation, *values.values())  # which broadcasts sizes of 1
    np.testing.assert_allclose(Evaluator(p.values)(p.out)[0], expected, rtol=1e-10)


# ---- cost ----------------------------------------------------------------------------------------


def test_the_table_imports_neither_numpy_nor_sympy():
    code = "import sys, gradcli.operators; print(sorted({'numpy', 'sympy'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@checks
def how_an_array_lies_in_memory_changes_nothing(example, s):
    roots = [s.out, *filter(None, s.gradients)]
    turned = {n: np.array(v, order="F") for n, v in s.point.items()}
    reversed_ = {n: np.flip(np.flip(v).copy()) for n, v in s.point.items()}
    expected = Evaluator(s.point)(*roots)
    for point in (turned, reversed_):
        for found, right in zip(Evaluator(point)(*roots), expected, strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)
