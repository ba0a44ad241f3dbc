"""The seed that gives a wanted gradient, against PyTorch, identities and arithmetic by hand."""

import json

import numpy as np
import pytest
from console import gradcli
from support import generator, run_torch

import gradcli as package
from gradcli.errors import GradcliError
from gradcli.explanation.seeds.least_norm import Dependence, Equations, in_proportion


def found(text: str, target, **values):
    return package.seed_for(text, target, values=values)


# ---- there is one --------------------------------------------------------------------------------


def test_a_diagonal_jacobian_is_divided_by():
    # a.grad = 2 a g, so g = target / 2a.
    answer = found("a * a", {"a": [2, 8, 18]}, a=[1, 2, 3])
    assert answer["possible"]
    assert answer["seed"]["value"].tolist() == [1, 2, 3]
    assert answer["free"]["count"] == 0
    assert answer["residual"]["a"].tolist() == [0, 0, 0]


def test_a_product():
    # x.grad = g a.T with a invertible: g = target inv(a).T, whatever x is.
    a, target = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [2.0, 5.0]])
    answer = found("x @ a", {"x": target}, a=a)
    np.testing.assert_allclose(answer["seed"]["value"], target @ np.linalg.inv(a).T)
    assert answer["seed"]["exact"].tolist() == [["-2", "3/2"], ["1", "1/2"]]


def test_of_many_seeds_the_shortest():
    # x is repeated three times, so x.grad is the sum of g: a third each, and two directions free.
    answer = found("x.expand(3)", {"x": [1.0]}, x=[0.0])
    assert answer["seed"]["value"].tolist() == [1 / 3] * 3
    assert answer["seed"]["exact"].tolist() == ["1/3"] * 3
    assert answer["seed"]["norm"] == pytest.approx(3**-0.5)
    assert answer["free"]["count"] == 2
    assert answer["free"]["directions"].tolist() == [[1, -1, 0], [1, 0, -1]]


def test_softmax_does_not_see_a_constant():
    # Its Jacobian diag(s) - s s.T has the left null space of the ones vector.
    answer = found("softmax(x, 0)", {"x": [1, -1, 0]}, x=[0.0, 0.0, 1.0])
    assert answer["possible"]
    assert answer["free"]["directions"].tolist() == [[1, 1, 1]]
    assert answer["seed"]["value"].sum() == pytest.approx(0, abs=1e-12)  # least norm: orthogonal


def test_several_targets_share_a_seed():
    # (x + 2 y): x.grad = g, y.grad = 2 g.
    answer = found("x + 2 * y", {"x": [1, 2], "y": [2, 4]})
    assert answer["seed"]["value"].tolist() == [1, 2]
    assert {name: grad.tolist() for name, grad in answer["grad"].items()} == {
        "x": [1, 2],
        "y": [2, 4],
    }


def test_a_single_number():
    assert found("(x * x).sum()", {"x": [4, 8]}, x=[1, 2])["seed"]["value"] == 2
    assert found("x.mean()", {"x": [3, 3, 3]})["seed"]["value"] == pytest.approx(9)


def test_values_that_do_not_matter_are_not_asked_for():
    assert found("3 * x", {"x": [3, 6]})["seed"]["value"].tolist() == [1, 2]
    with pytest.raises(GradcliError, match="depends on x, but it has no value"):
        found("x * x", {"x": [3, 6]})


def test_nothing_to_reach():
    answer = found("relu(x)", {"x": [0.0, 0.0]}, x=[-1.0, 1.0])
    assert answer["possible"]
    assert answer["seed"]["value"].tolist() == [0, 0]
    assert answer["free"]["directions"].tolist() == [[1, 0]]


def test_empty_tensors():
    answer = found("x * 2", {"x": np.zeros(0)})
    assert answer["possible"]
    assert answer["seed"]["value"].shape == (0,)


PROGRAMS = [
    ("x @ w", {"x": (3, 2), "w": (2, 4)}, ("x",)),
    ("softmax(x, dim=-1) * w", {"x": (2, 3), "w": (3,)}, ("x",)),
    ("tanh(x @ w).sum(dim=1)", {"x": (3, 2), "w": (2, 4)}, ("x", "w")),
    ("layer_norm(x, (4,))", {"x": (2, 4)}, ("x",)),
    ("x.expand(3, 2, 4).reshape(-1)", {"x": (2, 4)}, ("x",)),
    ("exp(x) / w", {"x": (2, 3), "w": (2, 1)}, ("x", "w")),
    ("x[0, 1:] * x[1, :2]", {"x": (2, 3)}, ("x",)),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("text", "shapes", "names"), PROGRAMS)
def test_pytorch_gives_the_target_for_the_seed(text, shapes, names):
    torch = pytest.importorskip("torch")
    draw = generator(text)
    values = {name: draw.uniform(0.5, 1.5, s) for name, s in shapes.items()}
    tensors = {n: torch.tensor(v, requires_grad=n in names) for n, v in values.items()}
    out = run_torch(text, tensors)

    def back(seed):
        wrt = [tensors[n] for n in names]
        grads = torch.autograd.grad(out, wrt, torch.tensor(seed), retain_graph=True)
        return {n: g.numpy() for n, g in zip(names, grads, strict=True)}

    given = draw.normal(size=tuple(out.shape))
    target = back(given)
    answer = package.seed_for(text, target, values=values)
    assert answer["possible"]
    seed = answer["seed"]["value"]
    for name, grad in back(seed).items():
        np.testing.assert_allclose(grad, target[name], rtol=1e-9, atol=1e-11)
    assert np.linalg.norm(seed) <= np.linalg.norm(given) * (1 + 1e-9)
    for direction in answer["free"]["directions"]:
        for name, grad in back(seed + 3 * direction).items():
            np.testing.assert_allclose(grad, target[name], rtol=1e-9, atol=1e-9)


# ---- there is none -------------------------------------------------------------------------------


def test_a_sum_that_no_seed_changes():
    answer = found("softmax(x, 0)", {"x": [1, 2, 3]}, x=[0.0, 0.0, 0.0])
    assert not answer["possible"]
    assert answer["because"] == [
        "These elements are tied: x.grad[0] + x.grad[1] + x.grad[2] is 0 for every seed, and 6 in "
        "the target."
    ]
    # The nearest gradient is the target without its mean: off by 2 in each of three.
    np.testing.assert_allclose(answer["grad"]["x"], [-1, 0, 1], atol=1e-12)
    assert answer["distance"] == pytest.approx(2 * 3**0.5)


def test_an_element_without_a_way_to_the_output():
    (said,) = found("x[0] * y", {"x": [[6, 0], [0, 3]]}, x=np.ones((2, 2)), y=2.0)["because"]
    assert said == (
        "x.grad[1,1] can only be 0 here, because out does not depend on x[1,1]; the target has 3."
    )


@pytest.mark.parametrize(
    ("text", "value"), [("relu(x)", -1.0), ("x.clamp(0, 1)", 5.0), ("floor(x) + 0 * x", 0.5)]
)
def test_an_element_that_is_flat_here(text, value):
    (said,) = found(text, {"x": [3.0]}, x=[value])["because"]
    assert "because at these values out does not change with x[0]" in said


@pytest.mark.parametrize(("text", "value"), [("x.norm()", "[0.,0.]"), ("relu(x).sum()", "[0.,0.]")])
def test_at_a_kink_it_is_the_convention_that_no_seed_gets_past(text, value):
    told = gradcli("seed-for", text, "-v", f"x={value}", "--target", "x=[1.,1.]").out
    said = " ".join(told.split())
    assert "x.grad[0] can only be 0 here, because PyTorch's gradient is 0 at this kink" in said
    assert "does not change" not in said


def test_elements_in_proportion():
    # All of x enters through x[0] + 3 x[1]: x.grad is g·(1, 3).
    answer = found("x[0] + 3 * x[1]", {"x": [1, 2]}, x=[0.0, 0.0])
    assert answer["because"] == [
        "These elements are tied: x.grad[1] equals 3·x.grad[0] for every seed; the target has 2 "
        "and 1."
    ]
    # The projection of (1, 2) on (1, 3): 7/10.
    assert answer["seed"]["exact"].tolist() == "7/10"


def test_no_gradient_at_all():
    answer = found("x.detach() + y", {"x": [1, 1], "y": [1, 1]})
    assert answer["because"] == ["No gradient flows from out to x: PyTorch leaves it at None."]


def test_every_reason_is_one():
    draw = np.random.default_rng(4)
    J, target = draw.normal(size=(3, 7)), draw.normal(size=7)
    ties = Dependence(J.T, 3)
    assert len(ties) == 4
    for k, off in enumerate(ties.excess(target)):
        vector = ties.vector(k)
        np.testing.assert_allclose(J @ vector, 0, atol=1e-12)
        assert vector @ target == pytest.approx(off)
    np.testing.assert_array_equal(ties.excess(draw.normal(size=3) @ J), 0)


# ---- linear algebra ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 5), (4, 1), (1, 4)])
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_least_norm_is_the_pseudoinverse(shape, rank):
    draw = np.random.default_rng(7)
    rank = min(rank, *shape)
    J = draw.normal(size=(shape[0], rank)) @ draw.normal(size=(rank, shape[1]))
    target = draw.normal(size=shape[1])
    solution = Equations(J, target)
    assert solution.rank == rank
    np.testing.assert_allclose(solution.g, np.linalg.pinv(J.T) @ target, atol=1e-12)
    free = solution.free
    vectors = np.array([free.vector(k) for k in range(len(free))]).reshape(-1, shape[0])
    assert np.linalg.matrix_rank(vectors) == len(free) == shape[0] - rank
    np.testing.assert_allclose(vectors @ J, 0, atol=1e-10)


def test_rounding_that_decides_is_told():
    hilbert = "1 / (arange(12)[:, None] + arange(12) + 1.0)"  # its condition number is 1.7e16
    said = gradcli("seed-for", "x @ a", "-v", f"a={hilbert}", "--target", "x=ones(1,12)").out
    assert "rounding decides" in said
    assert found("x @ a", {"x": np.ones((1, 12))}, a=np.eye(12))["spread"] == 1


def test_units_do_not_matter():
    # x.grad = g @ w.T, where w has determinant 1: g = inv(w) (1, 2).
    answer = found("x @ w", {"x": [1.0, 2.0]}, w=[[1e-9, 1.0], [0.0, 1e9]])
    assert answer["possible"]
    np.testing.assert_allclose(answer["seed"]["value"], [(1 - 2e-9) * 1e9, 2e-9])
    np.testing.assert_allclose(answer["grad"]["x"], [1, 2])
    # A small target is not 0.
    assert not found("relu(x)", {"x": [1e-30, 1e9]}, x=[-1.0, 1.0])["possible"]
    assert found("1e-30 * x", {"x": [1e-30]})["seed"]["value"] == [1]


def test_whole_numbers_in_proportion():
    assert in_proportion(np.array([0, -0.5, 0.25])).tolist() == [0, 2, -1]
    assert in_proportion(np.array([3.0, 6.0])).tolist() == [1, 2]
    np.testing.assert_allclose(in_proportion(np.array([-2.0, np.pi])), [1, -np.pi / 2])
    np.testing.assert_array_equal(in_proportion(np.array([1.0, -1e-8])), [1, -1e-8])


def test_fractions_are_proved():
    solution = Equations(np.array([[3.0, 0.0], [0.0, 7.0]]), np.array([1.0, 2.0]))
    assert list(map(str, solution.exact)) == ["1/3", "2/7"]
    assert Equations(np.array([[1e5]]), np.array([1.0])).exact is None  # the denominator is large
    assert Equations(np.array([[0.5]]), np.array([1.0])).exact is None  # no integers


# ---- the command ---------------------------------------------------------------------------------


def test_the_answer_comes_first():
    result = gradcli("seed-for", "a * a", "-v", "a=[1,2,3]", "--target", "a=[2,8,18]")
    assert (result.status, result.err) == (0, "")
    assert result.lines[0] == "g = [1, 2, 3]    out.backward(g), the only one"
    assert "exactly the target" in result.out


def test_none_is_exit_status_1():
    result = gradcli("seed-for", "relu(x)", "-v", "x=[-1,2]", "--target", "x=[1,1]")
    assert (result.status, result.err) == (1, "")
    assert result.lines[0] == "g = none    no seed gives this x.grad"
    assert "off by 1" in result.out


def test_json_and_markdown():
    args = ("seed-for", "x.expand(2)", "--target", "x=[1]")
    answer = gradcli(*args, "-f", "json").json
    assert answer["seed"]["value"] == [0.5, 0.5]
    assert answer["seed"]["exact"] == ["1/2", "1/2"]
    assert answer["free"] == {"count": 1, "directions": [[1.0, -1.0]]}
    assert answer["expression"] == "out = x.expand(2)"
    assert "**Answer:** `g = [1/2, 1/2]`" in gradcli(*args, "-f", "markdown").out


def test_long_lists_are_cut():
    args = ("seed-for", "x.expand(9)", "--target", "x=[1]")
    assert "… and 5 more" in gradcli(*args).out
    assert "n8" in gradcli(*args, "--full").out
    assert "1 at [0], -1 at [1]" in gradcli(*args).out


def test_a_seed_that_is_not_called_g():
    result = gradcli("seed-for", "g * 2", "--target", "g=[2]")
    assert result.lines[0].startswith("g_out = [1]")


def test_the_output_goes_to_a_file(tmp_path):
    file = tmp_path / "seed.json"
    gradcli("seed-for", "x * 2", "--target", "x=[2]", "-f", "json", "-o", str(file))
    assert json.loads(file.read_text())["seed"]["value"] == [1.0]


MISTAKES = [
    (("x * 2",), "option", "there is no target"),
    (("x * 2", "--target", "y=[1]"), "unused-option", "there is no input y"),
    (("x * 2", "--target", "x"), "value", "--target: x"),
    (("x * 2", "--target", "x=[1"), "value", "--target x"),
    (("x * 2", "--target", "x=[nan]"), "value", "not finite"),
    (("x * 2", "-v", "x=[1,2]", "--target", "x=[1]"), "shape", "has shape (1,), and x (2,)"),
    (("x * x", "--target", "x=[1]"), "needs-value", "-v x=[...]"),
    (
        ("sqrt(x)", "-v", "x=[0]", "--target", "x=[1]"),
        "value",
        "of out[0] with respect to x[0] is inf",
    ),
    (("x.detach()", "--target", "x=[1]"), "not-differentiable", "no gradient flows"),
    (("1e-308 * x", "--target", "x=[1e308]"), "value", "numbers above the largest float"),
    (("x.expand(9)", "--target", "x=[1]", "--limit", "elements=8"), "limit", "elements"),
]


@pytest.mark.parametrize(("args", "code", "said"), MISTAKES)
def test_mistakes(args, code, said):
    result = gradcli("seed-for", *args)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"error[{code}]: ")
    assert said in result.err


def test_targets_in_python_are_checked():
    with pytest.raises(GradcliError, match="target must be a dict"):
        package.seed_for("x * 2", [1.0])
    with pytest.raises(GradcliError, match="an expression must be a text"):
        package.seed_for(3, {"x": [1.0]})


def test_the_nearest_seed_is_0_where_nothing_comes_nearer():
    """The gradient of a softmax sums to 0, so (1, 1, 1) is orthogonal to all of them."""
    s = np.exp([1.0, 2.0, 3.0]) / np.exp([1.0, 2.0, 3.0]).sum()
    equations = Equations(np.diag(s) - np.outer(s, s), np.ones(3))
    assert not equations.solvable
    assert equations.g.tolist() == [0, 0, 0]
