# Reference numbers for the lasso family: glmnet at given penalties.
# Run with  Rscript tests/reference/linear/glmnet.R ; writes glmnet.json beside this script.
suppressPackageStartupMessages({
  library(glmnet)
  library(jsonlite)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20240611
set.seed(seed)

# Simulated numbers are rounded, so that JSON holds them exactly.
wide_X <- round(matrix(rnorm(30 * 60), 30, 60), 4)
wide_y <- round(as.vector(wide_X[, 1:4] %*% c(2, -1.5, 1, 0.5) + rnorm(30)), 4)
sets <- list(
  mtcars = list(X = as.matrix(mtcars[, -1]), y = mtcars$mpg),
  swiss = list(X = as.matrix(swiss[, -1]), y = swiss$Fertility),
  wide = list(X = wide_X, y = wide_y)
)
# Well below what is asked for: coefficients to 1e-6 where the objective is flat.
control <- list(thresh = 1e-20, maxit = 1e7)

# ---- gaussian -----------------------------------------------------------------------------------
# glmnet scales y to unit standard deviation (divisor n), inside which the ridge part of the elastic
# net is not the one of the stated objective unless lambda is scaled too; with y of unit standard
# deviation the two agree, so that is what it is given here. It rescales penalty.factor to sum to p,
# so weights are given with that sum.
gaussian <- list()
for (name in names(sets)) {
  set <- sets[[name]]
  n <- length(set$y)
  p <- ncol(set$X)
  factors <- list(rep(1, p), c(0, rep(p / (p - 1), p - 1)))
  for (l1_ratio in c(1, 0.5)) {
    for (standardize in c(TRUE, FALSE)) {
      for (k in seq_along(factors)) {
        row_weight <- if (k == 1) rep(1, n) else rep(c(1, 2), length.out = n)
        center <- weighted.mean(set$y, row_weight)
        y <- set$y / sqrt(weighted.mean((set$y - center)^2, row_weight))
        top <- max(abs(crossprod(scale(set$X, scale = standardize), y))) / n
        lambda <- top * c(0.5, 0.1, 0.02)
        fit <- glmnet(set$X, y,
          family = "gaussian", alpha = l1_ratio, lambda = lambda, standardize = standardize,
          penalty.factor = factors[[k]], weights = row_weight, thresh = control$thresh,
          maxit = control$maxit
        )
        gaussian[[length(gaussian) + 1]] <- list(
          set = name, l1_ratio = l1_ratio, standardize = standardize, weights = factors[[k]],
          sample_weight = row_weight, alphas = lambda, y = y,
          coef = unname(t(as.matrix(fit$beta))), intercept = unname(fit$a0)
        )
      }
    }
  }
}

# ---- binomial and multinomial -------------------------------------------------------------------
classes <- list(
  binomial = list(X = as.matrix(mtcars[, c("mpg", "disp", "hp", "wt", "qsec")]), y = mtcars$am),
  multinomial = list(X = as.matrix(iris[, 1:4]), y = as.integer(iris$Species) - 1L)
)
logistic <- list()
for (family in names(classes)) {
  for (l1_ratio in c(1, 0.5)) {
    set <- classes[[family]]
    lambda <- c(0.1, 0.02, 0.01)
    fit <- glmnet(set$X, set$y,
      family = family, alpha = l1_ratio, lambda = lambda, thresh = control$thresh,
      maxit = control$maxit
    )
    beta <- if (family == "binomial") list(fit$beta) else fit$beta
    coef <- lapply(unname(beta), function(b) unname(t(as.matrix(b))))
    a0 <- if (family == "binomial") matrix(fit$a0, 1) else unname(fit$a0)
    logistic[[length(logistic) + 1]] <- list(
      family = family, l1_ratio = l1_ratio, alphas = lambda, X = unname(set$X), y = set$y,
      coef = coef, intercept = a0,
      deviance = unname((1 - fit$dev.ratio) * fit$nulldev)
    )
  }
}

write_json(
  list(
    call = "glmnet(X, y, family, alpha, lambda, standardize, penalty.factor, weights, thresh = 1e-20)",
    versions = list(R = R.version.string, glmnet = as.character(packageVersion("glmnet"))),
    seed = seed,
    data = lapply(sets, function(set) list(X = unname(set$X), y = set$y)),
    gaussian = gaussian,
    logistic = logistic
  ),
  file.path(here, "glmnet.json"),
  digits = NA, auto_unbox = TRUE
)
