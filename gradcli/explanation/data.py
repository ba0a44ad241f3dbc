"""The explanation as plain data: the keys of the JSON. Arrays are NumPy arrays."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ..autodiff.reverse import Step
from ..graphs import Node, walk
from ..graphs.shapes import Shape
from ..graphs.substitution import substitute
from ..language.problem import Input, Problem
from ..lazy import np
from ..notation import tree
from ..notation.indices.index import Notation
from ..notation.indices.polynomials import Polynomials
from .analysis import Analysis, is_large, none_if_unwritable, within_budget
from .blocks import text_of
from .checks import Check, run_checks
from .choices import ON_REQUEST
from .formulas import by_index
from .formulas.formula_writer import FormulaWriter, writer_of
from .formulas.generic_steps import generic_step
from .formulas.shortest_structure import structure_of, without_number
from .notes import as_data, collect, matrix_notes, on_formulas_of
from .phrases import item_size
from .short.gradients import gradients_of

if TYPE_CHECKING:
    from .cost import FullJacobian, Read
    from .sections.modes import Mode

SCHEMA = "gradcli/1"
KEYS = (
    "schema",
    "expression",
    "inputs",
    "output",
    "seed",
    "graph",
    "steps",
    "jacobian",
    "cost",
    "modes",
    "grad",
    "derivation",
    "claims",
    "checks",
    "notes",
)
EARLY = ("derivation", "grad")  # the answer, which is computed first, while time is left
# the JSON keys of sections, if they differ from the names of the sections
KEY_OF_SECTION = {"answer": "grad", "gradient": "grad", "forward": "graph", "backward": "steps"}
LARGEST_MATRIX = 1_000_000  # entries of a Jacobian that is written out


def sides(written: Notation | None) -> dict[str, str | None]:
    """A line of index notation as texts: its right side, and the element on its left side."""
    if written is None:
        return {"index": None, "index_of": None}
    return {"index": written.plain, "index_of": tree.text(written.left)}


def chosen(a: Analysis, sections: Collection[str]) -> dict[str, Any]:
    """The data of these sections and the keys that are always present; without sections, of all
    that are shown by default.
    """
    a.gradients  # noqa: B018  (errors first)
    keys = (
        {KEY_OF_SECTION.get(name, name) for name in sections} | {"schema", "expression"}
        if sections
        else {key for key in KEYS if key not in ON_REQUEST and (key != "claims" or a.claims)}
    )
    data = Data(a)
    built = {key: data(key) for key in sorted(keys, key=_rank)}
    beside = [] if "notes" in keys else on_formulas_of(keys, a, data.w)
    if beside:
        built["notes"], keys = as_data(beside), keys | {"notes"}
    return {key: built[key] for key in KEYS if key in keys and (key != "derivation" or built[key])}


def _rank(key: str) -> int:
    """The rank of a key in the order of computation. For later keys, time may have run out."""
    return EARLY.index(key) if key in EARLY else len(EARLY)


class Data:
    """The values of the keys, each computed on demand."""

    def __init__(self, a: Analysis):
        self.a, self.w, self.p = a, writer_of(a), a.problem

    def __call__(self, key: str) -> Any:
        """The value of one of KEYS."""
        return getattr(self, f"_{key}")()

    def _schema(self) -> str:
        return SCHEMA

    def _expression(self) -> str:
        """The program; if its last statement has no name, it is assigned to the output's name."""
        program = self.p.program
        of_order = self.p.lower_order is not None
        return program.source.text if of_order else program.named(self.p.out_name)

    def _inputs(self) -> dict[str, Any]:
        return {
            i.name: {
                "shape": list(i.shape),
                "value": i.value,
                "assumed": bool(i.assumed) or i.supposed,
            }
            for i in self.p.inputs.values()
        }

    def _output(self) -> dict[str, Any]:
        out = self.p.out
        return {
            "name": self.p.out_name,
            "shape": list(out.shape),
            "value": self.a.value(out),
            "elements": self.elements(out),
            **sides(by_index.output(self.w)),
        }

    def _seed(self) -> dict[str, Any]:
        seed = self.p.seed
        value = None if seed.value is None else self.a.value(seed.value)
        return {
            "shape": list(seed.node.shape),
            "value": value,
            "implicit": seed.implicit,
            "text": seed.text,
        }

    def _graph(self) -> list[dict[str, Any]]:
        order = walk([self.p.out])
        ids = {node: k for k, node in enumerate(order)}
        return [self._graph_node(node, ids) for node in order]

    def _graph_node(self, node: Node, ids: Mapping[Node, int]) -> dict[str, Any]:
        name = self.w.names.get(node)
        return {
            "id": ids[node],
            "op": node.op.name,
            "name": name.text if name else None,
            "inputs": [ids[i] for i in node.parents],
            "shape": list(node.shape),
            "text": self.w.source.of(node),
            "value": self.a.value(node),
        }

    def _steps(self) -> list[dict[str, Any]]:
        ids = {node: k for k, node in enumerate(walk([self.p.out]))}
        return [
            {
                "node": ids[step.node],
                "op": step.node.op.name,
                "rule": self._text_of_rule(k),
                "received": self.a.value(step.received),
                "contributions": [
                    {
                        "to": ids[c.to],
                        "formula": formula,
                        "value": self.a.value(c.sent),
                    }
                    for c, formula in zip(step.contributions, self._sent_formulas(k), strict=True)
                ],
            }
            for k, step in enumerate(self.a.gradients.steps)
        ]

    def _text_of_rule(self, k: int) -> str | None:
        w, step = generic_step(self.w, k)
        built = [self._in_step(w, step, c.local) for c in step.contributions]
        return None if None in built else ", ".join(filter(None, built))

    def _sent_formulas(self, k: int) -> list[str | None]:
        w, step = generic_step(self.w, k)
        return [self._in_step(w, step, c.sent) for c in step.contributions]

    def _in_step(self, w: FormulaWriter, step: Step, node: Node) -> str | None:
        """A node as a formula in terms of the upstream gradient; None if it is too long, and in
        large programs, which have many steps.
        """
        if is_large(self.p):
            return None
        written = w.formula(node, {step.received: tree.Name(self.p.seed.name)})
        return None if written is None else tree.text(written)

    def _jacobian(self) -> dict[str, Any]:
        return jacobians({x.name: (self, x) for x in self.p.wrt})

    def jacobian(self, x: Input) -> dict[str, Any]:
        """One Jacobian: shape, flattened matrix (None if it is too large, or symbolic), structure,
        closed form, and how many entries of the closed form are not finite while those of the
        matrix are (None if not compared).
        """
        structure = structure_of(self.a, self.w, x)
        return {
            "shape": [*self.p.out.shape, *x.shape],
            "matrix": self.matrix(x) if self.a.jacobian(x).numeric else None,
            "structure": structure.name,
            "formula": structure.text,
            "undefined": without_number(self.a, structure, x),
            **sides(by_index.jacobian(self.w, x)),
        }

    def matrix(self, x: Input) -> Any:
        """The entries of one Jacobian; None if they are not written out, or too many."""
        return self.entries(x) if self.p.out.numel * x.node.numel <= LARGEST_MATRIX else None

    def matrix_notes(self, x: Input) -> list[tuple[str, str]]:
        """Codes and sentences on the closed form of one Jacobian."""
        if self.a.gradient(x) is None:
            return []
        return matrix_notes(self.a, self.w, x, structure_of(self.a, self.w, x))

    @property
    def problem(self) -> Problem:
        """The problem, which `within_budget` reads."""
        return self.p

    @within_budget()
    def entries(self, x: Input) -> Any:
        """The entries of one Jacobian as an array of numbers or of texts, of shape (rows, columns);
        None if texts would be too many or too long.
        """
        jacobian = self.a.jacobian(x)
        if jacobian.numeric:
            return jacobian.matrix
        from ..backends.elements import elements_text
        from ..backends.symbolic import writable

        if not writable(self.p.out.shape, x.shape):
            return None
        return none_if_unwritable(lambda: np.array(elements_text(jacobian.matrix), dtype=object))

    def _read(self, r: "Read", number: int | None) -> dict[str, Any]:
        """A tensor that is saved for backward; `number` is that of its node."""
        from .cost import size_of

        return {
            "text": text_of(self.w.source.short(r.node)),
            "node": number,
            "shape": list(r.node.shape),
            "memory": text_of(self.w.source.short(r.memory)),
            "bytes": size_of(r.memory, self.a.dtype),
        }

    def _cost(self) -> dict[str, Any]:
        from .cost import cost, size_of

        result, dtype = cost(self.a), self.a.dtype
        ids = {node: k for k, node in enumerate(walk([self.p.out]))}
        return {
            "dtype": dtype,
            "forward": {"flops": result.forward},
            "vjp": {"passes": 1, "flops": result.vjp.times(1)},
            "jvp": {"passes": 1, "flops": result.jvp.times(1)},
            "jacobian": {j.x.name: _cost_of_jacobian(j, dtype) for j in result.jacobians},
            "saved": [
                {
                    "node": ids[s.node],
                    "op": s.node.op.name,
                    "reads": [self._read(r, ids.get(r.node)) for r in s.reads],
                }
                for s in result.saved
            ],
            "saved_bytes": sum(size_of(node, dtype) for node in result.saved_tensors),
        }

    def _grad(self) -> dict[str, Any]:
        return {x.name: self.grad(x) for x in self.p.wrt}

    def grad(self, x: Input) -> dict[str, Any] | None:
        """One gradient: shape, value, elements, formula, index notation; None without one."""
        grad = self.a.gradient(x)
        if grad is None:
            return None
        return {
            "shape": list(x.shape),
            "value": self.a.value(grad),
            "elements": self.elements(grad),
            "formula": self.formula(x),
            **sides(by_index.gradient(self.w, x)),
        }

    def _derivation(self) -> list[dict[str, str | None]]:
        """The gradients as statements, each in terms of earlier ones; empty if closed forms are as
        short, and for large programs.
        """
        if is_large(self.p):
            return []
        statements = gradients_of(self.a).statements
        return [{"name": name, "formula": text or None} for name, _, text in statements]

    def formula(self, x: Input) -> str | None:
        """The gradient as a formula; where that is too long, the statements of the derivation that
        it needs, in order. None if there is none, or it is too long as well.
        """
        if self.a.gradient(x) is None:
            return None
        if self.w.gradient(x) is None:
            return None if self.w.is_wrong(x) else gradients_of(self.a).needed_for(x)
        return text_of(self.w.gradient_line(x))

    @within_budget()
    def elements(self, node: Node) -> Any:
        """Every element as an expression in the inputs: in all inputs if all have values, otherwise
        in those without one. None if an element has no such expression, or one that is too long.
        """
        from ..backends.symbolic import writable

        if not writable(node.shape, *(i.shape for i in self.p.inputs.values())):
            return None
        plain = self._as_polynomials(node)
        return none_if_unwritable(lambda: self._by_sympy(node)) if plain is None else plain

    def _as_polynomials(self, node: Node) -> Any:
        """The elements as sums of products, without SymPy; None if one is not such a sum."""
        p = self.p
        if p.numeric:
            symbols = [i.node for i in p.inputs.values() if i.node.dtype == "float"]
            substituted = self.w.without_implicit_seed(node)
        else:
            symbols = [i.node for i in p.inputs.values() if i.value is None]
            values = {d.node: d.value for d in p.directions if d.value is not None}
            substituted = substitute(node, values) if values else node
        symbols += [d.node for d in p.directions]
        return Polynomials({n: n.attrs["name"] for n in symbols}, self.a.value).texts(substituted)

    def _by_sympy(self, node: Node) -> Any:
        from ..backends.elements import elements_text
        from ..backends.symbolic import Symbolic

        if not self.p.numeric:
            return elements_text(self.a.symbolic(node)[0])
        values = {
            i.node: None if i.node.dtype == "float" else i.value for i in self.p.inputs.values()
        }
        return elements_text(
            Symbolic({**values, self.p.seed.node: None}, limits=self.p.limits)(
                self.w.without_implicit_seed(node)
            )[0]
        )

    def _claims(self) -> list[dict[str, Any]]:
        if not self.a.claims:
            return []
        from .claims.report import as_data
        from .claims.verdict import verdicts

        return [as_data(verdict) for verdict in verdicts(self.a)]

    def _modes(self) -> dict[str, Any]:
        return {x.name: self.modes(x) for x in self.p.wrt}

    def modes(self, x: Input) -> dict[str, Any] | None:
        """Input, output and cost of a pass in each mode; None if x has no effect on the output."""
        from .sections.modes import forward_formula, modes

        result = modes(self.a, x, self.w.tangent_name)
        if result is None:
            return None
        forward = text_of(self.w.line(forward_formula(self.a, x, result)))
        return {
            "jvp": _mode(result.forward, forward, x.shape),
            "vjp": _mode(result.reverse, self.formula(x), self.p.out.shape),
        }

    def _checks(self) -> list[dict[str, Any]]:
        return [check_data(c) for c in run_checks(self.a)]

    def _notes(self) -> list[dict[str, str]]:
        on_matrices = (note for x in self.p.wrt for note in self.matrix_notes(x))
        return as_data([*collect(self.a, self.w), *on_matrices])


def jacobians(of: Mapping[str, tuple[Data, Input]]) -> dict[str, dict[str, Any]]:
    """Jacobians by name, each computed from its data and input.

    They share a time limit: the structures of all Jacobians are searched for, the smallest first,
    before entries are written out in symbols, which may take the remaining time.
    """
    by_size = sorted(of, key=lambda name: of[name][0].p.out.numel * of[name][1].node.numel)
    result = {name: of[name][0].jacobian(of[name][1]) for name in by_size}
    for name in by_size:
        data, x = of[name]
        if not data.a.jacobian(x).numeric:
            result[name]["matrix"] = data.matrix(x)
    return {name: result[name] for name in of}


def check_data(c: Check) -> dict[str, Any]:
    """One check."""
    return {
        "name": c.name,
        "ok": c.ok,
        "max_error": c.max_error,
        "place": c.place or None,
        "remark": c.remark or None,
    }


def _cost_of_jacobian(j: "FullJacobian", dtype: str) -> dict[str, Any]:
    return {
        "entries": j.entries,
        "bytes": j.entries * item_size("float", dtype),
        "by_rows": {"passes": j.rows, "flops": j.back.times(j.rows)},
        "by_columns": {"passes": j.columns, "flops": j.forward.times(j.columns)},
    }


def _mode(m: "Mode", formula: str | None, takes: Shape) -> dict[str, Any]:
    """One mode: the shapes of its input and output, its formula, its cost."""
    return {
        "takes": list(takes),
        "gives": list(m.node.shape),
        "formula": formula,
        "flops": m.passes.times(1),
        "saved_bytes": m.saved,
        "jacobian": {"passes": m.needed, "flops": m.passes.times(m.needed)},
    }
