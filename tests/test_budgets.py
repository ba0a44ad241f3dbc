"""Every request has a budget: what would take too long is left out, and a note says so."""

import json
import re
import resource
import subprocess
import sys
from string import ascii_lowercase

import numpy as np
import pytest
from console import gradcli
from support import one_in

from gradcli import explain
from gradcli.autodiff import reverse
from gradcli.autodiff.forward import tangents_along
from gradcli.backends.numeric import Evaluator
from gradcli.budget import Budget, tick
from gradcli.errors import GradcliError
from gradcli.explanation import checks
from gradcli.explanation.analysis import Analysis
from gradcli.explanation.choices import Choices
from gradcli.explanation.data import Data
from gradcli.explanation.derivation.derivation import Derivation
from gradcli.explanation.document import document
from gradcli.explanation.higher import checks as higher
from gradcli.explanation.higher.hessian import Hessian
from gradcli.explanation.higher_data import blocks
from gradcli.explanation.reading import steps
from gradcli.explanation.reading.answer import answer
from gradcli.explanation.short.following import STEPS
from gradcli.language.posing import pose
from gradcli.limits import Limits
from gradcli.notation.formulas.rules.products import product_of
from gradcli.render.environment import Environment
from gradcli.render.formats import render_documents
from gradcli.render.trimmed import trimmed
from gradcli.snippets import pages, source

# with all the seconds there are by default
AT_LENGTH = (
    *("einsum", "letters", "a tower", "order 9", "nested functions"),
    *("a formula of mixed operations", "a claim on masks"),
)
HARD = 60  # seconds after which a request hangs; on an idle machine each of these takes 3
MOST_CPU = 12  # seconds of a processor, which other programs on the machine do not lengthen
ROOM = 4 << 30  # bytes of addresses: libraries reserve far more than they use

SUM = "+".join(f"x{k % 7}" for k in range(2_500))
PAIRS = [ascii_lowercase[k : k + 2] for k in range(25)]
TOWER = "; ".join(["a0 = x*x", *(f"a{k} = a{k - 1}*a{k - 1}" for k in range(1, 60))])
NAMED = "; ".join(["a0 = x", *(f"a{k} = tanh(a{k - 1})*x + a{k - 1}" for k in range(1, 2000))])
MANY = [f"x{k}" for k in range(300)]
NESTED = "; ".join(
    ["a0 = x; a1 = tanh(x)", *(f"a{k} = tanh(a{k - 1})*a{k - 1} + a{k - 2}" for k in range(2, 40))]
)
LONGER = "; ".join(["a0 = x", *(f"a{k} = tanh(a{k - 1})*x + a{k - 1}" for k in range(1, 2600))])
SINES = "; ".join(["a0 = x", *(f"a{k} = sin(a{k - 1})" for k in range(1, 3000))])

ONE = ["-v", "x=1.0"]
SQUARE = ["-v", "x=[0.1,0.2,0.3]", "-v", "W=[[0.3,0.1,0.2],[0.2,0.4,0.1],[0.1,0.1,0.3]]"]
MIXED = (
    *("a = W @ a", "a = cat([a[1:], x[:1]])", "a = where(a > 0, a, x)", "a = sin(a)*x"),
    *("a = a[0]*x", "a = stack([a, x]).mean(0)", "a = layer_norm(a, [3])", "a = relu(a) + x"),
    *("a = a.reshape(3, 1).flatten()", "a = maximum(a, x)"),
)

LARGE = {
    "einsum": [f"einsum('{','.join(PAIRS)}->', {', '.join(MANY[:25])})"],
    "letters": [f"einsum('{ascii_lowercase[:13]},{ascii_lowercase[13:]}->am', x, y)"],
    "a shape that no array has": [f"einsum('{ascii_lowercase}->a', x)"],
    "its Jacobian": ["jacobian", f"einsum('{ascii_lowercase}->a', x)"],
    "a long vector": ["x*x", "-s", "x=1000000", "--full"],
    "a large hessian": ["hessian", "logsumexp(x,0)", "-v", "x=randn(1000)", "--full"],
    "a tower": [TOWER],
    "a sum": [SUM],
    "a sum, forward": ["jvp", SUM],
    "cat": [f"cat([{', '.join(MANY)}])", "-s", ",".join(f"{x}=2" for x in MANY)],
    "many inputs, forward": [
        *("jvp", " + ".join(f"sin({x})*x0" for x in MANY)),
        *("-s", ",".join(f"{x}=3" for x in MANY)),
    ],
    "a Jacobian in symbols": ["(x[arange(199)] * x[1:]).cumsum(0)", "-s", "x=200", "-f", "json"],
    "a product in symbols": [
        *("hessian", "(linalg.cholesky(x @ x.T).sum())**2", "-s", "x=100x100", "--full"),
    ],
    "order 6": ["det(x)", "-s", "x=3x3", "--order", "6"],
    "order 9": ["x/(1+exp(x)*x)", "--order", "9"],
    "many places": ["grad", "interpolate(x, size=10**6).sum()", "-v", "x=[[[1,2,3]]]"],
    "many windows": ["adaptive_avg_pool1d(x, 10**6).sum()", "-v", "x=[[[1,2,3]]]"],
    "many dimensions": ["x.sum()", "-s", "x=" + "x".join("2" * 24), "--full"],
    "many elements": ["why", "log(x)", "-v", "x=zeros(100000)"],
    "einsum of three": [
        "grad",
        "einsum('abc,cde,efa->bdf', x, x, x).sum()",
        "-v",
        "x=randn(60,60,60)",
    ],
    "a claim": ["check", "det(A @ X @ B)", "--claim", "X = 2*out*A.T @ inv(A @ X @ B).T @ B.T"],
    "products": ["x@W", "-v", "x=randn(1000,1000)", "-v", "W=randn(1000,1000)", "--full"],
    "large products": ["x@W", "-v", "x=randn(2000,2000)", "-v", "W=randn(2000,2000)"],
    "rows": ["hessian", "softmax(x,1).sum()", "-v", "x=randn(2000,2000)"],
    "statements": ["; ".join(["a = x", *["a = sin(a)*x"] * 4_000]), "-v", "x=[1,2,3]"],
    "names": ["formula", NAMED, "-v", "x=[1,2]"],
    "names as code": ["code", "; ".join(NAMED.split("; ")[:500]), "-v", "x=[1,2]"],
    "names as data": [LONGER, "-s", "x=3", "-f", "json"],
    "names differentiated twice": [LONGER, "-v", "x=[1,2,3]", "--order", "2", "-w", "x"],
    "names forward": ["jvp", "; ".join(LONGER.split("; ")[:1_400]), "-v", "x=[1,2,3]", "--full"],
    "masks forward": [
        *("jvp", "; ".join(["a = x", *["a = where(a > 0, a*0.9, -a)"] * 1_500])),
        *("-v", "x=[1,-2,3]"),
    ],
    "a claim without shapes": [
        *("check", "; ".join(["a = x", *["a = tanh(a@W)"] * 2_500]), "--claim", "x = x*2"),
    ],
    "a claim on what overflows": [
        *("check", "; ".join(["a = x", *["a = cat([a[1:], a[:1]]) * 3"] * 2_000])),
        *("-s", "x=3", "--claim", "x = x*2"),
    ],
    "vanishing gradients": [
        *("; ".join(["a = x", *["a = softmax(a, 0)*x"] * 3_900]), "-f", "json"),
        *("-v", "x=[0.1,0.2,0.3]", "-g", "[1,2,3]"),
    ],
    "a formula of mixed operations": ["formula", "; ".join(["a = x", *MIXED * 440]), *SQUARE],
    "a claim on masks": [
        *("check", "; ".join(["a = x", *["a = where(a > 0, a*x, x)"] * 2_660])),
        *(*SQUARE[:2], "--claim", "x = g*2"),
    ],
    "a claim on names": ["check", NAMED, "-v", "x=[1,2]", "--claim", "x = x*2"],
    "nested functions": ["hessian", NESTED],
    "products without shapes": ["formula", " @ ".join(f"x{k}" for k in range(800))],
    "products as code": ["code", " @ ".join(MANY[:70])],
    "sines as code": ["code", SINES, "--target", "custom-vjp"],
    "statements as code": ["code", "; ".join(["a = x", *["a = sin(a)*x + a"] * 1_400])],
    "a hessian of statements": ["hessian", "; ".join(["a = x", *["a = sin(a)*a"] * 4_000]), *ONE],
    "a hessian of many": ["hessian", "*".join(MANY), *(f"-vx{k}=1.5" for k in range(300))],
    "a product": ["*".join(MANY[:40] * 10), "-s", ",".join(f"{x}=2" for x in MANY[:40])],
    "a hessian": ["hessian", "norm(X - U @ V.T) ** 2", "-s", "X=3x3,U=3x1,V=3x1", "-f", "json"],
}


def bounded():
    """Of the process that is begun: how much it may reserve, and how long it may compute."""
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU, MOST_CPU))


@pytest.mark.parametrize("name", one_in(len(LARGE), LARGE, sweep=2))
def test_nothing_hangs(name):
    short = [] if name in AT_LENGTH else ["--limit", "seconds=0"]
    command = [sys.executable, "-m", "gradcli", *LARGE[name], *short]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    done = subprocess.run(command, preexec_fn=bounded, timeout=HARD, **streams)
    assert done.returncode in (0, 1, 2)
    assert b"Traceback" not in done.stderr


# ---- budgets -------------------------------------------------------------------------------------


def test_a_search_ends_where_its_budget_does():
    tried = []

    def compute():
        while True:
            tried.append(tick())

    budget = Budget(0)
    assert budget.search(compute, lambda: "less") == "less"
    assert len(tried) < 100
    assert budget.spent


def test_a_search_within_a_search_is_a_part_of_it():
    outer, inner = Budget(0), Budget(600)

    def compute():
        while True:
            inner.search(tick, lambda: None)

    assert outer.search(compute, lambda: "less") == "less"
    assert (outer.spent, inner.spent) == (True, False)


def test_what_is_no_search_uses_up_the_seconds_too(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("gradcli.budget.thread_time", lambda: now[0])
    monkeypatch.setattr("gradcli.budget.perf_counter", lambda: now[0])
    budget = Budget(2)

    def compute():
        for _ in range(100):
            tick()
        return "all"

    assert budget.search(compute, lambda: "less") == "all"
    now[0] = 3.0
    assert budget.spent is False
    budget.renew()
    assert budget.search(compute, lambda: "less") == "all"
    now[0] = 4.9
    assert budget.search(compute, lambda: "less") == "less"
    assert budget.present(compute, lambda: "less") == "all"
    now[0] = 5.1
    assert budget.present(compute, lambda: "less") == "less"


def test_searches_end_in_time_to_write_a_long_program(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("gradcli.budget.thread_time", lambda: now[0])
    monkeypatch.setattr("gradcli.budget.perf_counter", lambda: now[0])

    def at(seconds, within):
        now[0] = seconds
        return within(lambda: [tick() for _ in range(100)] and "all", lambda: "less")

    budget = Budget(2)
    assert at(0.1, budget.search) == "all"
    budget.reserve(10_000)  # operations, which take a second
    assert at(0.5, budget.search) == "all"
    assert at(0.7, budget.search) == "less"
    assert at(1.8, budget.present) == "all"
    assert at(1.95, budget.present) == "less"


def test_checks_are_made_once(monkeypatch):
    """For the document, and for the other keys of the JSON."""
    made = []
    sample = checks.Sample
    monkeypatch.setattr(checks, "Sample", lambda a: made.append(a) or sample(a))
    explain("sin(x) * x", shapes={"x": (3,)}).to("json")
    assert len(made) == 1


def test_a_derivative_has_a_limit_of_operations_too():
    command = "sin(x) * x", "-s", "x=3", "--order", "2", "--limit"
    assert gradcli(*command, "explained=99").status == 0
    refused = gradcli(*command, "explained=2")
    assert refused.status == 2
    assert "order 2 has too many operations" in refused.err
    assert "--limit explained=N" in refused.err


@pytest.mark.parametrize(("command", "kind"), [("formula", "explained"), ("code", "written")])
def test_what_writes_a_program_has_a_limit_of_operations(command, kind):
    chain = "; ".join(["a0 = x", *(f"a{k} = sin(a{k - 1})" for k in range(1, 1_200))])
    refused = gradcli(command, chain, "-s", "x=3", "--limit", f"{kind}=1100")
    assert refused.status == 2
    assert f"--limit {kind}=N" in refused.err


def test_a_hessian_of_many_inputs_shows_its_first_blocks():
    text = " + ".join(f"x{k}**2" for k in range(25))
    given = [arg for k in range(25) for arg in ("-v", f"x{k}=1")]
    out = gradcli("hessian", text, *given, "--limit", "seconds=0").out
    assert "300 of 325 blocks are shown" in " ".join(out.split())


def test_the_clock_is_read_before_each_operation_that_is_evaluated(monkeypatch):
    """An operation may take a second, so 16 of them are too many."""
    problem = pose("sin(cos(x))", values={"x": np.ones(2)})
    budget = Budget(0)
    computed = []
    monkeypatch.setattr(np, "cos", lambda x: computed.append(x) or x)
    evaluate = Evaluator(problem.values)
    assert budget.search(lambda: evaluate(problem.out), lambda: "less") == "less"
    assert not computed


def test_outside_of_a_search_nothing_ends():
    for _ in range(100):
        tick()


def spent():
    """A budget that was used up by a search."""
    budget = Budget(0)
    budget.search(lambda: [tick() for _ in range(100)], lambda: None)
    assert budget.spent
    return budget


def test_once_a_search_was_cut_short_no_other_is_begun():
    budget = spent()
    assert budget.search(lambda: pytest.fail("begun"), lambda: "less") == "less"


def test_what_was_spent_does_not_cut_a_further_request(monkeypatch):
    """What an answer lacks stays said, as it is cached; a further one has all its seconds."""
    budget = spent()
    monkeypatch.setattr(budget, "_seconds", 600)
    budget.renew()
    assert budget.search(lambda: [tick() for _ in range(100)] and "all", lambda: "less") == "all"
    assert budget.spent


def test_each_part_of_an_explanation_has_a_budget_of_its_own(monkeypatch):
    explained = explain("(softmax(x, 0) * x).sum()", shapes={"x": (4,)})
    monkeypatch.setattr(explained._budget, "_seconds", 0)
    assert "(x * t).sum(" in explained.grad["x"]["formula"]  # not shortened to out
    monkeypatch.setattr(explained._budget, "_seconds", 600)
    assert explained.jacobian["x"]["structure"] == "row"
    assert "not-searched" in [note["code"] for note in explained.notes]


@pytest.mark.parametrize("command", ["explain", "formula", "jacobian", "hessian", "jvp", "check"])
def test_without_seconds_there_is_an_answer_with_less(command):
    result = gradcli(command, "(softmax(x, 0) * x).sum()", "-s", "x=4", "--limit", "seconds=0")
    assert result.status == 0
    assert not result.err.startswith("error")


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("(softmax(x, 0) * x).sum()", "x=4"),
        ("det(A @ X @ B)", "A=3x3,X=3x3,B=3x3"),
        ("norm(A @ x - b) ** 2", "A=2x2,x=2,b=2"),
        ("logsumexp(x, 0) * x.mean()", "x=3"),
    ],
)
def test_without_seconds_no_formula_multiplies_by_the_seed_of_1(text, shapes):
    out = gradcli("formula", text, "-s", shapes, "--limit", "seconds=0").out
    assert not re.search(r"[=(+] 1 \*| \* 1\b|ones|full", out)


def test_an_answer_with_less_says_so():
    said = "-s x=4 --limit seconds=0 -f json"
    found = json.loads(gradcli("explain", "(softmax(x, 0) * x).sum()", *said.split()).out)
    assert "not-searched" in [note["code"] for note in found["notes"]]
    assert found["jacobian"]["x"]["structure"] == "unknown"
    whole = json.loads(
        gradcli("explain", "(softmax(x, 0) * x).sum()", "-s", "x=4", "-f", "json").out
    )
    assert "not-searched" not in [note["code"] for note in whole["notes"]]


def test_numbers_are_no_search():
    text = "(softmax(x, 0) * x).sum()"
    given = ["grad", text, "-v", "x=[1,2,3]"]
    assert gradcli(*given, "--limit", "seconds=0").out == gradcli(*given).out


def test_shapes_that_take_too_long_are_an_error():
    with pytest.raises(GradcliError) as raised:
        pose("relu(x @ W + b) @ V", limits=Limits({"seconds": 0}))
    assert raised.value.code == "limit"
    assert "--limit seconds=N" in raised.value.hint


def test_each_line_of_a_batch_has_a_budget_of_its_own():
    limits = Limits({"seconds": 3}, budget=spent())
    assert not limits.renewed().budget.spent
    assert limits.without("elements").budget is limits.budget


def test_in_large_programs_nothing_is_searched_for():
    long = "; ".join(["a0 = x", *(f"a{k} = sin(a{k - 1})" for k in range(1, 1_100))])
    found = json.loads(gradcli("explain", long, "-s", "x=2", "-f", "json", "--show", "notes").out)
    (note,) = [n for n in found["notes"] if n["code"] == "not-searched"]
    assert "1,100 operations" in note["message"]


# ---- tables, sections, memory --------------------------------------------------------------------


def test_full_shows_as_many_entries_as_the_limit():
    given = ["jacobian", "x*x", "-v", "x=arange(200.)", "--full"]
    few, more = gradcli(*given), gradcli(*given, "--limit", "entries=40000")
    assert "100 rows and 100 columns left out (--limit entries=N shows more)" in few.out
    assert "left out" not in more.out
    assert len(more.out.splitlines()) > 200 > len(few.out.splitlines())


def test_of_many_inputs_the_first_have_sections():
    program, shapes = " + ".join(MANY[:30]), ",".join(f"{x}=2" for x in MANY[:30])
    out = gradcli("explain", program, "-s", shapes, "--show", "gradient,notes").out
    assert out.count("Gradient of ") == 24
    assert "24 of 30 inputs have sections of their own" in " ".join(out.split())


def test_of_many_inputs_that_move_the_first_have_jacobians(monkeypatch):
    monkeypatch.setattr("gradcli.explanation.document.MOST_INPUTS", 2)
    out = gradcli("jvp", "x + y + z", "-s", "x=2,y=2,z=2", "--limit", "seconds=0").out
    assert out.count("Jacobian of out with respect to ") == 2
    assert "2 of 3 inputs have sections of their own" in " ".join(out.split())


def test_a_wide_matrix_is_not_measured_character_by_character(monkeypatch):
    from gradcli.render import ruled

    measured = []
    cell_len = ruled.cell_len
    monkeypatch.setattr(ruled, "cell_len", lambda t: measured.append(len(t)) or cell_len(t))
    out = gradcli("jacobian", "x * x", "-v", "x=arange(100.)", "--full").out
    assert sum(measured) < len(out) / 10


def test_independent_equations_are_solved_one_by_one(monkeypatch):
    solved = []
    solve = np.linalg.lstsq
    monkeypatch.setattr(
        np.linalg, "lstsq", lambda a, *b, **c: solved.append(a) or solve(a, *b, **c)
    )
    given = ["-v", "x=randn(9,3)", "--target", "x=zeros(9,3)"]
    assert gradcli("seed-for", "softmax(x, 1)", *given).status == 0
    assert {a.shape for a in solved} == {(3, 3)}


def test_an_element_is_followed_by_the_names_of_its_way_alone(monkeypatch):
    asked, names = [], Derivation.in_names_of
    monkeypatch.setattr(
        Derivation, "in_names_of", lambda self, line: asked.append(line) or names(self, line)
    )
    program = "; ".join(["a = x", *["a = sin(a)"] * 40])
    assert gradcli(program, "-v", "x=[0.1,0.2]", "--full", "--element", "x[0]").status == 0
    assert 0 < len(asked) <= STEPS


def test_a_jacobian_that_takes_long_has_no_seed():
    program = f"cat([{', '.join(f'sin(x)*{k}' for k in range(600))}])"
    given = ["-v", "x=[1,2,3]", "--target", "x=ones(3)", "--limit", "seconds=1"]
    refused = gradcli("seed-for", program, *given)
    assert refused.status == 2
    assert "1,800 rows of a Jacobian take more than 1 second" in refused.err


def test_equations_that_would_take_long_are_refused():
    given = ["-v", "x=randn(1450)", "--target", "x=ones(1450)", "--limit", "seconds=2"]
    refused = gradcli("seed-for", "softmax(x, 0)", *given)
    assert refused.status == 2
    assert "solving 1,450 equations: 8 seconds, and the limit is 2" in refused.err


def test_decompositions_that_would_take_long_are_refused(monkeypatch):
    monkeypatch.setattr("gradcli.backends.numeric.LARGE", 1)
    monkeypatch.setattr("gradcli.backends.numeric.FLOPS_PER_SECOND", 1)
    problem = pose("linalg.svdvals(x).sum()", values={"x": np.eye(4)})
    with pytest.raises(GradcliError, match="seconds, and the limit is 2") as raised:
        Evaluator(problem.values, limits=Limits({"seconds": 2}))(problem.out)
    assert raised.value.hint == "--limit seconds=N raises it"


def test_memory_is_estimated_before_it_is_taken():
    limits = ["--limit", "memory=10000000"]
    text = "y = x * 2; z = y * x; (z * y).sum()"
    result = gradcli("explain", text, "-v", "x=ones(1000000)", *limits)
    assert result.status == 2
    assert "bytes of memory, and the limit is 10,000,000" in result.err


def test_memory_of_an_explanation_is_estimated_before_it_is_taken(monkeypatch):
    """Checks hold arrays beside those of the answer."""
    computed = []
    monkeypatch.setattr(Evaluator, "__call__", lambda *nodes: computed.append(nodes))
    p = pose("x * x", values={"x": np.ones(1_000_000)}, limits=Limits({"memory": 70_000_000}))
    with pytest.raises(GradcliError, match="what an explanation computes: 80,000,000 bytes"):
        document(Analysis(p), Choices())
    assert not computed


@pytest.mark.sweep
def test_memory_counts_what_operators_make_on_the_way():
    for text in (
        "interpolate(x, size=10**7, mode='linear')",
        "adaptive_avg_pool1d(x, 10**7)",
        "max_pool1d(x.sum() * ones(1, 1, 10**6), 100, 1)",
        "x.sum() * searchsorted(ones(10**7), ones(10**7))",
        "logcumsumexp(x.sum() * ones(10**7), 0)",
        "cumprod(x.sum() * ones(10**7), 0)",
    ):
        result = gradcli("grad", f"{text}.sum()", "-v", "x=[[[1,2,3]]]")
        assert result.status == 2
        assert "bytes of memory, and the limit is 450,000,000" in result.err


def test_memory_is_counted_where_gradients_alone_are_computed():
    text = "cosine_similarity(x[None], x[:, None], dim=2).sum()"
    result = gradcli("grad", text, "-v", "x=randn(1000,20)")
    assert result.status == 2
    assert "bytes of memory" in result.err


@pytest.mark.parametrize("command", ["grad", "read", "why"])
def test_no_more_is_read_than_the_limit(command, tmp_path):
    result = gradcli(command, "-", "--limit", "length=100", stdin="x" * 1000)
    assert result.status == 2
    assert "and the limit is 100" in result.err
    (tmp_path / "long.py").write_text("x" * 1000)
    result = gradcli("read", str(tmp_path / "long.py"), "--limit", "length=100")
    assert result.status == 2
    assert "and the limit is 100" in result.err


PAGE = "text\n\n```python\nx = torch.ones(2)\nprint(x)\n```\n" * 20


def test_programs_of_a_page_are_found_in_their_own_lines(monkeypatch):
    """The whole page for each of its programs would be the square of its length."""
    lines = []
    found = source._blocks
    monkeypatch.setattr(source, "_blocks", lambda some: lines.extend(some) or found(some))
    assert [p.first_line for p in source.programs(PAGE)] == list(range(4, 124, 6))
    assert len(lines) == 40


def test_a_page_has_a_limit_of_programs(monkeypatch):
    monkeypatch.setattr(pages, "MOST_PROGRAMS", 19)
    with pytest.raises(
        GradcliError, match="a text of 20 programs is too long: at most 19 are read"
    ):
        pages.read_all(PAGE)


@pytest.mark.parametrize("joined", one_in(2, ["sum", "statements"]))
def test_long_programs_are_explained(joined):
    """Nothing recurses over the terms of a sum, or over what an input is used for."""
    chain = "; ".join(["a0 = x", *(f"a{k} = sin(a{k - 1}) * x" for k in range(1, 1_500))])
    result = gradcli("explain", SUM if joined == "sum" else chain, "--limit", "seconds=5")
    assert result.status == 0
    assert "g·J equals backward" in result.out


def test_what_why_has_no_time_for_is_said():
    found = gradcli("why", "log(x)", "-v", "x=zeros(1000)", "--limit", "seconds=0")
    assert "1,000 more" in found.out


# ---- causes --------------------------------------------------------------------------------------


def test_the_tangent_of_a_step_looks_at_that_step_alone(monkeypatch):
    """As many nodes are met in a chain as there are, a few times, and not their square."""
    problem = pose("; ".join(["a0 = x", *(f"a{k} = sin(a{k - 1})" for k in range(1, 400))]))
    met = []
    walk = reverse.walk
    monkeypatch.setattr(reverse, "walk", lambda *a: met.extend(found := walk(*a)) or found)
    (x,) = problem.wrt
    tangents_along(problem.out, {x.node: x.node})
    assert len(met) < 20 * 150


def test_a_wide_sum_has_its_shapes_soon(monkeypatch):
    from gradcli.language.inference import broadcasts

    met = []
    walk = broadcasts.walk
    monkeypatch.setattr(broadcasts, "walk", lambda *a: met.extend(found := walk(*a)) or found)
    problem = pose("+".join(f"x{k % 7}" for k in range(400)))
    assert {i.shape for i in problem.inputs.values()} == {(2,)}
    assert len(met) < 40 * 400


def test_an_operation_is_written_with_the_names_that_it_may_have(monkeypatch):
    """As many names are read in a chain as it has, a few times, and not their square."""
    from gradcli.explanation.formulas import source_text

    read = []
    formula = source_text.formula
    monkeypatch.setattr(
        source_text, "formula", lambda n, names: read.extend(names) or formula(n, names)
    )
    chain = "; ".join(["a0 = x", *(f"a{k} = sin(a{k - 1})" for k in range(1, 75))])
    explain(chain, values={"x": [0.3, 0.7]}).to("json")
    assert 0 < len(read) < 20 * 200


def test_gradients_by_nodes_on_the_way_stop_there():
    problem = pose("h = sin(x); out = h * x", values={"x": np.array([0.5])})
    h, x = problem.named["h"], problem.wrt[0].node
    found = reverse.backward(problem.out, problem.seed.node, [h, x]).of
    assert (found[h], found[x]) == (problem.seed.node * x, problem.seed.node * h)


def test_numbers_as_json_have_a_limit():
    """They are counted before they are computed."""
    given = ["-v", "x=randn(2000, 2000)", "-g", "ones(2000, 2000)"]
    result = gradcli("grad", "x * x", *given)
    assert result.status == 2
    assert "the gradients: 4,000,000 numbers, and the limit is 2,000,000" in result.err
    explained = gradcli("x * x", "-v", "x=randn(1000, 1000)", "-f", "json")
    assert json.loads(explained.out)["error"]["code"] == "limit"
    few = ["-v", "x=randn(20, 20)", "-g", "ones(20, 20)", "--limit", "numbers=399"]
    assert "400 numbers" in gradcli("grad", "x * x", *few).err
    assert gradcli("grad", "x * x", *few[:-1], "numbers=400").status == 0


def test_the_hessian_of_many_inputs_is_computed_in_one_pass_for_each(monkeypatch):
    passed = []
    backward = reverse.from_several
    monkeypatch.setattr(reverse, "from_several", lambda *a: passed.append(a) or backward(*a))
    names = MANY[:8]
    given = [arg for k, x in enumerate(names) for arg in ("-v", f"{x}={k + 1}")]
    gradcli("hessian", "*".join(names), *given, "--limit", "seconds=0")
    assert len(passed) < 4 * len(names)  # and not as many as there are blocks, a few times


def test_large_sums_without_values_are_no_trouble():
    """An evaluation that met an element without a value is used again."""
    shapes = ["-s", "x=300x300,y=300x300,z=300x300"]
    result = gradcli("jacobian", "relu(x @ y) @ z", *shapes)
    assert result.status == 0


def test_a_long_product_is_derived():
    given = ["*".join(MANY[:40] * 10), "-s", ",".join(f"{x}=2" for x in MANY[:40])]
    result = gradcli("explain", *given, "--limit", "seconds=0")
    assert (result.status, result.err) == (0, "")


def test_an_expanded_chain_has_an_explanation_that_grows_with_its_length():
    """A layer uses the layer before it several times: nothing is written once for each use."""

    def lines(layers):
        text = "; ".join(["h = x", *["h = layer_norm(gelu(h @ x), [4])"] * layers, "h.sum()"])
        result = gradcli("explain", text, "-s", "x=4x4", "--expand", "--show", "code")
        assert result.status == 0
        return result.out.splitlines()

    four, eight = lines(4), lines(8)
    assert len(eight) - len(four) < len(four)
    assert sum(map(len, eight)) < 2.5 * sum(map(len, four))


def test_code_of_a_chain_is_written_at_once():
    """Gradients of intermediates are only shortened if the program will use them."""
    from gradcli.explanation.programs import at_sizes, program

    written = []
    shortened = at_sizes._shortened
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(at_sizes, "_shortened", lambda *a: written.append(a) or shortened(*a))
        program(Analysis(pose("; ".join(["a = x", *["a = tanh(a)"] * 50]))), "torch")
    assert len(written) <= 4  # once for each choice of sizes


def test_the_same_note_is_not_said_of_each_operation():
    program = "; ".join(f"a{k} = sigmoid(100 * {'x' if not k else f'a{k - 1}'})" for k in range(40))
    said = gradcli(program, "-v", "x=[1.0, 2.0]").out
    assert said.count("within 1e-6 of") == 4
    assert "the same holds for" in said


@pytest.mark.sweep
def test_what_is_large_is_not_moved():
    given = "x @ W", "-v", "x=randn(2000, 2000)", "-v", "W=randn(2000, 2000)"
    said = gradcli(*given, "--limit", "memory=1000000000").out
    assert "not at x, W: too large to perturb" in " ".join(said.split())


def test_nothing_is_computed_that_is_not_shown(monkeypatch):
    """Of a Hessian block that is its own mirror image one, and of checks those that are told."""
    asked = []
    computed = higher.in_numbers
    monkeypatch.setattr(higher, "in_numbers", lambda *a: asked.append(a) or computed(*a))
    monkeypatch.setattr(checks, "_seed_times_jacobian", lambda *_: asked.append("rows"))
    problem = pose("(sin(x) * x).sum()", values={"x": np.array([0.5, 2.0])})
    found = higher.hessian_checks(Hessian(Analysis(problem)))
    assert [(c.name, c.ok) for c in found] == [
        ("symmetric", True),
        ("finite differences of the gradient", True),
    ]
    assert len(asked) == 1


def test_a_block_without_a_gradient_is_zero_without_a_search():
    given = ["hessian", "linalg.solve(S, x).sum()", "-s", "S=3x3,x=3", "-f", "json"]
    block = json.loads(gradcli(*given, "--limit", "seconds=0").out)["hessian"]["x"]
    assert (block["structure"], block["formula"]) == ("zero", "zeros(x.shape[0], x.shape[0])")


def test_blocks_are_described_before_the_entries_of_one_use_up_the_budget(monkeypatch):
    """Written out in symbols, the 81 second derivatives by S take seconds."""

    def without_end(data, x):
        if not data.a.jacobian(x).numeric:
            data.p.limits.budget.reserve(10**9)  # no time is left for searches

    monkeypatch.setattr(Data, "entries", without_end)
    problem = pose("linalg.solve(S, x).sum()", shapes={"S": (3, 3), "x": (3,)})
    found = blocks(Hessian(Analysis(problem)))
    assert [block["structure"] for block in found.values()] == ["dense", "kronecker", "zero"]
    assert all(block["formula"] for block in found.values())


# ---- what results are laid out in ----------------------------------------------------------------


@pytest.mark.parametrize("format", ["plain", "markdown", "latex", "html", "svg"])
def test_what_takes_too_long_to_lay_out_is_trimmed_and_says_so(format, monkeypatch):
    given = ["jacobian", "x*x", "-v", "x=arange(60.)", "--full", "-f", format]
    whole = gradcli(*given).out
    over = iter([False])  # the section is computed in time, and not laid out
    present = Budget.present
    monkeypatch.setattr(
        Budget, "present", lambda b, c, o: present(b, c, o) if next(over, True) is False else o()
    )
    brief = gradcli(*given).out
    assert "not-shown" in brief
    assert "not-shown" not in whole
    assert len(brief) < len(whole) / 2


def test_a_trimmed_matrix_has_its_first_and_last_rows():
    problem = pose("x * x", values={"x": np.arange(60.0)})
    built = document(Analysis(problem), Choices(show=("jacobian",), full=True))
    out = render_documents([trimmed(built, True)], "plain", Environment(hurried=True))
    assert "out[7]" in out
    assert "out[8]" not in out
    assert "out[56]" in out
    assert "48 rows and" in out
    assert "--limit seconds=N shows more" in " ".join(out.split())


def test_a_nested_search_with_less_time_ends_first():
    budget = Budget(0)

    def presented():
        return "all" if budget.search(endless, lambda: "less") == "less" else "searched"

    assert budget.present(presented, lambda: "nothing") == "all"


def endless():
    while True:
        tick()


def test_large_values_that_take_too_long_are_refused(monkeypatch):
    monkeypatch.setattr("gradcli.backends.numeric.LARGE", 1)
    monkeypatch.setattr("gradcli.budget.PRESENTING", -1.0)
    problem = pose("sin(cos(x)).sum()", values={"x": np.ones(4)})
    with pytest.raises(GradcliError, match="take more than 0 seconds") as raised:
        Evaluator(problem.values, limits=Limits({"seconds": 0}))(problem.out)
    assert raised.value.hint == "--limit seconds=N raises it"


def test_rows_that_would_take_long_are_left_out(monkeypatch):
    monkeypatch.setattr("gradcli.explanation.jacobian.SMALL", 0)
    monkeypatch.setattr("gradcli.backends.numeric.FLOPS_PER_SECOND", 1)
    found = gradcli("jacobian", "matrix_exp(x)", "-v", "x=eye(9)")
    assert found.status == 0
    assert "  ?" in found.out


def test_lines_in_ascii_keep_to_the_width():
    text = "softmax(x @ W, dim=1)"
    out = gradcli("explain", text, "-s", "x=2x3,W=3x4", "--show", "gradient,notes", "--ascii").out
    assert max(map(len, out.splitlines())) <= 80
    assert "sum_j" in out


def test_squares_of_squares_are_no_product_that_is_written_out():
    """Its 2 ** 60 factors would be counted."""
    tower = "; ".join(["a0 = x * x", *(f"a{k} = a{k - 1} * a{k - 1}" for k in range(1, 60))])
    assert product_of(pose(tower, shapes={"x": ()}).out) is None


def test_all_backward_passes_of_a_text_share_one_budget(monkeypatch):
    lines = [f"x{k} = torch.ones(2, requires_grad=True)\nx{k}.sum().backward()" for k in range(2)]
    (page,) = answer("\n".join(["import torch", *lines]))
    budgets = []
    pose_it = steps.pose
    monkeypatch.setattr(
        steps, "pose", lambda *a, **b: budgets.append(b["limits"]) or pose_it(*a, **b)
    )
    page.document()
    assert budgets == [page.limits, page.limits]


def test_the_trace_of_what_is_not_finite_has_the_budget_of_the_text(monkeypatch):
    budgets = []
    pose_it = steps.pose
    monkeypatch.setattr(
        steps, "pose", lambda *a, **b: budgets.append(b["limits"]) or pose_it(*a, **b)
    )
    (page,) = answer(
        "import torch\nx = torch.zeros(2, requires_grad=True)\ntorch.sqrt(x).sum().backward()"
    )
    assert [f.kind for f in page.findings] == ["not-finite"]
    assert budgets == [page.limits]
    assert budgets[0] is page.limits
