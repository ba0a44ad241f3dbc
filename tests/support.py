"""What the tests of operators share: values for examples, gradients, names, the same in PyTorch.

Everything is drawn from the table (gradcli/operators): nothing here knows an operator by name.
"""

import ast
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from gradcli import operators
from gradcli.autodiff.reverse import backward
from gradcli.backends.numeric import Evaluator, sources
from gradcli.errors import GradcliError
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.formulas.trials import value_of
from gradcli.graphs import OPS, Node, Operator, as_node, walk
from gradcli.language.arguments.option_texts import read_shapes
from gradcli.language.posing import pose
from gradcli.language.problem import Problem
from gradcli.notation.tree import Name

Arrays = dict[str, np.ndarray]
RECENT = 32  # examples whose results are kept: the tests of an example follow one another


class Example(NamedTuple):
    """One example of an operator, from the table."""

    op: Operator
    text: str
    shapes: str

    @property
    def values(self) -> Arrays:
        """A value for every input, the same in every run."""
        low, high = self.op.domain
        draw = generator(self.text, self.shapes)
        return {name: draw.uniform(low, high, shape) for name, shape in self._shapes.items()}

    @property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return read_shapes([self.shapes])

    @property
    def problem(self) -> Problem:
        """The example with its values."""
        return _posed(self)

    def __str__(self) -> str:
        return f"{self.op.name}: {self.text} with {self.shapes}"


ROOT = Path(__file__).resolve().parent.parent


@lru_cache(RECENT)
def _posed(example: Example) -> Problem:
    return pose(example.text, values=example.values)


@cache
def examples() -> tuple[Example, ...]:
    """Every example of every operator."""
    table = operators.all_operators().values()
    return tuple(Example(op, *example) for op in table for example in op.examples)


class Checks:
    """Functions that are tried on one case after another, all of them in one test: what they share
    is computed once, and pytest takes its time once. Each is a decorated function.
    """

    def __init__(self) -> None:
        self.functions: list[Callable[..., None]] = []

    def __call__(self, function: Callable[..., None]) -> Callable[..., None]:
        self.functions.append(function)
        return function

    def run(self, *case: Any) -> None:
        """Try all on a case, and raise all that fails."""
        failures = []
        for function in self.functions:
            try:
                function(*case)
            except Exception as error:
                error.add_note(f"This is what {function.__name__} checks.")
                failures.append(error)
        if failures:
            raise ExceptionGroup(", ".join(map(str, case)), failures)


def generator(*texts: str) -> np.random.Generator:
    """Random numbers that belong to `texts`."""
    return np.random.default_rng(zlib.crc32("\n".join(texts).encode()))


@cache
def first_examples() -> tuple[Example, ...]:
    """The first example of every operator."""
    return tuple({e.op: e for e in reversed(examples())}.values())[::-1]


def swept(count: int = 1, others: int = 1, firsts: int = 1) -> list[Any]:
    """Examples as parameters of tests that take long: the first of one operator in `firsts`, and
    one in so many `others`. All but the first of one operator in `count` are left to the sweep;
    half of the others are tried only if asked for (`-m exhaustive`).
    """
    first, always = set(first_examples()[::firsts]), set(first_examples()[::count])
    further = [e for e in examples()[::others] if e not in first | always]
    marks = dict.fromkeys(further[::2], pytest.mark.exhaustive)
    marks |= dict.fromkeys([*first, *further[1::2]], pytest.mark.sweep)
    marks |= dict.fromkeys(always, ())
    return [pytest.param(e, id=str(e), marks=marks[e]) for e in examples() if e in marks]


def one_in(
    count: int, cases: Iterable[Any], ids: Callable[[Any], str] = str, *, sweep: int = 1
) -> list[Any]:
    """Cases as parameters: one in so many. Of the others, one in `sweep` is left to the sweep, and
    the rest are tried only if asked for (`-m exhaustive`).
    """
    return [
        pytest.param(case, id=ids(case), marks=_marks(k, count, sweep))
        for k, case in enumerate(cases)
    ]


def one_row_in(count: int, rows: Iterable[tuple[Any, ...]], *, sweep: int = 1) -> list[Any]:
    """Rows of several parameters, as `one_in` has cases."""
    return [pytest.param(*row, marks=_marks(k, count, sweep)) for k, row in enumerate(rows)]


def _marks(k: int, count: int, sweep: int) -> Any:
    if k % count == 0:
        return ()
    return pytest.mark.sweep if k % sweep == 0 else pytest.mark.exhaustive


KNOWN = {"all": slice(None), "first": slice(1), "none": slice(0)}  # whose values are given


@lru_cache(RECENT)
def explained(example: Example) -> Analysis:
    """An example with values for all, some or none of its inputs, in turn; what is asked about it
    is computed once.
    """
    known = list(KNOWN.values())[examples().index(example) % len(KNOWN)]
    values = {name: example.values[name] for name in list(example.values)[known]}
    shapes = {name: np.shape(value) for name, value in example.values.items()}
    return Analysis(pose(example.text, shapes=shapes, values=values, grad="ones_like(out)"))


@lru_cache(RECENT)
def larger(example: Example) -> Problem | None:
    """The example at other sizes; None where its own are the only ones."""
    draw = np.random.default_rng(2)
    low, high = example.op.domain
    shapes = read_shapes([example.shapes])
    sizes = {x: tuple(n + 1 if n > 1 else n for n in shape) for x, shape in shapes.items()}
    try:
        values = {x: draw.uniform(low, high, shape) for x, shape in sizes.items()}
        problem = pose(example.text, values=values)
        answer(problem, np.ones(problem.out.shape))
        return problem
    except GradcliError:
        return None


# ---- gradcli -------------------------------------------------------------------------------------


class Answer(NamedTuple):
    """A value and the gradients of the inputs; None where the output does not depend on one."""

    out: np.ndarray
    grads: dict[str, np.ndarray | None]


def answer(problem: Problem, seed: Any = None) -> Answer:
    """Value and gradients of a problem; `seed` is an array, by default what the problem says."""
    given = dict(problem.values)
    if seed is None:
        assert problem.seed.value is not None
        (seed,) = Evaluator(given)(problem.seed.value)
    evaluate = Evaluator({**given, problem.seed.node: seed})
    of = backward(problem.out, problem.seed.node, [i.node for i in problem.wrt]).of
    grads = {i.name: of[i.node] and evaluate(of[i.node])[0] for i in problem.wrt}
    return Answer(evaluate(problem.out)[0], grads)


def gradients(
    text: str, values: Mapping[str, Any], seed: Any = None
) -> dict[str, np.ndarray | None]:
    """The gradients of an expression."""
    return answer(pose(text, values=values), seed).grads


def everything(root: Node) -> list[Node]:
    """`root`, what it is computed from, and what composites mean, inputs first."""
    return walk([root], lambda n: (*n.inputs, *sources(n), n.expansion))


def weighted(nodes: list[Node | None], weights: list[Node]) -> Node:
    """The sum of <weight, node>."""
    total = as_node(0.0)
    for node, weight in zip(nodes, weights, strict=True):
        total = total if node is None else total + (weight * node).sum()
    return total


def stand_ins(nodes: list[Node], prefix: str) -> list[Node]:
    """A fresh input in the shape of each node."""
    return [
        OPS["input"](name=f"{prefix}{k}", shape=n.shape, dtype="float") for k, n in enumerate(nodes)
    ]


# ---- notation ------------------------------------------------------------------------------------


class Case:
    """A problem with its names, its gradients and numbers for everything that has some."""

    def __init__(self, problem, random_seed=True):
        self.p = problem
        self.seed = problem.seed.node
        self.wrt = [i.node for i in problem.wrt]
        of = backward(problem.out, self.seed, self.wrt).of
        self.grads = {x: g for x, g in of.items() if g is not None}
        self.names = {node: Name(name) for name, node in problem.named.items()}
        self.names |= {i.node: Name(i.name, f"input:{i.name}") for i in problem.inputs.values()}
        self.names.setdefault(problem.out, Name(problem.out_name))
        self.names[self.seed] = Name(problem.seed.name, "seed")
        self.numbers = Evaluator(problem.values)
        if random_seed:
            draw = np.random.default_rng(1)
            self.numbers.values[self.seed] = draw.normal(size=problem.out.shape)
        elif problem.seed.value is not None and self.has_numbers(problem.seed.value):
            self.numbers.values[self.seed] = self.numbers(problem.seed.value)[0]

    def has_numbers(self, node: Node) -> bool:
        return all(n.op.name != "input" or n in self.numbers.values for n in walk([node]))

    def value(self, node: Node):
        return self.numbers(node)[0] if self.has_numbers(node) else None

    def array(self, text: str):
        """The array of a text of the language, over the names of the problem."""
        arrays = {name.text: self.value(node) for node, name in self.names.items()}
        known = {name: np.asarray(v) for name, v in arrays.items() if v is not None}
        return value_of(text, known, self.p)

    @property
    def inputs(self):
        return {n: name for n, name in self.names.items() if n.op.name == "input"}

    def of(self, name: str) -> tuple[Node, Node]:
        x = self.p.inputs[name].node
        return x, self.grads[x]


@lru_cache(RECENT)
def case(example: Example) -> Case:
    """The case of an example, made once."""
    return Case(example.problem)


def one_hot_jacobian(c: Case, grad: Node, shape: tuple[int, ...]) -> np.ndarray:
    """A row for every element of the output, in the shape asked for."""
    return _one_hot_rows(c, grad).reshape(shape)


@lru_cache(RECENT)
def _one_hot_rows(c: Case, grad: Node) -> np.ndarray:
    rows = []
    for k in range(c.p.out.numel):
        seed = np.zeros(c.p.out.numel)
        seed[k] = 1
        given = {**c.p.values, c.seed: seed.reshape(c.p.out.shape)}
        rows.append(Evaluator(given)(grad)[0])
    return np.array(rows)


# ---- PyTorch -------------------------------------------------------------------------------------


@cache
def formula_names() -> dict[str, Any]:
    """The names under which docs/formulas.md says that formulas run."""
    section = (ROOT / "docs" / "formulas.md").read_text().partition("## In PyTorch")[2]
    names: dict[str, Any] = {}
    exec(section.partition("```python\n")[2].partition("```")[0], names)
    return names


def run_formula(text: str, tensors: Mapping[str, Any]) -> Any:
    """A formula, with the statements before it, executed by PyTorch as it stands."""
    *before, last = text.split("; ")
    scope = formula_names() | dict(tensors)
    exec("\n".join(before), scope)
    return eval(last, scope)


@cache
def torch_names() -> dict[str, Any]:
    """PyTorch's functions under their bare names, and its modules."""
    import torch
    import torch.nn.functional as F

    found = {"torch": torch, "F": F, "linalg": torch.linalg, "pi": torch.pi, "inf": torch.inf}
    for module in (torch.linalg, torch.special, torch.nn.grad, torch, F):
        found |= {k: getattr(module, k) for k in dir(module) if not k.startswith("_")}
    own = ("inv", "solve", "vector_norm", "matrix_rank")
    numbers = {"bool": bool, "float": float, "int": int}  # called, they are Python's
    return found | {name: getattr(torch.linalg, name) for name in own} | numbers


def torch_function(op: Operator) -> Any:
    """What PyTorch calls `op`."""
    import torch

    found = torch
    for part in op.torch.split(".")[1:]:
        found = getattr(found, part)
    return found


def run_torch(text: str, tensors: Mapping[str, Any]) -> Any:
    """A program of the language, executed by PyTorch."""
    body = ast.parse(text).body
    scope = {**torch_names(), **tensors}
    exec(compile(ast.Module(body[:-1], []), "<program>", "exec"), scope)
    last = body[-1]
    return eval(compile(ast.Expression(last.value), "<program>", "eval"), scope)


def fixed(problem: Problem) -> set[str]:
    """The inputs by which PyTorch has no derivative, as the table says."""
    held = set()
    for node in everything(problem.out):
        held |= set(node.op.inputs_without_derivative(node).values())
    return {i.name for i in problem.inputs.values() if i.node in held}


def torch_answer(text: str, values: Mapping[str, Any], seed: Any, held: set[str]) -> Answer:
    """Value and gradients from PyTorch, with `seed` as `gradient` (None: PyTorch's own)."""
    import torch

    tensors = {name: torch.tensor(v) for name, v in values.items()}
    wrt = {n: t for n, t in tensors.items() if t.is_floating_point() and n not in held}
    for t in wrt.values():
        t.requires_grad_()
    out = run_torch(text, tensors)
    gradient = None if seed is None else torch.tensor(seed)
    found = torch.autograd.grad(out, list(wrt.values()), gradient, allow_unused=True)
    arrays = [None if g is None else g.numpy(force=True) for g in found]
    return Answer(out.detach().numpy(), dict(zip(wrt, arrays, strict=True)))


def assert_equal(ours: Any, theirs: Any, rtol: float = 1e-12, atol: float = 1e-13) -> None:
    """Same shape, None and infinities, nan in the same places, finite numbers to a tolerance."""
    if ours is None or theirs is None:
        assert ours is theirs
        return
    assert np.shape(ours) == np.shape(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol, equal_nan=True)


REFUSALS = re.compile("not implemented|does not require grad|no derivative|have no gradient")


def refusal(compute):
    """What `compute` gives, or the error of PyTorch or of gradcli that there is no derivative."""
    try:
        return compute(), None
    except (GradcliError, RuntimeError) as error:
        if not REFUSALS.search(str(error)):
            raise
        return None, error


def compare(text, values, seed=None, held=frozenset(), **tolerance):
    """Value and every gradient equal PyTorch's, or both refuse."""
    theirs, refused = refusal(lambda: torch_answer(text, values, seed, held))
    ours, we_refused = refusal(lambda: answer(pose(text, values=values), seed))
    assert bool(refused) == bool(we_refused), (refused, we_refused)
    if refused is None:
        assert_equal(ours.out, theirs.out, **tolerance)
        for name, grad in theirs.grads.items():
            assert_equal(ours.grads[name], grad, **tolerance)
