"""share/: manual pages and completion files, as scripts/share writes them from the commands."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
import typer

from gradcli.cli.main import COMMANDS, run
from gradcli.cli.typer_app import app_of

ROOT = Path(__file__).resolve().parent.parent
SHARE = ROOT / "share"


def _script():
    loader = SourceFileLoader("share_script", str(ROOT / "scripts" / "share"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


MADE = _script().files()
PAGES = {name: page for name, page in MADE.items() if name.startswith("man/")}


def test_they_are_up_to_date():
    there = {p.relative_to(SHARE).as_posix(): p for p in SHARE.rglob("*") if p.is_file()}
    assert {name: path.read_text("utf-8") for name, path in there.items()} == MADE, (
        "scripts/share repairs it"
    )


def test_the_wheel_has_all_of_them():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    data = project["tool"]["setuptools"]["data-files"]
    taken = [path for patterns in data.values() for p in patterns for path in ROOT.glob(p)]
    assert {path.relative_to(SHARE).as_posix() for path in taken} == MADE.keys()
    assert all(path.parent == ROOT / place for place, (p,) in data.items() for path in ROOT.glob(p))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_has_every_option(command):
    page = PAGES[f"man/man1/gradcli-{command}.1"].replace("\\-", "-")
    parameters = typer.main.get_command(app_of(COMMANDS)).commands[command].params
    assert f".TH GRADCLI-{command.upper()} 1 " in page
    for parameter in parameters:
        for name in parameter.opts:
            assert not name.startswith("-") or re.search(rf"{re.escape(name)}[ ,\"]", page), name


def test_the_first_page_leads_to_all_others():
    overview = PAGES["man/man1/gradcli.1"].replace("\\-", "-")
    for command in COMMANDS:
        assert f'.B "{command}"' in overview
        assert f".BR gradcli-{command} (1)" in overview


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("name", PAGES)
def test_roff_reads_them_without_a_warning(name):
    command = ["groff", "-man", "-Tutf8", "-ww", "-rCHECKSTYLE=3", "-P-cbou"]
    done = subprocess.run(command, input=PAGES[name], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "SEE ALSO" in done.stdout
    if name == "man/man1/gradcli-batch.1":
        example = (
            """echo '{"expr": "a*a", "values": {"a": [1, 2]}, "grad": "a"}' | gradcli batch -"""
        )
        assert example in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(("words", "wanted"), [
    (["gradcli", "exp"], ["explain"]),
    (["gradcli", "batch", "x.jsonl", "--exec"], ["--executor"]),
    (["gradcli", "batch", "x.jsonl", "--executor", ""], ["processes", "dask"]),
    (["gradcli", "ops", "cross_entropy"], ["cross_entropy"]),
    (["gradcli", "grad", '"alpha * beta"', "-w", "al"], ["alpha"]),
])  # fmt: skip
def test_bash_completes(words, wanted, tmp_path):
    command = tmp_path / "gradcli"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gradcli "$@"\n')
    command.chmod(0o755)
    typed = " ".join(f"'{word}'" for word in words)
    program = f"""
        . "{SHARE / "bash-completion/completions/gradcli"}"
        COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}
        _gradcli_completion gradcli
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, env={**os.environ, "PATH": path}
    )
    assert (done.stdout.split(), done.stderr) == (wanted, "")


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("typed", "wanted"), [
    ("gradcli exp", ["explain"]),
    ("gradcli ops cross_entropy", ["cross_entropy"]),
    ("gradcli render ./comple", ["./completed.json"]),
])  # fmt: skip
def test_fish_completes(typed, wanted, tmp_path):
    command = tmp_path / "gradcli"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gradcli "$@"\n')
    command.chmod(0o755)
    (tmp_path / "completed.json").touch()
    script = SHARE / "fish/vendor_completions.d/gradcli.fish"
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["fish", "--no-config", "--command", f"source '{script}'; complete -C '{typed}'"],
        cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PATH": path},
    )  # fmt: skip
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == wanted


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_key_press_imports_no_rich(shell):
    asked = {
        "_GRADCLI_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "gradcli exp",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args", "COMP_WORDS": "gradcli exp", "COMP_CWORD": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "gradcli"],
        capture_output=True, text=True, env={**os.environ, **asked},
    )  # fmt: skip
    assert "explain" in done.stdout
    assert not {"rich.console", "numpy", "sympy"} & set(re.findall(r"[\w.]+$", done.stderr, re.M))


def test_the_command_shows_the_script_of_share(monkeypatch, capsys):
    """For fish typer's own starts two processes for a key press."""
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("fish", "fish"))
    with pytest.raises(SystemExit):
        run(["--show-completion"])
    assert capsys.readouterr().out == MADE["fish/vendor_completions.d/gradcli.fish"]
