"""A torch.autograd.Function: forward, backward from the gradients' formulas, and gradcheck."""

import re

from ...graphs import Node
from ...notation import tree
from ...notation.statements import Statements
from ...notation.torch_code import TorchWriter
from ...notation.tree import Call, Name, Tree
from .arrays import assigned
from .draws import suitable
from .plan import Plan, indented, unpacked
from .pytorch import DOUBLE, header, values
from .saved import Saved, free_names

ONCE = "from torch.autograd.function import once_differentiable"


class FunctionWriter(TorchWriter):
    """Formulas whose new tensors have dtype and device of the seed."""

    def __init__(self, names, seed: str):
        super().__init__(names)
        self.seed = seed

    def written(self, node: Node) -> Tree:
        """The formula of a node."""
        found = super().written(node)
        makes = isinstance(found, Call) and not found.function.endswith("_like")
        if makes and node.op.family == "leaf" and node.dtype == "float":
            like = [(name, Name(f"{self.seed}.{name}")) for name in ("dtype", "device")]
            return found._replace(named=(*found.named, *like))
        return found


def program(plan: Plan) -> str:
    """The function as a class, and its test."""
    plan.refuse_barriers("torch-function")
    return _Function(plan).text()


class _Function:
    def __init__(self, plan: Plan):
        self.plan = plan
        self.names = plan.fresh("ctx")
        self.class_name = self.names.free(_class_name(plan))
        self.arguments = plan.arguments
        self.seed = plan.problem.seed.name

    def text(self) -> str:
        plan = self.plan
        choice = suitable(plan)
        grads = plan.gradients(seeded=True)
        saved = Saved(plan, grads, self.names)
        backward = self._backward(grads, saved)
        kept, shapes = self._kept(backward, saved)
        forward = self._forward(saved, kept, shapes)
        opened = [f"{unpacked(kept)} = ctx.saved_tensors"] if kept else []
        inner = set(saved.inner.values()) - {plan.own.get(plan.out)}
        once = bool(inner & set(kept))
        body = [
            f"class {self.class_name}(torch.autograd.Function):",
            *indented(["@staticmethod", *self._def("forward", self._named), *indented(forward)]),
            "",
            *indented(["@staticmethod", *(["@once_differentiable"] if once else [])]),
            *indented([*self._def("backward", [self.seed]), *indented([*opened, *backward])]),
        ]
        test = [DOUBLE, "", *values(plan, choice, self.arguments, {plan.safe(x.name) for x in plan.wrt})]
        at = unpacked(self._named) if len(self._named) == 1 else f"({unpacked(self._named)})"
        check = f"assert torch.autograd.gradcheck({self.class_name}.apply, {at})"
        whole = [*body, "", "", *test, check]
        return "\n".join([*header(whole, *([ONCE] if once else [])), "", "", *whole]) + "\n"

    @property
    def _named(self) -> list[str]:
        return [self.plan.safe(i.name) for i in self.arguments]

    def _def(self, name: str, arguments: list[str]) -> list[str]:
        return [f"def {name}({', '.join(['ctx', *arguments])}):"]

    def _backward(self, grads: list[Node], saved: Saved) -> list[str]:
        plan, seed = self.plan, self.plan.problem.seed
        known = {seed.node: Name(self.seed)} | {n: Name(name) for n, name in saved.names.items()}
        writer = FunctionWriter(known, self.seed)
        for i in self.arguments:  # for their shapes; text that reads one is changed below
            writer.shapes.setdefault(i.shape, plan.names[i.node])
        made = Statements(writer, grads, {}, plan.fresh("ctx", *saved.names.values()))
        formulas = {x.name: tree.text(f) for x, f in zip(plan.wrt, made.formulas)}
        results = [self._result(i.name) if i.name in formulas else "None" for i in self.arguments]
        if len(formulas) == 1:
            (only,) = formulas.values()
            return [*assigned(made.lines), _returned([only if r != "None" else r for r in results])]
        shared = [s for s in made.lines if len(s.needed) > 1]
        lines = assigned(shared)
        lines.append(f"{' = '.join(r for r in results if r != 'None')} = None")
        for place, x in enumerate(plan.wrt):
            lines.append(f"if ctx.needs_input_grad[{self.arguments.index(x)}]:")
            own = assigned([s for s in made.lines if s.needed == {place}])
            lines += indented([*own, f"{self._result(x.name)} = {formulas[x.name]}"])
        return [*lines, _returned(results)]

    def _result(self, name: str) -> str:
        return f"{self.plan.safe(name)}_grad"

    def _kept(self, backward: list[str], saved: Saved) -> tuple[list[str], list[str]]:
        """The names of what is saved, and of the inputs whose shape is; `backward` reads shapes
        from ctx then.
        """
        used = free_names(backward)
        kept = [n for n in dict.fromkeys([*self._named, *saved.inner.values()]) if n in used]
        values = set(saved.names.values())
        shapes = [n for n in kept if n not in values]
        for name in shapes:
            for k, line in enumerate(backward):
                backward[k] = _by_shape(line, name)
        return [n for n in kept if n not in shapes], shapes

    def _forward(self, saved: Saved, kept: list[str], shapes: list[str]) -> list[str]:
        plan = self.plan
        wanted = {n: name for n, name in plan.own.items() if n is not plan.out}
        wanted |= {n: name for n, name in saved.inner.items() if name in kept}
        made = Statements(
            TorchWriter(plan.names), [plan.out], wanted, plan.fresh("ctx", *wanted.values())
        )
        save = [f"ctx.save_for_backward({', '.join(kept)})"] if kept else []
        save += [f"ctx.{name}_shape = {name}.shape" for name in shapes]
        return [*assigned(made.lines), *save, f"return {tree.text(made.formulas[0])}"]


def _returned(results: list[str]) -> str:
    return f"return {', '.join(results)}"


def _by_shape(line: str, name: str) -> str:
    """A line that reads the shape of `name` from ctx."""
    shape = f"ctx.{name}_shape"
    line = re.sub(rf"\b{name}\.shape\b", shape, line)
    line = re.sub(rf"\b{name}\.numel\(\)", f"{shape}.numel()", line)
    line = re.sub(rf"\.expand_as\({name}\)", f".expand({shape})", line)
    return re.sub(rf"torch\.(zeros|ones)_like\({name}\)", rf"g.new_\1({shape})", line)


def _class_name(plan: Plan) -> str:
    """The name of the output in capitals, else that of the last operation."""
    name = plan.problem.out_name
    return "".join(part.capitalize() for part in (plan.out.op.name if name == "out" else name).split("_"))


