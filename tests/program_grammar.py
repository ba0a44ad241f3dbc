"""A grammar of programs as people write them with PyTorch: what each symbol may stand for.

`<symbol>` in a text is replaced by one of the symbol's alternatives. In expressions, S is a single
number, V a vector of 3, M a 2×3 matrix, K a 3×2 matrix, L their integer targets; the first
alternatives of these are names, with which deep texts end. A line break within an alternative
keeps the indentation of the line where the symbol stands.
"""

import random
import re

GRAMMAR: dict[str, tuple[str, ...]] = {
    "program": (
        "<expressions>", "<expressions>", "<loop>", "<training>", "<training>", "<function>",
        "<transforms>", "<functional>", "<higher>", "<python>", "<state>", "<places>", "<places>",
        "<hooks>", "<module>", "<module>", "<errors>", "<errors>", "<modes>", "<layers>",
    ),
    # ---- values ----------------------------------------------------------------------------------
    "n": ("0.5", "1.0", "1.5", "2.0", "-1.0", "-0.5", "3.0", "0.25", "-2.0", "4.0", "0.0"),
    "p": ("0.5", "1.0", "1.5", "2.0", "3.0", "0.25", "4.0", "0.75"),
    "v": ("[<n>, <n>, <n>]",),
    "m": ("[[<n>, <n>, <n>], [<n>, <n>, <n>]]",),
    "k": ("[[<n>, <n>], [<n>, <n>], [<n>, <n>]]",),
    "grad": (", requires_grad=True",) * 3 + ("", ", requires_grad=True, dtype=torch.float64"),
    "i": ("0", "1", "2", "-1"),
    "leaves": (
        "s = torch.tensor(<n>, requires_grad=True)\nv = torch.tensor(<v>, requires_grad=True)\n"
        "m = torch.tensor(<m>, requires_grad=True)\nk = torch.tensor(<k>, requires_grad=True)",
        "s = torch.tensor(<n>)\nv = torch.tensor(<v>, requires_grad=True)\n"
        "m = torch.tensor(<m>)\nk = torch.tensor(<k>, requires_grad=True)",
        "s = torch.tensor(<n>, requires_grad=True)\nv = torch.tensor(<v>)\n"
        "m = torch.tensor(<m>, requires_grad=True)\nk = torch.tensor(<k>)",
        "s = torch.tensor(<n>, dtype=torch.float64, requires_grad=True)\n"
        "v = torch.tensor(<v>, dtype=torch.float64, requires_grad=True)\n"
        "m = torch.tensor(<m>, dtype=torch.float64, requires_grad=True)\n"
        "k = torch.tensor(<k>, dtype=torch.float64)",
    ),
    "S": (
        "s", "s", "v[<i>]", "<V>.sum()", "<V>.mean()", "<M>.sum()", "<M>.mean()", "<V>.max()",
        "<M>.norm()", "<V>.prod()", "<S> * <S>", "<S> + <S>", "<S> ** 2", "<S> / <p>", "-<S>",
        "<S>.exp()", "<S>.sin()", "<S>.tanh()", "<S>.sigmoid()", "<S>.relu()", "(<V> * <V>).sum()",
        "<V> @ <V>", "torch.dot(v, v)", "<M>.std()", "<V>.var()", "<V>.logsumexp(0)",
        "F.mse_loss(<V>, v)", "F.l1_loss(<M>, m)", "F.smooth_l1_loss(<V>, v)",
        "F.cross_entropy(<M>, labels)", "F.huber_loss(<V>, v)", "<V>.abs().sum()",
        "F.binary_cross_entropy_with_logits(<V>, goal)", "F.nll_loss(F.log_softmax(<M>, 1), labels)",
        "F.mse_loss(<M>, m, reduction='sum')", "torch.linalg.norm(<V>)", "<V>.min()", "<M>[0, 1]",
        "(<M> @ <K>).sum()", "torch.trace(<M> @ <K>)", "<V>.cumsum(0)[-1]", "<M>.amax()",
        "F.cosine_similarity(<V>, v, dim=0)", "torch.einsum('i,i->', <V>, <V>)", "<V>.median()",
        "F.cross_entropy(<M>, labels, label_smoothing=0.5)", "<V>.norm(1)", "<V>[0].clamp(0, 1)",
        "F.kl_div(F.log_softmax(<M>, 1), m.softmax(1), reduction='batchmean')",
    ),
    "V": (
        "v", "v", "m[<r>]", "<V> * <n>", "<V> + <V>", "<V> - <V>", "<V> * <V>", "<M>.sum(0)",
        "<M>.mean(dim=0)", "<V> * <S>", "<V> / <p>", "<V> ** 2", "<V>.exp()", "<V>.sin()",
        "<V>.cos()", "<V>.tanh()", "<V>.sigmoid()", "<V>.relu()", "<V>.abs()", "<V>.clamp(min=0)",
        "<V>.clamp(-1, 1)", "F.softmax(<V>, dim=0)", "F.log_softmax(<V>, dim=-1)", "F.softplus(<V>)",
        "F.gelu(<V>)", "F.leaky_relu(<V>, 0.25)", "F.silu(<V>)", "F.elu(<V>)", "<V>.flip(0)",
        "torch.where(<V> > 0, <V>, <V>)", "torch.where(v > <n>, v, <V>)", "<V>.square()",
        "torch.cat([<V>[:1], <V>[1:]])", "torch.stack([<S>, <S>, <S>])", "k @ <V>[:2]",
        "<M>[0] * 2", "<V>.cumsum(0)", "<V>.roll(1)", "<V>.sort()[0]", "<V>.detach()", "<V>.clone()",
        "torch.maximum(<V>, v)", "torch.minimum(<V>, <V>)", "<M>.max(0)[0]", "<M>.amax(dim=0)",
        "<V>.masked_fill(v > 0, <n>)", "<V>[[0, 2, 1]]", "<V>.index_select(0, order)",
        "<V>.gather(0, order)", "F.normalize(<V>, dim=0)", "F.layer_norm(<V>, (3,))", "<V>.sqrt()",
        "torch.stack([v, v]).mean(0)", "<V>.view(3, 1).squeeze(1)", "<V>.unsqueeze(0)[0]",
        "<M>.prod(0)", "<V>.log()", "<V>.reciprocal()", "<V>.pow(3)", "<V>.sign()", "2 ** <V>",
        "1 / <V>", "1 - <V>", "<V> @ k @ m", "<V>.expand(2, 3)[1]", "<V>.repeat(2)[:3]",
        "F.linear(<V>, m @ k @ m)[[0, 1, 1]]", "torch.lerp(<V>, v, 0.5)", "<V>.double().float()",
        "torch.addcmul(v, <V>, <V>)", "<V>.neg()", "<V>.log1p()", "F.hardtanh(<V>)", "<V>.round()",
        "torch.zeros(3).index_add(0, order, <V>)", "torch.outer(<V>, v)[0]", "<V>.std() * v",
    ),
    "M": (
        "m", "m", "<M> * <n>", "<M> + <V>", "<M> * <V>", "<M> - <M>", "<M> @ k @ m", "k.t()", "k.T",
        "<M>.exp()", "<M>.tanh()", "<M>.relu()", "F.softmax(<M>, dim=<d>)", "<M>.transpose(0, 1).T",
        "F.log_softmax(<M>, dim=<d>)", "torch.stack([<V>, <V>])", "<M>.view(3, 2).T", "<M>.flip(1)",
        "<V>.expand(2, 3)", "<V>.unsqueeze(0) * m", "torch.cat([<M>[:1], <M>[1:]], dim=0)",
        "<M> / <M>.sum(<d>, keepdim=True)", "<M> - <M>.mean(<d>, keepdim=True)", "<M>.sigmoid()",
        "<M>.reshape(3, 2).t()", "<M>.sort(1)[0]", "<M>.cumsum(<d>)", "<M>.clamp(max=1)",
        "torch.where(m > 0, <M>, <n>)", "<M>[:, [2, 0, 1]]", "torch.cat(<M>.chunk(2))", "<M>.abs()",
        "torch.stack(<M>.unbind(0))", "torch.cat(<M>.split([1, 2], dim=1), dim=1)", "<M> ** 2",
        "F.layer_norm(<M>, (3,))", "<M>.permute(1, 0).permute(1, 0)", "torch.outer(<V>[:2], <V>)",
        "<M>.masked_fill(m < 0, 0)", "<M>.scatter(1, places, <n>)", "<M>.gather(1, places)",
        "F.embedding(torch.tensor([1, 0]), <M>)", "<M>.tril()", "<M>.triu()", "<M>.norm(dim=1, keepdim=True) * m",
        "<M>.detach() * m", "F.one_hot(labels, 3) * <M>", "F.normalize(<M>, dim=1)", "<M>.swapaxes(0, 1).T",
        "F.dropout(<M>, 0.5, training=False)", "F.pad(<M>[:, :2], (1, 0))", "torch.bmm(<M>[None], (k @ m)[None])[0]",
    ),
    "K": ("k", "k", "<M>.t()", "<K> * <n>", "<K>.tanh()", "<K> + <K>", "<M>.T"),
    "d": ("0", "1", "-1"),
    "r": ("0", "1", "-1"),
    "any": ("<S>", "<V>", "<M>"),
    "consts": (
        "labels = torch.tensor([<l>, <l>])\ngoal = torch.tensor([1., 0., 1.])\n"
        "order = torch.tensor([2, 0, 1])\nplaces = torch.tensor([[0, 2, 1], [1, 1, 0]])",
    ),
    "l": ("0", "1", "2"),
    "leaf": ("s", "v", "m", "k"),
    "grads": ("print(s.grad, v.grad)\nprint(m.grad)", "print(v.grad)", "print(m.grad)\nprint(k.grad)"),
    "spec": ("{y:.4f}", "{y.item():.3f}", "{y}", "{y.item():.2e}", "{y.item():8.3f}", "{y:.2f}"),
    "show": (
        "print(y)", "print(y.shape, y.requires_grad)", "print(f'loss <spec>')", "print(y.item())",
        "print('y =', y)", "print(y.grad_fn)" if False else "print(y.detach())",
    ),
    # ---- kinds of programs -----------------------------------------------------------------------
    "expressions": (
        "<leaves>\n<consts>\ny = <S>\n<show>\ny.backward()\n<grads>",
        "<leaves>\n<consts>\na = <V>\nb = <M>\ny = (a * b).sum() + <S>\n<show>\ny.backward()\n<grads>",
        "<leaves>\n<consts>\na = <any>\nprint(a)\ny = <S>\nprint(torch.autograd.grad(y, [v], allow_unused=True))",
        "<leaves>\n<consts>\na = <V>\na.retain_grad()\ny = (a * <V>).sum()\ny.backward()\nprint(a.grad)\n<grads>",
        "<leaves>\n<consts>\na = <M>\na.backward(torch.ones_like(a))\n<grads>",
        "<leaves>\n<consts>\na = <V>\nb = a * <V>\nprint(b)\nb.backward(torch.tensor(<v>))\n<grads>",
        "<leaves>\n<consts>\nloss = <S>\nloss = loss + <S>\nloss.backward(retain_graph=True)\nloss.backward()\n<grads>",
    ),
    "loop": (
        "<leaves>\n<consts>\ntotal = 0\nfor i in range(3):\n    total = total + <S> * i\ny = total\n<show>\ny.backward()\n<grads>",
        "<leaves>\n<consts>\na = v.clone()\nfor i in range(3):\n    a[i] = <change>\nprint(a)\na.sum().backward()\nprint(v.grad)",
        "<leaves>\n<consts>\na = <M> * 1\nfor row in a:\n    print(row.sum())\na.sum().backward()\n<grads>",
        "<leaves>\n<consts>\na = m * 2\nfor i in range(2):\n    a[i] <aug> <V>\nprint(a)\na.sum().backward()\n<grads>",
        "<leaves>\n<consts>\nfor i in range(3):\n    y = <S>\n    y.backward()\n    print(i, v.grad)\n    <between>",
        "<leaves>\n<consts>\nh = torch.zeros(3)\nfor t in range(3):\n    h = torch.tanh(h * <p> + <V>)\nprint(h)\nh.sum().backward()\n<grads>",
        "<leaves>\n<consts>\nouts = []\nfor i in range(2):\n    outs.append(<V>)\ny = torch.stack(outs).sum()\n<show>\ny.backward()\n<grads>",
        "<leaves>\n<consts>\nw = v.detach().clone().requires_grad_()\nfor i in range(4):\n    y = ((w - <n>) ** 2).sum()\n    y.backward()\n    with torch.no_grad():\n        w -= 0.25 * w.grad\n    <zeroed>\nprint(w)",
        "<leaves>\n<consts>\na = v * 1\nfor i in range(3):\n    a = a.<inplace>\nprint(a)\na.sum().backward()\n<grads>",
    ),
    "change": ("a[i] * 2", "v[i] ** 2", "a[i - 1] + v[i]", "<n>", "a[i].clone() * v[i]", "i * v[0]"),
    "aug": ("+=", "*=", "-=", "/="),
    "zeroed": ("w.grad = None", "w.grad.zero_()", "print(w.grad)"),
    "between": ("v.grad = None", "pass", "if v.grad is not None:\n    v.grad.zero_()", "v.grad = torch.zeros(3)"),
    "inplace": (
        "mul_(2)", "add_(v)", "relu_()", "clamp_(min=0)", "tanh_()", "sigmoid_()", "mul_(v)", "exp_()",
        "sub_(<n>)", "div_(2)", "pow_(2)", "neg_()", "abs_()", "masked_fill_(v > 0, <n>)", "sin_()",
        "add_(v, alpha=2)", "copy_(v)", "square_()", "addcmul_(v, v)", "fill_(<n>)", "zero_()", "lerp_(v, 0.5)",
    ),
    "layer": (
        "nn.Linear(3, 3)", "nn.Tanh()", "nn.ReLU()", "nn.Sigmoid()", "nn.LayerNorm(3)", "nn.BatchNorm1d(3)",
        "nn.GELU()", "nn.LeakyReLU(0.25)", "nn.Dropout(0.0)", "nn.Linear(3, 3, bias=False)", "nn.ELU()",
        "nn.Softplus()", "nn.SiLU()", "nn.Softmax(dim=1)", "nn.LogSoftmax(dim=-1)", "nn.Identity()", "nn.PReLU()",
        "nn.Hardtanh()", "nn.Flatten()", "nn.ReLU6()", "nn.BatchNorm1d(3, affine=False)", "nn.LayerNorm(3, elementwise_affine=False)",
    ),
    "net": (
        "nn.Linear(3, 2)", "nn.Sequential(nn.Linear(3, 3), <layer>, nn.Linear(3, 2))",
        "nn.Sequential(<layer>, <layer>, nn.Linear(3, 2))", "nn.Sequential(nn.Linear(3, 3), <layer>, <layer>, nn.Linear(3, 2))",
        "Net()",
    ),
    "netclass": (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(3, 3)\n        self.b = nn.Linear(3, 2)\n    def forward(self, x):\n        return self.b(<act>)",
        "class Net(nn.Module):\n    def __init__(self, n=2):\n        super().__init__()\n        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(n)])\n        self.out = nn.Linear(3, 2)\n    def forward(self, x):\n        for layer in self.layers:\n            x = <lact>\n        return self.out(x)",
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = nn.Parameter(torch.tensor(<k>))\n        self.register_buffer('scale', torch.tensor(2.0))\n    def forward(self, x):\n        return (x @ self.w) * self.scale",
    ),
    "act": ("torch.relu(self.a(x))", "self.a(x).tanh()", "F.gelu(self.a(x))", "torch.sigmoid(self.a(x)) * x", "F.relu(self.a(x)) + x"),
    "lact": ("torch.tanh(layer(x))", "F.relu(layer(x))", "x + layer(x)", "layer(x).sigmoid()"),
    "opt": (
        "torch.optim.SGD(net.parameters(), lr=0.25)", "torch.optim.SGD(net.parameters(), lr=0.125, momentum=0.5)",
        "torch.optim.SGD(net.parameters(), lr=0.125, momentum=0.5, nesterov=True)", "torch.optim.Adam(net.parameters(), lr=0.0625)",
        "torch.optim.AdamW(net.parameters(), lr=0.0625, weight_decay=0.5)", "torch.optim.RMSprop(net.parameters(), lr=0.0625)",
        "torch.optim.SGD(net.parameters(), lr=0.125, weight_decay=0.5)", "torch.optim.Adagrad(net.parameters(), lr=0.125)",
        "torch.optim.Adam(net.parameters(), lr=0.0625, amsgrad=True)", "torch.optim.Adam(net.parameters(), betas=(0.5, 0.75))",
        "torch.optim.SGD([{'params': net.parameters(), 'lr': 0.5}], lr=0.25)", "torch.optim.RMSprop(net.parameters(), lr=0.0625, momentum=0.5, centered=True)",
    ),
    "loss": (
        "F.mse_loss(out, target)", "F.cross_entropy(out, labels)", "nn.MSELoss()(out, target)", "nn.CrossEntropyLoss()(out, labels)",
        "(out - target).pow(2).mean()", "F.smooth_l1_loss(out, target)", "nn.L1Loss()(out, target)", "nn.BCEWithLogitsLoss()(out, target.clamp(0, 1))",
        "F.nll_loss(F.log_softmax(out, dim=1), labels)", "nn.HuberLoss()(out, target)", "F.mse_loss(out, target, reduction='sum') / 4",
        "nn.CrossEntropyLoss(reduction='none')(out, labels).mean()", "F.binary_cross_entropy(torch.sigmoid(out), target.clamp(0, 1))",
        "nn.KLDivLoss(reduction='batchmean')(F.log_softmax(out, 1), F.softmax(target, 1))", "nn.CrossEntropyLoss(weight=torch.tensor([0.5, 2.0]))(out, labels)",
    ),
    "data": (
        "x = torch.tensor([<v>, <v>, <v>, <v>])\ntarget = torch.tensor([[<n>, <n>], [<n>, <n>], [<n>, <n>], [<n>, <n>]])\nlabels = torch.tensor([0, 1, 1, <b>])",
        "x = torch.randn(4, 3)\ntarget = torch.randn(4, 2)\nlabels = torch.randint(0, 2, (4,))",
    ),
    "b": ("0", "1"),
    "training": (
        "<netclass>\nnet = <net>\nopt = <opt>\n<data>\nfor epoch in range(<steps>):\n    <zero>\n    out = net(x)\n    loss = <loss>\n    loss.backward()\n    <clip>\n    opt.step()\n    <report>\n<after>",
        "<netclass>\nnet = <net>\nopt = <opt>\nsched = <sched>\n<data>\nfor epoch in range(3):\n    opt.zero_grad()\n    out = net(x)\n    loss = <loss>\n    loss.backward()\n    opt.step()\n    sched.step()\n    print(epoch, f'{loss.item():.3f}', opt.param_groups[0]['lr'])\n<after>",
        "<netclass>\nnet = <net>\n<data>\nout = net(x)\nloss = <loss>\nprint(loss)\nloss.backward()\n<after>",
    ),
    "sched": (
        "torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.5)", "torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.5)",
        "torch.optim.lr_scheduler.LambdaLR(opt, lambda e: 1 / (e + 1))", "torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=4)",
        "torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[1], gamma=0.5)",
    ),
    "steps": ("1", "2", "3", "5"),
    "zero": ("opt.zero_grad()",) * 4 + ("net.zero_grad()", "opt.zero_grad(set_to_none=False)", "pass"),
    "clip": (
        "pass", "pass", "torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)", "nn.utils.clip_grad_value_(net.parameters(), 0.25)",
        "print(f'{torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.5):.4f}')", "for q in net.parameters():\n    q.grad *= 0.5",
        "grads = [q.grad.norm().item() for q in net.parameters() if q.grad is not None]\nprint(['%.3f' % g for g in grads])",
    ),
    "report": (
        "print(epoch, f'{loss.item():.4f}')", "print(f'epoch {epoch}: loss {loss:.3f}')", "print(f'{epoch + 1}/{3} {float(loss):.2e}')",
        "if epoch % 2 == 0:\n    print(epoch, loss.item() > 0)", "print('%d %.4f' % (epoch, loss.item()))", "print('{:d} {:.3f}'.format(epoch, loss.item()))", "pass",
    ),
    "after": (
        "for name, q in net.named_parameters():\n    print(name, q.shape, q.grad is None)", "print(list(net.parameters())[0])", "print(net)",
        "print([q.numel() for q in net.parameters()], sum(q.numel() for q in net.parameters()))", "print(list(net.parameters())[-1].grad)",
        "net.eval()\nwith torch.no_grad():\n    print(net(x).argmax(dim=1))", "print(net(x)[0])", "print(list(net.state_dict().keys()))",
        "print(next(net.parameters()).grad.norm())", "loss.backward()", "print(net.training, out.requires_grad)", "with torch.no_grad():\n    pred = net(x)\n    print((pred.argmax(1) == labels).float().mean().item())",
        "for name, value in net.state_dict().items():\n    print(name, value)", "print(opt.state_dict()['param_groups'][0]['lr'])",
    ),
    "function": (
        "<fclass>\n<leaves>\n<consts>\na = Op.apply(<fargs>)\nprint(a)\ny = (a * v).sum()\n<show>\ny.backward()\n<grads>",
        "<fclass>\n<leaves>\n<consts>\nf = Op.apply\ny = f(<fargs>).sum() + <S>\ng = torch.autograd.grad(y, v, create_graph=True<unused>)[0]\nprint(g)\ng.sum().backward()\n<grads>",
        "<fclass>\n<leaves>\n<consts>\nwith torch.no_grad():\n    a = Op.apply(<fargs>)\nprint(a.requires_grad, a)",
    ),
    "unused": ("", ", allow_unused=True"),
    "fargs": ("v, v", "v, s", "v, <n>", "<V>, <V>", "v.detach(), v", "<V>, s"),
    "fclass": (
        "class Op(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a, b):\n        ctx.save_for_backward(a, <saved>)\n        ctx.n = 2\n        return a * b\n    @staticmethod\n    <once>\n    def backward(ctx, g):\n        a, b = ctx.saved_tensors\n        <fprint>\n        return <fans>",
        "class Op(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a, b):\n        ctx.save_for_backward(a)\n        return a.clamp(min=0)\n    @staticmethod\n    def backward(ctx, g):\n        a, = ctx.saved_tensors\n        g = g.clone()\n        g[a < 0] = 0\n        return g, None",
        "class Op(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a, b):\n        y = a.exp()\n        ctx.save_for_backward(y)\n        return y\n    @staticmethod\n    def backward(ctx, g):\n        y, = ctx.saved_tensors\n        return g * y, None",
        "class Op(torch.autograd.Function):\n    @staticmethod\n    def forward(a, b):\n        return a * 3\n    @staticmethod\n    def setup_context(ctx, inputs, output):\n        ctx.b = inputs[1]\n    @staticmethod\n    def backward(ctx, g):\n        print(g, ctx.needs_input_grad)\n        return 3 * g, None",
    ),
    "saved": ("b if isinstance(b, torch.Tensor) else None", "a", "torch.as_tensor(b)"),
    "once": ("@torch.autograd.function.once_differentiable", "@staticmethod" if False else "", "", ""),
    "fprint": ("pass", "print('backward', ctx.needs_input_grad)", "print(g.shape, g.requires_grad)", "print(ctx.n, b is None)"),
    "fans": (
        "g * b if b is not None else g, None", "g * 2, None", "g, g * a", "g * a, (g * a).sum()", "None, None", "g", "g * ctx.n, g if ctx.needs_input_grad[1] else None",
    ),
    "f": ("def f(x):\n    return <F>",),
    "F": ("(x ** 3).sum()", "(x * x).sum()", "x.sin().sum()", "x.exp().sum()", "(x[0] * x[1]) ** 2", "(x.tanh() * x).sum()", "x.prod()", "x.norm() ** 2", "(x * torch.tensor(<v>)).sum()"),
    "g": ("def g(x):\n    return <G>",),
    "G": ("x ** 2", "x.sin()", "x * x.sum()", "torch.stack([x[0] * x[1], x[2] ** 2])", "m @ x", "x.exp() * 2", "x.cumsum(0)", "x[:2] * x[2]", "torch.softmax(x, 0)", "x.flip(0) * x"),
    "transforms": (
        "<f>\n<g>\nm = torch.tensor(<m>)\nx = torch.tensor(<v>)\nprint(<tf>)\nprint(<tf>)",
        "<netclass>\nnet = <net>\nparams = dict(net.named_parameters())\n<data>\ndef compute(params, x, y):\n    out = torch.func.functional_call(net, params, (x,))\n    return F.mse_loss(out, y)\ngrads = torch.func.grad(compute)(params, x, target)\nfor name, value in grads.items():\n    print(name, value.shape)\n    print(value)",
    ),
    "tf": (
        "torch.func.grad(f)(x)", "torch.func.jacrev(g)(x)", "torch.func.jacfwd(g)(x)", "torch.func.hessian(f)(x)", "torch.func.vmap(f)(torch.tensor(<m>))",
        "torch.func.grad_and_value(f)(x)", "torch.vmap(torch.func.grad(f))(torch.tensor(<m>))", "torch.func.vjp(g, x)[0]", "torch.func.jvp(g, (x,), (torch.ones(3),))",
        "torch.func.grad(lambda x: torch.func.grad(f)(x).sum())(x)", "torch.func.vjp(f, x)[1](torch.tensor(1.0))", "torch.vmap(lambda a, b: a @ b)(torch.tensor(<m>), torch.tensor(<m>))",
        "torch.vmap(torch.func.jacrev(g))(torch.tensor(<m>))", "torch.vmap(g, in_dims=1, out_dims=1)(torch.tensor(<m>).T)", "torch.func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x)",
        "torch.func.jacrev(torch.func.jacrev(f))(x)",
    ),
    "functional": (
        "from torch.autograd.functional import jacobian, hessian, vjp, jvp, hvp, vhp\n<f>\n<g>\nm = torch.tensor(<m>)\nx = torch.tensor(<v><rg>)\nprint(<af>)\nprint(<af>)",
        "<f>\n<g>\nm = torch.tensor(<m>, requires_grad=True)\nx = torch.tensor(<v>, requires_grad=True)\ny = g(x)\nrows = [torch.autograd.grad(y[i], x, retain_graph=True)[0] for i in range(len(y))]\nprint(torch.stack(rows))",
    ),
    "rg": ("", ", requires_grad=True"),
    "af": (
        "jacobian(g, x)", "hessian(f, x)", "vjp(g, x, torch.ones_like(g(x)))", "jvp(g, x, torch.ones(3))", "hvp(f, x, torch.ones(3))", "vhp(f, x, torch.ones(3))",
        "jacobian(g, x, create_graph=True)", "jacobian(lambda a, b: a * b, (x, x))", "hessian(lambda a: f(a) * 2, x)", "jacobian(g, x, vectorize=True)", "jacobian(f, x)",
    ),
    "higher": (
        "<f>\nx = torch.tensor(<v>, requires_grad=True)\ny = f(x)\ng, = torch.autograd.grad(y, x, create_graph=True)\nprint(g.detach())\ng.sum().backward()\nprint(x.grad)",
        "<f>\nx = torch.tensor(<v>, requires_grad=True)\ny = f(x)\ny.backward(create_graph=True)\nprint(x.grad.detach())\ng = x.grad\nx.grad = None\ng.pow(2).sum().backward()\nprint(x.grad)",
        "<netclass>\nnet = <net>\n<data>\nx.requires_grad_()\nout = net(x)\ng = torch.autograd.grad(out.sum(), x, create_graph=True)[0]\npenalty = ((g.norm(2, dim=1) - 1) ** 2).mean()\nprint(penalty)\npenalty.backward()\nprint(list(net.parameters())[0].grad)",
        "<leaves>\n<consts>\ny = <S>\ng = torch.autograd.grad(y, [v], create_graph=True, allow_unused=True)\nif g[0] is not None and g[0].requires_grad:\n    g[0].sum().backward()\n<grads>",
        "<f>\nx = torch.tensor(<v>, requires_grad=True)\nd = f(x)\nfor order in range(3):\n    d, = torch.autograd.grad(d.sum(), x, create_graph=True)\n    print(order, d.detach())\n    if not d.requires_grad:\n        break",
        "<f>\nx = torch.tensor(<v>, requires_grad=True)\ng, = torch.autograd.grad(f(x), x, create_graph=True)\nH = torch.stack([torch.autograd.grad(g[i], x, retain_graph=True)[0] for i in range(3)])\nprint(H)",
        "<f>\nw = torch.tensor(<v>, requires_grad=True)\ninner = f(w)\ng, = torch.autograd.grad(inner, w, create_graph=True)\nfast = w - 0.25 * g\nouter = f(fast)\nouter.backward()\nprint(w.grad)",
    ),
    "python": (
        "def scale(k):\n    def inner(x):\n        return x * k\n    return inner\n<leaves>\n<consts>\nfs = [scale(i) for i in range(1, 4)]\ny = sum(f(v).sum() for f in fs)\n<show>\ny.backward()\nprint(v.grad)",
        "<leaves>\n<consts>\nparams = {'v': v, 'm': m}\ny = sum((q ** 2).sum() for q in params.values())\n<show>\nif y.requires_grad:\n    y.backward()\nprint({name: q.grad is None for name, q in params.items()})",
        "<leaves>\n<consts>\ndef step(x, *, lr=0.5, n=2):\n    for _ in range(n):\n        x = x - lr * x\n    return x\ny = step(<V>, lr=<p>).sum()\n<show>\ny.backward()\n<grads>",
        "<leaves>\n<consts>\nfor name, q in zip('svmk', (s, v, m, k)):\n    print(f'{name:>3} {str(tuple(q.shape)):<8} {q.sum().item():+.2f} {q.requires_grad}')\ny = <S>\nprint(f'{y.item():.3f} {y.dtype} {y.item():<10.1f}|')",
        "<leaves>\n<consts>\nlosses = [<S>, <S>]\nfor i, part in enumerate(losses):\n    print(i, round(part.item(), 3))\ny = torch.stack(losses).sum()\ny.backward()\n<grads>",
        "<leaves>\n<consts>\nclass Layer:\n    def __init__(self, w):\n        self.w = w\n    def __call__(self, x):\n        return (x * self.w).tanh()\nlayers = [Layer(v) for _ in range(2)]\na = torch.ones(3)\nfor layer in layers:\n    a = layer(a)\nprint(a)\na.sum().backward()\nprint(v.grad)",
        "<leaves>\n<consts>\nassert v.shape == (3,), 'shape'\nrows = [[round(float(c), 2) for c in row] for row in <M>]\nprint(rows)\nprint(max(rows[0]), sorted(rows[1]), len(rows))\nprint(v.tolist() == [float(c) for c in v])",
        "<leaves>\n<consts>\na, b, c = v\nprint(a, b.item(), c.requires_grad)\ny = a * b + c\ny.backward()\nprint(v.grad)",
    ),
    "state": (
        "import copy\n<netclass>\nnet = <net>\nother = copy.deepcopy(net)\nwith torch.no_grad():\n    for q in net.parameters():\n        q.mul_(2)\nnet.load_state_dict(other.state_dict())\nprint(all(torch.equal(a, b) for a, b in zip(net.parameters(), other.parameters())))\nprint(net.state_dict().keys())",
        "<netclass>\nnet = <net>\nfor name, q in net.named_parameters():\n    if 'bias' in name:\n        q.requires_grad_(False)\n<data>\nout = net(x)\nloss = <loss>\nloss.backward()\nfor name, q in net.named_parameters():\n    print(name, q.requires_grad, q.grad is not None)",
        "<netclass>\nnet = <net>\nfor q in net.parameters():\n    nn.init.constant_(q, 0.5)\n<data>\nout = net(x)\nprint(out)\nloss = <loss>\nloss.backward()\nprint(list(net.parameters())[0].grad)",
        "<netclass>\nnet = <net>\n<data>\nnet.<mode>()\nprint(net.training)\nout = net(x)\nprint(out)\nprint([name for name, _ in net.named_buffers()])\nprint([type(c).__name__ for c in net.children()])",
        "bn = nn.BatchNorm1d(3<bn>)\n<data>\nfor i in range(2):\n    out = bn(x)\nprint(out)\nprint(bn.running_mean, bn.running_var, bn.num_batches_tracked)\nbn.eval()\nprint(bn(x))\nbn(x).pow(2).sum().backward()\nprint(bn.weight.grad if bn.weight is not None else None)",
        "lin = nn.Linear(3, 2)\nopt = <lopt>\nstate = {n: q.clone() for n, q in lin.state_dict().items()}\nlin(torch.ones(1, 3)).sum().backward()\nopt.step()\nfor n, q in lin.state_dict().items():\n    print(n, (q - state[n]))\nlin.load_state_dict(state)\nprint(lin.weight.grad is None, lin.weight.requires_grad)",
    ),
    "lopt": ("torch.optim.SGD(lin.parameters(), lr=0.5)", "torch.optim.Adam(lin.parameters(), lr=0.5)", "torch.optim.SGD(lin.parameters(), lr=0.5, momentum=0.5)"),
    "bn": ("", ", momentum=0.5", ", affine=False", ", track_running_stats=False", ", eps=0.5"),
    "mode": ("train", "eval"),
    "places": (
        "<leaves>\n<consts>\na = <M> * 1\n<put>\nprint(a)\ny = (a * a).sum()\n<show>\ny.backward()\n<grads>",
        "<leaves>\n<consts>\na = torch.zeros(2, 3)\n<put>\n<put>\nprint(a)\nif a.requires_grad:\n    a.sum().backward()\n<grads>",
        "<leaves>\n<consts>\na = m * 2\nb = a<view>\nb.<inplace2>\nprint(a, b)\na.sum().backward()\n<grads>",
        "<leaves>\n<consts>\na = m * 2\nb = a<view>\na.<inplace2>\nprint(b)\nb.sum().backward()\n<grads>",
        "<leaves>\n<consts>\na = v * 2\nb = a ** 2\na.<inplace>\nprint(a._version)\nb.sum().backward()\n<grads>",
        "<leaves>\n<consts>\nparts = <M>.chunk(<b1>, dim=<d>)\nprint(len(parts), parts[0])\ny = sum(q.sum() * (i + 1) for i, q in enumerate(parts))\n<show>\ny.backward()\n<grads>",
        "<leaves>\n<consts>\nvalues, indices = <M>.<pick>\nprint(values, indices)\nvalues.sum().backward()\n<grads>",
        "<leaves>\n<consts>\nmask = <M> > <n>\nprint(mask, mask.sum())\nprint(m[mask])\ny = m[mask].sum() + <S>\ny.backward()\n<grads>",
    ),
    "b1": ("1", "2", "3"),
    "pick": ("max(dim=1)", "min(0)", "sort(dim=1)", "topk(2)", "sort(descending=True)", "max(-1)"),
    "put": (
        "a[0] = <V>", "a[:, 1] = <n>", "a[0, 1] = <S>", "a[[0, 1], [1, 2]] = <n>", "a[a > 0] = <n>", "a[:, [0, 2]] = <n>", "a[1:] *= 2", "a[0] += <V>",
        "a[torch.tensor([1])] = <V>", "a.index_put_((labels,), <V>)", "a[..., -1] = <S>", "a.index_fill_(0, torch.tensor([1]), <n>)", "a.masked_fill_(a < 0, 0)",
        "a = a.index_put((torch.tensor([0]),), <V>)", "a.scatter_(1, places, <n>)", "a.t()[0] = <n>", "a.view(-1)[2] = <S>", "a[:, :2] = <M>[:, 1:]", "a.fill_diagonal_(<n>)",
        "a.index_add_(0, torch.tensor([1]), <M>[:1])", "a.index_copy_(0, torch.tensor([0]), <M>[1:])", "a[1] = a[0]", "a.diagonal().mul_(2)", "a = torch.cat([a[:1], a[1:] * 2])",
        "a.scatter_add_(1, places, <M>)", "a[a.abs() > 1] = a[a.abs() > 1] * 0.5", "a.copy_(<M>)",
    ),
    "view": ("[0]", "[:, 1]", ".view(-1)", ".t()", "[1:]", ".view(3, 2)", ".reshape(-1)", "[0, :2]", ".unsqueeze(0)", ".transpose(0, 1)", ".detach()", ".clone()", "[[0]]", ".flatten()", ".squeeze()", ".unbind(0)[0]", ".chunk(3, dim=1)[0]", ".diagonal()", ".data", ".expand(2, 2, 3)", ".narrow(1, 0, 2)", ".select(0, 1)", ".T[1]", ".contiguous()", ".permute(1, 0)"),
    "inplace2": ("mul_(2)", "add_(1)", "zero_()", "relu_()", "clamp_(min=0)", "exp_()", "fill_(<n>)", "sub_(<S>)", "tanh_()", "neg_()", "div_(<p>)", "pow_(2)", "sin_()", "mul_(s)"),
    "hooks": (
        "<leaves>\n<consts>\na = <V> * 1\n<hook>\n<hook>\ny = (a * <V>).sum()\ny.backward()\n<grads>",
        "<leaves>\n<consts>\na = v * 2\nb = a ** 2\nh = a.register_hook(lambda g: <hans>)\nb.sum().backward(retain_graph=True)\nprint(v.grad)\nh.remove()\nb.sum().backward()\nprint(v.grad)",
        "<netclass>\nnet = <net>\n<data>\nnet.register_forward_hook(lambda mod, args, out: print('forward', out.shape))\n<mhook>\nout = net(x)\nloss = <loss>\nloss.backward()\nprint(list(net.parameters())[0].grad.shape)",
        "<leaves>\n<consts>\na = v.exp()\na.retain_grad()\na.register_hook(lambda g: <hans>)\na.retain_grad()\n(a * 2).sum().backward()\nprint(a.grad, v.grad)\nprint(torch.autograd.grad((v.exp() * v).sum(), v))",
        "<leaves>\n<consts>\na = v * 2\na.register_hook(lambda g: <hans>)\nprint(torch.autograd.grad((a ** 2).sum(), [<want>], allow_unused=True))",
        "<leaves>\n<consts>\na = v * 2\nb = a * 3\nb.register_hook(lambda g: <hans>)\n(b ** 2).sum().backward(inputs=[<want>])\nprint(v.grad, a.grad)",
    ),
    "want": ("v", "a", "a, v", "v, a", "v, v", "a, a", "v, s"),
    "hook": (
        "a.register_hook(lambda g: print('a', g))", "v.register_hook(lambda g: print('v', g))", "a.register_hook(lambda g: g * 2)", "a.retain_grad()", "v.register_hook(lambda g: torch.zeros_like(g))",
        "v.register_post_accumulate_grad_hook(lambda p: print('post', p.grad))", "a.register_hook(lambda g: g.clamp(max=1))", "a.grad_fn.register_hook(lambda gi, go: print('fn', go[0]))", "a.register_hook(print)",
    ),
    "hans": ("g * 2", "None", "g.clamp(-1, 1)", "-g", "print('hook', g)", "g + 1", "g.sum()", "g.double()"),
    "mhook": (
        "net.register_full_backward_hook(lambda mod, gi, go: print('backward', go[0].shape))", "net.register_forward_pre_hook(lambda mod, args: print('pre', args[0].shape))", "pass",
        "net.register_forward_hook(lambda mod, args, out: out * 2)",
    ),
    "module": (
        "<netclass>\nnet = Net()\nprint(net)\n<data>\nout = net(x)\nprint(out)\nloss = <loss>\nloss.backward()\nfor q in net.parameters():\n    print(q.grad)",
        "emb = nn.Embedding(4, 3<emb>)\nidx = torch.tensor([[0, 2], [<l>, 3]])\ne = emb(idx)\nprint(e.shape)\ny = (e ** 2).sum()\ny.backward()\nprint(emb.weight.grad)",
        "<leaves>\n<consts>\nlayer = <layer>\nout = layer(<M>)\nprint(out)\nout.sum().backward()\n<grads>",
        "net = nn.ModuleDict({'a': nn.Linear(3, 2), 'b': nn.Linear(2, 1)})\nx = torch.tensor(<m>)\ny = net['b'](torch.relu(net['a'](x))).sum()\ny.backward()\nprint({n: q.grad.shape for n, q in net.named_parameters()})\nprint(net)",
        "<netclass>\nnet = <net>\n<data>\nnet.requires_grad_(False)\nout = net(x)\nprint(out.requires_grad, out)\nnet.requires_grad_()\nout = net(x)\nloss = <loss>\nprint(torch.autograd.grad(loss, list(net.parameters()))[0])",
        "<netclass>\nnet = <net>\nfor name, c in net.named_modules():\n    print(name, type(c).__name__)\n<data>\nprint(net(x[:2]).shape)\nnet.zero_grad()\nprint(all(q.grad is None for q in net.parameters()))\nprint(net.apply(lambda c: None) is net)",
    ),
    "emb": ("", ", padding_idx=0", ", max_norm=1.0"),
    "layers": (
        "<leaves>\n<consts>\nx = torch.tensor([[<v>, <v>]])\nconv = nn.Conv1d(2, 2, 2)\nout = conv(x)\nprint(out)\nout.sum().backward()\nprint(conv.weight.grad, conv.bias.grad)",
        "x = torch.arange(16.).view(1, 1, 4, 4)\nx.requires_grad_()\nnet = nn.Sequential(nn.Conv2d(1, 1, 2), <act2>, nn.<pool>)\nout = net(x)\nprint(out)\nout.sum().backward()\nprint(x.grad)",
        "rnn = nn.<rnn>(3, 2<rnnopt>)\nx = torch.tensor([<m>, <m>])\nout, h = rnn(x)\nprint(out.shape)\nprint(out)\nout.sum().backward()\nprint(rnn.weight_ih_l0.grad)",
        "att = nn.MultiheadAttention(4, <b2>, batch_first=True)\nx = torch.arange(8.).view(1, 2, 4) / 4\nout, w = att(x, x, x)\nprint(out)\nprint(w)\nout.sum().backward()\nprint(att.in_proj_bias.grad)",
        "cell = nn.<cell>(3, 2)\nh = <cstate>\nfor t in range(2):\n    h = cell(torch.tensor(<m>), h)\nprint(h)\n(h if torch.is_tensor(h) else h[0]).sum().backward()\nprint(cell.weight_hh.grad)",
    ),
    "b2": ("1", "2"),
    "act2": ("nn.ReLU()", "nn.Tanh()", "nn.Sigmoid()"),
    "pool": ("MaxPool2d(2)", "AvgPool2d(2)", "Flatten()", "AdaptiveAvgPool2d(1)", "MaxPool2d(2, stride=1)"),
    "rnn": ("RNN", "LSTM", "GRU"),
    "rnnopt": ("", ", batch_first=True", ", num_layers=2", ", bidirectional=True"),
    "cell": ("RNNCell", "GRUCell"),
    "cstate": ("torch.zeros(2, 2)", "None"),
    "errors": (
        "<leaves>\n<consts>\n<err>\nprint('done')\n<err>",
        "<leaves>\n<consts>\ntry:\n    <err>\nexcept RuntimeError as e:\n    print('caught', e)\nfinally:\n    print('end')\n<err>",
        "<leaves>\n<consts>\nfor i in range(2):\n    try:\n        <err>\n        print(i)\n    except (RuntimeError, ValueError, TypeError, IndexError) as e:\n        print(type(e).__name__, e)",
    ),
    "err": (
        "y = <V>\ny.backward()", "y = <S>\ny.backward()\ny.backward()", "y = v.exp()\ny += 1\ny.sum().backward()", "v += 1", "v[0] = 1", "y = m @ m", "y = v + torch.ones(2)",
        "y = v.detach()\ny.sum().backward()", "torch.autograd.grad(s * 2, m)", "v.view(2, 2)", "y = v.int() * 2\ny.requires_grad_()", "print(v.item())", "bool(v > 0)", "v.numpy()",
        "torch.tensor([1, 2]).mean()", "torch.cat([v, m])", "torch.stack([v, s])", "nn.Linear(2, 2)(m)", "F.cross_entropy(m, goal)", "m[2]", "v[5]", "m[:, [3]]", "torch.zeros(2, requires_grad=True).add_(1)",
        "y = v.sum()\ny.backward(torch.ones(2))", "w = v * 2\nw.requires_grad = False", "with torch.no_grad():\n    y = <S>\ny.backward()", "y = v.relu()\ny[0] = 0\ny.sum().backward()",
        "y = v.sigmoid()\ny.mul_(2)\ny.sum().backward()", "w = v * 1\nz = w * w\nw.add_(1)\nz.sum().backward()", "y = <S>\ny.backward(retain_graph=True)\ny.backward()\nprint(v.grad)", "torch.tensor([1, 2], requires_grad=True)",
        "v.grad.zero_()", "v.expand(2, 4)", "m.view(-1, 4)", "m.squeeze(5)", "F.mse_loss(v, v[:2])", "torch.dot(v, m)", "torch.mm(v, m)", "v.T @ m", "len(s)", "for q in s:\n    print(q)", "float(v)", "v.unsqueeze(3)", "m.permute(0)",
        "F.nll_loss(m, torch.tensor([5, 0]))", "F.embedding(torch.tensor([7]), m)", "F.softmax(v, dim=1)", "torch.eye(3).inverse() @ m", "m.sum(2)", "nn.BatchNorm1d(2)(m)", "nn.LayerNorm(2)(m)", "F.binary_cross_entropy(v, goal)",
        "w = torch.nn.Parameter(v)\nw.sum().backward()\nprint(w.grad)", "torch.optim.SGD([v * 2], lr=1.0)", "torch.optim.SGD([], lr=1.0)", "opt = torch.optim.SGD([v], lr=1.0)\nopt.step()\nprint(v)", "y = s\ny.register_hook(lambda g: g)",
        "torch.randn(2) @ torch.randn(3)", "x = v.clone()\nx.retain_grad()\nx.sum().backward()\nprint(x.grad)\nx.sum().backward()", "torch.gather(m, 1, labels)", "a, b = v", "v.max(3)", "torch.autograd.backward([v, m])",
    ),
    "modes": (
        "<leaves>\n<consts>\nwith torch.<guard>():\n    a = <V>\n    print(a, a.requires_grad)\n    <inner>\nb = a * v\nprint(b.requires_grad)\nb.sum().backward()\n<grads>",
        "<leaves>\n<consts>\n@torch.<guard>()\ndef f(x):\n    return x * 2\ny = f(v)\nprint(y.requires_grad)\ntorch.set_grad_enabled(<tf2>)\nz = v * 2\nprint(z.requires_grad, torch.is_grad_enabled())\ntorch.set_grad_enabled(True)\n(v * y).sum().backward()\n<grads>",
        "<leaves>\n<consts>\nwith torch.<guard>():\n    a = v<view1>\na.<inplace>\nprint(a)",
        "<leaves>\n<consts>\nb = v * 1\nwith torch.<guard>():\n    a = b<view1>\n    a.<inplace>\nprint(a._version if not a.is_inference() else None)\nprint(b)\nb.sum().backward()\n<grads>" if False else
        "<leaves>\n<consts>\nb = v * 1\nwith torch.<guard>():\n    a = b<view1>\n    a.<inplace2>\nprint(b)\nb.sum().backward()\n<grads>",
        "<leaves>\n<consts>\nwith torch.autograd.set_detect_anomaly(True):\n    y = <S>\n    y.backward()\n<grads>",
        "<leaves>\n<consts>\nwith torch.no_grad():\n    v <aug> <n>\n    v.<inplace>\nprint(v, v.is_leaf, v._version)\n<S>.backward()\n<grads>",
    ),
    "guard": ("no_grad", "inference_mode", "enable_grad", "no_grad"),
    "inner": ("with torch.enable_grad():\n    c = v * 2\n    print(c.requires_grad)", "print(torch.is_grad_enabled())", "v.data.mul_(2)", "a += 1"),
    "view1": ("[0]", "[:2]", ".view(3)", "[...]", ".unsqueeze(0)", ".detach()", " * 1", ".unbind()[0]", ".expand(2, 3)", ".view(1, 3).t()"),
    "tf2": ("True", "False"),
}  # fmt: skip


def program(seed: int) -> str:
    """A program drawn from the grammar."""
    draw = random.Random(f"grammar {seed}")
    start = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
    return start + f"torch.manual_seed({seed % 7})\n" + _expanded("<program>", draw, 0) + "\n"


def _expanded(text: str, draw: random.Random, depth: int) -> str:
    """A text with all its symbols replaced."""
    lines = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()))
        filled = re.sub(r"<(\w+)>", lambda match: _one(match[1], draw, depth), line)
        lines += [part if not k else indent + part for k, part in enumerate(filled.split("\n"))]
    return "\n".join(line for line in lines if line.strip())


def _one(symbol: str, draw: random.Random, depth: int) -> str:
    """One of a symbol's alternatives; the first ones where expressions are deep."""
    alternatives = GRAMMAR[symbol]
    nested = symbol in "SVMK"
    if nested and draw.random() < (0.1, 0.5, 0.8, 1.0)[min(depth, 3)]:
        alternatives = alternatives[:2]
    text = _expanded(draw.choice(alternatives), draw, depth + nested)
    return f"({text})" if nested and re.search(r"^-| [-+*/@]+ |^\d", text) else text
