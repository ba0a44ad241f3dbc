"""The question that a document answers, for formats that show it above the answer."""

from ..language.problem import Problem
from ..language.program import Program
from .blocks import Document

LONGEST_SEED = 60  # characters of a seed that is written into the call


def with_question(document: Document, p: Problem, command: str, backward: bool = True) -> Document:
    """The document with its question, and the command that reproduces it."""
    return document._replace(question=question(p, backward), command=command)


def question(p: Problem, backward: bool = True) -> str:
    """The program with its output named, followed by the call of backward() if a seed was given."""
    text = _named(p.program)
    seed = p.seed.text
    if not backward or seed is None or p.before is not None:
        return text
    argument = seed if len(seed) <= LONGEST_SEED and "\n" not in seed else p.seed.name
    return f"{text}\n{p.out_name}.backward({argument})"


def _named(program: Program) -> str:
    """The text of a program; a last expression without a name is assigned to out."""
    text, start = program.source.text, program.start
    before = text[:start].rstrip()
    bare = not before or before[-1] in ";\n" or before.count("\n") < text[:start].count("\n")
    return f"{text[:start]}{program.output_name} = {text[start:]}" if bare else text
