"""Results of the additive models: terms, effects, checks, as data and as pictures."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from bottega.additive._backfitting.engine import BackfittedFit
from bottega.additive._inference.backfitted import backfitted_effects, backfitted_rows
from bottega.additive._inference.concurvity import concurvity_columns
from bottega.additive._inference.effect_maker import TermEffectMaker
from bottega.additive._inference.residual_check import (
    basis_columns,
    deviance_residuals,
    pearson_dispersion,
    quantiles_of_residuals,
)
from bottega.additive._inference.term_table import TermRow, scale_df, term_rows, tidy_of
from bottega.additive._inference.term_tests import reference_df
from bottega.additive._terms.blocks import Block
from bottega.additive._terms.facts import ColumnFacts
from bottega.additive._terms.resolve import PlacedTerm
from bottega.additive.check import AdditiveCheck
from bottega.additive.effects import AdditiveEffects
from bottega.core.errors import InputError
from bottega.core.likelihood import information_criteria
from bottega.core.results import CoefficientResults, check_level, glance_row, glance_section
from bottega.core.rows import check_weight
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray
from bottega.data.mixed_inputs import MixedInputs

__all__ = ["AdditiveResults"]

_OUT = 0.05  # degrees of freedom of a term that selection has taken out
_MOST_ROWS = 2_000  # of the quantiles of residuals
_CLOSE = 0.95  # concurvity that a reader must know of
_COUNT = 200
_WORDS = {"reml": "REML", "gcv": "GCV", "ubre": "UBRE", "loo": "leave-one-out"}


class AdditiveResults(CoefficientResults):
    """`tidy`, `glance`, `summary`, `effects`, `check` and `concurvity` of an additive model.

    It sets `fit_` (Fit), `blocks_` (Block), `facts_` (ColumnFacts of each column) and `columns_in_`
    (MixedInputs), and gives `_predictors(X_checked)`, the linear predictors of checked rows.
    """

    fit_: Any  # Fit or BackfittedFit
    terms_: Sequence[PlacedTerm]
    _pieces: Any
    _frame: Any
    blocks_: Sequence[Block]
    facts_: Sequence[ColumnFacts]
    columns_in_: MixedInputs

    @abstractmethod
    def _predictors(self, X: FloatArray) -> FloatArray:
        """Return the linear predictors (n, D) of checked rows."""

    def _term_rows(self) -> list[TermRow]:
        if isinstance(self.fit_, BackfittedFit):
            return backfitted_rows(self.fit_, self._pieces, self.terms_, len(self.facts_))
        return term_rows(self.fit_, self.blocks_)

    def _responses(self) -> list[str]:
        """Return the names of the predictors: of classes, all but the first; else an empty one."""
        if self.fit_.n_predictors == 1:
            return [""]
        return [str(label) for label in self.classes_[1:]]  # type: ignore[attr-defined]

    def _terms(self, level: float = 0.95) -> dict[str, Any]:
        rows = self._term_rows()
        found = tidy_of(rows, level, scale_df(self.fit_))
        names = self._responses()
        if len(names) > 1:
            return {"response": [names[row.predictor] for row in rows]} | found
        return found

    def tidy(self, level: float = 0.95) -> Any:
        """Return one row per coefficient and per term, as a data frame.

        Parameters
        ----------
        level : float
            Probability that each interval holds.

        Returns
        -------
        data frame
            Columns term, estimate, std_error, statistic, p_value, conf_low, conf_high, then kind,
            edf and ref_df (and response first where there are several). Intercept, slopes and the
            levels of factors have estimates with tests by Student's t (or the normal distribution,
            where the scale is known). A whole term has its degrees of freedom `edf` and a test
            that it is zero, by F (or chi-square) with `ref_df` degrees of freedom: smooth terms as
            in Wood (2013), random effects and other terms without a free direction by their
            likelihood ratio, factors by Wald's test. A term with a shape constraint has no test.
        """
        return super().tidy(level)

    def _glance_row(self) -> dict[str, Any]:
        fit = self.fit_
        df = self._corrected_df()
        criteria = information_criteria(-2 * fit.loglik, df + (not fit.scale_known), fit.n)
        explained = np.nan
        if fit.null_deviance > 0:
            explained = 1 - fit.deviance / fit.null_deviance
        gcv = np.nan
        if fit.df_residual > 0:
            gcv = fit.n * fit.deviance / fit.df_residual**2
        row = {
            "nobs": fit.n,
            "df": fit.df,
            "sigma": float(np.sqrt(fit.scale)),
            "r_squared": explained,
            "deviance": fit.deviance,
            "loglik": fit.loglik,
            "aic": float(criteria["aic"]),
            "bic": float(criteria["bic"]),
            "gcv": gcv,
            "loo": fit.score if getattr(fit, "method", "") == "loo" else np.nan,
        }
        score = getattr(fit, "score", np.nan)
        return glance_row(row, null_deviance=fit.null_deviance, score=score)

    def _corrected_df(self) -> float:
        """Return the df with what the choice of the smoothing parameters adds, where known."""
        fit = self.fit_
        if getattr(fit, "covariance_corrected", None) is None or not fit.scale > 0:
            return float(fit.df)
        df = float(np.sum(fit.covariance_corrected * fit.gram) / fit.scale)
        return float(np.clip(df, fit.df, max(float(reference_df(fit).sum()), fit.df)))

    def glance(self) -> Any:
        """Return one row about the model: size, df, scale, fit and criteria.

        `r_squared` is the share of the deviance that is explained, `score` the value of the
        criterion that chose the smoothing parameters. aic and bic count what that choice adds to
        the degrees of freedom [1]_.

        References
        ----------
        .. [1] Wood, S. N., Pya, N. and Säfken, B. (2016). Smoothing parameter and model selection
           for general smooth models. Journal of the American Statistical Association 111,
           1548-1563.
        """
        return super().glance()

    def summary(self) -> Summary:
        """Return tables about the fit, its coefficients and its terms, as text, HTML, Markdown."""
        check_is_fitted(self)
        columns = self._terms()
        whole = ~np.isnan(columns["edf"])
        first = ["response"] if "response" in columns else []
        estimates = ("term", "estimate", "std_error", "statistic", "p_value")
        terms = ("term", "edf", "ref_df", "statistic", "p_value")
        sections = [glance_section(self._glance_row())]
        for heading, names, kept in (
            ("Coefficients", estimates, ~whole),
            ("Terms", terms, whole),
        ):
            if np.any(kept):
                table = {
                    name: [columns[name][i] for i in np.flatnonzero(kept)]
                    for name in (*first, *names)
                }
                sections.append(Section(heading, table))
        return Summary(self.card.title, tuple(sections), self._notes())

    def _notes(self) -> tuple[str, ...]:
        fit = self.fit_
        if isinstance(fit, BackfittedFit):
            return ("Backfitting gives no tests; compare models by deviance_test(small, big).",)
        notes = []
        which, single = ("chi-square", "z") if fit.scale_known else ("F", "t")
        notes.append(f"The statistic of a term is {which}, that of a coefficient its {single}.")
        if fit.method in _WORDS:
            notes.append(f"Smoothing parameters by {_WORDS[fit.method]}: {fit.score:.6g}.")
        if fit.method in _WORDS and fit.method != "reml":
            notes.append("p-values of smooth terms are too small; method='reml' has better ones.")
        selected = any(
            len(alphas) > len(block.penalties)
            for alphas, block in zip(fit.alphas, self.blocks_, strict=False)
        )
        if selected:
            out = [
                block.name
                for block, part in zip(self.blocks_, fit.slices, strict=False)
                if block.kind != "intercept" and fit.edf[part].sum() < _OUT
            ]
            if out:
                notes.append(f"Selection took out {', '.join(out)}.")
        near = concurvity_columns(fit, self.blocks_, random=False)
        close = [
            term
            for term, share in zip(near["term"], near["observed"], strict=True)
            if share > _CLOSE
        ]
        if close:
            notes.append(
                f"Concurvity: the other terms can nearly make {', '.join(close)}, so that the "
                "effects cannot be told apart; see concurvity()."
            )
        return tuple(notes)

    def effects(
        self,
        terms: Any = None,
        *,
        level: float = 0.95,
        band: str = "pointwise",
        with_mean: bool = True,
        unconditional: bool = True,
        random_state: Any = 0,
    ) -> AdditiveEffects:
        """Return what each term adds to the linear predictor, with a band.

        Parameters
        ----------
        terms : str or list of str, optional
            Names of terms; all by default.
        level : float
            Coverage of the bands.
        band : {"pointwise", "simultaneous"}
            A pointwise band covers at one point at a time (on average along the curve); a
            simultaneous one covers the whole effect of a term at once.
        with_mean : bool
            Whether the bands count the uncertainty of the mean response. Without it that of a term
            that is nearly a line has no width where the line crosses zero, and covers too little
            [1]_.
        unconditional : bool
            Whether the bands count the uncertainty of the smoothing parameters.
        random_state : int, RandomState, Generator or None
            Seed of the simulation behind simultaneous bands.

        Returns
        -------
        AdditiveEffects
            By name of the term; with `tidy` and `plot`.

        References
        ----------
        .. [1] Marra, G. and Wood, S. N. (2012). Coverage properties of confidence intervals for
           generalized additive model components. Scandinavian Journal of Statistics 39, 53-74.
        """
        check_is_fitted(self)
        names, levels = self.columns_in_.names, self.columns_in_.levels
        if isinstance(self.fit_, BackfittedFit):
            rows = self._term_rows()
            about = (self.terms_, self.facts_, names, levels)
            found = backfitted_effects(rows, *about, lambda X: self._effects(X)[1])  # type: ignore[attr-defined]
            return AdditiveEffects(found, level, band, self._frame)
        maker = TermEffectMaker(
            self.fit_,
            self.blocks_,
            self.facts_,
            names,
            levels,
            self._responses(),
            self._frame,
        )
        return maker.make(
            terms,
            level=level,
            band=band,
            with_mean=with_mean,
            corrected=unconditional,
            random_state=random_state,
        )

    def concurvity(self) -> Any:
        """Return how far each term can be made of the others, as a data frame.

        Returns
        -------
        data frame
            Columns term, worst, observed and estimate: the share of the sum of squares of an
            effect that lies in the space of the other terms, for the worst effect that the term
            could have, for its fitted effect, and over all of its columns. 0 is none; at 1 the
            term cannot be told from the others.
        """
        check_is_fitted(self)
        if isinstance(self.fit_, BackfittedFit):
            raise InputError("concurvity() is for engine='penalized'.")
        return self._make_frame(  # type: ignore[attr-defined]
            concurvity_columns(self.fit_, self.blocks_)
        )

    def check(
        self, X: Any, y: Any, sample_weight: Any = None, *, level: float = 0.95,
        random_state: Any = 0,
    ) -> AdditiveCheck:  # fmt: skip
        """Check the size of the bases and the residuals on rows: those of the fit, or new ones.

        Parameters
        ----------
        X, y : array-like
            The rows.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        level : float
            Coverage of the limits of the sorted residuals.
        random_state : int, RandomState, Generator or None
            Seed of the simulation behind these limits.

        Returns
        -------
        AdditiveCheck
            Shows itself as tables; with `tidy` and `plot`.
        """
        check_is_fitted(self)
        check_level(level)
        fit = self.fit_
        if fit.n_predictors > 1:
            raise InputError("check() is for one predictor; fit one class against the rest.")
        matrix = self._check_new(X)  # type: ignore[attr-defined]
        response = self._checked_response(y, len(matrix))
        weight = check_weight(sample_weight, len(matrix))
        if weight is None:
            weight = np.ones(len(matrix))
        counted = np.flatnonzero(weight > 0)
        matrix, response, weight = matrix[counted], response[counted], weight[counted]
        eta = self._predictors(matrix)[:, 0]
        mu = fit.family.mean(eta)
        residual = deviance_residuals(response, mu, weight, fit.family)
        some = np.linspace(0, len(mu) - 1, min(len(mu), _MOST_ROWS)).round().astype(np.intp)
        quantiles = quantiles_of_residuals(
            *(response[some], mu[some], weight[some], fit),
            level=level,
            count=_COUNT,
            seed=seed_of(random_state, "check"),
        )
        bases = (
            () if isinstance(fit, BackfittedFit) else zip(self.blocks_, fit.slices, strict=False)
        )
        return AdditiveCheck(
            basis_columns(bases, fit, matrix, residual),
            quantiles,
            residual,
            eta,
            mu,
            response,
            pearson_dispersion(response, mu, weight, fit.family, len(mu) - fit.df),
            fit.scale_known,
            level,
            self._frame,
        )

    def _checked_response(self, y: Any, n: int) -> FloatArray:
        """Return the responses as numbers, labels of two classes as 0 and 1."""
        given = np.asarray(y)
        if given.shape != (n,):
            raise InputError(f"X has {n} rows and y shape {given.shape}; one for each is needed.")
        if is_classifier(self):
            classes = self.classes_  # type: ignore[attr-defined]
            known = np.isin(given, classes)
            if not np.all(known):
                raise InputError(
                    f"y has labels that the model does not know: {given[~known][0]!r}."
                )
            return np.asarray(given == classes[1], dtype=np.float64)
        numbers = np.asarray(given, dtype=np.float64)
        if not np.all(np.isfinite(numbers)):
            raise InputError("y has values that are missing or infinite; leave these rows out.")
        self._check_response(numbers)  # type: ignore[attr-defined]
        return numbers
