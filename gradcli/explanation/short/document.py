"""The short explanation, on one screen: the program, the seed, the derivation of the gradients, one
Jacobian with the seed in its margin, checks, notes, and options that show more.
"""

from collections.abc import Iterator

from ...lazy import np
from ..analysis import Analysis
from ..blocks import Document, Row, Section, Table, words
from ..checks import RANDOM_SEED, RANDOM_VALUES, ROWS, Check, run_checks
from ..choices import Choices
from ..formulas.formula_writer import writer_of
from ..in_pytorch.not_differentiated import NOT_IN_PYTORCH, not_differentiated
from ..notes import about_the_problem, contradicted, ended, formulas, out_of_time
from ..phrases import listed
from ..question import with_question
from ..sections.outcome import left_out, notes
from . import following, head, jacobian, lines
from .gradients import Gradients
from .vanishing_gradients import vanishing_gradients

BRIEFLY = ("claims", "backward", "gradient", "seed", "code")
NAMES = {ROWS: "g·J equals backward"}
RANDOM = (RANDOM_VALUES, RANDOM_SEED)
MARKS = {True: "✓", False: "✗", None: "–"}
CONTRADICTING = ("formula-differs", "formula-not-finite")  # on a formula that contradicts numbers
EXPLAINING = ("saturated", "not-finite", *CONTRADICTING)  # may explain why an answer is nan
SHOWN_FIRST = ("integer-values", NOT_IN_PYTORCH)
SHOWN_ELSEWHERE = ("implicit-seed", "seed-left-out", "unused", *SHOWN_FIRST)  # notes, on pages


def document(a: Analysis, choices: Choices) -> Document:
    """The short explanation of a problem."""
    grads = Gradients(a, writer_of(a))
    head, *rest = _sections(grads, choices)
    sections = (head, *(s for s in rest if s.blocks))
    built = with_question(Document((), sections, briefly=BRIEFLY), a.problem, choices.command)
    return built._replace(more=tuple(more(a, choices))) if choices.command else built


def more(a: Analysis, choices: Choices) -> Iterator[str]:
    """Options that show more of this answer."""
    p = a.problem
    yield "--full"
    yield "--show backward,code"
    followed = next((x for x in p.wrt if x.node.numel > 1 and a.gradient(x) is not None), None)
    if followed is not None and choices.element is None:
        index = ",".join(str(n - 1) for n in followed.shape)
        yield f'--element "{followed.name}[{index}]"'
    if len(p.wrt) > 1:
        yield f"-w {p.wrt[-1].name}"
    yield "-f markdown"


def _sections(grads: Gradients, choices: Choices) -> Iterator[Section]:
    a, w = grads.a, grads.w
    checks = checked(grads)  # before searches, which may use up the time
    grads.introduce_names()
    yield head.program(a, w)
    if a.claims:
        from ..sections.claims import claims

        yield claims(a)
    remaining = further(grads)
    explains = EXPLAINING if _is_nan(a) else CONTRADICTING
    explained = (note for name in explains for note in remaining if note[0] == name)
    yield notes([*first(a), *explained])
    yield head.seed(a, w)
    yield lines.backward(grads)
    yield lines.gradients(grads, choices)
    yield from _why(grads, choices)
    if choices.extras:
        from ..sections import graph

        yield graph.followed(a, w)
    yield notes([note for note in remaining if note[0] not in explains])
    yield checks
    if choices.extras:
        from ..sections import code

        present = a.problem.limits.budget.present
        program = present(lambda: code.code(a, choices.precision), lambda: left_out("code"))
        yield program._replace(extra=True)


def _is_nan(a: Analysis) -> bool:
    """Whether a gradient contains nan."""
    values = (a.grad_value(x) for x in a.problem.wrt)
    return any(value is not None and bool(np.any(np.isnan(value))) for value in values)


def _why(grads: Gradients, choices: Choices) -> Iterator[Section]:
    """The section with a Jacobian; if an element is requested (--element), with its column."""
    name, index = choices.element or ("", ())
    x = grads.problem.inputs.get(name)
    if x is None or not index or grads.a.gradient(x) is None:
        yield jacobian.why(grads, choices)
    else:
        yield following.followed(grads, x, index, choices)


def checked(grads: Gradients) -> Section:
    """The checks in one row, with the reasons for omitted ones."""
    run = run_checks(grads.a)
    text = [words(_check_text(c)) for c in run]
    places = (_random_part(c.remark) for c in run if c.ok is not None)
    text += [words(place) for place in filter(None, places)][:1]
    return Section("checks", (), (), (Table((Row(tuple(text)),)),))


def _random_part(remark: str) -> str:
    """The part of a check's remark that mentions random values or seeds; "" if there is none."""
    return next(filter(remark.startswith, RANDOM), "")


def _check_text(c: Check) -> str:
    error = "" if not c.max_error else f" {c.max_error:.0e}"
    remark = c.remark.removeprefix(_random_part(c.remark)).removeprefix(
        "; "
    )  # which applies to all of them
    why = f" ({remark})" if remark and c.ok is not True else ""
    return f"{MARKS[c.ok]} {NAMES.get(c.name, c.name)}{error}{why}"


def first(a: Analysis) -> list[tuple[str, str]]:
    """The notes on derivatives that PyTorch refuses."""
    refused, whole = not_differentiated(a), [x.name for x in a.problem.wrt if x.was_integer]
    if not whole:
        return refused
    have = "hold integers" if len(whole) > 1 else "holds integers"
    text = f"{listed(whole)} {have}: in PyTorch write 1., not 1."
    return [("integer-values", text), *refused]


def further(grads: Gradients) -> list[tuple[str, str]]:
    """The notes other than those of `first`."""
    p, notes = grads.problem, about_the_problem(grads.a, grads.w)
    notes += vanishing_gradients(grads.a, grads.w)
    if grads.derivation is None:
        notes += [*formulas(grads.w), *ended(p)]
    else:
        notes += [*contradicted(grads.a, grads.w, grads.beside_numbers()), *out_of_time(p)]
    return [note for note in notes if note[0] not in SHOWN_ELSEWHERE]
