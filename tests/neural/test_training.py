"""The parts of the loop: optimisers, schedules, patience, batches, penalties, random layers."""

import numpy as np
import pytest
import torch

from bottega.core import progress
from bottega.neural import NetworkRegressor
from bottega.neural._modules.dense import dense_layers
from bottega.neural._modules.random_layers import AddedNoise, DroppedUnits
from bottega.neural._training.batches import ResidentRows
from bottega.neural._training.loop import TrainingDiverged
from bottega.neural._training.optimizers import make_optimizer
from bottega.neural._training.schedules import Schedule


def vector(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_adagrad_divides_by_the_root_of_the_sum_of_squares():
    w = vector(1.0, 1.0)
    optimizer = make_optimizer("adagrad", w, epsilon=1e-12)
    optimizer.step(w, vector(3.0, -4.0), 0.1)
    assert w.tolist() == pytest.approx([0.9, 1.1])
    optimizer.step(w, vector(4.0, 3.0), 0.1)  # sums of squares are 25 in both
    assert w.tolist() == pytest.approx([0.9 - 0.4 / 5, 1.1 - 0.3 / 5])


def test_adam_first_step_is_the_rate_whatever_the_gradient():
    for size in (1.0, -1.0, 1e3):
        w = vector(0.0)
        make_optimizer("adam", w).step(w, vector(size), 0.01)
        # Off by epsilon over the root of 1 - beta_2, 3e-7, relative to the gradient.
        assert w.item() == pytest.approx(-0.01 * np.sign(size), rel=1e-6)


@pytest.mark.parametrize(
    ("how", "rates"),
    [
        ("constant", [1, 1, 1, 1]),
        ("inverse", [1, 1 / 2, 1 / 3, 1 / 4]),
        ("invscaling", [1, 101**-0.5, 201**-0.5, 301**-0.5]),
        ("step", [1, 0.5**2, 0.5**5, 0.5**7]),
        ("cosine", [1, (1 + np.cos(np.pi / 4)) / 2, 0.5, (1 - np.cos(np.pi / 4)) / 2]),
    ],
)
def test_schedules(how, rates):
    schedule = Schedule(how, 1.0, horizon=4)
    assert [schedule.rate(e, 100 * e, 300 * e) for e in range(4)] == pytest.approx(rates)


def test_an_adaptive_rate_falls_until_it_is_tiny():
    schedule = Schedule("adaptive", 1e-3)
    assert schedule.goes_on()
    assert schedule.rate(3, 0, 0) == pytest.approx(2e-4)
    while schedule.goes_on():
        pass
    assert schedule.rate(9, 0, 0) <= 1e-6


def test_an_epoch_shows_every_row_once():
    rows = ResidentRows((torch.arange(10.0)[:, None],), torch.arange(10))
    for generator in (None, torch.Generator().manual_seed(0)):
        seen = [batch.targets for batch in rows.epoch(4, generator)]
        assert [len(each) for each in seen] == [4, 4, 2]
        assert sorted(torch.cat(seen).tolist()) == list(range(10))
    assert torch.cat([b.targets for b in rows.epoch(4, None)]).tolist() == list(range(10))


def test_dropout_keeps_the_mean_and_is_off_in_prediction():
    layer = DroppedUnits(0.8)
    layer.generator = torch.Generator().manual_seed(0)
    x = torch.ones(100, 1000)
    dropped = layer(x)
    assert set(dropped.unique().tolist()) == {0.0, 1.25}
    # 100,000 draws of sd 0.5: the mean has standard error 0.0016; five of them.
    assert float(dropped.mean()) == pytest.approx(1, abs=0.008)
    layer.eval()
    assert layer(x) is x


def test_noise_is_added_in_training_alone():
    layer = AddedNoise(0.5)
    layer.generator = torch.Generator().manual_seed(0)
    x = torch.zeros(200, 500)
    # 100,000 draws: the standard deviation has a relative standard error of 0.0022.
    assert float(layer(x).std()) == pytest.approx(0.5, rel=0.011)
    assert layer.eval()(x) is x


def test_batch_norm_can_be_undone():
    """With gamma = sqrt(var + eps) and beta = mean it returns what it was given (N102)."""
    norm = torch.nn.BatchNorm1d(3).double()
    z = torch.randn(50, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 4 + 2
    variance, mean = torch.var_mean(z, 0, correction=0)
    with torch.no_grad():
        norm.weight.copy_(torch.sqrt(variance + norm.eps))
        norm.bias.copy_(mean)
    assert norm(z).detach().numpy() == pytest.approx(z.numpy(), abs=1e-12)
    layers = [type(each).__name__ for each in dense_layers(2, [3], 1, batch_norm=True)]
    assert layers == ["Linear", "BatchNorm1d", "ReLU", "Linear"]  # of the sums, as in the notes


def rows_of(n=40):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return X, X[:, 0] - X[:, 1]


def test_clipping_bounds_every_step():
    X, y = rows_of()
    still = {"init": "near_zero", "solver": "sgd", "momentum": 0.0, "max_iter": 1, "alpha": 0.0}
    before = NetworkRegressor((3,), learning_rate_init=1e-30, **still).fit(X, y)
    after = NetworkRegressor((3,), learning_rate_init=1.0, clip=1e-3, **still).fit(X, y)
    moved = np.abs(after.coefs_[1] - before.coefs_[1])
    assert moved.max() <= 1e-3 * (1 + 1e-9)
    assert moved.max() > 0


def test_an_exploding_loss_is_stopped_and_the_step_is_named():
    X, y = rows_of()
    model = NetworkRegressor(
        (8,), solver="sgd", learning_rate_init=1e6, max_iter=50, batch_size=10, random_state=0
    )
    with pytest.raises(TrainingDiverged, match=r"step \d+ \(epoch \d+.*Lower learning_rate_init"):
        model.fit(X, y)
    assert not hasattr(model, "arrays_")
    model.set_params(learning_rate_init=1e305, max_iter=1, batch_size=len(X), standardize=False)
    with pytest.raises(TrainingDiverged, match=r"at step 1 \(epoch 1, batch 1\)"):  # its weights
        model.fit(X, 1e10 * y)


def test_progress_is_reported_epoch_by_epoch():
    X, y = rows_of()
    seen = []
    with progress.listen(seen.append):
        NetworkRegressor((3,), max_iter=4).fit(X, y)
    assert [(event.done, event.total) for event in seen] == [(k, 4) for k in range(1, 5)]
    assert seen[-1].message.startswith("loss ")


def test_too_little_memory_proposes_a_smaller_batch(monkeypatch):
    from bottega.neural._training.loop import NetworkTraining

    def no_memory(self):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB")

    monkeypatch.setattr(NetworkTraining, "run_epoch", no_memory)
    with pytest.raises(ValueError, match=r"too little memory for batches of 40 rows .* such as 10"):
        NetworkRegressor((3,), max_iter=4).fit(*rows_of())
