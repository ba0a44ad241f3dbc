"""What programs read: the JSON of explain, batch, and the Python functions."""

import json
import math
import re
from collections.abc import Iterator
from itertools import chain

import numpy as np
import pytest
from console import gradcli

import gradcli as package
from gradcli.cli.main import COMMANDS

A, ONES = "a=[[1,2,3],[4,5,6]]", ("-v", "x=ones(2,3)", "-v", "a=ones(3,4)")
EIGHT = "[[1,2,3,4],[5,6,7,8]]"
SQUARE = ("out = a * a", "-v", A, "-g", "a")
NETWORK = (
    *("h = relu(x @ W + b); out = h.sum(dim=1)", "-v", "x=[[1,2],[3,-1]]"),
    *("-v", "W=[[1,0,-1],[2,1,1]]", "-v", "b=[0,1,-1]", "-g", "[1, 10]"),
)


def explained(*args: str) -> dict:
    """The explanation as JSON, in JSON's own terms: nothing that JSON does not know."""
    result = gradcli(*args, "-f", "json")
    assert (result.status, result.err) == (0, "")
    return json.loads(result.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def shape_of(nested) -> list[int]:
    """The shape of nested lists."""
    return [len(nested), *shape_of(nested[0])] if isinstance(nested, list) else []


# ---- explain -------------------------------------------------------------------------------------


def test_the_keys_are_those_of_the_interface():
    assert list(explained(*SQUARE)) == [
        *("schema", "expression", "inputs", "output", "seed", "graph", "steps", "jacobian"),
        *("grad", "checks", "notes", "document"),
    ]


def test_the_example_of_the_interface():
    e = explained(*SQUARE)
    a = [[1, 2, 3], [4, 5, 6]]
    assert e["schema"] == "gradcli/1"
    assert e["expression"] == "out = a * a"
    assert e["inputs"] == {"a": {"shape": [2, 3], "value": a, "assumed": False}}
    assert e["output"]["name"] == "out"
    assert e["output"]["shape"] == [2, 3]
    assert e["output"]["value"] == [[1, 4, 9], [16, 25, 36]]
    assert e["output"]["elements"][0][0] == "a[0,0]**2"
    assert e["seed"]["shape"] == [2, 3]
    assert e["seed"]["value"] == a
    assert e["seed"]["implicit"] is False
    assert e["graph"][0] == {
        **{"id": 0, "op": "input", "name": "a", "inputs": []},
        **{"shape": [2, 3], "text": "a", "value": a},
    }
    assert e["graph"][1]["inputs"] == [0, 0]
    step = e["steps"][0]
    assert (step["node"], step["op"]) == (1, "mul")
    assert [c["formula"] for c in step["contributions"]] == ["g * a", "g * a"]
    assert step["contributions"][0]["to"] == 0
    assert step["contributions"][0]["value"] == [[1, 4, 9], [16, 25, 36]]
    jacobian = e["jacobian"]["a"]
    assert jacobian["shape"] == [2, 3, 2, 3]
    assert jacobian["matrix"] == np.diag([2, 4, 6, 8, 10, 12]).tolist()
    assert jacobian["structure"] == "diagonal"
    assert jacobian["formula"] == "diag((2 * a).flatten())"
    assert isinstance(jacobian["index"], str)
    grad = e["grad"]["a"]
    assert grad["shape"] == [2, 3]
    assert grad["value"] == [[2, 8, 18], [32, 50, 72]]
    assert grad["elements"][0][0] == "2*a[0,0]*g[0,0]"
    assert grad["formula"] == "2 * g * a"
    assert grad["index"] == "2*g[i,j]*a[i,j]"
    assert grad["index_of"] == "a.grad[i,j]"
    assert jacobian["index_of"] == "∂out[i,j] / ∂a[k,l]"
    first = e["checks"][0]
    assert (first["name"], first["ok"], first["max_error"]) == ("seed times Jacobian", True, 0)
    assert all(set(n) == {"code", "message"} for n in e["notes"])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("a * a", "out = a * a"),
        ("y = a * a", "y = a * a"),
        ("h = a * a; h * 2", "h = a * a; out = h * 2"),
        ("(a * a)", "out = (a * a)"),
        ("softmax(a, dim=-1)", "out = softmax(a, dim=-1)"),
        ("h = a\nh * 2", "h = a\nout = h * 2"),
    ],
)
def test_the_expression_has_the_name_of_its_output(given, told):
    assert explained(given, "-s", "a=2")["expression"] == told


def test_a_graph_refers_to_earlier_nodes_and_ends_with_the_output():
    e = explained(*NETWORK)
    for place, node in enumerate(e["graph"]):
        assert node["id"] == place
        assert all(i < place for i in node["inputs"])
        assert shape_of(node["value"]) == node["shape"]
    assert e["graph"][-1]["name"] == "out"
    assert e["graph"][-1]["value"] == e["output"]["value"]


def test_steps_are_in_the_order_of_backward_and_add_up():
    e = explained(*NETWORK)
    assert [s["op"] for s in e["steps"]] == ["sum", "relu", "add", "matmul"]
    sent: dict[int, np.ndarray] = {}
    for step in e["steps"]:
        for c in step["contributions"]:
            sent[c["to"]] = sent.get(c["to"], 0) + np.array(c["value"])
    for node in e["graph"]:
        if node["op"] == "input":
            assert sent[node["id"]].tolist() == e["grad"][node["name"]]["value"]
    assert e["grad"]["b"]["value"] == [11, 1, 0]
    assert e["grad"]["W"]["value"] == [[31, 1, 0], [-8, 2, 0]]


BLOCKS = "block_diag(*[diag(out[i]) - outer(out[i], out[i]) for i in range(x.shape[0])])"


@pytest.mark.parametrize(
    ("args", "structure", "formula"),
    [
        (("x * 3", "-v", "x=[1,2]"), "scaled identity", None),
        (("x * x", "-v", "x=[1,2]"), "diagonal", "diag(2 * x)"),
        (("x @ a", *ONES, "-w", "x"), "kronecker", "kron(eye(x.shape[0]), a).T"),
        (("softmax(x, dim=1)", "-v", "x=[[1,2],[3,4]]"), "block-diagonal", BLOCKS),
        (("x.detach() + y", "-v", "x=[1,2]", "-v", "y=[1,2]", "-w", "x,y"), "zero", None),
        (("(x * x).sum()", "-v", "x=[1,2]"), "row", None),
        (("x * x.sum()", "-v", "x=[1,2]"), "low-rank update", None),
    ],
)
def test_jacobians(args, structure, formula):
    e = explained(*args)
    found = e["jacobian"]["x"]
    shape = e["output"]["shape"] + e["inputs"]["x"]["shape"]
    assert found["shape"] == shape
    rows = math.prod(e["output"]["shape"])
    assert shape_of(found["matrix"]) == [rows, math.prod(shape) // rows]
    assert found["structure"] == structure
    if formula is not None:
        assert found["formula"] == formula


def test_seed_times_jacobian_is_the_gradient():
    e = explained(*NETWORK)
    for name, grad in e["grad"].items():
        product = np.ravel(e["seed"]["value"]) @ np.array(e["jacobian"][name]["matrix"])
        assert product.reshape(grad["shape"]).tolist() == grad["value"]


def test_what_is_not_finite_is_a_text():
    e = explained("log(x)", "-v", "x=[0., 1.]", "-g", "[1, nan]")
    assert e["output"]["value"] == ["-inf", 0]
    assert e["grad"]["x"]["value"] == ["inf", "nan"]
    assert e["seed"]["value"] == [1, "nan"]
    assert gradcli("grad", "sqrt(x).sum()", "-v", "x=[0., 4.]").out == '["inf", 0.25]\n'
    assert "not-finite" in {n["code"] for n in e["notes"]}


def test_symbols():
    e = explained("x @ a", "-s", "x=2x2,a=2x2", "-g", "[[1,2],[3,4]]")
    assert e["inputs"]["x"]["value"] is None
    assert e["output"]["value"] is None
    assert e["output"]["elements"][0][0] in ("a[0,0]*x[0,0] + a[1,0]*x[0,1]",)
    assert e["grad"]["x"]["value"] is None
    assert e["grad"]["x"]["elements"][0][0] == "a[0,0] + 2*a[0,1]"
    assert e["jacobian"]["x"]["matrix"][0] == ["a[0,0]", "a[1,0]", "0", "0"]
    assert e["grad"]["x"]["formula"] == "g @ a.T"


def test_an_assumed_shape_is_marked():
    e = explained("x@a", "-g", EIGHT)
    assert e["inputs"]["x"] == {"shape": [2, 3], "value": None, "assumed": True}
    assert explained("x@a", "-s", "x=2x3,a=3x4")["inputs"]["a"]["assumed"] is False


def test_seeds():
    implicit = explained("(x * x).sum()", "-v", "x=[1,2]")["seed"]
    assert (implicit["implicit"], implicit["value"]) == (True, 1)
    refused = explained("x * x", "-v", "x=[1,2]")
    assert (refused["seed"]["implicit"], refused["seed"]["value"]) == (False, None)
    assert "implicit-seed" in {n["code"] for n in refused["notes"]}


def test_a_gradient_that_does_not_exist_is_null():
    e = explained("x.detach() * y", "-v", "x=2.", "-v", "y=3.")
    assert e["grad"]["x"] is None
    assert e["grad"]["y"]["value"] == 2
    assert "unused" in {n["code"] for n in e["notes"]}
    assert gradcli("grad", "x.detach() * y", "-v", "x=2.", "-v", "y=3.").json == {"x": None, "y": 2}


def test_notes():
    codes = {n["code"] for n in explained(*NETWORK)["notes"]}
    assert codes == {"kink", "integer-values"}


@pytest.mark.parametrize(
    ("value", "codes"),
    [("arange(4)", {"integer-values"}), ("arange(4.0)", set()), ("arange(0, 4.0, 1)", set())],
)
def test_numbers_are_whole_where_all_that_arange_is_given_are(value, codes):
    assert {n["code"] for n in explained("x.sum()", "-v", f"x={value}")["notes"]} == codes
    kink = next(n for n in explained(*NETWORK)["notes"] if n["code"] == "kink")
    assert "z[0,2] and z[1,1]" in kink["message"]


def test_sections_choose_keys():
    e = explained(*SQUARE, "--show", "answer,seed")
    assert set(e) == {"schema", "expression", "grad", "seed", "document"}


FORMULAS = [
    ("out = a * a", {"a": [[1, 2, 3], [4, 5, 6]]}),
    ("x @ a", {"x": [[1, 2, 3], [4, 5, 6]], "a": [[1, 0], [2, 1], [0, 3]]}),
    ("relu(x @ W + b).sum(dim=1)", {"x": [[1, 2]], "W": [[1, 0, -1], [0, 1, 1]], "b": [0, -2, -1]}),
    ("softmax(x, dim=-1)", {"x": [[1, 2, 3], [0, 0, 1]]}),
    ("(x * y).mean(dim=0)", {"x": [[1, 2], [3, 4]], "y": [5, 6]}),
    ("x / y", {"x": [[1.0, 2], [3, 4]], "y": [[5.0], [6]]}),
    ("exp(x).sum(dim=1) + x[:, 0]", {"x": [[0.1, 0.2], [0.3, 0.4]]}),
    ("tanh(x) ** 2", {"x": [0.5, -0.5]}),
    ("x.T @ x", {"x": [[1.0, 2], [3, 4]]}),
    ("inv(x)", {"x": [[1.0, 2], [3, 5]]}),
    ("mse_loss(x, y)", {"x": [[1.0, 2]], "y": [[0.0, 5]]}),
    ("logsumexp(x, dim=1)", {"x": [[1.0, 2], [3, 4]]}),
]


@pytest.mark.parametrize(("expr", "values"), FORMULAS, ids=[f[0] for f in FORMULAS])
def test_a_formula_is_a_program_that_gives_the_gradient(expr, values):
    floats = {name: np.array(value, float) for name, value in values.items()}
    out = package.explain(expr, values=floats).output
    seed = np.arange(1.0, 1 + math.prod(out["shape"])).reshape(out["shape"])
    e = package.explain(expr, values=floats, grad=seed)
    for grad in e.grad.values():
        given = {**floats, "g": seed, "out": np.asarray(out["value"])}
        used = set(re.findall(r"\b[A-Za-z_]\w*\b(?!\s*\()", grad["formula"]))
        given = {n: v for n, v in given.items() if n in used}
        again = package.explain(f"({grad['formula']}) * one", values={**given, "one": 1.0}).output
        np.testing.assert_allclose(np.asarray(again["value"], float), grad["value"], rtol=1e-12)


# ---- the questions the project began with --------------------------------------------------------

# As in shared/seeds/README.md: arguments, gradient, and words of the answer.
SEEDS = [
    (
        ("out = x@a", *ONES, "-g", EIGHT, "-w", "x"),
        *([[10, 10, 10], [26, 26, 26]], "g @ a.T"),
        [
            "x.grad[0,0] = ",
            "1·1 + 2·1 + 3·1 + 4·1 = 10",
            "kron(eye(x.shape[0]), a).T",
            "out itself",
        ],
    ),
    (
        ("out = x@a; loss = (out * w).sum()", *ONES, "-v", f"w={EIGHT}", "-w", "x"),
        *([[10, 10, 10], [26, 26, 26]], "w @ a.T", []),
    ),
    (
        ("out = a*a", "-v", A, "-g", "a"),
        *([[2, 8, 18], [32, 50, 72]], "2 * g * a", ["2×3×2×3", "diag((2 * a).flatten())"]),
    ),
    (("out = a*a", "-v", A, "-g", "ones_like(out)"), [[2, 4, 6], [8, 10, 12]], "2 * g * a", []),
    (("out = a[0,1]*a[0,1]", "-v", A), [[0, 4, 0], [0, 0, 0]], None, []),
    (("z = 2*x", "-v", "x=[[1,2,3,4]]", "-g", "[[1,0,0,0]]"), [[2, 0, 0, 0]], "2 * g", []),
    (("z = 2*x", "-v", "x=[[1,2,3,4]]", "-g", "[[0,1,0,0]]"), [[0, 2, 0, 0]], "2 * g", []),
    (("z = 2*x", "-v", "x=[[1,2,3,4]]", "-g", "[[1,1,1,1]]"), [[2, 2, 2, 2]], "2 * g", []),
    (("z = 2*x; loss = z.sum(dim=1)", "-v", "x=[[1,2,3,4]]"), [[2, 2, 2, 2]], None, ["(1,)"]),
    (("y = x.pow(2).sum()", "-v", "x=[[1,2],[3,4]]"), [[2, 4], [6, 8]], "2 * x", []),
    (("y = x.sum(dim=0, keepdim=True)", "-v", "x=[1,2]", "-g", "[1.0]"), [1, 1], None, []),
    (
        ("y = x.pow(2)", "-v", "x=[[1,2],[3,4]]", "-g", "[[1,2],[3,4]]"),
        *([[2, 8], [18, 32]], "2 * g * x", []),
    ),
]


@pytest.mark.parametrize(("args", "grad", "formula", "said"), SEEDS, ids=[s[0][0] for s in SEEDS])
def test_seeds_are_answered(args, grad, formula, said):
    e = explained(*args)
    (answer,) = e["grad"].values()
    assert answer["value"] == grad
    assert formula is None or answer["formula"] == formula
    assert gradcli("grad", *args).json == grad
    page = " ".join(gradcli(*args, "--full").out.split())
    for words in said:
        assert words in page
    first = gradcli(*args, "--full").lines[0]
    name = next(iter(e["grad"]))
    assert first.startswith(f"{name}.grad = {json.dumps(grad).replace('.0', '')[:20]}")
    assert all(c["ok"] for c in e["checks"])


def test_element_by_element_adds_up_to_the_whole():
    total = np.zeros((2, 3))
    for i in range(2):
        for j in range(3):
            total += gradcli("grad", f"out = a[{i},{j}]*a[{i},{j}]", "-v", A).json
    assert total.tolist() == [[2, 4, 6], [8, 10, 12]]


REFUSED = [
    (
        ("out = x@a", *ONES),
        "implicit-seed",
        "grad can be implicitly created only for scalar outputs",
    ),
    (
        ("y = x.pow(2).sum()", "-v", "x=[[1,2],[3,4]]", "-g", "[1.0]"),
        "seed-shape",
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([1]) and "
        "output[0] has a shape of torch.Size([]).",
    ),
    (
        ("y = x.pow(2).sum()", "-v", "x=[[1,2],[3,4]]", "-g", "[1.0, 0.5]"),
        "seed-shape",
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([2]) and "
        "output[0] has a shape of torch.Size([]).",
    ),
    (
        ("y = x.pow(2)", "-v", "x=[[1,2],[3,4]]", "-g", "[1,2,3,4]"),
        "seed-shape",
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([4]) and "
        "output[0] has a shape of torch.Size([2, 2]).",
    ),
]


@pytest.mark.parametrize(("args", "code", "said"), REFUSED)
def test_seeds_are_refused_in_pytorch_s_words(args, code, said):
    result = gradcli("grad", *args)
    assert result.status == 2
    assert result.err.startswith(f"error[{code}]")
    assert said in result.err


# ---- batch ---------------------------------------------------------------------------------------


def answers(*requests: dict | str) -> list[dict]:
    """The answers to requests, through the command line."""
    lines = [r if isinstance(r, str) else json.dumps(r) for r in requests]
    result = gradcli("batch", "-", stdin="\n".join(lines))
    found = [json.loads(line) for line in result.lines]
    assert result.status == (0 if all(a["ok"] for a in found) else 1)
    assert not result.err
    return found


def test_a_request_and_its_answer():
    request = {
        **{"id": "a", "expr": "x@a", "values": {"x": "ones(2,3)", "a": "ones(3,4)"}},
        **{"grad": [[1, 2, 3, 4], [5, 6, 7, 8]], "wrt": ["x"]},
    }
    (answer,) = answers(request)
    assert answer == {
        **{"id": "a", "ok": True, "output": [[3.0] * 4] * 2},
        **{"grad": {"x": [[10, 10, 10], [26, 26, 26]]}},
    }


def test_answers_are_in_order_whatever_fails():
    bad = [
        "{",
        "[]",
        "3",
        '"x"',
        "{}",
        '{"expr": 3}',
        '{"expr": "x", "vals": {}}',
        "\x00",
        '{"expr":',
    ]
    requests = []
    for k, line in enumerate(bad):
        requests += [{"id": k, "expr": "x*x", "values": {"x": k}}, line]
    found = answers(*requests)
    assert [a["ok"] for a in found] == [True, False] * len(bad)
    assert [a["id"] for a in found[::2]] == list(range(len(bad)))
    assert {a["error"]["code"] for a in found[1::2]} == {"request"}
    assert all(a["error"]["message"] for a in found[1::2])


def test_errors_have_code_message_and_place():
    (answer,) = answers({"id": 7, "expr": "sofmax(x)", "shapes": {"x": [2]}})
    assert answer == {
        **{"id": 7, "ok": False},
        "error": {
            **{"code": "unknown-function", "message": "there is no function sofmax"},
            **{"hint": answer["error"]["hint"], "span": [0, 6]},
        },
    }
    assert "softmax" in answer["error"]["hint"]


@pytest.mark.parametrize(("fields", "place"), [
    ({"values": {"y": [1.0], "x": "[1,,2]"}}, "values.x"),
    ({"values": {"x": "sin(foo)"}}, "values.x"),
    ({"values": {"x": [[1, 2], [1]]}}, "values.x"),
    ({"grad": "[1,,2]"}, "grad"),
    ({"shapes": {"x": "2xx"}}, "shapes"),
    ({"want": ["claims"], "claim": {"x": "g*("}}, "claim"),
])  # fmt: skip
def test_an_error_says_which_text_it_is_in(fields, place):
    (answer,) = answers({"expr": "x * y", **fields})
    assert answer["error"]["in"] == place


def test_a_line_is_answered_before_the_next_is_read():
    events = []

    def requests() -> Iterator[str]:
        for k in range(3):
            events.append(f"read {k}")
            yield json.dumps({"id": k, "expr": "x*x", "values": {"x": 1}})

    for answer in package.batch(requests()):
        events.append(f"answered {answer['id']}")
    assert events == [f"{what} {k}" for k in range(3) for what in ("read", "answered")]


def test_every_want():
    want = ["output", "grad", "jacobian", "formula", "index", "elements", "notes"]
    (answer,) = answers({"expr": "x@a", "values": {"x": [[1, 2]], "a": [[3], [4]]}, "want": want})
    by_index = ["index", "output_index", "jacobian_index"]
    by_index += [f"{name}_of" for name in by_index]
    keys = {name: by_index if name == "index" else [name] for name in want}
    assert list(answer) == ["id", "ok", *chain.from_iterable(keys.values())]
    assert answer["id"] is None
    assert answer["output"] == [[11]]
    assert answer["grad"] == {"x": [[3, 4]], "a": [[1], [2]]}
    jacobian = answer["jacobian"]["x"]
    assert (jacobian["shape"], jacobian["matrix"]) == ([1, 1, 1, 2], [[3, 4]])
    assert isinstance(answer["formula"]["x"], str)
    assert answer["index"]["a"] == "x[0,i]"
    assert answer["output_index"] == "Σ_i x[0,i]*a[i,0]"
    assert answer["jacobian_index"] == {"x": "a[i,0]", "a": "x[0,i]"}
    assert answer["index_of"] == {"x": "x.grad[0,i]", "a": "a.grad[i,0]"}
    assert answer["output_index_of"] == "out[0,0]"
    assert answer["jacobian_index_of"]["a"] == "∂out[0,0] / ∂a[i,0]"
    assert "x[0,0]" in answer["elements"]["output"][0][0]
    assert {n["code"] for n in answer["notes"]} == {"integer-values", "seed-left-out"}
    for name in want:
        (one,) = answers({"expr": "x.sum()", "values": {"x": [1.5]}, "want": [name]})
        assert list(one) == ["id", "ok", *keys[name]]
    (wrong,) = answers({"expr": "x", "values": {"x": 1}, "want": ["grd"]})
    assert wrong["error"] == {
        **{"code": "request", "message": "want cannot contain grd", "hint": "did you mean grad?"}
    }


def test_jacobian_values_are_numbers_alone():
    values = {"x": [1.0, 2.0], "y": [3.0, 4.0], "z": [0.0, 0.0]}
    request = {"expr": "x * y + z.detach()", "values": values, "want": ["jacobian_values"]}
    (answer,) = answers(request)
    diagonals = {"x": [[3, 0], [0, 4]], "y": [[1, 0], [0, 2]], "z": [[0, 0], [0, 0]]}
    assert answer == {"id": None, "ok": True, "jacobian_values": diagonals}
    (one,) = answers(request | {"wrt": ["y"]})
    assert one["jacobian_values"] == {"y": diagonals["y"]}
    (refused,) = answers(request | {"values": {"x": [1.0, 2.0], "z": [0.0, 0.0]}})
    assert refused["error"]["code"] == "needs-value"
    assert "the Jacobian depends on y" in refused["error"]["message"]


def test_shapes_suffice_for_formula_and_index():
    shapes = {"x": [2, 3], "a": [3, 4]}
    (answer,) = answers({"expr": "x@a", "shapes": shapes, "want": ["formula", "index"]})
    assert answer["formula"] == {"x": "g @ a.T", "a": "x.T @ g"}
    assert set(answer["index"]) == {"x", "a"}
    (refused,) = answers({"expr": "x@a", "shapes": shapes})
    assert refused["error"]["code"] == "implicit-seed"
    (missing,) = answers({"expr": "(x@a).sum()", "shapes": shapes})
    assert missing["error"]["code"] == "needs-value"


def test_kronecker_as_in_the_interface():
    shapes = {"x": [2, 3], "a": [3, 4]}
    (answer,) = answers({"expr": "x@a", "shapes": shapes, "want": ["jacobian"], "wrt": ["x"]})
    jacobian = answer["jacobian"]["x"]
    assert jacobian["shape"] == [2, 4, 2, 3]
    assert jacobian["structure"] == "kronecker"
    assert shape_of(jacobian["matrix"]) == [8, 6]
    assert jacobian["formula"] == "kron(eye(x.shape[0]), a).T"  # kron(eye(2), a.T) there


def test_whole_numbers_stay_whole_for_labels_and_indices():
    loss = {"expr": "cross_entropy(x, y)", "values": {"x": [[1, 2, 3], [1, 1, 1]], "y": [2, 0]}}
    (answer,) = answers(loss)
    assert list(answer["grad"]) == ["x"]
    assert np.sum(answer["grad"]["x"]) == pytest.approx(0, abs=1e-15)
    (picked,) = answers({"expr": "x[i].sum()", "values": {"x": [1, 2, 3], "i": [0, 0, 2]}})
    assert picked["grad"] == {"x": [2, 0, 1]}
    (masked,) = answers({"expr": "(x * m).sum()", "values": {"x": [1, 2], "m": [True, False]}})
    assert masked["grad"] == {"x": [1, 0]}


def test_texts_in_the_language():
    request = {"expr": "x*x", "values": {"x": "arange(3)"}, "grad": "ones_like(out)"}
    assert answers(request)[0]["grad"] == {"x": [0, 2, 4]}
    assert answers({**request, "grad": "x"})[0]["grad"] == {"x": [0, 2, 8]}
    assert answers({**request, "grad": "[1, 1"})[0]["error"]["code"] == "value"
    assert answers({**request, "values": {"x": "@-"}})[0]["error"]["code"] == "file"


def test_null_gradients_and_what_is_not_finite():
    (answer,) = answers({"expr": "x.detach() * log(y)", "values": {"x": 1.0, "y": 0.0}})
    assert answer["output"] == "-inf"
    assert answer["grad"] == {"x": None, "y": "inf"}


def test_odd_requests():
    for request in (
        {"expr": "x", "values": [1]},
        {"expr": "x", "shapes": {"x": "2x3"}},
        {"expr": "x", "shapes": {"x": "2x3,y=4x3"}},
        {"expr": "x", "shapes": {"x": "q=3"}},
        {"expr": "x", "shapes": {"x": [-1]}},
        {"expr": "x", "shapes": {"x": [True]}},
        {"expr": "x", "shapes": {"x": [1.5]}},
        {"expr": "x", "shapes": [2]},
        {"expr": "x", "wrt": [3]},
        {"expr": "x", "wrt": []},
        {"expr": "x", "wrt": {"x": 1}},
        {"expr": "x", "want": 3},
        {"expr": "x", "want": [3]},
        {"expr": "x", "assume": {"x": "symmetric"}},
        {"expr": "x", "values": {"x": {"a": 1}}},
        {"expr": "x", "values": {"x": [[1], [2, 3]]}},
        {"expr": "x", "values": {"x": [None]}},
        {"expr": "x", "values": {"x": ["a"]}},
        {"expr": "x", "values": {"x": None}},
        {"expr": "x", "values": {"x": 10**400}},
        {"expr": "x", "values": {"x": 1}, "grad": {"a": 1}},
        {"expr": "x", "values": {"x": 1}, "grad": [[[]]]},
        {"expr": "x", "values": {"x": 1}, "grad": True},
        {"expr": "x" * 5_000_000},
        "[" * 100_000,
    ):
        (answer,) = answers(request)
        assert set(answer) <= {"id", "ok", "error", "output", "grad"}


def test_a_file_of_requests(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(
        '{"id": 1, "expr": "x*x", "values": {"x": 3}}\n\n  \n{"id": 2, "expr": "x+"}\n'
    )
    result = gradcli("batch", str(source), "-o", str(target))
    assert (result.status, result.out) == (1, "")
    assert [json.loads(line)["id"] for line in target.read_text().splitlines()] == [1, 2]


# ---- Python --------------------------------------------------------------------------------------


def test_explain():
    e = package.explain("a * a", values={"a": [[1, 2, 3], [4, 5, 6]]}, grad="a")
    assert isinstance(e, package.Explanation)
    assert isinstance(e.grad["a"]["value"], np.ndarray)
    assert e.grad["a"]["value"].tolist() == [[2, 8, 18], [32, 50, 72]]
    assert e.jacobian["a"]["structure"] == "diagonal"
    assert e.jacobian["a"]["matrix"].shape == (6, 6)
    keys = ("schema", "expression", "inputs", "output", "seed", "graph", "steps", "checks", "notes")
    assert all(getattr(e, key) is not None for key in keys)
    with pytest.raises(AttributeError):
        _ = e.nonsense
    assert "a * a" in repr(e)


def test_explanations_as_text():
    args = {"values": {"a": [[1, 2, 3], [4, 5, 6]]}, "grad": "a"}
    e = package.explain("a*a", **args)
    on_the_line = ("a*a", "-v", A, "-g", "a")
    *shown, more = gradcli(*on_the_line).out.strip().splitlines()
    assert str(e).strip().splitlines() == shown
    assert more.startswith("  More: --full")
    in_full = gradcli(*on_the_line, "--full").out
    assert e.to(full=True).strip() == in_full.strip()
    markdown, _, command = gradcli(*on_the_line, "-f", "markdown").out.strip().rpartition("\n\n")
    assert e.to("markdown").strip() == markdown
    assert "gradcli 'a*a' -v" in command
    made, typed = json.loads(e.to("json")), explained(*on_the_line)
    del made["document"], typed["document"]  # which has the command
    assert made == typed
    assert "\x1b[" in e.to("terminal")
    assert e.to("plain", show=["answer"]).count("\n") <= 1
    assert max(map(len, e.to("plain", width=60, show=["jacobian"]).splitlines())) <= 60


def test_grad():
    assert package.grad("x * x", values={"x": 3}) == 6
    both = package.grad("x @ y", values={"x": np.ones(2), "y": np.arange(2)})
    assert {name: g.tolist() for name, g in both.items()} == {"x": [0, 1], "y": [1, 1]}
    assert package.grad("x.detach() * y", values={"x": 1.0, "y": 2.0})["x"] is None
    chosen = package.grad("x * y", values={"x": 2, "y": 3}, wrt="y")
    assert chosen == 2
    assert package.grad("x * y", values={"x": 2, "y": 3}, wrt=["y"]) == 2


def test_jacobian():
    jacobian = package.jacobian("x ** 2", values={"x": [1.0, 2.0]})
    assert jacobian.tolist() == [[2, 0], [0, 4]]
    symbols = package.jacobian("x @ a", shapes={"x": (1, 2), "a": (2, 1)}, wrt="x")
    assert symbols.shape == (1, 1, 1, 2)
    assert symbols[0, 0, 0].tolist() == ["a[0,0]", "a[1,0]"]


def test_formula():
    assert package.formula("x @ a", shapes={"x": (2, 3), "a": (3, 4)}, wrt="x") == "g @ a.T"
    assert package.formula("x * a") == {"x": "g * a", "a": "g * x"}


def test_check():
    checks = package.check("exp(x).sum()", values={"x": [1.0, 2.0]})
    assert [c["ok"] for c in checks] == [True, True]


FOR_SHELLS = ("mcp", "serve", "render")  # an explanation is rendered by its method `to`


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in FOR_SHELLS])
def test_a_python_function_for_every_command(command):
    assert callable(getattr(package, command.replace("-", "_")))


def test_python_graph_ops_examples():
    nodes = package.graph("x * x", values={"x": 3.0})
    assert [(n["op"], n["inputs"], n["shape"], n["value"]) for n in nodes] == [
        ("input", [], [], 3.0),
        ("mul", [0, 0], [], 9.0),
    ]
    (tanh,) = [op for op in package.ops("tanh") if op["name"] == "tanh"]
    assert (tanh["family"], tanh["signature"]) == ("trigonometry", "tanh(x)")
    square = package.examples()["square"]
    values = dict(v.split("=", 1) for v in square["values"])
    found = package.grad(square["expr"], values=values, grad=square["grad"])
    assert found.tolist() == [[2, 8, 18], [32, 50, 72]]


def test_failures_are_errors_with_all_that_is_known():
    with pytest.raises(package.GradcliError) as caught:
        package.explain("h = sofmax(x)", shapes={"x": (2,)})
    error = caught.value
    assert error.code == "unknown-function"
    assert error.message == str(error) == "there is no function sofmax"
    assert "softmax" in error.hint
    assert (error.span.start, error.span.end) == (4, 10)
    assert error.span.text[error.span.start : error.span.end] == "sofmax"
    for call in (package.grad, package.jacobian, package.formula, package.check):
        with pytest.raises(package.GradcliError):
            call("x +")
    with pytest.raises(package.GradcliError, match="only for scalar outputs"):
        package.grad("x * x", values={"x": [1.0, 2.0]})


def test_errors_come_at_once():
    with pytest.raises(package.GradcliError):
        package.explain("x.detach()", values={"x": [1.0]})


@pytest.mark.parametrize(
    ("text", "x", "place"),
    [
        ("x.prod()", [0.0, 1.0, 2.0], "x.grad[0]"),  # 0 / 0, and the product of the others is 2
        ("(x ** 2).prod()", [0.0, 2.0], "x.grad[0]"),
        ("x.prod(0).sum()", [[0.0, 1.0], [0.0, 2.0]], "x.grad[0,0] and x.grad[1,0]"),
        ("x.cumprod(0).sum()", [0.0, 1.0, 2.0], "x.grad[0]"),
        ("sinc(x)", 0.0, "x.grad"),
    ],
)
def test_a_formula_without_a_number_where_there_is_one(text, x, place):
    e = explained(text, "-v", f"x={x}")
    (note,) = (n for n in e["notes"] if n["code"] == "formula-not-finite")
    said = f"the formula of x.grad divides by 0 or overflows for {place}. "
    assert note["message"].startswith(said)


def test_a_formula_without_a_number_anywhere_is_told_of_once():
    e = explained("torch.linalg.norm(x - x.detach())", "-v", "x=[1.,0.]")
    (note,) = (n for n in e["notes"] if n["code"] == "formula-not-finite")
    assert "whatever the values are" in note["message"]


def test_a_formula_with_a_number_for_every_element():
    e = explained("x.cumprod(0)", "-v", "x=[1., 2.]", "-g", "[1., 1.]")
    assert e["notes"] == []
    assert e["jacobian"]["x"]["undefined"] == 0


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("x.cumprod(0)", ["-s", "x=3"]),  # no values
        ("1 / x", ["-v", f"x={[2.0] * 65}"]),  # 4,225 entries
        ("logcumsumexp(x, 0)", ["-v", "x=[[1., 2.], [3., 4.]]"]),  # no formula
    ],
)
def test_a_formula_that_nobody_looked_through(text, given):
    assert explained(text, *given)["jacobian"]["x"]["undefined"] is None


def test_entries_for_which_the_formula_of_a_matrix_has_no_number():
    """prod / (x[i] * x[j]) has none in the row and the column of an x that is 0."""
    found = gradcli("hessian", "x.prod()", "-v", "x=[0., 1., 2.]", "-f", "json")
    hessian = json.loads(found.out)["hessian"]
    assert hessian["x"]["undefined"] == 5


def test_a_line_of_a_batch_may_say_shapes_and_names_as_a_shell_does():
    request = {"expr": "a * b", "shapes": {"a": "2x3"}, "wrt": "a", "want": ["formula"]}
    (answer,) = package.batch([request])
    assert answer["formula"] == {"a": "g * b"}


def test_an_id_is_answered_as_json():
    (answer,) = package.batch(['{"id": NaN, "expr": "x", "values": {"x": 1}}'])
    assert (answer["id"], answer["ok"]) == ("nan", True)


def test_what_is_missing_is_not_said_to_be_there_twice():
    (answer,) = package.batch([{"expr": "x.new_zeros()", "shapes": {"x": [3]}}])
    assert answer["error"]["message"] == "new_zeros() needs size"


def test_operators_as_json_are_all_there_are():
    listed = gradcli("ops", "-f", "json").json["lists"]
    assert listed == gradcli("ops", "--full", "-f", "json").json["lists"]
    names = {member["name"].split("(")[0] for family in listed for member in family["members"]}
    assert {"softmax", "matmul", "cross_entropy"} <= names
