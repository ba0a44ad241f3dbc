"""Programs for JAX: the function, its VJP by jax.vjp, and assertions."""

from ...errors import if_applicable
from ...notation import tree
from ...notation.code.array_code import JaxWriter, array_text
from ...notation.code.statements import Statements
from ...notation.tree import Name
from .arrays import (
    assigned,
    close,
    forward,
    function,
    helpers,
    modules,
    seed_text,
    values,
    with_generator,
)
from .at_sizes import AtSizes
from .draws import Choice, finite
from .plan import Plan, tupled, unpacked

DOUBLE = 'jax.config.update("jax_enable_x64", True)'


def program(plan: Plan, sized: AtSizes) -> str:
    """Values, function, jax.vjp, and an assertion for each gradient."""
    return _Jax(plan, sized).text()


class _Jax:
    def __init__(self, plan: Plan, sized: AtSizes):
        self.plan, self.sized = plan, sized
        names = plan.fresh()
        self.writer = JaxWriter(sized.names, sized.generic_sizes)
        out = {sized.out: Name(plan.safe(plan.problem.out_name))}
        self.of_gradients = JaxWriter(sized.all_names | out, sized.generic_sizes)
        self.f, self.vjp = names.free("f"), names.free("vjp")
        self.grads = {x.name: names.free(f"{plan.safe(x.name)}_grad") for x in plan.problem.wrt}

    def text(self) -> str:
        plan = self.plan
        choice = Choice(None) if plan.has_values else finite(plan, in_jax=True)
        wrt = [plan.safe(x.name) for x in plan.problem.wrt]
        f = function(self.f, wrt, forward(self.sized, self.writer, plan.fresh()))
        input_lines = values(plan, choice, plan.inputs, "jnp")
        out = plan.safe(plan.problem.out_name)
        test = [
            *input_lines,
            "",
            f"{out}, {self.vjp} = jax.vjp({', '.join([self.f, *wrt])})",
            *self._backward(out),
            "",
            *self._assertions(),
        ]
        whole = [*helpers(self.writer, self.of_gradients), *f, "", "", *with_generator(test)]
        return "\n".join([*modules(whole, jax=True), "", DOUBLE, "", "", *whole]) + "\n"

    def _backward(self, out: str) -> list[str]:
        p, grads = self.plan.problem, unpacked(list(self.grads.values()))
        if p.seed.implicit:
            return [f"{grads} = {self.vjp}(jnp.ones_like({out}))"]
        seed = seed_text(self.plan, JaxWriter)
        return [f"{p.seed.name} = {seed}", f"{grads} = {self.vjp}({p.seed.name})"]

    def _assertions(self) -> list[str]:
        plan, lines = self.plan, []
        numbers = [plan.expected(x) for x in plan.wrt]
        if all(n is not None for n in numbers):
            texts = [array_text(number, "jnp") for number in numbers]
            for x, text in zip(plan.wrt, texts):
                grad = self.grads[x.name]
                digits = text.replace("jnp.array", "").replace("jnp.", "").strip("()")
                message = f"# PyTorch's gradient here is {digits}; JAX's may differ"
                lines += close(grad, text, "jnp") if plan.is_smooth else [message]
        else:
            lines += self._by_formula()
        for x in plan.unused:
            remark = f"{plan.problem.out_name} does not depend on {x.name}"
            lines.append(f"assert not {self.grads[x.name]}.any()  # {remark}")
        return lines

    def _by_formula(self) -> list[str]:
        """Assertions with the formulas of gradients, or check_grads if JAX cannot express them."""
        plan, sized = self.plan, self.sized
        of, named, fresh = self.of_gradients, sized.intermediates, plan.fresh()
        built = if_applicable(lambda: Statements(of, sized.gradients(seeded=False), named, fresh))
        if built is None:
            wrt = [plan.safe(x.name) for x in plan.wrt]
            arguments = f"{self.f}, {tupled(wrt)}"
            return [f'check_grads({arguments}, order=1, modes=["rev"])']
        lines = assigned(built.lines)
        for x, written in zip(plan.wrt, built.formulas):
            lines += close(self.grads[x.name], tree.text(written), "jnp")
        return lines
