"""Corrections of optimisers, and of parameters that are not registered in a module."""

import ast
from collections.abc import Iterator
from typing import Any

from ....snippets.python.values import Instance
from .case import Case, Proposal
from .nodes import calls_in, dotted, elements, keyword, method, names_in, owner
from .requiring import CREATORS, is_leaf, requiring, unfrozen
from .text import Edit

OPTIMISERS = (
    *("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax"),
    *("NAdam", "RAdam", "ASGD", "Rprop", "LBFGS", "SparseAdam"),
)

OF_PARAMETERS = ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_", "parameters_to_vector")


def optimised(case: Case) -> list[ast.expr]:
    """The first arguments of the optimisers on the line that raises."""
    return [c.args[0] for c in case.calls(*OPTIMISERS) if c.args]


def optimised_module(case: Case) -> Iterator[Proposal]:
    """Write model.parameters() for a model."""
    called = [call.func for call in case.calls()]
    iterated = [n.iter for n in case.of_type(ast.comprehension)]
    iterated += [n.iter for n in case.statements if isinstance(n, ast.For)]
    methods = [n for n in case.attributes() if n.attr == "parameters" or n in iterated]
    edits = [
        case.appending(n, "()") for n in methods if n not in called and "method" in case.message
    ]
    yield from case.change(*edits, why="A method must be called with ().")
    inner = {dotted(part.target) for part in case.of_type(ast.comprehension)} - {""}
    for node in [n for n in iterated if dotted(n) in inner or case.is_module(n)]:
        yield case.appended(node, ".parameters()")
    for given in optimised(case):
        if case.is_module(given):
            yield case.appended(given, ".parameters()")
    for call in case.here:
        wanted = case.inputs_of(call) if case.is_grad(call) else None
        if wanted is not None and case.is_module(wanted):
            yield case.replaced(wanted, f"list({case.of(wanted)}.parameters())")
    for call in case.calls(*OF_PARAMETERS):
        if call.args and case.is_module(call.args[0]):
            yield case.appended(call.args[0], ".parameters()")
    for call in case.calls(*OPTIMISERS):
        named = keyword(call, "params")
        if named and case.is_module(named.value):
            yield case.appended(named.value, ".parameters()")


def optimised_non_leaf(case: Case) -> Iterator[Proposal]:
    """Pass the leaf from which the tensor is computed, or make it a leaf."""
    for given, item in [(g, i) for g in optimised(case) for i in elements(g)]:
        for built in case.makers(item):
            if isinstance(built.value, ast.Call) and case.is_module(built.value.func):
                why = f"{case.of(item)} is an output; train the module that computes it."
                yield case.replaced(given, f"{case.of(built.value.func)}.parameters()", why=why)
            read = [n for n in dict.fromkeys(names_in(built.value)) if n in case.leaves]
            if any(n.lineno > case.line for name in read for n in case.reads_of(name)):
                why = f"{case.of(item)} is computed from {' and '.join(read)}: train these."
                yield case.replaced(item, ", ".join(read), why=why)
            yield from leaf_at_end(case, built)
            yield case.appended(built.value, ".detach().requires_grad_()")
        for name in [] if dotted(item) else names_in(item):
            tensor = case.tensor_of(name)
            if tensor is not None and tensor.is_leaf:
                yield case.replaced(item, name)
    for built in case.of_type(ast.Assign, everywhere=True):
        yield from leaf_at_end(case, built)


def leaf_at_end(case: Case, made: ast.Assign, **words: Any) -> Iterator[Proposal]:
    """Write f(torch.randn(3)).requires_grad_() for f(torch.randn(3, requires_grad=True))."""
    for inner in calls_in(made.value):
        edit = case.without_keyword(inner, "requires_grad")
        if edit is None or inner is made.value:
            continue
        end = case.appending(made.value, ".requires_grad_()")
        if end.start >= edit.end:
            yield case.proposal(edit, end, **words)
        else:
            new = f"({_cut(case, made.value, edit)}).requires_grad_()"
            yield case.replaced(made.value, new, **words)


def _cut(case: Case, node: ast.expr, edit: Edit) -> str:
    """The text of an expression after an edit in it."""
    text, at = case.of(node), case.start(node)
    return text[: edit.start - at] + edit.text + text[edit.end - at :]


def one_parameter(case: Case) -> Iterator[Proposal]:
    """Write [w] for a tensor w, and make it require grad."""
    for given in optimised(case):
        flag = requiring(case, dotted(given)) if is_leaf(case, dotted(given)) else None
        listed = case.replacing(given, f"[{case.of(given)}]")
        yield case.proposal(listed, *([flag] if flag else []))


def several_given(case: Case) -> Iterator[Proposal]:
    """Write SGD([w, b], lr=0.1) for SGD(w, b, lr=0.1); or join the parameters() of several modules
    in a list.
    """
    for call in case.calls(*OPTIMISERS):
        calls = [method(a) == "parameters" for a in call.args]
        if len(call.args) > 1 and (all(calls) or all(case.tensor(a) for a in call.args)):
            star = "*" if all(calls) else ""
            listed = ", ".join(star + case.of(a) for a in call.args)
            why = "An optimiser takes all its parameters as one list."
            yield case.proposal(case.spanning(call.args, f"[{listed}]"), why=why)


def wrong_parameters(case: Case) -> Iterator[Proposal]:
    """Register lists of layers; convert numbers to tensors; or pass each parameter once."""
    if "empty" in case.message:
        yield from unfrozen(case)
    yield from registered(case)
    if "more than one" in case.message:
        yield from apart(case)
    for given in optimised(case):
        if isinstance(given, ast.Dict):
            listed = ", ".join(map(case.of, given.values))
            why = "Iterating over a dict yields its names."
            yield case.replaced(given, f"[{listed}]", why=why)
        written = method(given) == "dict" and " is str" in case.message
        if written or isinstance(case.value(given), dict):
            yield case.appended(given, ".values()", why="Iterating over a dict yields its names.")
        if method(given) in ("state_dict", "named_parameters"):
            why = "An optimiser takes only the tensors, without their names."
            yield case.renamed_to(given, "parameters", why=why)
        if isinstance(given, ast.List | ast.Tuple):
            yield from _listed(case, given)
        comprehension = case.made(given)
        if isinstance(comprehension, ast.ListComp) and method(comprehension.elt) == "parameters":
            loops = case.source[case.end(comprehension.elt) : case.end(comprehension) - 1]
            new = f"[p{loops} for p in {case.of(comprehension.elt)}]"
            yield case.replaced(comprehension, new, why="Each layer has several parameters.")
        for built in case.makers(given) if isinstance(given, ast.Name) else ():
            if method(built.value) in ("parameters", "filter"):
                why = "parameters() can be iterated over only once; it was used up before."
                yield case.replaced(built.value, f"list({case.of(built.value)})", why=why)


def apart(case: Case) -> Iterator[Proposal]:
    """Remove from the group of a model the parameters of its parts; or from the first group those
    of later ones.
    """
    for groups in [elements(given) for given in optimised(case)]:
        held = [v for g in groups if isinstance(g, ast.Dict) for v in g.values[:1]]
        held = [v for v in held if method(v) == "parameters"]
        inner = [(v, [o for o in held if o is not v and _is_part(case, o, v)]) for v in held]
        later = [(v, held[k:]) for k, v in enumerate(held, 1)]
        for whole, others in [*inner, *later]:
            if not others:
                continue
            own = [f"all(p is not q for q in {case.of(o)})" for o in others]
            new = f"[p for p in {case.of(whole)} if {' and '.join(own)}]"
            yield case.replaced(whole, new, note="Each parameter must be in only one group.")


def _is_part(case: Case, part: ast.expr, whole: ast.expr) -> bool:
    """Whether net.fc.parameters() is a part of net.parameters(), by their texts."""
    return case.of(owner(part)).startswith(
        (f"{case.of(owner(whole))}.", f"{case.of(owner(whole))}[")
    )


def _listed(case: Case, given: ast.List | ast.Tuple) -> Iterator[Proposal]:
    """Pass a list of leaves, with numbers as tensors, each once."""
    if isinstance(given, ast.List) and not given.elts and case.leaves:
        yield case.replaced(given, f"[{', '.join(case.leaves)}]")
    form = "torch.tensor({}, requires_grad=True)"
    yield from case.change(*case.numbers_as(form, given.elts))
    for e in given.elts:
        if isinstance(e, ast.Name) and isinstance(case.value(e), int | float):
            for built in case.makers(e):
                yield case.replaced(built.value, form.format(f"float({case.of(built.value)})"))
        if method(e) == "parameters":
            yield case.proposal(case.inserting(e, "*"))
    unique = dict.fromkeys(case.of(e) for e in given.elts)
    if len(unique) < len(given.elts):
        yield case.replaced(given, f"[{', '.join(unique)}]")
    if not given.elts:
        yield case.replaced(given, "[torch.zeros(1, requires_grad=True)]", weak=True)


def registered(case: Case) -> Iterator[Proposal]:
    """Write nn.ModuleList for a list of layers, and nn.Parameter for a tensor, assigned in
    __init__.
    """
    edits = []
    for built in case.of_type(ast.Assign, everywhere=True):
        value, name = built.value, dotted(built.targets[0])
        if not name.startswith("self."):
            continue
        appended = [c for c in case.calls("append", everywhere=True) if dotted(owner(c)) == name]
        layers = [n for v in (value, *appended) for n in calls_in(v) if "nn." in dotted(n.func)]
        held = {ast.List: "ModuleList", ast.ListComp: "ModuleList", ast.Dict: "ModuleDict"}
        if type(value) in held and layers:
            prefix = dotted(layers[0].func).rpartition(".")[0]
            new = f"{prefix}.{held[type(value)]}({case.of(value)})"
            edits.append(case.replacing(value, new))
        elif (
            isinstance(value, ast.Call)
            and method(value) in CREATORS
            and dotted(value.func).startswith("torch.")
        ):
            cut = case.without_keyword(value, "requires_grad")
            inner = _cut(case, value, cut) if cut else case.of(value)
            edits.append(case.replacing(value, f"torch.nn.Parameter({inner})"))
    why = "A module registers parameters and modules that are its attributes, not those in a list."
    yield from case.change(*edits, why=why, reprints=True)


def joined_generators(case: Case) -> Iterator[Proposal]:
    """Write list(a.parameters()) + list(b.parameters())."""
    sides = [s for s in case.sides if method(s) == "parameters"]
    yield from case.change(*[case.replacing(s, f"list({case.of(s)})") for s in sides])


def of_each_group(case: Case) -> Iterator[Proposal]:
    """Write for group in opt.param_groups: group["lr"] = 0.01."""
    for statement in case.of_type(ast.Assign, ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        place = targets[0]
        groups = place.value if isinstance(place, ast.Subscript) else None
        if isinstance(groups, ast.Attribute) and groups.attr == "param_groups":
            text = case.of(statement).replace(case.of(groups), "group", 1)
            loop = f"for group in {case.of(groups)}: {text}"
            yield case.replaced(statement, loop, why="Each group of parameters has its own value.")


def number_as_text(case: Case) -> Iterator[Proposal]:
    """Write float(...) around a number that is a string."""
    for call in case.calls(*OPTIMISERS):
        for given in [*call.args[1:], *[k.value for k in call.keywords]]:
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                yield case.replaced(given, given.value)
            elif not isinstance(given, ast.Constant):
                yield case.replaced(given, f"float({case.of(given)})")


def pair_of_betas(case: Case) -> Iterator[Proposal]:
    """Write betas=(0.9, 0.999) for betas=0.9."""
    for call in case.calls(*OPTIMISERS):
        given = keyword(call, "betas")
        if given is not None and isinstance(case.value(given.value), int | float):
            new = f"({case.of(given.value)}, 0.999)"
            why = "betas are two: the averages of the gradient and of its square each have one."
            yield case.replaced(given.value, new, why=why, note="The second is the default.")


def optimiser_itself(case: Case) -> Iterator[Proposal]:
    """Use the optimiser of the program."""
    for call in case.calls():
        if call.args and case.is_module(call.args[0]):
            for name, value in case.scope.items():
                if isinstance(value, Instance) and "param_groups" in value.fields:
                    yield case.replaced(call.args[0], name)


def step_of_loss(case: Case) -> Iterator[Proposal]:
    """Write loss.backward() and opt.step() for opt.step(loss); pass LambdaLR a function of the
    epoch, the power of a number, in place of the number.
    """
    for call in case.calls("LambdaLR"):
        for given in call.args[1:]:
            new = f"lambda epoch: {case.of(given)} ** epoch"
            yield case.replaced(given, new, why="LambdaLR takes a function of the epoch.")
    for call in case.methods("step"):
        statement = case.statement_of(call)
        block = case.blocks[statement]
        earlier = any(case.goes_back(s) for s in block[: block.index(statement)])
        for loss in call.args[:1]:
            edits = [] if earlier else [case.before(statement, f"{case.operand(loss)}.backward()")]
            yield case.proposal(*edits, case.replacing(loss, ""))


def _forward_and_backward(case: Case, before: list[ast.stmt]) -> tuple[str, list[ast.stmt]]:
    """The loss of the last backward pass before a step, and the statements from the first that
    computes it on; none if there is no backward pass.
    """
    backs = [s for s in before if case.goes_back(s)]
    if not backs:
        return "", []
    root = owner(calls_in(backs[-1], "backward")[0])
    sliced = [s for s in case.slice_of(root, backs[-1].lineno) if s in before]
    computing = [before.index(s) for s in sliced if computes(case, s)]
    return case.of(root), before[min([*computing, before.index(backs[-1])]) :]


def closure(case: Case) -> Iterator[Proposal]:
    """Pass the closure of another step; or write the backward pass as a closure."""
    for call in case.calls("step", everywhere=True):
        if len(call.args) == 1 and dotted(call.args[0]) in case.functions:
            for here in case.calls("step"):
                yield case.proposal(case.with_argument(here, dotted(call.args[0])))
    for call in case.calls("step"):
        statement = case.statement_of(call)
        block = case.blocks[statement]
        place = block.index(statement)
        optimiser = case.of(call.func).rpartition(".")[0]
        loss, moved = _forward_and_backward(case, block[:place])
        body = [line for s in moved for line in case.lines_of(s)]
        if not body and case.leaves:
            loss = "loss"
            body = [f"loss = ({case.leaves[0]} ** 2).sum()", "loss.backward()"]
        if not body:
            return
        if not any("zero_grad" in b for b in body):
            body.insert(0, f"{optimiser}.zero_grad()")
        lines = ["def closure():", *[f"    {b}" for b in body], f"    return {loss}"]
        edits = [case.removing(s) for s in moved]
        if loss.isidentifier() and isinstance(statement, ast.Expr):
            edits.append(case.inserting(statement, f"{loss} = "))
        step = case.with_argument(call, "closure")
        yield case.proposal(*edits, case.before(statement, *lines), step)


def computes(case: Case, statement: ast.stmt) -> bool:
    """Whether a statement assigns a tensor that is computed from leaves."""
    built = [a for a in case.reading.trace.assignments if a.line == statement.lineno]
    return any(a.tensor.record is not None for a in built)
