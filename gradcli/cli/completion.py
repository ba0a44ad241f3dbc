"""Completions at the cursor, for shells after `gradcli --install-completion`."""

from collections.abc import Iterable
from typing import Any

Words = list[str] | list[tuple[str, str]]

# A variant of typer's script for fish: one process per key press in place of two, and files where
# nothing else completes.
FISH = """\
function __%(prog_name)s_complete
    set --local typed (commandline -cp)
    set --local found (env %(autocomplete_var)s=complete_fish \\
        _TYPER_COMPLETE_FISH_ACTION=get-args _TYPER_COMPLETE_ARGS="$typed" %(prog_name)s)
    if test -n "$found"
        printf '%%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end

complete --command %(prog_name)s --no-files --arguments "(__%(prog_name)s_complete)"
"""


def with_own_scripts() -> None:
    """Make typer install and show FISH."""
    from typer import _completion_shared

    _completion_shared._completion_scripts["fish"] = FISH


def sections(incomplete: str) -> Words:
    """Sections of an explanation, also after a comma."""
    from ..explanation.choices import SECTIONS

    return _completions_of_list(incomplete, SECTIONS)


def frameworks(incomplete: str) -> Words:
    """The frameworks that a gradient can be compared with."""
    from ..frameworks import TITLES

    return _completions_of_list(incomplete, TITLES)


def dtypes(incomplete: str) -> Words:
    """The dtypes of computation."""
    from ..fields import DTYPES

    return _beginning(incomplete, DTYPES)


def inputs(ctx: Any, incomplete: str) -> Words:
    """Inputs of the expression, also after a comma."""
    return _completions_of_list(incomplete, _inputs(ctx))


def inputs_with_sign(ctx: Any, incomplete: str) -> Words:
    """The completions `x=`, one for each input of the expression."""
    return _beginning(incomplete, [f"{name}=" for name in _inputs(ctx)])


def operators(incomplete: str) -> Words:
    """Names of operators, from the index, so that no operator is imported."""
    from ..operators import names

    # not softplus_backward and others that only rules call
    return _beginning(incomplete, (name for name in names() if "_backward" not in name))


def examples(incomplete: str) -> Words:
    """Names of worked examples, each with its question."""
    from ..worked_examples import EXAMPLES

    return [(n, e.question) for n, e in EXAMPLES.items() if n.startswith(incomplete)]


def _inputs(ctx: Any) -> Iterable[str]:
    """The inputs of the typed expression; empty if it is missing or incomplete."""
    from ..errors import if_applicable
    from ..language.names import free_names
    from ..language.program import read_program
    from ..limits import Limits

    waiting = ctx.args[0] if ctx.args else ""  # an option whose value is still missing precedes it
    text = ctx.params.get("expr") or ctx.params.get("question") or waiting
    return if_applicable(lambda: free_names(read_program(text, Limits()), ())) or ()


def _completions_of_list(incomplete: str, names: Iterable[str]) -> list[str]:
    """Completions of the last of several comma-separated names, without those already listed."""
    before, comma, last = incomplete.rpartition(",")
    there = before.split(",")
    return [before + comma + n for n in names if n.startswith(last) and n not in there]


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
