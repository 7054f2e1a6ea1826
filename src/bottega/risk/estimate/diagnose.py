"""Why a test error is bad: what training, validation and test errors say together."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.certificate import Certificate
from bottega.core.params import Integer, Real
from bottega.risk.certify import certify_losses
from bottega.risk.estimate.judged_rows import finite_losses

__all__ = ["Diagnosis", "diagnose"]


@dataclass(frozen=True)
class Diagnosis:
    """What three errors say together; made by `diagnose`.

    Attributes
    ----------
    verdict : str
        ``"good"``, ``"undecided"``, ``"expected"``, ``"shift"`` or ``"validation overfitted"``.
    reason : str
        What the verdict rests on, in one sentence with its numbers.
    advice : str
        What to do.
    train_error : float
        Mean loss on the training rows.
    validation, test : Certificate
        Errors with their intervals; that of the validation part allows for the candidates.
    """

    verdict: str
    reason: str
    advice: str
    train_error: float
    validation: Certificate
    test: Certificate

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason} {self.advice}"


def diagnose(
    train: Any,
    validation: Any,
    test: Any,
    *,
    acceptable: float,
    candidates: int = 1,
    delta: float = 0.05,
) -> Diagnosis:
    """Say why a test error is bad, from the losses on the three parts.

    Parameters
    ----------
    train, validation, test : array-like
        Loss of each row of the part, of one and the same model. Losses of only 0 and 1 are taken
        as errors that are counted.
    acceptable : float
        The largest risk that would do: that of the baseline, or what the purpose allows.
    candidates : int
        Number of models that were compared on the validation part.
    delta : float
        Probability with which one of the two intervals may miss.

    Returns
    -------
    Diagnosis
        Its verdict is one of

        - ``"good"``: the whole interval of the test error is acceptable;
        - ``"undecided"``: part of it is, or the parts are too small to tell;
        - ``"shift"``: the test error lies above the validation error by more than chance and
          the choice among the candidates explain: the parts come from different sources;
        - ``"validation overfitted"``: it lies above by more than chance alone explains, and the
          choice among the candidates may be the reason;
        - ``"expected"``: the validation error was bad already; the training error says whether
          the model is too simple or too complex.

    Notes
    -----
    The intervals are those of `certify_losses` at delta/2 each, so that both hold together. There
    are no thresholds besides `acceptable`: "bad" means that the interval lies above it, "above"
    that two intervals do not meet. The training error has no interval: the model has seen its
    rows.

    Examples
    --------
    >>> found = diagnose([0] * 99 + [1], [0] * 95 + [1] * 5, [0] * 60 + [1] * 40, acceptable=0.1)
    >>> found.verdict
    'shift'
    """
    Real(0, 1, open_low=True, open_high=True).check("diagnose", "delta", delta)
    Integer(1).check("diagnose", "candidates", candidates)
    Real(None, None).check("diagnose", "acceptable", acceptable)
    parts = [finite_losses(part) for part in (train, validation, test)]
    counted = all(np.all((each == 0) | (each == 1)) for each in parts)
    settings: dict[str, Any] = {"delta": delta / 2, "zero_one": counted}
    settings["quantity"] = "misclassification" if counted else "loss"
    alone = certify_losses(parts[1], **settings)
    chosen = certify_losses(parts[1], candidates=candidates, **settings)
    tested = certify_losses(parts[2], **settings)
    train_error = float(parts[0].mean())
    shown = f"[{tested.lower:.4g}, {tested.upper:.4g}]"
    if tested.upper <= acceptable:
        verdict = "good"
        reason = f"the test error lies in {shown}, within the acceptable {acceptable:.4g}."
        advice = "Nothing needs to be done."
    elif tested.lower > chosen.upper:
        verdict = "shift"
        reason = (
            f"the test error lies in {shown}, above all that the validation part allows, "
            f"{chosen.upper:.4g}, the choice among {candidates} candidates included."
        )
        advice = "The two parts differ: find out how the test rows were collected."
    elif tested.lower > alone.upper:
        verdict = "validation overfitted"
        reason = (
            f"the test error lies in {shown}, above the validation error's {alone.upper:.4g}, but "
            f"not above {chosen.upper:.4g}, which allows for {candidates} candidates."
        )
        advice = "Compare fewer candidates, or on a larger validation part; test on new rows."
    elif tested.lower <= acceptable:
        verdict = "undecided"
        reason = f"the test error lies in {shown}, on both sides of {acceptable:.4g}."
        advice = "Collect more test rows."
    elif alone.lower > acceptable:
        verdict = "expected"
        reason = (
            f"the validation error, above {alone.lower:.4g}, was not acceptable either; the "
            f"training error is {train_error:.4g}."
        )
        advice = (
            "The model is too simple, or the inputs say too little: even its own rows are bad."
            if train_error > acceptable
            else "The model follows its training rows too closely: make it simpler, or add rows."
        )
    else:
        verdict = "undecided"
        reason = (
            f"the test error lies in {shown} and is bad, but the validation error, in "
            f"[{alone.lower:.4g}, {alone.upper:.4g}], may be just as bad."
        )
        advice = "Collect more validation rows."
    return Diagnosis(verdict, reason, advice, train_error, chosen, tested)
