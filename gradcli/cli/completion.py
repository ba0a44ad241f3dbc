"""Completions at the cursor, for shells after `gradcli --install-completion`."""

from collections.abc import Iterable
from typing import Any

Words = list[str] | list[tuple[str, str]]

# As typer fills it in. One process for a key press, where typer's has two; files where there is
# nothing else to complete with.
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
    """Let typer install and show FISH."""
    from typer import _completion_shared

    _completion_shared._completion_scripts["fish"] = FISH


def sections(incomplete: str) -> Words:
    """Sections of an explanation, after a comma too."""
    from ..explanation.choices import SECTIONS

    return _listed(incomplete, SECTIONS)


def frameworks(incomplete: str) -> Words:
    """The frameworks that a gradient can be compared with."""
    from ..frameworks import TITLES

    return _listed(incomplete, TITLES)


def dtypes(incomplete: str) -> Words:
    """The precisions that are computed in."""
    from ..fields import DTYPES

    return _beginning(incomplete, DTYPES)


def inputs(ctx: Any, incomplete: str) -> Words:
    """Inputs of the expression, after a comma too."""
    return _listed(incomplete, _inputs(ctx))


def inputs_with_sign(ctx: Any, incomplete: str) -> Words:
    """`x=` for each input of the expression."""
    return _beginning(incomplete, [f"{name}=" for name in _inputs(ctx)])


def operators(incomplete: str) -> Words:
    """Names of operators, from the index that no operator is imported for."""
    from ..operators import names

    # softplus_backward and its like are called by rules alone
    return _beginning(incomplete, (name for name in names() if "_backward" not in name))


def examples(incomplete: str) -> Words:
    """Names of worked examples, each with its question."""
    from ..worked_examples import EXAMPLES

    return [(n, e.question) for n, e in EXAMPLES.items() if n.startswith(incomplete)]


def _inputs(ctx: Any) -> Iterable[str]:
    """The inputs of the expression that was typed; none where there is none as yet."""
    from ..errors import if_applicable
    from ..language.names import free_names
    from ..language.program import read_program
    from ..limits import Limits

    waiting = ctx.args[0] if ctx.args else ""  # an option without its value comes before it
    text = ctx.params.get("expr") or ctx.params.get("question") or waiting
    return if_applicable(lambda: free_names(read_program(text, Limits()), ())) or ()


def _listed(incomplete: str, names: Iterable[str]) -> list[str]:
    """The last of several names with commas, completed; none of them twice."""
    before, comma, last = incomplete.rpartition(",")
    there = before.split(",")
    return [before + comma + n for n in names if n.startswith(last) and n not in there]


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
