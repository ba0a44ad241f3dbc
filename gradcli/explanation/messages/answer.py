"""The answer to a pasted error message, as data and document; and the list of known messages."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...errors import GradcliError
from ..blocks import Block, Code, Document, Note, Prose, Row, Section, Table, plain, words
from .catalogue import Message, messages, topics
from .matching import match, rivals
from .values import old_wording, values
from .words import HOLE

ELSEWHERE = (
    "Python and other libraries print this message for many reasons; this explanation holds if "
    "the line computes gradients."
)
PER_TOPIC = 2  # messages per topic in the short list
LONGEST = 76  # characters of a message in the list


class Answer(NamedTuple):
    """A recognised message. `also`: other messages that the text may be; `values`: values in the
    text by label; `before`: the release that changed this wording, or ""; `text`: the message
    with these values; `record`: a sentence on the tensor and versions that it names, or "".
    """

    message: Message
    also: tuple[Message, ...]
    values: dict[str, str]
    before: str
    text: str
    record: str


def answer(text: str) -> Answer | None:
    """The known message that `text` is or contains, with its values; None if there is none."""
    result = match(text)
    if result is None or result.template.message is None:
        return None
    message, old = result.template.message, old_wording(result)
    named, before = values(result), old.before if old else ""
    labelled = {label: named[name] for name, label in message.values.items() if name in named}
    filled = _filled(message.text, named)
    return Answer(message, tuple(rivals(result)), labelled, before, filled, sentence(named))


def _filled(text: str, values: Mapping[str, str]) -> str:
    """`text` with its {placeholders} replaced by `values`, or by "…" if they have no value."""
    return HOLE.sub(lambda hole: values.get(hole[1], "…"), text.strip())


LISTED = "gradcli why lists the messages it knows"


def unknown(text: str, hint: str = "") -> GradcliError:
    """The error for a text that matches no known message; `hint` says what is known of it."""
    excerpt = _short(" ".join(text.split()))
    message = f"this is not a known message of PyTorch about gradients: {excerpt}"
    return GradcliError("unknown-message", message, hint=hint or LISTED)


def data(a: Answer) -> dict[str, Any]:
    """The answer as JSON."""
    causes = [*a.message.causes, *(cause for other in a.also for cause in other.causes)]
    return {
        "class": a.message.kind,
        "message": a.message.text,
        "meaning": a.message.meaning,
        "causes": causes,
        "cure": a.message.cure,
        "values": a.values,
        "record": a.record or None,
        "trigger": a.message.trigger or None,
        "also": [other.text for other in a.also],
        "before": a.before or None,
        "elsewhere": a.message.elsewhere,
    }


def explained(text: str) -> dict[str, Any]:
    """The answer to `text` as JSON. Raises GradcliError if it matches no known message."""
    result = answer(text)
    if result is None:
        raise unknown(text)
    return data(result)


# ---- as a document -------------------------------------------------------------------------------


def document(a: Answer) -> Document:
    """The answer as a document: meaning and values, causes, cure, a program that raises it."""
    cure = Section("cure", words("Cure"), (), (Prose(words(a.message.cure)),))
    sections = [_meaning(a), _causes(a.message), cure]
    sections += [_other(other) for other in a.also]
    if a.message.trigger:
        program = Code(a.message.trigger.rstrip("\n"), "python")
        sections.append(Section("trigger", words("A program that raises it"), (), (program,)))
    return Document((), tuple(sections))


def _meaning(a: Answer) -> Section:
    blocks: list[Block] = [Prose(words(a.message.meaning))]
    if a.record:
        blocks.append(Prose(words(a.record)))
    elif a.values:
        rows = tuple(Row((words(label), plain(value))) for label, value in a.values.items())
        blocks.append(Table(rows))
    if a.message.elsewhere:
        blocks.append(Note("not-only-here", words(ELSEWHERE)))
    if a.before:
        today = f"This wording is from before PyTorch {a.before}. Today: {a.text}"
        blocks.append(Note("old-wording", words(today)))
    return Section("meaning", words(_titled(a.message, a.text)), (), tuple(blocks))


def _causes(message: Message) -> Section:
    title = words("Causes, the most frequent first")
    return Section("causes", title, (), _numbered(message.causes))


def _numbered(causes: Sequence[str]) -> tuple[Prose, ...]:
    return tuple(Prose(words(f"{n}. {cause}")) for n, cause in enumerate(causes, 1))


def _other(message: Message) -> Section:
    """The section on another message that fits the text nearly as well."""
    meaning, cure = Prose(words(message.meaning)), Prose(words(message.cure))
    blocks = (meaning, *_numbered(message.causes), cure)
    return Section("also", words(f"Or {_titled(message, message.text)}"), (), blocks)


def _titled(message: Message, text: str) -> str:
    return _short(f"{message.kind}: {_filled(text, {})}")


def _short(text: str) -> str:
    """The first line of a text, cut to LONGEST characters."""
    line = text.split("\n")[0]
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1].rstrip()}…"


# ---- the list ------------------------------------------------------------------------------------


def listing() -> list[dict[str, str]]:
    """All messages as JSON, by topic."""
    return [{"topic": m.topic, "class": m.kind, "message": m.text} for m in messages()]


def listing_document(full: bool) -> Document:
    """The messages by topic: the most frequent ones, or all."""
    sections = []
    for topic, title in topics().items():
        members = [m for m in messages() if m.topic == topic]
        listed = members if full else members[:PER_TOPIC]
        rows = tuple(Row((plain(_short(_filled(m.text, {}))),)) for m in listed)
        omitted = len(members) - len(listed)
        remark = words(f"{omitted} more") if omitted else ()
        sections.append(Section(topic, words(title), remark, (Table(rows),)))
    return Document((), tuple(sections))


TYPES = {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16"}
TYPES |= {"Long": "int64", "Int": "int32", "Bool": "bool"}
LEAF = "no operation computed it: a leaf, such as a parameter that optimizer.step() changes"
VIEW = "a view of another tensor"
RESULTS = {  # descriptions of results, by the name of the operation
    "AsStrided": f"{VIEW}, like the transposed weight of nn.Linear that optimizer.step() changes",
    "T": f"{VIEW}, like the transposed weight of nn.Linear that optimizer.step() changes",
    "Transpose": f"{VIEW}: a transpose",
    "Select": f"{VIEW}: a part selected by an index",
    "Slice": f"{VIEW}: a part selected by a slice",
    "View": f"{VIEW}: the same numbers in another shape",
    "Unsqueeze": f"{VIEW}: the same numbers in another shape",
    "CopySlices": "a tensor with a part that was overwritten before",
    "Addmm": "the result of a linear layer",
    "CudnnRnn": "the result of a recurrent layer",
}


def sentence(values: dict[str, str]) -> str:
    """A sentence on the tensor of an error about version counters, from the values in the message:
    dtype, shape, origin and versions. "" if the message has no versions.
    """
    now, saved = values.get("v", ""), values.get("v0", "")
    if not (now.isdigit() and saved.isdigit()):
        return ""
    changes = int(now) - int(saved)
    times = "once" if changes == 1 else f"{changes} times"
    return (
        f"The tensor is {_tensor(values)}; {_origin(values.get('origin', ''))}. It was at version "
        f"{saved} when an operation saved it for the backward pass, and is at version {now} now: "
        f"changed in place {times} since."
    )


def _tensor(values: dict[str, str]) -> str:
    kind = values.get("type", "")
    name = kind.removeprefix("cuda.").removesuffix("Tensor")
    where = " on the GPU" if kind.startswith("cuda.") else ""
    sizes = values.get("sizes")
    shape = "" if sizes is None else f", of shape ({sizes}{',' if ',' not in sizes else ''})"
    return f"{TYPES.get(name, name)}{where}{shape}"


def _origin(origin: str) -> str:
    """A clause on how the tensor was computed, by the name of its operation."""
    known = re.search(r"output \d+ of (\w+?)(?:Backward\d*)?$", origin.strip(" ,"))
    if known is None:
        return LEAF
    return RESULTS.get(known[1], f"the result of {known[1].lower()}")
