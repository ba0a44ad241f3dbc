"""A graph in JAX: each operation by JAX's function of its name, or by what it means.

A function of the same name may mean something else there: it counts only where its value is the
operator's own.
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
from ..notation.code.array_code import IN_OTHER_WORDS, expression
from ..notation.tree import Name
from ..operators.leaves import Array
from . import Answer, Unsaid

MODULES = (jax.nn, jnp, jnp.linalg, jax.scipy.special, jax.lax)
RENAMED = {"dim": "axis", "keepdim": "keepdims", "correction": "ddof", "size": "shape"}


def answer(
    out: Node, values: Mapping[Node, Any], seed: Any, wrt: list[Node], earlier: Sequence[Node]
) -> Answer:
    """Value and gradients. Raises Unsaid."""
    jax.config.update("jax_enable_x64", True)
    run = _function(out, values, wrt)
    for node in earlier:
        run = _differentiated(run, _function(node, values, wrt))
    try:
        value, vjp = jax.vjp(run, *(jnp.asarray(values[n], float) for n in wrt))
        grads = vjp(jnp.asarray(seed, float))
    except (NotImplementedError, TypeError, ValueError) as error:
        raise Unsaid(str(error).splitlines()[0]) from None
    return Answer(np.asarray(value), dict(zip(wrt, map(np.asarray, grads))))


def _function(out: Node, values: Mapping[Node, Any], wrt: list[Node]) -> Callable:
    """A node as a function of others."""
    program = _Program(out, values)
    return lambda *given: program(dict(zip(wrt, given, strict=True)))


def _differentiated(function: Callable, seed: Callable) -> Callable:
    """The gradient of a function of one array; its seed is one, too."""
    return lambda given: jax.vjp(function, given)[1](seed(given))[0]


class _Program:
    """A graph, with a function of JAX for each of its nodes."""

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
            except Exception:  # whatever a function of another meaning makes of these arguments
                continue
            if _same(value, expected):
                values[node] = value
                self.steps.append((node, function))
                return
        if node.op.expand is None:
            raise Unsaid(f"JAX has no function for {node.op.name}")
        meaning = node.op.expanded(node)
        self._plan([meaning], values)
        values[node] = values[meaning]
        self.steps.append((node, _Same(meaning)))


class _Same:
    """A node whose value is that of its meaning."""

    def __init__(self, meaning: Node):
        self.meaning = meaning

    def __call__(self, value: Any) -> Any:
        return value


def _sources(node: Node, function: Callable) -> list[Node]:
    return [function.meaning] if isinstance(function, _Same) else node.parents


def _by_numpy(node: Node, inputs: list[Any]) -> Any:
    return Evaluator(dict(zip(node.parents, map(np.asarray, inputs))))(node)[0]


def _same(value: Any, expected: Any) -> bool:
    return np.shape(value) == np.shape(expected) and np.allclose(
        np.asarray(value), expected, rtol=1e-10, atol=1e-12, equal_nan=True
    )


def _candidates(node: Node, inputs: list[Any]) -> Iterator[Callable]:
    """Functions that may mean the operation, called with its inputs; the values of those here."""
    op = node.op
    if op.family == "leaf":
        yield lambda: jnp.asarray(op.value(**node.attrs))
        return
    if op.family == "barrier":
        yield jax.lax.stop_gradient
    if op.jax or op.numpy or op.name in IN_OTHER_WORDS:
        yield _written(node)
    for name in (op.name, *op.aliases):
        for module in MODULES:
            function = getattr(module, name, None)
            if callable(function):
                yield _called(node, function)
    if node.dtype != "float":  # no derivative flows through it
        yield lambda *_: jnp.asarray(_by_numpy(node, inputs))
    if op.family != "elementwise" and not op.kink:
        yield _taken(node, inputs)


def _written(node: Node) -> Callable:
    """An operation as programs write it."""
    names = {i: Name(f"x{k}") for k, i in enumerate(dict.fromkeys(node.parents))}

    def call(*xs: Any) -> Any:
        scope = {"jax": jax, "jnp": jnp}
        scope |= {names[i].text: x for i, x in zip(node.parents, xs)}
        return eval(expression(node, names), scope)

    return call


def _taken(node: Node, inputs: list[Any]) -> Callable:
    """An operation whose elements are elements of its inputs and zeros, as JAX takes elements.

    To find where they are taken from, the operation is asked about numbers that are all different,
    and that no sum, product or sign of others makes. Raises Unsaid where it does more than take.
    """
    floats = [k for k, i in enumerate(node.parents) if i.dtype == "float"]
    sizes = [inputs[k].size for k in floats]
    numbers = np.random.default_rng(0).uniform(1, 2, sum(sizes))
    numbers[::2] *= -1
    asked = list(inputs)
    for k, part in zip(floats, np.split(numbers, np.cumsum(sizes)[:-1])):
        asked[k] = part.reshape(inputs[k].shape)

    def taken(*xs: Any) -> Any:
        places = _places(_by_numpy(node, asked), np.concatenate([[0.0], numbers]))
        return jnp.concatenate([jnp.zeros(1), *(xs[k].reshape(-1) for k in floats)])[places]

    return taken


def _places(result: Any, elements: Any) -> Any:
    """Where numbers stand among elements. Raises Unsaid where one is none of them."""
    order = np.argsort(elements)
    places = order[np.searchsorted(elements[order[:-1]], result)]
    if not np.array_equal(elements[places], result):
        raise Unsaid("it does not only take elements")
    return places


def _called(node: Node, function: Callable) -> Callable:
    """A function of JAX with the attributes of a node under their names there."""
    known = inspect.signature(function).parameters
    named = {}
    for key, value in node.attrs.items():
        there = RENAMED.get(key, key) if RENAMED.get(key) in known else key
        if there in known:
            named[there] = value.value if isinstance(value, Array) else value
    return (
        (lambda *xs: function(list(xs), **named))
        if node.op.variadic
        else (lambda *xs: function(*xs, **named))
    )
