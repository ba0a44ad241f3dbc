"""An explanation as a Python object."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from .errors import GradcliError, did_you_mean, short_repr
from .explanation.analysis import Analysis
from .explanation.blocks import Reply, notes_respelled
from .keywords import check_number, check_text, in_keywords, in_python
from .limits import PRECISIONS, WIDTHS

if TYPE_CHECKING:
    from .render.environment import Environment


class Explanation:
    """An explained gradient.

    Its attributes are the keys of the JSON (`grad`, `jacobian`, `inputs`, ...), with NumPy arrays.
    Printed, or as the value of a notebook's cell, it shows the answer on one screen, or with `full`
    all sections in the notebook; `to(format)` returns a text. `say` is a function that replaces
    options in messages by the caller's spelling.
    """

    def __init__(
        self, analysis: Analysis, full: bool = False, say: Callable[[str], str] = in_python
    ):
        from .explanation.data import Data

        self._analysis, self._data, self._full, self._say = analysis, Data(analysis), full, say
        self._budget = analysis.problem.limits.budget

    @in_keywords
    def __getattr__(self, name: str) -> Any:
        from .explanation.data import KEYS

        if name not in KEYS:
            raise AttributeError(name)
        self._budget.renew()
        value = self._data(name)
        if name == "notes":
            value = notes_respelled(value, self._say)
        self.__dict__[name] = value
        return value

    @in_keywords
    def to(
        self,
        format: str = "plain",
        *,
        width: int = 80,
        precision: int = 5,
        show: Collection[str] = (),
        full: bool = False,
        place: str = "",
    ) -> str:
        """The explanation as text.

        `format` is "terminal", "plain", "markdown", "latex", "html" (a page), "svg" or "json". The
        text fits one screen, or is complete with `full`, or has the sections `show`. `place` says
        where Markdown will be pasted, as `--for` does.
        """
        check_text("format", format)
        _check_place(place)
        check_number("width", width, *WIDTHS)
        check_number("precision", precision, *PRECISIONS)
        _check_sections(show)
        if not isinstance(full, bool | int):
            raise GradcliError("option", f"full must be True or False, got {short_repr(full)}")
        from .render.formats import render

        common = {"full": bool(full), "precision": precision}
        answer = self._answer(show=tuple(show), **common)
        color = format == "terminal"
        environment = self._environment(width=width, color=color, place=place, **common)
        return render(answer, format, environment)

    def _answer(self, **choices: Any) -> Reply:
        """The explanation as a document, within a new budget."""
        from .explanation import replies
        from .explanation.choices import Choices

        self._budget.renew()
        return replies.explanation(self._analysis, Choices(**choices))

    def _environment(self, **look: Any) -> "Environment":
        from .render.environment import Environment

        return Environment(say=self._say, limits=self._analysis.problem.limits, **look)

    def __str__(self) -> str:
        return self.to("plain")

    def __repr__(self) -> str:
        return f"<gradcli.Explanation of {self._analysis.problem.program.source.text!r}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """The representations that a notebook can choose from; HTML has scoped styles."""
        from .render.formats import fragment

        answer, environment = self._answer(full=self._full), self._environment(full=self._full)
        return {
            "text/html": fragment(answer, environment),
            "text/latex": self.to("latex", full=self._full),
            "text/markdown": self.to("markdown", full=self._full),
            "text/plain": self.to("plain", full=self._full),
        }


def _check_sections(show: Collection[str]) -> None:
    listed = isinstance(show, Collection) and not isinstance(show, str | bytes)
    if not listed or not all(isinstance(name, str) for name in show):
        raise GradcliError("option", f"show must be a list of sections, got {short_repr(show)}")


def _check_place(place: str) -> None:
    from .render.names import PLACES

    check_text("place", place)
    if place not in ("", *PLACES):
        hint = did_you_mean(place, PLACES) or f"the places are {', '.join(PLACES)}"
        raise GradcliError("option", f"there is no place {place}", hint=hint)
