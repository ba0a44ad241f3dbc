"""The playground: its one call, its worker, and who may use its server."""

import json
import re
import threading
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from console import gradcli

from gradcli.playground.answering import answer, command
from gradcli.playground.server import HOST, LONGEST, Playground
from gradcli.playground.worker import TooLong, Worker
from gradcli.worked_examples import EXAMPLES

SQUARE = {"expr": "a * a", "values": "a=[1, 2]", "grad": "a"}


def asked(**fields: str) -> dict:
    """What the one call gives back."""
    return json.loads(answer(json.dumps(fields)))


def test_the_answer_is_the_page_of_the_command():
    found = asked(**SQUARE)
    assert found["command"] == "gradcli 'a * a' -v 'a=[1, 2]' -g a"
    assert found["page"] == gradcli("a * a", "-v", "a=[1, 2]", "-g", "a", "-f", "html").out


def test_errors_point_at_their_place():
    error = asked(expr="x @@ a")["error"]
    assert error.startswith("error[syntax]")
    assert "\n  x @@ a\n     ^" in error


@pytest.mark.parametrize("fields", [{"values": "a=@/etc/hostname"}, {"grad": "@seed.npy"}])
def test_nothing_is_read_from_files(fields):
    found = asked(**(SQUARE | fields))
    assert found["ok"] is False
    assert found["error"].startswith("error[file]: files are not opened here")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"expr": "x @ a"}, "choose with &quot;Shapes&quot;: x=4x5)"),
        ({"expr": "a * a"}, "Give one with &quot;Seed&quot;;"),
        (SQUARE | {"values": "a=@a.npy"}, "give the numbers themselves"),
        (SQUARE | {"values": "a=ones(10**4, 10**4)"}, "ask for less, or run gradcli in a terminal"),
        (SQUARE | {"order": "x"}, '"Order" must be an integer'),
    ],
)
def test_it_speaks_of_its_fields_and_not_of_options(fields, said):
    found = asked(**fields)
    text = found.get("page") or found["error"]
    assert said in text
    assert not re.search(r"--(grad|limit|allow-files|order)|with -s", text.partition("<footer")[0])


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"expr": 1}', "null"])
def test_what_is_no_question_is_an_error(text):
    assert json.loads(answer(text))["error"].startswith("error[request]")


def test_several_values_stand_on_a_line_each():
    given = dict.fromkeys(("shapes", "grad", "wrt"), "") | {"expr": "a*b", "values": "a=1.\nb=2."}
    assert command(given) == "gradcli 'a*b' -v a=1. -v b=2."


# ---- the worker ----------------------------------------------------------------------------------


def test_a_question_that_takes_too_long_ends_the_process_and_no_other():
    worker = Worker(0)
    with pytest.raises(TooLong):
        worker.answer(json.dumps(SQUARE))
    worker.seconds = 60
    assert json.loads(worker.answer(json.dumps(SQUARE)))["ok"]
    worker.stop()


# ---- the server ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def playground():
    with Playground(seconds=60) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def reply(server: Playground, method: str, path: str, body: str = "", **headers: str):
    """Status and text; the path is below the token, unless it begins with /."""
    port = server.server_address[1]
    connection = HTTPConnection(HOST, port, timeout=60)
    whole = path if path.startswith("/") else f"/{server.token}/{path}"
    connection.request(method, whole, body or None, {"Host": f"localhost:{port}"} | headers)
    found = connection.getresponse()
    return found.status, found.read().decode(), found


def test_the_page_is_served_below_a_secret(playground):
    status, text, found = reply(playground, "GET", "")
    assert status == 200
    assert "<textarea" in text
    assert found.headers["Referrer-Policy"] == "no-referrer"
    for asset in ("page.js", "page.css"):
        assert reply(playground, "GET", asset)[0] == 200
    assert reply(playground, "GET", "server.py")[0] == 404
    assert reply(playground, "GET", "../server.py")[0] == 404


def test_nobody_else_may_ask(playground):
    assert reply(playground, "GET", "/")[0] == 403
    assert reply(playground, "GET", f"/{'a' * len(playground.token)}/")[0] == 403
    assert reply(playground, "GET", "", Host="example.org")[0] == 403
    question = json.dumps(SQUARE)
    assert reply(playground, "POST", "answer", question, Origin="http://example.org")[0] == 403
    assert reply(playground, "POST", "answer", question, Origin="null")[0] == 403


def test_it_listens_to_this_machine_alone(playground):
    assert urlsplit(playground.address).hostname == HOST == "127.0.0.1"
    assert playground.server_address[0] == "127.0.0.1"


def test_questions_are_answered(playground):
    port = playground.server_address[1]
    here = f"http://localhost:{port}"
    status, text, _ = reply(playground, "POST", "answer", json.dumps(SQUARE), Origin=here)
    assert status == 200
    assert json.loads(text)["page"] == asked(**SQUARE)["page"]
    assert reply(playground, "POST", "answer", "x" * (LONGEST + 1))[0] == 413
    wrong = {"Content-Length": "\xb2"}  # a superscript 2, which is a digit and no number
    assert reply(playground, "POST", "answer", json.dumps(SQUARE), **wrong)[0] == 413


def test_what_takes_too_long_is_an_error(playground):
    playground.worker.seconds = 0
    _, text, _ = reply(playground, "POST", "answer", json.dumps(SQUARE))
    playground.worker.seconds = 60
    assert json.loads(text)["error"].startswith("error[limit]")


def test_all_examples_are_offered(playground):
    offered = json.loads(reply(playground, "GET", "examples")[1])
    assert [example["expr"] for example in offered] == [e.expr for e in EXAMPLES.values()]
    assert all(asked(**{k: v for k, v in e.items() if k != "question"})["ok"] for e in offered)


def test_a_port_that_is_taken_is_an_error(playground):
    result = gradcli("serve", "--port", str(playground.server_address[1]))
    assert result.status == 2
    assert "cannot be used" in result.err


@pytest.mark.sweep
def test_another_expression_leaves_the_example(playground, browser):
    """What the example gives besides goes; on a phone the error stands below the expression."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
    page = browser.new_page(viewport={"width": 390, "height": 844})

    def reply(route):
        closed = ")" in json.loads(route.request.post_data)["expr"]
        page = (
            {"ok": True, "page": "", "command": ""}
            if closed
            else {"ok": False, "error": "( is open, " * 20}
        )
        route.fulfill(json=page)

    page.route("**/answer", reply)
    page.goto(playground.address)
    page.wait_for_function("() => document.querySelector('#examples').value")
    assert page.input_value("[name=values]")
    assert page.input_value("#examples") == "0"
    page.fill("[name=expr]", "tanh(u @ w")
    assert [page.input_value(f"[name={name}]") for name in ("values", "grad")] == ["", ""]
    error = page.locator("#error")
    error.wait_for()
    assert error.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert error.bounding_box()["y"] < page.locator("[name=shapes]").bounding_box()["y"]
    assert axe.Axe().run(page).response["violations"] == []
    page.fill("[name=values]", "u=[1.]\nw=[2.]")
    page.fill("[name=expr]", "tanh(u * w)")
    error.wait_for(state="hidden")
    assert page.input_value("[name=values]") == "u=[1.]\nw=[2.]"
    page.close()
