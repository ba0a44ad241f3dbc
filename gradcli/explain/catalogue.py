"""The operators, as a list and one by one."""

from ..errors import GradcliError, did_you_mean
from ..graph import OPS, Node, Operator
from ..language.options import read_shapes
from ..language.problem import pose
from ..language.vocabulary import INTERNAL, functions
from ..notation.tree import Token
from ..ops.families import Shorthand
from .analysis import Analysis
from .blocks import Document, Line, Row, Section, Table, plain, words
from .wording import Wording


def catalogue(name: str | None) -> Document:
    """All operators; those whose name holds `name`; or the page of the one called so."""
    if name is None:
        return Document((), tuple(_family(title, members) for title, members in families().items()))
    known = functions()
    bare = name.rsplit(".", 1)[-1]
    if isinstance(known.get(bare), Operator):
        return Document((), (page(known[bare]),))  # type: ignore[arg-type]
    found = {n: f for n, f in known.items() if bare.lower() in n.lower()}
    if isinstance(known.get(bare), Shorthand) or found:
        return Document(
            (),
            (
                Section(
                    "ops",
                    plain(f"Operators with {bare}"),
                    (),
                    (Table(tuple(_line(n, f) for n, f in sorted(found.items()))),),
                ),
            ),
        )
    raise GradcliError(
        "unknown-function",
        f"there is no operator {name}",
        hint=did_you_mean(bare, known) or "gradcli ops lists them",
    )


def families() -> dict[str, list[Operator]]:
    """The operators by the file that defines them, which is how they belong together."""
    found: dict[str, list[Operator]] = {}
    for op in OPS.values():
        if op.name not in INTERNAL:
            found.setdefault(op.module, []).append(op)
    return found


def _family(title: str, members: list[Operator]) -> Section:
    rows = tuple(_line(op.name, op) for op in sorted(members, key=lambda op: op.name))
    return Section("ops", plain(title.capitalize()), (), (Table(rows),))


def _line(name: str, function) -> Row:
    signature = (
        function.signature()
        if isinstance(function, Operator) and function.name == name
        else f"{name}(…)"
    )
    return Row((plain(signature), plain(function.sentence)))


def page(op: Operator) -> Section:
    """Signature, sentence, rule, caveat, other names and an example."""
    rows = [Row((words("meaning"), words(op.sentence)))]
    rows += [Row((plain("rule" if k == 0 else ""), line)) for k, line in enumerate(rules(op))]
    if op.caveat:
        rows.append(Row((plain("caveat"), plain(op.caveat))))
    if op.aliases:
        rows.append(Row((plain("also"), plain(", ".join(op.aliases)))))
    if op.torch:
        rows.append(Row((plain("PyTorch"), plain(op.torch))))
    for k, (expr, shapes) in enumerate(op.examples[:2]):
        options = " ".join(f"-s {s}" for s in shapes.split(",")) if shapes else ""
        rows.append(
            Row((plain("" if k else "example"), plain(f'gradcli "{expr}" {options}'.strip())))
        )
    return Section("ops", plain(op.signature()), (), (Table(tuple(rows)),))


def rules(op: Operator) -> list[Line]:
    """`to x: g * (1 - y ** 2)`: the gradient of each input, as the rule gives it for the first example."""
    for expr, shapes in op.examples:
        try:
            analysis = Analysis(pose(expr, shapes=read_shapes([shapes])))
            steps = analysis.gradients.steps
        except GradcliError:
            continue
        step = next((s for s in steps if s.node.op is op), None)
        if step is not None:
            return _rule_lines(analysis, step)
    return []


def _rule_lines(analysis: Analysis, step) -> list[Line]:
    from ..notation.tree import Name

    w = Wording(analysis)
    extra: dict[Node, Name] = {step.received: Name("g", "seed"), step.node: Name("y")}
    for c in step.contributions:
        extra.setdefault(c.to, Name(_input_name(step.node, c.slot)))
    return [
        (Token(f"to {_input_name(step.node, c.slot)}:  "), *w.formula_line(c.local, extra))
        for c in step.contributions
    ]


def _input_name(node: Node, slot: int) -> str:
    inputs = node.op.inputs
    return inputs[slot] if not node.op.variadic else f"{inputs[0]}[{slot}]"
