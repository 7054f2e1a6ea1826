# Reference numbers for least squares: base R's lm on well-known and on collinear data.
# Run with  Rscript tests/reference/linear/least_squares.R ; writes least_squares.json beside it.
suppressPackageStartupMessages(library(jsonlite))

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))

# ---- one response: everything that summary, predict and the diagnostics of lm give ---------------
describe <- function(X, y, w, intercept) {
  data <- data.frame(X, y = y, w = w)
  right <- paste(colnames(X), collapse = " + ")
  form <- as.formula(paste("y ~", right, if (intercept) "" else "- 1"))
  fit <- lm(form, data, weights = w)
  found <- summary(fit)
  limits <- confint(fit, level = 0.9)
  new <- as.data.frame(X[1:3, ] * 1.1)
  list(
    intercept = intercept, weight = w, table = unname(found$coefficients),
    conf_low = unname(limits[, 1]), conf_high = unname(limits[, 2]), vcov = unname(vcov(fit)),
    sigma = found$sigma, deviance = deviance(fit), loglik = as.numeric(logLik(fit)),
    aic = AIC(fit), bic = BIC(fit), r_squared = found$r.squared,
    adj_r_squared = found$adj.r.squared, f = unname(found$fstatistic),
    f_p = unname(pf(found$fstatistic[1], found$fstatistic[2], found$fstatistic[3],
                    lower.tail = FALSE)),
    fitted = unname(fitted(fit)), hat = unname(hatvalues(fit)),
    rstandard = unname(rstandard(fit)), cooks = unname(cooks.distance(fit)),
    # Variance inflation: the diagonal of the inverse correlation matrix of the coefficients' X.
    vif = if (intercept) {
      unname(diag(solve(cov.wt(X, w / sum(w), cor = TRUE, method = "ML")$cor)))
    },
    new = unname(as.matrix(new)),
    se_fit = unname(predict(fit, new, se.fit = TRUE)$se.fit),
    confidence = unname(predict(fit, new, interval = "confidence", level = 0.9)),
    # The weight of a new observation is one, as predict.lm assumes by default.
    prediction = unname(suppressWarnings(
      predict(fit, new, interval = "prediction", level = 0.9)
    ))
  )
}
sets <- list(
  longley = list(X = as.matrix(longley[, 1:6]), y = longley$Employed),
  stackloss = list(X = as.matrix(stackloss[, 1:3]), y = stackloss$stack.loss)
)
cases <- unlist(lapply(names(sets), function(name) {
  set <- sets[[name]]
  n <- length(set$y)
  w <- rep(c(1, 2, 0.5, 3), length.out = n)
  list(
    list(name = name, X = unname(set$X), y = set$y, fit = describe(set$X, set$y, rep(1, n), TRUE)),
    list(name = paste(name, "weighted"), X = unname(set$X), y = set$y,
         fit = describe(set$X, set$y, w, TRUE)),
    list(name = paste(name, "no intercept"), X = unname(set$X), y = set$y,
         fit = describe(set$X, set$y, rep(1, n), FALSE))
  )
}), recursive = FALSE)

# ---- several responses --------------------------------------------------------------------------
many <- lm(cbind(mpg, disp, hp) ~ wt + qsec + drat, mtcars)

# ---- aliased columns ----------------------------------------------------------------------------
aliased_data <- within(mtcars, {
  twice <- 2 * wt
  both <- hp - 3 * qsec + 1
  flat <- 7
})
names_aliased <- c("wt", "twice", "hp", "flat", "qsec", "both", "drat")
aliased <- lm(mpg ~ wt + twice + hp + flat + qsec + both + drat, aliased_data)
found <- coef(aliased)

write_json(
  list(
    script = "tests/reference/linear/least_squares.R",
    versions = list(R = as.character(getRversion())),
    calls = c("summary(lm(y ~ X, weights = w))", "lm(cbind(mpg, disp, hp) ~ wt + qsec + drat)",
              "lm(mpg ~ ... collinear)"),
    cases = cases,
    many = list(
      X = unname(as.matrix(mtcars[, c("wt", "qsec", "drat")])),
      Y = unname(as.matrix(mtcars[, c("mpg", "disp", "hp")])),
      coef = unname(coef(many)), covariance = unname(estVar(many))
    ),
    aliased = list(
      names = names_aliased, X = unname(as.matrix(aliased_data[, names_aliased])), y = mtcars$mpg,
      aliased = unname(is.na(found))[-1], estimate = unname(found),
      table = unname(summary(aliased)$coefficients), df = aliased$rank,
      sigma = summary(aliased)$sigma, fitted = unname(fitted(aliased))
    )
  ),
  file.path(here, "least_squares.json"), digits = NA, auto_unbox = TRUE, na = "null"
)
