"""Formulas mean what the graph means, read as in a textbook, and run."""

import sys
from itertools import product

import numpy as np
import pytest
from support import Checks, examples, fixed, larger, one_in, swept

import gradcli as package
from gradcli.autodiff.reverse import backward
from gradcli.backends.numeric import Evaluator
from gradcli.errors import GradcliError
from gradcli.explanation.formulas.trials import Trials, formulas_that_pass
from gradcli.explanation.torch_lines import program_lines
from gradcli.graphs import OPS, as_node, walk
from gradcli.graphs.substitution import substitute
from gradcli.language.arguments.option_texts import read_shapes
from gradcli.language.building.build import Builder
from gradcli.language.posing import pose
from gradcli.language.program import read_program
from gradcli.limits import Limits
from gradcli.notation import tree
from gradcli.notation.code.torch_code import expression
from gradcli.notation.formulas.formula import formula, too_long
from gradcli.notation.formulas.numerals import numeral
from gradcli.notation.formulas.rules import LAYOUT, RULES
from gradcli.notation.formulas.rules.identities import Identity
from gradcli.notation.formulas.shorten import ALTERNATIVES, NORMALISING
from gradcli.notation.formulas.simplify import simplify
from gradcli.notation.tree import Name
from gradcli.request import Request

EXAMPLES = examples()
checks = Checks()


# ---- what the tests share ------------------------------------------------------------------------


def names_of(problem):
    """The names that a formula may use."""
    names = {i.node: Name(i.name, f"input:{i.name}") for i in problem.inputs.values()}
    names |= {node: Name(name) for name, node in problem.named.items() if node not in names}
    names.setdefault(problem.out, Name(problem.out_name))
    return names | {problem.seed.node: Name(problem.seed.name, "seed")}


def gradients(problem):
    """The gradient of every input, as graph."""
    of = backward(problem.out, problem.seed.node, [i.node for i in problem.wrt]).of
    return [(i, of[i.node]) for i in problem.wrt if of[i.node] is not None]


def without_seed(node, seed):
    """1 in place of a seed that nobody gave."""
    one = OPS["ones"](size=seed.shape) if seed.shape else as_node(1.0)
    return substitute(node, {seed: one})


def values_of(problem, seed, names):
    """A value for every name."""
    given = {**problem.values, problem.seed.node: seed}
    evaluate = Evaluator(given)
    return {n: np.asarray(given[n] if n in given else evaluate(n)[0]) for n in names}


def value_of(text, names, values):
    """What the language computes from a text in which all of `names` are inputs."""
    node, given = parsed(text, names, values)
    return Evaluator(given)(node)[0]


def parsed(text, names, values=None):
    """The graph of a text in which all of `names` are inputs, and their values."""
    inputs = {
        name.text: OPS["input"](name=name.text, shape=node.shape, dtype=node.dtype)
        for node, name in names.items()
    }
    given = {inputs[name.text]: values[node] for node, name in names.items()} if values else {}
    program = read_program(text, Limits())
    return as_node(Builder(program, inputs, values=given, limits=Limits()).run()), given


def structure(root):
    """A graph as data: operators by how they are written, whole floats as integers."""
    found = {None: None}
    for node in walk([root]):
        attrs = {k: getattr(v, "text", v) for k, v in node.attrs.items() if k != "dtype"}
        inputs = tuple(map(id, (found[i] for i in node.inputs)))
        name = node.op.spelling or node.op.name
        found[node] = _shared.setdefault((name, inputs, repr_of(attrs)), object())
    return found[root]


_shared: dict = {}


def repr_of(value):
    if isinstance(value, dict):
        return tuple((k, repr_of(v)) for k, v in value.items())
    whole = isinstance(value, float) and value.is_integer()
    return repr(int(value)) if whole else repr(value)


def seed_for(problem):
    return np.random.default_rng(1).uniform(0.5, 1.5, problem.out.shape)


def close(found, expected):
    found = np.asarray(found)
    return found.shape == np.shape(expected) and np.allclose(
        found, expected, rtol=1e-7, atol=1e-9, equal_nan=True
    )


# ---- every operator of the table -----------------------------------------------------------------


@pytest.mark.parametrize("example", swept(4))
def test_example(example):
    checks.run(example.problem)
    if (other := larger(example)) is not None:
        formulas_of_gradients_mean_the_gradient(other)


@checks
def parsing_a_formula_gives_the_graph(problem):
    names = {i.node: Name(i.name) for i in problem.inputs.values()}
    node, _ = parsed(tree.text(formula(problem.out, names)), names, problem.values)
    inputs = {OPS["input"](name=n.text, shape=k.shape, dtype=k.dtype): k for k, n in names.items()}
    node = substitute(node, inputs)
    if any(n.op.in_torch(n) for n in walk([problem.out])):  # written in PyTorch's words
        value = Evaluator(problem.values)
        assert close(value(node)[0], value(problem.out)[0])
    else:
        assert structure(node) is structure(problem.out)


@checks
def what_stands_for_an_operator_in_formulas_has_its_value(problem):
    value = Evaluator(problem.values)
    for node in walk([problem.out]):
        said = node.op.in_torch(node)
        if said is not None:
            assert close(value(said)[0], value(node)[0]), tree.text(formula(said, {}))


@checks
def formulas_of_gradients_mean_the_gradient(problem):
    seed = seed_for(problem)
    names = names_of(problem)
    values = values_of(problem, seed, names)
    for x, grad in gradients(problem):
        expected = Evaluator({**problem.values, problem.seed.node: seed})(grad)[0]
        plain = tree.text(formula(grad, names))
        assert close(value_of(plain, names, values), expected), plain
        short = tree.text(formula(simplify(grad, keep=names), {x.node: names[x.node]} | names))
        assert close(value_of(short, names, values), expected), short


@checks
def formulas_with_a_seed_of_ones(problem):
    names = names_of(problem)
    ones = np.ones(problem.out.shape)
    values = values_of(problem, ones, names)
    for x, grad in gradients(problem):
        expected = Evaluator({**problem.values, problem.seed.node: ones})(grad)[0]
        short = simplify(without_seed(grad, problem.seed.node), keep=names)
        text = tree.text(formula(short, {x.node: names[x.node]} | names))
        assert close(value_of(text, names, values), expected), text


@checks
def simplifying_keeps_the_value(problem):
    value = Evaluator(problem.values)
    assert close(value(simplify(problem.out))[0], value(problem.out)[0])


# ---- as in a textbook ----------------------------------------------------------------------------

TEXTBOOK = [
    ("(x * x).sum()", "x=2x3", {"x": "2 * x"}),
    ("x.sum()", "x=2x3", {"x": "ones_like(x)"}),
    ("out = a * a", "a=2x3", {"a": "2 * g * a"}),
    ("((A @ x - b) ** 2).sum()", "A=3x2,x=2", {"x": "2 * A.T @ (A @ x - b)"}),
    ("mse_loss(x, t)", "x=2x3,t=2x3", {"x": "2 * (x - t) / x.numel()"}),
    ("x @ a", "x=2x3,a=3x4", {"x": "g @ a.T", "a": "x.T @ g"}),
    ("a @ b", "a=2x3,b=3", {"a": "outer(g, b)", "b": "a.T @ g"}),
    ("softmax(x, -1)", "x=2x3", {"x": "out * (g - (g * out).sum(dim=-1, keepdim=True))"}),
    ("relu(x)", "x=2x3", {"x": "where(out <= 0, 0, g)"}),
    ("tanh(x)", "x=3", {"x": "g * (1 - out ** 2)"}),
    ("sigmoid(x)", "x=3", {"x": "g * out * (1 - out)"}),
    ("x / y", "x=2x3,y=2x3", {"x": "g / y", "y": "-g * x / y ** 2"}),
    ("linear(x, w, b)", "x=2x3,w=4x3,b=4", {"x": "g @ w", "w": "g.T @ x", "b": "g.sum(dim=0)"}),
    ("x.norm()", "x=3", {"x": "where(out == 0, 0, x / out)"}),
    ("logsumexp(x, dim=1)", "x=2x3", {"x": "g.unsqueeze(1) * exp(x - out.unsqueeze(1))"}),
    ("x.var()", "x=2x3", {"x": "2 * (x - x.mean()) / (x.numel() - 1)"}),
    ("x.mean()", "x=2x3", {"x": "ones_like(x) / x.numel()"}),
    ("inv(x)", "x=3x3", {"x": "-out.T @ g @ out.T"}),
    ("outer(a, b)", "a=2,b=3", {"a": "g @ b", "b": "g.T @ a"}),
    ("x @ A @ x", "x=3,A=3x3", {"x": "x @ A + A @ x", "A": "outer(x, x)"}),
    ("trace(A @ X)", "A=2x3,X=3x2", {"A": "X.T", "X": "A.T"}),
    ("exp(-x ** 2 / 2)", "x=3", {"x": "-g * out * x"}),
    ("x ** 3", "x=3", {"x": "3 * g * x ** 2"}),
    ("x / 30.5", "x=3", {"x": "g / 30.5"}),
    ("sqrt(x)", "x=3", {"x": "g / (2 * out)"}),
    ("x * b", "x=2x3,b=3", {"x": "g * b", "b": "(g * x).sum(dim=0)"}),
    ("(x + b).sum()", "x=2x3,b=3", {"x": "ones_like(x)", "b": "x.shape[0] * ones_like(b)"}),
    ("x[0]", "x=2x3", {"x": "outer(eye(x.shape[0])[0], g)"}),
    ("x[[0, 0, 2]]", "x=3x2", {"x": "eye(x.shape[0])[[0, 0, 2]].T @ g"}),
    (
        "h = relu(x @ W + b); h.sum(dim=1)",
        "x=2x3,W=3x4,b=4",
        {
            "x": "where(h <= 0, 0, g.unsqueeze(1)) @ W.T",
            "W": "x.T @ where(h <= 0, 0, g.unsqueeze(1))",
            "b": "where(h <= 0, 0, g.unsqueeze(1)).sum(dim=0)",
        },
    ),
    (
        "cross_entropy(x, tensor([2, 0]))",
        "x=2x3",
        {
            "x": "(softmax(x, dim=1)"
            " - (tensor([2, 0]).unsqueeze(1) == arange(x.shape[1])).double()) / x.shape[0]"
        },
    ),
    ("cat([a, b]).sum()", "a=2x3,b=1x3", {"a": "ones_like(a)", "b": "ones_like(b)"}),
    ("(w * x).sum() + 0.5 * (w ** 2).sum()", "w=3,x=3", {"w": "w + x", "x": "w"}),
    ("(x - y).abs().sum()", "x=3,y=3", {"x": "sign(x - y)", "y": "-sign(x - y)"}),
]


@pytest.mark.parametrize(("text", "shapes", "expected"), TEXTBOOK)
def test_as_in_a_textbook(text, shapes, expected):
    problem = pose(text, shapes=read_shapes([shapes]))
    names = names_of(problem)
    for x, grad in gradients(problem):
        if x.name in expected:
            seeded = without_seed(grad, problem.seed.node) if problem.seed.implicit else grad
            short = simplify(seeded, keep=names)
            found = tree.text(formula(short, {x.node: names[x.node]} | names))
            assert found == expected[x.name]


RULE_CASES = {
    "stack_from_sum": [
        "s.put_at((2,), (0,)) - 2 * eye(2)[1]",
        "x.put_at((2, 3), (0,)) + s * x.put_at((2, 3), (1,))",
        "s.put_at((2, 2), (0, 1)) + exp(s).put_at((2, 2), (1, 0)) - outer(eye(2)[0], eye(2)[0])",
    ],
    "item_of_a_stack": ["stack([x, 2 * x], dim=1)[:, 0]", "stack([x, x * x])[-1] * x"],
    "trivial_index": ["A[:, :]", "A[...]", "x * ones(2, 3)[0]"],
    "flip_of_flip": ["A.flip(0).flip(0)", "A.flip(0).flip((0, 1))"],
    "roll_of_roll": [
        "x.roll(1).roll(1)", "x.roll(1, 0).roll(-1)", "A.roll(2).roll(-1)", "ones(3).roll(1) * x",
        "A.roll(1, 1).roll(1, -1)", "A.roll(1, 0).roll(1, 1).roll(-1, 1)",
    ],
    "getitem_of_put_at": [
        "x.put_at((6,), (slice(1, 4),))[1:-2]",
        "A.put_at((5, 4), (slice(1, 4), slice(3)))[1:-1, :3]",
        "A.put_at((5, 3), (slice(0, 5, 2),))[::2]", "x.put_at((2, 3), (-1,))[1]",
    ],
    "flip_of_constant": ["(x * ones(3).flip(0)).sum()", "x.expand(2, 3).flip(0)"],
    "cumsum_of_put_at": [
        "x.put_at((4, 3), (-1,)).flip(0).cumsum(0)", "s.put_at((4,), (3,)).flip(0).cumsum(0)",
        "x.put_at((3, 4), (..., -1)).flip(1).cumsum(1)",
        "(x[0].put_at((3,), (-1,)) * y).flip(0).cumsum(0)",
    ],
    "scalars_into_put_at": [
        "2 * s.put_at((2, 3), (1, 2))", "-A.put_at((2, 3, 3), (1,)) / 4",
        "s * A.put_at((3, 3, 5), (..., slice(3)))",
    ],
    "put_at_of_size_one": ["x.put_at((1, 3), (0,))", "A.put_at((1, 3, 3), (0,))"],
    "torch_equivalent": [
        *("elu_backward(x, y, 2.0, 0.5, 3.0)", "softplus_backward(x, y)", "gated(x, y)"),
        *("scaled_inverse_transpose(A + 3 * eye(3), s)", "cofactors_along(A, det(A), B)"),
    ],
    "mask_as_numbers": ["1.0 * (x > y)", "(A > 1) * 1.0"],
    "opposite_comparison": ["(~(x < y)).double()", "where(~(x != y), x, 1.0)"],
    "collect_factors": [
        "1 * x * 1 / 1", "-(-x)", "x ** 1 + x ** 0", "3 * x * 2 * y / x ** 3", "0 * x",
        "x.expand(3)", "x.expand(3, 3).expand(3, 3, 3)", "ones(3, 3) * s",
    ],
    "numbers_out_of_linear_maps": ["(2 * A).T", "(-x / s).sum()", "(s * A).reshape(9)"],
    "numbers_out_of_matrix_products": ["(2 * A) @ (x / s)", "outer(-x, 3 * y)"],
    "numbers_before_matrix_products": ["2 * (A @ x)", "-(A @ x)", "-(s * (A @ B @ x))"],
    "numbers_out_of_einsum": ["einsum(',ij,->ji', s, A, 2.0)"],
    "like_terms": [
        "x + x - 3 * y", "x - x + y", "x + 0 - y + 1 + 2", "-x + y", "x - (y - x)", "A + x - A",
    ],
    "broadcast_by_other_operands": [
        "A * x.reshape(1, 3)", "A * sqrt(B.var(0, keepdim=True) + 1)",
        "A - exp(-s * x.unsqueeze(0))",
        "maximum(x.expand(3, 3), A)", "where(A > 0, ones(3, 3), A)"],
    "sum_over_broadcast_dimensions": [
        "A.sum_to_size(3)", "A.sum_to_size(3, 1)", "A.sum_to_size(1, 1)",
    ],
    "sum_over_all": ["A.sum(dim=(0, 1))", "s.sum()"],
    "one_dimension": ["A.sum(dim=(1,))", "A.mean(dim=(0,), keepdim=True)"],
    "sum_of_sum": [
        *("A.sum(dim=1).sum(dim=0)", "A.expand(4, 3, 3)[:, :, :2].sum(dim=1).sum(dim=1)"),
        *("A.mean(dim=1, keepdim=True).mean(dim=0, keepdim=True)", "A.sum(dim=0).sum()"),
    ],
    "sum_of_repeated": [
        "x.expand(4, 3).sum(dim=0)", "x.expand(4, 3).sum()", "s.expand(2, 3).sum(dim=1)",
        "x.unsqueeze(1).expand(3, 5).sum(dim=1, keepdim=True)", "x * ones(2, 3).sum(dim=0)",
        "s / full((1,), True).sum()", "s / full((), True).sum()", "s / full((2,), True).sum()",
    ],
    "mean_of_constant": [
        "ones(2, 3).mean(dim=1, keepdim=True) + s", "full((2, 3), 4.0).mean() * x",
    ],
    "sum_of_unsqueeze": [
        "x.unsqueeze(1).sum(dim=0)", "A.unsqueeze(1).sum(dim=(1, 2))",
        "A.unsqueeze(1).sum(dim=1, keepdim=True)",
    ],
    "full_of_ones": ["full((3, 4), 1.0)"],
    "where_of_one_value": ["where(x > 0, y, y)", "where(A > 0, x, x)"],
    "transpose_of_product": ["A.T.T", "(A @ B).T", "outer(x, y).T", "A.transpose(1, 0)"],
    "outer_product": ["x.unsqueeze(1) * y", "3 * x.unsqueeze(1) * y * s"],
    "sum_of_products": ["(x.unsqueeze(1) * A).sum(dim=0)", "(A * x).sum(dim=1)"],
    "reshape_of_reshape": [
        "x.unsqueeze(0).squeeze(0)", "A.reshape(9).reshape(3, 3)", "A.reshape(9).reshape(9, 1)",
        "A.sum(dim=1, keepdim=True).squeeze(1)", "s.expand(3, 1).squeeze(1)",
        "x.unsqueeze(1).expand(3, 3).unsqueeze(1)", "s.expand(3).unsqueeze(1)",
        "s.expand(2, 3).reshape(6)", "x * A.argmin(dim=1, keepdim=True).squeeze(1)",
    ],
    "matmul_from_put_at": [
        "x.put_at((3, 3), (1,))", "A.put_at((5, 3), ([0, 4, 4],))", "s.put_at((4,), (2,))",
        "x.put_at((3, 4), (..., 1))", "A.put_at((3, 4), (..., [0, 3, 1]))",
        "ones_like(s).put_at((2, 3), (1, 2))", "x.put_at((2, 4), (0, [1, 1, 3]))",
    ],
    "unsqueeze_from_reshape": ["(2 * x).reshape(1, 3).reshape(3, 1)"],
    "transpose_from_permute": [
        *("A.permute(0, 1)", "A.permute(-2, 1)", "A * ones(1, 3).permute(1, 0)"),
        *("A.permute(1, 0)", "A.expand(4, 3, 3).permute(2, 1, 0)"),
    ],
    "sum_of_scattered": ["A.scatter_to((3, 5), 1, tensor([[0, 1, 2]] * 3)).sum(dim=1)"],
    "comparison_from_scatter": ["x.unsqueeze(1).scatter_to((3, 4), 1, tensor([[0], [3], [1]]))"],
    "finite_guards": [
        "unless(x > 5, y, 0.0)", "unless(A > 5, A @ B, 0.0)", "without_slope(x > 5, y)",
    ],
    "reshape_of_known_indices": [
        "x * tensor([[0, 2, 1]]).reshape(-1)", "x * tensor([[0], [2], [1]]).flatten()",
    ],
    "comparison_of_known_values": [
        "where(tensor([1, 2, 3]) > 0, x, y)", "where(tensor([1, 2, 3]) == 5, x, y)",
    ],
}  # fmt: skip
SHAPES = {"x": (3,), "y": (3,), "A": (3, 3), "B": (3, 3), "I": (4, 2, 4), "s": ()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x[m] @ x[m]", "2 * x * m"),
        ("(x[m] * y[m]).sum()", "y * m"),
        ("(A[m] * B[m]).sum()", "B * m.unsqueeze(-1)"),
        ("exp(x[m]).sum()", "zeros_like(x).masked_scatter(m, exp(x[m]))"),  # inf elsewhere, maybe
        ("log(x[m]).sum()", "zeros_like(x).masked_scatter(m, 1 / x[m])"),
    ],
)
def test_what_a_mask_picks_is_multiplied_by_it(text, expected):
    values = {"m": [True, False, True]}
    shapes = {name: shape for name, shape in SHAPES.items() if f"{name}[" in text}
    x = "A" if "A" in text else "x"
    assert package.formula(text, shapes=shapes, values=values, wrt=x) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4 * pi * s", "4 * pi * g"), ("s * pi / 3", "pi / 3 * g"), ("s * 12.5", "12.5 * g")],
)
def test_multiples_of_pi_are_written_so(text, expected):
    assert package.formula(text, shapes={"s": (2,)}) == expected


def test_every_rule_has_cases():
    rules = {
        rule.__name__
        for table in (RULES, LAYOUT)
        for rules in table.values()
        for rule in rules
        if not isinstance(rule, Identity)  # test_rule_texts.py
    }
    elsewhere = {  # test_shortest.py
        *("transpose_second", "sign_before_products", "without_parentheses", "numbers_first"),
        *("roots_below", "reciprocal_root"),
    }
    elsewhere |= {  # of what is assumed, test_formulas_torch.py
        *("compared_with_zero", "sqrt_of_square", "clamp_of_nonnegative", "sum_of_simplex"),
        *("norm_of_unit_vector", "known_products", "triangle_of_a_triangle"),
        *("product_with_zeros", "square_of_permutation"),
    }
    assert rules - elsewhere == set(RULE_CASES)


@pytest.mark.parametrize(
    ("name", "case"), [(n, c) for n, cases in RULE_CASES.items() for c in cases]
)
def test_rules_keep_value_and_shape(name, case, monkeypatch):
    case = case.replace("[[0, 1, 2]] * 3", "[[0, 1, 2], [2, 1, 0], [1, 1, 1]]")
    draw = np.random.default_rng(3)
    applied = []
    for table in (RULES, LAYOUT):
        for key, rules in table.items():
            monkeypatch.setitem(table, key, [watched(rule, applied) for rule in rules])
    inputs = {n: OPS["input"](name=n, shape=s) for n, s in SHAPES.items()}
    values = {node: draw.uniform(0.2, 2, node.shape) for node in inputs.values()}
    node = as_node(Builder(read_program(case, Limits()), inputs, values={}, limits=Limits()).run())
    short = simplify(node)
    assert name in applied
    value = Evaluator(values)
    assert close(value(short)[0], value(node)[0]), tree.text(formula(short, {}))


def watched(rule, applied):
    def watch(node):
        new = rule(node)
        if new is not None and new is not node:
            applied.append(rule.__name__)
        return new

    watch.__name__ = rule.__name__
    return watch


def test_kept_nodes_are_atoms():
    problem = pose("h = x * x; h * h", shapes={"x": (3,)})
    h = problem.named["h"]
    assert tree.text(formula(simplify(problem.out, keep=[h]), {h: Name("h")})) == "h ** 2"
    assert tree.text(formula(simplify(problem.out), {})) == "x ** 4"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (20.0, "20"),
        (2.0, "2"),
        (0.30000000000000004, "0.30000000000000004"),
        (1 / 3, "0.3333333333333333"),
        (8**0.5, "8 ** 0.5"),
        (-(3**-0.5), "-3 ** -0.5"),
        (5**0.5 / 3, "5 ** 0.5 / 3"),
        (-2 * 3**0.5 / 5, "-2 * 3 ** 0.5 / 5"),
    ],
)
def test_numbers_that_are_no_roots(number, text):
    assert tree.text(numeral(number)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8 ** 0.5 * x", "math.sqrt(8) * g"),
        ("-x / 3 ** 0.5", "-g / math.sqrt(3)"),
        ("5 ** 0.5 / 3 * x", "math.sqrt(5) * g / 3"),
        ("4 / math.sqrt(pi) * x", "4 * g / math.sqrt(pi)"),
        ("x / math.sqrt(x.shape[0])", "g / math.sqrt(x.numel())"),
        ("x / x.shape[0] ** 0.5", "g / x.numel() ** 0.5"),
        ("x * math.log(8)", "3 * math.log(2) * g"),
    ],
)
def test_roots_and_logarithms_of_numbers_are_calls(text, expected):
    assert package.formula(text, shapes={"x": (3,)}) == expected


def test_a_variable_called_math_leaves_powers():
    shapes = {"x": (3,), "math": (3,)}
    expected = "g * math * (2 / pi ** 0.5 * x * exp(-x ** 2) + erf(x))"
    assert package.formula("math * x * erf(x)", shapes=shapes, wrt=["x"]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1 * x + 0.2 * x", "0.3 * g"),
        ("log(2 * pi * x)", "g / x"),
        ("-3 * log(2 * pi * x) / 2", "-3 * g / (2 * x)"),
        ("x * 3 / 6.5", "3 * g / 6.5"),
        ("19.5 * x / 6.5 / 1.5", "2 * g"),
        ("1e308 * log(1e-5 * pi * x)", "1e+308 * g / x"),
        ("k = 1e-300 * exp(x); (1e300 * exp(x) + k).sum()", "1e+300 * exp(x)"),
        ("k = 0.001 * x; (x ** 120 + k).sum()", "120 * x ** 119 + 0.001"),
        ("torch.full((3,), 1e14) ** 30 * x", "g * full((3,), 100000000000000.0) ** 30"),
        ("0.1 * (3 * x)", "0.3 * g"),
        ("(0.1 * x).sum() * 3", "0.3 * ones_like(x)"),
        ("(0.7 * (x + 0.1) * x).sum()", "1.4 * x + 0.07"),
        ("0.30000000000000004 * x", "0.30000000000000004 * g"),
        ("1.2 * x - 1.1 * x - 0.1 * x", "zeros_like(x)"),
        ("x**0.3 * x**0.7", "g"),
        ("x**2.2 * x**-1.1", "1.1 * g * x ** 0.1"),
        ("x**1.5 * x**2", "3.5 * g * x ** 2.5"),
        ("-(0.30000000000000004 * x).sum()", "-0.30000000000000004 * ones_like(x)"),
        ("where(x >= 0.30000000000000004, x, 0)", "g * (x >= 0.30000000000000004)"),
    ],
)
def test_numbers_that_rules_add_up_are_short_and_those_of_the_user_are_exact(text, expected):
    assert package.formula(text, shapes={"x": (3,)}) == expected


def test_long_chains():
    problem = pose(
        "; ".join(["y = x", *["y = sin(y) * w"] * 5000, "y"]), shapes={"x": (2,), "w": (2,)}
    )
    names = names_of(problem)
    ((_, grad), *_) = gradients(problem)
    assert too_long(formula(problem.out, {}))
    assert too_long(formula(simplify(grad, keep=names), names))


# ---- PyTorch -------------------------------------------------------------------------------------


def test_program_lines():
    problem = pose(
        "h = x @ w; out = h.softmax(1)", values={"x": [[1.0, 2], [3, 4]], "w": [[1, 0], [0, 1]]}
    )
    assert program_lines(problem, in_double=False) == [
        "x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)",
        "w = torch.tensor([[1., 0.], [0., 1.]], requires_grad=True)",
        "h = x @ w",
        "out = torch.softmax(h, dim=1)",
        "out.backward(torch.ones_like(out))  # or any seed of shape (2, 2)",
    ]


@pytest.mark.parametrize(
    ("text", "options", "lines"),
    [
        ("a * a", {"values": {"a": [1, 2]}, "grad": "a"}, ["out = a * a", "out.backward(a)"]),
        ("a.sum()", {"values": {"a": [1, 2]}}, ["out = a.sum()", "out.backward()"]),
        (
            "relu(a)", {"grad": [[1, 2.5]]},
            ["out = torch.relu(a)", "out.backward(torch.tensor([[1., 2.5]]))"],
        ),
        ("mse_loss(a, b)", {}, ["out = F.mse_loss(a, b)", "out.backward()"]),
        (
            "inv(a)", {"grad": "2 * out", "values": {"a": [[2]]}},
            ["out = torch.linalg.inv(a)", "out.backward(2 * out)"],
        ),
    ],
)  # fmt: skip
def test_last_lines(text, options, lines):
    assert program_lines(pose(text, **options), in_double=False)[-2:] == lines


def test_inputs_of_a_program():
    problem = pose("x[i] + b.sum()", values={"i": [0, 1], "b": np.zeros((10, 10))})
    double, *lines = program_lines(problem, in_double=True)
    assert double == "torch.set_default_dtype(torch.float64)"
    assert lines[1] == "i = torch.tensor([0, 1])"
    assert "# b: your values, shape 10×10" in lines
    assert lines[0].startswith("x = torch.randn(")


def test_expressions_in_other_words():
    x = OPS["input"](name="x", shape=(2, 3))
    assert expression(x.logsumexp(dim=1), {}) == "x.logsumexp(dim=1)"
    assert expression(OPS["maximum"](x, 0.0), {}) == "torch.maximum(x, torch.tensor(0.))"
    mixed, alike = OPS["clamp"](x, x.cos(), 2.0), OPS["clamp"](x, 0.5, 2.0)  # numbers or tensors
    assert expression(mixed, {}) == "x.clamp(min=torch.cos(x), max=torch.tensor(2.))"
    assert expression(alike, {}) == "x.clamp(min=0.5, max=2)"
    assert (
        expression(OPS["full"](size=(2,), fill_value=float("inf")), {})
        == "torch.full((2,), torch.inf)"
    )


@pytest.fixture
def torch(double_precision):
    return double_precision


@pytest.mark.oracle
@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_programs_run_and_agree(example, torch):
    seed = seed_for(example.problem)
    problem = pose(
        example.text, values=example.values, grad=seed if seed.size <= 60 else "ones_like(out)"
    )
    seed = seed if seed.size <= 60 else np.ones(seed.shape)
    scope = {"torch": torch, "F": torch.nn.functional}
    exec("\n".join(program_lines(problem, in_double=True)), scope)
    given = {**problem.values, problem.seed.node: seed}
    for x, grad in gradients(problem):
        if x.name not in fixed(problem):
            assert close(scope[x.name].grad.numpy(), Evaluator(given)(grad)[0]), x.name


@pytest.mark.oracle
def test_programs_with_repeated_parts_run_and_agree(torch):
    layer = "F.layer_norm(F.gelu(h @ x), [2])"
    text = "; ".join(["h = x", *[f"h = {layer}"] * 4, "t = h ** 2; t.sum()"])
    given = [[0.3, -0.2], [0.5, 0.7]]
    scope = {"torch": torch, "F": torch.nn.functional}
    request = Request(text.replace("F.", ""), values={"x": given}, expand=True)
    exec("\n".join(program_lines(request.analysis().problem, in_double=True)), scope)
    h = x = torch.tensor(given, requires_grad=True)
    for _ in range(4):
        h = eval(layer, {"F": torch.nn.functional, "h": h, "x": x})
    (h**2).sum().backward()
    assert close(scope["x"].grad.numpy(), x.grad.numpy())


@pytest.mark.oracle
@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_formulas_run_in_torch(example, torch):
    problem = example.problem
    seed = seed_for(problem)
    names = names_of(problem)
    values = values_of(problem, seed, names)
    tensors = {names[node].text: torch.tensor(value.copy()) for node, value in values.items()}
    for x, grad in gradients(problem):
        code = expression(simplify(grad, keep=names), {x.node: names[x.node]} | names)
        found = eval(code, {"torch": torch, "F": torch.nn.functional, **tensors})
        expected = Evaluator({**problem.values, problem.seed.node: seed})(grad)[0]
        assert close(found.numpy(), expected), code


def test_numpy_is_not_imported_at_load():
    import subprocess

    code = "import gradcli.notation.formulas.simplify as _, sys;"
    code += "import gradcli.notation.code.torch_code as _;"
    code += "print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# No integers: beside arrays, NumPy takes them for arrays and PyTorch takes them first.
NESTED = "[[0, 1], [1, 0]]"  # alone PyTorch takes it for a tuple
ITEMS = [":", "1:", "[0, 1]", NESTED, "[2]", "None", "[True, False, True]", "..."]
INDICES = [
    ", ".join(items)
    for count in (1, 2, 3)
    for items in product(ITEMS, repeat=count)
    if items.count("...") <= 1 and items != (NESTED,)
]


@pytest.mark.parametrize("index", one_in(8, INDICES, sweep=2))
def test_a_formula_puts_back_what_any_index_picks(index):
    x, at = np.arange(27.0).reshape(3, 3, 3), {"place": np.arange(27).reshape(3, 3, 3)}
    try:
        picked = eval(f"place[{index}]", at)
    except IndexError:
        with pytest.raises(GradcliError, match="index"):
            package.grad(f"x[{index}]", values={"x": x}, grad=1.0)
        return
    g, expected = 1 + np.arange(float(picked.size)).reshape(picked.shape), np.zeros(27)
    np.add.at(expected, picked, g)
    written = package.formula(f"x[{index}]", values={"x": x}, grad=g)
    problem = pose(f"{written} + 0 * x", values={"x": x, "g": g})
    (found,) = Evaluator(problem.values)(problem.out)
    np.testing.assert_array_equal(found, expected.reshape(x.shape), err_msg=written)


@pytest.mark.parametrize("index", [":, 1, ::2", "1, ::2", "::2, 1:", "..., 0, ::2", "0, 1, 2"])
def test_slices_are_put_back_without_counting_places(index):
    assert "arange" not in package.formula(f"x[{index}].exp()", shapes={"x": (3, 3, 4)})


@pytest.mark.parametrize(
    ("expr", "formula"),
    [
        ("x[x > 0]", "zeros_like(x).masked_scatter(x > 0, g)"),
        ("sin(x[x > 0])", "zeros_like(x).masked_scatter(x > 0, g * cos(x[x > 0]))"),
        ("x[x > 0].sum()", "(x > 0).double()"),
        ("x[x[:, 0] > 0]", "zeros_like(x).masked_scatter((x[:, 0] > 0).unsqueeze(-1), g)"),
    ],
)
def test_what_a_mask_picks_is_put_back_at_any_size(expr, formula):
    assert package.formula(expr, values={"x": [[1.0, -2, 3], [0.5, 4, -3]]}) == formula


def test_zeros_of_what_put_writes_have_its_size_and_not_that_of_x():
    shapes = {"x": (4,), "i": (4,), "y": (4,)}
    found = package.formula("x.put(i, y)", shapes=shapes)
    assert found == {"x": "g.put(i, zeros_like(y))", "y": "g.take(i)"}


def test_a_mask_in_index_notation():
    j = package.explain("(x[x > 0] * y).sum()", values={"x": [1.0, -2, 3]}, shapes={"y": (2,)})
    assert "Σ_j δ[i,p[j]] y[j]" in str(j)
    assert "p[j] is the index of the j-th True in x > 0." in str(j)


@pytest.mark.parametrize(
    ("program", "index"),
    [
        ("a[:, 1:] * 2", "a.grad[i,j] = 2 [j ≥ 1] g[i,j-1]"),
        ("a[:, :-1] * 2", "a.grad[i,j] = 2 [j < 4] g[i,j]"),
        ("a[:, 1:-1] * 2", "a.grad[i,j] = 2 [1 ≤ j < 4] g[i,j-1]"),
    ],
)
def test_bounds_of_a_place_have_the_numbers_on_their_side(program, index):
    assert index in str(package.explain(program, shapes={"a": (4, 5)}))


def test_what_is_wrong_below_zero_is_not_shown():
    """Formulas are tried out at numbers of both signs, where a program chooses by them."""
    p = pose("where(x > 0, x, 0.5 * x).norm()", shapes={"x": (3,)})
    right = tree.Verbatim("x * where(x > 0, 1.0, 0.25) / out")
    trials = Trials(p, p)
    assert trials.first
    assert formulas_that_pass(trials, {"x": right}) == {"x": right}
    assert (
        formulas_that_pass(trials, {"x": tree.Verbatim("x * where(x > 0, 1.0, 0.5) / out")}) == {}
    )


def test_random_numbers_of_a_program_are_known_to_its_formulas():
    found = package.explain("x * torch.randn(3)", values={"x": [1.0, 2.0, 3.0]})
    assert found.to("plain").count("x.grad = g * torch.randn(3)") == 1
    assert [note["code"] for note in found.notes] == ["implicit-seed"]


def test_an_index_is_a_tensor_in_torch():
    shapes = {"x": (3,), "y": (2,), "z": (2,)}
    text = "x[tensor([0, 2])] * y[[1]] + z[t]"
    found = package.explain(text, shapes=shapes, values={"t": [0, 1]})
    assert "out = x[torch.tensor([0, 2])] * y[[1]] + z[t]" in found.to(full=True)


def test_an_index_that_picks_nothing_is_explained():
    assert package.formula("y[[]]", shapes={"y": (3,)}) == "zeros_like(y)"


@pytest.mark.parametrize(("text", "shapes", "name", "expected"), [
    ("(diag(diag(x, 1)) * y).sum()", {"x": (2,), "y": (3,)}, "y", "x.diag(1).diag()"),
    ("a @ diag(x, 1)", {"a": (3, 3), "x": (2,)}, "a", "g @ x.diag(1).T"),
    ("(x * x * (linalg.vector_norm(x, ord=-inf) != 0)).sum()", {"x": (3,)}, "x",
     "2 * x * (x.norm(-inf) != 0)"),
    ("x[:10**16].sum() * y", {"x": (3,), "y": (3,)}, "y", "g * x[:10000000000000000].sum()"),
])  # fmt: skip
def test_a_diagonal_beside_the_main_one_and_odd_orders(text, shapes, name, expected):
    found = package.formula(text, shapes=shapes)
    assert (found[name] if isinstance(found, dict) else found) == expected


@pytest.mark.parametrize("shapes", [{"A": (3, 3), "X": (3, 3), "B": (3, 3)},
                                    {"A": (2, 3), "X": (3, 4), "B": (4, 2)}])  # fmt: skip
def test_a_formula_is_general_though_it_cannot_be_tried_out_at_the_own_sizes(shapes):
    """Of random matrices of these sizes the determinant is below 0, and its logarithm nan."""
    found = package.formula("logdet(A @ X @ B)", shapes=shapes, wrt="X")
    assert found == "(B @ inv(A @ X @ B) @ A).T"  # d logdet(M) = trace(inv(M) @ A @ dX @ B)


@pytest.mark.parametrize(
    "text",
    one_in(4, ["sin(x)", "sin(x).reshape(3, 1)", "sin(x).cumsum(0)", "h = sin(x); h"]),
)
def test_a_wrong_formula_is_never_shown(text, monkeypatch):
    """Here a rule says that cos(x) is x."""
    monkeypatch.setitem(NORMALISING, "cos", [lambda node: node.parents[0]])
    shapes = {"x": (3,)}
    with pytest.warns(UserWarning, match="other values: it is not shown"):
        assert package.formula(text, shapes=shapes) is None
    found = package.explain(text, shapes=shapes)
    assert {note["code"] for note in found.notes} == {"no-formula", "implicit-seed"}
    shown = found.to("plain")
    assert "x.grad = (no formula gives these numbers)" in shown
    assert "a formula too long" not in shown


@pytest.mark.parametrize("made", [lambda x: x @ x, lambda x: x.unsqueeze(dim=0)])
def test_a_rule_that_makes_no_equal_does_not_apply(made, monkeypatch):
    """One raises an error of shapes, the other has a dimension more."""
    monkeypatch.setitem(NORMALISING, "cos", [made])
    monkeypatch.setitem(ALTERNATIVES, "cos", [lambda x: iter([made(x)])])
    assert package.formula("sin(x)", shapes={"x": (3, 2)}) == "g * cos(x)"


@pytest.mark.parametrize(("text", "shapes", "expected"), [
    ("(torch.topk(x, 3).values * topk).sum()", {"x": (5,), "topk": (3,)},
     {"x": "zeros_like(x).scatter_add(-1, torch.topk(x, 3).indices, topk)",
      "topk": "torch.topk(x, 3).values"}),
    ("(torch.linalg.vander(linalg, N=3) * y).sum()", {"linalg": (2,), "y": (2, 3)},
     {"y": "torch.linalg.vander(linalg, N=3)"}),
    ("inv = x + 1; torch.linalg.inv(A) @ inv", {"x": (3,), "A": (3, 3)},
     {"x": "g @ torch.linalg.inv(A)"}),
    ("solve = x; torch.linalg.solve(A, solve).sum()", {"x": (3,), "A": (3, 3)},
     {"x": "linalg.solve(A.T, ones_like(x))"}),
])  # fmt: skip
def test_a_function_whose_name_the_program_has_is_called_with_its_library(text, shapes, expected):
    for name, found in expected.items():
        assert package.formula(text, shapes=shapes, wrt=name) == found


def test_one_label_that_is_written_out_is_not_divided_by():
    found = package.formula("cross_entropy(x, tensor([2]))", shapes={"x": (1, 4)})
    assert found == "softmax(x, dim=1) - eye(x.shape[1])[tensor([2])]"


@pytest.mark.parametrize("labels", [[0, 1, 2], [1, 0, 2]])
def test_labels_that_count_up_are_labels(labels):
    text = "-log_softmax(x, 1)[range(len(y)), y].mean()"
    found = package.formula(text, shapes={"x": (3, 3)}, values={"y": labels})
    assert found == "(softmax(x, dim=1) - one_hot(y, x.shape[1])) / y.numel()"


def test_the_mean_of_one_hot_rows_is_one_over_their_length():
    """Each row of eye(4)[l] holds a single 1."""
    text, given = "(eye(4)[l].mean(dim=1, keepdim=True) * X).sum()", {"values": {"l": [0, 1, 2]}}
    assert package.formula(text, shapes={"X": (3, 4)}, wrt="X", **given) == "ones_like(X) / 4"
    clip = "S = X @ Y.T; (cross_entropy(S, l) + cross_entropy(S.T, l)) / 2"
    shapes = {"X": (3, 2), "Y": (3, 2)}
    assert ".mean(" not in package.formula(clip, shapes=shapes, wrt="X", **given)


def test_one_hot_keeps_its_name_as_integers():
    found = package.formula(
        "one_hot(y, 5).double() @ E", shapes={"E": (5, 4)}, values={"y": [0, 2, 1]}, wrt="E"
    )
    assert found == "one_hot(y, E.shape[0]).T.double() @ g"


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("x.nansum(0)", "g * ~isnan(x)"),
        ("x.nanmean()", "~isnan(x) / (~isnan(x)).sum()"),
        ("x.nan_to_num()", "g * isfinite(x)"),
        ("where(x != x, 0, x)", "g * (x == x)"),
    ],
)
def test_masks_of_nan_that_the_program_asks_for_stay(expr, expected):
    assert package.formula(expr, shapes={"x": (3, 2)}) == expected


def test_a_mask_of_labels_stays_where_these_labels_need_none():
    found = package.formula("where(t == 0, x, 2 * x)", shapes={"x": (2,)}, values={"t": [1, 2]})
    assert found == "g * where(t == 0, 1.0, 2.0)"


def test_labels_that_may_be_ignored_are_ignored_where_none_is_yet():
    text, labels = "cross_entropy(x, t, ignore_index=0)", {"t": np.array([1, 2, 1])}
    found = package.formula(text, shapes={"x": (3, 3)}, values=labels, wrt="x")
    x = np.log([[2.0, 1, 1], [1, 1, 2], [1, 2, 1]])
    expected = [[0, 0, 0], [0.125, 0.125, -0.25], [0.125, -0.25, 0.125]]  # of two rows, by hand
    there = pose(found, values={"x": x, "t": np.array([0, 2, 1])})
    assert close(Evaluator(there.values)(there.out)[0], np.array(expected))


def test_an_operator_with_a_value_is_no_number():
    expr, shapes = "y * pad(x, (1, 1), value=-2.0)", {"x": (3,), "y": (5,)}
    assert package.formula(expr, shapes=shapes, wrt="y") == "g * pad(x, (1, 1), value=-2.0)"


@pytest.mark.parametrize("expr", ["sqrt(relu(x))", "1 / relu(x)", "x.clamp(min=0).sqrt()"])
def test_a_formula_that_divides_by_0_for_some_values_says_so(expr):
    with pytest.warns(UserWarning, match="divides by 0 or overflows for some values"):
        package.formula(expr)


@pytest.mark.parametrize("inner", ["tanh(1 / y)", "exp(-1 / y**2)", "where(y > 1, 1 / y, 5.0)"])
def test_a_mask_stays_where_an_infinity_within_is_swallowed(inner):
    """At y = 0 the gradient is 0, and tanh(1 / y) is 1 or -1."""
    shapes = {"x": (3,), "y": (3,)}
    found = package.formula(f"x * where(y == 0, 0, {inner})", shapes=shapes, wrt=["x"])
    assert "y != 0" in found or "y == 0" in found


def test_a_root_of_what_may_be_negative_stays():
    """(-3) ** (1 / 0.5 - 1) is -3, and ((-3) ** (1 / 0.5)) ** (1 - 0.5) is 3."""
    shapes = {"x": (3,), "p": (3,)}
    assert package.formula("x ** (1 / p)", shapes=shapes, wrt=["x"]) == "g * x ** (1 / p - 1) / p"


def test_products_with_batches_of_matrices_are_not_regrouped():
    values = package.formula(
        "((A @ x @ x - b) ** 2).sum()", shapes={"A": (3, 4, 4), "x": (4,), "b": (3,)}
    )
    assert values["b"] == "2 * (b - A @ x @ x)"
