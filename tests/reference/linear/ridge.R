# Reference numbers for ridge regression: MASS::lm.ridge, base R's lm, and leave-one-out by refits.
# Run with  Rscript tests/reference/linear/ridge.R ; writes ridge.json beside this script.
suppressPackageStartupMessages({
  library(MASS)
  library(jsonlite)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20240517
set.seed(seed)

# ---- data ---------------------------------------------------------------------------------------
# Simulated numbers are rounded, so that JSON holds them exactly.
wide_X <- round(matrix(rnorm(15 * 25), 15, 25), 4)
wide_y <- round(as.vector(wide_X[, 1:3] %*% c(2, -1, 1) + rnorm(15)), 4)
sets <- list(
  longley = list(X = as.matrix(longley[, 1:6]), y = longley$Employed),
  mtcars = list(X = as.matrix(mtcars[, -1]), y = mtcars$mpg),
  swiss = list(X = as.matrix(swiss[, -1]), y = swiss$Fertility),
  wide = list(X = wide_X, y = wide_y)
)

# ---- MASS::lm.ridge -----------------------------------------------------------------------------
# It centres X and y, divides X by its root mean square (divisor n) and minimises RSS + lambda|b|^2.
# Its GCV is RSS / (n - sum d^2/(d^2+lambda))^2: no factor n, and the intercept is not counted.
lambdas <- c(0.01, 0.1, 1, 10, 100)
ridge_of <- function(set, intercept) {
  form <- if (intercept) set$y ~ set$X else set$y ~ set$X - 1
  fit <- lm.ridge(form, lambda = lambdas)
  found <- unname(coef(fit))
  list(
    coef = unname(if (intercept) found[, -1] else found),
    intercept = if (intercept) found[, 1] else rep(0, length(lambdas)),
    gcv = unname(fit$GCV)
  )
}

# ---- leave-one-out by refits, the scaling of the inputs held fixed ------------------------------
solve_ridge <- function(X, y, w, alpha) {
  xm <- colSums(w * X) / sum(w)
  ym <- sum(w * y) / sum(w)
  Xc <- sweep(X, 2, xm)
  b <- solve(t(Xc) %*% (w * Xc) + alpha * diag(ncol(X)), t(Xc) %*% (w * (y - ym)))
  list(coef = as.vector(b), intercept = ym - sum(xm * b))
}
loo_of <- function(set, w, standardize) {
  X <- set$X
  if (standardize) {
    xm <- colSums(w * X) / sum(w)
    X <- sweep(X, 2, sqrt(colSums(w * sweep(X, 2, xm)^2) / sum(w)), "/")
  }
  lapply(c(1, 10), function(alpha) {
    list(alpha = alpha, residuals = sapply(seq_along(set$y), function(i) {
      fit <- solve_ridge(X[-i, , drop = FALSE], set$y[-i], w[-i], alpha)
      set$y[i] - fit$intercept - sum(X[i, ] * fit$coef)
    }))
  })
}

cases <- lapply(names(sets), function(name) {
  set <- sets[[name]]
  n <- length(set$y)
  w <- rep(c(1, 2, 0.5), length.out = n)
  list(
    name = name, X = unname(set$X), y = set$y, lambda = lambdas,
    lm_ridge = ridge_of(set, TRUE),
    lm_ridge_no_intercept = ridge_of(set, FALSE),
    loo = loo_of(set, rep(1, n), TRUE),
    weight = w,
    loo_weighted = loo_of(set, w, FALSE)
  )
})

# ---- lm: the penalty at zero --------------------------------------------------------------------
columns <- c("wt", "hp", "qsec", "drat")
lm_of <- function(weights) {
  data <- mtcars
  data$w <- weights
  big <- lm(mpg ~ wt + hp + qsec + drat, data, weights = w)
  small <- lm(mpg ~ wt + hp, data, weights = w)
  test <- anova(small, big)
  found <- summary(big)
  limits <- confint(big, level = 0.9)
  new <- mtcars[1:3, ] * 1.1
  list(
    weight = weights, table = unname(found$coefficients), conf_low = unname(limits[, 1]),
    conf_high = unname(limits[, 2]), vcov = unname(vcov(big)), sigma = found$sigma,
    r_squared = found$r.squared, loglik = as.numeric(logLik(big)), aic = AIC(big), bic = BIC(big),
    deviance = deviance(big), hat = unname(hatvalues(big)), cooks = unname(cooks.distance(big)),
    rstandard = unname(rstandard(big)), fitted = unname(fitted(big)),
    loo = unname(residuals(big) / (1 - hatvalues(big))),
    new = unname(as.matrix(new[, columns])),
    se_fit = unname(predict(big, new, se.fit = TRUE)$se.fit),
    confidence = unname(predict(big, new, interval = "confidence", level = 0.9)),
    # The weight of a new observation is one, as predict.lm assumes by default.
    prediction = unname(suppressWarnings(
      predict(big, new, interval = "prediction", level = 0.9)
    )),
    f = test$F[2], f_df = c(test$Df[2], test$Res.Df[2]), f_p = test$`Pr(>F)`[2]
  )
}

write_json(
  list(
    script = "tests/reference/linear/ridge.R", seed = seed,
    versions = list(R = as.character(getRversion()), MASS = as.character(packageVersion("MASS"))),
    calls = c("lm.ridge(y ~ X, lambda)", "lm(mpg ~ wt + hp + qsec + drat)", "anova(small, big)"),
    cases = cases,
    lm = list(
      columns = columns, X = unname(as.matrix(mtcars[, columns])), y = mtcars$mpg,
      plain = lm_of(rep(1, 32)), weighted = lm_of(rep(c(1, 2, 0.5, 3), 8))
    )
  ),
  file.path(here, "ridge.json"), digits = NA, auto_unbox = TRUE
)
