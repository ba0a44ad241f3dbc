"""Corrections of cat and stack: tensors of different sizes or ranks, numbers, arrays."""

import ast
import re
from collections.abc import Iterator

from ....snippets.library.numpy_arrays import Scalar
from .case import Case, Proposal, renaming
from .indexing import looked_ahead
from .layers import embedded, encoded, padded_convolutions
from .nodes import (
    argument,
    calls_in,
    dotted,
    elements,
    keyword,
    method,
    names_in,
    number_of,
    owner,
    value_of,
    within,
)
from .numbers import without_array

joined_numbers = renaming("cat", "concat", to="stack")


def dimension(case: Case) -> Iterator[Proposal]:
    """Add a dimension to vectors that are to be stacked; or use the last dimension."""
    for call in case.calls("cat", "concat"):
        listed = elements(call.args[0]) if call.args else []
        shapes = [case.shape(e) for e in listed]
        if shapes and len(set(shapes)) == 1 and len(shapes[0] or ()) == 1 and case.match[3] == "1":
            why = "cat joins vectors into a longer one; stack turns them into columns."
            yield case.renamed_to(call, "stack", why=why)
        yield from beside_each_step(case, call)
    for call in case.calls():
        for given in [*call.args, *[k.value for k in call.keywords]]:
            if case.of(given) == case.match[3]:
                yield case.replaced(given, "-1")
        x = owner(call)
        for a in ([x] if x is not None and dotted(x) != "torch" else []) + call.args[:1]:
            if not isinstance(a, ast.Constant):
                yield case.appended(a, ".unsqueeze(0)")


def beside_each_step(case: Case, call: ast.Call) -> Iterator[Proposal]:
    """Repeat a tensor that has one row for each sample for each step of a batch of sequences, if
    their features are joined.
    """
    features = case.number(argument(call, 1, "dim")) in (-1, 2)
    items = elements(call.args[0]) if call.args and features else []
    sequences = [s for s in items if len(case.shape(s) or ()) == 3]
    for item in [i for i in items if len(case.shape(i) or ()) == 2 and sequences]:
        if case.shape(item)[0] == case.shape(sequences[0])[0]:  # type: ignore[index]
            end = f".unsqueeze(1).expand(-1, {case.operand(sequences[0])}.shape[1], -1)"
            note = f"{case.of(item)} stands beside each step of its sample."
            yield case.appended(item, end, note=note)


def stacked(case: Case) -> Iterator[Proposal]:
    """Use full windows only; pad to one length with zeros; or concatenate in place of stacking."""
    yield from repeated_as_new(case)
    yield from padded_convolutions(case)
    yield from whole_windows(case)
    for call in case.calls("stack"):
        shapes = [t.shape for t in case.listed(call.args[0])] if call.args else []
        if shapes and all(s and s[1:] == shapes[0][1:] for s in shapes):
            given = case.of(call.args[0])
            new = f"torch.nn.utils.rnn.pad_sequence({given}, batch_first=True)"
            yield case.replaced(call, new, note="Shorter ones are padded with zeros at their end.")
    yield from padded_batches(case)
    yield from enlarged(case)
    yield from cropped(case)
    for node in case.of_type(ast.Attribute, ast.Call):
        if isinstance(node, ast.Attribute) and node.attr == "stack":
            yield case.renamed_to(node, "cat")
        if isinstance(node, ast.Call) and method(node) in ("stack", "cat") and node.args:
            yield from _dimensions(case, node)


def repeated_as_new(case: Case) -> Iterator[Proposal]:
    """Write h.unsqueeze(1).repeat(1, T, 1), if h lacks that dimension."""
    for call in case.calls("cat"):
        for name in elements(call.args[0]) if call.args else []:
            made = case.made(name)
            counts = [number_of(a) for a in made.args] if method(made) == "repeat" else []  # type: ignore[attr-defined]
            places = [k for k, n in enumerate(counts) if n != 1]
            if len(places) == 1 and len(counts) == 3:
                why = "The tensor has no such dimension yet: repeat would add a new one in front."
                yield case.first(made, f".unsqueeze({places[0]})", why=why)


def padded_batches(case: Case) -> Iterator[Proposal]:
    """Pad the samples of batches to one length with zeros."""
    new = "lambda batch: torch.nn.utils.rnn.pad_sequence(batch, batch_first=True)"
    pairs = (
        "lambda batch: (torch.nn.utils.rnn.pad_sequence([x for x, _ in batch], batch_first=True), "
        "torch.tensor([y for _, y in batch]))"
    )
    if any(len(elements(n.target)) == 2 for n in case.of_type(ast.For, everywhere=True)):
        new = pairs
    why = "A batch is a tensor: its samples must have the same length."
    for call in case.calls("DataLoader", everywhere=True):
        if not keyword(call, "collate_fn"):
            note = "Shorter samples are padded with zeros at their end."
            yield case.given(call, "collate_fn", new, why=why, note=note)


def ragged(case: Case) -> Iterator[Proposal]:
    """Pad rows of different lengths with zeros."""
    for call in case.calls("tensor", "Tensor", "FloatTensor", "LongTensor", "as_tensor"):
        rows = case.value(call.args[0]) if call.args else None
        if isinstance(call.args[0], ast.List):
            rows = [[case.value(e) for e in elements(r)] for r in elements(call.args[0])]
        if rows and all(isinstance(r, list) and r for r in rows):
            each = case.of(call.func) + "(row)"
            new = f"torch.nn.utils.rnn.pad_sequence([{each} for row in {case.of(call.args[0])}], "
            note = "Shorter rows are padded with zeros at their end."
            yield case.replaced(call, f"{new}batch_first=True)", note=note)


def _dimensions(case: Case, call: ast.Call) -> Iterator[Proposal]:
    """Add a dimension; or concatenate along another one."""
    items = elements(call.args[0])
    for item in items:
        yield case.appended(item, ".unsqueeze(0)")
        yield case.appended(item, ".unsqueeze(1)")
    shapes = [t.shape for e in items if (t := case.tensor(e)) is not None]
    if method(call) == "cat" and items and len(shapes) == len(items):
        for dim in fitting_dims(shapes):
            yield case.given(call, "dim", str(dim))
    elif method(call) == "cat" and len(call.args) == 1 and not keyword(call, "dim"):
        yield case.given(call, "dim", "-1")


def fitting_dims(shapes: list[tuple[int, ...]]) -> list[int]:
    """The dimensions along which tensors can be concatenated."""
    first = shapes[0]
    return [
        d
        for d in range(len(first))
        if all(s[:d] + s[d + 1 :] == first[:d] + first[d + 1 :] for s in shapes)
    ]


def enlarged(case: Case) -> Iterator[Proposal]:
    """Interpolate an image that was enlarged from half the odd size of another one to that size."""
    sizes = re.search(r"Expected size (\d+) but got size (\d+)", case.message)
    small, large = sorted(int(n) for n in sizes.groups()) if sizes else (0, 0)
    joined = [elements(c.args[0]) for c in case.calls("cat") if c.args and large - small == 1]
    for a, b in [items for items in joined if len(items) == 2]:
        if (case.shape(a) or ()) > (case.shape(b) or ()):
            a, b = b, a
        own, other = case.shape(a) or (), case.shape(b) or ()
        if len(own) == len(other) == 4 and small == own[-1] and large == other[-1]:
            function = "torch.nn.functional.interpolate"
            new = f"{function}({case.of(a)}, size={case.operand(b)}.shape[2:])"
            why = f"Half of {large} is rounded down, and twice that is {small}."
            yield case.replaced(a, new, why=why)


def cropped(case: Case) -> Iterator[Proposal]:
    """Crop the larger of two images of nearly equal size."""
    sizes = re.search(r"Expected size (\d+) but got size (\d+)", case.message)
    given, wanted = sorted(int(n) for n in sizes.groups()) if sizes else (0, 0)
    for call in case.calls("cat") if 0 < wanted - given < wanted / 2 else ():
        for item in elements(call.args[0]):
            shape = case.shape(item) or ()
            if wanted in shape[2:]:
                cut = [f":{given}" if n == wanted else ":" for n in shape]
                note = f"One is {wanted} wide, the other {given}: the rest is cropped."
                yield case.appended(item, f"[{', '.join(cut)}]", note=note)


def whole_windows(case: Case) -> Iterator[Proposal]:
    """Write x[i:i + n] for i in range(m - n + 1): only the windows of full length."""
    for loop in within(case.tree, ast.For, ast.comprehension):
        outer = case.parents[loop] if isinstance(loop, ast.comprehension) else loop
        slices = [s for s in within(outer, ast.Subscript) if isinstance(s.slice, ast.Slice)]
        for call in calls_in(loop.iter, "range"):
            for n in looked_ahead(case, slices, dotted(loop.target)):
                end, width = call.args[-1], number_of(ast.parse(n, mode="eval").body)
                count = number_of(end)
                text = f"{case.of(end)} - {n} + 1"
                if count is not None and width is not None:
                    text = str(count - width + 1)
                why = f"The last windows are shorter than {n}."
                if len(call.args) < 3:
                    yield case.replaced(end, text, why=why)


def listed_for_cat(case: Case) -> Iterator[Proposal]:
    """Write torch.cat([a, b]) for torch.cat(a, b); or pass the items of an iterator as a list."""
    for call in case.calls(case.match[1]) if case.match[2] != "Tensor" else ():
        for items in call.args[:1]:
            shared = isinstance(items, ast.GeneratorExp) and case.end(items) == case.end(call)
            text = case.of(items)
            yield case.replaced(items, f"([{text[1:-1]}])" if shared else f"list({text})")
    for call in case.calls(case.match[1]):
        given = [a for a in call.args if case.number(a) is None]
        if len(given) > 1 and given == call.args[: len(given)]:
            yield case.proposal(case.spanning(given, f"[{', '.join(map(case.of, given))}]"))


def joined_dimensions(case: Case) -> Iterator[Proposal]:
    """Add a dimension of size 1 to tensors that have fewer dimensions."""
    for call in case.calls("cat", "concat", "concatenate", "hstack"):
        given = case.made(call.args[0]) if call.args else None
        if isinstance(given, ast.ListComp | ast.GeneratorExp):
            yield case.appended(given.elt, ".flatten()", note="All elements, as one vector.")
        elif given is not None and not elements(given) and len(case.listed(call.args[0])) > 1:
            new = f"[t.flatten() for t in {case.of(call.args[0])}]"
            yield case.replaced(call.args[0], new, note="All elements, as one vector.")
    yield from row_of_state(case)
    most = max(int(case.match[1]), int(case.match[2]))
    least = min(int(case.match[1]), int(case.match[2]))
    for call in case.calls("cat", "concat", "concatenate", "hstack"):
        for item in elements(call.args[0]) if call.args else []:
            shape = case.shape(item) or ()
            if len(shape) == most == least + 1 and 1 in shape[1:]:
                yield case.appended(item, f".squeeze({shape.index(1, 1)})")
    for call in case.calls("cat", "concat", "concatenate", "hstack"):
        for item in elements(call.args[0]) if call.args else []:
            tensor = case.tensor(item)
            yield from for_the_batch(case, item, elements(call.args[0]))
            yield from beside_each_step(case, call)
            yield from prepared(case, item, most)
            yield from embedded(case, item)
            yield from encoded(case, item, elements(call.args[0]))
            if tensor is None or tensor.ndim < most:
                yield case.appended(item, ".unsqueeze(1)")
                yield case.appended(item, ".unsqueeze(0)")


def row_of_state(case: Case) -> Iterator[Proposal]:
    """Create a state that is joined with rows as a row itself: zeros(1, n) for zeros(n)."""
    joined = [n for c in case.calls("cat") if c.args for n in elements(c.args[0])]
    batches = {s[0] for n in joined if len(s := case.shape(n) or ()) == 2}
    vectors = [s for n in joined if len(s := case.shape(n) or ()) == 1]
    for made in case.calls("zeros", everywhere=True) if len(batches) == len(vectors) == 1 else ():
        if len(made.args) == 1 and not isinstance(made.args[0], ast.Tuple | ast.List):
            why = "The state is joined with rows: it has a row for each sample."
            (batch,) = batches
            yield case.proposal(case.inserting(made.args[0], f"{batch}, "), why=why)


def for_the_batch(case: Case, item: ast.expr, others: list[ast.expr]) -> Iterator[Proposal]:
    """Write p.expand(n, -1, -1) for a parameter p that is concatenated with each of n samples."""
    leaf, shape = case.tensor(item), case.shape(item) or ()
    for whole in [case.shape(o) or () for o in others]:
        trained = leaf is not None and leaf.is_leaf and leaf.requires_grad
        if trained and len(shape) == len(whole) - 1 > 1 and shape[1:] == whole[2:]:
            end = f".expand({whole[0]}, {', '.join(['-1'] * len(shape))})"
            yield case.appended(item, end, note=f"{case.of(item)} is joined to each sample.")


def prepared(case: Case, item: ast.expr, dimensions: int) -> Iterator[Proposal]:
    """Use the unused result of a computation on a tensor in place of the tensor, such as
    one_hot(labels).
    """
    for built in case.of_type(ast.Assign, everywhere=True):
        name = dotted(built.targets[0])
        unread = name and not case.reads_of(name) and name != dotted(item)
        fits = len(case.shape(built.targets[0]) or ()) == dimensions
        if unread and fits and dotted(item) in names_in(built.value):
            why = f"Line {built.lineno} computes {name} from {dotted(item)}, but does not use it."
            yield case.replaced(item, name, why=why)


JOINING = ("stack", "cat", "concat", "concatenate", "hstack", "vstack", "dstack", "column_stack")


def stacked_numbers(case: Case) -> Iterator[Proposal]:
    """Numbers as tensors; the tensor that an array is taken from, or the array as a tensor."""
    for node in case.calls(*JOINING):
        if not node.args:
            continue
        (joined, *_) = node.args
        yield from begun_with_none(case, node)
        yield from arrays_joined(case, elements(joined))
        for form in ("torch.tensor({})", "torch.tensor([{}])"):
            yield from case.change(*case.numbers_as(form, elements(joined)))
        numbers = [e for e in elements(joined) if isinstance(case.value(e), int | float | Scalar)]
        form = "torch.tensor({})" if method(node) == "stack" else "torch.tensor([{}])"
        edits = [case.replacing(n, form.format(f"float({case.of(n)})")) for n in numbers]
        yield from case.change(*edits, why="Only tensors can be joined; this is a number.")
        for built in reversed(case.makers(joined)):
            begun = elements(built.value)
            if begun and all(isinstance(e, ast.Constant) for e in begun):
                yield case.replaced(built.value, "[]")
        yield case.replaced(node, f"torch.tensor({case.of(joined)})", weak=True)
        for item in [a for s in case.calls("append", everywhere=True) for a in s.args[:1]]:
            if isinstance(item, ast.Call) and method(item) == "item":
                yield case.without(item)


def begun_with_none(case: Case, call: ast.Call) -> Iterator[Proposal]:
    """Write `k if h is None else cat([h, k])` for cat([h, k]), where h is None at first."""
    items = elements(call.args[0])
    for item in [e for e in items if dotted(e)]:
        begun = [value_of(s) for s in case.assignments(dotted(item))]
        rest = [case.of(other) for other in items if other is not item]
        if rest and any(isinstance(b, ast.Constant) and b.value is None for b in begun):
            start, inner = case.start(call), case.replacing(call.args[0], f"[{', '.join(rest)}]")
            alone = case.of(call)[: inner.start - start] + inner.text
            alone += case.of(call)[inner.end - start :]
            if len(rest) == 1 and method(call).startswith(("cat", "concat")):
                alone = rest[0]
            name = case.of(item)
            why = f"{name} is None at first: there is nothing yet to join."
            yield case.replaced(call, f"{alone} if {name} is None else {case.of(call)}", why=why)


def arrays_joined(case: Case, items: list[ast.expr]) -> Iterator[Proposal]:
    """x for the x.detach().numpy() among tensors that are joined; as_tensor of other arrays."""
    for item in [e for e in items if hasattr(case.value(e), "array")]:
        call = case.made(item)
        why = "Only tensors can be joined; an array has no graph."
        if method(call) == "numpy" and isinstance(call, ast.Call):
            yield case.proposal(without_array(case, call), why=why)
        yield case.replaced(item, f"torch.as_tensor({case.of(item)}).float()", why=why)
