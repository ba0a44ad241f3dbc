"""Hessians and Jacobian-vector products in each format."""

from ..explanation.choices import Choices
from ..explanation.document import hessian_document, jvp_document
from ..explanation.higher.hessian import Hessian
from ..explanation.higher.jvp import Jvp
from .environment import Environment
from .formats import check_format, render_document
from .json import dumped


def render_hessian(h: Hessian, format: str, choices: Choices, environment: Environment) -> str:
    """A Hessian in one of FORMATS. Raises GradcliError for another."""
    check_format(format)
    if format == "json":
        from ..explanation.higher_data import hessian_data

        return dumped(hessian_data(h))
    return render_document(hessian_document(h, choices), format, environment)


def render_jvp(j: Jvp, format: str, choices: Choices, environment: Environment) -> str:
    """A Jacobian-vector product in one of FORMATS. Raises GradcliError for another."""
    check_format(format)
    if format == "json":
        from ..explanation.higher_data import jvp_data

        return dumped(jvp_data(j))
    return render_document(jvp_document(j, choices), format, environment)
