"""How long a path takes inside PyTorch: the overhead of a call, and a training loop beside the tuned listing.

    python python/benches/paths.py [--repeat 5] [--threads 2]

The listing is that of `benches/peers`. Medians in milliseconds; both draw their noise anew in every pass.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import torch

import stroock.torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benches" / "peers"))
from peers.path_tuned import ActionPath, TunedPath  # noqa: E402

N, SERIES, TERMS, INTERVAL = 16, 50, 6, (0.0, 2.0)
M = N * (N - 1) // 2


def median(run, repeat):
    run()
    seconds = []
    for _ in range(repeat):
        begun = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begun)
    return 1e3 * statistics.median(seconds)


def training(path, steps):
    """A function that makes one step of a training loop: path, gradients, Adam."""
    torch.manual_seed(1)
    times = torch.linspace(0, 1, steps + 1)
    start = torch.nn.functional.normalize(torch.randn(SERIES, N), dim=-1)
    drift = torch.nn.Parameter(0.1 * torch.randn(SERIES, M, TERMS))
    sigma = torch.nn.Parameter(torch.tensor([1 / N]))
    goal = torch.nn.functional.normalize(torch.randn(SERIES, steps + 1, N), dim=-1)
    adam = torch.optim.Adam([drift, sigma], lr=1e-3, fused=True)

    def run():
        adam.zero_grad(set_to_none=True)
        states, divergence = path(start, drift, sigma, times)
        ((states - goal).square().sum() + 1e-3 * divergence.sum()).backward()
        adam.step()

    return run


def overhead(repeat):
    """Milliseconds of a call that has next to nothing to compute: one series on the circle, one step."""
    start, drift = torch.tensor([[1.0, 0.0]]), torch.zeros(1, 1, 1)
    times = torch.tensor([0.0, 1.0])
    return median(lambda: stroock.torch.geometric_em(start, drift, 0.1, times, seed=1), repeat)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"overhead of a call: {1e3 * overhead(1000):.1f} microseconds")

    def ours(start, drift, sigma, times):
        return stroock.torch.geometric_em(start, drift, sigma, times, interval=INTERVAL)

    for steps in (16, 480):
        mine = median(training(ours, steps), 4 * arguments.repeat)
        print(f"training step, {steps} steps: stroock.torch {mine:.2f} ms", end="", flush=True)
        for name, module in (("tuned listing", TunedPath), ("tuned, without matrix exponentials", ActionPath)):
            other = median(training(module(N, TERMS, INTERVAL), steps), arguments.repeat)
            print(f", {name} {other:.1f} ms ({other / mine:.1f}x)", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
