"""A jax.custom_vjp: forward, backward from the gradients' formulas, and check_grads."""

from ...notation import tree
from ...notation.code.array_code import JaxWriter
from ...notation.code.statements import Statements
from ...notation.tree import Name
from .arrays import assigned, function, helpers, modules, values, with_generator
from .at_sizes import AtSizes
from .draws import suitable
from .in_jax import DOUBLE
from .plan import Plan, named, tupled, unpacked
from .saved import Saved, free_names


def program(plan: Plan, sized: AtSizes) -> str:
    """The function with its forward and backward, and their test."""
    plan.refuse_barriers("custom-vjp")
    return _CustomVjp(plan, sized).text()


class _CustomVjp:
    def __init__(self, plan: Plan, sized: AtSizes):
        self.plan, self.sized = plan, sized
        self.names = plan.fresh()
        out_name = plan.problem.out_name
        self.f = self.names.free("f" if out_name == "out" else f"{out_name}_function")
        # Integer inputs are arguments, too; other inputs outside `wrt` are constants.
        self.arguments = [i for i in plan.arguments if i in plan.wrt or i.node.dtype != "float"]

    def text(self) -> str:
        plan = self.plan
        names = [plan.safe(i.name) for i in self.arguments]
        choice = suitable(plan)
        grads = self.sized.gradients(seeded=True)
        saved = Saved(self.sized, grads, self.names)
        backward, writers = self._backward(grads, saved)
        saved_names = self._saved_names(backward, saved, names)
        forward = self._forward(saved, saved_names, writers)
        opened = [f"{unpacked(saved_names)} = saved"] if saved_names else []
        whole = [
            *helpers(*writers),
            "@jax.custom_vjp",
            *function(self.f, names, [f"return {self.f}_fwd({', '.join(names)})[0]"]),
            *["", ""],
            *function(f"{self.f}_fwd", names, forward),
            *["", ""],
            *function(f"{self.f}_bwd", ["saved", plan.problem.seed.name], [*opened, *backward]),
            *["", ""],
            f"{self.f}.defvjp({self.f}_fwd, {self.f}_bwd)",
            "",
            *self._test(choice),
        ]
        return "\n".join([*modules(whole, jax=True), "", DOUBLE, "", "", *whole]) + "\n"

    def _backward(self, grads, saved: Saved) -> tuple[list[str], list[JaxWriter]]:
        plan, sized = self.plan, self.sized
        names = {sized.seed: Name(plan.problem.seed.name)} | named(saved.names)
        writer = JaxWriter(names | sized.names, sized.generic_sizes)
        built = Statements(writer, grads, {}, plan.fresh(*saved.names.values()))
        result = {x.name: tree.text(f) for x, f in zip(plan.wrt, built.formulas)}
        texts = [result.get(i.name, "None") for i in self.arguments]
        line = f"return {unpacked(texts)}"
        if len(line) > 84:
            return [*assigned(built.lines), "return (", *(f"    {t}," for t in texts), ")"], [
                writer
            ]
        return [*assigned(built.lines), line], [writer]

    def _saved_names(self, backward: list[str], saved: Saved, names: list[str]) -> list[str]:
        used = free_names(backward)
        order = [*names, *saved.inner.values()]
        return [name for name in dict.fromkeys(order) if name in used]

    def _forward(self, saved: Saved, saved_names: list[str], writers: list[JaxWriter]) -> list[str]:
        sized = self.sized
        writer = JaxWriter(sized.names, sized.generic_sizes)
        writers.append(writer)
        built = saved.forward(writer, self.plan, saved_names)
        out = tree.text(built.formulas[0])
        return [*assigned(built.lines), f"return {out}, {tupled(saved_names)}"]

    def _test(self, choice) -> list[str]:
        plan = self.plan
        lines = with_generator(values(plan, choice, plan.arguments, "jnp"))
        wrt = [plan.safe(x.name) for x in plan.wrt]
        f = plan.called(self.f, plan.wrt, self.arguments)
        return [*lines, f'check_grads({f}, {tupled(wrt)}, order=1, modes=["rev"])']
