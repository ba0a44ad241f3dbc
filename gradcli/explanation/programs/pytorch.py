"""Programs for PyTorch that compute an answer and assert it."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ...graphs import Node
from ...graphs.shapes import axis
from ...language.problem import Input
from ...notation import tree
from ...notation.code.array_code import check_written
from ...notation.code.statements import Names, Statements
from ...notation.code.torch_code import TorchWriter, array
from ...notation.formulas.formula import GenericSizes, Writer
from ...notation.tree import Call, Listing, Name, Tree, Verbatim
from ...operators.indexing import is_array
from ..checking.rounding import wants_double
from ..torch_lines import UNDERIVED, fixed
from .arrays import assigned, helpers
from .at_sizes import AtSizes, Derivation
from .draws import Choice, Draw, finite, input_lines
from .plan import Plan, named

PUT = '''
def put(shape, index, values):
    """Zeros of a shape with values at an index."""
    out = values.new_zeros(shape)
    out[index] = values
    return out
'''


class ProgramWriter(TorchWriter):
    """Writes formulas that PyTorch can run; new tensors have the dtype and device of `like`."""

    def __init__(
        self,
        names: Mapping[Node, Name],
        generic_sizes: GenericSizes | None = None,
        like: str | None = None,
    ):
        super().__init__(names, generic_sizes)
        self.like_name = like
        self.helpers: dict[str, str] = {}

    def written(self, node: Node) -> Tree:
        """The formula of a node whose inputs already have formulas."""
        if node.op.name == "tensor":
            check_written(node.attrs["data"])
            return Verbatim(array(node.attrs["data"].value, kind=self.kind(node.dtype)))
        if node.op.name == "put_at" and not any(map(is_array, node.attrs["index"])):
            return self._put_tree(node)
        if node.op.name == "size" and node.parents[0] not in self.named:
            return self._sizes(node) or super().written(node)
        result = super().written(node)
        if node.op.family != "leaf" or not isinstance(result, Call):
            return result
        if result.function.endswith("_like"):
            return result
        return result._replace(named=(*result.named, *self._kind(node.dtype)))

    def kind(self, dtype: str) -> str:
        """The options of a call that creates a tensor: `, dtype=g.dtype, device=g.device`."""
        return "".join(f", {name}={tree.text(value)}" for name, value in self._kind(dtype))

    def _kind(self, dtype: str) -> list[tuple[str, Tree]]:
        """The dtype and device options of a new tensor; none for integers and masks."""
        names = ("dtype", "device") if dtype == "float" else ("device",)
        return [(n, Name(f"{self.like_name}.{n}")) for n in names if self.like_name]

    def _sizes(self, node: Node) -> Tree | None:
        """The size of an unnamed node, as a product of sizes of named ones; None otherwise."""
        (x,) = node.parents
        dims = sorted(axis(d, x.ndim) for d in node.attrs["dim"])
        if x.shape in self.shapes or not dims:
            return None
        return tree.product([self.size(x.shape[d], d - x.ndim) for d in dims])

    def _put_tree(self, node: Node) -> Tree:
        if node.inputs[0] in self.numbers:
            return super().written(node)
        self.helpers["put"] = PUT
        index = node.attrs["index"]
        items = tuple(map(self._item, self.trimmed(index, node.shape)))
        at = items[0] if len(items) == 1 else Listing(items)
        return Call("put", (self.attribute(node, "shape"), at, Writer.operand(self, node, 0)))

    def _item(self, item: Any) -> Tree:
        """One item of an index as a value."""
        if isinstance(item, slice):
            return Call("slice", tuple(map(self.plain, (item.start, item.stop, item.step))))
        return Verbatim("...") if item is Ellipsis else self.plain(item)


DOUBLE = "torch.set_default_dtype(torch.float64)"
ALONE = 82  # largest number of characters of a formula on a line of its own
CLOSE = 5e-6  # relative tolerance, half of that of the assertions


def program(plan: Plan, sized: AtSizes) -> str:
    """Inputs, forward, backward, and an assertion for each gradient."""
    return _Torch(plan, sized).text()


def values(plan: Plan, choice: Choice, inputs: list[Input], tracked: set[str]) -> list[str]:
    """A line for the value of each input; those in `tracked` require a gradient."""

    def written(i: Input) -> str:
        return array(i.value, plan.safe(i.name) in tracked)

    def random(i: Input, draw: Draw) -> list[str]:
        return _random(plan.safe(i.name), draw, i.shape, plan.safe(i.name) in tracked)

    lines = input_lines(plan, choice, inputs, written, random)
    if any("torch.rand" in line for line in lines):
        lines.insert(0, "torch.manual_seed(0)")
    return lines


def _random(name: str, draw: Draw, shape: tuple[int, ...], tracked: bool) -> list[str]:
    sizes = ", ".join(map(str, shape)) or "()"
    option = ", requires_grad=True" if tracked else ""
    end = ".requires_grad_()" if tracked else ""
    if draw.is_matrix(shape):
        unit = f"{shape[-1]} * torch.eye({shape[-1]})"
        lines = [f"{name} = torch.randn({sizes})", f"{name} = {name} @ {name}.mT + {unit}"]
        return [*lines, f"{name}.requires_grad_()"] if tracked else lines
    if not draw.high:
        return [f"{name} = torch.randn({sizes}{option})"]
    return [f"{name} = torch.empty({sizes}).uniform_({draw.low}, {draw.high}){end}"]


def header(body: list[str], *modules: str) -> list[str]:
    """The imports that a body needs."""
    lines = ["import torch"]
    lines += ["import torch.nn.functional as F"] * any("F." in line for line in body)
    return [*lines, *modules]


class _Torch:
    def __init__(self, plan: Plan, sized: AtSizes):
        self.plan, self.sized, self.problem = plan, sized, plan.problem
        without = fixed(self.problem.out)
        self.tracked = [x for x in self.problem.wrt if x.node not in without]
        self.by_formula = any(x in plan.wrt and plan.expected(x) is None for x in self.tracked)
        self.named_nodes = dict(sized.named_nodes) | dict(self.derivation.added)
        writer_names = sized.all_names | named(self.named_nodes) | dict(self.derivation.names)
        self.writers = [
            ProgramWriter(names, sized.generic_sizes) for names in (sized.names, writer_names)
        ]

    @cached_property
    def derivation(self) -> Derivation:
        """The gradients that are asserted with their formulas; empty if values are asserted."""
        if not self.by_formula:
            return Derivation([], [], {}, {})
        if len(self.tracked) < len(self.problem.wrt):  # intermediates may have no .grad in PyTorch
            return Derivation([], self.sized.gradients(seeded=False), {}, {})
        return self.sized.derivation()

    def text(self) -> str:
        plan, sized = self.plan, self.sized
        choice = Choice(None) if plan.has_values else finite(plan)
        tracked = {plan.safe(x.name) for x in self.tracked}
        inputs = values(plan, choice, plan.inputs, tracked)
        forward = Statements(self.writers[0], [sized.out], self.named_nodes, self._fresh())
        lines = assigned(forward.lines)
        (written,), name = forward.formulas, plan.safe(self.problem.out_name)
        lines += [f"{name} = {tree.text(written)}"] * (written != Name(name))
        seed, back = self._seed()
        retained = _retain_lines(plan, [name for name, _ in self.derivation.back[::-1]])
        body = [*inputs, "", *lines, *retained, *seed, back, "", *self._assertions()]
        if self._wants_double(choice):
            body = [DOUBLE, "", *body]
        helper_lines = ["", *helpers(*self.writers)] if any(w.helpers for w in self.writers) else []
        return "\n".join([*header(body), "", *helper_lines, *body]) + "\n"

    def _fresh(self) -> Names:
        """Names that neither the program nor the derivation has."""
        return self.plan.fresh(*self.derivation.added.values())

    def _wants_double(self, choice: Choice) -> bool:
        """Whether single precision would change a number, or might miss an assertion."""
        is_random = self.by_formula or choice.draw is not None
        return is_random or wants_double(self.plan.analysis, CLOSE)

    def _seed(self) -> tuple[list[str], str]:
        """The lines that define the seed, and the call of backward."""
        p, out = self.problem, self.plan.safe(self.problem.out_name)
        if not self.tracked:
            return [], UNDERIVED
        if p.seed.implicit:
            return [], f"{out}.backward()"
        written = self._seed_text(out)
        if self.by_formula or len(written) > 60:
            return [f"{p.seed.name} = {written}"], f"{out}.backward({p.seed.name})"
        return [], f"{out}.backward({written})"

    def _seed_text(self, out: str) -> str:
        p, seed_array = self.problem, self.problem.seed.array
        if p.seed.value is None or (seed_array is not None and seed_array.size > 60):
            return f"torch.randn_like({out})"
        if seed_array is not None:
            return array(seed_array)
        names = self.plan.here.names | {p.out: Name(out)}
        names |= {n: Name(self.plan.safe(name)) for name, n in p.named.items() if n not in names}
        writer = ProgramWriter(names)
        return _as_tensor(writer, p.seed.value, writer.tree(p.seed.value))

    def _assertions(self) -> list[str]:
        plan = self.plan
        result: list[str] = []
        if self.by_formula:
            result += self._by_formula()
        for x in self.tracked:
            name, expected = plan.safe(x.name), plan.expected(x)
            if x not in plan.wrt:
                result.append(f"assert {name}.grad is None")
            elif expected is not None and not self.by_formula:
                result += _close(f"{name}.grad", array(expected))
        return result

    def _by_formula(self) -> list[str]:
        plan, result = self.plan, self.derivation
        pairs = [(plan.safe(x.name), g) for x, g in zip(plan.wrt, result.ends) if x in self.tracked]
        pairs = [*result.back, *pairs]
        writer = self.writers[1]
        formulas = Statements(writer, [g for _, g in pairs], {}, self._fresh(), ALONE)
        lines = assigned(formulas.lines)
        for (name, grad), written in zip(pairs, formulas.formulas):
            lines += _close(f"{name}.grad", _as_tensor(writer, grad, written))
        return lines


def _retain_lines(plan: Plan, names: list[str]) -> list[str]:
    """Lines that call retain_grad() on intermediates."""
    if len(names) < 2:
        return [f"{name}.retain_grad()" for name in names]
    value = plan.fresh().free("value")
    return [f"for {value} in ({', '.join(names)}):", f"    {value}.retain_grad()"]


def _as_tensor(writer: ProgramWriter, node: Node, written: Tree) -> str:
    """A formula as text; a Python number is converted to a tensor, as PyTorch requires here."""
    text = tree.text(written)
    return f"torch.tensor(float({text}))" if node in writer.numbers else text


def _close(result: str, expected: str) -> list[str]:
    """An assertion that two tensors are close, on one line if it fits."""
    arguments = [result, expected]
    arguments += ["rtol=1e-5", "atol=1e-6"] if expected.startswith("torch.tensor(") else []
    arguments += ["equal_nan=True"] if "torch.nan" in expected else []
    line = f"torch.testing.assert_close({', '.join(arguments)})"
    if len(line) <= 88:
        return [line]
    return ["torch.testing.assert_close(", *(f"    {a}," for a in arguments), ")"]
