"""Start-up is a feature: which modules a command may import is listed here."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import gradcli

# What is large, and what may import it; everything else is Python's own or small.
HEAVY = {
    *("numpy", "typer", "rich", "sympy", "mpmath", "torch", "jax"),
    *("pydantic", "pygments", "hypothesis"),
}
# Of Python's library, what NumPy does without and an answer too.
SLOW = {"pathlib", "urllib.parse", "ipaddress", "logging", "hashlib", "tempfile", "difflib"}
MOST_MODULES = {"grad": 90, "explain": 230}  # of gradcli, for a short expression with values
ROOT = Path(gradcli.__file__).parent

LIST = """
import json, sys
sys.argv = ["gradcli", *sys.argv[1:]]
from gradcli.cli.main import run
status = run(sys.argv[1:])
print(json.dumps([status, sorted(sys.modules)]), file=sys.stderr)
"""
LIST_OF_COMPLETING = """
import json, os, sys
os.environ |= {"_GRADCLI_COMPLETE": "complete_bash", "COMP_CWORD": "2", "COMP_WORDS": sys.argv[1]}
from gradcli.cli.main import run
try:
    run()
except SystemExit:
    names = [name for name, module in sys.modules.items() if module]
    print(json.dumps([0, names]), file=sys.stderr)
"""
LIST_OF_IMPORT = """
import json, sys
import gradcli
print(json.dumps([0, sorted(sys.modules)]), file=sys.stderr)
"""


def modules(*args: str, code: str = LIST) -> set[str]:
    """The modules that are loaded when a command line is done."""
    code = code if args else LIST_OF_IMPORT
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=60
    )
    status, names = json.loads(done.stderr.splitlines()[-1])
    assert status == 0
    return set(names)


def heavy(names: set[str]) -> set[str]:
    """The large packages among them."""
    return {name.split(".")[0] for name in names} & HEAVY


def test_importing_gradcli_imports_next_to_nothing():
    names = modules()
    assert not heavy(names)
    assert {n for n in names if n.startswith("gradcli")} == {"gradcli"}


def test_operators_are_imported_when_they_are_asked_for():
    """Start-up does not grow with the table."""
    found = {
        n.split(".")[2]
        for n in modules("grad", "a*a", "-v", "a=[1,2]", "-g", "a")
        if n.startswith("gradcli.operators.")
    }
    assert found == {
        *("arithmetic", "bounds", "comparisons", "elements", "families", "indexing", "leaves"),
        "precision",
    }


def test_formulas_import_the_operators_that_they_have():
    for args in (("explain", "x@a", "-s", "x=2x3,a=3x4"), ("formula", "exp(x).sum()", "-s", "x=3")):
        names = {n for n in modules(*args) if n.startswith("gradcli.operators.")}
        assert "gradcli.operators.arithmetic" in names
        assert not names & {f"gradcli.operators.{n}" for n in ("convolution", "losses", "spectral")}


def test_programs_are_run_where_there_is_one():
    def machine(text):
        names = modules("grad", text, "-v", "x=[1.,2.]")
        return {n for n in names if n.startswith(("gradcli.snippets", "gradcli.pasted."))}

    assert machine("(x * x).sum()") == {"gradcli.pasted.marks"}
    assert "gradcli.snippets.python.machine" in machine("y = x.sum(); y.backward()")


def test_tables_of_libraries_are_imported_when_a_program_names_them():
    def tables(text):
        names = modules("grad", text, "-v", "x=[1,2]")
        return {n for n in names if n.startswith("gradcli.language.libraries.")}

    function = "gradcli.language.libraries.function"
    assert tables("x.sum()") == {function}
    assert tables("np.sum(x)") == {function, "gradcli.language.libraries.numpy"}


def test_help_imports_no_numpy():
    names = modules("--help")
    assert heavy(names) == {"typer"}
    assert "gradcli.operators" not in names


def test_a_key_press_imports_no_numpy():
    for line in ("gradcli explain --sh", "gradcli ops soft", "gradcli batch --jo"):
        assert heavy(modules(line, code=LIST_OF_COMPLETING)) == {"typer"}


def test_a_batch_of_one_process_imports_nothing_of_several(tmp_path):
    requests = tmp_path / "requests.jsonl"
    requests.write_text('{"expr": "x*x", "values": {"x": 2}}', "utf-8")
    names = modules("batch", str(requests))
    assert heavy(names) == {"numpy"}
    assert not {name for name in names if name.startswith(("multiprocessing", "concurrent"))}


def test_grad_imports_numpy_alone():
    assert heavy(modules("grad", "(a*a).sum()", "-v", "a=[1,2]")) == {"numpy"}
    assert heavy(
        modules("grad", "softmax(x @ W, dim=1)", "-v", "x=[[1,2]]", "-v", "W=eye(2)", "-g", "out")
    ) == {"numpy"}


@pytest.mark.parametrize("command", MOST_MODULES)
def test_a_short_answer_imports_few_modules(command):
    names = modules(command, "a*a", "-v", "a=[1,2]", "-g", "a")
    assert not names & SLOW
    assert len({n for n in names if n.startswith("gradcli")}) <= MOST_MODULES[command]


def test_error_functions_of_few_elements_import_no_scipy():
    names = modules("grad", "gelu(x) + erfc(x)", "-v", "x=[1,2]", "-g", "x")
    assert not {n for n in names if n.startswith("scipy")}


def test_an_explanation_imports_what_it_shows():
    names = modules("explain", "a*a", "-v", "a=[[1,2,3],[4,5,6]]", "-g", "a")
    rooms = {
        "cli": ("help", "usage"),
        "explanation": ("cost", "torch_lines", "formulas.nonzero_count", "formulas.generic_steps"),
        "explanation.higher": ("hessian", "jvp"),
        "explanation.sections": ("backward", "code", "graph", "modes"),
        "language.inference": ("ranks",),
        "notation": ("code.torch_code", "indices.numbers", "jacobians.composed"),
        "operators": ("contractions", "reductions", "scattering", "selecting"),
    }
    absent = {f"gradcli.{room}.{module}" for room, all in rooms.items() for module in all}
    assert not names & absent


def test_json_imports_what_it_holds():
    names = modules("a*a", "-v", "a=[1,2]", "-g", "a", "-f", "json")
    absent = ("autodiff.forward", "explanation.cost", "explanation.sections.modes")
    assert not names & {f"gradcli.{module}" for module in absent}


def test_grad_imports_neither_explanations_nor_notation():
    names = modules("grad", "(a*a).sum()", "-v", "a=[1,2]")
    assert not {n for n in names if n.startswith(("gradcli.render.terminal", "gradcli.notation"))}


def test_a_numeric_explanation_imports_no_sympy():
    for args in (
        ("a*a", "-v", "a=[[1,2,3],[4,5,6]]", "-g", "a"),
        ("jacobian", "x@y", "-v", "x=eye(2)", "-v", "y=eye(2)"),
        ("check", "exp(x)", "-v", "x=1.0"),
        ("a*a", "-v", "a=[1,2]", "-g", "a", "-f", "markdown"),
        ("a*a", "-v", "a=[1,2]", "-g", "a", "-f", "json"),
    ):
        assert heavy(modules(*args)) <= {"numpy", "rich"}


def test_json_graphs_and_lists_import_no_rich():
    assert "rich" not in heavy(modules("x*y", "-s", "x=2,y=2", "-f", "json"))
    assert not heavy(modules("graph", "x*y", "-s", "x=2,y=2", "-f", "dot")) - {"numpy"}
    assert not heavy(modules("examples"))


def test_a_symbolic_explanation_imports_sympy():
    assert heavy(modules("exp(x)", "-s", "x=2", "-f", "json")) == {"numpy", "sympy", "mpmath"}


def test_only_frameworks_imports_torch_or_jax():
    for file in ROOT.rglob("*.py"):
        if file.parent.name == "frameworks":
            continue  # the one place that may, when it is asked to compare
        text = file.read_text("utf-8")
        for node in ast.walk(ast.parse(text if "torch" in text or "jax" in text else "")):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += (
                [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            )
            assert not {n.split(".")[0] for n in names} & {"torch", "jax"}, file
