"""What torch.* means by names whose arguments torch.nn.functional has in another order, or has
defaults for. The reduction of a loss is a number there: none, unless it is given.
"""

from ..errors import GradcliError
from ..graphs import Outputs, as_node
from .distances import cosine_embedding_loss, triplet_margin_loss
from .dropout import alpha_dropout, dropout, feature_alpha_dropout
from .embeddings import embedding, embedding_bag
from .families import shorthand
from .losses import (
    binary_cross_entropy_with_logits,
    hinge_embedding_loss,
    kl_div,
    margin_ranking_loss,
    poisson_nll_loss,
)
from .normalisation import batch_norm, group_norm, instance_norm, layer_norm
from .sequences import ctc_loss

REDUCTIONS = ("none", "mean", "sum")
MODES = ("sum", "mean", "max")


# ---- embedding -----------------------------------------------------------------------------------


@shorthand("torch.embedding", alone=True)
def embedding_of_weight(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """The rows of weight that indices name."""
    return embedding(
        indices,
        weight,
        padding_idx=padding_idx if padding_idx >= 0 else None,
        scale_grad_by_freq=scale_grad_by_freq,
    )


@shorthand("torch.embedding_bag", alone=True, numbers=("indices", "offsets"))
def embedding_bag_of_weight(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=0,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """Rows of weight, joined bag by bag; PyTorch's further answers, which are counts, are not
    given.
    """
    bags = embedding_bag(
        indices,
        as_node(weight),
        offsets,
        scale_grad_by_freq=scale_grad_by_freq,
        mode=_numbered(mode, MODES, "mode"),
        per_sample_weights=per_sample_weights,
        include_last_offset=include_last_offset,
        padding_idx=padding_idx,
    )
    return Outputs((bags,), ("output",))


# ---- dropout -------------------------------------------------------------------------------------


@shorthand("torch.dropout", alone=True)
def torch_dropout(input, p, train):
    """dropout, all of whose arguments are needed."""
    return dropout(input, p, train)


@shorthand("torch.alpha_dropout", alone=True)
def torch_alpha_dropout(input, p, train):
    """alpha_dropout, all of whose arguments are needed."""
    return alpha_dropout(input, p, train)


@shorthand("torch.feature_alpha_dropout", alone=True)
def torch_feature_alpha_dropout(input, p, train):
    """feature_alpha_dropout, all of whose arguments are needed."""
    return feature_alpha_dropout(input, p, train)


# ---- normalisation -------------------------------------------------------------------------------


@shorthand("torch.batch_norm", alone=True)
def torch_batch_norm(
    input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled
):
    """batch_norm with its arguments in another order."""
    return batch_norm(
        as_node(input), running_mean, running_var, weight, bias, training=training, eps=eps
    )


@shorthand("torch.instance_norm", alone=True)
def torch_instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled
):
    """instance_norm with its arguments in another order."""
    return instance_norm(
        as_node(input), running_mean, running_var, weight, bias,
        use_input_stats=use_input_stats, eps=eps,
    )  # fmt: skip


@shorthand("torch.layer_norm", alone=True)
def layer_norm_on_any_device(
    input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True
):
    """layer_norm; cudnn_enable says nothing of its value."""
    return layer_norm(input, normalized_shape, weight, bias, eps)


@shorthand("torch.group_norm", alone=True)
def group_norm_on_any_device(
    input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True
):
    """group_norm; cudnn_enabled says nothing of its value."""
    return group_norm(input, num_groups, weight, bias, eps)


# ---- losses --------------------------------------------------------------------------------------


def _numbered(number, words, what):
    """The word for which torch.* has a number."""
    if isinstance(number, bool) or number not in range(len(words)):
        given = ", ".join(f"{k} for {word!r}" for k, word in enumerate(words))
        said = f"{what} of a function of torch.* is a number, not {number!r}"
        raise GradcliError("arguments", said, hint=f"{given}; F.* takes the word")
    return words[number]


@shorthand("torch.ctc_loss", alone=True, numbers=("input_lengths", "target_lengths"))
def ctc_loss_by_number(
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    blank=0,
    reduction=0,
    zero_infinity=False,
):
    """ctc_loss, with a number for its reduction."""
    word = _numbered(reduction, REDUCTIONS, "reduction")
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, word, zero_infinity)


def _with_number(loss, order):
    """torch.* of a loss, whose reduction is a number."""
    names = order.split()

    def meaning(*args, **named):
        if len(args) > len(names):
            said = f"torch.{loss.name}() takes {len(names)} arguments at most, not {len(args)}"
            raise GradcliError("arguments", said)
        given = {"reduction": 0} | dict(zip(names, args, strict=False)) | named
        given["reduction"] = _numbered(given["reduction"], REDUCTIONS, "reduction")
        return loss(**given)

    meaning.__name__, meaning.__doc__ = f"torch_{loss.name}", loss.sentence
    return shorthand(f"torch.{loss.name}", alone=True)(meaning)


torch_losses = [
    _with_number(kl_div, "input target reduction"),
    _with_number(hinge_embedding_loss, "input target margin reduction"),
    _with_number(margin_ranking_loss, "input1 input2 target margin reduction"),
    _with_number(cosine_embedding_loss, "input1 input2 target margin reduction"),
    _with_number(poisson_nll_loss, "input target log_input full eps reduction"),
    _with_number(binary_cross_entropy_with_logits, "input target weight pos_weight reduction"),
    _with_number(triplet_margin_loss, "anchor positive negative margin p eps swap reduction"),
]
