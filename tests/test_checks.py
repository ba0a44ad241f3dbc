"""What a check says: corners, rounding, wrong gradients, and how much of a large input is tried."""

import numpy as np
import pytest

from gradcli.explanation.analysis import Analysis
from gradcli.explanation.checking.finite_differences import (
    CORNER,
    LONG,
    OTHER,
    SAME,
    Perturbed,
    compare,
)
from gradcli.explanation.checks import run_checks
from gradcli.language.posing import pose


def checked(text, **given):
    rows, differences = run_checks(Analysis(pose(text, **given)))
    return rows, differences


def moving(out, value, gradient, work=0):
    """An input `x` of a function whose gradient is known."""
    value = np.asarray(value, float)
    return Perturbed("x", out, value, np.float64(1), gradient, False, np.asarray, work)


@pytest.mark.parametrize("text", [
    "((x + 1e8) ** 2).sum()", "1e9 + sin(x).sum()", "((x + 1e8 - 1e8) ** 2).sum()",
    "((x + 1e6) ** 2).mean()",
])  # fmt: skip
def test_rounding_is_neither_a_corner_nor_a_disagreement(text):
    _, differences = checked(text, values={"x": "randn(3)"})
    assert differences.ok
    assert "corner" not in differences.remark


def test_a_slope_that_is_rounded_away_is_not_compared():
    _, differences = checked("1e14 + sin(x).sum()", values={"x": [0.5, 1.0]})
    assert differences.ok is None
    assert differences.remark.startswith("not at x[0], x[1]: slope unclear")


@pytest.mark.parametrize("text", [
    "where(x > 0, x + 1, x)", "x * (x > 0) + (x > 0)", "where(x < 0, x - 1000, x).sum()",
])  # fmt: skip
def test_a_jump_shows_no_slope(text):
    _, differences = checked(text, values={"x": [0.0, 1.0]})
    assert differences.ok
    assert "not at x[0]: slope unclear" in differences.remark


@pytest.mark.parametrize(("text", "names"), [("x.sum()", "x"), ("(x * y).sum()", "x and y")])
def test_what_is_empty_cannot_be_moved(text, names):
    _, differences = checked(text, values=dict.fromkeys(names.split(" and "), np.zeros((0, 3))))
    assert differences.ok is None
    assert differences.remark == f"there is no element of {names} to perturb"


def test_what_is_infinite_shows_no_slope():
    _, differences = checked("(1 / x).sum()", values={"x": [0.0, 1.0]})
    assert differences.ok is None
    assert differences.remark == "not at x[0], x[1]: not finite"


@pytest.mark.parametrize(("text", "x"), [
    ("inv(x)", [[1e-3, 0.0], [0.0, 1.0]]),
    ("inv(x)", [[1.0, 1.001], [1.0, 1.0]]),
    ("cholesky(x)", [[1.0, 0.9999], [0.9999, 1.0]]),
    ("linalg.svdvals(x)", [[np.inf, 1.0], [2.0, 3.0]]),
])  # fmt: skip
def test_a_step_to_where_there_is_no_value_is_no_error(text, x):
    """A matrix that has no inverse there, or is not positive definite."""
    _, differences = checked(f"{text}.sum()", values={"x": x})
    assert differences.ok is not False


def test_what_one_triangle_is_read_of_stays_symmetric_through_a_sum():
    _, differences = checked("cholesky(A + 3 * eye(2)).sum()", shapes={"A": (2, 2)})
    assert differences.ok
    assert differences.remark == "at random values; A kept symmetric"


@pytest.mark.parametrize(
    "text", ["cholesky(A + eye(2))", "eigvalsh(2 * A)", "cholesky(A.T)[None]", "cholesky(inv(A))"]
)
def test_what_is_made_of_a_symmetric_matrix_stays_symmetric(text):
    _, differences = checked(text, values={"A": [[4.0, 1.0], [1.0, 3.0]]}, grad=None)
    assert differences.ok
    assert "A kept symmetric" in differences.remark


def test_slopes_of_a_singular_matrix_tell_nothing():
    _, differences = checked("logdet(X.T @ X)", shapes={"X": (2, 3)})
    assert differences.ok is None


@pytest.mark.parametrize(("text", "x", "corners"), [
    ("relu(x).sum()", [0.0, 1.0, -1.0], "x[0]"),
    ("abs(x).sum()", [2.0, 0.0], "x[1]"),
    ("max(x)", [1.0, 1.0], "x[0], x[1]"),
    ("relu(x).sum()", [1e-7, 1.0], "x[0]"),
    ("relu(1e6 + x - 1e6).sum()", [0.0, 1.0], "x[0]"),
])  # fmt: skip
def test_corners_are_called_so(text, x, corners):
    _, differences = checked(text, values={"x": x})
    assert f"not at {corners}: a corner" in differences.remark


@pytest.mark.parametrize("rate", [300.0, 5000.0])
def test_a_steep_curve_is_no_corner(rate):
    _, differences = checked(f"exp({rate} * (x - 1)).sum()", values={"x": [1.0]})
    assert "corner" not in differences.remark


@pytest.mark.parametrize(("size", "work"), [(3, 3), (1000, 1000), (5000, LONG + 1)])
def test_wrong_gradients_are_found(size, work):
    x = np.linspace(0.5, 1.5, size)

    def out(x):
        return np.sum(np.sin(x))

    right = [c.outcome for c in moving(out, x, np.cos(x), work).compared(str)]
    wrong = [c.outcome for c in moving(out, x, 1.001 * np.cos(x), work).compared(str)]
    assert set(right) == {SAME}
    assert OTHER in wrong


def test_an_input_is_moved_a_few_times_where_that_takes_long():
    calls = []

    def out(x):
        calls.append(x)
        return np.sum(x * x)

    x = np.linspace(-1, 1, LONG)
    moved = moving(out, x, 2 * x, 2 * LONG)
    assert [c.outcome for c in moved.compared(str)] == [SAME]
    assert moved.sampled == "along one random direction"
    assert len(calls) <= 5


def test_where_corners_are_many_a_sample_is_moved():
    x = np.sin(np.arange(200_000.0))
    moved = moving(lambda x: np.sum(np.maximum(x, 0)), x, (x > 0) * 1.0, LONG + 1)
    assert [c.outcome for c in moved.compared(str)] == [SAME]
    assert moved.sampled == "at 100 of its 200,000 elements"


def test_a_corner_everywhere_is_seen_in_a_sample_too():
    x = np.zeros(200_000)
    moved = moving(lambda x: np.sum(np.maximum(x, 0)), x, 0 * x, LONG + 1)
    assert [c.outcome for c in moved.compared(str)] == [CORNER]


def test_a_line_without_slope():
    moved = moving(lambda x: np.float64(0), [1.0], np.zeros(1))
    assert [c[1:] for c in moved.compared(str)] == [(SAME, 0.0)]
    assert compare(moved._line(np.ones(1))[0], 1.0)[0] == OTHER


@pytest.mark.parametrize(("steps", "remark"), [
    (40, ""), (60, "x perturbed along 3 random directions"),
])  # fmt: skip
def test_elements_before_many_operations_are_moved_together(steps, remark):
    text = "; ".join(["h = x", *["h = tanh(h)"] * steps, "h.sum()"])
    _, differences = checked(text, values={"x": "randn(100)"})
    assert differences.ok
    assert differences.remark == remark


def test_rows_are_taken_together_where_there_is_much_to_compute():
    values = {"x": "randn(20, 20000)", "w": "randn(20000, 20)"}
    rows, differences = checked("x @ w", values=values, grad="randn(20, 20)")
    assert rows.ok
    assert rows.remark.endswith("rows at a time")
    assert differences.ok
    assert differences.remark == "x and w perturbed along 3 random directions"
