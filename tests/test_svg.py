"""Pictures of what a terminal shows."""

import re
from collections import defaultdict
from xml.etree import ElementTree

import pytest
from console import gradcli

SVG = "{http://www.w3.org/2000/svg}"
QUESTIONS = [
    ("x@a", "--grad", "[[1,2,3,4],[5,6,7,8]]"),
    ("out = a*a", "-v", "a=[[1,2,3],[4,5,6]]", "-g", "a", "--full"),
    ("softmax(x @ W, dim=1)", "-s", "x=2x3,W=3x4", "--full"),
    ("hessian", "(x**2).sum()", "-s", "x=3"),
    ("why", "grad can be implicitly created only for scalar outputs"),
]
each_question = pytest.mark.parametrize("args", QUESTIONS, ids=" ".join)


def lines(picture: str) -> list[str]:
    """The lines of text of a picture, those without any left out."""
    rows: dict[float, list[tuple[float, str]]] = defaultdict(list)
    for text in ElementTree.fromstring(picture).iter(f"{SVG}text"):
        rows[float(text.get("y", ""))].append((float(text.get("x", "")), text.text or ""))
    joined = ("".join(piece for _, piece in sorted(rows[y])) for y in sorted(rows))
    texts = (text.replace("\N{NO-BREAK SPACE}", " ").strip() for text in joined)
    return [" ".join(text.split()) for text in texts if text]


@each_question
def test_a_picture_shows_what_the_terminal_shows(args):
    shown = gradcli(*args, "-f", "plain").out.splitlines()
    wanted = [" ".join(line.split()) for line in shown if line.strip()]
    more = next((k for k, line in enumerate(wanted) if line.startswith("More:")), len(wanted))
    command, *found = lines(gradcli(*args, "-f", "svg").out)
    assert command.startswith("$ gradcli ")
    assert "".join(found).replace(" ", "").endswith("".join(wanted[:more]).replace(" ", ""))


@each_question
def test_a_picture_asks_nothing_of_any_other_place(args):
    picture = gradcli(*args, "-f", "svg").out
    assert set(re.findall(r"https?://[^\"\s)]+", picture)) == {"http://www.w3.org/2000/svg"}
    assert all(link.startswith("#") for link in re.findall(r"url\(([^)]*)\)", picture))
    assert "@font-face" not in picture


def test_a_tag_stays_text():
    picture = gradcli("read", "-", "-f", "svg", stdin="import torch  # <script>x</script>\n").out
    assert any("<script>x</script>" in line for line in lines(picture))
    assert "<script" not in picture


def test_formulas_alone():
    found = lines(gradcli("formula", "x @ W", "-s", "x=2x3,W=3x4", "-f", "svg").out)
    assert found[0].startswith("$ gradcli formula")
    assert {"x.grad = g @ W.T", "W.grad = x.T @ g"} <= {*found}


def test_a_graph_is_drawn_from_the_inputs_down():
    picture = ElementTree.fromstring(gradcli("graph", "relu(x @ W + b).sum()", "-f", "svg").out)
    nodes = [g for g in picture.iter(f"{SVG}g") if "node" in g.get("class", "").split()]
    texts = [next(g.iter(f"{SVG}text")).text or "" for g in nodes]
    heights = [float(next(g.iter(f"{SVG}text")).get("y", "")) for g in nodes]
    assert [text.split()[0] for text in texts] == ["x", "W", "x", "b", "·", "relu(·)", "out"]
    edges = {
        (int(e.get("data-from", "")), int(e.get("data-to", ""))) for e in picture.iter(f"{SVG}path")
    }
    assert edges == {(0, 2), (1, 2), (2, 4), (3, 4), (4, 5), (5, 6)}
    assert all(heights[i] < heights[n] for i, n in edges)


def test_numbers_flow_at_the_edges_of_a_graph():
    """The product rule at a = 2, b = 3: b's gradient is sin(2), a's are 2·2 and 3·cos(2)."""
    picture = gradcli("graph", "a*a+b*sin(a)", "-v", "a=2", "-v", "b=3", "-f", "svg").out
    values, gradients = (
        re.findall(rf'class="flow {kind}"[^>]*>([^<]*)<', picture) for kind in ("value", "gradient")
    )
    assert sorted(values) == ["0.909", "2", "2", "2.73", "3", "4"]
    assert sorted(gradients) == ["∂ -1.25", "∂ 0.909", "∂ 1", "∂ 1", "∂ 3", "∂ 4"]


def test_a_seed_flows_back_through_a_graph():
    asked = ("graph", "a*b", "-v", "a=[1,2]", "-v", "b=[3,4]", "-f", "svg")
    assert "flow gradient" not in gradcli(*asked).out
    assert "∂ [30, 400]" in gradcli(*asked, "-g", "[10,100]").out


def test_symbols_have_no_numbers_at_edges():
    assert 'class="flow' not in gradcli("graph", "a*b", "-f", "svg").out


def test_a_large_matrix_is_drawn_in_points():
    """The lower triangle of 1000×1000: the cells of the diagonal light, those below it dark."""
    picture = gradcli("jacobian", "x.cumsum(0)", "-v", "x=ones(1000)", "-f", "svg").out
    (drawn,) = [
        g for g in ElementTree.fromstring(picture).iter(f"{SVG}g") if g.get("class") == "spy"
    ]
    light, dark = (path.get("d", "") for path in drawn.iter(f"{SVG}path"))
    assert light == "".join(f"M{k} {k}h1v1h-1z" for k in range(100))
    assert dark == "".join(f"M0 {k}h{k}v1h-{k}z" for k in range(1, 100))
    assert "\ue000" not in picture
    assert not {"█", "▒"} & {*picture}


def test_a_picture_of_few_cells_is_as_large_as_its_text():
    picture = gradcli("jacobian", "x[:20].flip(0)", "-v", "x=ones(30)", "-f", "svg").out
    (drawn,) = [
        g for g in ElementTree.fromstring(picture).iter(f"{SVG}g") if g.get("class") == "spy"
    ]
    (frame,) = drawn.iter(f"{SVG}rect")
    assert (frame.get("width"), frame.get("height")) == ("30", "20")


def test_numbers_at_edges_stand_on_paper_of_their_own():
    """A rectangle behind the numbers of each edge, none of which reaches another."""
    asked = ("graph", "x@W+b", "-v", "x=[[1,2],[3,4]]", "-v", "W=[[1,2],[3,4]]", "-v", "b=[5,6]")
    picture = ElementTree.fromstring(gradcli(*asked, "-g", "[[1,2],[3,4]]", "-f", "svg").out)
    papers = [r for r in picture.iter(f"{SVG}rect") if r.get("class") == "behind"]
    boxes = [[float(r.get(k, "")) for k in ("x", "y", "width", "height")] for r in papers]
    assert len(boxes) == 4
    for k, (x, y, wide, high) in enumerate(boxes):
        for left, top, width, height in boxes[:k]:
            apart = x >= left + width or left >= x + wide or y >= top + height or top >= y + high
            assert apart
