"""A torch.autograd.Function: forward, backward from the gradients' formulas, and gradcheck."""

import re
from functools import cached_property

from ...graphs import Node
from ...notation import tree
from ...notation.code.statements import Statements
from ...notation.tree import Name
from .arrays import assigned, helpers
from .at_sizes import AtSizes
from .draws import suitable
from .plan import Plan, indented, named, tupled, unpacked
from .pytorch import DOUBLE, ProgramWriter, header, values
from .saved import Saved, free_names

MANY = 500  # for more elements gradcheck runs in its fast mode
ONCE = "from torch.autograd.function import once_differentiable"


def program(plan: Plan, sized: AtSizes) -> str:
    """The function as a class, and its test."""
    plan.refuse_barriers("torch-function")
    return _Function(plan, sized).text()


class _Function:
    def __init__(self, plan: Plan, sized: AtSizes):
        self.plan, self.sized = plan, sized
        self.names = plan.fresh()
        self.class_name = self.names.free(_class_name(sized))
        self.arguments = plan.arguments
        self.seed = plan.problem.seed.name
        self.writers: list[ProgramWriter] = []

    def text(self) -> str:
        plan, sized = self.plan, self.sized
        choice = suitable(plan)
        grads = sized.gradients(seeded=True)
        saved = Saved(sized, grads, self.names)
        backward = self._backward(grads, saved)
        saved_names, shapes = self._saved_names(backward, saved)
        forward = self._forward(saved, saved_names, shapes)
        opened = [f"{unpacked(saved_names)} = ctx.saved_tensors"] if saved_names else []
        inner = set(saved.inner.values()) - {sized.named_nodes.get(sized.out)}
        once = bool(inner & set(saved_names))
        body = [
            f"class {self.class_name}(torch.autograd.Function):",
            *indented(["@staticmethod", *self._def("forward", self._named), *indented(forward)]),
            "",
            *indented(["@staticmethod", *(["@once_differentiable"] if once else [])]),
            *indented([*self._def("backward", [self.seed]), *indented([*opened, *backward])]),
        ]
        tracked = {plan.safe(x.name) for x in plan.wrt}
        test = [DOUBLE, "", *values(plan, choice, self.arguments, tracked)]
        at = tupled(self._named)
        many = sum(x.node.numel for x in plan.wrt) > MANY
        fast = ", fast_mode=True" * many
        f = plan.called(f"{self.class_name}.apply", self.arguments, self.arguments)
        check = f"assert torch.autograd.gradcheck({f}, {at}{fast})"
        whole = [*helpers(*self.writers), *body, "", "", *test, check]
        return "\n".join([*header(whole, *([ONCE] if once else [])), "", "", *whole]) + "\n"

    @property
    def _named(self) -> list[str]:
        return [self.plan.safe(i.name) for i in self.arguments]

    def _def(self, name: str, arguments: list[str]) -> list[str]:
        return [f"def {name}({', '.join(['ctx', *arguments])}):"]

    def _backward(self, grads: list[Node], saved: Saved) -> list[str]:
        plan, sized = self.plan, self.sized
        names = {sized.seed: Name(self.seed)} | named(saved.names)
        writer = ProgramWriter(names, sized.generic_sizes, like=self.seed)
        self.writers.append(writer)
        for i in self.arguments:  # formulas may use their shapes, which ctx saves if needed
            node = sized.problem.inputs[i.name].node
            writer.shapes.setdefault(node.shape, sized.names[node])
        built = Statements(writer, grads, {}, plan.fresh(*saved.names.values()))
        formulas = {x.name: tree.text(f) for x, f in zip(plan.wrt, built.formulas)}
        results = [self._result(i.name) if i.name in formulas else "None" for i in self.arguments]
        if len(formulas) == 1:
            (only,) = formulas.values()
            return [
                *assigned(built.lines),
                _returned([only if r != "None" else r for r in results]),
            ]
        shared = [s for s in built.lines if s.needed.bit_count() > 1]
        lines = assigned(shared)
        lines.append(f"{' = '.join(r for r in results if r != 'None')} = None")
        for k, x in enumerate(plan.wrt):
            lines.append(f"if ctx.needs_input_grad[{self.arguments.index(x)}]:")
            branch = assigned([s for s in built.lines if s.needed == 1 << k])
            lines += indented([*branch, f"{self._result(x.name)} = {formulas[x.name]}"])
        return [*lines, _returned(results)]

    def _result(self, name: str) -> str:
        return self._results[name]

    @cached_property
    def _results(self) -> dict[str, str]:
        """The variables for gradients in backward, by name of the input."""
        return {i.name: self.names.free(f"{self.plan.safe(i.name)}_grad") for i in self.arguments}

    def _saved_names(self, backward: list[str], saved: Saved) -> tuple[list[str], list[str]]:
        """The names of saved tensors, and of inputs of which only the shape is saved; lines of
        `backward` are changed to read these shapes from ctx.
        """
        used = free_names(backward)
        used_names = [n for n in dict.fromkeys([*self._named, *saved.inner.values()]) if n in used]
        values = set(saved.names.values())
        shapes = [n for n in used_names if n not in values]
        for name in shapes:
            rewritten = [self._by_shape(line, name) for line in backward]
            if name in free_names(rewritten):
                values.add(name)
            else:
                backward[:] = rewritten
        return [n for n in used_names if n in values], [n for n in shapes if n not in values]

    def _by_shape(self, line: str, name: str) -> str:
        """A line that reads the shape of `name` from ctx."""
        shape = f"ctx.{name}_shape"
        line = re.sub(rf"\b{name}\.shape\b", shape, line)
        line = re.sub(rf"\b{name}\.numel\(\)", f"{shape}.numel()", line)
        line = re.sub(rf"torch\.full_like\({name}, ", f"{self.seed}.new_full({shape}, ", line)
        line = re.sub(rf"\.expand_as\({name}\)", f".expand({shape})", line)
        return re.sub(rf"torch\.(zeros|ones)_like\({name}\)", rf"{self.seed}.new_\1({shape})", line)

    def _forward(self, saved: Saved, saved_names: list[str], shapes: list[str]) -> list[str]:
        sized = self.sized
        writer = ProgramWriter(sized.names, sized.generic_sizes)
        self.writers.append(writer)
        built = saved.forward(writer, self.plan, saved_names)
        save = [f"ctx.save_for_backward({', '.join(saved_names)})"] if saved_names else []
        save += [f"ctx.{name}_shape = {name}.shape" for name in shapes]
        return [*assigned(built.lines), *save, f"return {tree.text(built.formulas[0])}"]


def _returned(results: list[str]) -> str:
    return f"return {', '.join(results)}"


def _class_name(sized: AtSizes) -> str:
    """A class name from the name of the output, or else from the last operation."""
    name = sized.problem.out_name
    words = (sized.out.op.name if name == "out" else name).split("_")
    return "".join(word[:1].upper() + word[1:] for word in words) or "Function"
