"""The replies to each kind of question: documents for renderers, and data for JSON."""

from typing import TYPE_CHECKING, Any

from .blocks import Document, Reply, Use
from .choices import Choices
from .question import with_question

if TYPE_CHECKING:
    from .analysis import Analysis
    from .data import Data
    from .higher.hessian import Hessian
    from .higher.jvp import Jvp
    from .messages.answer import Answer as Message
    from .reading.answer import Answer as Reading
    from .seeds.seed_for import SeedFor


def explanation(a: "Analysis", choices: Choices) -> Reply:
    """The explanation of a gradient. Raises GradcliError for an unknown section."""
    from .document import check_sections, document

    check_sections(choices.show)

    def documents(use: Use) -> list[Document]:
        return [document(a, choices._replace(extras=use == "page"))]

    def data() -> dict[str, Any]:
        from .data import chosen

        return chosen(a, choices.show)

    return Reply(documents, data)


def hessian(h: "Hessian", choices: Choices) -> Reply:
    """A Hessian."""
    from .document import hessian_document
    from .higher_data import hessian_data

    return Reply(lambda _: [hessian_document(h, choices)], lambda: hessian_data(h))


def jvp(j: "Jvp", choices: Choices) -> Reply:
    """A Jacobian-vector product."""
    from .document import jvp_document
    from .higher_data import jvp_data

    return Reply(lambda _: [jvp_document(j, choices)], lambda: jvp_data(j))


def seed_for(s: "SeedFor", choices: Choices) -> Reply:
    """The seed for a target gradient."""
    from .seeds.seed_for_document import data, document

    return Reply(lambda _: [document(s, choices)], lambda: data(s))


def formulas(data: "Data", command: str = "") -> Reply:
    """Closed forms of gradients only."""
    from .closed_forms import as_data, closed_forms

    return Reply(lambda use: [closed_forms(data, use, command)], lambda: as_data(data), keyed=False)


def graph(a: "Analysis", command: str = "") -> Reply:
    """The graph only."""
    from .data import Data
    from .formulas.formula_writer import writer_of
    from .sections import graph

    def documents(_: Use) -> list[Document]:
        document = Document((), (graph.graph(a, writer_of(a)),))
        return [with_question(document, a.problem, command, backward=False)]

    return Reply(documents, lambda: Data(a)("graph"), keyed=False)


def programs(answers: "list[Reading]", command: str = "") -> Reply:
    """The explanations of programs that were run; the last document contains the command."""
    from .reading.answer import data

    def documents(_: Use) -> list[Document]:
        pages = [answer.document() for answer in answers]
        return [*pages[:-1], *(page._replace(command=command) for page in pages[-1:])]

    return Reply(documents, lambda: data(answers))


def message(result: "Message", command: str = "") -> Reply:
    """The meaning of an error message."""
    from .messages.answer import data, document

    return Reply(lambda _: [document(result)._replace(command=command)], lambda: data(result))


def messages(full: bool, command: str = "") -> Reply:
    """The list of known messages."""
    from .messages.answer import listing, listing_document

    return Reply(lambda _: [listing_document(full)._replace(command=command)], listing, False)


def operators(name: str | None, full: bool, command: str = "") -> Reply:
    """The operators, or one of them; without a name the data contains all operators."""
    from .catalogue import catalogue, data

    result = catalogue(name, full)
    return Reply(
        lambda _: [result._replace(command=command)], lambda: data(catalogue(name, full=True))
    )


def why(a: "Analysis", command: str = "") -> Reply:
    """Why elements of a gradient are nan, infinite or zero."""
    from .why import why_expression

    result = why_expression(a)
    return Reply(lambda _: [with_question(result.document(), a.problem, command)], result.data)
