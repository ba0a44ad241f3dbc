"""The section on the seed: its values, its meaning, and why PyTorch may require one."""

from ...language.problem import Problem
from ...language.wrt import NOT_SCALAR
from ...lazy import np
from ...notation.tree import Token
from ..analysis import Analysis
from ..blocks import Block, Line, Prose, Row, Section, Table, Tensor, plain, words
from ..formulas.formula_writer import FormulaWriter
from ..phrases import shape_text


def seed(a: Analysis, w: FormulaWriter) -> Section:
    """The section on the seed."""
    p = a.problem
    blocks: list[Block] = [Table((row(a, w),))]
    blocks += [Prose(line) for line in (_meaning(a, w), *remarks(a, w))]
    return Section("seed", words("Seed"), plain(call(p, "gradient=")), tuple(blocks))


def call(p: Problem, keyword: str = "") -> str:
    """The call of backward() in PyTorch, with the seed if one is given."""
    seed = "" if p.seed.value is None or p.seed.implicit else p.seed.name
    if p.lower_order is not None:
        arguments = [p.out_name, p.wrt[0].name, *([seed] if seed else [])]
        return f"torch.autograd.grad({', '.join(arguments)})"
    return f"{p.out_name}.backward({seed and keyword + seed})"


def row(a: Analysis, w: FormulaWriter) -> Row:
    """A row with the name, the shape and the values of the seed."""
    seed = a.problem.seed
    name: Line = (w.seed,)
    if seed.text is not None:
        name = (w.seed, Token(" = "), *w.source.with_roles(plain(seed.text)))
    value = a.value(seed.node)
    cells = (name, plain(shape_text(seed.node.shape)))
    return Row((*cells, words("symbolic") if value is None else Tensor(value, "seed", seed.name)))


def _meaning(a: Analysis, w: FormulaWriter) -> Line:
    out = a.problem.out_name
    if a.problem.seed.implicit:
        return words(
            f"{out} is a single number, so PyTorch uses the seed 1: the gradient of {out} with "
            "respect to itself."
        )
    loss = loss_name(a.problem)
    return words(
        w.seed,
        f" is what the rest of a computation would send back: if {loss} = f({out}), it is the "
        f"gradient of {loss} with respect to {out}. It has {out}'s shape, a weight for each "
        f"element of {out}, and weighs the rows of the Jacobian; it is not multiplied with "
        f"{out} itself. {loss} = ({out} * ",
        w.seed,
        ").sum() has the same gradients.",
    )


def loss_name(p: Problem) -> str:
    """A name for the scalar that the rest of a computation returns: loss, if not in use."""
    return "total" if "loss" in (p.out_name, *p.inputs, *p.named) else "loss"


def _missing(p: Problem, w: FormulaWriter) -> Line:
    """The remark on a seed that PyTorch requires."""
    each_order = "" if p.lower_order is None else ", one for each order"
    text = words(
        f'PyTorch refuses {p.out_name}.backward() without a seed: "{NOT_SCALAR}". There is '
        f"a Jacobian row for each of the {p.out.numel} elements of "
        f"{p.out_name}, and no way to know how to weigh them; taking ones would silently "
        f"differentiate {p.out_name}.sum(). "
        f"Give a seed with --grad{each_order}. Here it stays a symbol, "
    )
    return text + (w.seed, Token("."))


def remarks(a: Analysis, w: FormulaWriter) -> list[Line]:
    """Remarks on an implicit, missing or special seed."""
    p = a.problem
    if p.seed.refused:
        return [_missing(p, w)]
    value = a.value(p.seed.node)
    if value is None or p.seed.implicit or value.size < 2:
        return []
    if np.all(value == 1):
        return [words(f"A seed of ones asks for the gradient of {p.out_name}.sum().")]
    hot = np.argwhere(value != 0)
    if len(hot) == 1 and value[tuple(hot[0])] == 1:
        index = ",".join(map(str, hot[0]))
        return [
            words(
                "A one-hot seed picks one row of the Jacobian: the gradient of "
                f"{p.out_name}[{index}] alone."
            )
        ]
    return []
