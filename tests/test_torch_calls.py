"""Calls as PyTorch takes them: typed here and run there, the answers and gradients compared."""

import inspect
import re

import numpy as np
import pytest

import gradcli
from gradcli import GradcliError
from gradcli.explanation.analysis import Analysis
from gradcli.graphs import OPS
from gradcli.graphs.arguments import REQUIRED
from gradcli.language.posing import pose
from gradcli.operators import all_operators
from gradcli.operators.families import SHORTHANDS
from gradcli.public_names import OTHER_IN_TORCH
from gradcli.snippets.reading import read

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore::UserWarning")]

DRAWS = np.random.default_rng(7)


def drawn(*shape):
    return DRAWS.uniform(0.3, 1.7, shape)


def agrees(text, rtol=1e-12, **values):
    """Output and gradients of a call, by a seed that is no constant, are those of PyTorch."""
    tensors = {
        n: torch.tensor(v, requires_grad=np.asarray(v).dtype == float) for n, v in values.items()
    }
    scope = {"torch": torch, "F": torch.nn.functional, "tensor": torch.tensor, **tensors}
    want = eval(text, scope)
    seed = np.linspace(0.5, 1.5, want.numel()).reshape(want.shape)
    wrt = [n for n, t in tensors.items() if t.requires_grad]
    sent = torch.autograd.grad(
        want, [tensors[n] for n in wrt], torch.tensor(seed), allow_unused=True
    )
    found = Analysis(pose(text, values=values, grad=seed, wrt=wrt))
    out, grads = found.value(found.problem.out), found.grad_values()
    np.testing.assert_allclose(out, want.detach().numpy(), rtol, 1e-13)
    for name, grad in zip(wrt, sent, strict=True):
        have = grads[name]
        assert (have is None) == (grad is None), name
        if grad is not None:
            np.testing.assert_allclose(have, grad.numpy(), 1e-10, 1e-12, err_msg=name)


def refused(text, **values):
    with pytest.raises(GradcliError) as caught:
        gradcli.explain(text, values=values)
    return caught.value


# ---- ranges of dtypes ----------------------------------------------------------------------------

FLOATS = ["float16", "half", "bfloat16", "float32", "float", "float64", "double"]
INTS = ["uint8", "int8", "int16", "short", "int32", "int", "int64", "long"]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("fact", ["eps", "max", "min", "tiny", "smallest_normal", "resolution"])
def test_finfo(dtype, fact):
    agrees(f"x * torch.finfo(torch.{dtype}).{fact}", x=np.ones(2))


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("fact", ["max", "min", "bits"])
def test_iinfo(dtype, fact):
    agrees(f"x * torch.iinfo(torch.{dtype}).{fact}", x=np.ones(2))


def test_finfo_of_a_tensor():
    agrees("x.clamp(min=torch.finfo(x.dtype).eps) / torch.finfo(type=x.dtype).max", x=drawn(3))


# ---- rounding whose gradient passes straight through ---------------------------------------------

AT = np.array([-2.0, -1.25, -1.3, 0.0, 0.3125, 0.25, 1.25, 1.3, 7.0, -9.0])
BETWEEN = np.array([0.15, 1.15, 0.45, -0.45, 1.05, -1.15, 3.15, np.nan, np.inf, -3.45])
OF_32_BITS = 1e-6  # to which digits PyTorch's values are those of multiples of the scale


@pytest.mark.parametrize(
    "text",
    [
        "torch.fake_quantize_per_tensor_affine(x, 0.125, 0, -12, 12)",
        "torch.fake_quantize_per_tensor_affine(x, 0.375, 3, quant_min=0, quant_max=7)",
        "torch.fake_quantize_per_tensor_affine(x, tensor(0.125), tensor(3), -12, 12)",
        "torch.fake_quantize_per_tensor_affine(x, x[5].detach().float() / 2, tensor(3), -12, 12)",
        "torch.fake_quantize_per_channel_affine(x.reshape(5, 2), tensor([0.125, 0.375]).float(), "
        "tensor([0, 2]).int(), axis=1, quant_min=-5, quant_max=5)",
    ],
)
def test_numbers_of_few_bits(text):
    agrees(text, x=AT)


@pytest.mark.parametrize(
    "text",
    [
        "torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -11, 11)",
        "torch.fake_quantize_per_tensor_affine(x, 0.3, 3, -11, 11)",
        "torch.fake_quantize_per_tensor_affine(x, tensor(0.7).float(), tensor(1), -3, 4)",
        "torch.fake_quantize_per_channel_affine(x.reshape(5, 2).nan_to_num(posinf=9.0), "
        "tensor([0.1, 0.3]).float(), tensor([0, 2]).int(), 1, -11, 11)",
        "torch.fake_quantize_per_channel_affine(x.reshape(5, 2).nan_to_num(posinf=9.0), "
        "tensor([0.1, 0.3]).float(), tensor([0.5, 2.25]).float(), 1, -11, 11)",
    ],
)
def test_between_two_numbers_of_few_bits(text):
    agrees(text, OF_32_BITS, x=BETWEEN)


# ---- flags that say whether to write over the input ----------------------------------------------

IN_PLACE = [
    "F.relu(x, {})",
    "F.relu6(x, {})",
    "F.elu(x, 1.3, {})",
    "F.celu(x, 1.5, {})",
    "F.selu(x, {})",
    "F.silu(x, {})",
    "F.mish(x, {})",
    "F.hardtanh(x, -0.5, 0.5, {})",
    "F.hardsigmoid(x, {})",
    "F.hardswish(x, {})",
    "F.leaky_relu(x, 0.2, {})",
    "F.threshold(x, 0.4, 2.0, {})",
    "F.rrelu(x, 0.2, 0.3, False, {})",
    "F.dropout(x, 0.5, False, {})",
    "F.dropout1d(x, 0.5, False, {})",
    "F.alpha_dropout(x, 0.5, False, {})",
    "F.feature_alpha_dropout(x, 0.5, False, {})",
]


@pytest.mark.parametrize("text", IN_PLACE)
def test_in_place_false_by_place_and_by_name(text):
    x = drawn(2, 3, 4) - 1
    agrees(text.format("False"), x=x)
    agrees(text.format("inplace=False"), x=x)


@pytest.mark.parametrize("text", IN_PLACE)
def test_in_place_true_is_refused_by_place_and_by_name(text):
    for flag in ("True", "inplace=True"):
        error = refused(text.format(flag), x=[1.0, -2.0])
        assert error.code == "unsupported"
        assert "changes its input in place" in error.message


def test_what_pytorch_never_does_in_place_takes_no_flag():
    with pytest.raises(TypeError):
        torch.sin(torch.ones(2), inplace=True)
    assert refused("torch.sin(x, inplace=True)", x=[1.0]).code == "arguments"


# ---- torch.* whose arguments are not those of F.* ----------------------------------------------


@pytest.mark.parametrize("text", ["F.embedding(rows, w, -1)", "F.embedding(rows, weight=w)"])
def test_rows_of_a_table(text):
    agrees(text, w=drawn(4, 3), rows=np.array([0, 2, 2, 1]))


@pytest.mark.parametrize("name", OTHER_IN_TORCH)
def test_other_arguments_than_those_of_f_are_refused(name):
    error = refused(f"torch.{name}(x, x)", x=[1.0])
    assert error.code == "unsupported"
    assert error.message.startswith(f"torch.{name} has other arguments")
    outcome = read(f"import torch\nx = torch.ones(1)\ntorch.{name}(x, x)\n").outcome
    assert f"torch.{name}" in str(outcome.unsupported)


# ---- einsum --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("torch.einsum(a, [0, 1], b, [1, 2], [0, 2])", [(2, 3), (3, 4)]),
        ("torch.einsum(a, [0, 1], b, [1, 2])", [(2, 3), (3, 4)]),
        ("torch.einsum(a, [30, 4], b, [4, 2])", [(2, 3), (3, 4)]),
        ("torch.einsum(a, [..., 0], b, [..., 0], [...])", [(2, 3), (2, 3)]),
        ("torch.einsum(a, [..., 0], b, [0])", [(2, 5, 3), (3,)]),
        ("torch.einsum(a, [0, 0], b, [0], [])", [(3, 3), (3,)]),
        ("torch.einsum('...ij,...j', a, b)", [(2, 3, 4), (4,)]),
        ("torch.einsum('...ij,...j', a, b)", [(2, 3, 4), (1, 4)]),
        ("torch.einsum('...ij,...jk->...ik', a, b)", [(5, 1, 2, 3), (4, 3, 2)]),
        ("torch.einsum('...ij,...jk->ik', a, b)", [(5, 1, 2, 3), (4, 3, 2)]),
        ("torch.einsum('i...,...i->...', a, b)", [(3, 2), (4, 2, 3)]),
        ("torch.einsum('ij,j', a, b)", [(2, 1), (4,)]),
        ("torch.einsum('ij,ij->ij', a, b)", [(2, 1), (1, 4)]),
        ("torch.einsum('i...,...i->i...', a, b)", [(3, 1), (4, 2, 1)]),
        ("torch.einsum('i...i,...i->...', a, b)", [(3, 2, 3), (4, 2, 3)]),
        ("torch.einsum('i...,...i', a, b)", [(3, 2), (4, 2, 3)]),
        ("torch.einsum('...,...', a, b)", [(2, 1, 3), (4, 1)]),
        ("torch.einsum('i...j,ij...->ij', a, b)", [(2, 1, 3), (2, 3, 5)]),
    ],
)
def test_einsum(text, shapes):
    agrees(text, **{n: drawn(*s) for n, s in zip("ab", shapes)})


def test_einsum_by_number_has_to_be_readable():
    said = refused("einsum(a, a)", a=[[1.0]]).message
    assert said.startswith("einsum()")
    said = refused("einsum(a, [0, 52])", a=[[1.0]]).message
    assert said == "subscripts of einsum() must be from 0 to 51, got 52"


# ---- outputs that do not change -----------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["a.matrix_power(0)", "torch.linalg.matrix_power(torch.stack([a, a]), 0)"]
)
def test_gradients_of_zeros(text):
    agrees(text, a=drawn(3, 3))


NOTHING_SENT = [
    "torch.norm(a, 0)",
    "torch.linalg.vector_norm(a, 0)",
    "torch.linalg.norm(a[0], 0)",
    "torch.norm(a, 0, 1, True)",
]


@pytest.mark.parametrize("text", NOTHING_SENT)
def test_pytorch_goes_back_and_sends_nothing(text):
    a = torch.tensor(drawn(3, 3), requires_grad=True)
    out = eval(text, {"torch": torch, "a": a})
    out.backward(torch.ones_like(out))
    assert a.grad is None
    error = refused(text, a=a.detach().numpy())
    assert error.hint == "PyTorch's backward() runs but sends no gradient: .grad stays None"


@pytest.mark.parametrize("driver", ["gelsy", "gelsd", "gels"])
def test_residuals_that_pytorch_leaves_out(driver):
    a, b = drawn(3, 3), drawn(3, 2)
    text = f"torch.linalg.lstsq(a, b, driver='{driver}').residuals"
    assert eval(text, {"torch": torch, "a": torch.tensor(a), "b": torch.tensor(b)}).shape == (0,)
    found = gradcli.explain(text, values={"a": a, "b": b}, grad=np.zeros(0))
    assert not found.grad["a"]["value"].any()


NO_GRADIENT = [
    "torch.linalg.lstsq(a, a, driver='gelsd').singular_values",
    "torch.linalg.lstsq(a, a).singular_values",
    "a.long() * 1.0",
]


@pytest.mark.parametrize("text", NO_GRADIENT)
def test_no_gradient_at_all(text):
    a = torch.tensor(drawn(3, 2), requires_grad=True)
    out = eval(text, {"torch": torch, "a": a})
    with pytest.raises(RuntimeError) as theirs:
        out.backward(torch.ones_like(out))
    error = refused(text, a=a.detach().numpy())
    assert error.hint.splitlines()[-1] == f"PyTorch: {theirs.value}"


# ---- special functions with a gradient by one input, or none ------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "torch.igamma(a.detach(), b)",
        "torch.igammac(a.detach(), b)",
        "a.detach().igamma(b)",
        "torch.special.gammainc(a.detach(), b)",
        "torch.special.gammaincc(a.detach(), b)",
        "torch.special.zeta(a.detach() + 1, b)",
        "torch.special.zeta(2.0, b)",
        "a * torch.heaviside(b.detach() - 1, a.detach())",
    ],
)
def test_special_functions_of_two_numbers(text):
    agrees(text, **{n: drawn(2, 3) for n in "ab" if f"{n}." in text or f"{n})" in text})


@pytest.mark.parametrize(
    "text",
    [
        "torch.igamma(a, b)",
        "torch.igammac(a, b)",
        "torch.special.zeta(a + 1, b)",
        "torch.heaviside(a, b)",
        "a // b",
    ],
)
def test_what_pytorch_says_where_it_has_no_derivative(text):
    values = {"a": drawn(2), "b": drawn(2)}
    tensors = {n: torch.tensor(v, requires_grad=True) for n, v in values.items()}
    with pytest.raises((RuntimeError, NotImplementedError)) as theirs:
        eval(text, {"torch": torch, **tensors}).sum().backward()
    error = refused(text, **values)
    assert error.code == "not-differentiable"
    assert error.hint.startswith(f"PyTorch: {theirs.value}")


@pytest.mark.parametrize("p", [9, 10, 11, 12, 300])
def test_gamma_functions_of_matrices(p):
    agrees(f"torch.mvlgamma(x, {p})", x=drawn(2, 3) + p / 2)


BESSEL = [
    *("airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0"),
    *("modified_bessel_i1", "modified_bessel_k0", "modified_bessel_k1", "spherical_bessel_j0"),
    *("scaled_modified_bessel_k0", "scaled_modified_bessel_k1"),
]
POLYNOMIALS = [
    *(f"{shift}chebyshev_polynomial_{kind}" for shift in ("", "shifted_") for kind in "tuvw"),
    *("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l"),
    "legendre_polynomial_p",
]


@pytest.mark.parametrize("name", BESSEL)
def test_bessel_functions_have_no_grad_fn(name):
    agrees(f"a * torch.special.{name}(a)", a=drawn(2, 3))
    x = torch.linspace(4, 20, 50, dtype=torch.float64)  # where PyTorch has six digits of some
    assert np.allclose(
        gradcli.explain(f"1 * x + special.{name}(x)", values={"x": x.numpy()}).output["value"],
        x + getattr(torch.special, name)(x),
        rtol=1e-6,
    )
    cut, said = refused(f"torch.special.{name}(a)", a=drawn(2)).hint.splitlines()
    assert "functions without a derivative" in cut
    assert said == "PyTorch: element 0 of tensors does not require grad and does not have a grad_fn"


@pytest.mark.parametrize("name", ["hermite_polynomial_h", "hermite_polynomial_he"])
@pytest.mark.parametrize("degree", ["512", "513", "1e9", "tensor([10., 600., 100.])"])
def test_hermite_polynomials_of_high_degrees(name, degree):
    agrees(f"1 * x + torch.special.{name}(x, {degree})", x=np.array([0.0, 0.5, 2.0]))


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_orthogonal_polynomials_have_no_grad_fn(name):
    a = drawn(2, 3) - 1
    for degree in range(-1, 6):
        agrees(f"a * torch.special.{name}(a, {degree})", a=a)
    agrees(f"a * torch.special.{name}(a, n)", a=a, n=np.array([0, 2, 7]))


# ---- recurrent layers ----------------------------------------------------------------------------


def weights(rows, into, state, count=1):
    """Two matrices and two biases for each of `count` layers and directions."""
    found = {}
    for k in range(count):
        found[f"w{k}"], found[f"u{k}"] = drawn(rows, into) - 1, drawn(rows, state) - 1
        found[f"b{k}"], found[f"c{k}"] = drawn(rows) - 1, drawn(rows) - 1
    return found


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("torch.rnn_tanh_cell(x, h, w0, u0, b0, c0)", 4),
        ("torch.rnn_relu_cell(x, h, w0, u0, b0, c0)", 4),
        ("torch.rnn_tanh_cell(input=x, hx=h, w_ih=w0, w_hh=u0)", 4),
        ("torch.gru_cell(x, h, w0, u0, b0, c0)", 12),
        ("torch.gru_cell(x, h, w0, u0)", 12),
        ("torch.lstm_cell(x, (h, h * h), w0, u0, b0, c0)[0]", 16),
        ("torch.lstm_cell(x, [h, h * h], w0, u0)[1]", 16),
    ],
)
def test_cells(text, rows):
    given = {n: v for n, v in weights(rows, 3, 4).items() if n in text}
    agrees(text, x=drawn(2, 3), h=drawn(2, 4), **given)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(("name", "rows"), [("rnn_tanh", 4), ("rnn_relu", 4), ("gru", 12)])
def test_sequences(name, rows, place):
    call = f"torch.{name}(x, h, [w0, u0, b0, c0], True, 1, 0.0, False, False, False)[{place}]"
    agrees(call, x=drawn(3, 2, 3), h=drawn(1, 2, 4), **weights(rows, 3, 4))


@pytest.mark.parametrize("place", [0, 1, 2])
def test_lstm_of_two_layers_in_two_directions(place):
    given = weights(8, 3, 2, 2) | {
        f"{n[0]}{int(n[1]) + 2}": v for n, v in weights(8, 4, 2, 2).items()
    }
    names = ", ".join(f"w{k}, u{k}, b{k}, c{k}" for k in range(4))
    call = f"torch.lstm(x, (h, m), [{names}], True, 2, 0.5, False, True, True)[{place}]"
    agrees(call, x=drawn(2, 3, 3), h=drawn(4, 2, 2), m=drawn(4, 2, 2), **given)


@pytest.mark.parametrize("name", [
    "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout",
])  # fmt: skip
def test_dropout_is_random_where_pytorch_trains_by_default(name):
    x, text = torch.ones(200, 20, 1, 1, 1), f"F.{name}(x)"
    x = x if name == "dropout3d" else x[..., 0] if name == "dropout2d" else x[..., 0, 0]
    if (eval(text, {"F": torch.nn.functional, "x": x}) == x).all():
        agrees(text, x=x[:2].double().numpy())
    else:
        error = refused(text, x=x[:2].numpy())
        assert (error.code, "random" in error.message) == ("unsupported", True)


def test_dropout_between_layers_is_random():
    given = weights(4, 4, 4, 2)
    names = ", ".join(f"w{k}, u{k}, b{k}, c{k}" for k in range(2))
    call = f"torch.rnn_tanh(x, h, [{names}], True, 2, 0.5, True, False, False)[0]"
    error = refused(call, x=drawn(3, 2, 4), h=drawn(2, 2, 4), **given)
    assert (error.code, "random" in error.message) == ("unsupported", True)


# ---- names that say what other names do ----------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "torch.nuclear_norm(a)",
        "torch.frobenius_norm(a, [1])",
        "torch.norm_except_dim(a)",
        "torch.norm_except_dim(a, 2, 0)",
        "torch.norm_except_dim(a, 3, 1)",
        "torch.norm_except_dim(a, 2, -1)",
        "torch.conv_tbc(a[:, None], b[:, :, None], b[0, :1], 1)",
        "torch.convolution(a[None], b[None], None, [1], [1], [1], False, [0], 1)",
        "torch.convolution(a[None], b[:, :, None], None, [2], [0], [1], True, [1], 1)",
        "torch.affine_grid_generator(torch.stack([a, b]), [2, 1, 3, 2], False)",
        "F.scaled_dot_product_attention(torch.stack([a, b, a + b, a - b])[None], "
        "torch.stack([b, a])[None], torch.stack([a, 2 * b])[None], enable_gqa=True)",
        "F.scaled_dot_product_attention(torch.stack([a, b]), b[None], a[None], enable_gqa=True)",
        "a.type_as(b)",
        "a.real * b",
        "a.new_zeros(2, 3) + a",
        "a.new_ones((2, 3)) * a",
        "a.new_full((2, 3), 2.5) * a",
        "a.new_tensor([1.0, 2.0, 3.0]) * a",
        "torch.scalar_tensor(2.5) * a",
        "torch.logspace(0, 1, 3, dtype=torch.float64) * a",
        "torch.logspace(-1, 1, 3, 2.0, dtype=torch.float64) * a",
        "torch.range(0, 2) * a",
        "a[torch.tril_indices(2, 3)[0], torch.tril_indices(2, 3)[1]]",
        "torch.triu_indices(2, 3, 1) * a",
        *(
            f"torch.{name}_window(3, dtype=torch.float64) * a"
            for name in ("bartlett", "hann", "hamming", "blackman", "kaiser")
        ),
        "torch.hann_window(3, False, dtype=torch.float64) * a",
        "torch.hamming_window(3, True, 0.6, 0.3, dtype=torch.float64) * a",
        "torch.signbit(1 - a) * a",
        "torch.isclose(a, a + 1e-9 * b) * a",
        "torch.isclose(a, b, 0.5) * a",
        "torch.isclose(a, a + 0.5, 0.0, 0.5) * a",
        "torch.isposinf(a / torch.zeros(3)) * a",
        "torch.isneginf(-a / torch.zeros(3)) * a",
        "torch.isreal(a) * a",
        "torch.isin(a, a[0]) * a",
        "torch.isin(a, a[0], invert=True) * a",
        "torch.logical_xor(a > 1, b > 1) * a",
        "a.bool() * a",
        "torch.bucketize(a, tensor([0.5, 1.0, 1.5])) * a",
        "torch.searchsorted(tensor([0.5, 1.0, 1.5]), a, right=True) * a",
        "torch.searchsorted(tensor([[0.5, 1.0], [0.1, 0.2]]), a, side='left') * a",
        "a.nonzero().sum() * a",
        "torch.where(condition=a > 1, input=a, other=2 * b)",
        "a.where(condition=a > 1, other=2 * b)",
        "a.expand(size=(2, 2, 3))",
        "a.view(size=(3, 2))",
        "a.tile(dims=(2, 1))",
        "a.narrow_copy(1, 0, 2)",
        "a * torch.tensor(data=[1.0, 2.0, 3.0])",
        "torch.hsplit(a, sections=3)[1]",
        "torch.hsplit(a, indices=[1])[1]",
        "torch.vsplit(a, sections=2)[1]",
        "torch.dsplit(a[None], indices=[1, 2])[1]",
        "a.hsplit(1, 2)[1]",
        "a[None].dsplit(1, 1, 2)[2]",
        "a.select(1, tensor(2))",
        "a.select(0, tensor([1]))",
        "torch.take_along_dim(a, tensor([[0, 5], [-4, 100]]), 1)",
        "torch.split(tensor=a, split_size_or_sections=1)[1]",
        "torch.matrix_power(input=a[:, :2], n=2)",
        "torch.linalg.pinv(input=a)",
        "torch.linalg.norm(input=a)",
        "torch.linalg.lstsq(input=a[:, :2], b=a[0, :2])[0]",
        "torch.linalg.tensorinv(input=a[:, :2].reshape(2, 1, 2), ind=1)",
        "torch.slogdet(input=a[:, :2])[1]",
        "torch.cholesky_inverse(input=a[:, :2])",
        "torch.cholesky_solve(a, input2=a[:, :2].tril())",
        "torch.orgqr(a.T, input2=a[0, :2])",
        "torch.ormqr(a.T, input2=a[0, :2], input3=a.T)",
        "a.new_zeros(size=(2, 3)) + a * a.new_ones(size=(3,))",
        "a[0] * torch.hamming_window(3, True, alpha=0.5, beta=0.4, dtype=torch.float64)",
        "a[0] * torch.kaiser_window(3, periodic=False, beta=10.0, dtype=torch.float64)",
        "a * torch.searchsorted(tensor([3.0, 1.0, 2.0]), a, sorter=tensor([1, 2, 0]))",
        "a * torch.special.laguerre_polynomial_l(x=a.detach(), n=3)",
        "a * torch.special.bessel_j0(input=a.detach())",
        "a * torch.special.airy_ai(x=a.detach())",
        "a + torch.vander(a[0].detach(), N=0).sum()",
        "a + F.multilabel_margin_loss(a[0, :1], tensor([-1]))",
        "torch.gather(a, 1, index=tensor([[0], [2]]), sparse_grad=False)",
        "a[Ellipsis, 0]",
        "a[slice(0, 2), slice(None, None, 2)]",
        "a.shape.numel() * a + a.size().numel()",
    ],
)
def test_other_names(text):
    text = text.replace("torch.zeros(3)", "torch.zeros(3, dtype=torch.float64)")
    agrees(text, **{n: drawn(2, 3) for n in "ab" if re.search(rf"\b{n}\b(?!=)", text)})


@pytest.mark.parametrize(
    "text",
    [
        "torch.cat(x.chunk(2), dim=1)",
        "torch.cat(x.split(1), 1)",
        "torch.cat([*x.unbind(0)])",
        "torch.cat(x.unbind(0) + x.unbind(0))",
        "torch.cat(x.max(0))",
        "torch.concat(tensors=x.unbind(0))",
        "torch.stack(x.unbind(1))",
        "torch.hstack(x.chunk(2))",
        "torch.vstack(x.unbind(0))",
        "torch.dstack(x.unbind(0))",
        "torch.column_stack(x.unbind(0))",
        "torch.block_diag(*x.chunk(2, 1))",
        "torch.cartesian_prod(*x.unbind(0))",
        "torch.meshgrid(x.unbind(0))[1]",
        "torch.atleast_2d(x.unbind(0))[1]",
        "torch.linalg.multi_dot(x.chunk(2, 1))",
        "torch.einsum('ij,kj->ik', x.split(1))",
        "sum(x.unbind(0))",
        "sum(x.unbind(0), 3)",
    ],
)
def test_several_outputs_where_pytorch_takes_a_tuple(text):
    agrees(text, x=drawn(2, 4))


@pytest.mark.parametrize(
    "text",
    [
        "x.masked_fill(x > 1, float('-inf')).softmax(-1)[0]",
        "x.norm(p=float('inf'))",
        "x * float('1e-3')",
        "x * int('3')",
        "x * max(2, 3)",
        "x * min(x.shape)",
    ],
)
def test_functions_of_python_that_take_no_tensor(text):
    agrees(text, x=drawn(2, 4))


@pytest.mark.parametrize(
    "index",
    [
        "[[0, 1], [1, 0]]",
        "[[0, 1]]",
        "[[0], [1]]",
        "[[[0, 1], [1, 0]]]",
        "[[[0, 1]], [[1, 0]]]",
        "[[[[0, 1]]]]",
        "[[0, 1], [1]]",
        "[[0, 1], [[0], [1]]]",
        "[[0, 1], 0]",
        "[None, [0, 1]]",
        "[..., 0]",
        "[[True, False, True], [True, True, False]]",
        "[tensor([0, 1]), 1]",
        "[0, True]",
        "((0, 1), (1, 0))",
        "tensor([[0, 1], [1, 0]])",
        ":, [[0, 1], [1, 0]]",
        "[[0, 1], [1, 0]],",
        "(x > 1).nonzero(as_tuple=True)",
        "range(2)",
        f"[{'[0], ' * 33}]",
        "..., -1, ...",
        "..., None, ..., ...",
        "..., ...",
    ],
)
def test_lists_and_dots_in_brackets(index):
    agrees(f"x[{index}]", x=drawn(3, 3))


@pytest.mark.parametrize("index", ["(0, 1)", "[0, 1]", "[[0, 1], [1, 2]]", "[0] + [1]"])
def test_lists_and_tuples_with_names_in_brackets(index):
    x = drawn(3, 3)
    t = torch.tensor(x, requires_grad=True)
    picked = t[eval(index)]
    weights = np.linspace(0.5, 1.5, picked.numel()).reshape(picked.shape)
    picked.backward(torch.tensor(weights))
    found = gradcli.grad(f"i = {index}; x[i]", values={"x": x}, grad=weights)
    np.testing.assert_array_equal(found, t.grad.numpy())


@pytest.mark.parametrize(
    "program",
    [
        "y = x[torch.where(x > 1)]",
        "i = torch.where(x > 1); y = x[i]",
        "a, *b = x.unbind(0); y = a * b[1]",
        "*a, b = x; y = a[0] * b",
        "a, *b, c, d = x; y = a * c * d",
        "[a, b, c] = x; y = a * b",
        "a, = x[1:2]; y = a * x",
        "(a,) = x[0, 1:2]; y = a * x",
        "[a] = x.split(3); y = a * x",
        "*a, = x; y = a[0] * a[2]",
        "y = torch.stack(list(x.unbind(1)))",
        "y = torch.cat(list(x))",
        "y = tuple(x)[1]",
        "y = x.view(torch.Size([9]))",
        "y = nn.Identity(3, a=2)(x) * 2",
        "y = nn.Flatten()(x[None])",
        "f = nn.Flatten(0); y = f(x)",
        "y = nn.Flatten(end_dim=1)(x[None])",
        "y = nn.Sequential(nn.Flatten(), nn.ReLU())(x[None])",
        "d = nn.Dropout(0.5); d.eval(); y = d(x) * x",
        "d = nn.Dropout2d().eval(); y = d(x[None]) * x",
        "m = nn.ReLU(); m.train(); y = m(x)",
        "d = nn.Dropout(0.5).train(False); y = d(x) * x",
        "d = nn.Dropout(0.5, False); d.train(mode=False); y = d(x) * x",
        "d = nn.Dropout(p=0.0); d.train(); y = d(x) * x",
        "m = nn.Sequential(nn.Softmax(1), nn.Dropout(0.5)); m.eval(); y = m(x)",
        "m = nn.Sequential(nn.Tanh(), nn.Sequential(nn.Dropout(), nn.ReLU())).eval(); y = m(x)",
        "m = nn.Sequential(nn.Dropout(0.5), nn.Tanh()); m.train(); m.train(False); y = m(x)",
        "t = torch.tensor; y = t([1.0, 2.0, 3.0], dtype=torch.float64) * x",
    ],
)
def test_programs_of_several_values_and_of_modules(program):
    x = drawn(3, 3)
    scope = {"torch": torch, "nn": torch.nn, "x": torch.tensor(x, requires_grad=True)}
    exec(program, scope)
    seed = np.linspace(0.5, 1.5, scope["y"].numel()).reshape(scope["y"].shape)
    scope["y"].backward(torch.tensor(seed))
    found = gradcli.explain(program, values={"x": x}, grad=seed)
    np.testing.assert_allclose(found.grad["x"]["value"], scope["x"].grad.numpy(), 1e-12)
    assert "x.grad" in str(found)


@pytest.mark.parametrize("name", ["geqrf", "histogram", "empty_like"])
def test_names_that_give_no_gradient_in_pytorch_say_so(name):
    error = refused(f"torch.{name}(a)", a=[1.0, 2.0])
    assert error.code == "unsupported"
    assert "in PyTorch" in error.message or "uninitialized memory" in error.message


# ---- a dtype by place, and orders of arguments that PyTorch has given up ------------------------


@pytest.mark.parametrize(
    "text",
    [
        "torch.softmax(x, 1, torch.float64)",
        "x.log_softmax(-1, torch.double)",
        "torch.special.softmax(x, 1, torch.float64)",
        "F.softmax(x, 0, 3, torch.float64)",
        "F.log_softmax(x, dim=1, _stacklevel=5)",
        "F.softmin(x, 1, 3, torch.float64)",
        "torch.norm(x, 2, 1, True, None, torch.float64)",
        "x.norm(2, 1, True, torch.float64)",
        "torch.add(x, 2, x * x)",
        "x.sub(2.5, x * x)",
        "torch.addcmul(x, 2, x, x)",
        "x.addcdiv(2, x, x * x)",
        "torch.addmm(2, x @ x.T, 3, x, x.T)",
        "torch.addmm(2, x @ x.T, x, x.T)",
        "(x @ x.T).addmm(2, 3, x, x.T)",
        "(x @ x.T).addmm(2, x, x.T)",
        "torch.addmv(2, x[:, 0], 3, x, x[0])",
        "torch.addr(2, x, x[:, 0], x[0])",
        "torch.baddbmm(2, y @ y.mT, 3, y, y.mT)",
        "torch.addbmm(2, y[0] @ y[0].T, y, y.mT)",
    ],
)
def test_orders_that_pytorch_takes(text):
    values = {"x": drawn(2, 3), "y": drawn(2, 3, 4)}
    agrees(text, **{name: v for name, v in values.items() if name in text.replace("exp", "")})


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 3, 2), (2, 3, 2, 2)])
@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
def test_dim_that_f_leaves_out(name, shape):
    agrees(f"F.{name}(x)", x=drawn(*shape))


def test_dim_that_torch_does_not_leave_out():
    with pytest.raises(TypeError):
        torch.softmax(torch.ones(2))
    assert refused("torch.softmax(x)", x=[1.0, 2.0]).code == "arguments"


@pytest.mark.parametrize("text", ["x.half()", "x.to(torch.half)", "x.sum(dtype=torch.bfloat16)"])
def test_what_rounds_to_few_bits_is_refused(text):
    error = refused(text, x=[1.0, 2.0])
    assert (error.code, "shorter" in error.message) == ("unsupported", True)


@pytest.mark.parametrize("text", ["torch.softmax(x, 0, 5)", "x.sum(dtype=5)", "x.softmax(0, '5')"])
def test_what_is_no_dtype_is_refused(text):
    with pytest.raises(TypeError):
        eval(text, {"torch": torch, "x": torch.ones(2)})
    error = refused(text, x=[1.0, 2.0])
    assert error.code == "arguments"
    assert error.message.startswith("dtype must be a type of numbers")


# ---- segments ------------------------------------------------------------------------------------

SEGMENTS = [
    "lengths=tensor([2, 0, 3])",
    "offsets=tensor([0, 2, 2, 5])",
    "lengths=tensor([2, 0, 3]), initial=0.5",
    "lengths=tensor([5]), initial=-2, axis=0",
    "lengths=tensor([1, 1]), unsafe=True",
    "offsets=tensor([1, 3])",
    "offsets=tensor([1, 3, 5]), unsafe=True",
]
ROWS_OF_SEGMENTS = [
    "lengths=tensor([[1, 3], [0, 4]]), axis=1",
    "lengths=tensor([[1, 3], [0, 4]]), axis=-2, initial=1",
    "offsets=tensor([[0, 1, 4], [0, 4, 4]]), axis=1",
]


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min", "amax", "amin"])
def test_segments(reduce):
    ties = np.array([[1.0, 1.0], [1.0, 0.5], [2.0, 0.0], [0.0, 3.0], [np.nan, 0.0]])
    for how in SEGMENTS:
        agrees(f"torch.segment_reduce(x, '{reduce}', {how})", x=drawn(5, 3))
        agrees(f"torch.segment_reduce(x, '{reduce}', {how})", x=ties)
    for how in ROWS_OF_SEGMENTS:
        agrees(f"torch.segment_reduce(x, '{reduce}', {how})", x=drawn(2, 4, 2))


@pytest.mark.parametrize(
    "how",
    ["lengths=tensor([2, 2])", "lengths=tensor([2, -2, 5])", "axis=0", "lengths=tensor([[5]])"],
)
def test_segments_that_pytorch_refuses(how):
    text = f"torch.segment_reduce(x, 'sum', {how})"
    with pytest.raises(RuntimeError):
        eval(text, {"torch": torch, "tensor": torch.tensor, "x": torch.ones(5, 3)})
    assert refused(text, x=np.ones((5, 3))).code in ("arguments", "shape")


# ---- facts of a program, and numbers without a gradient ------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "x.ndimension() * x",
        "torch.is_floating_point(x) * x",
        "(x.is_complex() + x.is_signed()) * x",
        "x.is_same_size(x.T) * x + torch.is_tensor(x) * x",
        "x.reshape(torch.broadcast_shapes((1, 3), (2, 1)))",
        "x.to(x.dtype) * torch.ones(3, dtype=x.dtype, device=x.device)",
        "x.to(x.device) + x.cpu().type(x.dtype)",
        "x[0, 1].item() * x",
        "torch.bitwise_and(x > 0.5, x < 1) * x",
        "torch.bitwise_xor(x > 0.5, x < 1) * x + torch.bitwise_not(x > 1) * x * x",
        "torch.histc(x, 4) * x[0, 0]",
        "torch.histc(x, bins=3, min=0, max=1) * x[0]",
        "torch.histc(tensor([2.0, 2.0, 2.0]), bins=3) * x",
        "torch.float_power(tensor([2, 3, 4]), -1) * x",
        "torch.bincount(tensor([0, 2, 2])) * x",
        "torch.bincount(tensor([0, 1]), minlength=3) * x",
    ],
)
def test_facts_and_counts(text):
    agrees(text, x=drawn(2, 3))


def test_counts_with_weights_have_no_derivative():
    weights = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="not implemented"):
        torch.bincount(torch.tensor([0, 1]), weights).sum().backward()
    assert refused("bincount(tensor([0, 1]), w)", w=[1.0, 2.0]).code == "unsupported"


@pytest.mark.parametrize(
    "text",
    ["numel()", "is_tensor()", "x.dim(1)", "x.ndimension(2)", "x.numel(3)", "len(x, 5)"],
)
def test_facts_of_wrong_arguments_are_errors(text):
    assert refused(f"{text} * x", x=[1.0]).code in ("arguments", "index")


# ---- one triangle is read, and PyTorch's gradient is not 0 in the other --------------------------


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("text", ["cholesky_inverse(L, {})", "cholesky_solve(b, L, {})"])
def test_a_triangle_is_moved_alone(text, upper):
    factor = np.linalg.cholesky(np.array([[4.0, 1.0], [1.0, 3.0]]))
    values = {"L": factor.T if upper else factor, "b": np.array([[1.0, 2.0], [0.5, 1.0]])}
    values = {n: v for n, v in values.items() if n == "L" or "solve" in text}
    call = text.format(upper)
    agrees(f"torch.{call}", **values)
    for given in (values, None):
        shapes = None if given else {"L": (2, 2)}
        rows, differences = gradcli.check(call, values=given, shapes=shapes)
        assert rows["ok"]
        assert differences["ok"]
        assert "L kept triangular" in differences["remark"]


def test_a_full_matrix_in_place_of_a_triangle_is_not_judged():
    found = gradcli.check("cholesky_inverse(L)", values={"L": [[2.0, 5.0], [1.0, 3.0]]})[1]
    assert found["ok"] is None
    assert "other triangle is 0" in found["remark"]


# ---- tensors of PyTorch as values ----------------------------------------------------------------


@pytest.mark.parametrize("ask", [gradcli.grad, gradcli.explain])
def test_a_tensor_that_requires_a_gradient_is_its_numbers(ask):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    found = ask("x * x", values={"x": x}, grad=3 * x)
    found = found if ask is gradcli.grad else found.grad["x"]["value"]
    assert found.tolist() == [6, 24]


def test_a_tensor_that_numpy_does_not_take_is_an_error():
    x = torch.eye(2).to_sparse()  # bfloat16 is read: see tests/test_notebook.py
    with pytest.raises(GradcliError, match="not an array of numbers"):
        gradcli.grad("x * x", values={"x": x})


# ---- losses of no class, zeros that PyTorch sends, halves exchanged, single numbers --------------


def test_a_mean_of_losses_over_no_class_is_nan():
    for reduction in ("mean", "sum", "none"):
        agrees(
            f"F.cross_entropy(x, q, reduction='{reduction}')", x=np.ones((2, 0)), q=np.ones((2, 0))
        )


def test_the_matrix_of_triangular_solve_sends_zeros_to_the_right_side():
    agrees("torch.triangular_solve(b, A)[1] * 2", b=drawn(3, 1), A=drawn(3, 3))
    agrees("torch.triangular_solve(b, A).cloned_coefficient", b=drawn(2, 3, 1), A=drawn(3, 3))


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
@pytest.mark.parametrize("dim", ["", ", 1", ", dim=-2", ", (0, -1)"])
def test_halves_exchanged(name, dim):
    agrees(f"torch.fft.{name}(x{dim})", x=drawn(3, 4))


OF_A_NUMBER = [
    *("flatten(1)", "flatten(0, 1)", "flatten(-2)", "transpose(0, 1)", "swapaxes(1, 0)"),
    *("roll(1, 0)", "unflatten(0, (1, 1))", "squeeze(1)", "unsqueeze(2)", "movedim(1, 0)"),
    *("flip(1)", "split(1)", "unbind()", "select(0, 0)", "narrow(0, 0, 1)", "diagonal()"),
]


@pytest.mark.parametrize("call", OF_A_NUMBER)
def test_dimensions_that_a_number_does_not_have(call):
    with pytest.raises((RuntimeError, IndexError)):
        eval(f"x.{call}", {"x": torch.tensor(2.0)})
    assert refused(f"x.sum().{call}", x=[1.0, 2.0]).code in ("arguments", "index", "shape")


@pytest.mark.parametrize(
    "call", ["flatten()", "flatten(0, -1)", "ravel()", "mT", "roll(1)", "flip(0)"]
)
def test_dimensions_that_a_number_counts_as_having(call):
    agrees(f"x.sum().{call}", x=drawn(2))


# ---- defaults ------------------------------------------------------------------------------------


def pytorch_defaults(name):
    """Of each argument of each of PyTorch's signatures of a function the default, or REQUIRED."""
    spaces = {"": torch, "linalg_": torch.linalg, "special_": torch.special, "fft_": torch.fft}
    for prefix in (prefix for prefix, space in spaces.items() if hasattr(space, name)):
        for schema in torch._C._jit_get_schemas_for_operator(f"aten::{prefix}{name}"):
            yield {
                a.name: a.default_value if a.has_default_value() else REQUIRED
                for a in schema.arguments
            }
    function = getattr(torch.nn.functional, name, None)
    if inspect.isfunction(function):
        yield {n: p.default for n, p in inspect.signature(function).parameters.items()}


def own_defaults(name):
    """Of each argument of an operator, or of a function made of operators, its default."""
    if name in SHORTHANDS:
        parameters = inspect.signature(SHORTHANDS[name].function).parameters
        return {n: p.default for n, p in parameters.items()}
    op = OPS[name]
    omitted = dict.fromkeys(op.optional)
    return {n: op.attributes.get(n, omitted.get(n, REQUIRED)) for n in op.order}


def is_a_default(own, name, signatures):
    """Whether PyTorch takes `own` for an argument, or chooses itself, where a call omits it."""
    theirs = [s[name] for s in signatures if name in s]
    if len(theirs) < len(signatures) or None in theirs:
        return True
    sequences = [d for d in theirs if isinstance(d, list)]
    given = [*own] if isinstance(own, tuple) else own
    return given in (*theirs, *(d[0] for d in sequences if len({*d}) == 1))


def test_defaults_are_those_of_pytorch():
    all_operators()
    wrong = []
    for name in {**OPS, **{s.name: s for s in SHORTHANDS.values()}}:
        signatures = [*pytorch_defaults(name)]
        own = {n: d for n, d in own_defaults(name).items() if d not in (REQUIRED, None)}
        known = [n for n in own if any(n in s for s in signatures)]
        wrong += [
            f"{name}: {n}={own[n]!r}" for n in known if not is_a_default(own[n], n, signatures)
        ]
    assert wrong == []


def by_name_alone(name):
    """The arguments of PyTorch's function that no signature takes by place."""
    by_place, by_name = set(), set()
    for prefix in ("", "linalg_", "special_", "fft_"):
        for schema in torch._C._jit_get_schemas_for_operator(f"aten::{prefix}{name}"):
            for a in schema.arguments:
                (by_name if a.kwarg_only else by_place).add(a.name)
    for space in (torch, torch.nn.functional, torch.Tensor):
        function = getattr(space, name, None)
        if inspect.isfunction(function):
            by_place |= {*inspect.signature(function).parameters}
    return by_name - by_place


OTHERWISE_CALLED = {"pinv": {"rtol"}, "matrix_rank": {"atol"}}  # by place it is rcond, or tol


def test_arguments_that_pytorch_takes_by_keyword_alone():
    all_operators()
    wrong = {}
    for name, called in {**OPS, **{s.name: s for s in SHORTHANDS.values()}}.items():
        both = by_name_alone(name) & {*called.positional} - OTHERWISE_CALLED.get(name, set())
        wrong |= {name: both} if both else {}
    assert wrong == {}


BY_PLACE = [
    *("F.gelu(x, 'tanh')", "x.std(0, 2)", "torch.var(x, 0, 1, True)", "torch.cov(x, 0)"),
    *("torch.std_mean(x, 0, 2)[0]", "torch.trapezoid(x, x, 1)", "torch.trapezoid(x, 0.5)"),
    *("torch.cumulative_trapezoid(x, x, 0)", "x.ravel(0)", "torch.addmv(x, x.outer(x), x, 1, 2)"),
    "F.scaled_dot_product_attention(x[None], x[None], x[None], None, 0.0, False, 1.0)",
]


@pytest.mark.parametrize("text", BY_PLACE)
def test_what_pytorch_does_not_take_by_place_is_refused(text):
    x = drawn(2)
    with pytest.raises(TypeError):
        eval(text, {"torch": torch, "F": torch.nn.functional}, {"x": torch.tensor(x)})
    assert refused(text, x=x).code == "arguments"


# ---- kinds that PyTorch refuses ------------------------------------------------------------------

OF_A_WRONG_KIND = [
    "((2 // tensor([1, 0, 2, 3])) * x).sum()",
    "((2 % tensor([1, 0, 2, 3])) * x).sum()",
    "((2 // (x > 1)) * x).sum()",
    "((2 % (x > 1)) * x).sum()",
    "((True // tensor([1, 0, 2, 3])) * x).sum()",
    "(torch.div(2, tensor([1, 0, 2, 3]), rounding_mode='floor') * x).sum()",
    "(torch.remainder(2, tensor([1, 0, 2, 3])) * x).sum()",
    "F.softmax(tensor([1, 0, 2, 3]), 0) * x",
    "F.log_softmax(x > 1, 0) * x",
    "F.log_softmax(tensor([1, 0, 2, 3]), 0) * x",
    "F.l1_loss(tensor([1, 0, 2, 3]), tensor([1, 0, 2, 5])) * x",
    "torch.round(tensor([1, 0, 2, 3]), decimals=1) * x",
    "torch.round(tensor([1, 0, 2, 3]), decimals=0) * x",
    "torch.searchsorted(tensor([False, True]), x > 1) * x",
    "+(x > 1) * x",
]


@pytest.mark.parametrize("text", OF_A_WRONG_KIND)
def test_what_pytorch_refuses_of_a_kind_is_refused(text):
    x = np.array([0.5, 1.5, 2.5, 0.3])
    scope = {"torch": torch, "F": torch.nn.functional, "tensor": torch.tensor}
    with pytest.raises((RuntimeError, NotImplementedError)):
        eval(text, scope, {"x": torch.tensor(x, requires_grad=True)})
    with pytest.raises(GradcliError) as caught:
        gradcli.grad(text, values={"x": x}, grad="ones_like(out)")
    assert caught.value.code == "arguments"


@pytest.mark.parametrize(
    "text",
    [
        "(2 // tensor([1, 1, 2, 3])) * x + (2 // (x > -9)) * x",
        "F.l1_loss(tensor([1, 0, 2, 3]), tensor([1, 0, 2, 5]), reduction='sum') * x",
        "F.l1_loss(x, tensor([1, 0, 2, 5])) + torch.round(tensor([1, 0, 2, 3])) * x",
        "(2.5 // tensor([1, 4, 2, 3])) * x + torch.searchsorted(tensor([0.0, 1.0]), x > 1) * x",
    ],
)
def test_kinds_that_go_together(text):
    agrees(text, 1e-6, x=np.array([0.5, 1.5, 2.5, 0.3]))
