"""Modules of networks: built from descriptions, given first weights, or brought by the user."""

from collections.abc import Mapping
from copy import deepcopy
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from bottega.core.errors import InputError, ParameterError
from bottega.core.seeds import seeds_of
from bottega.neural._modules.initialization import initialize
from bottega.neural._modules.random_layers import give_generator, seed_dropout
from bottega.neural._network.work import NetworkWork, load_arrays
from bottega.neural._training.memory import memory_for

if TYPE_CHECKING:
    from bottega.neural._network.estimator import Network

__all__ = ["first_module", "rebuilt_module", "seed_of_start"]

_BUILDING = Lock()  # PyTorch's generator is one for all threads


def seed_of_start(seed: int, start: int) -> int:
    """Return the seed of one of several starts; the first has the model's own."""
    return seed if start == 0 else seeds_of(seed, start)[-1]


def _bare_module(model: "Network", description: Mapping[str, Any], seed: int) -> torch.nn.Module:
    """Return a module of the description, or the user's, without touching PyTorch's generator."""
    given = model._option("module")
    with _BUILDING, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if given is None:
            built: torch.nn.Module = model._build(description)
        else:
            built = deepcopy(given) if isinstance(given, torch.nn.Module) else given()
    if not isinstance(built, torch.nn.Module):
        raise ParameterError(
            f"{type(model).__name__}: module={given!r} gives no torch.nn.Module; give a module, or "
            "a function without arguments that returns one."
        )
    if given is not None:
        seed_dropout(built)
    return built


def _check_given(model: "Network", module: torch.nn.Module, work: NetworkWork, seed: int) -> None:
    """Refuse a module of the user's that does not take the columns, or gives other outputs."""
    owner, few = type(model).__name__, [each[:2] for each in work.resident.inputs]
    takes = " and ".join(f"(n, {each.shape[1]})" for each in few)
    try:
        with _BUILDING, torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(seed)
            found = tuple(module.eval()(*few).shape)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise ParameterError(
            f"{owner}: the module does not take tensors {takes}: {str(error).splitlines()[0]}"
        ) from error
    wanted = (len(few[0]), model._n_outputs(work))
    if found != wanted:
        raise ParameterError(
            f"{owner}: of {wanted[0]} rows the module gives outputs of shape {found}, and "
            f"{wanted} is needed: one column per response, one in all for two classes (unless "
            "out_activation='softmax'), one per class for more."
        )
    if not any(p.requires_grad for p in module.parameters()):
        raise ParameterError(f"{owner}: the module has no parameters to train.")


def first_module(
    model: "Network", work: NetworkWork, setting: Mapping[str, Any], start: int
) -> torch.nn.Module:
    """Return a module with its first weights, on the device and in the precision of the work."""
    seed = seed_of_start(work.seed, start)
    module = _bare_module(model, model._describe(work, setting), seed)
    init = model._option("init")
    if model._option("module") is None:
        generator = torch.Generator().manual_seed(seed)
        initialize(
            module,
            init if isinstance(init, str) else "auto",
            generator,
            scale=model._option("init_scale"),
            activation=model._option("activation"),
            flat_end=work.criterion.starts_flat,
        )
    module = module.to(work.device, work.dtype)
    if model._option("module") is not None:
        _check_given(model, module, work, seed)
    if not isinstance(init, str):
        _start_from(type(model).__name__, module, init)
    warm = getattr(model, "_earlier", None)
    if warm is not None:
        try:
            load_arrays(module, warm["arrays_"])
        except RuntimeError as error:
            raise ParameterError(
                f"{type(model).__name__}: warm_start=True goes on from weights of other layers; "
                "keep layers, columns and classes as they were, or use warm_start=False."
            ) from error
    give_generator(module, torch.Generator(device=work.device).manual_seed(seed))
    return module


@torch.no_grad()
def _start_from(owner: str, module: torch.nn.Module, init: Any) -> None:
    """Set the weights to given ones: (coefs, intercepts) as scikit-learn's, or a fitted network."""
    if hasattr(init, "arrays_"):
        load_arrays(module, init.arrays_)
        return
    found = list(module.parameters())
    try:
        coefs, intercepts = init
        flat = [p for pair in zip(coefs, intercepts, strict=True) for p in pair]
        arrays = [np.asarray(each, dtype=np.float64).T for each in flat]
        if [each.shape for each in arrays] != [tuple(p.shape) for p in found]:
            raise ValueError("shapes")
    except (TypeError, ValueError) as error:
        shapes = ", ".join(str(tuple(p.shape[::-1])) for p in found)
        raise ParameterError(
            f"{owner}: init is neither a word, nor a fitted network, nor a pair (coefs, "
            f"intercepts) of lists of arrays whose shapes are, layer by layer, {shapes}."
        ) from error
    for p, array in zip(found, arrays, strict=True):
        p.copy_(torch.as_tensor(array))


def rebuilt_module(model: "Network", device: torch.device, dtype: torch.dtype) -> torch.nn.Module:
    """Return the trained module of a model that has its arrays."""
    if model.description_.get("kind") == "module" and model._option("module") is None:
        raise InputError(
            f"This model was trained on a module of your own, {model.description_['name']}, and "
            "its file holds arrays, no code: give it the module again, "
            "model.set_params(module=...)."
        )
    try:
        with memory_for("the weights of this network", "a file of a smaller one"):
            module = _bare_module(model, model.description_, 0).to(device, dtype)
        load_arrays(module, model.arrays_)
    except (RuntimeError, KeyError, TypeError) as error:
        why = str(error).splitlines()[-1].strip()
        raise InputError(
            f"The arrays of this model do not fit its module ({why}); give it the module that it "
            "was trained on."
        ) from error
    module.eval()
    return module
