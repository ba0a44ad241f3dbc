"""A graph as a JAX program: each operation is a JAX function of the same name, or is expanded.

A JAX function with the name of an operator may have another meaning, so it is used only if its
value equals the value that NumPy computes for the operator.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import jax.scipy.special

from ..backends.numeric import Evaluator
from ..graphs import Node, walk
from ..lazy import np
from ..notation.code.array_code import EQUIVALENTS, expression
from ..notation.tree import Name
from ..operators.leaves import Array
from . import Answer, NotSupported

MODULES = (jax.nn, jnp, jnp.linalg, jax.scipy.special, jax.lax)
RENAMED = {"dim": "axis", "keepdim": "keepdims", "correction": "ddof", "size": "shape"}


def answer(
    out: Node, values: Mapping[Node, Any], seed: Any, wrt: list[Node], earlier: Sequence[Node]
) -> Answer:
    """Value and gradients, as in `frameworks.answer`."""
    jax.config.update("jax_enable_x64", True)
    run = _function(out, values, wrt)
    for node in earlier:
        run = _differentiated(run, _function(node, values, wrt))
    try:
        value, vjp = jax.vjp(run, *(jnp.asarray(values[n], float) for n in wrt))
        grads = vjp(jnp.asarray(seed, float))
    except (NotImplementedError, TypeError, ValueError) as error:
        raise NotSupported(str(error).splitlines()[0]) from None
    return Answer(np.asarray(value), dict(zip(wrt, map(np.asarray, grads))))


def _function(out: Node, values: Mapping[Node, Any], wrt: list[Node]) -> Callable:
    """`out` as a function of the arrays of `wrt`."""
    program = _Program(out, values)
    return lambda *given: program(dict(zip(wrt, given, strict=True)))


def _differentiated(function: Callable, seed: Callable) -> Callable:
    """The gradient of a function of one array; its seed is computed by `seed` from this array."""
    return lambda given: jax.vjp(function, given)[1](seed(given))[0]


class _Program:
    """A graph as a sequence of JAX functions, one for each node."""

    def __init__(self, out: Node, values: Mapping[Node, Any]):
        self.out, self.given = out, dict(values)
        self.steps: list[tuple[Node, Callable]] = []
        self._plan([out], {n: jnp.asarray(v) for n, v in values.items()})

    def __call__(self, given: Mapping[Node, Any]) -> Any:
        values = {n: jnp.asarray(v) for n, v in self.given.items()} | dict(given)
        for node, function in self.steps:
            values[node] = function(*(values[i] for i in _sources(node, function)))
        return values[self.out]

    def _plan(self, roots: list[Node], values: dict[Node, Any]) -> None:
        for node in walk(roots, lambda n: () if n in values else n.inputs):
            if node in values:
                continue
            self._step(node, values)

    def _step(self, node: Node, values: dict[Node, Any]) -> None:
        inputs = [values[i] for i in node.parents]
        expected = _by_numpy(node, inputs)
        for function in _candidates(node, inputs):
            try:
                value = function(*inputs)
            except Exception:  # the function has the same name but another meaning
                continue
            if _same(value, expected):
                values[node] = value
                self.steps.append((node, function))
                return
        if node.op.expand is None:
            raise NotSupported(f"JAX has no function for {node.op.name}")
        meaning = node.op.expanded(node)
        self._plan([meaning], values)
        values[node] = values[meaning]
        self.steps.append((node, _ValueOfExpansion(meaning)))


class _ValueOfExpansion:
    """Marks a node whose value is that of its expansion."""

    def __init__(self, meaning: Node):
        self.meaning = meaning

    def __call__(self, value: Any) -> Any:
        return value


def _sources(node: Node, function: Callable) -> list[Node]:
    return [function.meaning] if isinstance(function, _ValueOfExpansion) else node.parents


def _by_numpy(node: Node, inputs: list[Any]) -> Any:
    return Evaluator(dict(zip(node.parents, map(np.asarray, inputs))))(node)[0]


def _same(value: Any, expected: Any) -> bool:
    return np.shape(value) == np.shape(expected) and np.allclose(
        np.asarray(value), expected, rtol=1e-10, atol=1e-12, equal_nan=True
    )


def _candidates(node: Node, inputs: list[Any]) -> Iterator[Callable]:
    """Yield JAX functions that may compute the operation; `inputs` are the values of its inputs."""
    op = node.op
    if op.family == "leaf":
        yield lambda: jnp.asarray(op.value(**node.attrs))
        return
    if op.family == "barrier":
        yield jax.lax.stop_gradient
    if op.jax or op.numpy or op.name in EQUIVALENTS:
        yield _written(node)
    for name in (op.name, *op.aliases):
        for module in MODULES:
            function = getattr(module, name, None)
            if callable(function):
                yield _called(node, function)
    if node.dtype != "float":  # no derivative flows through it
        yield lambda *_: jnp.asarray(_by_numpy(node, inputs))
    if op.family != "elementwise" and not op.kink:
        yield _selection(node, inputs)


def _written(node: Node) -> Callable:
    """The operation as `code --target jax` writes it."""
    names = {i: Name(f"x{k}") for k, i in enumerate(dict.fromkeys(node.parents))}

    def call(*xs: Any) -> Any:
        scope = {"jax": jax, "jnp": jnp}
        scope |= {names[i].text: x for i, x in zip(node.parents, xs)}
        return eval(expression(node, names), scope)

    return call


def _selection(node: Node, inputs: list[Any]) -> Callable:
    """An operation that only selects elements of its inputs or zeros, as indexing in JAX.

    Evaluating it on random numbers, all different, shows which element each output is. Raises
    NotSupported if an output is none of them.
    """
    floats = [k for k, i in enumerate(node.parents) if i.dtype == "float"]
    sizes = [inputs[k].size for k in floats]
    numbers = np.random.default_rng(0).uniform(1, 2, sum(sizes))
    numbers[::2] *= -1
    probe = list(inputs)
    for k, part in zip(floats, np.split(numbers, np.cumsum(sizes)[:-1])):
        probe[k] = part.reshape(inputs[k].shape)

    def selected(*xs: Any) -> Any:
        flat_indices = _flat_indices(_by_numpy(node, probe), np.concatenate([[0.0], numbers]))
        return jnp.concatenate([jnp.zeros(1), *(xs[k].reshape(-1) for k in floats)])[flat_indices]

    return selected


def _flat_indices(result: Any, elements: Any) -> Any:
    """The index in `elements` of each number of `result`. Raises NotSupported if one is missing."""
    order = np.argsort(elements)
    flat_indices = order[np.searchsorted(elements[order[:-1]], result)]
    if not np.array_equal(elements[flat_indices], result):
        raise NotSupported("it does not only take elements")
    return flat_indices


def _called(node: Node, function: Callable) -> Callable:
    """A JAX function called with the attributes of a node, under JAX's keywords."""
    known = inspect.signature(function).parameters
    named = {}
    for key, value in node.attrs.items():
        keyword = RENAMED.get(key, key) if RENAMED.get(key) in known else key
        if keyword in known:
            named[keyword] = value.value if isinstance(value, Array) else value
    return (
        (lambda *xs: function(list(xs), **named))
        if node.op.variadic
        else (lambda *xs: function(*xs, **named))
    )
