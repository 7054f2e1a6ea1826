"""A large network on an NVIDIA card: throughput against a DataLoader loop and skorch.

``python -m benchmarks.gpu.neural`` trains 4 hidden layers of 1,024 units on 2,000,000 x 128 rows
that lie on the card, in bfloat16, and prints the rows for RESULTS.md: rows per second, and the
share of the rate at which the card multiplies matrices of the same shapes. ``--rows 4000 --units 64
--device cpu --epochs 1`` tries it anywhere.
"""

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np

from benchmarks.measure import Result
from bottega.neural import NetworkClassifier

COLUMNS, LAYERS, BATCH = 128, 4, 16_384


def run(rows: int, units: int, device: str, epochs: int) -> Iterator[Result]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, COLUMNS), dtype=np.float32)
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(np.int64)
    batch = min(BATCH, rows)
    sizes = [COLUMNS, *[units] * LAYERS, 1]
    weights = sum(a * b for a, b in itertools.pairwise(sizes))
    # Forward, and backward by weights and by inputs; nothing goes back to the columns themselves.
    per_row = 2 * (3 * weights - sizes[0] * sizes[1])

    ours = {}
    for compiled in (False, True) if device.startswith("cuda") else (False,):
        seconds = epoch_seconds(X, y, units, device, batch, epochs, compiled)
        ours["compiled" if compiled else "plain"] = seconds
    how = min(ours, key=ours.__getitem__)
    seconds = ours[how]
    rate, peak = rows * per_row / seconds, matrix_rate(sizes, batch, device)
    title = f"network {LAYERS} x {units:,}, {rows:,} x {COLUMNS}, bf16, on {device} ({how})"
    yield Result(
        title,
        "the card's rate on matrices of the same shapes",
        seconds,
        rows * per_row / peak,
        bar=0.5,
        accuracy=f"{rate / 1e12:.1f} of {peak / 1e12:.1f} TFLOP/s an epoch; {ours}",
    )
    for name, bar, timed in (
        ("a DataLoader loop", 10, lambda: loader_seconds(X, y, units, device, batch)),
        ("skorch, the same module", 1, lambda: skorch_seconds(X, y, units, device, batch)),
    ):
        theirs = timed()
        if theirs is not None:
            yield Result(title, name, seconds, theirs, bar=bar, accuracy="seconds an epoch")


def epoch_seconds(X, y, units, device, batch, epochs, compiled) -> float:
    """Return the seconds of an epoch: of long fits less short ones, over the epochs between."""

    def fit(count):
        start = time.perf_counter()
        NetworkClassifier(
            (units,) * LAYERS,
            batch_size=batch,
            max_iter=count,
            tol=0.0,
            n_iter_no_change=10**6,
            standardize=False,
            device=device,
            dtype="float32",
            autocast=True,
            compile=compiled,
        ).fit(X, y)
        return time.perf_counter() - start

    fit(1)
    short, long = (median(fit(count) for _ in range(3)) for count in (1, 1 + epochs))
    return (long - short) / epochs


def synchronized(call: Callable[[], object], device: str, repeats: int) -> float:
    import torch

    def wait():
        if device.startswith("cuda"):
            torch.cuda.synchronize()

    call()
    wait()
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    wait()
    return (time.perf_counter() - start) / repeats


def matrix_rate(sizes, batch, device) -> float:
    """Return the operations per second of bf16 products of the shapes of a step."""
    import torch

    total = seconds = 0.0
    for n_in, n_out in itertools.pairwise(sizes):
        A = torch.randn(batch, n_in, device=device, dtype=torch.bfloat16)
        B = torch.randn(n_in, n_out, device=device, dtype=torch.bfloat16)
        G = torch.randn(batch, n_out, device=device, dtype=torch.bfloat16)
        for call in (lambda A=A, B=B: A @ B, lambda A=A, G=G: A.T @ G, lambda G=G, B=B: G @ B.T):
            seconds += synchronized(call, device, 20)
            total += 2 * batch * n_in * n_out
    return total / seconds


def module_of(units):
    from torch import nn

    widths = [COLUMNS, *[units] * LAYERS]
    hidden = [
        layer for a, b in itertools.pairwise(widths) for layer in (nn.Linear(a, b), nn.ReLU())
    ]
    return nn.Sequential(*hidden, nn.Linear(units, 1))


def loader_seconds(X, y, units, device, batch) -> float:
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    module = module_of(units).to(device)
    optimizer = torch.optim.Adam(module.parameters())
    rows = TensorDataset(torch.as_tensor(X), torch.as_tensor(y, dtype=torch.float32)[:, None])
    loader = DataLoader(rows, batch_size=batch, shuffle=True, pin_memory=device != "cpu")

    def epoch():
        for inputs, targets in loader:
            optimizer.zero_grad()
            with torch.autocast(torch.device(device).type, torch.bfloat16):
                outputs = module(inputs.to(device, non_blocking=True))
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                outputs.float(), targets.to(device, non_blocking=True)
            )
            loss.backward()
            optimizer.step()

    return synchronized(epoch, device, 1)


def skorch_seconds(X, y, units, device, batch) -> float | None:
    try:
        from skorch import NeuralNetBinaryClassifier
    except ImportError:
        print("skorch is not installed: its row is missing")
        return None
    import torch

    net = NeuralNetBinaryClassifier(
        module_of(units),
        max_epochs=1,
        batch_size=batch,
        optimizer=torch.optim.Adam,
        train_split=None,
        device=device,
        verbose=0,
    )
    return synchronized(lambda: net.fit(X, y.astype(np.float32)), device, 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--units", type=int, default=1_024)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--epochs", type=int, default=40)
    given = parser.parse_args()
    for result in run(given.rows, given.units, given.device, given.epochs):
        print(result.row())
