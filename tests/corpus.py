"""The identities of tests/identities, and how a formula is judged against one.

The length of a formula is the number of names, numbers, operators and calls in it: the nodes of
its tree. Brackets, commas and the spelling of a name count nothing, so that `x.sum(dim=0)` is as
long as `x.sum(0)`, and the same measure is taken of the book's.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from identities import identities

import gradcli
from gradcli.backends.numeric import Evaluator
from gradcli.errors import GradcliError
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.data import Data
from gradcli.explanation.formulas.formula_writer import FormulaWriter
from gradcli.explanation.formulas.shortest_structure import structure_of
from gradcli.explanation.higher.hessian import Hessian
from gradcli.graphs import OPS, as_node
from gradcli.language.arguments.assumptions import read_assumptions
from gradcli.language.building.build import Builder
from gradcli.language.posing import pose
from gradcli.language.program import read_program
from gradcli.limits import Limits
from gradcli.notation import tree
from gradcli.notation.formulas.spelling import read

NAMES = (
    *("cookbook", "calculus", "learning", "losses", "elements", "matrices", "programs"),
    *("statistics", "objectives", "models", "modern", "by_hand", "classical", "fields", "today"),
    *("derived", "textbooks", "small"),
)
ALL = [i for name in NAMES for i in identities(name)]
SETTINGS = (0, 1)


class Verdict(NamedTuple):
    """What became of one identity."""

    identity: object
    found: str
    right: bool
    length: int
    of_book: int

    @property
    def longer(self) -> bool:
        return self.length > self.of_book

    def text(self) -> str:
        """Two formulas to compare."""
        said = "longer" if self.right else "WRONG"
        return (
            f"{said}: {self.identity}   [{self.identity.source}]\n"
            f"  {self.length:3}  {self.found}\n  {self.of_book:3}  {self.identity.form}"
        )


def length(formula: str) -> int:
    """How long a formula is: its statements, and a name for each but the last."""
    parts = formula.split("; ")
    return sum(tree.size(read(_right_side(part))) for part in parts) + len(parts) - 1


def _right_side(statement: str) -> str:
    name, _, rest = statement.partition(" = ")
    return rest if rest and name.isidentifier() else statement


def formula_of(identity, setting=0) -> str:
    """What gradcli answers, without the notes on it."""
    values = {n: v for n, v in identity.values(setting).items() if v.dtype.kind != "f"}
    assume = read_assumptions(identity.assume) if identity.assume else None
    given = {"shapes": identity.shapes(setting), "assume": assume, "wrt": [identity.wrt]}
    a = Analysis(
        pose(identity.expr, **given, values=values if identity.kind == "gradient" else None)
    )
    (x,) = a.problem.wrt
    if identity.kind == "gradient":
        return Data(a).formula(x)
    a = a if identity.kind == "jacobian" else Hessian(a).gradient(x)
    return structure_of(a, FormulaWriter(a), x).text


class Setting(NamedTuple):
    """A program with numbers: the problem, the seed, and a value for each name in it."""

    problem: object
    seed: np.ndarray
    names: dict[str, np.ndarray]


@lru_cache(8)
def at(identity, k) -> Setting:
    """An identity's program with the values of one of its settings."""
    values = identity.values(k)
    problem = pose(identity.expr, values=values, wrt=[identity.wrt])
    ones = np.ones(problem.out.shape)
    seed = ones if problem.seed.implicit else np.random.default_rng(9).uniform(0.5, 1.5, ones.shape)
    evaluate = Evaluator({**problem.values, problem.seed.node: seed})
    names = {n: np.asarray(evaluate(node)[0]) for n, node in problem.named.items()}
    names |= {problem.out_name: np.asarray(evaluate(problem.out)[0])} | values
    if not problem.seed.implicit:
        names[problem.seed.name] = seed
    return Setting(problem, seed, names)


def value(formula: str, names):
    """What the language computes from a formula."""
    inputs, given = {}, {}
    for name, array in names.items():
        dtype = {"i": "int", "b": "bool"}.get(array.dtype.kind, "float")
        inputs[name] = OPS["input"](name=name, shape=array.shape, dtype=dtype)
        given[inputs[name]] = array
    program = read_program(formula, Limits())
    node = as_node(Builder(program, inputs, values=given, limits=Limits()).run())
    return np.asarray(Evaluator(given)(node)[0])


def agrees(identity, formula: str, expected, k) -> bool:
    """Whether a formula has the expected value in a setting."""
    try:
        found = value(formula, at(identity, k).names)
    except GradcliError:
        return False
    return found.shape == expected.shape and np.allclose(found, expected, rtol=1e-8, atol=1e-10)


@lru_cache(8)
def exact(identity, k):
    """The derivative in numbers: a gradient by gradcli's reverse pass, any other as a matrix."""
    known = at(identity, k)
    if identity.kind != "gradient":
        find = gradcli.hessian if identity.kind == "hessian" else gradcli.jacobian
        found = find(identity.expr, values=identity.values(k), wrt=identity.wrt)
        return found.reshape(-1, identity.values(k)[identity.wrt].size)
    seed = None if known.problem.seed.implicit else known.seed
    return gradcli.grad(identity.expr, values=identity.values(k), wrt=identity.wrt, grad=seed)


def judge(identity) -> Verdict:
    """gradcli's formula beside the book's."""
    try:
        found = str(formula_of(identity))
    except GradcliError as error:
        found = f"error: {error.message}"
    right = all(agrees(identity, found, exact(identity, k), k) for k in SETTINGS)
    try:
        size = length(found)
    except SyntaxError:
        size = 999
    return Verdict(identity, found, right, size, length(identity.form))
