"""The answer of `gradcli seed-for`, as a document and as data."""

from typing import Any

from ...lazy import np
from ...limits import LINE
from ...notation.tree import Attribute, Name, Token
from ..blocks import (
    Answer,
    Block,
    Document,
    Formula,
    Line,
    Prose,
    Row,
    Section,
    Table,
    Tensor,
    plain,
    text_of,
    words,
)
from ..choices import Choices
from ..data import SCHEMA, Data
from ..formulas.source_text import role_of
from ..phrases import label, listed, number_text
from ..question import with_question
from .seed_for import SHOWN, Obstacle, SeedFor, Term

NEARLY = 1e-10  # singular values below this fraction of the largest cause a warning
WRITTEN = 10_000  # largest number of elements of free directions that are all in the data
SMALL = 8  # largest number of elements of a direction that is always written as a tensor
MOST_TERMS = 6  # largest number of terms of a sum that is written out


def document(s: SeedFor, c: Choices) -> Document:
    """The document: the seed, free directions and checks; or the obstacles."""
    impossible = not s.possible
    result = [_why(s, c.full, c.precision), _nearest(s, c.precision)] if impossible else []
    sections = result or [_gradient(s), _free(s, c.full)]
    return with_question(Document((_answer(s),), tuple(sections)), s.p, c.command, backward=False)


def _nearly(s: SeedFor) -> list[Block]:
    """A warning if rounding errors may change the rank of the Jacobian."""
    spread = s.equations.spread
    if spread > NEARLY:
        return []
    text = (
        "The rows of the Jacobian are nearly dependent, and rounding decides what a seed can do: "
    )
    text += f"one singular value is {number_text(spread, 2)} of the largest."
    return [Prose(words(text))]


def _answer(s: SeedFor) -> Answer:
    seed, out = Token(s.p.seed.name, "seed"), s.p.out_name
    if not s.possible:
        names = listed([f"{name}.grad" for name in s.targets])
        return Answer((seed,), None, plain("none"), plain(f"no seed gives this {names}"))
    value = Tensor(s.seed if s.exact is None else s.exact, "answer")
    remark = "the only one" if not s.freedom else "the one of least norm"
    return Answer((seed,), value, (Token(f"{out}.backward("), seed, Token(")")), plain(remark))


# ---- the target is possible ----------------------------------------------------------------------


def _gradient(s: SeedFor) -> Section:
    """The gradients that this seed produces."""
    rows = [
        Row((*_grad_name(s, name), Tensor(s.targets[name] if s.accurate else grad)))
        for name, grad in s.grads.items()
    ]
    off = "the target, up to rounding" if s.max_error else "exactly the target"
    if not s.accurate:
        off = f"off by up to {number_text(s.max_error, 2)}: digits cancel"
    return Section(
        "seed-for", words("One pass back with it"), plain(off), (Table(tuple(rows)), *_nearly(s))
    )


def _grad_name(s: SeedFor, name: str) -> tuple[Line]:
    return ((Formula(Attribute(Name(name, role_of(s.p.inputs[name])), "grad")),),)


def _free(s: SeedFor, full: bool) -> Section:
    """The directions that may be added to the seed."""
    seed, count = Token(s.p.seed.name, "seed"), s.freedom
    if not count:
        text = words("None: every other ", seed, " gives a different gradient.")
        return Section("seed-for", words("Free directions"), (), (Prose(text),))
    shown = s.directions(min(count, _most(s, full)))
    names = ["n"] if count == 1 else [f"n{k}" for k in range(1, len(shown) + 1)]
    rows = [Row((plain(name), _direction(n))) for name, n in zip(names, shown)]
    if len(shown) < count:
        rows.append(Row((words(f"… and {count - len(shown):,} more"),)))
    text = words(seed, " + t·n gives the same gradient for every number t.")
    if count > 1:
        text = words(seed, " plus any multiples of these gives the same gradient.")
    remark = plain(f"{count:,} of the {s.p.out.numel:,} dimensions of a seed")
    if s.p.out.numel == 1:
        remark = plain("no gradient depends on the seed")
    return Section("seed-for", words("Free directions"), remark, (Table(tuple(rows)), Prose(text)))


def _most(s: SeedFor, full: bool) -> int:
    """The largest number of rows of a list."""
    return max(s.p.limits.sizes["entries"] // LINE, SHOWN) if full else SHOWN


def _direction(n: Any) -> Line | Tensor:
    """A direction by its nonzero elements, `1 at [0,0], -1 at [1,0]`, or as a tensor if that is
    shorter.
    """
    places = np.flatnonzero(n)
    if n.size <= SMALL or len(places) > MOST_TERMS:
        return Tensor(n)
    text = [f"{number_text(n.flat[k])} at {label('', n.shape, k)}" for k in places]
    return plain(", ".join(text))


# ---- the target is impossible --------------------------------------------------------------------


def _why(s: SeedFor, full: bool, precision: int) -> Section:
    lines = because(s, min(s.count_of_obstacles, _most(s, full)), precision)
    blocks: list[Block] = [Prose(line) for line in lines]
    reached, whole = s.equations.rank, len(s.target)
    remark = plain(f"gradients span {reached:,} of {whole:,} dimension{'s' * (whole > 1)}")
    more = s.count_of_obstacles - len(lines)
    if more:
        blocks.append(Prose(words(f"… and {more:,} more such reason{'s' * (more > 1)}.")))
    return Section(
        "seed-for", words("Why no seed gives the target"), remark, (*blocks, *_nearly(s))
    )


def because(s: SeedFor, most: int = SHOWN, precision: int = 5) -> list[Line]:
    """A sentence for each of the first obstacles."""
    result = s.obstacles(most)
    text = result[:1] + [o for o in result[1:] if len(o.terms) <= MOST_TERMS]
    return [_sentence(s, o, precision) for o in text]


def _sentence(s: SeedFor, o: Obstacle, precision: int) -> Line:
    if len(o.terms) == 1:
        return _only_zero(s, o, precision)
    if len(o.terms) == 2 and 1 in {abs(t.factor) for t in o.terms}:
        return _multiple(s, o, precision)
    wanted = number_text(o.wanted, precision)
    return (
        *words("These elements are tied: "),
        *_sum(o.terms, precision),
        *words(f" is 0 for every seed, and {wanted} in the target."),
    )


def _multiple(s: SeedFor, o: Obstacle, precision: int) -> Line:
    """The sentence on two elements of a gradient that are always in proportion, while those of the
    target are not: `x.grad[2] equals 3·x.grad[0] for every seed; the target has 6.1 and 2.`
    """
    one, other = sorted(o.terms, key=lambda t: abs(t.factor))
    factor = -other.factor / one.factor
    there = listed([_target_text(s, t, precision) for t in (one, other)])
    return (
        *words("These elements are tied: "),
        *_term(one),
        *words(" equals "),
        *_sum((other._replace(factor=factor),), precision),
        *words(f" for every seed; the target has {there}."),
    )


def _only_zero(s: SeedFor, o: Obstacle, precision: int) -> Line:
    """A sentence on an element of a gradient that is 0 for every seed."""
    (term,) = o.terms
    if s.a.gradient(term.x) is None:
        none = f"No gradient flows from {s.p.out_name} to "
        return words(none, Token(term.x.name, role_of(term.x)), ": PyTorch leaves it at None.")
    out, of_input = s.p.out_name, Formula(term.at(Name(term.x.name)), role_of(term.x))
    if s.is_at_kink(term):
        reason = words("because PyTorch's gradient is 0 at this kink, whatever the seed")
    elif s.depends(term):
        reason = words(f"because at these values {out} does not change with ", of_input)
    else:
        reason = words(f"because {out} does not depend on ", of_input)
    wanted = _target_text(s, term, precision)
    return (
        *_term(term),
        *words(" can only be 0 here, "),
        *reason,
        *words(f"; the target has {wanted}."),
    )


def _term(term: Term) -> Line:
    return (Formula(term.written, role_of(term.x)),)


def _target_text(s: SeedFor, term: Term, precision: int) -> str:
    return number_text(float(s.targets[term.x.name].flat[term.flat]), precision)


def _sum(terms: tuple[Term, ...], precision: int) -> Line:
    """A sum of multiples of elements as text: `x.grad[0] - 2·x.grad[1]`."""
    line: Line = ()
    for k, term in enumerate(terms[:MOST_TERMS]):
        size = abs(term.factor)
        sign = ("-" if k == 0 else " - ") if term.factor < 0 else " + " * (k > 0)
        line += (Token(sign + ("" if size == 1 else f"{number_text(size, precision)}·")),)
        line += _term(term)
    more = len(terms) - MOST_TERMS
    return line if more <= 0 else (*line, *words(f" + … ({more:,} more)"))


def _nearest(s: SeedFor, precision: int) -> Section:
    """The closest seed, and the distance from the target."""
    rows = [Row(((Token(s.p.seed.name, "seed"),), Tensor(s.seed if s.exact is None else s.exact)))]
    for name, grad in s.grads.items():
        rows.append(Row((*_grad_name(s, name), Tensor(_clean(grad, s.targets[name])))))
        rows.append(Row((words("off by"), Tensor(_clean(s.residuals[name], s.targets[name])))))
    off = f"off by {number_text(s.distance, precision)}: the norm of the difference"
    return Section("seed-for", words("Nearest"), plain(off), (Table(tuple(rows)),))


def _clean(array: Any, target: Any) -> Any:
    """The array with rounding errors, relative to the target, set to 0."""
    return np.where(np.abs(array) < 1e-12 * np.max(np.abs(target), initial=0.0), 0.0, array)


# ---- data ----------------------------------------------------------------------------------------


def data(s: SeedFor) -> dict[str, Any]:
    """The keys of the JSON, with NumPy arrays as values."""
    text = s.freedom if s.freedom * s.p.out.numel <= WRITTEN else SHOWN
    return {
        "schema": SCHEMA,
        "expression": Data(s.a)("expression"),
        "target": dict(s.targets),
        "possible": s.possible,
        "seed": {
            "shape": list(s.p.out.shape),
            "value": s.seed,
            "exact": s.exact,
            "norm": float(np.linalg.norm(s.seed)),
        },
        "grad": s.grads,
        "residual": s.residuals,
        "distance": s.distance,
        "free": {"count": s.freedom, "directions": s.directions(text)},
        "spread": s.equations.spread,
        "because": [text_of(line) for line in because(s)],
    }
