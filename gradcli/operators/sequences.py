"""ctc_loss: the loss of a sequence of labels, summed over all alignments with the time steps.

An alignment has a class at every time step: there may be blanks between labels, and labels may be
repeated. It is a path through the sequence of labels with blanks before, between and after them:
from one time step to the next, it stays at a position, moves to the next one, or skips a blank
between different labels. Logarithms of probabilities are propagated together with their tangents.
"""

from itertools import groupby, product

from ..errors import GradcliError
from ..graphs import as_node, shapes
from ..lazy import np
from .families import operator, shorthand
from .guards import unless
from .leaves import Array, arange, tensor
from .losses import reduced
from .pointwise import F


class _Alignments:
    """The labels of each sample with blanks inserted, and the lengths of samples and labels."""

    def __init__(self, log_probs, targets, input_lengths, target_lengths, blank):
        self.times, self.counts = np.array(input_lengths), np.array(target_lengths)
        samples, longest = len(self.counts), max(target_lengths, default=0)
        self.labels = np.full((samples, 2 * longest + 1), blank)
        ends = np.cumsum(self.counts)
        for n, count in enumerate(target_lengths):
            labels = targets[n] if targets.ndim == 2 else targets[ends[n] - count : ends[n]]
            self.labels[n, 1 : 2 * count : 2] = labels[:count]
        last = log_probs.shape[2] - 1
        if (self.labels < 0).any() or (self.labels > last).any():
            raise GradcliError(
                "arguments", f"labels of ctc_loss() must be classes from 0 to {last}"
            )
        self.blank, self.sample = blank, np.arange(samples)
        self.time = np.arange(len(log_probs))
        self.inside = (self.time[:, None] < self.times)[..., None]

    def of_labels(self, log_probs):
        """The log-probability of each label at each time, of shape (time, batch, labels)."""
        return np.take_along_axis(log_probs, self.labels[None], axis=2)

    def backward(self, x):
        """`x` reversed in time and in labels, within each sample's lengths."""
        time = np.maximum(self.times - 1 - self.time[:, None], 0)[..., None]
        return x[time, self.sample[:, None], self._from_the_end()]

    def _from_the_end(self):
        return np.maximum(2 * self.counts[:, None] - np.arange(self.labels.shape[1]), 0)

    def propagated(self, x, tangent, reverse=False):
        """The log-probability of reaching each label at each time, and its tangent."""
        labels = self.labels
        if reverse:
            labels = np.take_along_axis(labels, self._from_the_end(), axis=1)
        skips = np.zeros(labels.shape, bool)
        skips[:, 2:] = labels[:, 2:] != labels[:, :-2]
        out, tangents = np.full(x.shape, -np.inf), np.zeros(x.shape)
        out[:1, :, :2], tangents[:1, :, :2] = x[:1, :, :2], tangent[:1, :, :2]
        for t in self.time[1:]:
            predecessors = [
                out[t - 1],
                _shifted(out[t - 1], 1, -np.inf),
                _shifted(out[t - 1], 2, -np.inf),
            ]
            predecessors[2] = np.where(skips, predecessors[2], -np.inf)
            predecessor_tangents = [
                tangents[t - 1],
                _shifted(tangents[t - 1], 1, 0),
                _shifted(tangents[t - 1], 2, 0),
            ]
            out[t], tangents[t] = _logsumexp(np.stack(predecessors), np.stack(predecessor_tangents))
            out[t] += x[t]
            tangents[t] += tangent[t]
        return out, tangents

    def losses(self, out, tangents):
        """Minus the log-probability of ending at the last label or blank, and its tangent."""
        last, ends = np.maximum(self.times - 1, 0), np.stack([2 * self.counts, 2 * self.counts - 1])
        final, final_tangents = (x[last, self.sample, np.maximum(ends, 0)] for x in (out, tangents))
        final = np.where(ends < 0, -np.inf, final)
        never = np.where(self.counts == 0, 0.0, -np.inf)
        total, tangent = _logsumexp(final, final_tangents)
        return -np.where(self.times == 0, never, total), -np.where(self.times == 0, 0, tangent)

    def by_class(self, x, classes):
        """Values of labels, added up by class: of shape (time, batch, classes)."""
        out = np.zeros((*x.shape[:2], classes))
        places = (self.time[:, None, None], self.sample[:, None], self.labels)
        np.add.at(out, places, np.where(self._counted(), x, 0))
        return out

    def _counted(self):
        """The mask of labels that are added up: within the lengths, and only the last two at the
        last time. If the last label is a blank, PyTorch overwrites the value of the blank after it.
        """
        last, end = self.times - 1, 2 * self.counts
        place = np.arange(self.labels.shape[1])
        counted = self.inside & (place <= end[:, None])
        counted &= (self.time[:, None] != last)[..., None] | (place >= end[:, None] - 1)
        over = (last >= 0) & (end > 0) & (self.labels[self.sample, end - 1] == self.blank)
        counted[last[over], self.sample[over], end[over]] = False
        return counted


def _shifted(x, by, fill):
    """Each row shifted to the right by `by` elements, with `fill` in front."""
    out = np.full(x.shape, fill, float)
    out[:, by:] = x[:, : max(x.shape[1] - by, 0)]
    return out


def _logsumexp(logs, tangents):
    """The logsumexp over the first dimension, nan for inf as in PyTorch, and its tangent."""
    total = np.logaddexp.reduce(logs)
    total = np.where(np.isposinf(total), np.nan, total)
    shares = np.exp(logs - np.where(np.isneginf(total), 0, total))
    return total, np.sum(shares * tangents, axis=0)


def _losses(log_probs, targets, *, zero_infinity, **lengths):
    a = _Alignments(log_probs, targets, **lengths)
    x = a.of_labels(log_probs)
    losses, _ = a.losses(*a.propagated(x, np.zeros(x.shape)))
    return np.where(np.isposinf(losses), 0, losses) if zero_infinity else losses


def _slopes(log_probs, targets, direction, *, zero_infinity, **lengths):
    """The gradient of the losses; with a direction, its derivative along it."""
    a = _Alignments(log_probs, targets, **lengths)
    x = a.of_labels(log_probs)
    tangent = np.zeros(x.shape) if direction is None else a.of_labels(direction)
    ahead, ahead_tangent = a.propagated(x, tangent)
    behind, behind_tangent = a.propagated(a.backward(x), a.backward(tangent), reverse=True)
    losses, losses_tangent = (loss[:, None] for loss in a.losses(ahead, ahead_tangent))
    shares, free = np.exp(ahead + a.backward(behind) + losses - x), np.exp(log_probs)
    if direction is not None:
        shares = shares * (ahead_tangent + a.backward(behind_tangent) + losses_tangent - tangent)
        free = free * direction
    impossible = np.isposinf(losses)
    never = np.isnan(losses) | (impossible & (not zero_infinity))
    undefined = np.isneginf(log_probs) | never
    slopes = np.where(undefined, np.nan, free - a.by_class(shares, log_probs.shape[2]))
    return np.where(a.inside & ~(impossible & zero_infinity), slopes, 0)


# ---- symbolic elements ---------------------------------------------------------------------------

MOST_SEQUENCES = 1_000  # most sequences of classes that are enumerated


def _alignments(sp, log_probs, targets, input_lengths, target_lengths, blank):
    """Yield the alignments of each sample, with their probabilities."""
    classes = log_probs.shape[2]
    if classes ** max(input_lengths, default=0) > MOST_SEQUENCES:
        raise GradcliError("limit", "there are too many alignments to write out in symbols")
    end = 0
    for n, (times, count) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        labels = targets[n, :count] if targets.ndim == 2 else targets[end : end + count]
        end, wanted = end + count, [int(label) for label in labels]
        alignments = [
            w for w in product(range(classes), repeat=times) if _collapsed(w, blank) == wanted
        ]
        yield {
            w: sp.exp(sp.Add(*(log_probs[t, n, c] for t, c in enumerate(w)))) for w in alignments
        }


def _collapsed(classes, blank):
    """The labels of an alignment, without repetitions and blanks."""
    return [label for label, _ in groupby(classes) if label != blank]


def _symbolic_losses(sp, log_probs, targets, *, zero_infinity, **how):
    never = sp.S.Zero if zero_infinity else sp.oo
    samples = _alignments(sp, log_probs, targets, **how)
    return np.array(
        [-sp.log(sp.Add(*alignments.values())) if alignments else never for alignments in samples],
        object,
    )


def _symbolic_slopes(sp, log_probs, targets, direction, *, zero_infinity, **how):
    out = np.full(log_probs.shape, sp.S.Zero, object)
    for n, alignments in enumerate(_alignments(sp, log_probs, targets, **how)):
        total = sp.Add(*alignments.values())
        for t, c in product(range(how["input_lengths"][n]), range(log_probs.shape[2])):
            through = sp.Add(*(alignments[w] for w in alignments if w[t] == c))
            undefined = sp.S.Zero if zero_infinity else sp.nan
            out[t, n, c] = sp.exp(log_probs[t, n, c]) - through / total if alignments else undefined
    return out


# ---- operators -----------------------------------------------------------------------------------


def _checked(log_probs, targets, *, blank, **_):
    if not 0 <= blank < log_probs[2]:
        raise GradcliError("arguments", f"blank must be a class from 0 to {log_probs[2] - 1}")
    return log_probs[1:2]


@operator(
    shape=_checked,
    value=_losses,
    symbolic=_symbolic_losses,
    dtype="float",
    integer_inputs=("targets",),
    order="log_probs targets input_lengths target_lengths blank zero_infinity",
    spelling="ctc_loss({0}, {1}, {input_lengths}, {target_lengths}, blank={blank}, "
    "reduction='none', zero_infinity={zero_infinity})",
    torch=F + "ctc_loss",
    once_differentiable="derivative for aten::_ctc_loss_backward is not implemented",
    caveat="as in PyTorch the gradient is right only if log_probs come from log_softmax and no "
    "label is the blank",
    examples=(
        ("ctc_loss(log_softmax(x, 2), tensor([[1, 2]]), (3,), (2,))", "x=3x1x3"),
        ("ctc_loss(log_softmax(x, 2), tensor([1, 2]), (2, 1), (1, 1), reduction='sum')", "x=2x2x3"),
    ),
)
def ctc_losses(
    g, y, log_probs, targets, *, input_lengths, target_lengths, blank=0, zero_infinity=False
):
    """Minus the log of the probability of the labels, summed over their alignments."""
    slopes = ctc_slopes(
        log_probs, targets, input_lengths=input_lengths, target_lengths=target_lengths,
        blank=blank, zero_infinity=zero_infinity,
    )  # fmt: skip
    later = _later_than(log_probs.shape[0], input_lengths)
    if zero_infinity:
        later = later | y.eq(0).unsqueeze(dim=-1)
    return unless(later, g.unsqueeze(dim=-1) * slopes, instead=0.0), None


def _later_than(times, lengths):
    """The mask of times after the end of each sample, of shape (time, batch, 1)."""
    ends = Array(np.array(lengths)[:, None], f"tensor({[[n] for n in lengths]})")
    return arange(end=times).reshape(shape=(-1, 1, 1)) >= tensor(data=ends)


@operator(
    shape=lambda s, *_, **attrs: s,
    value=_slopes,
    symbolic=_symbolic_slopes,
    dtype="float",
    integer_inputs=("targets",),
    order="log_probs targets input_lengths target_lengths blank zero_infinity direction",
    torch=None,
    examples=(
        (
            "w * ctc_slopes(log_softmax(x, 2).detach(), tensor([[1]]), (2,), (1,), 0, False)",
            "x=2x1x3,w=2x1x3",
        ),
    ),
)
def ctc_slopes(
    g,
    y,
    log_probs,
    targets,
    direction=None,
    *,
    input_lengths,
    target_lengths,
    blank,
    zero_infinity,
):
    """The gradient of ctc_loss, exp(log_probs) less the share of each class in all alignments; or
    its derivative along a direction.
    """
    if direction is not None:
        raise GradcliError("not-differentiable", "ctc_loss() has no third derivative", span=y.span)
    second = ctc_slopes(
        log_probs, targets, direction=g, input_lengths=input_lengths,
        target_lengths=target_lengths, blank=blank, zero_infinity=zero_infinity,
    )  # fmt: skip
    return second, None, None


@shorthand(concrete=("input_lengths", "target_lengths"))
def ctc_loss(
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    blank=0,
    reduction="mean",
    zero_infinity=False,
):
    """Minus the log of the probability of targets, summed over their alignments; reduced."""
    log_probs, targets = as_node(log_probs), as_node(targets)
    if log_probs.ndim not in (2, 3) or targets.ndim not in (1, 2):
        raise GradcliError(
            "shape", "ctc_loss() needs log_probs of shape (time, batch, classes) and labels"
        )
    batch = log_probs if log_probs.ndim == 3 else log_probs.unsqueeze(dim=1)
    times, samples, _ = batch.shape
    inputs = _checked_lengths("input_lengths", input_lengths, samples, times)
    longest = targets.shape[1] if targets.ndim == 2 else targets.shape[0]
    counts = _checked_lengths("target_lengths", target_lengths, samples, longest)
    _check_targets(targets, samples, counts)
    losses = ctc_losses(
        batch, targets, input_lengths=inputs, target_lengths=counts, blank=blank,
        zero_infinity=zero_infinity,
    )  # fmt: skip
    losses = losses if log_probs.ndim == 3 else losses.squeeze(dim=0)
    if reduction == "mean":
        sizes = [max(count, 1) for count in counts]
        losses = losses / tensor(data=Array(np.array(sizes), f"tensor({sizes})"))
    return reduced(losses, reduction)


def _checked_lengths(name, given, samples, most):
    """The lengths of the samples. Raises GradcliError if one is invalid."""
    if isinstance(given, Array):
        given = tuple(given.value.reshape(-1).tolist())
    lengths = given if isinstance(given, tuple) else (given,)
    if len(lengths) != samples:
        raise GradcliError(
            "shape", f"{name} must have a length for each of {samples} samples, got {len(lengths)}"
        )
    if not all(isinstance(n, int) and 0 <= n <= most for n in lengths):
        raise GradcliError("arguments", f"{name} must be integers from 0 to {most}")
    return lengths


def _check_targets(targets, samples, counts):
    needed: tuple[int, ...] = (sum(counts),)
    if targets.ndim == 2:
        needed = (samples, targets.shape[1])
    message = f"ctc_loss() needs targets of shape {needed}, got {shapes.text(targets.shape)}"
    shapes.require_equal(targets.shape, needed, message)
