"""What a fitted model of adaptive splines tells: terms, knots, importance, effects, a formula."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.additive._adaptive.basis import HINGE, Basis
from bottega.additive._adaptive_model.anatomy import Anatomy
from bottega.additive._adaptive_model.effects import HingeEffects
from bottega.additive._adaptive_model.wording import TermWords, formula
from bottega.additive.effects import AdditiveEffects
from bottega.core.errors import InputError
from bottega.core.path import ESTIMATES
from bottega.core.results import CoefficientResults, glance_row, tidy_columns
from bottega.core.typing import FloatArray
from bottega.data.mixed_inputs import MixedInputs
from bottega.plot import importance_chart

KINDS = ("gcv", "rss", "nsubsets")


class AdaptiveResults(CoefficientResults):
    """Results of an estimator that sets `basis_`, `_coef`, `_anatomy` and `columns_in_`.

    It gives `_outputs` (names of the columns of `_coef`), `_link_name`, and `_fit_numbers`.
    """

    basis_: Basis
    n_terms_: int
    gcv_: float
    df_: float
    columns_in_: MixedInputs
    _coef: FloatArray
    _anatomy: Anatomy
    _fit_numbers: dict[str, Any]
    _link_name: str = "identity"
    _frame: Any

    def _outputs(self) -> list[str]:
        """Return the name of each column of coefficients."""
        return ["y"]

    @property
    def _shown_coef(self) -> FloatArray:
        """Coefficients of what is shown, one column for each of `_outputs`."""
        return self._coef

    def _words(self, digits: int | None = 6) -> TermWords:
        columns = self.columns_in_
        return TermWords(columns.names, columns.levels, columns.kinds, digits)

    @property
    def terms_(self) -> list[str]:
        """The terms in words, the intercept first; h(z) is the positive part of z."""
        check_is_fitted(self)
        words = self._words()
        return [words.term(term) for term in self.basis_]

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the terms in the units of the inputs, the intercept first.

        Of shape (terms,), or (responses, terms) where there are several.
        """
        check_is_fitted(self)
        coef = (self._shown_coef / self.basis_.units[:, None]).T
        return coef[0] if len(coef) == 1 else coef

    @property
    def knots_(self) -> dict[str, FloatArray]:
        """The knots of each input that has some, rising."""
        check_is_fitted(self)
        found: dict[str, set[float]] = {}
        for term in self.basis_:
            for factor in term.factors:
                if factor.kind == HINGE:
                    name = self.columns_in_.names[factor.variable]
                    found.setdefault(name, set()).add(factor.knot)
        names = [name for name in self.columns_in_.names if name in found]
        return {name: np.array(sorted(found[name])) for name in names}

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each input in the falls of GCV along the subsets; see `importance`."""
        check_is_fitted(self)
        falls = np.maximum(self._anatomy.importance[:, 1], 0.0)
        return np.asarray(falls / falls.sum() if falls.sum() > 0 else falls)

    # ---- tables ----------------------------------------------------------------------------------

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        estimate = np.atleast_2d(self.coef_).T
        several = estimate.shape[1] > 1
        columns = tidy_columns(
            self.terms_,
            estimate if several else estimate[:, 0],
            level=level,
            response=self._outputs() if several else None,
        )
        times = estimate.shape[1]
        names = self.columns_in_.names
        inputs = [":".join(names[j] for j in term.variables) for term in self.basis_]
        spread = [self._anatomy.spread([k], self._shown_coef) for k in range(len(self.basis_))]
        return columns | {
            "inputs": inputs * times,
            "degree": [term.degree for term in self.basis_] * times,
            "std_dev": spread * times,
        }

    def _glance_row(self) -> dict[str, Any]:
        numbers = self._fit_numbers
        more: dict[str, Any] = {"n_terms": self.n_terms_, "train_error": numbers["train_error"]}
        more |= {"error": np.nan, "error_se": np.nan}
        path = getattr(self, "path_", None)
        if path is not None:
            at = [setting["n_terms"] for setting in path.settings].index(self.n_terms_)
            more |= {"error": float(path.error[at]), "error_se": float(path.error_se[at])}
        return glance_row(numbers, **more)

    def _notes(self) -> tuple[str, ...]:
        used = len({j for term in self.basis_ for j in term.variables})
        notes = [
            f"{used} of {len(self.columns_in_.names)} inputs are in the model. Terms and knots "
            "were chosen by looking at the response: standard errors and tests of a model given "
            "beforehand do not hold, so none are shown. h(z) is the positive part of z.",
            "df counts the terms, and the search for each knot.",
        ]
        path = getattr(self, "path_", None)
        if path is not None and path.estimate is not None:
            how = ESTIMATES.get(str(path.estimate), path.estimate)
            notes.append(f"error is the mean {path.loss} on new rows, estimated by {how}.")
        return tuple(notes)

    def importance(self) -> Any:
        """Return how important each input is, by three measures.

        Looked at are the best subsets of 2, 3, ... terms up to the model. What one of them improves
        on the one before is credited to all inputs that it uses.

        Returns
        -------
        data frame
            Columns input, nsubsets (the subsets that use it), gcv and rss (what GCV and the
            residual sum of squares fall by in them, the largest 100); the most important first. A
            measure of the model, not of the world: of correlated inputs one may get all.
        """
        check_is_fitted(self)
        found = self._anatomy.importance
        top = np.maximum(np.max(found[:, 1:], axis=0, initial=0.0), np.finfo(np.float64).tiny)
        shares = 100 * found[:, 1:] / top
        order = np.lexsort((-shares[:, 1], -shares[:, 0], -found[:, 0]))
        return self._make_frame(  # type: ignore[attr-defined]
            {
                "input": [self.columns_in_.names[j] for j in order],
                "nsubsets": found[order, 0].astype(np.int64),
                "gcv": shares[order, 0],
                "rss": shares[order, 1],
            }
        )

    def plot_importance(self, kind: str = "gcv") -> Any:
        """Draw the importance of the inputs.

        Parameters
        ----------
        kind : {"gcv", "rss", "nsubsets"}
            Measure, as in `importance`.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        if kind not in KINDS:
            raise InputError(f"kind={kind!r} is not known; use one of {', '.join(KINDS)}.")
        check_is_fitted(self)
        column = {"nsubsets": 0, "gcv": 1, "rss": 2}[kind]
        worth = self._anatomy.importance[:, column]
        if column:
            worth = 100 * worth / max(float(worth.max(initial=0.0)), np.finfo(np.float64).tiny)
        used = np.flatnonzero(self._anatomy.importance[:, 0])
        if not len(used):
            raise InputError("The model uses no input: there is nothing to draw.")
        what = {"nsubsets": "subsets", "gcv": "fall of GCV", "rss": "fall of RSS"}[kind]
        return importance_chart([self.columns_in_.names[j] for j in used], worth[used], what=what)

    def anova(self) -> Any:
        """Return the model as a sum of functions of different inputs.

        Terms with the same inputs are one function: of one input, of two, and so on.

        Returns
        -------
        data frame
            Columns inputs, n_terms, df (what the terms count in GCV), std_dev (of the function over
            the rows of the fit, on the scale of the sum of the terms), gcv_without (GCV of least
            squares without these terms). The model's own GCV is `gcv_`.
        """
        check_is_fitted(self)
        names, rows = self.columns_in_.names, []
        per_term = self._df_per_term()
        for group, without in zip(self._anatomy.groups, self._anatomy.without, strict=True):
            members = self._members(group)
            spread = self._anatomy.spread(members, self._shown_coef)
            label = ":".join(names[j] for j in group)
            rows.append((label, len(members), per_term * len(members), spread, float(without)))
        head = ("inputs", "n_terms", "df", "std_dev", "gcv_without")
        columns = {name: [row[k] for row in rows] for k, name in enumerate(head)}
        return self._make_frame(columns)  # type: ignore[attr-defined]

    def _members(self, group: list[int]) -> list[int]:
        """Return the terms that have exactly these inputs."""
        return [k for k, term in enumerate(self.basis_) if sorted(term.variables) == group]

    # ---- effects and formulas --------------------------------------------------------------------

    def effects(self, output: Any = None) -> AdditiveEffects:
        """Return the effects of single inputs and of pairs, with their pictures.

        Parameters
        ----------
        output : str or label, optional
            The response or the class, where there are several; all of them by default.

        Returns
        -------
        AdditiveEffects
            ``tidy()`` gives the values, ``plot()`` draws them. Effects are those of the sum of the
            terms (log odds, for two classes by likelihood), centred at zero over the rows. That of
            a pair adds both inputs and their products, and is shown inside the hull of the data
            only; of a category and a number there is a curve per level. The own curve of an input
            that is in products too is shown between its quantiles 0.025 and 0.975: beyond, what the
            products take back would be missing. There are no bands: the terms were chosen by
            looking at the response.
        """
        check_is_fitted(self)
        names, found = self._outputs(), []
        columns, per_term = self.columns_in_, self._df_per_term()
        for place in range(len(names)) if output is None else [self._place(output)]:
            coef, several = self._shown_coef[:, place], len(names) > 1
            facts = (self._anatomy, columns.names, columns.levels, per_term)
            found += HingeEffects(self.basis_, coef, *facts, names[place] if several else "").all()
        if not found:
            raise InputError("The model is a constant: it has no effects.")
        return AdditiveEffects(tuple(found), 0.95, "pointwise", self._frame)

    def _place(self, output: Any) -> int:
        names = self._outputs()
        if str(output) not in names:
            raise InputError(f"output={output!r} is not there; use one of {', '.join(names)}.")
        return names.index(str(output))

    def _df_per_term(self) -> float:
        """Return the degrees of freedom that GCV counts for each term beside the constant."""
        return 1.0 + (self.df_ - self.n_terms_) / max(self.n_terms_ - 1, 1)

    def formula(self, language: str = "text", *, digits: int | None = None) -> str:
        """Return the model as a formula.

        Parameters
        ----------
        language : {"text", "python", "sql"}
            Text to be read; a Python function ``predict(row)`` of a mapping from names to values;
            or an SQL expression over columns of the inputs' names.
        digits : int, optional
            Significant digits of the numbers; 6 in text, and all of them in code.

        Returns
        -------
        str
            The code gives what the model predicts: the mean; of two classes the probability of the
            second (or its fitted value), of more the score of each, of which the largest wins.
            A missing value is None or NaN in Python and NULL in SQL; h(z) in text is the positive
            part of z.
        """
        check_is_fitted(self)
        if digits is None and language == "text":
            digits = 6
        elif digits is not None and not (isinstance(digits, int) and digits > 0):
            raise InputError(f"digits={digits!r} is not allowed; give a whole number above 0.")
        coef = np.atleast_2d(self.coef_).T
        names = self._outputs()
        if language == "text" and self._link_name == "logit" and names != ["y"]:
            names = [f"P({names[0]})"]  # of two classes
        how: Any = {"language": language, "outputs": names, "link": self._link_name}
        return formula(self._words(digits), self.basis_, coef, **how)
