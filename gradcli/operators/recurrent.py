"""Recurrent layers and their cells."""

from ..errors import GradcliError
from ..graphs import Outputs, as_node, shapes
from .families import composite, named, require, shorthand
from .joining import cat, stack
from .networks import linear
from .pointwise import relu, sigmoid
from .splitting import chunk
from .trigonometry import tanh

CELL = "x=2x3,h=2x4,"
BOOLEANS = ("has_biases", "train", "bidirectional", "batch_first")


def _sums(input, hx, w_ih, w_hh, b_ih, b_hh):
    """The linear functions of the input and of the state, which a cell adds."""
    input_shape, state = as_node(input).shape, as_node(hx).shape
    message = "a cell needs as many rows of input as of state, not "
    message += f"{shapes.text(input_shape)} and {shapes.text(state)}"
    if (len(input_shape), len(state)) != (2, 2):
        raise GradcliError("shape", message)
    shapes.require_equal(input_shape[:1], state[:1], message)
    return linear(input, w_ih, b_ih), linear(hx, w_hh, b_hh)


def _plain_cell(name, activation, sentence):
    @named(name, sentence)
    def meaning(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        from_input, from_state = _sums(input, hx, w_ih, w_hh, b_ih, b_hh)
        return activation(from_input + from_state)

    examples = (
        (f"{name}(x, h, w, u)", CELL + "w=4x3,u=4x4"),
        (f"{name}(x, h, w, u, b, c)", CELL + "w=4x3,u=4x4,b=4,c=4"),
    )
    return composite(examples=examples, input_dtypes="numbers of one dtype")(meaning)


rnn_tanh_cell = _plain_cell(
    "rnn_tanh_cell", tanh, "tanh(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh)."
)
rnn_relu_cell = _plain_cell(
    "rnn_relu_cell", relu, "relu(input @ w_ih.T + b_ih + hx @ w_hh.T + b_hh)."
)


@shorthand(input_dtypes="floats of one dtype")
def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """The next hidden state of a gated recurrent unit; rows of w_ih: reset, update, new."""
    state = as_node(hx)
    from_input, from_state = _sums(as_node(input), state, w_ih, w_hh, b_ih, b_hh)
    reset_in, update_in, new_in = chunk(from_input, 3, 1)
    reset_state, update_state, new_state = chunk(from_state, 3, 1)
    reset, update = sigmoid(reset_in + reset_state), sigmoid(update_in + update_state)
    new = tanh(new_in + reset * new_state)
    return (state - new) * update + new


@shorthand(input_dtypes="floats of one dtype")
def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """The next hidden and cell state of an LSTM; rows of w_ih: input, forget, cell, output."""
    if not isinstance(hx, tuple) or len(hx) != 2:
        raise GradcliError("arguments", "lstm_cell() needs hidden and cell state as (h, c)")
    state, memory = map(as_node, hx)
    shapes.require_equal(
        memory.shape, state.shape, "hidden and cell state of lstm_cell() must have one shape"
    )
    sums = _sums(as_node(input), state, w_ih, w_hh, b_ih, b_hh)
    input_gate, forget_gate, cell_gate, output_gate = chunk(sums[0] + sums[1], 4, 1)
    memory = sigmoid(forget_gate) * memory + sigmoid(input_gate) * tanh(cell_gate)
    return Outputs((sigmoid(output_gate) * tanh(memory), memory))


# ---- sequences -----------------------------------------------------------------------------------


class _Layers:
    """The weights of a call, grouped by layer and direction."""

    def __init__(self, name, params, has_biases, num_layers, dropout, train, bidirectional):
        self.name, self.size = name, 4 if has_biases else 2
        self.count, self.directions = num_layers, 2 if bidirectional else 1
        if not isinstance(params, tuple) or len(params) != self.size * self.count * self.directions:
            wanted = f"{self.size} for each of {self.count * self.directions} layers and directions"
            raise GradcliError("arguments", f"{name}() takes a list of weights, {wanted}")
        self.params = params
        number = isinstance(dropout, int | float)
        require(number, f"dropout of {name}() must be a number, got {dropout!r}")
        if dropout and train and num_layers > 1:
            raise GradcliError(
                "unsupported",
                f"{name}() draws random numbers in training with dropout={dropout}, so it has "
                "no single gradient",
                hint="train=False leaves the dropout out",
            )

    def of(self, k):
        """The weights of group k, which counts layers and, within these, directions."""
        return self.params[k * self.size : (k + 1) * self.size]

    def run(self, cell, inputs, states):
        """The outputs at each time step, and the last states of all layers. `cell(input, state,
        *weights)` returns the next state: a tuple whose first element is the output.
        """
        last = []
        for layer in range(self.count):
            outputs = []
            for is_reverse in range(self.directions):
                k = layer * self.directions + is_reverse
                state, built = states[k], []
                for x in reversed(inputs) if is_reverse else inputs:
                    state = cell(x, state, *self.of(k))
                    built.append(state[0])
                outputs.append(built[::-1] if is_reverse else built)
                last.append(state)
            inputs = [cat(*at, dim=1) if len(at) > 1 else at[0] for at in zip(*outputs)]
        return inputs, last


def _sequence(name, cell, sentence, remembers=False, **fields):
    """Declare a recurrent layer; `remembers` says whether its state is a pair, as in an LSTM."""

    @named(name, sentence)
    def meaning(
        input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
    ):
        layers = _Layers(name, params, has_biases, num_layers, dropout, train, bidirectional)
        sequence = as_node(input)
        starts = tuple(map(as_node, hx)) if remembers else (as_node(hx),)
        if sequence.ndim != 3 or any(s.ndim != 3 for s in starts):
            raise GradcliError("shape", f"{name}() needs an input and a state of 3 dimensions")
        wanted = layers.count * layers.directions
        message = f"{name}() needs a state for each of {wanted} layers and directions"
        shapes.require_equal(starts[0].shape[:1], (wanted,), message)
        along = 1 if batch_first else 0
        times = [
            sequence[:, k] if batch_first else sequence[k] for k in range(sequence.shape[along])
        ]
        states = [tuple(s[k] for s in starts) for k in range(starts[0].shape[0])]
        outputs, last = layers.run(cell, times, states)
        ends = [stack(*parts, dim=0) for parts in zip(*last)]
        return Outputs((stack(*outputs, dim=along), *ends))

    return shorthand(input_dtypes="floats of one dtype", booleans=BOOLEANS, **fields)(meaning)


def _stepped(cell):
    return lambda x, state, *weights: (cell(x, state[0], *weights),)


rnn_tanh = _sequence(
    "rnn_tanh", _stepped(rnn_tanh_cell), "rnn_tanh_cell at each time step: outputs, last state."
)
rnn_relu = _sequence(
    "rnn_relu", _stepped(rnn_relu_cell), "rnn_relu_cell at each time step: outputs, last state."
)
gru = _sequence("gru", _stepped(gru_cell), "gru_cell at each time step: outputs, last state.")


def _weights_backwards(input, hx, params, has_biases, *_, **__):
    """All weights in the order in which MKLDNN saves them: last layer and direction first."""
    size = 4 if has_biases else 2
    return [w for k in reversed(range(0, len(params), size)) for w in params[k : k + size]]


lstm = _sequence(
    "lstm",
    lstm_cell,
    "lstm_cell at each time step: outputs, last hidden state, last cell state.",
    remembers=True,
    saved=_weights_backwards,
    saved_dtype="float32",  # MKLDNN computes it as one operation; float64 uses those above
)
