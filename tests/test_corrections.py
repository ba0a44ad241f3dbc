# ruff: noqa: E501
"""Programs that raise: the error, why, and the corrected program, which PyTorch runs.

`snippets/raising.txt` has programs after what people ask, each after a line `==== name`;
`raising.json` what PyTorch prints and raises for each, and for some what it prints for the program
that was meant.
"""

import io
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path
from warnings import catch_warnings, simplefilter

import pytest
from support import one_in

from gradcli.explanation.reading.answer import answer, findings
from gradcli.explanation.reading.changes import in_words
from gradcli.explanation.reading.corrections.search import Correction, correction, floats
from gradcli.explanation.reading.corrections.table import NO_CURE, table
from gradcli.explanation.reading.corrections.text import Text
from gradcli.render.environment import Environment
from gradcli.render.formats import render_documents
from gradcli.snippets.reading import Reading, is_random, read

PACKAGE = "gradcli.explanation.reading.corrections"
FOLDER = Path(__file__).parent / "snippets"
PARTS = re.split(r"(?m)^==== (.*)\n", (FOLDER / "raising.txt").read_text())[1:]
PROGRAMS = dict(zip(PARTS[::2], PARTS[1::2]))
IN_PYTORCH = json.loads((FOLDER / "raising.json").read_text())


@cache
def reading_of(name: str) -> Reading:
    """A program of the file, read."""
    return read(PROGRAMS[name])


@cache
def correction_of(name: str) -> Correction | None:
    """The corrected program."""
    reading = reading_of(name)
    return correction(reading) if reading.status == 1 else None


GROUPS = [tuple(PROGRAMS)[k::8] for k in range(8)]
in_parts = pytest.mark.parametrize("part", one_in(8, GROUPS, lambda part: part[0], sweep=2))


@pytest.mark.sweep
@in_parts
def test_errors_are_pytorchs(part: tuple[str, ...]) -> None:
    """Type, message, line, and what was printed before."""
    wrong = []
    for name in part:
        expected = IN_PYTORCH[name]
        outcome = reading_of(name).outcome
        e = outcome.exception
        got = e and [e.type, e.message, e.line, outcome.stdout]
        if got != [expected[k] for k in ("type", "message", "line", "stdout")]:
            wrong.append(name)
    assert len(wrong) <= 0.03 * len(part), wrong


@pytest.mark.oracle
@in_parts
def test_pytorch_runs_every_correction(part: tuple[str, ...]) -> None:
    """Of 100 programs at least 85 have one, in which no error is left, for gradcli nor PyTorch."""
    torch = pytest.importorskip("torch", reason="torch is the oracle of this test")
    corrections = {name: c for name in part if (c := correction_of(name))}
    assert len(corrections) >= 0.85 * len(part)
    assert all(c.reading.status == 0 for c in corrections.values())
    raised = {}
    for name, cured in corrections.items():
        torch.manual_seed(0)
        torch.autograd.set_detect_anomaly(False)
        try:
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), catch_warnings():
                simplefilter("ignore")
                exec(compile(cured.source, name, "exec"), {"__name__": "__main__"})
        except Exception as e:
            raised[name] = repr(e)
    assert not raised


# Programs without a change that is surely meant.
NO_CHANGE = (
    *("where sizes", "where cond size", "nested mixed", "three labels for four pairs"),
    "two changes in place through a view",
)

# What the change has to be: written by hand, as one would answer the question.
CHANGES = {
    "out_features of a frozen layer": "line 14:  model.fc = nn.Linear(model.fc.in_features, 5)",
    "the optimised part is frozen too": "after line 13:  model.fc.requires_grad_(True)",
    "residual blocks of other channels and strides": (
        "after line 9:  self.shortcut = nn.Conv2d(i, o, 1, stride=stride) if stride != 1 or i != o else nn.Identity()\n"
        "line 14:  return torch.relu(out + self.shortcut(x))"
    ),
    "parameters of a list of layers as generators": (
        "line 5:  opt = torch.optim.SGD([p for l in layers for p in l.parameters()], lr=0.1)"
    ),
    "a field of a list of named tuples": (
        "line 9:  transitions = Transition(*zip(*random.sample(memory, 4)))"
    ),
    "adapted weights cut from the weights before": (
        "line 20:  fast = [p.requires_grad_() for p in fast]"
    ),
    "target of a reconstruction drawn by randn": "line 38:  x = torch.rand(8, 20)",
    "pixels as targets": "line 4:  loss = nn.BCELoss()(out, x / 255)",
    "targets of -1 and 1": "line 4:  loss = nn.BCELoss()(out, (y + 1) / 2)",
    "checkpoint without recording in backward": (
        "line 17:  with torch.enable_grad(): y = ctx.fn(x)"
    ),
    "layer of a Sequential by its number": "line 7:  model[0].register_forward_hook(hook)",
    "validation loss with a backward pass": "without line 19",
    "gradients of different shapes as one vector": (
        "line 11:  flat = torch.cat([t.flatten() for t in hv])"
    ),
    "samples joined to one vector": "line 5:  states = torch.stack(batch)",
    "training on a device that is not there": (
        "line 3:  device = torch.device('cpu')\nline 6:  loss = nn.MSELoss()(net(x), torch.zeros(4, 1))"
    ),
    "eigenvalues in the old way": "line 3:  e, v = torch.linalg.eigh(A, UPLO='U')",
    "order turned round by a slice": "line 3:  y = x.flip(0)",
    "sigmoid, then mul_": "line 4:  y = y.mul(2)",
    "buffer filled in a loop": "line 7:  x[t] = a * x[t - 1].clone() ** 2",
    "weights stepped between two losses": "without line 10",
    "state of a hand-written recurrence": "after line 5:  state = state.detach()",
    "two losses of one trunk": "line 6:  l1.backward(retain_graph=True)",
    "rows of a Jacobian by backward": "line 7:  y[i].backward(retain_graph=True)",
    "gradient of a vector without a seed": "line 4:  y.sum().backward()",
    "loss of each sample": "line 6:  loss.mean().backward()",
    "seed of one element for a single number": "line 4:  loss.backward()",
    "seed of the input's shape": "line 5:  out.backward(torch.ones_like(out))",
    "leaf without requires_grad": "line 2:  x = torch.tensor([2.0, 3.0], requires_grad=True)",
    "loss made of torch.tensor": "line 4:  v = torch.stack([a * 2, b * 3])",
    "NumPy in the middle": "line 4:  y = torch.sqrt(x)",
    "all parameters frozen": "without lines 3 to 4",
    "accuracy as a loss": "line 6:  loss = torch.nn.functional.cross_entropy(logits, y)",
    "second derivative without create_graph": (
        "line 4:  dy = torch.autograd.grad(y, x, create_graph=True)[0]"
    ),
    "loss.data[0]": 'line 6:  print("loss", loss.item())',
    "gradient with respect to a slice": "line 4:  g = torch.autograd.grad(y, x)[0][0]",
    "w = w - lr * w.grad": "line 6:  with torch.no_grad(): w -= 0.1 * w.grad",
    "w -= lr * w.grad without no_grad": "line 5:  with torch.no_grad(): w -= 0.1 * w.grad",
    "element of a leaf": "line 3:  with torch.no_grad(): x[1] = 5.0",
    "leaf doubled in place": "line 3:  x_new = x * 2\nline 4:  y = (x_new ** 2).sum()",
    "rows divided by their sums": "line 3:  p = x / x.sum(dim=1, keepdim=True)",
    "classes counted from one": "line 5:  loss = nn.CrossEntropyLoss()(logits, target - 1)",
    "a branch on a tensor": "lines 3 to 6:  return torch.where(x > 0, x, 0.1 * x)",
    "Function: a matrix gradient of the wrong shape": "line 12:  return g @ b.T, a.T @ g",
    "rows scaled while iterating": "line 4:  for i in range(len(y)):\nline 5:  y[i] *= 2",
    ".grad of a hidden layer": "after line 3:  h.retain_grad()",
    "gan two steps": "line 14:  d_fake = D(fake.detach())\nafter line 18:  d_fake = D(fake)",
    "wgan critic loop": "line 10:  loss_c = C(fake.detach()).mean() - C(real).mean()",
    "cyclegan-like reuse": "line 12:  loss_d = D(fake.detach()).mean() - D(x).mean()",
    "teacher forcing loss list": "after line 7:  h = h.detach(); c = c.detach()",
    "hessian loops graph freed": "line 7:  row, = torch.autograd.grad(g[i], x, retain_graph=True)",
    "second grad via backward": "lines 4 to 5:  first = torch.autograd.grad(y, x, create_graph=True)[0]",
    "multihead mask broadcast": "line 4:  scores = q @ k.transpose(-2, -1) / 8 ** 0.5",
    "pairwise distance broadcasting": "line 4:  dist = torch.sqrt(((a.unsqueeze(1) - b) ** 2).sum(-1))",
    "gradcheck fail": "line 11:  return 3 * g * x ** 2",
    "threshold compare": "line 7:  pred = torch.sigmoid(m(x)).squeeze()",
    "frozen all layers": "without lines 6 to 7",
    "sgd by hand dict": "line 7:  with torch.no_grad(): params[k] -= 0.1 * params[k].grad",
    "model output item list": "line 7:  preds = [net(x).squeeze() for x in xs]\nline 8:  loss = nn.MSELoss()(torch.stack(preds), ys)",
    "flatten forgotten": "line 3:  model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4 * 3 * 3, 10))",
    "local layer in init": "line 6:  self.lin = nn.Linear(2, 1)",
    "threshold bce": "without line 8",
    "sign as a loss": "line 6:  loss = torch.nn.functional.soft_margin_loss(x @ w, y)",
    "round of sigmoid": "line 6:  pred = torch.sigmoid(x @ w)",
    "threshold acc": "line 8:  loss = torch.nn.functional.binary_cross_entropy(prob, y.float())",
    "threshold acc 2": "line 7:  loss = torch.nn.functional.binary_cross_entropy_with_logits(net(x).squeeze(), y)",
    "labels as texts CE": "line 6:  classes = sorted(set(labels)); target = torch.tensor([classes.index(c) for c in labels])",
    "labels one text at a time": "line 10:  y = torch.tensor(classes.index(label))",
    "texts in a dict": "line 4:  y = torch.tensor([label2id[c] for c in labels])",
    "sequential lstm relu": "after line 3:  class Outputs(nn.Module): def forward(self, outputs): return outputs[0]\nline 5:  nn.LSTM(input_size=10, hidden_size=20, num_layers=1, batch_first=True), Outputs(),",
    "sequential lstm flatten many-to-one": "line 4:  class Outputs(nn.Module): def forward(self, outputs): return outputs[0][:, -1]; model = nn.Sequential(nn.LSTM(4, 8, batch_first=True), Outputs(), nn.Flatten(), nn.Linear(8, 1))",
    "vjp wrong shape 2": "line 8:  print(pull(torch.ones_like(y)))",
    "argnums two of two": "line 7:  print(grad(f, argnums=(0, 1))(w, x))",
    "argnums one based": "line 6:  gw, gb = grad(f, argnums=(0, 1))(torch.randn(3), torch.randn(3))",
    "argnums 02 three params": "line 8:  gw, gb = grad(loss, argnums=(0, 2))(w, x, b)",
    "siamese distance of list": "line 10:  loss = torch.dist(*out).mean()",
    "half then update None": "line 2:  w = torch.ones(3, 1).double().requires_grad_()",
    "norm of zero vector normalize": "line 12:  (w / (w.norm() + 1e-12)).sum().backward()",
    "double backward through function with saved numpy": "line 13:  return g * torch.cos(x)",
    "scheduler given model": "line 5:  sched = StepLR(opt, step_size=2)",
    "loop over list of batches wrong unpack": "line 5:  for i, (x, y) in enumerate(data):",
    "detach shares storage and breaks": "line 4:  c = out.detach().clone()",
    "double backward linear function no graph": "line 6:  gg, = torch.autograd.grad(g.sum() + 0 * x.sum(), x)",
    "mask shape mismatch": "line 4:  y = x[:, mask].sum()",
    "slice with tensor float size": "line 3:  n = len(x) // 2",
    "assigning masked values broadcast": "line 4:  x[torch.tensor([0, 2]), :] = w.unsqueeze(-1)",
    "list index by tensor float": "line 6:  print(names[scores.argmax()])",
    "functional hessian of vector output": "line 8:  print(hessian(lambda *inputs: f(*inputs).sum(), x))",
    "reparameterized sampling without rsample": "line 7:  s = d.rsample((3,))",
    "max pair indices backward": "line 4:  v.sum().backward()",
    "nested numbers as texts": "line 3:  x = torch.tensor([[float(c) for c in row] for row in rows], requires_grad=True)",
    "matrix vector dtypes": "line 4:  v = torch.from_numpy(np.array([1., 2.])).float()",
    "boolean mask columns wrong dimension": "line 5:  pred = X[:, active] @ w[active]",
    "for name p in parameters": "line 5:  for name, p in net.named_parameters():",
    "loss dict iterate pairs": "line 6:  for name, loss in losses.items():",
    "lstm unpack three": "line 5:  out, (h, c) = lstm(torch.randn(2, 5, 3))",
    "one hot scatter wrong dtype": "line 4:  onehot.scatter_(1, labels.unsqueeze(1).long(), 1.0)",
    "soft update inplace of leaf": "line 7:  with torch.no_grad(): t.mul_(1 - tau).add_(tau * o)",
    "checkpoint of gradient none in frozen backbone": "line 15:  total = sum(p.grad.norm() ** 2 for p in backbone.parameters() if p.grad is not None)",
    "grad tuple times scalar": "line 4:  g = torch.autograd.grad(loss, x)[0]",
    "hypernetwork writes parameter": "after line 5:  del net.weight",
    "tensor times numpy array": "line 4:  y = x * torch.as_tensor(np.array([1., 2., 3.])).float()",
    "cross entropy probabilities and label smoothing": "line 9:  nn.CrossEntropyLoss()(torch.softmax(logits, 1), torch.tensor([[1]]).squeeze(1))",
    "keyword argnum": "line 7:  gw, gb = grad(loss, argnums=(0, 2))(w, x, b)",
    "grad without its outputs": "line 4:  g, = torch.autograd.grad(grad_outputs=torch.ones_like(y), inputs=x, create_graph=True, outputs=y)",
    "gan losses printed after both steps": (
        "line 13:  d_loss = bce(D(real), torch.ones(4, 1)) + bce(D(fake.detach()), torch.zeros(4, 1))"
    ),
    "batch norm and a rest of one": "after line 8:  if len(xb) == 1: continue",
    "batch norm and a data loader with a rest of one": "line 7:  for xb, yb in DataLoader(ds, batch_size=2, drop_last=True):",
    "batch norm of one sample": "after line 3:  bn.eval()",
    "labels of minus one": "line 5:  nn.CrossEntropyLoss(ignore_index=-1)(logits, y).backward()",
    "an index of fractions": "line 4:  x[i.long()].sum().backward()",
    "item before backward": "line 10:  loss.backward()",
    "backward returns a numpy": "line 11:  return g * np.cos(x.detach().numpy())",
    "image without a batch of channels": "line 5:  out = net(x[None, None])",
    "index out of range in an embedding": "line 3:  emb = nn.Embedding(11, 3)",
    "unknown attribute of a module": "line 4:  print(net[0].weight)",
    "nll with logits 1d": "line 4:  loss = F.cross_entropy(logits.unsqueeze(0), torch.tensor([2]))",
    "grad wrt element": "line 4:  print(torch.autograd.grad(y, x)[0][0])",
    "pred argmax in loss": "line 8:  loss = torch.nn.functional.cross_entropy(out, y)",
    "state dict checkpoint nested": "line 7:  model2.load_state_dict(checkpoint['state_dict'])",
    "transposed batch rnn to fc": "line 12:  h0 = torch.zeros(2, x.size(0), self.hidden_size)\nline 13:  c0 = torch.zeros(2, x.size(0), self.hidden_size)",
    "lr scheduler before optimizer defined": "after line 2:  optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nwithout line 4",
    "mha batch first mask": "line 3:  mha = nn.MultiheadAttention(embed_dim=8, num_heads=2, batch_first=True)",
    "mha key padding shape": "line 6:  out, w = mha(x, x, x, key_padding_mask=pad.T)",
    "perceptual loss style transfer": "line 7:  target = vgg(content).detach()",
    "gram matrix view": "line 4:  f = x.view(x.shape[0], c, h * w)\nline 5:  return f @ f.transpose(-2, -1)",
    "grad cam hook": "line 11:  feat.register_hook(lambda grad: save('feat', grad))",
    "forward hook arguments": "line 4:  def hook(module, inputs, output):",
    "jacobian of net by loop": "line 9:  J[i] = torch.autograd.grad(y[i], x, retain_graph=True)[0]",
    "jvp wrong tangents": "line 5:  out, t = jvp(f, (x,), (torch.ones(3),))",
    "cnn transposed channels last image": "line 5:  out = conv(img.permute(2, 0, 1))",
    "autoencoder decoder mismatch": "line 7:  self.dec = nn.Sequential(nn.Linear(z, d), nn.Sigmoid())",
    "requires grad on slice": "line 3:  x.requires_grad = True",
    "normal logstd as std": "line 5:  dist = Normal(mu, log_std.exp())",
    "bernoulli logits as probs": "line 7:  d = Bernoulli(logits=p)",
    "np sqrt in model": "line 10:  att = torch.softmax(q @ k.transpose(-2, -1) / np.sqrt(q.shape[-1]), dim=-1)",
    "optimizer lr string": "line 4:  opt = torch.optim.SGD([w], lr=float(cfg['lr']))",
    "adam two param lists": "line 4:  opt = torch.optim.Adam(list(enc.parameters()) + list(dec.parameters()), lr=0.1)",
    "scheduler step arg": "line 10:  sched.step(loss.item())",
    "detach inplace view": "line 4:  y[:2] = y[:2].detach()",
    "unsqueeze concat feature": "line 4:  z = torch.cat([img, txt.squeeze(1)], dim=1)",
    "gpt mask buffer too small": "line 4:  block_size = 6",
    "argsort gather dims": "line 4:  last = x[torch.arange(x.shape[0]), lens]",
    "hessian vector product": "line 6:  hvp = torch.autograd.grad(g, x, grad_outputs=v)[0]",
    "dataloader unpack three": "line 5:  for i, (x, y) in enumerate(DataLoader(ds, batch_size=2)):",
    "next on loader": "line 5:  x, y = next(iter(loader))",
    "train function returns none": "after line 9:  return loss.item()",
    "shadow loss function": "line 4:  loss_fn = nn.MSELoss()\nline 7:  loss = loss_fn(out, torch.zeros(3, 1))",
    "single image no batch linear": "line 5:  out = net(img.unsqueeze(0))",
    "rnn input without feature dim": "line 5:  out, h = rnn(x.unsqueeze(-1))",
    "layernorm on channels": "line 5:  y = ln(x.transpose(1, -1)).transpose(1, -1)",
    "flatten batch too": "line 10:  x = torch.flatten(x, 1)",
    "cond gan concat label": "line 7:  x = torch.cat([z, emb(y)], dim=1)",
    "forward indentation": "lines 7 to 8:  def forward(self, x): return self.fc(x)",
    "parameter assigned in forward": "line 8:  w = self.w / self.w.norm()\nline 9:  return (x * w).sum()",
    "checkpoint not passing module": "line 6:  y = checkpoint(net, x, use_reentrant=False)",
    "jacobian function with net params": "line 6:  J = jacobian(net, x)",
    "masked mean lengths": "line 4:  mean = (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)",
    "attention mask unsqueeze": "line 4:  scores = scores.masked_fill(pad[:, None, None], -1e9)",
    "loss ema printed": "after line 5:  avg = None if avg is None else avg.detach()",
    "dropout mask in place on view": "line 3:  y = x.exp().clone()",
    "lstm classifier all steps": "line 8:  loss = nn.CrossEntropyLoss()(fc(out)[:, -1], y)",
    "value class missing sub": "after line 7:  def __sub__(self, other): return self + (-other)",
    "fashion minus instead of assign": "line 18:  nn.Linear(hidden_units * 7 * 7, output_shape))",
    "argmax of softmax as floats in a train loop": "line 12:  loss = loss_fn(logits, y)",
    "pinn second derivative no create_graph": "line 7:  du_dx = torch.autograd.grad(u, x, grad_outputs=torch.ones_like(u), create_graph=True)[0]\nline 8:  d2u_dx2 = torch.autograd.grad(du_dx, x, grad_outputs=torch.ones_like(du_dx), create_graph=True)[0]",
    "super without parentheses": "line 6:  super().__init__()",
    "maml inplace on parameters": "lines 12 to 13:  fast = [p - inner_lr * g for p, g in zip(fast, grads)]",
    "GRUCell input size": "line 5:  cell = nn.GRUCell(input_size=10, hidden_size=20)",
    "GRUCell hidden size": "line 6:  h = torch.zeros(2, 20)",
    "vmap copy in place": "line 4:  x = y.new_zeros(5)",
    "mse multiclass cnn": "line 7:  criterion = nn.CrossEntropyLoss()",
    "return indented in loop": "after line 5:  return total",
    "mha output as tensor": "line 7:  h = norm(x + attn(x, x, x)[0])",
    "forgot call of module": "line 5:  act = nn.ReLU()",
    "reinforce log prob of numpy action": "line 15:  loss = (-torch.stack(log_probs) * returns).sum()",
    "resnet downsample missing": "line 10:  self.shortcut = nn.Conv2d(cin, cout, 1, stride=stride)",
    "ctc log probs wrong": "line 6:  loss = nn.CTCLoss()(logits.log_softmax(2).transpose(0, 1), targets, torch.full((2,), 10), torch.full((2,), 3))",
    "dataloader label tuple": "line 10:  out = net(batch[0])",
    "dataset getitem idx out": "line 9:  return len(self.data) - self.n",
    "plus equals on loss list": "line 5:  total.append((w * i).sum())",
    "total starts as none": "line 3:  total = 0",
    "optimizer loss minimize": "line 9:  loss.backward(); opt.step()",
    "chained comparison": "line 3:  inside = (0 < x) & (x < 1)",
    "hidden size variable not stored": "after line 6:  self.hidden_size = hidden_size",
    "lstm state single tensor": "line 7:  out, hn = lstm(x, (h0, torch.zeros_like(h0)))",
    "kernel bigger than image": "line 4:  net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(2, 4, 3), nn.Flatten(), nn.Linear(4, 2))",
    "one hot times log softmax": "line 6:  onehot = F.one_hot(y, num_classes=3)",
    "causal mask wrong length": 'line 14:  wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))',
    "transformer heads reshape": "line 18:  return self.o(y.flatten(-2))",
    "quadratic form batch": "line 5:  e = ((x @ A) * x).sum(-1)",
    "numpy style axis in cat": "line 4:  m = torch.concatenate([a, b])",
    "all layers frozen except new not created": "without line 5\nafter line 7:  net[2] = nn.Linear(4, 3)",
    "parameter list name optimizer dict": "line 5:  opt = torch.optim.SGD(net.parameters(), lr=0.1)",
    "custom relu saves wrong": "line 9:  x, = ctx.saved_tensors",
    "shape called": "line 3:  n = w.shape[0]",
    "size not called": "line 3:  n = w.size()[0]",
    "transpose without dims": "line 4:  s = w @ w.transpose(-2, -1)",
    "dims as keyword": "line 3:  s = torch.softmax(w, dim=1)",
    "keepdims mean": "line 3:  s = w - w.mean(1, keepdim=True)",
    "nn relu used as function": "line 10:  x = nn.Softmax(dim=1)(x)",
    "init misnamed": "line 5:  def __init__(self, d):\nline 6:  super().__init__()",
    "sequential call with two": "line 6:  q = net(torch.cat([s, a], dim=-1))",
    "scheduler before optimizer arguments": "line 5:  opt = torch.optim.Adam(net.parameters(), lr=0.01)",
    "teacher student kl shapes": "line 5:  teacher, student = nn.Linear(4, 10), nn.Linear(4, 10)",
    "autoencoder decoder in features": "line 8:  self.decoder = nn.Sequential(nn.Linear(latent, 6), nn.ReLU(), nn.Linear(6, d))",
    "conv autoencoder output size": "line 5:  dec = nn.ConvTranspose2d(4, 1, 3, stride=2, padding=1, output_padding=1)",
    "gaussian nll missing var": "line 7:  loss = nn.GaussianNLLLoss()(mu, y, var=log_var.exp())",
    "normal log prob of module output tuple": "line 14:  dist = Normal(*pi(s))",
    "lstm packed output to linear": "after line 9:  out, _ = torch.nn.utils.rnn.pad_packed_sequence(out, batch_first=True)",
    "lstm hidden into linear tuple": "line 10:  _, (hidden, _) = self.lstm(x)",
    "seq2seq decoder step dims": "line 11:  o, h = dec(inp.unsqueeze(1), h)",
    "embedding bag offsets": "line 10:  return self.fc(self.emb(ids).mean(dim=1))",
    "grad through numpy function": "line 4:  y = torch.sin(x) * x\nline 5:  z = torch.cos(x)",
    "bilinear sample index float": "line 5:  vals = img[u.floor().long(), v.floor().long()]",
    "gp kernel jitter vector": "line 6:  K = K + 1e-4 * torch.eye(len(x))",
    "eye by shape": "line 4:  B = torch.inverse(torch.eye(A.shape[0]) + A)",
    "lstsq solution tuple": "line 5:  x = torch.linalg.lstsq(A, b).solution",
    "svd unpack singular values sum": "line 4:  s = torch.linalg.svd(A, full_matrices=False).S",
    "while loop convergence tensor format": 'line 9:  print("step %d loss %.3f x %s" % (i, y, x))',
    "append result assigned": "line 5:  losses.append((w * i).sum())",
    "backward result assigned loss": "line 4:  loss.backward()",
    "iris train loop criterion swapped": "line 10:  loss = criterion(model(X), y)",
    "windows range too far": "line 6:  for i in range(len(series) - 3):",
    "stacked windows ragged end": "line 5:  X = torch.stack([series[i:i + 4] for i in range(7)])",
    "collate tuple unzip": "line 7:  loss = nn.functional.cross_entropy(net(torch.stack(xs)), torch.tensor(ys))",
    "pos weight int": "line 5:  crit = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(3.0))",
    "segmentation label 255": "line 7:  loss = nn.functional.cross_entropy(net(x), mask, ignore_index=255)",
    "variable wraps loss": "line 4:  loss = (w ** 2).sum()",
    "hvp missing create graph": "lines 5 to 6:  gv = (torch.autograd.grad(f, x, create_graph=True)[0] * v).sum()",
    "functional call wrong params": "line 9:  g = grad(loss)(dict(net.named_parameters()))",
    "gradcheck float32": "line 3:  x = torch.randn(3, dtype=torch.float64, requires_grad=True)",
    "hook on parameter that is frozen": "without line 5",
    "apply init weights bias none": "line 8:  if m.bias is not None: m.bias.data.fill_(0.01)",
    "xavier on bias": "line 6:  if p.dim() > 1: nn.init.xavier_uniform_(p)",
    "init called without apply": "line 6:  if hasattr(m, 'weight'): nn.init.normal_(m.weight, std=0.1)",
    "super of wrong class": "line 6:  super(Encoder, self).__init__()",
    "forward prints and no return expression": "line 9:  return self.fc(x)",
    "swa average state dict": "line 7:  m.load_state_dict(avg)",
    "l1 penalty python abs list": "line 5:  l1 = torch.sum(torch.stack([p.abs().sum() for p in net.parameters()]))",
    "torch norm of all params cat": "line 5:  flat = torch.cat([p.flatten() for p in net.parameters()])",
    "jacobian by stacking grads vector": "line 6:  J = torch.stack([torch.autograd.grad(y[i], x, retain_graph=True)[0] for i in range(2)])",
    "autograd functional jacobian args": "line 6:  J = jacobian(f, (x, y))",
    "hessian of loss given tensor": "line 4:  f = lambda x: (x ** 3).sum()",
    "diffusion broadcast alpha": "line 8:  xt = a.view(-1, 1, 1, 1).sqrt() * x0 + (1 - a.view(-1, 1, 1, 1)).sqrt() * eps",
    "scatter add aggregate": "line 6:  out = out.index_add(0, dst, x[src])",
    "batched vector bmm": "line 5:  scores = torch.bmm(k, q.unsqueeze(-1))",
    "outer product of columns": "line 4:  o = torch.outer(u.flatten(), v)",
    "repeat forgot dims": "line 3:  r = w.repeat(4, 1)",
    "quantile backward list": "line 3:  q = torch.quantile(x, torch.tensor([0.25, 0.75]))",
    "linspace missing steps": "line 3:  x = torch.linspace(0, 1, steps=100)",
    "from numpy of list": "line 2:  x = torch.tensor([1., 2.]).requires_grad_()",
    "indentation of backward": "line 5:  loss.backward()",
    "early stopping best state typo": "line 12:  best, best_loss = copy.deepcopy(net.state_dict()), loss.item()",
    "encoder decoder attention dims": "line 6:  scores = (enc_out @ dec_h.unsqueeze(-1)).squeeze(-1)",
    "functional loss class mixed": "line 4:  loss = F.mse_loss(x, torch.zeros(2))",
    "loss object called in constructor": "line 4:  loss = nn.MSELoss()(x, torch.zeros(2))",
    "custom loss with python list": "line 10:  return torch.stack(errs).mean()",
    "huber wrong kw": 'line 4:  loss = nn.SmoothL1Loss(reduce="mean", beta=0.5)(x, torch.zeros(2))',
    "count parameters": "line 5:  n = sum(p.numel() for p in net.parameters() if p.requires_grad)",
    "append instead of cat": "line 7:  outs = torch.cat([outs, net(torch.ones(1, 2) * i)])",
    "sum loss started as list": "line 3:  total = 0",
    "output sequence wrong variable returned": "line 10:  return h",
    "batch size hard coded view": "line 9:  total = total + net(xb.view(xb.shape[0], -1)).sum()",
    "hidden fixed batch": "line 11:  o, _ = self.rnn(x, self.h0[:, :x.size(0)].contiguous())",
    "loss item then backward": "line 8:  loss = nn.functional.mse_loss(lin(torch.ones(1, 2)), torch.zeros(1, 2))\nline 10:  running += loss.item()",
    "double optimiser step wrong model loss graph": "line 10:  actor_loss = -(actor(s) * adv.detach()).mean()",
    "backward on optimizer": "line 9:  loss.backward()",
    "optimiser zero grad called on params": "line 6:  model.zero_grad()",
    "f string of vector item": 'line 5:  print("loss: %.3f" % loss.sum().item())',
    "custom function returns python number": "line 6:  return (x ** 2).sum()",
    "backward hook wrong return": "line 6:  return (gin[0] * 0.5,)",
    "actor critic shared advantage one optimiser each update": "line 28:  a_loss = -(logp * td.detach()).mean()",
    "critic first line of old ppo ratio": "line 8:  old_logp = torch.log_softmax(pi(s), 1)[range(5), a].detach()",
    "dqn target next q not detached twice": "line 7:  q_next = q(s2).max().detach()",
    "dice loss integer mask": "without line 11",
    "concat wrong dim": "line 6:  h = torch.cat([a(x), b(x)], dim=1)",
    "sgd on model output y": "line 6:  opt = torch.optim.SGD(model.parameters(), lr=0.1)",
    "loss backward inside no_grad validation loop flag": "lines 10 to 11:  if phase == 'train': loss.backward(); opt.step()",
    "convert list of tensors to float tensor": "line 6:  preds = torch.stack(preds).flatten()",
    "relu module called with input": "line 9:  return nn.ReLU()(self.fc(x))",
    "model class not instance": "line 10:  model = Net()",
    "step on loss": "line 9:  opt.step()",
    "frozen and forgot head": "line 6:  for m in [backbone]:",
    "accumulation loss tensor across batches one backward each": "after line 12:  loss = 0",
    "two parameters given one after the other": "line 5:  optimizer = torch.optim.SGD([w, b], lr=0.1)",
    "gradients of a dict zipped": "line 18:  fast = {k: p - inner_lr * g for (k, p), g in zip(params.items(), grads.values())}",
    "make_functional called with the input first": "line 10:  pred = func(params, x)",
    "a view of a leaf with a name of its own": "line 4:  y = x.view(2, 3).clone()",
    "rows of a leaf by unbind": "lines 4 to 5:  for i in range(len(params)): with torch.no_grad(): params[i].mul_(0.5)",
    "a forward hook without its output": "line 5:  def hook(module, input, output):\nline 6:  acts['fc'] = input[0].detach()",
    "log probabilities of all episodes": "without lines 17 to 18\nafter line 19:  log_probs = []; rewards = []",
    "prob of a dropout": "line 4:  model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(p=0.2), nn.Linear(8, 1))\nline 5:  optimizer = torch.optim.Adam(model.parameters(), lr=0.01)",
    "require_grad of a Variable": "line 4:  x = Variable(torch.ones(2, 2), requires_grad=True)",
    "a loss made of what the model gives": "line 7:  loss = nn.CrossEntropyLoss()(model(x), y)",
    "a column of signs for a cosine loss": "line 9:  loss = cos(emb(a), emb(b), target)",
    "an object that moves on from episode to episode": "after line 15:  spring.x = spring.x.detach(); spring.v = spring.v.detach()",
    "transposed convolutions one short each": "line 18:  nn.ConvTranspose2d(16, 8, 3, stride=2, padding=1, output_padding=1),\nline 20:  nn.ConvTranspose2d(8, 1, 3, stride=2, padding=1, output_padding=1),",
    "channels of a block made by its class": "line 24:  self.conv = DoubleConv(16, 8)",
    "max of a tensor and a number": "line 26:  label * torch.pow(torch.clamp(self.margin - d, min=0.0), 2))",
    "a gradient set to 0": "line 15:  w.grad.zero_()\nline 16:  b.grad.zero_()",
    "a comma forgotten between layers": "line 6:  nn.ReLU(),",
    "floats given to a layer": "line 13:  pred = model(torch.tensor([x]))\nline 14:  loss = criterion(pred, torch.tensor([y]))",
    "zero without underscore": "line 7:  x.grad.zero_()",
    "states of a batch that stands first": "line 4:  gru = nn.GRU(input_size=6, hidden_size=10, batch_first=True)",
    "a number saved, and its gradient returned": "line 6:  ctx.save_for_backward(x); ctx.alpha = alpha\nlines 11 to 12:  x, = ctx.saved_tensors; alpha = ctx.alpha; return g * alpha, None",
    "vectors joined to columns": "line 8:  u = net(torch.stack([x, t], 1))\nline 12:  return u_t + u.squeeze(1) * u_x - 0.01 * u_xx",
    "a mask of each sample for four heads": "line 19:  attn = attn.masked_fill(mask.unsqueeze(1) == 0, float('-inf'))",
    "a data set of arrays": "line 8:  ds = TensorDataset(torch.from_numpy(X), torch.from_numpy(y))\nline 13:  loss = nn.functional.cross_entropy(model(xb.float()), yb)",
    "a loader of dicts": "line 25:  for batch in dl: x, y = batch['x'], batch['y']",
    "the output gradients that a hook keeps": "line 19:  weights = grads[0][0].mean(dim=(2, 3), keepdim=True)",
    "positive weights for three of four labels": "line 6:  criterion = nn.BCEWithLogitsLoss(pos_weight=torch.ones(4))\nline 7:  loss = criterion(logits, target.float())",
    "vectors for a layer of one feature": "line 15:  return self.linear_layer(x.unsqueeze(1))\nline 23:  loss = loss_fn(y_pred, y_train.unsqueeze(1))",
    "batch norms of the features before": "line 23:  layers.append(nn.BatchNorm1d(dims[i + 1]))",
    "a state repeated without a dimension for it": "line 14:  hidden = hidden.unsqueeze(1).repeat(1, T, 1)",
    "windows without a feature dimension": "line 15:  out, _ = self.lstm(x.unsqueeze(-1), (h0, c0))",
    "labels filled with an integer": "line 38:  label = torch.full((4,), 1.0)",
    "self in a static backward": "line 13:  g = x.clone().sign().mul(ctx.lam)",
    "a helper that gives the tuple of grad": "line 13:  return torch.autograd.grad(out, inp, torch.ones_like(out), create_graph=True)[0]",
    "parameters and a list of one": "line 6:  opt = torch.optim.Adam(list(model.parameters()) + [lam], lr=1e-3)",
    "a batch norm of sequences": "line 7:  h = bn(x.transpose(1, 2)).transpose(1, 2)",
    "hooks on layers for parameters": "line 7:  for p in model.parameters():",
    "gates split along the batch": "line 13:  i, f, o, g = torch.split(gates, self.hid, dim=1)",
    "sentences of other lengths with labels": "line 21:  dl = DataLoader(ds, batch_size=2, collate_fn=lambda batch: (torch.nn.utils.rnn.pad_sequence([x for x, _ in batch], batch_first=True), torch.tensor([y for _, y in batch])))",
    "NumPy within a backward": "line 13:  return 3 * x ** 2 * g",
    "a dict of tensors for an optimiser": "line 5:  opt = torch.optim.SGD([a, b], lr=0.1)",
    "a backward hook that clamps the tuple": "line 5:  return (grad_input[0].clamp(-0.1, 0.1),)",
    "items within an energy": "line 9:  e += 1 / torch.norm(pos[i] - pos[j])",
    "columns cut out after the fact": "line 11:  u = net(torch.cat([x, y], dim=1))",
    "two scores for one label": "line 7:  self.linear = nn.Linear(n_features, 1)\nline 19:  loss = criterion(y_predicted, y.unsqueeze(1))",
    "a layer that was never made": "line 13:  x = torch.relu(x)",
    "backward named, not called": "line 10:  loss.backward()",
    "attention added to its input": "line 17:  h, _ = self.attn(x, x, x, attn_mask=mask)",
    "heads of a whole transformer": "line 7:  model = nn.Transformer(d_model=5, nhead=1, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16, batch_first=True, dropout=0.0)",
    "forward called with two but takes one": "line 17:  pred = model((x, y))",
    "zero_grad set to none then read": "after line 5:  opt.zero_grad()\nwithout line 8",
    "newton method 1d": "line 8:  x = (x - y / x.grad).detach().requires_grad_()",
    "einsum operands first": "line 4:  c = torch.einsum('ij,jk->ik', a, b)",
    "load state into instance attribute": "line 7:  net2.load_state_dict(state)",
    "gan detach forgotten with two steps": "line 15:  lossD = criterion(D(real), ones) + criterion(D(fake.detach()), zeros)",
    "regularization l1 over named": "line 8:  for p in net.parameters():",
    "meta learning inner step": "line 8:  g = torch.autograd.grad(inner, w, create_graph=True)[0]",
    "depthwise groups": "line 4:  dw = nn.Conv2d(6, 6, kernel_size=3, groups=6)",
    "gumbel hard onehot": "line 8:  z = (y @ codes)",
    "vq vae straight through": "line 11:  q = codebook(idx.indices)",
    "siamese forward twice": "line 31:  loss = crit(*out, label)",
    "transformer positional encoding add": "line 17:  return x + self.pe[:, : x.shape[1]]",
    "hook prints grad wrong signature": "line 6:  def hook(module, inputs, out):",
    "linear regression lambda dims": "line 8:  pred = w @ X.T",
    "plot decision function": "line 8:  Z = net(torch.FloatTensor(grid)).detach().numpy().reshape(xx.shape)",
    "gradient penalty without create graph": "after line 9:  inter = inter.detach().requires_grad_()\nline 11:  grads = torch.autograd.grad(outputs=scores, inputs=inter, grad_outputs=torch.ones_like(scores), create_graph=True)[0]",
    "ppo ratio reuse old log probs": "line 10:  old_logp = dist.log_prob(actions).detach()",
    "batchnorm 1d on sequence": "line 7:  h = bn(fc(x).transpose(1, 2)).transpose(1, 2)",
    "word2vec skipgram negative loss": "line 13:  negs = torch.bmm(self.o(neg), c.unsqueeze(-1)).squeeze()",
    "seq2seq attention bmm": "line 8:  context = torch.bmm(attn.unsqueeze(1), enc_out).squeeze(1)",
    "tbptt list of losses append loss twice": "after line 18:  h = h.detach()",
    "concat features layer too small": "line 8:  self.fc = nn.Linear(emb_dim + n_num, 8)",
    "dict of outputs": "line 15:  age, sex = net(x).values()",
    "cuda float tensor type": "line 2:  dtype = torch.FloatTensor",
    "one hot floats": "line 5:  t = F.one_hot(labels.long(), num_classes=3)",
    "cholesky not pd": "line 4:  L = torch.linalg.cholesky(A @ A.T + 0.5 * torch.eye(2) * 4)",
    "cosine loss dims": "line 6:  sim = F.cosine_similarity(a.unsqueeze(1), protos, dim=-1)",
    "lr decay param groups dict": 'line 11:  opt.param_groups[0]["lr"] = opt.param_groups[0]["lr"] * 0.5',
    "enumerate loader unpack": "line 8:  for data, target in DataLoader(ds, batch_size=3):",
    "attention decoder loop argmax feed": "line 16:  tok = logits.softmax(1).argmax(-1)",
    "kernel regression gp": "line 10:  alpha = torch.cholesky_solve(y.unsqueeze(1), L).squeeze(1)",
    "numpy loss in module": "line 7:  return torch.sqrt(torch.mean((torch.log1p(pred) - torch.log1p(actual)) ** 2))",
    "denoising autoencoder noise shape": "line 6:  noise = 0.1 * torch.randn(5, 8)",
    "scheduler without optimizer": "line 6:  sched = torch.optim.lr_scheduler.StepLR(step_size=1, gamma=0.5, optimizer=opt)",
    "backward through numpy reconstruct": "line 8:  arr = y\nline 9:  arr = torch.clamp(arr, min=0)\nline 10:  z = arr",
    "freezing layers index": "lines 7 to 8:  if hasattr(layer, 'weight'): layer.weight.requires_grad = False; layer.bias.requires_grad = False",
    "distillation teacher in train loop": "line 10:  t_out = teacher(x).detach()",
    "permutation invariant deep sets": "line 10:  return self.rho(self.phi(x).sum(axis=1))",
    "discriminator feature matching": "line 13:  f_real, f_fake = feat(real), feat(fake.detach())\nafter line 17:  f_real, f_fake = feat(real), feat(fake)",
    "argmax accuracy as reward loss": "line 11:  loss = torch.nn.functional.cross_entropy(out, y)",
    "layernorm wrong shape": "line 5:  ln = nn.LayerNorm(emb_dim)",
    "lstmcell state missing": "line 10:  h, c = cell(x, (h, c))",
    "centre subtract class means": "line 6:  loss = ((feats - centers[labels]) ** 2).sum()",
    "apply init function": "lines 5 to 6:  if hasattr(m, 'weight'): nn.init.kaiming_normal_(m.weight); m.bias.data.fill_(0.01)",
    "reconstruct with projection clamp": "line 12:  x.data = x.data.clamp(min=0)",
    "epoch function forgets return": "after line 13:  return total",
    "zip of tensors and numpy shape": "line 5:  loss = torch.nn.functional.mse_loss(a * 2, torch.as_tensor(target).float())",
    "tensor plus list": "line 4:  y = (w + torch.tensor(offsets)) ** 2",
    "transformer needs float embed ints": "line 7:  out = enc(emb(ids))",
    "unsqueezed labels for one hot cat": "line 8:  inp = torch.cat([z, onehot], 1)",
    "ppo value clipping shapes": "line 12:  loss = 0.5 * torch.max(l1, l2).mean()",
    "gae in place list of numpy": "line 9:  adv = torch.zeros(5)\nline 14:  loss = (adv.float() ** 2).mean()",
    "custom function non tensor output": "line 6:  return (x ** 2).sum()",
    "memory augmented list of states": "after line 9:  memory = [item.detach() for item in memory]",
    "round prediction before loss": "line 7:  pred = net(x)",
    "matmul one-hot long": "line 6:  v = F.one_hot(ids, 5).float() @ E",
    "bmm batch mismatch attention query": "line 7:  s = torch.bmm(q(x), k(x).transpose(-2, -1))",
    "triplet loss missing negative": "line 7:  loss = crit(net(anchor), net(pos), net(neg))",
    "sort descending weights": "line 5:  y = torch.sort(x).values * w",
    "grad clip tuple sum norm": "line 6:  total = torch.cat([item.flatten() for item in grads]).norm()",
    "dropout called like function": "line 6:  h = nn.Dropout(0.0)(fc(x))",
    "char level one hot string": "line 8:  inp = torch.tensor([chars.index(c) for c in text[:-1]])",
    "vocabulary lookup unknown": "line 7:  ids = torch.tensor([vocab.get(w, vocab['<unk>']) for w in sent])",
    "device attribute of module": "line 9:  x = x.to(next(self.parameters()).device)",
    "wrong method name init": "line 7:  self.build_layers()",
    "gradient wrt python float": "line 2:  a = torch.tensor(2.0, requires_grad=True)",
    "tensor astype": "line 4:  loss = torch.nn.functional.binary_cross_entropy(p, labels.to(torch.float32))",
    "expand dims numpy style": "line 3:  y = torch.unsqueeze(x, 1) * torch.ones(2, 3)",
    "concatenate axis names numpy": "line 4:  c = torch.cat([a, b], 0)",
    "csv rows of strings": "line 5:  X = torch.tensor([[float(c) for c in row] for row in [[r[0], r[1]] for r in rows]])",
    "none default hidden": "after line 9:  if h is None: h = torch.zeros_like(x)",
    "super called with missing args": "line 10:  super().__init__(d)",
    "property called": "line 5:  n = x.shape[0]",
    "average of list of tensors numpy after": "line 11:  arr = np.concatenate([item.detach().numpy() for item in hist])",
    "confused loss function inputs reversed": "line 7:  loss = nn.functional.nll_loss(nn.functional.log_softmax(net(x), 1), y)",
    "bce reversed args grad": "line 7:  loss = nn.BCELoss()(net(x).squeeze(), y.float())",
    "padding same stride": "line 4:  conv = nn.Conv1d(2, 2, kernel_size=3, padding=1)",
    "groupwise linear loop modules dict": "line 4:  heads = torch.nn.ModuleDict({'a': nn.Linear(3, 1), 'b': nn.Linear(3, 2)})",
    "alternating least squares factor": "line 9:  U = (U - 0.05 * U.grad).detach().requires_grad_()\nline 10:  V = (V - 0.05 * V.grad).detach().requires_grad_()",
    "frozen embedding only param": "line 4:  emb = nn.Embedding.from_pretrained(torch.randn(5, 3), freeze=False)",
    "weight shape custom conv": "line 7:  edges = F.conv2d(img, kernel[None, None])",
    "embedding sum bag dims": "line 7:  h = emb(docs).mean(1)",
    "unpack three from two": "line 17:  rec, mu, *_ = m(x)",
    "print format of grad": 'line 4:  print("grads: %s" % w.grad)',
    "pairwise hinge matrix": "line 5:  loss = torch.relu(1 - pos + neg.unsqueeze(1)).mean()",
    "ordinal cumulative link": "line 8:  p = torch.sigmoid(cut - net(x))",
    "bilinear interaction": "line 6:  s = ((u @ W) * v).sum(-1)",
    "criterion on list of outputs": "line 8:  loss = sum(nn.CrossEntropyLoss()(output, y) for output in outs)",
    "counter in loop undefined name": "after line 5:  criterion = torch.nn.MSELoss()",
    "index tensor of targets out of vocab": "line 4:  V = 6",
    "grad accumulation loss divide list": "line 7:  loss = sum(losses) / len(losses)",
    "burgers equation with x and t in one tensor": "line 7:  u_x = torch.autograd.grad(u.sum(), x, create_graph=True)[0]\nline 8:  u_t = torch.autograd.grad(u.sum(), t, create_graph=True)[0]\nline 9:  u_xx = torch.autograd.grad(u_x.sum(), x, create_graph=True)[0]",
    "vae forward unpacked into two": "line 18:  bce = F.binary_cross_entropy(recon[0], x, reduction='sum')",
    "maml inner loop with parameters method": "line 10:  pred = nn.functional.linear(xq, *fast)",
    "transformer decoder mask of the wrong dtype": "line 9:  scores = scores.masked_fill(~mask.bool(), float('-inf'))",
    "dice loss with sum over a list of dims": "line 7:  dice.mean().backward()",
    "message passing with index_add on a leaf sized buffer": "line 5:  agg = torch.zeros(4, 2)",
    "graph attention softmax over neighbours": "line 6:  e = torch.cat([h[src], h[dst]], dim=-1) @ a",
    "custom function with two outputs": "line 8:  def backward(ctx, grad_output, grad_output_2):\nline 12:  return grad_output * ((x == (x.min())) / (x == (x.min())).sum()) + grad_output_2 * ((x == (x.max())) / (x == (x.max())).sum())",
    "optimising a latent code": "line 6:  z = torch.randn(1, 3, requires_grad=True)\nline 7:  optimizer = torch.optim.Adam([z], lr=0.1)",
    "two learning rates in a dict of names": "line 6:  {'params': model[0].parameters(), 'lr': 0.01},\nline 7:  {'params': model[1].parameters(), 'lr': 0.1},",
    "mixture density network log sum exp": "line 7:  pi, mu, log_sigma = net(x).split(2, dim=1)",
    "jacrev of a function that loops into a buffer": "line 10:  return out[-1]",
    "vmap over a python list": "line 7:  print(vmap(dot, in_dims=(0, None))(torch.stack(xs), w))",
    "forward mode with a dual and no unpack": "line 8:  print(fwAD.unpack_dual(y).tangent)",
    "hidden state init as a method never called": "line 17:  hidden = rnn.initHidden()",
    "truncated bptt with detach forgotten for a tuple": "line 13:  hc = tuple(s.detach() for s in hc)",
    "ddpg actor loss through the critic with numpy action": "line 7:  a = actor(s)",
    "matrix factorization user indices": "line 9:  return (self.U(u) * self.V(i)).sum(1)",
    "cosine embedding with wrong norm dims": "line 4:  sim = (a * b).sum(1) / (a.norm(dim=1) * b.norm(dim=1))",
    "hook that prints the gradient norm": "line 7:  norms[module] = grad_output[0].norm().item()",
    "two layer network in numpy style": "line 12:  loss.sum().backward()",
    "batch norm from scratch over the batch": "line 3:  gamma = torch.ones(4, requires_grad=True)\nline 4:  beta = torch.zeros(4, requires_grad=True)",
    "max pool gradient with indices as tuple": "line 5:  loss = (y[0] ** 2).sum()",
    "gumbel softmax sample with argmax index": "line 7:  choice = (y @ table)",
    "seq2seq teacher forcing loop": "after line 11:  h = h[-1]",
    "weight tying of embedding and head": "line 6:  head.weight = emb.weight",
    "word2vec unknown word": "line 7:  vec = emb(torch.tensor(word2idx['king'])) - emb(torch.tensor(word2idx['man'])) + emb(torch.tensor(word2idx['woman']))\nline 8:  loss = ((vec - emb(torch.tensor(word2idx['queen']))) ** 2).sum()",
    "ring buffer replay memory of states with graph": "after line 9:  memory = deque((item.detach() for item in memory), memory.maxlen); s = s.detach()",
    "hessian diagonal by double backward": "line 4:  g = torch.autograd.grad(f, x, create_graph=True)[0]",
    "ewc penalty with stored parameters": "line 5:  old = {n: p for n, p in net.named_parameters()}",
    "mixup with a beta sample from numpy": "line 9:  lam = torch.as_tensor(np.random.beta(1, 1, size=4)).float()\nline 11:  xm = lam.unsqueeze(1) * x + (1 - lam.unsqueeze(1)) * x[perm]",
    "ssim like variance with kernel groups": "line 6:  mu_a = F.conv2d(a, k, groups=3)\nline 7:  mu_b = F.conv2d(b, k, groups=3)",
    "chamfer distance of two clouds": "line 4:  d = ((a.unsqueeze(2) - b.unsqueeze(1)) ** 2).sum(-1)",
    "neural tangent kernel of two samples": "line 10:  K = G @ G.T",
    "adam with a lambda lr": "line 6:  sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda epoch: 0.95 ** epoch)",
    "tensor of parameters concatenated then optimised": "line 5:  opt = torch.optim.SGD([a, b], lr=0.1)",
    "cox partial likelihood with a sort tuple": "line 6:  r = risk[order.indices]\nline 7:  loss = -((r - torch.logcumsumexp(r, 0)) * event[order.indices]).sum()",
    "gcn class normalised adjacency": "line 9:  D = torch.diag(A.sum(1).pow(-0.5))",
    "graph readout per graph with a python dict": "line 7:  out = torch.stack(list(sums.values()))",
    "edge scores by dot product with transposed index": "line 4:  src, dst = edge_index.T",
    "a2c returns tensor minus values list": "line 8:  adv = returns - torch.cat(values)",
    "batched rewards of a list of arrays": "line 5:  scores = torch.stack([theta @ torch.as_tensor(f).float() for f in feats])",
    "conv vae flattened latent to decoder": "line 10:  return torch.sigmoid(self.up(h.view(-1, 8, 4, 4)))",
    "causal self attention with bias buffer unregistered shape": "line 10:  att = att.masked_fill(mask.bool(), float('-inf'))",
    "prompt tuning concatenates soft prompt": "line 8:  x = torch.cat([prompt.expand(2, -1, -1), emb(ids)], dim=1)",
    "seasonality model with day index one hot": "line 5:  X = F.one_hot(days - 1, 7)",
    "vmap of a closure that indexes by the sample": "line 6:  return table[i].sum()",
    "a generator that is stacked": "line 3:  y=torch.stack([x*i for i in range(3)]).sum()",
    "a deque that is stacked": "line 6:  y=torch.stack(list(m)).sum()",
    "cross validation folds with parameters reset": "line 7:  if hasattr(layer, 'reset_parameters'): layer.reset_parameters()",
    "soft actor critic min of two critics tuple": "line 7:  q = torch.min(*both)",
    "infogan latent codes concatenated of mixed dtypes": "line 7:  x = G(torch.cat([z, torch.nn.functional.one_hot(c, 3)], dim=1))",
    "t5 relative bias added to the heads": "line 8:  att = torch.softmax(scores + b.permute(2, 0, 1), -1)",
    "custom loss module without calling super": "after line 4:  super().__init__()\nline 8:  fp = (p * (~t)).sum()",
    "cvae condition with the class number": "line 9:  h = self.enc(torch.cat([x, torch.nn.functional.one_hot(c, 4)], dim=1))\nline 12:  return self.dec(torch.cat([z, torch.nn.functional.one_hot(c, 4)], dim=1))",
    "image hwc times mask chw": "line 4:  loss = (img.permute(2, 0, 1) * w).sum()",
    "conditional generator joined on a line before": "line 7:  inp = torch.cat([z, torch.nn.functional.one_hot(y, 3)], 1)",
    "one tensor for both states": "line 4:  out, _ = lstm(torch.ones(4, 1, 2), tuple(states))",
    "pairs counted": "line 7:  loss = loss / len(list(combinations(range(3), 2)))",
    "values sorted as an index": "line 3:  x[torch.sort(x).indices].cumsum(0).sum().backward()",
    "leaky integrate and fire spikes": "line 6:  return ((v > 1.0).float())",
    "hidden activations collected by a forward hook into a dict": "after line 7:  out.retain_grad()",
    "weight decay by hand on a generator": "line 5:  reg = sum((p ** 2).sum() for p in net.parameters())",
    "cosine schedule applied to the tensor lr": "line 9:  w.grad.data.zero_()",
}


@pytest.mark.parametrize("name", one_in(3, CHANGES))
def test_the_change(name: str) -> None:
    """The smallest change that means the same."""
    cured = correction_of(name)
    assert cured is not None
    assert in_words(PROGRAMS[name], cured.source) == CHANGES[name]


@pytest.mark.parametrize("name", one_in(3, [n for n, e in IN_PYTORCH.items() if "meant" in e]))
def test_the_output_that_was_meant(name: str) -> None:
    """The corrected program prints the numbers of the one that its author would write."""
    cured = correction_of(name)
    assert cured is not None
    meant = IN_PYTORCH[name]["meant"]
    assert floats(cured.reading.outcome.stdout) == pytest.approx(floats(meant), 1e-3, 1e-4)


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        (
            "a label above the classes",
            "This changes the training: labels above 2 count as class 2",
        ),
        ("an index of fractions", "Fractions are cut off, 0.9 becomes 0: check that these numbers"),
    ],
)
def test_a_change_of_what_is_computed_is_said(name: str, warning: str) -> None:
    """Where nothing better is known."""
    cured = correction_of(name)
    assert cured is not None
    assert any(warning in step.note for step in cured.steps)


@pytest.mark.parametrize("name", NO_CHANGE)
def test_rather_none_than_a_wrong_one(name: str) -> None:
    """Where it does not show what is meant, nothing is proposed."""
    assert correction_of(name) is None


@pytest.mark.parametrize(
    ("made", "end"),
    [
        ("torch.tensor([0., 1.])", "long"),
        ("torch.tensor([0., 1., 1.])", "long"),
        ("(x.sum(1) > 2).float()", "bool"),
        ("x.sum(1).gt(2).float()", "bool"),
        ("(torch.ones(3) > 2).float()", "long"),
    ],
)
def test_a_float_index_is_of_positions_unless_it_is_compared(made: str, end: str) -> None:
    """A mask is computed by a comparison, and has the size of what it is an index of."""
    before = f"import torch\nx = torch.ones(2, 2, requires_grad=True)\nidx = {made}\n"
    program = f"{before}x[idx].sum().backward()\n"
    cured = correction(read(program))
    assert cured is not None
    assert in_words(program, cured.source) == f"line 4:  x[idx.{end}()].sum().backward()"


def test_a_list_of_one_result_becomes_a_tuple() -> None:
    """(a) is no tuple in Python, (a,) is; jacobian() refuses a list."""
    before = "import torch\nf = lambda x: {}\n"
    after = "x = torch.ones(2)\nprint(torch.autograd.functional.jacobian(f, x))\n"
    program = before.format("[x ** 2]") + after
    cured = correction(read(program))
    assert cured is not None
    assert cured.source == before.format("(x ** 2,)") + after


def test_the_cause_in_the_terms_of_the_program() -> None:
    """Which line made it, which changed it, which needs it; what the corrected program gives."""
    program = (
        "import torch\n"
        "x = torch.tensor([0.0, 1.0], requires_grad=True)\n"
        "h = torch.exp(x)\n"
        "h += 1\n"
        "h.sum().backward()\n"
    )
    (result,) = answer(program)
    finding = result.findings[0]
    assert finding.evidence == (
        (3, "h = torch.exp(x)", "exp saves its result, version 0"),
        (4, "h += 1", "changes it in place: version 1"),
        (5, "h.sum().backward()", "exp needs version 0"),
    )
    assert finding.why == "The derivative of exp needs its result, which line 4 overwrote."
    assert finding.cure.endswith("read again: runs, x.grad = [1.0000, 2.7183]")
    assert result.data()["corrected"] == program.replace("h += 1", "h = h + 1")


@pytest.mark.parametrize(
    ("hook", "cure"),
    [
        ("lambda grad: grad.masked_fill_(x > 0, 0)", "grad.clone() instead of grad"),
        ("hook", "gr = gr.clone()"),
    ],
)
def test_the_copy_of_an_expanded_gradient(hook: str, cure: str) -> None:
    """By the name that the tensor has in the program."""
    program = (
        "import torch\nx = torch.ones(2, requires_grad=True)\nh = x * 1\n"
        "def hook(gr):\n    gr[x > 0] = 0\n    return gr\n"
        f"h.register_hook({hook})\nh.sum().backward()\n"
    )
    (finding,) = findings(read(program))
    assert finding.cure == f"Copy first: {cure}."


SURPRISES = {
    "not-called": "x = torch.ones(2, requires_grad=True)\nx.sum().backward\nprint(x.grad)",
    "not-finite": "x = torch.zeros(2, requires_grad=True)\nx.norm().sqrt().backward()",
    "accumulates": "x = torch.ones(2, requires_grad=True)\nx.sum().backward()\n(2 * x).sum().backward()",
    "broadcast": "p = torch.ones(4, 1, requires_grad=True)\n((p - torch.ones(4)) ** 2).mean().backward()",
    "repeated-write": (
        "x = torch.ones(2, requires_grad=True)\nh = x * 1\n"
        "h.register_hook(lambda g: g.masked_fill_(x > 0, 0))\nh.sum().backward()"
    ),
    "non-leaf": "w = torch.ones(3, requires_grad=True) * 0.1\nw.sum().backward()\nprint(w.grad)",
    "no-gradient": (
        "a = torch.ones(2, requires_grad=True)\nb = torch.ones(2, requires_grad=True)\n"
        "h = (a * 2).detach()\n(h * b).sum().backward()\nprint(a.grad)"
    ),
    "loss-leaf": ("x = torch.ones(2)\nloss = x.sum()\nloss.requires_grad = True\nloss.backward()"),
    "flat": "x = torch.ones(2, requires_grad=True)\ntorch.round(x * 1.3).sum().backward()",
    "dead-relu": "x = -torch.ones(2)\nx.requires_grad_()\ntorch.relu(x).sum().backward()",
    "softmax-twice": (
        "x = torch.ones(2, 3, requires_grad=True)\np = torch.softmax(x, 1)\n"
        "torch.nn.functional.cross_entropy(p, torch.tensor([0, 1])).backward()"
    ),
    "create-graph": "x = torch.ones(2, requires_grad=True)\nx.sum().backward(create_graph=True)",
    "unregistered": (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers = [torch.nn.Linear(1, 1)]\n        self.w = torch.nn.Linear(1, 1)\n"
        "net = Net()\nprint(len(list(net.parameters())))"
    ),
    "ignored": (
        "x = torch.ones(2, 3, requires_grad=True)\n"
        "loss = torch.nn.functional.cross_entropy(x, torch.tensor([-100, -100]))\nloss.backward()"
    ),
    "nothing-loaded": (
        "net = torch.nn.Linear(1, 1)\nown = net.state_dict()\n"
        "saved = {'module.' + k: v for k, v in own.items()}\n"
        "own.update({k: v for k, v in saved.items() if k in own})\nnet.load_state_dict(own)"
    ),
    "last-digits": "x = torch.tensor([2.0, 3.0])\nprint(x.log().sum().item())",
    "old-advice": "from torch.autograd import Variable\nx = Variable(torch.ones(2))",
}


def test_comments_and_names_of_methods_clear_no_gradient() -> None:
    program = (
        "import torch\nw = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "for _ in range(2):\n    opt.zero_grad  # opt.zero_grad() is left out\n"
        "    w.sum().backward()\n    opt.step()\n"
    )
    assert {f.kind for f in findings(read(program))} == {"not-called", "accumulates"}
    called = program.replace("opt.zero_grad  #", "opt.zero_grad()  #")
    assert findings(read(called)) == []


@pytest.mark.parametrize("kind", SURPRISES)
def test_what_runs_and_surprises(kind: str) -> None:
    """One finding, of this kind."""
    found = findings(read(f"import torch\n{SURPRISES[kind]}\n"))
    assert [f.kind for f in found] == [kind]


def test_the_gradient_of_a_bias_before_a_normalisation_is_only_rounding() -> None:
    """In exact arithmetic it is 0: the normalisation subtracts the mean, and the bias with it."""
    program = (
        "import torch\ntorch.manual_seed(0)\n"
        "net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))\n"
        "opt = torch.optim.{}(net.parameters(), lr=0.1)\n"
        "(net(torch.randn(5, 2)) ** 3).sum().backward()\nopt.step()\n"
    )
    kinds = [{f.kind for f in findings(read(program.format(o)))} for o in ("Adam", "SGD")]
    assert kinds == [{"only-rounding"}, set()]


def test_a_derivative_without_its_graph_is_the_reason() -> None:
    """With create_graph=True PyTorch fills c.grad."""
    program = (
        "import torch\nw = torch.ones(2, requires_grad=True)\nc = torch.ones(2, requires_grad=True)\n"
        "g = torch.autograd.grad((c * w ** 2).sum(), w)[0]\n((w - g) ** 2).sum().backward()\n"
        "print(c.grad)\n"
    )
    (finding,) = findings(read(program))
    assert (finding.kind, finding.cure) == ("no-gradient", "create_graph=True in line 4.")


@pytest.mark.parametrize(
    ("program", "random"),
    [
        ("x = torch.randn(2, requires_grad=True)\nx.sum().backward()\nprint(x.grad)", False),
        ("print(torch.randn(2, 3).shape)", False),
        ("print(torch.randn(2))", True),
        ("print(torch.randperm(9))", True),
        ("import random\nprint(random.randint(0, 10**9))", True),
        ("import numpy as np\nprint(np.random.randint(1000))", True),
    ],
)
def test_whether_the_output_depends_on_a_seed(program: str, random: bool) -> None:
    assert is_random(read(f"import torch\n{program}\n")) is random


REASONS = {
    "class Net:\n    def __init__(self):\n        self.fc1 = 1\nNet().fc_1": "Net has no fc_1: it has fc1.",
    "torch.nn.Bilinear(2, 3, 1)(torch.ones(1, 2))": "The call leaves out 'input2', which Bilinear needs",
    # the correction is made in two steps, of which the second changes only what the first wrote
    (
        "import copy\nx = torch.ones(2, requires_grad=True)\nz = copy.deepcopy(x * 2)\nz.sum().backward()"
    ): "Copying a computed tensor would require copying its graph.",
}


@pytest.mark.parametrize("program", REASONS)
def test_reasons_are_about_the_program_as_it_is_written(program: str) -> None:
    (finding, *_) = findings(read(f"import torch\n{program}\n"))
    assert finding.why.startswith(REASONS[program])
    assert "Then" not in finding.why


CURED = {
    "h = None\nfor t in range(2):\n    k = torch.ones(1, 2)\n    h = torch.cat([h, k])": (
        "line 5:  h = k if h is None else torch.cat([h, k])"
    ),
    "x = torch.ones(2, requires_grad=True)\nx.grad[0] = 1\ny = x.sum()\ny.backward()": (
        "without line 3\nafter line 5:  x.grad[0] = 1"
    ),
    (
        "net = torch.nn.Linear(1, 1)\nsaved = {'module.' + k: v for k, v in net.state_dict().items()}\n"
        "saved = {k: v for k, v in saved.items() if k in net.state_dict()}\nnet.load_state_dict(saved)"
    ): (
        "line 4:  saved = {k.removeprefix('module.'): v for k, v in saved.items() "
        "if k.removeprefix('module.') in net.state_dict()}"
    ),
    (
        "G = torch.tensor(2.0, requires_grad=True)\nD = torch.tensor(3.0, requires_grad=True)\n"
        "fake = (G * 0.5).exp()\nd_loss = (D * fake - 1) ** 2\nd_loss.backward()\n"
        "g_loss = -D * fake\ng_loss.backward()"
    ): "line 5:  d_loss = (D * fake.detach() - 1) ** 2",
}


@pytest.mark.parametrize("program", CURED)
def test_changes_that_are_meant(program: str) -> None:
    reading = read(f"import torch\n{program}\n")
    cured = correction(reading)
    assert cured is not None
    assert in_words(reading.source, cured.source) == CURED[program]


@pytest.mark.parametrize(
    "product",
    [  # PyTorch prints other last digits than are printed here
        "torch.addmv(x[0], x, x[0])",
        "torch.addbmm(x, x[None], x[None])",
        "torch.baddbmm(x[None], x[None], x[None])",
        "torch.nn.functional.bilinear(x, x, x[None])",
        "torch.linalg.cond(x)",
        "torch.linalg.pinv(x)",
        "torch.linalg.lu(x)[1]",
        "torch.nn.functional.grid_sample(x[None, None], x[None, :, :2, None].expand(1, 30, 2, 2))",
        "torch.nn.functional.linear(x[:2, :10], x[:3, :10])",
        "torch.nn.RNNCell(30, 2)(x)",
        "torch.special.bessel_j0(x)",
    ],
)
def test_digits_that_are_not_sure(product: str) -> None:
    program = (
        f"import torch\ntorch.manual_seed(0)\nx = torch.randn(30, 30)\nprint({product}.tolist())"
    )
    assert [f.kind for f in findings(read(program))] == ["last-digits"]


def test_what_rounding_leaves_is_not_sure() -> None:
    """A product with the inverse, less the identity."""
    program = (
        "import torch\nx = torch.tensor([[0.3, 0.7], [0.2, -0.9]])\n"
        "print(x @ torch.linalg.inv(x) - torch.eye(2))"
    )
    assert [f.kind for f in findings(read(program))] == ["last-digits"]


def test_integers_of_factored_matrices_are_not_sure() -> None:
    """PyTorch prints -4.0000, for a neighbour of -4."""
    program = (
        "import torch\nx = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)\n"
        "torch.logdet(x @ x.T).backward()\nprint(x.grad)"
    )
    assert [f.kind for f in findings(read(program))] == ["last-digits"]


@pytest.mark.parametrize(
    "program",
    [
        "x = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()\nprint(x.grad)",
        "w = torch.ones(1, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
        "for i in range(2):\n    opt.zero_grad()\n    (w * w).sum().backward()\n    opt.step()",
        "x = torch.tensor([2.0, 3.0])\nprint((x ** 2 / 7).sum().item())\nprint(x.log())",
        "torch.manual_seed(0)\nx = torch.randn(3, 4)\nprint((x.T @ torch.tanh(x)).mean().item())\n"
        "print(torch.nn.CrossEntropyLoss()(x, torch.tensor([0, 1, 3])).item())",
        "w = torch.ones(1, requires_grad=True)\nfor i in range(2):\n    (w * w).sum().backward()\n"
        "    with torch.no_grad():\n        w -= 0.1 * w.grad\n        w.grad = None",
    ],
)
def test_nothing_to_say(program: str) -> None:
    """Of a program that does what it looks like."""
    assert findings(read(f"import torch\n{program}\n")) == []


@pytest.mark.parametrize(
    ("program", "reason", "cure"),
    [  # gradients of PyTorch: [nan, 0.25], [nan, nan], [nan], [inf]
        (
            "x = torch.tensor([0.0, 4.0], requires_grad=True)\n"
            "y = torch.where(x > 0, torch.sqrt(x), torch.zeros(2))\ny.sum().backward()",
            "where passes back 0 into the branch not taken; sqrt's rule passes back g / (2 * sqrt(x)): 0/0 is nan",
            "where(x > 0, sqrt(where(x > 0, x, 1)), zeros_like(x)).sum()",
        ),
        (
            "x = torch.zeros(2, requires_grad=True)\n(x ** 2).sum().sqrt().backward()",
            "1/0 is inf; pow turns it into nan",
            "x.norm()",
        ),
        (
            "w = torch.ones(1, requires_grad=True)\nfor i in range(5):\n"
            "    loss = (w ** 2).sum()\n    loss.backward()\n    w.data *= 1e10",
            "w itself contains inf",
            "a smaller learning rate",
        ),
        (
            "class Double(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
            "        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2\n"
            "x = torch.zeros(1, requires_grad=True)\nDouble.apply(x).log().backward()",
            "log returns inf for finite numbers",
            "clamp",
        ),
    ],
)
def test_gradients_that_are_not_finite(program: str, reason: str, cure: str) -> None:
    """The operation, the numbers, and an expression that PyTorch finds finite."""
    found = findings(read(f"import torch\n{program}\n"))
    finding = next(f for f in found if f.kind == "not-finite")
    assert reason in finding.why
    assert cure in finding.cure


@cache
def shown(program: str) -> str:
    """What gradcli read prints of a program."""
    (result,) = answer(f"import torch\n{program}\n")
    return " ".join(render_documents([result.document()], "plain", Environment()).split())


def test_names_that_the_program_does_not_have() -> None:
    """They are told apart from the program's own, with their values."""
    text = shown(
        "x = torch.ones(2, requires_grad=True)\ny = x * torch.tensor([2.0, 3.0])\n"
        "y.sum().backward()"
    )
    assert "t1 stands for a value that the program does not name (t1 = [2, 3])." in text
    text = shown(
        "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny = y.exp()\ny.sum().backward()"
    )
    assert "y_1 is an earlier value of y." in text


PENALTY = (
    "D = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.LeakyReLU(), torch.nn.Linear(2, 1))\n"
    "x = torch.ones(3, 2, requires_grad=True)\nout = D(x)\n"
    "g, = torch.autograd.grad(out, x, torch.ones_like(out), create_graph=True)\n"
    "loss = ((g.norm(dim=1) - 1) ** 2).mean()\nloss.backward()\n"
    "print(D[0].bias.grad, D[2].bias.grad, loss.item())"
)
BUFFER = (
    "x = torch.arange(6.0, requires_grad=True)\nbuf = torch.zeros(6)\nfor i in range(6):\n"
    "    buf[i] = x[i] ** 2\n    if i > 0:\n        buf[i] = buf[i] + buf[i - 1]\n"
    "buf.sum().backward()"
)
POWER = (
    "A = torch.tensor([[2.0, 0.0], [0.0, 1.0]], requires_grad=True)\nv = torch.tensor([1.0, 0.0])\n"
    "for _ in range(40):\n    v = A @ v\n    v = v / v.norm()\n(v @ A @ v).backward()"
)
HOOKED = (
    "m = torch.nn.Linear(2, 1)\nm.register_full_backward_hook(lambda m, gi, go: print(go[0]))\n"
    "x = torch.ones(1, 2, requires_grad=True)\nm(x).sum().backward()"
)


@pytest.mark.parametrize(
    ("program", "line"),
    [  # PyTorch's gradients: zeros and None; [12, 20, 24, ...]; [[1, 0], [0, 0]]; the weight
        (PENALTY, "D_0_bias.grad = zeros_like(D_0_bias) [0, 0]"),
        (PENALTY, "The loss is computed from the derivatives of line 5"),
        ("a, b = (torch.ones(2, requires_grad=True) for _ in 'ab')\n(2 * a).sum().backward()",
         "a.grad = 2 * ones_like(a) [2, 2] b gets no gradient"),
        (POWER, "A.grad [[1, 0], [0, 0]] No formula here"),
        (HOOKED, "x.grad = m_weight"),
        ("m = torch.nn.Linear(1, 1)\nfor p in m.parameters():\n    p.data.fill_(2)\n"
         "m(torch.ones(1, 1)).sum().backward()", "m_bias.grad = "),
    ],
)  # fmt: skip
def test_a_backward_pass_in_formulas(program: str, line: str) -> None:
    assert line in shown(program)


def test_a_buffer_that_a_loop_fills_is_written_once() -> None:
    """Not each of its values in full within the next."""
    assert "[0, 10, 16, 18, 16, 10]" in shown(BUFFER)
    assert len(shown(BUFFER)) < 4000


def test_nothing_adds_up_in_a_tensor_that_is_computed_anew() -> None:
    program = (
        "w = torch.tensor(1., requires_grad=True)\nfor _ in range(3):\n    ((w - 3) ** 2).backward()\n"
        "    w = w - 0.1 * w.grad"
    )
    assert "w.grad is None" in shown(program)
    assert "add up" not in shown(program)


def test_what_is_done_with_a_loss_afterwards_cuts_nothing() -> None:
    assert "item()" not in shown(PENALTY).split("loss.item())")[-1]


@pytest.mark.parametrize("draw", ["torch.rand(2)", "numpy.random.rand(2)", "random.random()"])
def test_random_numbers_without_a_seed(draw: str) -> None:
    """They are of seed 0, and said to be."""
    program = f"import random, numpy\nx = {draw}\nprint(x)"
    assert "sets no random seed" in shown(program)
    seeds = "torch.manual_seed(0); numpy.random.seed(0); random.seed(0)\n"
    assert "random numbers" not in shown(program.replace("x =", f"{seeds}x ="))


def test_gradients_of_random_numbers_without_a_seed_are_formulas_alone() -> None:
    program = "x = torch.randn(3, requires_grad=True)\n(x * x).sum().backward()\nprint(x.grad)"
    gradient = shown(program).partition("x.grad = 2 * x")[2]
    assert "(3,)" in gradient
    assert "[" not in gradient
    assert "random numbers of seed 0" in shown(program)
    constant = shown(program.replace("x * x", "x"))  # whatever the numbers are
    assert "[1, 1, 1]" in constant.partition("x.grad = ones_like(x)")[2]


def test_a_spent_budget() -> None:
    """Line, what is spent, and what to shorten; no option raises it."""
    text = shown("x = torch.ones(2)\nwhile True: x = x + 1")
    assert "from line 3 on" in text
    assert "it takes more than the 1.2 seconds allowed; try fewer iterations" in text


def test_the_table_of_errors() -> None:
    """Every function that it names is there, and every entry says why."""
    kinds = table()
    assert len(kinds) > 150
    assert all(kind.why.endswith(".") for kind in kinds)
    for name in {kind.name for kind in kinds} - {NO_CURE}:
        module, _, function = name.partition(".")
        assert callable(getattr(import_module(f"{PACKAGE}.{module}"), function))


def test_edits_of_a_text() -> None:
    """Places count characters, not bytes; blocks are kept."""
    text = Text("é = 1; x = f(é)\nif x: y = 2\nfor i in z:\n    a(i)  # last\n")
    second = text.tree.body[1]
    assert text.of(second) == "x = f(é)"
    assert text.edited(text.removing(second)).startswith("é = 1\n")
    inner = text.tree.body[2].body[0]  # type: ignore[attr-defined]
    assert "if x: b = 1; y = 2" in text.edited(text.before(inner, "b = 1"))
    last = text.tree.body[3].body[0]  # type: ignore[attr-defined]
    wrapped = text.edited(text.wrapping([last], "with c:"))
    assert wrapped.endswith("for i in z:\n    with c:\n        a(i)  # last\n")
