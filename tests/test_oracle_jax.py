"""The same texts in JAX: value and gradients, in float64."""

import numpy as np
import pytest

import gradcli

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install -e '.[oracle]'")
pytestmark = pytest.mark.oracle

# Texts that mean the same here and in JAX, with the shapes of their inputs.
PROGRAMS = [
    ("jnp.tanh(x @ y)", {"x": (2, 3), "y": (3, 4)}),
    ("jnp.sum(x * x, axis=0)", {"x": (2, 3)}),
    ("jnp.mean(x / y, axis=1, keepdims=True)", {"x": (2, 3), "y": (3,)}),
    ("jax.nn.softmax(x, axis=-1)", {"x": (2, 3)}),
    ("jax.nn.log_softmax(x, axis=0)", {"x": (2, 3)}),
    ("jax.nn.relu(x @ w + b)", {"x": (2, 3), "w": (3, 4), "b": (4,)}),
    ("jax.nn.sigmoid(x) * jnp.exp(-x)", {"x": (3,)}),
    ("jax.nn.silu(x) + jax.nn.softplus(x)", {"x": (3,)}),
    ("jax.nn.gelu(x, approximate=False)", {"x": (3,)}),
    ("jax.nn.elu(x) + jax.nn.leaky_relu(x)", {"x": (3,)}),
    ("jnp.log1p(jnp.abs(x)) + jnp.expm1(x) + jnp.sqrt(jnp.abs(x))", {"x": (4,)}),
    ("jnp.sin(x) * jnp.cos(x) + jnp.arctan(x) + jnp.sinh(x) - jnp.cosh(x)", {"x": (4,)}),
    ("jnp.where(x > 0, x * y, jnp.square(y))", {"x": (2, 3), "y": (3,)}),
    ("jnp.maximum(x, y) - jnp.minimum(x, y)", {"x": (2, 3), "y": (2, 1)}),
    ("jnp.clip(x, -1.0, 1.0)", {"x": (5,)}),
    ("jnp.prod(x, axis=1) + jnp.max(x, axis=1) - jnp.min(x, axis=1)", {"x": (2, 3)}),
    ("jnp.var(x, axis=1) + jnp.std(x, axis=1)", {"x": (2, 3)}),
    ("jnp.linalg.norm(x) * x", {"x": (3,)}),
    ("jnp.cumsum(x, axis=1)", {"x": (2, 3)}),
    ("jnp.einsum('ik,kj->ij', a, b)", {"a": (2, 3), "b": (3, 4)}),
    ("jnp.dot(a, b) * jnp.outer(a, b)", {"a": (3,), "b": (3,)}),
    ("jnp.trace(a @ b)", {"a": (3, 3), "b": (3, 3)}),
    ("jnp.linalg.inv(a + 4 * jnp.eye(3))", {"a": (3, 3)}),
    ("jnp.linalg.det(a)", {"a": (3, 3)}),
    ("jnp.linalg.solve(a + 4 * jnp.eye(3), b)", {"a": (3, 3), "b": (3,)}),
    ("jnp.transpose(x, (1, 0)) @ x", {"x": (2, 3)}),
    ("x.T.reshape(2, 3) * x[0, 1:].sum() + x[..., None, 0]", {"x": (2, 3)}),
    ("jnp.concatenate([x, y], axis=1) ** 2", {"x": (2, 3), "y": (2, 1)}),
    ("jnp.stack([x, x * y])", {"x": (3,), "y": (3,)}),
    ("jnp.tril(x) @ jnp.triu(x)", {"x": (3, 3)}),
    ("jnp.flip(x, 0) * jnp.tile(x[0], (2, 1))", {"x": (2, 3)}),
    ("jnp.prod(x, axis=(0, -1)) * jnp.prod(x, (0, 1, 2))", {"x": (2, 3, 2)}),
    ("jnp.prod(x, axis=(0, 1), keepdims=True) * jnp.arange(3, 0).sum()", {"x": (2, 3)}),
    ("x * jnp.finfo(x.dtype).eps / jnp.finfo(jnp.float32).tiny", {"x": (2, 3)}),
    ("x ** 3 - 2 ** x + x % 2.0", {"x": (4,)}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shapes"), PROGRAMS, ids=[text for text, _ in PROGRAMS])
def test_value_and_gradients_agree_with_jax(text, shapes):
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(0)
    values = {
        name: rng.uniform(0.2, 2.0, shape) * rng.choice([-1, 1], shape)
        for name, shape in shapes.items()
    }
    names = {"jax": jax, "jnp": jax.numpy}
    out, vjp = jax.vjp(lambda given: eval(text, names, dict(given)), values)
    seed = rng.normal(size=out.shape)
    found = gradcli.grad(text, values=values, grad=seed)
    grads = found if isinstance(found, dict) else dict.fromkeys(values, found)
    explained = gradcli.explain(text, values=values, grad=seed)
    np.testing.assert_allclose(explained.output["value"], out, rtol=1e-12, atol=1e-12)
    for name, expected in vjp(jax.numpy.asarray(seed))[0].items():
        np.testing.assert_allclose(grads[name], expected, rtol=1e-10, atol=1e-12)
