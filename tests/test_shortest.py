"""The search for the shortest formula: it never changes what a formula means."""

import pytest
from support import examples
from test_formula import (
    close,
    gradients,
    larger,
    names_of,
    problem_of,
    seed_for,
    value_of,
    values_of,
)

from gradcli.backends.numeric import Evaluator
from gradcli.notation import tree
from gradcli.notation.formula import formula
from gradcli.notation.shorten import shortest

EXAMPLES = examples()
OWN = [pytest.param(problem_of(e), id=str(e)) for e in EXAMPLES]
LARGER = [pytest.param(p, id=f"{e}, larger") for e in EXAMPLES if (p := larger(e)) is not None]


@pytest.mark.parametrize("problem", OWN + LARGER)
def test_shortest_formulas_mean_the_gradient(problem):
    seed = seed_for(problem)
    names = names_of(problem)
    values = values_of(problem, seed, names)
    for _, grad in gradients(problem):
        expected = Evaluator({**problem.values, problem.seed.node: seed})(grad)[0]
        short = tree.text(formula(shortest(grad, names), names))
        assert close(value_of(short, names, values), expected), short
