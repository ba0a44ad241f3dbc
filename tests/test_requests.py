"""One request, whoever asks: the fields are those that are declared, and are read alike."""

import inspect
import json

import numpy as np
import pytest
from console import gradcli

import gradcli as library
from gradcli.cli.main import COMMANDS
from gradcli.errors import GradcliError
from gradcli.fields import FIELDS, QUESTIONS
from gradcli.keywords import PYTHON_ALONE
from gradcli.limits import Limits
from gradcli.playground.answering import OPTIONS, answer
from gradcli.tools import TOOLS, call

PARAMETERS = {name: inspect.signature(getattr(library, name)).parameters for name in QUESTIONS}
OF_A_QUESTION = {name for fields in QUESTIONS.values() for name in fields}


@pytest.mark.parametrize("question", QUESTIONS)
def test_functions_take_the_fields_of_their_question(question):
    """`target` of `code` is a library, and no field."""
    taken = {n for n in PARAMETERS[question] if n in FIELDS and (question, n) != ("code", "target")}
    assert taken - {*PYTHON_ALONE} == {*QUESTIONS[question]}
    for name, parameter in PARAMETERS[question].items():
        if FIELDS.get(name, FIELDS["expr"]).type in (int, bool):
            assert parameter.default == FIELDS[name].default
    said = " ".join(getattr(library, question).__doc__.split())
    assert [name for name in taken if f"{name}: {FIELDS[name].meaning}" not in said] == []


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q != "cost"])
def test_commands_take_the_fields_of_their_question(question):
    taken = COMMANDS[question.replace("_", "-")].names
    assert {*QUESTIONS[question]} <= {*taken}


def test_tools_take_fields_of_a_question():
    for tool in TOOLS.values():
        assert {*tool.needed} <= tool.arguments.keys()
        assert {*tool.arguments} - {"show", "code"} <= OF_A_QUESTION


SHAPES = {"x": "2", "W": "2x3"}
EXPECTED = {"x": [14.0, 2.0], "W": [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]}  # g @ W.T and outer(x, g)
X, W, G = [1.0, 2.0], [[1.0, 2.0, 3.0], [1.0, -1.0, 1.0]], [1.0, 2.0, 3.0]


def test_all_who_ask_get_the_same_answer():
    values, shapes = {"x": X, "W": W}, ["-s", "x=2,W=2x3"]
    texts = [word for name, v in values.items() for word in ("-v", f"{name}={v}")]
    in_shell = gradcli("grad", "x @ W", *texts, *shapes, "-g", str(G), "-w", "W,x").json
    fields = {"expr": "x @ W", "values": values, "shapes": SHAPES, "grad": G, "wrt": "W,x"}
    (in_batch,) = library.batch([fields])
    in_python = library.grad(**fields)
    for found in (in_shell, in_batch["grad"], in_python):
        assert [*found] == ["W", "x"]
        assert {name: np.asarray(v).tolist() for name, v in found.items()} == EXPECTED
    told = call("explain_gradient", fields, Limits())
    lines = {"values": f"x={X}\nW={W}", "shapes": "x=2;W=2x3", "grad": str(G), "wrt": "W,x"}
    page = json.loads(answer(json.dumps({"expr": "x @ W", **lines})))
    assert "[14, 2]" in told
    assert page["ok"]
    assert "14" in page["page"]
    assert {*OPTIONS} < OF_A_QUESTION


WRONG = [
    ("shapes", {1: (2,)}, "1 is not a text"),
    ("values", {1: 2.0}, "1 is not a text"),
    ("assume", {1: "symmetric"}, "1 is not a text"),
    ("claim", {1: "2 * x"}, "1 is not a text"),
    ("shapes", {"x": 2}, "the shape of x must be a list of integers, got 2"),
    ("shapes", [("x", 2)], "by name of the input"),
    ("values", 3, "by name of the input, got 3"),
    ("assume", 3, "by name of the input, got 3"),
    ("claim", ["2 * x"], "a text, or"),
    ("wrt", {"x": 1}, "wrt must be the name of an input or a list of names"),
    ("wrt", "x,,y", "a name is missing"),
]


@pytest.mark.parametrize(("name", "value", "said"), WRONG)
def test_what_is_wrong_is_wrong_in_json_and_in_python(name, value, said):
    (line,) = library.batch([{"expr": "x * y", name: value, "want": ["claims"]}])
    assert line["error"]["code"] != "internal"
    assert said in line["error"]["message"]
    with pytest.raises(GradcliError) as raised:
        library.check("x * y", **{name: value})
    assert said in raised.value.message
    assert line["error"]["hint"].replace(f'"{name}": ', f"{name}=") == raised.value.hint


def test_claims_may_be_texts():
    (line,) = library.batch([{"expr": "x * x", "claim": "x = 2 * g * x", "want": ["claims"]}])
    assert line["claims"][0]["ok"]
    assert library.check("x * x", claim="x = 2 * g * x")[-1]["ok"]


def test_seeds_of_orders_in_python():
    for order, grads in ((1, ["1"]), (2, ["1", "1"])):
        with pytest.raises(GradcliError, match="there is one seed for each order") as raised:
            library.grad("x ** 3", values={"x": 2.0}, order=order, grads=grads)
        assert raised.value.hint == f"to differentiate again: order={order + 1}"
    with pytest.raises(GradcliError) as raised:
        library.explain("x**2 * y**2", order=2)
    assert raised.value.hint == 'wrt="x" or wrt="y"'


def test_a_hessian_of_what_is_assumed_and_a_product_by_some_inputs():
    values = {"x": [1.0, 2.0], "y": [3.0, 4.0]}
    product = library.jvp("x * y", values=values, tangents={"y": [1.0, 0.0]}, wrt="y")
    assert product.tolist() == [1.0, 0.0]
    with pytest.raises(GradcliError, match="held fixed"):
        library.jvp("x * y", values=values, tangents={"y": [1.0, 0.0]}, wrt="x")
    with pytest.raises(GradcliError, match="A is not symmetric"):
        library.hessian("x @ A @ x", values={"x": X, "A": [[1, 2], [3, 4]]}, assume="A=symmetric")


def test_numbers_drawn_and_rounded_are_the_same_for_all_who_ask():
    torch = pytest.importorskip("torch")
    torch.manual_seed(7)
    drawn = torch.randn(3, dtype=torch.float64)
    x = drawn.float().requires_grad_()
    (x**3).sum().backward()
    expected = x.grad.tolist()
    asked = {"expr": "(x**3).sum()", "values": {"x": "randn(3)"}}
    same = {"random_seed": 7, "dtype": "float32"}
    typed = ("-v", "x=randn(3)", "--random-seed", "7", "--dtype", "float32")
    (line,) = library.batch([{**asked, **same}])
    told = call("explain_gradient", {**asked, **same}, Limits())
    form = {"expr": asked["expr"], "values": "x=randn(3)", "random_seed": "7", "dtype": "float32"}
    page = json.loads(answer(json.dumps(form)))
    in_python = library.grad(**asked, **same)
    assert in_python.dtype == np.float32
    for found in (in_python, line["grad"]["x"], gradcli("grad", asked["expr"], *typed).json):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    for text in (told, page["page"]):
        assert f"{expected[1]:.5g}" in text
    assert page["command"].endswith("--dtype float32 --random-seed 7")


def test_an_order_and_an_expansion_in_json():
    asked = {"expr": "x**3", "values": {"x": 2.0}, "order": 2, "want": ["grad"]}
    (line,) = library.batch([asked])
    assert line["grad"] == {"x": 12.0}
    page = json.loads(answer(json.dumps({"expr": "x**3", "values": "x=2.0", "order": "2"})))
    assert page["ok"]
    wrong = json.loads(answer(json.dumps({"expr": "x**3", "order": "two"})))
    assert '"Order" must be an integer, got two' in wrong["error"]
    names = [node["op"] for node in library.graph("softmax(x, 0)", expand=True)]
    assert names == ["input", "exp", "sum", "div"]
    told = call("explain_gradient", {"expr": "softmax(x, 0)", "expand": True}, Limits())
    assert "out = · / ·" in told or "exp(x)" in told


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [("dtype", "half", "float32"), ("random_seed", 1.5, "1"), ("expand", 1, "rue")],
)
def test_fields_of_another_type_are_refused(name, value, hint):
    (line,) = library.batch([{"expr": "x", name: value}])
    assert line["error"]["code"] == "request"
    with pytest.raises(GradcliError) as raised:
        library.explain("x", **{name: value})
    assert hint in raised.value.hint
    assert hint in line["error"]["hint"]
