"""Corrections of indices: out of range, of another type, too many, masks, gather and scatter."""

import ast
from collections.abc import Iterator

from .case import Case, Proposal, weight_of
from .layers import given_for
from .nodes import (
    argument,
    calls_in,
    dotted,
    elements,
    is_operation,
    method,
    number_of,
    owner,
    size,
    target_of,
    value_of,
    within,
)
from .text import Edit


def added_rows(case: Case) -> Iterator[Proposal]:
    """Write index_add for scatter_add of rows."""
    for call in case.methods("scatter_add", "scatter_add_"):
        target, places = case.shape(owner(call)), call.args[1:2]
        if len(target or ()) == 2 and places and len(case.shape(places[0]) or ()) == 1:
            why = "scatter_add needs an index for each element, index_add one for each row."
            yield case.renamed_to(call, method(call).replace("scatter", "index"), why=why)


def gathered(case: Case) -> Iterator[Proposal]:
    """Pass the indices of gather as a column, and squeeze the result."""
    yield from added_rows(case)
    for call in case.calls("scatter", "scatter_", "scatter_add", "scatter_add_"):
        given = [*call.args, *[k.value for k in call.keywords]]
        place = 1 if dotted(owner(call)) != "torch" else 2
        where = case.of(given[place - 1])
        columns = [a for a in given[place:] if len(case.shape(a) or ()) == 1]
        yield from case.change(*[case.appending(a, f".unsqueeze({where})") for a in columns])
    for call in case.calls("gather"):
        given = [*call.args[-2:], *[k.value for k in call.keywords if k.arg == "index"]]
        x, index = owner(call), case.shape(given[-1]) if given else None
        shape = case.shape(x) or ()
        if index is not None and len(index) == 1 and len(shape) == 3 and index[0] == shape[0]:
            if case.number(given[-2]) == 1:
                text = case.operand(x)
                new = f"{text}[torch.arange({text}.shape[0]), {case.of(given[-1])}]"
                yield case.replaced(call, new, note="Each sample has its own index.")
            continue
        if len(given) >= 2:
            where = case.of(given[-2])
            column = case.appending(given[-1], f".unsqueeze({where})")
            yield case.proposal(column, case.adding(call, f".squeeze({where})"))
            yield case.proposal(column)


def index_too_large(case: Case) -> Iterator[Proposal]:
    """Use the last index; or end a loop at it."""
    there = int(case.match[3]) if case.match[3] else None
    loop = case.loop(case.statement)
    yield from as_many_as_there(case, there)
    if isinstance(loop, ast.For):
        yield from earlier_end(case, loop, there)
    last_index = (there or 1) - 1
    for number in [c for n in case.of_type(ast.Subscript) for c in within(n.slice, ast.Constant)]:
        if str(number.value) == case.match[1]:
            yield case.replaced(number, str(last_index))
    yield from fewer_samples(case)
    yield from more_rows(case)
    for call in case.calls("gather", "index_select"):
        note = "Indices that are too large select the last element."
        yield case.appended(call.args[-1], f".clamp(max={last_index})", note=note, weak=True)


NO_NEXT = "Nothing follows the last step: the next value counts as 0."


def earlier_end(case: Case, loop: ast.For, there: int | None) -> Iterator[Proposal]:
    """End a loop over range() at the last index; going backwards, take 0 for what is beyond it."""
    for call in calls_in(loop.iter, "range"):
        last = call.args[-1] if len(call.args) < 3 else call.args[1]
        if there is not None:
            yield from from_zero(case, call, there)
            yield case.replaced(last, str(there))
        for node in case.of_type(ast.Subscript) if there is None else ():
            holder = case.value(node.value)
            if isinstance(holder, list | tuple) and dotted(node.slice) == dotted(loop.target):
                yield case.replaced(last, f"len({case.of(node.value)})")
        for node in case.of_type(ast.Subscript) if method(loop.iter) == "reversed" else ():
            if looked_ahead(case, [node], dotted(loop.target)):
                exists = f"{case.of(node.slice)} < len({case.of(node.value)})"
                yield case.replaced(node, f"({case.of(node)} if {exists} else 0)", why=NO_NEXT)
        for n in looked_ahead(case, case.of_type(ast.Subscript), dotted(loop.target)):
            yield case.replaced(last, f"{case.of(last)} - {n}")
        yield case.replaced(last, f"{case.of(last)} - 1")


def as_many_as_there(case: Case, there: int | None) -> Iterator[Proposal]:
    """Iterate in a comprehension over as many numbers as there are elements."""
    for part in case.of_type(ast.comprehension) if there is not None else ():
        for end in [c.args[-1] for c in calls_in(part.iter, "range") if 0 < len(c.args) < 3]:
            yield case.replaced(end, str(there))


def fewer_samples(case: Case) -> Iterator[Proposal]:
    """Subtract n in a __len__, if __getitem__ reads data[i + n]."""
    getter = case.function_of(case.statement)
    if getter is None or getter.name != "__getitem__" or len(getter.args.args) < 2:
        return
    item = getter.args.args[1].arg
    ahead = looked_ahead(case, case.of_type(ast.Subscript), item)
    for counting in [s for s in case.blocks[getter] if getattr(s, "name", "") == "__len__"]:
        for returned in within(counting, ast.Return):
            for n in ahead if returned.value else ():
                why = f"A sample reads {n} items ahead, which do not exist for the last samples."
                text = f" - {n}"
                yield case.proposal(case.adding(returned.value, text), why=why)  # type: ignore[arg-type]


def looked_ahead(case: Case, nodes: list[ast.Subscript], item: str) -> list[str]:
    """The offsets n in x[i + n], where i is the target of a loop."""
    sums = [n for s in nodes for n in within(s.slice, ast.BinOp) if is_operation(n, ast.Add)]
    return list(dict.fromkeys(case.of(n.right) for n in sums if dotted(n.left) == item))


def from_zero(case: Case, call: ast.Call, there: int) -> Iterator[Proposal]:
    """Write range(n) for range(1, n + 1), as indices start at 0."""
    first, last = (case.number(a) for a in call.args[:2]) if len(call.args) == 2 else (None, None)
    if first and last is not None and last - first == there:
        why = f"There are {there} elements, numbered from 0."
        yield case.proposal(case.spanning(call.args, str(there)), why=why)


def more_rows(case: Case) -> Iterator[Proposal]:
    """Enlarge an Embedding to contain the largest index."""
    indices = [t.data for _, t in case.tensors if not t.dtype.is_floating]
    written = [n.value for c in case.creations for n in within(c.args[0], ast.Constant)]
    largest = max(
        (*(int(a.max()) for a in indices if a.size), *(n for n in written if type(n) is int)),
        default=0,
    )
    for call in case.calls("Embedding", "EmbeddingBag", everywhere=True):
        first = argument(call, 0, "num_embeddings")
        layer = target_of(case.statement_of(call), ast.AST)
        weight = weight_of(case.value(layer))
        given = [c.args[0] for c in case.calls() if c.args and dotted(c.func) == dotted(layer)]
        asked = [n for g in given if (n := largest_index(case, g)) is not None]
        if given and asked and first is not None and weight is not None:
            if max(asked) >= weight.shape[0]:
                yield from _with_rows(case, first, max(asked) + 1)
            continue
        count = number_of(first)
        rows = weight.shape[0] if weight is not None else count
        if first is None or rows is None or largest < rows:
            continue
        new = f"{case.of(first)} + {largest + 1 - rows}" if count is None else str(largest + 1)
        why = f"The largest index is {largest}: that needs {largest + 1} rows, from 0 on."
        yield case.replaced(first, new, why=why)


def largest_index(case: Case, node: ast.expr) -> int | None:
    """The largest value of an index, if it is known: n - 1 for arange(n)."""
    tensor = case.tensor(node)
    if tensor is not None:
        return int(tensor.data.max()) if tensor.numel else None
    if method(node) == "arange" and isinstance(node, ast.Call) and len(node.args) == 1:
        count = case.number(node.args[0])
        return None if count is None else count - 1
    return None


def _with_rows(case: Case, first: ast.expr, rows: int) -> Iterator[Proposal]:
    """Change the number of rows where it is written: in the call, or in the assignment of a
    variable.
    """
    why = f"The largest index is {rows - 1}: that needs {rows} rows, from 0 on."
    for given in given_for(case, first):
        yield case.replaced(given, str(rows), why=why, reprints=True)
    for built in case.makers(first) if isinstance(first, ast.Name) else ():
        if number_of(built.value) is not None:
            yield case.replaced(built.value, str(rows), why=why)
    old = case.number(first)
    plain = number_of(first) is not None or old is None
    yield case.replaced(first, str(rows) if plain else f"{case.of(first)} + {rows - old}", why=why)  # type: ignore[operator]


ARG = {"max": "argmax", "min": "argmin"}


def own_columns(case: Case) -> Iterator[Proposal]:
    """Write p[torch.arange(n), y] for p[:, y] or p[y], where y has a column for each row."""
    for edit, note in columns_of_rows(case):
        yield case.proposal(edit, note=note)


def columns_of_rows(case: Case) -> Iterator[tuple[Edit, str]]:
    """The edits that give each row the column that an index has for it, each with a remark."""
    for node in case.of_type(ast.Subscript, everywhere=True):
        parts = elements(node.slice) or [node.slice]
        chosen, before = case.tensor(parts[-1]), parts[:-1]
        whole = [p for p in before if isinstance(p, ast.Slice) and not (p.lower or p.upper)]
        if chosen is None or chosen.dtype.is_floating or chosen.ndim != 1 or before != whole[:1]:
            continue
        rows = case.shape(node.value) or _rows_chosen(case, node)
        if len(rows) == 2 and rows[0] == chosen.numel and 0 <= chosen.data.max() < rows[1]:
            index = case.of(parts[-1])
            note = f"Each row has a column of its own in {index}."
            yield case.replacing(node.slice, f"torch.arange(len({index})), {index}"), note


def _rows_chosen(case: Case, node: ast.Subscript) -> tuple[int, ...]:
    """The shape of the rows that a name is assigned by an index."""
    built = case.statement_of(node)
    name = dotted(built.targets[0]) if isinstance(built, ast.Assign) else ""
    tensor = case.tensor_of(name)
    return tensor.shape if tensor is not None and value_of(built) is node else ()


def called_module(case: Case) -> Iterator[Proposal]:
    """Write net(x) for net[x]."""
    for node in case.of_type(ast.Subscript):
        if case.is_module(node.value) and case.tensor(node.slice) is not None:
            why = "A module is called with its input; brackets choose an item."
            yield case.replaced(node, f"{case.of(node.value)}({case.of(node.slice)})", why=why)


def mask_place(case: Case) -> Iterator[Proposal]:
    """Apply a mask to the dimension that has its size."""
    for node in case.of_type(ast.Subscript):
        mask, shape = case.tensor(node.slice), case.shape(node.value)
        if mask is None or shape is None or mask.dtype.name not in ("bool", "uint8"):
            continue
        text = case.of(node.slice)
        for dim, have in enumerate(shape) if mask.ndim == 1 else ():
            if mask.shape == (have,):
                note = f"The mask selects along dimension {dim}."
                yield case.replaced(node.slice, ":, " * dim + text, note=note)
        if len(shape) == 1 < mask.ndim and mask.numel == shape[0]:
            yield case.appended(node.slice, ".flatten()", note="It has as many places.")
        if mask.ndim == 2 == len(shape) and mask.shape[::-1] == shape:
            yield case.appended(node.slice, ".T")
        if 1 in mask.shape and mask.ndim == len(shape):
            ones = [d for d, n in enumerate(mask.shape) if n == 1 != shape[d]]
            yield case.appended(node.slice, f".expand_as({case.operand(node.value)})")
            yield case.appended(node.slice, f".squeeze({ones[0]})")


def number_of_indices(case: Case) -> Iterator[Proposal]:
    """Use as many indices as there are dimensions."""
    yield from mask_place(case)
    for node in case.of_type(ast.Subscript):
        shape, parts = case.shape(node.value), getattr(node.slice, "elts", [])
        whole = [p for p in parts if isinstance(p, ast.Slice) and not (p.lower or p.upper)]
        for part in whole if shape is not None and len(parts) == len(shape) + 1 else ():
            rest = [case.of(p) for p in parts if p is not part]
            yield case.replaced(node.slice, ", ".join(rest))
        if shape and len(parts) > len(shape):
            first = [case.of(p) for p in parts[: len(shape)]]
            yield case.replaced(node.slice, ", ".join(first), weak=True)


def index_of_list(case: Case) -> Iterator[Proposal]:
    """Write argmax for max as an index; convert an index to an integer; or a list that is computed
    with to a tensor.
    """
    for side in case.sides:
        if isinstance(case.value(side), list):
            stack = "stack" if case.listed(side) else "tensor"
            why = "A list times a number repeats the list: arithmetic needs a tensor."
            yield case.replaced(side, f"torch.{stack}({case.of(side)})", why=why)
    for node in case.of_type(ast.Subscript):
        made = case.made(node.slice)
        if method(made) in ARG and isinstance(made, ast.Call):
            given = [a for a in made.args if a is not None]
            alone = len(given) == (1 if dotted(owner(made)) == "torch" else 0)
            if alone and not made.keywords:
                text, name = case.of(made.func), method(made)
                new = text.removesuffix(name) + ARG[name] + case.of(made).removeprefix(text)
                note = f"{name} returns the value, {ARG[name]} its index."
                yield case.replaced(node.slice, new, note=note)
        value = case.tensor(node.slice)
        if value is not None and value.ndim == 1 and value.numel > 1:
            new = f"[{case.of(node.value)}[i] for i in {case.of(node.slice)}]"
            yield case.replaced(node, new, note="The items at all of these indices.")
        if value is not None and value.numel == 1 and value.data.item() == int(value.data.item()):
            yield case.replaced(node.slice, f"int({case.of(node.slice)})")


def value_put(case: Case) -> Iterator[Proposal]:
    """Assign a vector that has one number per row as a column."""
    shapes = case.message.partition("value tensor of shape ")[2].split(" cannot be ")
    given, places = (size(s[s.rindex("[") :]) for s in shapes)
    if given == places[:-1]:
        for statement in case.of_type(ast.Assign):
            if target_of(statement, ast.Subscript):
                note = "There is one number for each row."
                yield case.appended(statement.value, ".unsqueeze(-1)", note=note)


def flipped(case: Case) -> Iterator[Proposal]:
    """Write x.flip(0) for x[::-1]."""
    for node in case.of_type(ast.Subscript):
        parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        back = [n for n, part in enumerate(parts) if _reverses(part)]
        if not back or any(not isinstance(p, ast.Slice) for p in parts):
            continue
        rest = [":" if n in back else case.of(p) for n, p in enumerate(parts)]
        taken = f"[{', '.join(rest)}]" if any(r != ":" for r in rest) else ""
        dims = ", ".join(map(str, back))
        yield case.replaced(node, f"{case.operand(node.value)}{taken}.flip({dims})")


def _reverses(part: ast.AST) -> bool:
    """Whether a slice is ::-1."""
    whole = isinstance(part, ast.Slice) and part.lower is None and part.upper is None
    return whole and ast.unparse(part) == "::-1"


def smaller_k(case: Case) -> Iterator[Proposal]:
    """Limit k to the number of elements."""
    for call in case.calls("topk", "kthvalue"):
        of_torch = case.of(owner(call)) == "torch"
        k = argument(call, 1 if of_torch else 0, "k")
        dim = case.number(argument(call, 2 if of_torch else 1, "dim"))
        shape = case.shape(call.args[0] if of_torch and call.args else owner(call))
        if k is not None and shape:
            yield case.replaced(k, str(shape[-1 if dim is None else dim]))


def enough_classes(case: Case) -> Iterator[Proposal]:
    """Count labels from 0; or pass one more than the largest label as the number of classes."""
    for call in case.calls("one_hot"):
        count, labels = argument(call, 1, "num_classes"), case.tensor(call.args[0])
        numbers = [n.value for n in within(call.args[0], ast.Constant) if type(n.value) is int]
        numbers += labels.data.ravel().tolist() if labels is not None else []
        if numbers and (min(numbers), max(numbers)) == (1, case.number(count)):
            yield case.appended(call.args[0], " - 1", note="The labels start at 1.")
        if count is not None and numbers:
            yield case.replaced(count, str(max(numbers) + 1))
