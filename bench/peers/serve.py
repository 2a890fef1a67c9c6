"""The peers, in one process: reads what to measure from standard input, one JSON object a line, and answers with rates.

    {"work": "step", "net": "cnn", "batch": 256, "how": "opacus ghost", "seconds": 1}   ->   {"rate": 446.2}
    {"work": "round", "net": "cnn", "seconds": 1}                                       ->   {"rate": 0.6}

Rates are examples a second for steps, rounds a second for rounds. With one thread the clock is the processor's, so that other work
on the machine does not count; with more it is the wall's.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Callable

import functorch
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

warnings.filterwarnings("ignore")
sys.modules["torch.func"] = torch.func = functorch  # PyTorch 2's name for it, which Opacus imports

CLIP, NOISE, RATE = 1.0, 1.0, 1e-6  # steps so small that thousands of them go nowhere
SPELL = 0.02  # seconds
CLIENTS, RECORDS, LOCAL_BATCH = 50, 50, 10  # the cohort of pfl-research's CIFAR-10 benchmark: one local epoch in batches of 10


def make_net(name: str) -> tuple[nn.Module, tuple[int, ...]]:
    if name == "mlp":
        return nn.Sequential(nn.Linear(784, 80), nn.ReLU(), nn.Linear(80, 10)), (784,)
    if name == "cnn":
        return nn.Sequential(
            nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10)), (1, 28, 28)
    return nn.Sequential(
        nn.Conv2d(3, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 10)), (3, 32, 32)


def step(how: str, name: str, batch: int) -> Callable[[], None]:
    """One step of SGD on a batch that is there already."""
    torch.manual_seed(1)
    net, shape = make_net(name)
    x, y = torch.rand(batch, *shape), torch.randint(0, 10, (batch,))
    if how == "plain":
        optimizer = torch.optim.SGD(net.parameters(), lr=RATE)

        def plain() -> None:
            optimizer.zero_grad(set_to_none=True)
            F.cross_entropy(net(x), y).backward()
            optimizer.step()

        return plain
    if how == "vmap":
        return vmap_step(net, x, y)
    if how == "opacus hooks":
        from opacus.grad_sample import GradSampleModule
        from opacus.optimizers import DPOptimizer

        hooked = GradSampleModule(net)
        private = DPOptimizer(torch.optim.SGD(hooked.parameters(), lr=RATE), noise_multiplier=NOISE, max_grad_norm=CLIP, expected_batch_size=batch)

        def hooks() -> None:
            private.zero_grad(set_to_none=True)
            F.cross_entropy(hooked(x), y).backward()
            private.step()

        return hooks
    from opacus.grad_sample import GradSampleModuleFastGradientClipping
    from opacus.optimizers.optimizer_fast_gradient_clipping import DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import double_backward

    ghost = GradSampleModuleFastGradientClipping(net, max_grad_norm=CLIP, use_ghost_clipping=True)
    clipped = DPOptimizerFastGradientClipping(
        torch.optim.SGD(ghost.parameters(), lr=RATE), noise_multiplier=NOISE, max_grad_norm=CLIP, expected_batch_size=batch)

    def ghosts() -> None:
        clipped.zero_grad(set_to_none=True)
        double_backward(ghost, clipped, F.cross_entropy(ghost(x), y, reduction="none"))
        clipped.step()

    return ghosts


def vmap_step(net: nn.Module, x: torch.Tensor, y: torch.Tensor) -> Callable[[], None]:
    """Every example's gradient by functorch, clipped by hand."""
    call, params = functorch.make_functional(net)
    params = tuple(p.detach() for p in params)
    gradients = functorch.vmap(functorch.grad(lambda p, a, b: F.cross_entropy(call(p, a[None]), b[None])), in_dims=(None, 0, 0))

    def run() -> None:
        each = gradients(params, x, y)
        norms = torch.stack([g.flatten(1).norm(dim=1) for g in each]).norm(dim=0)
        factors = (CLIP / norms).clamp(max=1.0)
        for p, g in zip(params, each):
            total = torch.einsum("i,i...->...", factors, g)
            p.sub_(total + NOISE * CLIP * torch.randn_like(p), alpha=RATE / len(y))

    return run


def federated_round(name: str) -> Callable[[], None]:
    """One round of pfl-research's simulation: federated averaging, updates clipped, Gaussian noise on their sum."""
    from pfl.aggregate.simulate import SimulatedBackend
    from pfl.algorithm.base import NNAlgorithmParams
    from pfl.algorithm.federated_averaging import FederatedAveraging
    from pfl.data.dataset import Dataset
    from pfl.data.federated_dataset import FederatedDataset
    from pfl.data.sampling import get_user_sampler
    from pfl.hyperparam import NNTrainHyperParams
    from pfl.model.pytorch import PyTorchModel
    from pfl.privacy.gaussian_mechanism import GaussianMechanism
    from pfl.privacy.privacy_mechanism import CentrallyAppliedPrivacyMechanism

    torch.manual_seed(1)
    net, shape = make_net(name)
    net.loss = lambda x, y: F.cross_entropy(net(x), y)
    net.metrics = lambda x, y: {}
    data = {u: (torch.rand(RECORDS, *shape), torch.randint(0, 10, (RECORDS,))) for u in range(CLIENTS)}
    users = FederatedDataset(lambda u: Dataset(raw_data=list(data[u])), get_user_sampler("random", list(range(CLIENTS))))
    model = PyTorchModel(net, torch.optim.SGD, torch.optim.SGD(net.parameters(), lr=1e-6))
    noise = CentrallyAppliedPrivacyMechanism(GaussianMechanism(CLIP, NOISE))
    backend = SimulatedBackend(training_data=users, val_data=None, postprocessors=[noise])
    train = NNTrainHyperParams(local_num_epochs=1, local_learning_rate=RATE, local_batch_size=LOCAL_BATCH)

    def run() -> None:
        params = NNAlgorithmParams(central_num_iterations=1, evaluation_frequency=1 << 30, train_cohort_size=CLIENTS, val_cohort_size=0)
        FederatedAveraging().run(params, backend, model, train, model_eval_params=None, callbacks=[], send_metrics_to_platform=False)

    return run


def measure(run: Callable[[], None], seconds: float, clock: Callable[[], float]) -> float:
    """Runs a second, in the best of many short spells: a long one meets other work on the machine."""
    best, end = 0.0, clock() + seconds
    while best == 0 or clock() < end:
        calls, start = 0, clock()
        while calls == 0 or clock() - start < SPELL:
            run()
            calls += 1
        best = max(best, calls / (clock() - start))
    return best


def main() -> None:
    threads = int(sys.argv[1])
    torch.set_num_threads(threads)
    np.random.seed(1)
    clock = time.process_time if threads == 1 else time.perf_counter
    made: dict[str, Callable[[], None]] = {}
    for line in sys.stdin:
        ask = json.loads(line)
        key = json.dumps({k: v for k, v in ask.items() if k != "seconds"})
        if key not in made:
            made[key] = step(ask["how"], ask["net"], ask["batch"]) if ask["work"] == "step" else federated_round(ask["net"])
            made[key]()  # the first one allocates
        rate = measure(made[key], ask["seconds"], clock)
        print(json.dumps({"rate": rate * ask.get("batch", 1)}), flush=True)


if __name__ == "__main__":
    main()
