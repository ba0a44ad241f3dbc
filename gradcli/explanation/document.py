"""Documents assembled from their sections: explanations, Hessians, Jacobian-vector products."""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from ..backends.numeric import array_bytes, sources, workspace
from ..errors import GradcliError, did_you_mean
from ..graphs import walk
from ..language.problem import Input
from ..notation.tree import Name
from .analysis import Analysis, reserve_writing
from .blocks import Block, Document, Prose, Section, words
from .choices import ON_REQUEST, SECTIONS, Choices
from .formulas.formula_writer import FormulaWriter, writer_of
from .formulas.reductions import with_named_reductions
from .notes import on_formulas_of
from .phrases import listed
from .question import with_question

if TYPE_CHECKING:
    from .higher.hessian import Hessian
    from .higher.jvp import Jvp

Item = TypeVar("Item")

MOST_INPUTS = 24  # largest number of inputs with sections of their own
# largest number of blocks of a Hessian that have sections, one for each unordered pair of inputs
MOST_BLOCKS = MOST_INPUTS * (MOST_INPUTS + 1) // 2
SEED_NOTES = ("implicit-seed", "seed-left-out")  # notes that repeat the section on the seed


def check_sections(names: Collection[str]) -> None:
    """Raise GradcliError for a name that is not the name of a section."""
    for name in names:
        if name not in SECTIONS:
            hint = did_you_mean(name, SECTIONS) or f"the sections are {', '.join(SECTIONS)}"
            raise GradcliError("option", f"there is no section {name}", hint=hint)


def _check_memory(a: Analysis) -> None:
    """Raise GradcliError, before anything is computed, if the arrays need too much memory.

    The total has the values of all nodes of the program and its gradients; copies of the inputs,
    the output and the gradients, for layout; without a seed, another copy of the program's values,
    because a note evaluates the program with a seed of ones; and the temporary arrays of the node
    that needs most.
    """
    p = a.problem
    if not p.numeric:
        return
    grads = [grad for x in p.wrt if (grad := a.computed(x)) is not None]
    laid_out = [p.out, *(i.node for i in p.inputs.values()), *grads]
    tried = walk([p.out], sources) if p.seed.value is None else []
    nodes = walk([p.out, *grads], sources)
    total = sum(map(array_bytes, [*nodes, *laid_out, *tried])) + max(map(workspace, nodes))
    p.limits.check("memory", total, "what an explanation computes")


def document(a: Analysis, choices: Choices) -> Document:
    """The explanation of a problem: the short answer, or the sections of `--show` or `--full`."""
    _check_memory(a)
    if not choices.show:
        reserve_writing(a.problem, times=2 if a.claims else 1)  # claims take time, too
    if not choices.show and not choices.full and a.problem.as_written:
        from .short.document import document as short

        return short(a, choices)
    w = writer_of(a)
    names = choices.show or [name for name in SECTIONS if name not in ON_REQUEST]
    if "jacobian" in names or "gradient" in names:
        w = with_named_reductions(w)
    from .sections.gradient import answers

    present = a.problem.limits.budget.present
    sections = list[Section]()
    for name in filter(names.__contains__, SECTIONS):
        sections += present(partial(_sections, name, a, w, choices), partial(_left_out, name, a))
    if "notes" not in names:
        from .sections.outcome import notes

        sections.append(notes(on_formulas_of(names, a, w)))
    answer_lines = answers(a, w) if "answer" in names else ()
    if choices.added:
        text = f"--show adds {listed(choices.added)} to the short answer's sections."
        sections.append(Section("", (), (), (Prose(words(text)),)))
    built = Document(answer_lines, _explained_once(s for s in sections if s.blocks))
    if not choices.show:
        built = built._replace(briefly=("claims", "seed", "code"))
    return with_question(built, a.problem, choices.command)


def _explained_once(sections: Iterable[Section]) -> tuple[Section, ...]:
    """The sections, without sentences that explain what an earlier sentence has explained."""
    met, result = set[str](), list[Section]()
    for s in sections:
        blocks = list[Block]()
        for block in s.blocks:
            what = block.explains if isinstance(block, Prose) else ""
            if not what or what not in met:
                blocks.append(block)
            met.add(what)
        result.append(s._replace(blocks=tuple(blocks)))
    return tuple(result)


def _sections(name: str, a: Analysis, w: FormulaWriter, c: Choices) -> list[Section]:
    """The sections that `--show NAME` asks for: for "gradient", one for each input."""
    from .sections import backward, code, forward, inputs, outcome, seed

    match name:
        case "jacobian":
            each = [_of_input(name, a, w, x, c) for x in _inputs_with_sections(a, c)]
            return [*each, *_followed_element(a, w, c)]
        case "gradient" | "modes":
            return [_of_input(name, a, w, x, c) for x in _inputs_with_sections(a, c)]
        case "inputs":
            return [inputs.inputs(a)]
        case "forward":
            return [forward.forward(a, w, c.most)]
        case "seed":
            return [seed.seed(a, w)]
        case "cost":
            from .sections import cost

            return cost.costs(a, w, c.most)
        case "backward":
            from .short.gradients import Gradients

            grads = Gradients(a, w)
            names = grads.names_back()
            w.added_names = {n: Name(name) for n, name in names.added.items()}
            return [*_graph_of_both_passes(a, w, c), backward.backward(a, w, c.most, names)]
        case "claims" if a.claims:
            from .sections import claims

            return [claims.claims(a)]
        case "checks":
            from .checks import run_checks

            return [outcome.checks(run_checks(a))]
        case "code":
            return [code.code(a, c.precision)]
        case "notes":
            return [outcome.notes(_notes(a, w, c))]
    return []


def _followed_element(a: Analysis, w: FormulaWriter, c: Choices) -> list[Section]:
    """The section on the element that `--element` names, as a list; empty if there is none, or if
    the element's input has no gradient.
    """
    name, index = c.element or ("", ())
    x = a.problem.inputs.get(name)
    if x is None or not index or a.gradient(x) is None:
        return []
    from .short.following import followed
    from .short.gradients import Gradients

    return [followed(Gradients(a, w), x, index, c)]


def _left_out(name: str, a: Analysis) -> list[Section]:
    """The placeholder for a section that was omitted for lack of time; for the notes, the note that
    time ran out.
    """
    from .notes import out_of_time
    from .sections import outcome

    if name == "notes":
        return [outcome.notes(out_of_time(a.problem))]
    return [outcome.left_out(name)]


def _of_input(name: str, a: Analysis, w: FormulaWriter, x: Input, c: Choices) -> Section:
    """The section "jacobian", "gradient" or "modes" for an input."""
    from .sections import gradient, jacobian

    if name == "modes":
        from .sections import modes

        return modes.section(a, w, x)
    if name == "jacobian":
        return jacobian.jacobian(a, w, x, c.full, c.precision)
    return gradient.gradient(a, w, x, c.index_in(x.name))


def _notes(a: Analysis, w: FormulaWriter, c: Choices) -> list[tuple[str, str]]:
    """The notes, without SEED_NOTES if the section on the seed is shown."""
    from .notes import collect

    repeated = SEED_NOTES if not c.show or "seed" in c.show else ()
    return [n for n in (*collect(a, w), *_omitted_inputs(a, c)) if n[0] not in repeated]


def _graph_of_both_passes(a: Analysis, w: FormulaWriter, c: Choices) -> list[Section]:
    """The graph with both passes, as a list of sections; only HTML pages show it."""
    from .sections import graph

    return [graph.followed(a, w)] if c.extras and not c.show else []


def _inputs_with_sections(a: Analysis, c: Choices) -> list[Input]:
    """The inputs that have sections: the first MOST_INPUTS, and the input of the element that
    `--element` names.
    """
    wrt, name = a.problem.wrt, c.element and c.element[0]
    return [x for k, x in enumerate(wrt) if k < MOST_INPUTS or x.name == name]


def _omitted_inputs(a: Analysis, c: Choices) -> list[tuple[str, str]]:
    """The note that some inputs have no sections in an explanation, or no note."""
    return _omitted_note(len(_inputs_with_sections(a, c)), len(a.problem.wrt))


def _omitted_note(shown_count: int, count: int) -> list[tuple[str, str]]:
    """The note that only `shown_count` of `count` inputs have sections, or no note."""
    text = (
        f"{shown_count:,} of {count:,} inputs have sections of their own: -w NAME asks for another."
    )
    return [("inputs-left-out", text)] if shown_count < count else []


def hessian_document(h: "Hessian", choices: Choices) -> Document:
    """The document of a Hessian: its product with the tangents, its blocks with respect to pairs of
    inputs, checks and notes.
    """
    from .higher.checks import hessian_checks
    from .notes import hessian_notes
    from .sections import hessian, outcome

    def block(pair: tuple[Input, Input]) -> Section:
        return hessian.block(h, *pair, choices.full, choices.precision)

    blocks = [*_in_time(h.p.limits.budget.present, block, islice(h.pairs(), MOST_BLOCKS))]
    note_list = [*hessian_notes(h), *_omitted_blocks(h, len(blocks))]
    noted = outcome.notes(n for n in note_list if n[0] != "unused")
    checked = outcome.checks(hessian_checks(h))
    built = Document(hessian.answers(h), (*blocks, checked, *[noted] * bool(noted.blocks)))
    return with_question(built, h.p, choices.command, backward=False)


def _omitted_blocks(h: "Hessian", shown_count: int) -> list[tuple[str, str]]:
    """The note that only `shown_count` blocks are shown, or no note if these are all."""
    count = sum(1 for _ in h.pairs())
    text = f"{shown_count:,} of {count:,} blocks are shown: -w NAME,... asks for others."
    return [("inputs-left-out", text)] if count > shown_count else []


def jvp_document(j: "Jvp", choices: Choices) -> Document:
    """The document of a JVP: answer, tangents, forward pass, Jacobians, checks, notes."""
    from .higher.checks import jvp_checks
    from .notes import jvp_notes
    from .sections import jvp, outcome

    reserve_writing(j.problem, "written")  # the tangents have about as many nodes as the program
    jacobians = _jacobians(j, choices)
    note_list = [*jvp_notes(j), *_omitted_note(len(jacobians), len(j.problem.tangents))]
    sections = [
        jvp.tangents(j),
        jvp.forward(j, choices.most),
        *jacobians,
        jvp.product(j),
        outcome.checks(jvp_checks(j)),
        outcome.notes(n for n in note_list if n[0] not in ("implicit-seed", "unused")),
    ]
    built = Document(jvp.answers(j), tuple(s for s in sections if s.blocks))
    return with_question(built, j.problem, choices.command, backward=False)


def _jacobians(j: "Jvp", c: Choices) -> list[Section]:
    """The Jacobians with respect to inputs with a tangent. The first MOST_INPUTS may take all time
    before results are laid out; further ones are only shown if there is time before searches end.
    """
    from .sections import jvp

    def jacobian(x: Input) -> Section:
        return jvp.jacobian(j, x, c.full, c.precision)

    with_tangents, budget = [t.x for t in j.problem.tangents], j.problem.limits.budget
    return [
        *_in_time(budget.present, jacobian, with_tangents[:MOST_INPUTS]),
        *_in_time(budget.search, jacobian, with_tangents[MOST_INPUTS:]),
    ]


def _in_time(
    run: Callable[..., Section | None], section: Callable[[Item], Section], of: Iterable[Item]
) -> Iterator[Section]:
    """The sections of the first items, until there is no time left. `run` is a method of the
    budget, `search` or `present`, which each has a deadline.
    """
    for item in of:
        built = run(partial(section, item), lambda: None)
        if built is None:
            return
        yield built
