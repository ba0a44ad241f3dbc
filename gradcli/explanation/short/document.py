"""An explanation on one screen: what it is, the seed, how the gradients are derived, one Jacobian
with the seed in its margin, checks, and what else there is.
"""

from collections.abc import Iterator

from ...language.problem import Problem
from ..analysis import Analysis
from ..blocks import Document, Section
from ..choices import Choices
from ..formulas.wording import wording_of
from ..question import asked
from ..sections import code, graph
from ..sections.notes import notes
from . import head, jacobian, lines
from .checked import checked
from .gradients import Gradients
from .notes import first, further

BRIEFLY = ("claims", "backward", "gradient", "seed", "code")


def document(a: Analysis, choices: Choices) -> Document:
    """The explanation of a problem in short."""
    grads = Gradients(a, wording_of(a))
    head, *rest = _sections(grads, choices)
    shown = (head, *(s for s in rest if s.blocks))
    built = asked(Document((), shown), a.problem, choices.command)._replace(briefly=BRIEFLY)
    return built._replace(more=tuple(more(a.problem))) if choices.command else built


def more(p: Problem) -> Iterator[str]:
    """Options that show more of this answer."""
    yield "--full"
    yield "--show backward,code"
    followed = next((x for x in p.wrt if x.shape and x.node.numel > 1), None)
    if followed is not None:
        place = ",".join(str(n - 1) for n in followed.shape)
        yield f'--element "{followed.name}[{place}]"'
    if len(p.wrt) > 1:
        yield f"-w {p.wrt[-1].name}"
    yield "-f markdown"


def _sections(grads: Gradients, choices: Choices) -> Iterator[Section]:
    a, w = grads.a, grads.w
    checks = checked(grads)  # before anything is searched for
    yield head.program(a, w)
    if a.claims:
        from ..sections.claims import claims

        yield claims(a)
    yield notes(first(a))
    yield head.seed(a, w)
    yield lines.backward(grads)
    yield lines.gradients(grads, choices)
    yield jacobian.why(grads, choices)
    if choices.extras:
        yield graph.followed(a, w)
    yield notes(further(grads))
    yield checks
    if choices.extras:
        yield code.code(a, choices.precision)._replace(extra=True)
