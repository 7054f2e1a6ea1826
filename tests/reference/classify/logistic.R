# Reference values for bottega.classify.LogisticRegression, written to logistic.json beside this
# script:
#   Rscript logistic.R
#
# stats::glm on MASS::birthwt (with and without weights): estimates, standard errors, deviances,
# likelihood-ratio tests of each term, and profile limits: where a glm with the coefficient held by
# an offset has a deviance that is the chi-squared quantile above the least (uniroot). nnet::multinom
# on MASS::fgl (three kinds of glass). glmnet's whole paths for both, ridge, elastic net and lasso.
suppressPackageStartupMessages({
  library(MASS)
  library(nnet)
  library(glmnet)
  library(jsonlite)
})

argument <- grep("^--file=", commandArgs(FALSE), value = TRUE)
folder <- dirname(sub("^--file=", "", argument))

X <- as.matrix(birthwt[, c("age", "lwt", "smoke", "ptl", "ht", "ui")])
dimnames(X) <- NULL
y <- birthwt$low
w <- rep(c(1, 2, 0.5), length.out = length(y))

binary <- function(w) {
  control <- glm.control(epsilon = 1e-14, maxit = 100)
  fit <- suppressWarnings(glm(y ~ X, family = binomial, weights = w, control = control))
  table <- summary(fit)$coefficients
  design <- cbind(1, X)
  least <- deviance(fit)
  held <- function(j, value) {
    suppressWarnings(glm.fit(design[, -j], y, weights = w, offset = value * design[, j],
      family = binomial(), control = control
    ))$deviance
  }
  limit <- function(j, sign) {
    rise <- function(value) held(j, value) - least - qchisq(0.95, 1)
    near <- table[j, 1] + sign * 0.5 * table[j, 2]
    far <- table[j, 1] + sign * 8 * table[j, 2]
    uniroot(rise, sort(c(near, far)), tol = 1e-10)$root
  }
  dropped <- sapply(2:ncol(design), function(j) held(j, 0))
  list(
    weight = w, estimate = unname(table[, 1]), std_error = unname(table[, 2]),
    p_value = unname(table[, 4]), deviance = least, null_deviance = fit$null.deviance,
    low = sapply(seq_len(ncol(design)), limit, sign = -1),
    high = sapply(seq_len(ncol(design)), limit, sign = 1),
    dropped = dropped, drop_p = pchisq(dropped - least, 1, lower.tail = FALSE)
  )
}

kinds <- c("WinF", "WinNF", "Head")
glass <- fgl[fgl$type %in% kinds, ]
glass_X <- scale(as.matrix(glass[, c("RI", "Mg", "Al")]))
glass_X <- matrix(round(glass_X, 4), nrow(glass_X))
glass_y <- as.integer(factor(glass$type, levels = kinds)) - 1L
fit <- multinom(factor(glass_y) ~ glass_X, trace = FALSE, maxit = 10000, reltol = 1e-15, abstol = 0)
several <- list(
  X = glass_X, y = glass_y, coef = unname(coef(fit)), std_error = unname(summary(fit)$standard.errors),
  deviance = deviance(fit), probability = unname(fitted(fit))
)

paths <- list()
for (family in c("binomial", "multinomial")) {
  for (alpha in c(0, 0.5, 1)) {
    given <- if (family == "binomial") list(X, y) else list(glass_X, glass_y)
    lambda <- 0.3 * 10^seq(0, -2.5, length.out = 12)
    fit <- glmnet(given[[1]], given[[2]],
      family = family, alpha = alpha, lambda = lambda, thresh = 1e-20, maxit = 1e7
    )
    beta <- if (family == "binomial") list(fit$beta) else fit$beta
    paths[[length(paths) + 1]] <- list(
      family = family, l1_ratio = alpha, alphas = lambda,
      coef = lapply(unname(beta), function(b) unname(t(as.matrix(b)))),
      intercept = if (family == "binomial") matrix(fit$a0, 1) else unname(fit$a0),
      deviance = unname((1 - fit$dev.ratio) * fit$nulldev)
    )
  }
}

write_json(
  list(
    call = "glm(y ~ X, binomial); multinom(y ~ X); glmnet(X, y, family, alpha, lambda, thresh = 1e-20)",
    versions = list(
      R = R.version.string, nnet = as.character(packageVersion("nnet")),
      glmnet = as.character(packageVersion("glmnet"))
    ),
    X = X, y = y, binary = list(binary(rep(1, length(y))), binary(w)), several = several,
    paths = paths
  ),
  file.path(folder, "logistic.json"),
  digits = NA, auto_unbox = TRUE
)
