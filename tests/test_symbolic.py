"""backends/symbolic.py and elements.py: written-out elements, and their text in the language."""

import subprocess
import sys
from functools import cache, lru_cache
from itertools import product

import numpy as np
import pytest
import sympy as sp
from support import Example, assert_equal, examples, generator, one_in, swept
from test_calls import calls_and_variations

from gradcli.autodiff.reverse import backward
from gradcli.backends.elements import as_sympy_number, element_text, elements_text
from gradcli.backends.numeric import Evaluator
from gradcli.backends.symbolic import MOST_ELEMENTS, Symbolic, writable
from gradcli.errors import GradcliError
from gradcli.graphs import OPS, Operator, as_node, walk
from gradcli.language.building.build import Builder
from gradcli.language.posing import pose
from gradcli.language.problem import Problem
from gradcli.language.program import read_program
from gradcli.limits import Limits
from gradcli.notation.indices.polynomials import Polynomials
from gradcli.operators import all_operators
from gradcli.operators.elements import NotWritable


def meaning(node):
    """What the elements of a node are said with, where that is not its inputs."""
    op = node.op
    return op.expanded(node) if op.symbolic is None and op.expand else None


def unwritten(example: Example) -> bool:
    """Whether something in an example has no symbols: eigenvalues, pivots."""
    nodes = walk([example.problem.out], lambda n: (*n.inputs, meaning(n)))
    hard = [node for node in nodes if isinstance(node.op.symbolic, NotWritable)]
    return any(n.op.name == "input" for n in walk(hard))


READ_BACK = 3  # elements of an array whose texts are read back


# ---- what the tests share ------------------------------------------------------------------------


def roots(problem: Problem) -> list:
    """The output and the gradients that there are."""
    of = backward(problem.out, problem.seed.node, [i.node for i in problem.wrt]).of
    return [problem.out, *(grad for grad in of.values() if grad is not None)]


def symbols(node) -> dict:
    """The symbols of an input by their place."""
    name = node.attrs["name"]
    places = {p: f"{name}[{','.join(map(str, p))}]" if p else name for p in np.ndindex(node.shape)}
    return {p: sp.Symbol(text, real=True) for p, text in places.items()}


def numbers(array, given) -> np.ndarray:
    """The elements of an array with numbers for the symbols of the inputs in `given`."""
    known = {s: float(a[p]) for n, a in given.items() for p, s in symbols(n).items()}
    return np.array([number(e, known) for e in array.reshape(-1)], float).reshape(array.shape)


def number(e, known: dict) -> float:
    """The number that an expression stands for; `known` has those of its parts that were met."""
    if e not in known:
        if isinstance(e, sp.Piecewise):
            known[e] = number(next(x for x, holds in e.args if number(holds, known)), known)
        elif e.args:
            known[e] = computed(e.func, len(e.args))(*(number(part, known) for part in e.args))
        else:
            known[e] = bool(e) if e.is_Boolean else int(e) if e.is_Integer else float(e)
    return known[e]


@cache
def computed(function, arity: int):
    """A function of SymPy, or one that it leaves as it is, of numbers."""
    places = sp.symbols(f"s0:{arity}", real=True)
    logical = issubclass(function, sp.logic.boolalg.BooleanFunction)
    whole = function(*(map(sp.Symbol, map(str, places)) if logical else places), evaluate=False)
    return sp.lambdify(places, whole, [{"round": round}, table(), "math"])


@cache
def table() -> dict:
    """The functions of the language that SymPy leaves as they are, of numbers."""

    def function(op):
        return lambda *xs: float(Evaluator({})(op(*xs))[0])

    return {op.name: function(op) for op in all_operators().values() if op.family == "elementwise"}


def read_back(texts, given) -> np.ndarray:
    """The values of texts in the language, for the inputs in `given`."""
    flat = np.array(texts, object).reshape(-1)
    text = "; ".join(f"out{k} = {t}" for k, t in enumerate(flat))
    nodes = {n.attrs["name"]: n for n in given}
    builder = Builder(read_program(text, Limits()), nodes, values={}, limits=Limits())
    builder.run()
    found = [as_node(builder.scope[f"out{k}"]) for k in range(len(flat))]
    return np.array(Evaluator(given)(*found), float).reshape(np.shape(texts))


def written(text: str, grad=None, values=None, **shapes) -> dict:
    """The texts of the elements of the output and of the gradients, by name."""
    problem = pose(text, shapes=shapes, values=values, grad=grad)
    given = dict(problem.values)
    if problem.seed.value is not None:
        (given[problem.seed.node],) = Symbolic(given)(problem.seed.value)
    of = backward(problem.out, problem.seed.node, [i.node for i in problem.wrt]).of
    evaluate = Symbolic(given)
    grads = {i.name: elements_text(evaluate(of[i.node])[0]) for i in problem.wrt}
    return {"out": elements_text(evaluate(problem.out)[0]), **grads}


@lru_cache(2)
def posed(example: Example) -> tuple[Problem, dict]:
    """An example without values, and numbers for its inputs and its seed."""
    shapes = {name: value.shape for name, value in example.values.items()}
    problem = pose(example.text, shapes=shapes)
    given = {problem.inputs[name].node: value for name, value in example.values.items()}
    seed = generator(example.text, "seed").normal(size=problem.out.shape)
    return problem, {**given, problem.seed.node: seed}


# ---- every operator ------------------------------------------------------------------------------


@pytest.mark.parametrize("example", swept(16))
def test_example(example):
    if unwritten(example):
        what_has_no_symbols_says_so(example)
        return
    elements_are_the_numbers(example)
    sums_of_products_are_the_numbers(example)
    if len(example.values) > 1:
        numbers_and_symbols_mix(example)


def sums_of_products_are_the_numbers(example):
    """The texts that need no SymPy, where every element is a sum of products."""
    problem, given = posed(example)
    texts = Polynomials({n: n.attrs["name"] for n in given}, lambda n: Evaluator({})(n)[0]).texts
    for root in roots(problem):
        plain = texts(root)
        if plain is not None:
            flat, (expected,) = np.array(plain, object).reshape(-1), Evaluator(given)(root)
            step = -(-flat.size // READ_BACK) or 1
            some = flat[::step], expected.reshape(-1)[::step]
            assert_equal(read_back(some[0], given), some[1], rtol=1e-9, atol=1e-11)


def elements_are_the_numbers(example):
    problem, given = posed(example)
    for root, array in zip(roots(problem), Symbolic({})(*roots(problem)), strict=True):
        (expected,) = Evaluator(given)(root)
        assert array.dtype == object
        assert all(isinstance(x, sp.Basic) for x in array.reshape(-1))
        assert_equal(numbers(array, given), expected, rtol=1e-9, atol=1e-11)
        texts, step = np.array(elements_text(array), object), -(-array.size // READ_BACK) or 1
        some = texts.reshape(-1)[::step], expected.reshape(-1)[::step]
        assert_equal(read_back(some[0], given), some[1], rtol=1e-9, atol=1e-11)


def numbers_and_symbols_mix(example):
    problem, given = posed(example)
    node = next(iter(given))
    known = {n: a for n, a in given.items() if n is node or n is problem.seed.node}
    for some in (known, {n: a for n, a in given.items() if n not in known}):
        for root, array in zip(roots(problem), Symbolic(some)(*roots(problem)), strict=True):
            (expected,) = Evaluator(given)(root)
            assert_equal(numbers(array, given), expected, rtol=1e-9, atol=1e-11)


def what_has_no_symbols_says_so(example):
    problem, given = posed(example)
    with pytest.raises(GradcliError, match="this cannot be computed in symbols") as caught:
        Symbolic({})(problem.out)
    assert caught.value.code == "needs-value"
    numbers, expected = Symbolic(given)(problem.out)[0], Evaluator(given)(problem.out)[0]
    assert_equal(numbers.astype(float), expected)


VARIANTS = [  # attributes and mixtures that no example of the table has
    ("median(x, 1).values", "x=2x4"),
    ("norm(x, 0) * x", "x=3"),
    ("norm(x, -inf)", "x=3"),
    ("norm(x, 1.5)", "x=3"),
    ("elu(x, alpha=2.5)", "x=3"),
    ("softplus(x, beta=2)", "x=3"),
    ("gelu(x, approximate='tanh')", "x=3"),
    ("clamp(x, max=a)", "x=3,a=1"),
    ("x.std(correction=0)", "x=3"),
    ("x.gather(0, x.argmin(0, keepdim=True))", "x=3"),
    ("x.gather(0, x.abs().long())", "x=3"),
    ("x.argmax() * x", "x=2x2"),
    ("amax(x, 1) + x.amin(-2, keepdim=True).sum()", "x=2x2"),
    ("x.argmin(1, keepdim=True) * x", "x=2x2"),
    ("x.scatter_reduce(0, tensor([0, 0]), y, 'sum', include_self=False)", "x=3,y=2"),
    ("ctc_loss(log_softmax(x, 2), tensor([1, 1]), (2, 1), (1, 1), 0, 'sum')", "x=2x2x2"),
    ("kthvalue(x, 2).values * x.gather(0, x.kthvalue(1, keepdim=True).indices)", "x=3"),
    ("where(isfinite(1 / x), x, 1)", "x=3"),
    ("linalg.pinv(x)", "x=2x1x2"),
    ("linalg.pinv(x)", "x=2x2x1"),
    ("(x > 0).sum() * x", "x=3"),
    ("x * (x > 0)", "x=3"),
    ("where((x > 0).gather(0, tensor([1, 0])), x, 1)", "x=2"),
    ("where((x > 0).tril(), x, 1)", "x=2x2"),
    ("x * ((x > 0) == (x < 1)) + x * ((x > 0) != (y > 0))", "x=3,y=3"),
    ("x * ((x > 0) & (y < 1)) * ((x < 0) | (y > 0))", "x=3,y=3"),
    ("x * ((x > 0) > (y > 0)) + y * ((x > 0) <= (y > 0))", "x=4,y=4"),
    ("where(~(x > 0), x, 1) * cumsum(x > 0, 0)", "x=3"),
    ("det(x)", "x=4x4"),
    ("cholesky(x + 9 * eye(3))", "x=1x3x3"),
    *(
        (text.replace("M", "(x + 4 * eye(2))"), "x=3x2x2")
        for text in (
            *("inv(M)", "slogdet(M)[1]", "M @ M.mT"),
            *("solve(M, x)", "solve(M, x, left=False)", "solve_triangular(M, x, upper=True)"),
            *("solve_triangular(M, x[0], upper=True)", "solve_triangular(M[0], x, upper=False)"),
            *("matrix_power(M, 3)", "M.diagonal(dim1=1, dim2=2)", "M.tril()", "M.norm(dim=(1, 2))"),
        )
    ),
    ("relu(linalg.solve(x, y))", "x=2x2,y=2"),
    ("-(x + y) ** 2 / (-2) - (-x) ** 3 / (y * x) ** 2", "x=3,y=3"),
    ("exp(-x) / (1 + exp(-x)) ** 2 * 2 ** -x", "x=3"),
    ("sqrt(x * x + 0.1) * (x - y) / 3 - x / (y / 7)", "x=3,y=3"),
    ("tan(x) / cos(y) - round(3 * x) * ceil(y) % 2", "x=3,y=3"),
    ("einsum('ijk,kj,k->i', x, y, z)", "x=2x3x4,y=4x3,z=4"),
    ("leaky_relu(x).amax()", "x=4"),
    ("sort(leaky_relu(x)).values", "x=3"),
    ("cummax(clamp(x, -0.5, 0.7), 0).values", "x=3x2"),
    ("max_pool2d(relu(x), 2)", "x=1x1x2x4"),
    ("minimum((elu(x) ** 2).sum(), w)", "x=3,w=()"),
    ("ctc_loss(log_softmax(x, 2), tensor([[1, 1]]), (2,), (2,), 0, 'sum')", "x=2x1x3"),
    ("ctc_loss(log_softmax(x, 2), tensor([[1, 1]]), (2,), (2,), 0, 'sum', True)", "x=2x1x3"),
]


@pytest.mark.parametrize(("text", "shapes"), VARIANTS)
def test_variants(text, shapes):
    elements_are_the_numbers(Example(OPS["square"], text, shapes))


# More elements are more of the same, and take most of the time.
SMALL = [e for e in calls_and_variations() if sum(v.size for v in e.values.values()) <= 60]


@pytest.mark.parametrize("example", one_in(32, SMALL, sweep=4))
def test_calls(example):
    try:
        problem, given = posed(example)
        if not Evaluator(given)(problem.out)[0].size:
            return
    except GradcliError:
        return  # there is no such call
    try:
        elements_are_the_numbers(example)
    except GradcliError as error:
        if error.code not in ("limit", "needs-value"):
            raise


@pytest.mark.parametrize("name", ["lambda_", "I", "E", "S", "N", "pi2", "exp", "Symbol", "beta"])
def test_names_are_only_names(name):
    assert written(f"{name} * {name} * x", **{name: (2,), "x": ()})["out"] == [
        "*".join(sorted([f"{name}[{k}]**2", "x"])) for k in (0, 1)
    ]


# ---- by hand -------------------------------------------------------------------------------------

DET = "x[0,0]*x[1,1] - x[0,1]*x[1,0]"
LEFT = "x[0] >= x[1]"
HAND = [
    ("a * a", {"a": (1, 2)}, [["a[0,0]**2", "a[0,1]**2"]], None),
    ("a * a", {"a": (1, 2)}, None, [["2*a[0,0]*g[0,0]", "2*a[0,1]*g[0,1]"]]),
    ("a * a", {"a": ()}, "a**2", "2*a"),
    ("relu(x)", {"x": ()}, "maximum(x, 0)", "where(x <= 0, 0, 1)"),
    ("relu(x)", {"x": (2,)}, None, ["where(x[0] <= 0, 0, g[0])", "where(x[1] <= 0, 0, g[1])"]),
    ("elu(x)", {"x": ()}, "where(x > 0, x, exp(x) - 1)", "where(x < 0, exp(x), 1)"),
    ("tanh(x)", {"x": (1,)}, ["tanh(x[0])"], ["1 - tanh(x[0])**2"]),
    ("tanh(x)", {"x": (2,)}, None, [f"g[{k}]*(1 - tanh(x[{k}])**2)" for k in (0, 1)]),
    ("sigmoid(x)", {"x": ()}, "1/(exp(-x) + 1)", "(1 - 1/(exp(-x) + 1))/(exp(-x) + 1)"),
    ("abs(x)", {"x": ()}, "abs(x)", "sign(x)"),
    ("x ** 0.5", {"x": ()}, "sqrt(x)", "0.5/sqrt(x)"),
    ("x / 3", {"x": ()}, "x/3", "1/3"),
    ("0.1 * x", {"x": ()}, "0.1*x", "0.1"),
    ("0.1 * x + 0.2 * x", {"x": ()}, "0.30000000000000004*x", "0.30000000000000004"),
    ("3.0 * x", {"x": ()}, "3*x", "3"),
    ("x ** 2 - x * inf", {"x": ()}, "x**2 - inf*x", "-inf"),
    ("log(x - x)", {"x": ()}, "-inf", "nan"),
    ("where((x > 0) & (x < 1), 2 * x, x)", {"x": ()}, "where((x > 0) & (x < 1), 2*x, x)", None),
    ("where((x > 0) & (x < 1), 2 * x, x)", {"x": ()}, None, "where((x > 0) & (x < 1), 2, 1)"),
    ("clamp(x, -1, 1)", {"x": ()}, "minimum(maximum(x, -1), 1)", None),
    ("clamp(x, -1, 1)", {"x": ()}, None, "where((x >= -1) & (x <= 1), 1, 0)"),
    ("x[1:].sum()", {"x": (12,)}, " + ".join(f"x[{k}]" for k in range(1, 12)), ["0"] + ["1"] * 11),
    ("max(x, dim=0).values", {"x": (3,)}, "maximum(x[0], maximum(x[1], x[2]))", None),
    ("max(x, dim=0).values", {"x": (2,)}, None, [f"where({LEFT}, 1, 0)", f"where({LEFT}, 0, 1)"]),
    (
        "where(x == x.amax(), 1, x)",
        {"x": (2,)},
        [f"where({LEFT}, 1, x[0])", "where(x[1] >= x[0], 1, x[1])"],
        None,
    ),
    ("x.mean()", {"x": (2,)}, "(x[0] + x[1])/2", ["1/2", "1/2"]),
    ("mse_loss(x, tensor([1., 0.]))", {"x": (2,)}, "((x[0] - 1)**2 + x[1]**2)/2", None),
    ("mse_loss(x, tensor([1., 0.]))", {"x": (2,)}, None, ["x[0] - 1", "x[1]"]),
    (
        "softmax(x, 0)",
        {"x": (2,)},
        ["exp(x[0])/(exp(x[0]) + exp(x[1]))", "exp(x[1])/(exp(x[0]) + exp(x[1]))"],
        None,
    ),
    (
        "inv(x)",
        {"x": (2, 2)},
        [[f"x[1,1]/({DET})", f"-x[0,1]/({DET})"], [f"-x[1,0]/({DET})", f"x[0,0]/({DET})"]],
        None,
    ),
    (
        "det(x)",
        {"x": (2, 2)},
        DET,
        [
            [f"where({DET} == 0, 0, {x})" for x in row]
            for row in (["x[1,1]", "-x[1,0]"], ["-x[0,1]", "x[0,0]"])
        ],
    ),
    ("x * bucketize(x.detach(), tensor([1.0]))", {"x": ()}, "where(x > 1, x, 0)", None),
    (
        "x * bucketize(x.detach(), tensor([1.0]), right=True)",
        {"x": ()},
        "where(x >= 1, x, 0)",
        None,
    ),
    ("y * det(x)", {"y": (), "x": (0, 0)}, "y", "1"),
    ("inv(diag(x))", {"x": (2,)}, [["1/x[0]", "0"], ["0", "1/x[1]"]], None),
    ("inv(diag(x))", {"x": (2,)}, None, ["-g[0,0]/x[0]**2", "-g[1,1]/x[1]**2"]),
]


@pytest.mark.parametrize(("text", "shapes", "out", "grad"), HAND)
def test_by_hand(text, shapes, out, grad):
    found = written(text, **shapes)
    assert out is None or found["out"] == out
    assert grad is None or found[next(iter(shapes))] == grad


def test_a_seed_of_numbers():
    found = written("x @ a", grad="[[1, 2, 3, 4], [5, 6, 7, 8]]")
    assert found["x"][0][0] == "a[0,0] + 2*a[0,1] + 3*a[0,2] + 4*a[0,3]"
    assert found["x"][1][2] == "5*a[2,0] + 6*a[2,1] + 7*a[2,2] + 8*a[2,3]"
    assert found["a"][0][:2] == ["x[0,0] + 5*x[1,0]", "2*x[0,0] + 6*x[1,0]"]
    assert found["out"][1][3] == "a[0,3]*x[1,0] + a[1,3]*x[1,1] + a[2,3]*x[1,2]"


def test_a_seed_of_symbols():
    assert written("a * a", grad="a", a=(2,))["a"] == ["2*a[0]**2", "2*a[1]**2"]


def test_values_and_symbols():
    found = written("x @ a", values={"x": [[1, 0.5]]}, a=(2, 1))
    assert found["out"] == [["a[0,0] + 0.5*a[1,0]"]]
    assert found["x"] == [["a[0,0]", "a[1,0]"]]
    labels = written("nll_loss(x, y, reduction='sum')", values={"y": [1, 0]}, x=(2, 2))
    assert labels["out"] == "-x[0,1] - x[1,0]"
    assert written("softmax(where(m, x, -inf), 0)", values={"m": [True, False]}, x=(2,))["out"] == [
        "1",
        "0",
    ]


def test_all_numbers():
    problem = pose("a * a / 3", values={"a": [1.0, 0.1]})
    (out,) = Symbolic(problem.values)(problem.out)
    assert [type(x) for x in out] == [sp.Rational, sp.Float]
    assert elements_text(out) == ["1/3", "0.003333333333333334"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "True"),
        (3, "3"),
        (2.0, "2"),
        (-0.5, "-0.5"),
        (0.1, "0.1"),
        (1e-7, "1e-07"),
        (1e300, "1e+300"),
        (2 / 3, "2/3"),
        (0.1234567890123, "0.1234567890123"),
        (2.718281828459045, "2.718281828459045"),
        (float("inf"), "inf"),
        (float("-inf"), "-inf"),
        (float("nan"), "nan"),
    ],
)
def test_numbers(value, text):
    assert element_text(as_sympy_number(value)) == text


def test_text_of_what_operators_do_not_make():
    x, y = sp.symbols("x[0] y", real=True)
    assert element_text(sp.cot(x)) == "1/tan(x[0])"
    assert element_text((x + y) ** (-y)) == "(x[0] + y)**(-y)"
    assert element_text((x**y) ** y) == "(x[0]**y)**y"
    assert element_text(sp.Piecewise((x, x > y))) == "where(x[0] > y, x[0], nan)"
    assert (
        element_text(sp.Or(sp.And(x > 0, y > 0), sp.Ne(x, y)))
        == "(x[0] > 0) & (y > 0) | (x[0] != y)"
    )
    assert element_text(sp.Min(x, y, 2)) == "minimum(x[0], minimum(y, 2))"
    assert element_text(sp.Rational(-2, 3) * x / y**2) == "-2*x[0]/(3*y**2)"
    assert element_text(1 / sp.sqrt(x)) == "1/sqrt(x[0])"
    assert element_text(sp.pi + sp.E + x) == "x[0] + exp(1) + pi"


# ---- limits --------------------------------------------------------------------------------------


def refusal(text: str, **shapes) -> str:
    with pytest.raises(GradcliError) as caught:
        written(text, **shapes)
    return caught.value.code


def test_refusals():
    chain = "; ".join(["h0 = x", *(f"h{k + 1} = tanh(W @ h{k})" for k in range(12))])
    assert refusal(chain, W=(3, 3), x=(3,)) == "limit"
    deep = "; ".join(["h0 = x", *(f"h{k + 1} = tanh(h{k})" for k in range(1200))])
    assert refusal(deep, x=()) == "limit"
    assert refusal("det(x)", x=(7, 7)) == "limit"
    assert refusal("sort(x).values", x=(5,)) == "limit"
    labels = "tensor([[1, 2]]), (7,), (2,)"  # 3 classes in 7 places: 2,187 alignments
    assert refusal(f"ctc_loss(log_softmax(x, 2), {labels})", x=(7, 1, 3)) == "limit"
    assert refusal("inv(outer(x, x))", x=(2,)) == "singular"
    assert refusal("x.amax()", x=(0,)) == "shape"


def test_numbers_beside_symbols_are_checked():
    p = pose("binary_cross_entropy(x, y)", values={"x": [2.0]}, shapes={"y": (1,)})
    with pytest.raises(GradcliError, match="from 0 to 1"):
        Symbolic(p.values)(*roots(p))


def test_a_singular_matrix_beside_symbols_has_infinite_gradients():
    p = pose("logdet(x) * y", values={"x": [[1.0, 2.0], [2.0, 4.0]]}, shapes={"y": ()})
    of_x = elements_text(Symbolic(p.values)(*roots(p))[1])
    assert of_x == [["-inf*g*y", "inf*g*y"], ["inf*g*y", "-inf*g*y"]]


def test_writable():
    assert writable((2, 3), (3, 4), ())
    assert writable((MOST_ELEMENTS,))
    assert not writable((MOST_ELEMENTS,), ())


def test_no_elements():
    found = written("(x * 2).sum()", x=(0, 3))
    assert found == {"out": "0", "x": []}


def test_sympy_is_imported_only_when_used():
    code = "import sys, gradcli.backends.symbolic; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("text", ["logdet(X.T @ A @ X)", "trace(inv(X.T @ A @ X))"])
def test_determinants_of_sums_are_not_multiplied_out(text):
    """Multiplied out there are hundreds of thousands of products."""
    out = pose(text, shapes={"X": (5, 3), "A": (5, 5)}).out
    (found,) = Symbolic({})(out)
    assert len(element_text(found[()])) < 100_000


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("x.mean()", "(x[0] + x[1])/2"),
        ("(4 * x - 2 * y).mean()", "2*x[0] + 2*x[1] - y[0] - y[1]"),
        ("(4 * x - 2 * y).sum() / 3", "2*(2*x[0] + 2*x[1] - y[0] - y[1])/3"),
        ("x[0] - x[0]", "0"),
        ("y[1] - x[0] + 1", "y[1] - x[0] + 1"),
        ("x[0] * y[0] * x[0] / (2 * y[1])", "x[0]**2*y[0]/(2*y[1])"),
        ("-x[0] / x[1]**2", "-x[0]/x[1]**2"),
        ("x[1] / x[1] - 3", "-2"),
    ],
)
def test_a_sum_of_products_is_written_as_sympy_writes_it(text, out):
    problem = pose(text, shapes={name: (2,) for name in "xy" if name in text})
    names = {i.node: i.name for i in problem.inputs.values()}
    assert Polynomials(names, lambda node: None).texts(problem.out) == out
    assert elements_text(Symbolic({})(problem.out)[0]) == out


@pytest.mark.parametrize("text", ["(x[0] + 1) * x[1]", "exp(x[0])", "0.3 * x[0]", "x[0]**x[1]"])
def test_what_is_no_sum_of_products_is_left_to_sympy(text):
    problem = pose(text, shapes={"x": (2,)})
    assert (
        Polynomials({problem.inputs["x"].node: "x"}, lambda node: None).texts(problem.out) is None
    )


# ---- pieces of elementwise operators -------------------------------------------------------------

POINTS = {1: (-90, -20.5, -6.5, -3, -1.5, -0.7, -0.2, 0.3, 0.8, 1.25, 2.7, 3.1, 6.2, 21.5, 95)}
POINTS |= {2: (-2.5, -0.6, 0.4, 1.5, 3.3), 3: (-1.6, 0.3, 2.2), 4: (0.4, 1.7)}


def elementwise():
    """Each elementwise operator with each set of attributes that its examples have."""
    for op in all_operators().values():
        written = not isinstance(op.symbolic, NotWritable | None)
        if op.family == "elementwise" and written and not op.integer_inputs:
            nodes = (n for e in examples() if e.op is op for n in walk([e.problem.out]))
            attrs = {str(n.attrs): n.attrs for n in nodes if n.op is op}
            yield from (pytest.param(op, a, id=f"{op.name} {text}") for text, a in attrs.items())


@pytest.mark.parametrize(("op", "attrs"), [*elementwise()])
def test_all_pieces_of_an_elementwise_operator(op, attrs):
    inputs = [OPS["input"](name=f"x{k}", shape=(), dtype="float") for k in range(len(op.inputs))]
    out = op(**dict(zip(op.inputs, inputs)), **attrs)
    (written,) = Symbolic({})(out)[0].reshape(-1)
    in_domain = op.domain != Operator.domain
    points = np.linspace(*op.domain, 5) if in_domain else POINTS[len(inputs)]
    for values in product(points, repeat=len(inputs)):
        given = {n: np.array(v, float) for n, v in zip(inputs, values)}
        with np.errstate(all="ignore"):
            (expected,) = Evaluator(given)(out)
        if np.isfinite(expected):
            known = {s: float(a) for n, a in given.items() for s in symbols(n).values()}
            assert_equal(number(written, known), expected, rtol=1e-9, atol=1e-11)
