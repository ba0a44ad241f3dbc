"""What was asked, for a page on which nobody sees what was typed."""

from ..language.problem import Problem
from ..language.program import Program
from .blocks import Document

LONGEST_SEED = 60  # characters of a seed that is written into the call


def asked(made: Document, p: Problem, command: str, backward: bool = True) -> Document:
    """A document that begins with its question and ends with the command that makes it again."""
    return made._replace(question=question(p, backward), command=command)


def question(p: Problem, backward: bool = True) -> str:
    """The program, its output named; and below it what goes back, where a seed was given."""
    text = _named(p.program)
    seed = p.seed.text
    if not backward or seed is None or p.before is not None:
        return text
    given = seed if len(seed) <= LONGEST_SEED and "\n" not in seed else p.seed.name
    return f"{text}\n{p.out_name}.backward({given})"


def _named(program: Program) -> str:
    """The text of a program, `out = ` before a last expression that has no name."""
    text, start = program.source.text, program.start
    before = text[:start].rstrip()
    bare = not before or before[-1] in ";\n" or before.count("\n") < text[:start].count("\n")
    return f"{text[:start]}{program.output_name} = {text[start:]}" if bare else text
