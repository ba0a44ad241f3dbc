"""An explanation on one screen: what it is, the seed, how the gradients are derived, one Jacobian
with the seed in its margin, checks, and what else there is.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..analysis import Analysis
from ..blocks import Document, Section
from ..formulas.wording import Wording
from ..sections.notes import notes
from . import checked, head, jacobian, lines
from .gradients import Gradients
from .notes import first, further

if TYPE_CHECKING:
    from ..document import Choices


def document(a: Analysis, choices: "Choices") -> Document:
    """The explanation of a problem in short."""
    found = Gradients(a, Wording(a))
    head, *rest = _sections(found, choices)
    return Document((), (head, *(s for s in rest if s.blocks)))


def _sections(found: Gradients, choices: "Choices") -> Iterator[Section]:
    a, w = found.a, found.w
    yield head.program(a, w)
    yield notes(first(a, w))
    yield head.seed(a, w)
    yield lines.backward(found)
    yield lines.gradients(found, choices)
    yield jacobian.why(found, choices)
    yield notes(further(found))
    yield checked.checked(found, choices)
