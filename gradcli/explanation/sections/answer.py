"""The answer in one line."""

from ...notation.tree import Token
from ..analysis import Analysis
from ..blocks import Answer, Formula, Line, Tensor, plain
from ..formulas.wording import Wording


def answers(a: Analysis, w: Wording) -> tuple[Answer, ...]:
    """A line for the gradient with respect to each input in `wrt`."""
    return tuple(_answer(a, w, x) for x in a.problem.wrt)


def _answer(a: Analysis, w: Wording, x) -> Answer:
    name = (Formula(w.gradient_of(x)),)
    grad = a.gradient(x)
    if grad is None:
        return Answer(
            name,
            None,
            plain("None"),
            plain(f"no gradient flows from {a.problem.out_name} to {x.name}"),
        )
    value = a.grad_value(x)
    remark = _seed_remark(a, w) if value is not None else ()
    number = None if value is None else Tensor(value, "answer", w.gradient_name(x))
    written = w.gradient(x)
    line = w.without_formula(x) if written is None else w.answer_line(written)
    return Answer(name, number, line, remark)


def _seed_remark(a: Analysis, w: Wording) -> Line:
    seed = a.problem.seed
    if seed.implicit or seed.text is None:
        return ()
    return (Token("with the seed "), w.seed, Token(" = "), *w.source.coloured(plain(seed.text)))
