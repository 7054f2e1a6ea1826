"""The regret of a learner as a chart and as a table."""

from typing import Any

import numpy as np

from bottega.core.tables import Section, Summary
from bottega.plot.online import mistakes_chart, regret_chart


def draw(tracker: Any) -> Any:
    """Draw regret (or mistakes) and bound of a tracker against the number of rows."""
    records, kind = tracker._curve(), tracker._setting.kind
    column = {name: np.array([record[name] for record in records]) for name in records[0]}
    who = type(tracker.learner).__name__
    estimated = tracker._hindsight.estimated
    if kind == "perceptron":
        origin = "The dashed line is computed from the rows, and holds on every stream."
        if estimated:
            origin = f"The dashed line is estimated from {tracker.max_rows:,} of the rows."
        return mistakes_chart(
            column["rows"],
            column["mistakes"],
            column["mistake_bound"],
            title=f"Mistakes of {who}",
            subtitle=origin,
        )
    against = tracker.comparator().region if kind != "alone" else "nobody"
    lines = [f"Against the best of {against}; bound: {tracker._bound().words}."]
    if estimated:
        lines.append(f"The comparator is estimated from {tracker.max_rows:,} of the rows.")
    return regret_chart(
        column["rows"],
        column["average_regret"],
        {"bound": column["bound"], "bound of the steps taken": column["bound_of_steps"]},
        title=f"Average regret of {who}",
        subtitle=lines,
    )


def summarize(tracker: Any) -> Summary:
    """Return the present state of a tracker as a table."""
    now, setting = tracker._now(), tracker._setting
    named: dict[str, Any] = {"rows": tracker.rows, "sequential risk": now["risk"]}
    notes = []
    if setting.kind == "perceptron":
        named["mistakes"] = tracker.mistakes
        if len(tracker.learner.classes_) == 2:
            found = tracker.mistake_bound()
            named["mistake bound, best u"] = found.value
            named["its hinge loss"], named["its norm"] = found.hinge, found.norm
            if found.se:
                notes.append(
                    f"The hinge loss is estimated from {tracker.max_rows:,} rows, standard error "
                    f"{found.se:.3g}."
                )
        else:
            notes.append("The mistake bound is for two classes.")
    elif setting.kind != "alone":
        best = tracker.comparator()
        named["best comparator's loss"] = best.average
        named["average regret"], named["summed regret"] = now["average_regret"], now["regret"]
        named["bound on the average"] = now["bound"]
        notes += [f"{best}.", f"Bound: {tracker._bound().words}."]
    loss = f", {setting.loss.title}" if setting.loss else ""
    return Summary(
        f"Regret of {type(tracker.learner).__name__}{loss}",
        (Section("", {"quantity": list(named), "value": list(named.values())}),),
        tuple(notes),
    )
