# Reference numbers for principal components regression: pls::pcr with its leave-one-out PRESS.
# Run with  Rscript tests/reference/linear/pcr.R ; writes pcr.json beside this script.
suppressPackageStartupMessages({
  library(pls)
  library(jsonlite)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20240601
set.seed(seed)

# Simulated numbers are rounded, so that JSON holds them exactly.
wide_X <- round(matrix(rnorm(12 * 20), 12, 20) + matrix(rnorm(12), 12, 20), 4)
wide_y <- round(as.vector(wide_X[, 1:3] %*% c(2, -1, 1) + rnorm(12)), 4)
sets <- list(
  mtcars = list(X = as.matrix(mtcars[, -1]), y = mtcars$mpg),
  swiss = list(X = as.matrix(swiss[, -1]), y = swiss$Fertility),
  wide = list(X = wide_X, y = wide_y)
)

# pcr centres X, with scale = TRUE divides it by its standard deviation (divisor n - 1), and in
# cross-validation does both anew in every segment.
fit_of <- function(set, scale) {
  data <- data.frame(y = set$y, X = I(unname(set$X)))
  fit <- pcr(y ~ X, data = data, scale = scale, validation = "LOO", method = "svdpc")
  list(
    ncomp = fit$ncomp,
    coef = lapply(seq_len(fit$ncomp), function(a) as.vector(coef(fit, ncomp = a))),
    intercept = sapply(seq_len(fit$ncomp), function(a) coef(fit, ncomp = a, intercept = TRUE)[1]),
    fitted = lapply(seq_len(fit$ncomp), function(a) as.vector(fit$fitted.values[, , a])),
    press = as.vector(fit$validation$PRESS),
    press0 = as.vector(fit$validation$PRESS0),
    explained = unname(explvar(fit)) / 100
  )
}

write_json(
  list(
    script = "tests/reference/linear/pcr.R", seed = seed,
    versions = list(R = as.character(getRversion()), pls = as.character(packageVersion("pls"))),
    calls = "pcr(y ~ X, scale, validation = 'LOO', method = 'svdpc')",
    cases = lapply(names(sets), function(name) {
      list(
        name = name, X = unname(sets[[name]]$X), y = sets[[name]]$y,
        scaled = fit_of(sets[[name]], TRUE), unscaled = fit_of(sets[[name]], FALSE)
      )
    })
  ),
  file.path(here, "pcr.json"), digits = NA, auto_unbox = TRUE
)
