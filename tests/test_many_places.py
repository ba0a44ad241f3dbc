"""Resampling where a place of one side has a part in very many of the other, against PyTorch."""

import numpy as np
import pytest

import gradcli

MANY = [
    ("interpolate(x, size=100)", (1, 2, 3)),
    ("interpolate(x, size=101, mode='linear')", (2, 1, 3)),
    ("interpolate(x, size=101, mode='linear', align_corners=True)", (1, 1, 3)),
    ("interpolate(x, size=(60, 3), mode='bicubic')", (1, 1, 2, 2)),
    ("interpolate(x, size=(3, 70), mode='bilinear')", (1, 2, 2, 3)),
    ("interpolate(x, size=100, mode='area')", (1, 1, 3)),
    ("adaptive_avg_pool1d(x, 3)", (1, 2, 100)),
    ("adaptive_avg_pool1d(x, 100)", (1, 2, 3)),
    ("adaptive_avg_pool2d(x, (70, 2))", (1, 1, 3, 90)),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("text", "shape"), MANY)
def test_values_and_gradients(text, shape):
    import torch
    import torch.nn.functional as F

    given = np.random.default_rng(5).normal(size=shape)
    x = torch.tensor(given, requires_grad=True)
    out = eval(f"F.{text}", {"F": F, "x": x})
    seed = np.cos(np.arange(out.numel())).reshape(out.shape)
    out.backward(torch.tensor(seed))
    (found,) = gradcli.batch([{"expr": text, "values": {"x": given}, "grad": seed}])
    np.testing.assert_allclose(found["output"], out.detach().numpy(), 1e-12)
    np.testing.assert_allclose(found["grad"]["x"], x.grad.numpy(), 1e-11, 1e-13)
