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
