"""Which methods take part in a comparison, and why others sit out."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from bottega.core.baseline import BaselineRegressor
from bottega.core.cards import Card
from bottega.core.errors import InputError, did_you_mean
from bottega.core.losses import Loss
from bottega.data import Table
from bottega.registry import methods as methods_for
from bottega.workbench._outside.boosters import LIBRARIES, installed
from bottega.workbench.inputs import n_encoded

__all__ = ["choose_methods", "unfitted"]

Classes = dict[str, Any]  # of estimators, by the name of their method

LAST = "stacking"  # the method that combines the leaders, after all others
_OTHER = {"regression": "classification", "classification": "regression"}


def choose_methods(
    task: str,
    wanted: Sequence[str] | None,
    train: Table,
    loss: Loss,
    select: str,
    *,
    exclude: Sequence[str] = (),
    added: Sequence[str] = (),
) -> tuple[Classes, dict[str, str]]:
    """Return the classes to compare, the baseline first, and why others are skipped.

    Parameters
    ----------
    task : {"regression", "classification"}
        What is predicted.
    wanted : sequence of str or None
        Methods to compare; None for all that suit the table.
    train : Table
        The rows.
    loss : Loss
        What rows are judged by.
    select : str
        Rule that picks from each path.
    exclude, added : sequence of str
        Methods to leave out of all, and to take in although they would sit out.
    """
    asked = {*(wanted or ()), *added}
    theirs = {name: each for name, each in installed(task).items() if name in asked}
    known: Classes = {**methods_for(task), **theirs}
    for name in (*(wanted or ()), *exclude, *added):
        if name in LIBRARIES and name not in known:
            raise InputError(
                f"{LIBRARIES[name]} is not installed; install it (pip install {name}), or leave it "
                "out."
            )
        if name not in known and name in methods_for(_OTHER[task]):
            raise InputError(_of_the_other_task(name, task, str(train.target)))
        if name not in known:
            raise InputError(
                f"There is no method {name!r} for {task}; there are {', '.join(known)}."
                + did_you_mean(name, known)
            )
    if "baseline" in exclude:
        raise InputError(
            "The baseline cannot be excluded: it costs nothing, and the errors are relative to it."
        )
    chosen: Classes = {}
    skipped = {}
    for name, each in known.items():
        if wanted is not None and name not in asked and name != "baseline":
            continue
        if name in exclude:
            skipped[name] = "skipped: excluded on request"
            continue
        reason = _reason_to_skip(each.card, train, loss, by_name=name in asked)
        rules = each.params.get("select")
        if not reason and rules is not None and not rules.accepts(select):
            reason = f"its path has no criterion {select!r}"
        if reason:
            skipped[name] = f"skipped: {reason}"
        else:
            chosen[name] = each
    return chosen, skipped


def _of_the_other_task(name: str, task: str, target: str) -> str:
    """Return what to do about a method that predicts the other kind of target."""
    taken, wanted = "a number", "labels of classes"
    if task == "classification":
        taken, wanted = wanted, "numbers to predict"
    return (
        f"The method {name!r} is for {_OTHER[task]}, and the target {target!r} is taken as {taken} "
        f"({task}); give task={_OTHER[task]!r} if its values are {wanted}."
    )


def unfitted(estimator_class: Any, select: str, loss: Loss) -> Any:
    """Return an unfitted estimator that tunes its own knob by the rule `select`."""
    if estimator_class is BaselineRegressor:
        return BaselineRegressor(loss=loss)  # what is to be beaten is the best constant
    model = estimator_class(**getattr(estimator_class, "walks", {}))
    if "select" in model.get_params(deep=False):
        model.set_params(select=select)
    return model


def _reason_to_skip(card: Card, train: Table, loss: Loss, *, by_name: bool) -> str:
    """Return why a method cannot take part, or should not unless it is asked for by name."""
    if "number" not in card.takes:
        return f"takes {', '.join(sorted(card.takes))}, not the columns of a table"
    if loss.method == "predict_proba" and not card.probabilities:
        return f"gives no class probabilities, which {loss.title} needs"
    if card.needs is not None and find_spec(card.needs[0]) is None:
        library, extra = card.needs
        return f"needs {library}, which is not installed: run  pip install 'bottega[{extra}]'"
    if by_name:
        return ""
    if card.method == LAST:
        return "combines the leaders once they are known"
    if card.twin_of is not None:
        near = f"close to {card.twin_of.replace('_', ' ')}"
        if card.stream:
            near = f"learns row by row what {card.twin_of.replace('_', ' ')} learns at once"
        return f"{near}; name it to include it"
    if card.most_rows is not None and train.n_rows > card.most_rows:
        return f"slow on more than {card.most_rows:,} rows; name it to include it"
    if card.n_inputs is not None and n_encoded(card, train) > card.n_inputs:
        return f"takes at most {card.n_inputs} input{'' if card.n_inputs == 1 else 's'}"
    return ""
