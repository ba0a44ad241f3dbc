"""What PyTorch has and gradcli leaves out, with the reason."""

import re

COMPLEX = "works on complex numbers, and numbers are real here"
RANDOM = "draws random numbers, so it has no one gradient"
SPARSE = "makes a sparse tensor, and tensors are dense here"
IN_PLACE = "changes its input in place, and values never change here"

REFUSALS = {
    r"(i?r?h?fft[2n]?|ihfft[2n]?|fftshift|ifftshift|stft|istft)": COMPLEX,
    r"(complex|polar|view_as_complex|view_as_real|cdouble|cfloat|chalf|imag|eig|eigvals)": COMPLEX,
    r"(bernoulli|normal|multinomial|poisson|randint|randperm|rand_like|randn_like)": RANDOM,
    r"(svd_lowrank|pca_lowrank|gumbel_softmax|fractional_max_pool[23]d\w*)": RANDOM,
    r"(to_sparse\w*|sparse\w*|to_dense)": SPARSE,
    r"[a-z]\w*[a-z0-9]_": f"{IN_PLACE}: leave out the underscore",
}


def refusal(name: str) -> str | None:
    """Why there is no function of this name here, though PyTorch has one; None for other names."""
    return next((why for names, why in REFUSALS.items() if re.fullmatch(names, name)), None)
