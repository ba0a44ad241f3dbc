"""Every public function with a wrong type for each of its arguments: a GradcliError with a code, or
an answer.
"""

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradcli
from gradcli.errors import CODES, GradcliError


class Hostile:
    """What has no length, no array and no text."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no array")

    def __repr__(self) -> str:
        raise RuntimeError("no text")


RECURSIVE: list[Any] = []
RECURSIVE.append(RECURSIVE)
WRONG: dict[str, Any] = {
    "None": None,
    "True": True,
    "0": 0,
    "-1": -1,
    "2000": 2000,
    "10**400": 10**400,
    "1.5": 1.5,
    "nan": float("nan"),
    "1j": 1j,
    "empty text": "",
    "text": "no such thing",
    "NUL": "\0",
    "at file": "@/etc/passwd",
    "lone surrogate": "\ud800",
    "bytes": b"x",
    "empty list": [],
    "list": [1, [2, 3]],
    "recursive list": RECURSIVE,
    "None in a list": [None],
    "tuple": (-1,),
    "set": {1},
    "empty dict": {},
    "dict by number": {1: 2},
    "dict of None": {"x": None},
    "dict of text": {"x": "?"},
    "dict of a number": {"x": 3},
    "dict of sizes": {"x": (-1,)},
    "dict of a large size": {"x": (10**30,)},
    "dict of sizes that are floats": {"x": (2.0,)},
    "dict of bytes": {"x": b"1"},
    "dict of objects": {"x": object()},
    "dict of a hostile object": {"x": Hostile()},
    "dict of a recursive list": {"x": RECURSIVE},
    "dict of dates": {"x": np.array(["2020-01-01"], dtype="datetime64[D]")},
    "dict of complex numbers": {"x": [1j]},
    "dict of a function": {"x": len},
    "dict of a file": {"x": "@/etc/passwd"},
    "array": np.ones(3),
    "array of objects": np.array([None, "x"], dtype=object),
    "function": len,
    "object": object(),
    "hostile object": Hostile(),
    "generator": (x for x in ()),
    "type": int,
}
GIVEN: dict[str, dict[str, Any]] = {
    "explain": {"expr": "x.sum()", "values": {"x": [1.0, 2.0]}},
    "grad": {"expr": "x.sum()", "values": {"x": [1.0, 2.0]}},
    "jacobian": {"expr": "x * x", "values": {"x": [1.0, 2.0]}},
    "hessian": {"expr": "(x * x).sum()", "values": {"x": [1.0, 2.0]}},
    "jvp": {"expr": "x * x", "values": {"x": [1.0, 2.0]}, "tangents": {"x": [1.0, 0.0]}},
    "check": {"expr": "x.sum()", "values": {"x": [1.0, 2.0]}},
    "cost": {"expr": "x.sum()", "shapes": {"x": (2,)}},
    "formula": {"expr": "x.sum()", "shapes": {"x": (2,)}},
    "code": {"expr": "x.sum()", "target": "torch", "values": {"x": [1.0, 2.0]}},
    "seed_for": {"expr": "x * x", "target": {"x": [1.0, 0.0]}, "values": {"x": [1.0, 2.0]}},
    "graph": {"expr": "x.sum()", "values": {"x": [1.0, 2.0]}},
    "ops": {},
    "examples": {},
    "read": {"text": "print(1)"},
    "why": {"message": "grad can be implicitly created only for scalar outputs"},
    "batch": {"requests": []},
}


def explanation(**given: Any) -> str:
    return gradcli.explain("x.sum()", values={"x": [1.0]}).to(**given)


def cases() -> Iterator[Any]:
    functions: dict[str, Callable[..., Any]] = {name: getattr(gradcli, name) for name in GIVEN}
    parameters = {name: [*inspect.signature(f).parameters] for name, f in functions.items()}
    functions["Explanation.to"] = explanation
    parameters["Explanation.to"] = ["format", "width", "full", "precision", "show"]
    for name, function in functions.items():
        for parameter in parameters[name]:
            yield pytest.param(function, GIVEN.get(name, {}), parameter, id=f"{name}-{parameter}")


def test_all_that_is_public_is_tried():
    assert {*GIVEN, "Explanation", "GradcliError"} == {*gradcli.__all__}


@pytest.mark.parametrize(("function", "given", "parameter"), [*cases()])
def test_a_wrong_type_is_an_error_with_a_code(function, given, parameter):
    errors = {key: _error(function, given | {parameter: value}) for key, value in WRONG.items()}
    refused = {key: error for key, error in errors.items() if error is not None}
    assert {"object", "hostile object", "type"} <= refused.keys()
    for error in refused.values():
        assert error.code in CODES
        assert len(error.message) < 1000
        assert "root:" not in f"{error.message}{error.hint}{error.span}"


def _error(function: Any, given: dict[str, Any]) -> GradcliError | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            answer = function(**given)
            list(answer) if inspect.isgenerator(answer) else answer
        except GradcliError as error:
            return error
    return None


def test_names_in_an_array():
    given = {"x": [1.0, 2.0], "y": [3.0, 4.0]}
    found = gradcli.grad("(x * y).sum()", values=given, wrt=np.array(["y"]))
    assert found.tolist() == given["x"]
    assert set(gradcli.grad("(x * y).sum()", values=given, wrt=np.zeros(0))) == {"x", "y"}


def test_an_array_without_dimensions_is_no_list():
    one, given = np.array(1), {"x": [1.0, 2.0]}
    for asked in ({"wrt": one}, {"grad": one, "assume": one}):
        with pytest.raises(GradcliError):
            gradcli.formula("x * x", values=given, **asked)
    with pytest.raises(GradcliError, match="against must be"):
        gradcli.check("x * x", values=given, against=one)
    with pytest.raises(GradcliError, match="requests must be"):
        gradcli.batch(one)


@pytest.mark.parametrize("order", [2000, 10, 0, -1, True, 2.0, "2", None])
def test_orders(order):
    with pytest.raises(GradcliError, match="from 1 to 9"):
        gradcli.explain("x**3", values={"x": 1.0}, order=order)
    with pytest.raises(GradcliError, match="from 1 to 9"):
        gradcli.grad("x**3", values={"x": 1.0}, order=order)


@pytest.mark.parametrize("request_", [None, 3, b"{}", [], object(), {}, {"expr": 3}, {1: 2}])
def test_requests_that_are_none_are_answered(request_):
    (answer,) = gradcli.batch([request_])
    assert (answer["ok"], answer["error"]["code"]) == (False, "request")


@pytest.mark.parametrize("name", ["explain", "formula", "check"])
@pytest.mark.parametrize("words", [np.array(1), np.array([1, 2]), 1, [1], None])
def test_an_assumption_of_a_wrong_type_is_an_error(name, words):
    with pytest.raises(GradcliError) as error:
        getattr(gradcli, name)("x * x", assume={"x": words})
    assert error.value.code == "assume"
