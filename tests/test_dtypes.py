"""Masks and integer tensors, for every operator: values, kinds and refusals as PyTorch's."""

import re
import warnings
from itertools import product

import numpy as np
import pytest
from support import generator, run_torch

import gradcli
from gradcli.backends.numeric import Evaluator
from gradcli.errors import GradcliError
from gradcli.language.arguments.option_texts import read_shapes
from gradcli.language.posing import pose
from gradcli.operators import all_operators

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("double_precision")]

KINDS = {"f": "float", "i": "int", "u": "int", "b": "bool"}  # by NumPy's codes
TABLE = [op for op in all_operators().values() if op.examples and op.torch]
# Where gradcli answers otherwise for integers: one is refused, and what a kernel of PyTorch's
# lacks, though its answer would be one, is computed.
REFUSED = {"local_response_norm"}
COMPUTED = {"fold", "im2col"}


def in_gradcli(text, values):
    """The value of a text; None where it is refused."""
    try:
        p = pose(f"out_ = {text}; x_ * 1.0", values={**values, "x_": np.array(1.0)}, wrt=["x_"])
        y = p.named["out_"]
        value = Evaluator(p.values)(y)[0]
    except GradcliError as error:
        refusal = error.message
    else:
        assert KINDS[value.dtype.kind] == y.dtype
        return value
    assert "has no value here" not in refusal  # NumPy's words
    return None


def in_torch(text, values):
    """The same in PyTorch."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run_torch(text, {n: torch.tensor(v) for n, v in values.items()}).numpy()
    except (RuntimeError, TypeError, IndexError, ValueError):
        return None


def agrees(text, values, name=""):
    ours, theirs = in_gradcli(text, values), in_torch(text, values)
    if name in REFUSED | COMPUTED:
        assert (ours is None, theirs is None) == (name in REFUSED, name in COMPUTED)
        return
    assert (ours is None) == (theirs is None), (text, ours, theirs)
    if theirs is not None:
        assert KINDS[ours.dtype.kind] == KINDS[theirs.dtype.kind], text
        np.testing.assert_allclose(ours.astype(float), theirs.astype(float), 1e-9, 1e-11)


def integers(text, names):
    """A text whose inputs are made integers."""
    return re.sub(rf"\b({'|'.join(names)})\b(?!\s*=[^=])", r"\1.long()", text)


@pytest.mark.parametrize("kind", ["bool", "int"])
@pytest.mark.parametrize("op", TABLE, ids=lambda op: op.name)
def test_an_example_of_every_operator(op, kind):
    text, given = op.examples[0]
    shapes = read_shapes([given])
    values = {n: generator(text, n).integers(-2, 3, s) for n, s in shapes.items()}
    if kind == "bool":
        agrees(text, {n: v > 0 for n, v in values.items()})
    else:
        agrees(integers(text, shapes), values, op.name)


def mixed(op):
    """Calls of an operator whose inputs are floats, integers and masks, not all the same."""
    for text, given in op.examples[:2]:
        shapes = read_shapes([given])
        for kinds in product("fib", repeat=len(shapes)) if 2 <= len(shapes) <= 4 else ():
            named = dict(zip(shapes, kinds))
            whole = [name for name, kind in named.items() if kind == "i"]
            drawn = {n: generator(text, n) for n in shapes}
            values = {n: drawn[n].integers(-2, 3, s) for n, s in shapes.items()}
            values |= {n: values[n] > 0 for n in shapes if named[n] == "b"}
            values |= {n: drawn[n].uniform(0.3, 0.9, shapes[n]) for n in shapes if named[n] == "f"}
            if len(set(kinds)) > 1:
                yield integers(text, whole) if whole else text, values


@pytest.mark.parametrize("op", TABLE, ids=lambda op: op.name)
def test_mixed_kinds_that_pytorch_refuses_are_refused(op):
    """ldexp of a mask has a value here, as kernels that PyTorch lacks have elsewhere."""
    for text, values in mixed(op):
        ours, theirs = in_gradcli(text, values), in_torch(text, values)
        if theirs is None:
            assert ours is None or op.name == "ldexp", text
        elif ours is not None:
            assert KINDS[ours.dtype.kind] == KINDS[theirs.dtype.kind], text
            np.testing.assert_allclose(ours.astype(float), theirs.astype(float), 1e-9, 1e-11)


@pytest.mark.parametrize(
    "text",
    [
        "tensor([200], dtype=torch.uint8) + 100",
        "tensor([200]).to(torch.uint8) + 100",
        "tensor([100]).type(torch.int8) + 100",
        "tensor([200]).type('torch.ByteTensor')",
        "torch.full((1,), 200, dtype=torch.uint8) + 100",
        "torch.arange(3, dtype=torch.int16) - 1",
        "tensor([100, 200]).sum(dtype=torch.uint8)",
        "np.array([200], dtype=np.uint8) + 100",
        "tensor([200]).byte()",
        "np.int8(100)",
    ],
)
def test_integers_of_few_bits_wrap_around_in_pytorch_and_are_refused(text):
    with pytest.raises(GradcliError) as caught:
        gradcli.grad(f"(({text}) * x).sum()", values={"x": [1.0]})
    assert caught.value.code in ("unsupported", "unknown-function")


GIVEN = {
    "x": np.array([0.5, 1.5, -2.0]),
    "m": np.array([True, False, True]),
    "n": np.array([1, 2, -3]),
}
MIXED = [
    ("exp(m) * x", True),
    ("x * log1p(m)", True),
    ("tanh(m) * x", True),
    ("(1e10 * atan2(m, m) * x).sum()", True),
    ("m.sigmoid() * x", True),
    ("softmax(m, 0)", False),
    ("sign(m) * x", True),
    ("F.pad(m, (1, 0), value=4)", True),
    ("F.pad(m, (1, 0), value=0.2)", True),
    ("F.pad(n, (1, 0), value=1.7)", True),
    ("F.pad(n, (1, 0), value=inf)", False),
    ("F.pad(m, (0, 0))", True),
    ("m.masked_fill(m, 1.5)", True),
    ("n.masked_fill(m, 1.5)", True),
    ("n.masked_fill(m, inf)", False),
    ("x.masked_fill(m, n[0])", True),
    ("n.index_fill(0, n[:1] * 0, 1.5)", True),
    ("m.index_fill(0, n[:1] * 0, 3)", True),
    ("torch.full_like(n, 2.5)", True),
    ("torch.full_like(m, 0.5, dtype=torch.float64)", True),
    ("torch.ones_like(m)", True),
    ("n.new_zeros(2)", True),
    ("m.new_full((2,), 7)", True),
    ("m.new_tensor([1.5, 0, 2])", True),
    ("n.new_tensor([1.5, -2.5])", True),
    ("m.new_tensor(x) * x", True),
    ("n.new_tensor(x) * x", True),
    ("(m ^ (n > 1)) * x", True),
    ("(n & 3) * x", True),
    ("(n | m) * x", True),
    ("m & 1", True),
    ("n & True", True),
    ("~n", True),
    ("n & x", False),
    ("n & 1.0", False),
    ("~x", False),
    ("n << 2", True),
    ("1 << n", True),
    ("n >> 1", True),
    ("m << n", True),
    ("n << tensor([63, 64, -1])", True),
    ("n >> tensor([63, 64, -1])", True),
    ("m << m", False),
    ("n << 1.0", False),
    ("x >> 1", False),
    ("(tensor([5, 3, -2]) ^ tensor([1, 6, 2])) * x", True),
    ("torch.bitwise_xor(n, m)", True),
    ("n.bitwise_left_shift(3)", True),
    ("torch.logical_and(n, x)", True),
    ("torch.logical_not(n)", True),
    ("torch.ldexp(x, m)", False),
    ("torch.ldexp(m, m)", True),
    ("torch.ldexp(n, m)", True),
    ("n ** tensor([-1, 3, -2])", True),
    ("0 ** tensor([2, -3, 5]) + n", True),
    ("n ** -1", False),
    ("n % 0", False),
    ("n // 0", False),
    ("n % 0.0", True),
    ("2 ** n", True),
    ("m ** 2", True),
    ("m + m", True),
    ("m * m", True),
    ("m - m", False),
    ("x - m", False),
    ("-m", False),
    ("m / m", True),
    ("m.diff()", True),
    ("m.square()", True),
    ("m.cumsum(0)", True),
    ("m.sum_to_size(1)", True),
    ("torch.where(m, n, 1.5)", True),
    ("n.clamp(0.5, 1.5)", True),
    ("m.mean()", False),
    ("m.mean(dtype=torch.float64)", True),
    ("n.var()", False),
    ("x @ n", False),
    ("m @ m", False),
    ("n @ n", True),
    ("torch.dot(x, m.double())", True),
    ("hypot(x, m)", True),
    ("hypot(n, n)", False),
    ("torch.pow(m, m)", False),
    ("F.mse_loss(x, m)", True),
    ("F.mse_loss(n, n)", False),
    ("F.binary_cross_entropy(x.sigmoid(), m)", False),
    ("F.binary_cross_entropy_with_logits(x, m)", False),
    ("F.cross_entropy(x, n[0].abs())", True),
    ("F.cross_entropy(n, n[0].abs())", False),
    ("F.embedding(n[:2].abs(), n.reshape(3, 1))", True),
    ("n.scatter_reduce(0, n * 0, n, 'amax', include_self=False)", True),
    ("m.scatter_reduce(0, n * 0, m, 'amin', include_self=False)", True),
    ("n.scatter_reduce(0, n * 0, n, 'mean')", True),
    ("n.scatter(0, n * 0, x)", False),
    ("torch.fft.fftshift(n)", True),
    ("torch.add(m, m, alpha=2)", True),
    ("torch.add(m, m, alpha=0)", True),
    ("torch.add(m, n, alpha=2)", True),
    ("torch.add(m, 1.5, alpha=2)", True),
    ("n.add(0.5, alpha=2)", True),
    ("n.add(n, alpha=0.5)", False),
    ("torch.sub(n, 1, alpha=0.5)", False),
    ("torch.rsub(n, n, alpha=0.5)", False),
    ("torch.add(x, x, alpha=True)", False),
    ("torch.index_select(x, 0, m)", False),
    ("x.gather(0, m)", False),
    ("x.take(m)", False),
    ("x.index_add(0, m, x)", False),
    ("F.embedding(m, n.reshape(3, 1))", False),
    ("F.cross_entropy(x, m[0])", False),
    ("F.cross_entropy(x, n)", False),
    ("F.cross_entropy(x, m)", False),
    ("F.max_pool1d(n[None], 2, return_indices=True)[0]", True),
    ("F.avg_pool1d(n[None], 2)", True),
    ("F.avg_pool1d(m[None], 2)", False),
    ("F.lp_pool1d(n[None], 2, 2)", True),
    ("F.lp_pool1d(m[None], 2, 2)", True),
    ("F.lp_pool1d(n[None], inf, 2)", False),
    ("x.repeat_interleave(m)", False),
    ("x.repeat_interleave(n.abs())", True),
    ("x.repeat_interleave(tensor([[1, 2, 3]]))", False),
    ("x.repeat_interleave([1, 2, 3])", False),
    ("torch.positive(m)", False),
    ("torch.meshgrid(x, n)[0]", False),
    ("torch.cartesian_prod(x, m)", False),
    ("torch.einsum('i,j->ij', [x, n])", True),
    ("torch.einsum('i,i->', [x, n])", False),
    ("torch.linalg.matrix_power(n.reshape(3, 1)[:1], 0)", True),
    ("torch.linalg.matrix_power(n.reshape(3, 1)[:1], -1)", False),
    ("x.index_put((n[:1],), n[:1])", False),
    ("torch.dist(x, m)", False),
    ("torch.cov(x, fweights=m)", False),
    ("torch.float_power(x, m)", True),
    ("torch.quantile(x, n[:1] * 0)", False),
    ("x[: n[1]]", True),
    ("x[n[:1] :]", True),
    ("x[: m[0]]", True),
    ("x[:n]", False),
    ("x[: x[0]]", False),
]


@pytest.mark.parametrize(("text", "answered"), MIXED)
def test_calls(text, answered):
    values = {n: v for n, v in GIVEN.items() if re.search(rf"\b{n}\b", text)}
    ours, theirs = in_gradcli(integers(text, ["n"]), values), in_torch(text, values)
    assert (theirs is not None) == answered
    assert (ours is not None) == answered
    if answered:
        assert KINDS[ours.dtype.kind] == KINDS[theirs.dtype.kind]
        np.testing.assert_allclose(ours, theirs, 1e-12)


GRADIENTS = [  # where the value may be had, and its gradient not
    "huber_loss(x, m)",
    "soft_margin_loss(x, m)",
    "addcdiv(x, x, tensor([1, 2, 3]))",
    "addr(x.outer(x), x, tensor([1, 2, 3]))",
    "x.exp() ** m",
    "atan2(m, x)",
    "logaddexp(x, m)",
    "float_power(x, m)",
    "smooth_l1_loss(x, m)",
    "m ** x.exp()",
    "atan2(x, m)",
]


@pytest.mark.parametrize("text", GRADIENTS)
def test_gradients_beside_masks_and_integers(text):
    given = {n: v for n, v in GIVEN.items() if re.search(rf"\b{n}\b", text)}
    tensors = {n: torch.tensor(v, requires_grad=n == "x") for n, v in given.items()}
    try:
        run_torch(f"{text}.sum()", tensors).backward()
        theirs = tensors["x"].grad.numpy()
    except RuntimeError:
        theirs = None
    try:
        ours = gradcli.grad(f"{text}.sum()", values=given, wrt=["x"])
    except GradcliError:
        ours = None
    assert (ours is None) == (theirs is None)
    if theirs is not None:
        np.testing.assert_allclose(ours, theirs, 1e-9)


NUMPY = ["exp(x > 0) * x", "atan2(x > 0, x < 9) * erf(x > 0) * x", "(x > 0).sigmoid() * x"]


@pytest.mark.parametrize("text", NUMPY)
def test_functions_of_masks_in_programs_for_numpy(text):
    program = gradcli.code(text, values={"x": [1.0, 2.0]}, target="numpy")
    scope = {}
    exec(program, scope)
    x = torch.tensor([1.0, 2.0])
    theirs = run_torch(text, {"x": x}).numpy()
    np.testing.assert_allclose(scope["f"](np.array([1.0, 2.0])), theirs, 1e-12)


def test_closed_forms_of_jacobians_take_masks():
    found = gradcli.jacobian("sigmoid(x > 0) * x", values={"x": [1.0, -2.0]})
    diagonal = torch.sigmoid(torch.tensor([True, False])).numpy()
    np.testing.assert_allclose(np.asarray(found), np.diag(diagonal), 1e-12)


WRITTEN_OVER = [
    "n.select_scatter(v, 0, 1)",
    "n.slice_scatter(v[None], 0, 1, 2)",
    "n.diagonal_scatter(v)",
    "(n > 2).select_scatter(v, 1, 0)",
    "(n > 2).diagonal_scatter(n[0])",  # a mask, in which 1 and 2 are True
]


@pytest.mark.parametrize("text", WRITTEN_OVER)
def test_what_a_part_is_replaced_with_takes_its_kind(text):
    n, v = [[1, 2], [3, 4]], [1.7, -2.5]
    theirs = eval(text, {"n": torch.tensor(n), "v": torch.tensor(v)})
    ours = text.replace("n.", "n.long().").replace("n >", "n.long() >").replace("n[", "n.long()[")
    values = {"n": n, "w": 1.0} | ({"v": v} if "v" in text else {})
    expr = f"({ours}).double() * w"
    (found,) = gradcli.batch([{"expr": expr, "values": values, "wrt": "w", "want": ["output"]}])
    assert found["output"] == theirs.double().tolist()
