"""Calls as PyTorch takes them: typed here and run there, the answers and gradients compared."""

import numpy as np
import pytest

import gradcli
from gradcli import GradcliError

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

DRAWS = np.random.default_rng(7)


def drawn(*shape):
    return DRAWS.uniform(0.3, 1.7, shape)


def agrees(text, **values):
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
    found = gradcli.explain(text, values=values, grad=seed, wrt=wrt)
    np.testing.assert_allclose(found.output["value"], want.detach().numpy(), 1e-12, 1e-13)
    for name, grad in zip(wrt, sent, strict=True):
        have = found.grad[name]["value"]
        assert (have is None) == (grad is None), name
        if grad is not None:
            np.testing.assert_allclose(have, grad.numpy(), 1e-10, 1e-12, err_msg=name)


def refused(text, **values):
    with pytest.raises(GradcliError) as caught:
        gradcli.explain(text, values=values)
    return caught.value


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


# ---- torch.* whose arguments stand in another order than those of F.* ---------------------------

ROWS = np.array([0, 2, 2, 1])


@pytest.mark.parametrize(
    "text",
    [
        "torch.embedding(w, rows)",
        "torch.embedding(w, rows, 2)",
        "torch.embedding(w, rows, -1, True)",
        "torch.embedding(weight=w, indices=rows, padding_idx=1)",
        "F.embedding(rows, w, -1)",
        "torch.embedding_bag(w, rows, tensor([0, 1]))[0]",
        "torch.embedding_bag(w, rows, tensor([0, 1]), False, 1)[0]",
        "torch.embedding_bag(w, rows, tensor([0, 1]), mode=2)[0]",
    ],
)
def test_rows_of_a_table(text):
    agrees(text, w=drawn(4, 3), rows=ROWS)


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize(
    "text",
    [
        "torch.kl_div(a, b, {})",
        "torch.hinge_embedding_loss(a * b, tensor([[1], [-1]]), 1.0, {})",
        "torch.margin_ranking_loss(a, b, tensor([[1], [-1]]), 0.1, {})",
        "torch.cosine_embedding_loss(a, b, tensor([1, -1]), 0.1, {})",
        "torch.poisson_nll_loss(a, b, True, False, 1e-8, {})",
        "torch.binary_cross_entropy_with_logits(a, b, reduction={})",
        "torch.triplet_margin_loss(a, b, a * b, 1.0, 2.0, 1e-6, False, {})",
    ],
)
def test_reductions_by_number(text, reduction):
    agrees(text.format(reduction), a=drawn(2, 3), b=drawn(2, 3))


def test_reductions_of_ctc_loss_by_number():
    text = "torch.ctc_loss(x, tensor([[1, 2]]), tensor([4]), tensor([2]), 0, {})"
    for reduction in (0, 1, 2):
        agrees(text.format(reduction), x=np.log(drawn(4, 1, 3)))


def test_a_word_where_torch_takes_a_number():
    error = refused("torch.kl_div(a, a, 'sum')", a=[0.5, 0.5])
    assert error.message == "reduction of a function of torch.* is a number, not 'sum'"


def test_flags_of_one_device():
    x, w = drawn(2, 4, 3), drawn(4)
    agrees("torch.layer_norm(x, [3], w[:3], w[1:], 1e-5, False)", x=x, w=w)
    agrees("torch.group_norm(x, 2, w, w, 1e-5, False)", x=x, w=w)


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
    assert said == "einsum() takes numbers from 0 to 51, not 52"


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
    assert error.hint == "PyTorch goes back and sends nothing: .grad stays None"


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
    assert error.hint == f"PyTorch: {theirs.value}"
