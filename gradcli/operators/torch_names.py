"""Functions of `torch` that take other arguments than those of the same name in `F`.

A reduction is a number there, none by default, and stands where F keeps places for older arguments.
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


def _numbered(number, words, what):
    """The word for which torch.* has a number."""
    if isinstance(number, bool) or number not in range(len(words)):
        given = ", ".join(f"{k} for {word!r}" for k, word in enumerate(words))
        message = f"{what} of a function of torch.* is a number, not {number!r}"
        raise GradcliError("arguments", message, hint=f"{given}; F.* takes the word")
    return words[number]


def _reduction(number):
    return _numbered(number, REDUCTIONS, "reduction")


# ---- losses --------------------------------------------------------------------------------------


@shorthand("torch.kl_div", alone=True)
def torch_kl_div(input, target, reduction=0, *, log_target=False):
    """kl_div with a number for its reduction: 0 none, 1 mean, 2 sum."""
    return kl_div(input, target, reduction=_reduction(reduction), log_target=log_target)


@shorthand("torch.ctc_loss", alone=True, numbers=("input_lengths", "target_lengths"))
def torch_ctc_loss(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction=0, zero_infinity=False
):
    """ctc_loss with a number for its reduction."""
    return ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _reduction(reduction),
        zero_infinity,
    )  # fmt: skip


@shorthand("torch.binary_cross_entropy_with_logits", alone=True)
def torch_binary_cross_entropy_with_logits(
    input, target, weight=None, pos_weight=None, reduction=0
):
    """binary_cross_entropy_with_logits with a number for its reduction."""
    return binary_cross_entropy_with_logits(
        input, target, weight=weight, pos_weight=pos_weight, reduction=_reduction(reduction)
    )


@shorthand("torch.cosine_embedding_loss", alone=True)
def torch_cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=0):
    """cosine_embedding_loss with a number for its reduction."""
    return cosine_embedding_loss(
        input1, input2, target, margin=margin, reduction=_reduction(reduction)
    )


@shorthand("torch.hinge_embedding_loss", alone=True)
def torch_hinge_embedding_loss(input, target, margin=1.0, reduction=0):
    """hinge_embedding_loss with a number for its reduction."""
    return hinge_embedding_loss(input, target, margin=margin, reduction=_reduction(reduction))


@shorthand("torch.margin_ranking_loss", alone=True)
def torch_margin_ranking_loss(input1, input2, target, margin=0.0, reduction=0):
    """margin_ranking_loss with a number for its reduction."""
    return margin_ranking_loss(
        input1, input2, target, margin=margin, reduction=_reduction(reduction)
    )


@shorthand("torch.poisson_nll_loss", alone=True)
def torch_poisson_nll_loss(input, target, log_input, full, eps, reduction):
    """poisson_nll_loss, all of whose arguments are needed, with a number for its reduction."""
    return poisson_nll_loss(
        input, target, log_input=log_input, full=full, eps=eps, reduction=_reduction(reduction)
    )


@shorthand("torch.triplet_margin_loss", alone=True)
def torch_triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False, reduction=0
):
    """triplet_margin_loss with a number for its reduction."""
    return triplet_margin_loss(
        anchor, positive, negative, margin=margin, p=p, eps=eps, swap=swap,
        reduction=_reduction(reduction),
    )  # fmt: skip


# ---- dropout and embeddings ----------------------------------------------------------------------


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


@shorthand("torch.embedding", alone=True)
def torch_embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """embedding with the table first."""
    padding = None if padding_idx == -1 else padding_idx
    return embedding(indices, weight, padding_idx=padding, scale_grad_by_freq=scale_grad_by_freq)


@shorthand("torch.embedding_bag", alone=True, numbers=("indices", "offsets"))
def torch_embedding_bag(
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
def torch_layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    """layer_norm; cudnn_enable says nothing of its value."""
    return layer_norm(input, normalized_shape, weight, bias, eps)


@shorthand("torch.group_norm", alone=True)
def torch_group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True):
    """group_norm; cudnn_enabled says nothing of its value."""
    return group_norm(input, num_groups, weight, bias, eps)
