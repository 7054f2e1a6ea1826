# Reference numbers for thin-plate splines: mgcv's basis "tp" with one function a distinct point.
# Run with  Rscript tests/reference/smooth/surfaces.R ; writes surfaces.json beside this script.
suppressPackageStartupMessages({
  library(jsonlite)
  library(mgcv)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20240611
set.seed(seed)

# Simulated numbers are rounded, so that JSON holds them exactly.
n <- 60
case <- function(d, sp, weighted) {
  X <- matrix(round(runif(n * d, -1, 2), 3), n, d)
  X[n, ] <- X[1, ] # a tie
  y <- round(sin(2 * X[, 1]) + rowSums(X^2) / 2 + rnorm(n, sd = 0.3), 3)
  w <- if (weighted) round(runif(n, 0.5, 2), 2) else rep(1, n)
  frame <- data.frame(y = y, X)
  new <- matrix(round(runif(5 * d, -1.2, 2.2), 3), 5, d)
  terms <- paste(paste0("X", seq_len(d)), collapse = ", ")
  formula <- as.formula(sprintf("y ~ s(%s, bs = 'tp', k = %d, m = 2)", terms, n - 1))
  fit <- gam(formula, data = frame, sp = sp, weights = w)
  at <- as.data.frame(new)
  names(at) <- paste0("X", seq_len(d))
  found <- predict(fit, at)
  list(
    d = d, sp = sp, scale = fit$smooth[[1]]$S.scale, X = X, y = y, weight = w,
    fitted = as.vector(fitted(fit)), edf = sum(fit$edf), new = new,
    at_new = as.vector(found), gcv = as.vector(fit$gcv.ubre)
  )
}
cases <- list(
  case(2, 1e-3, FALSE), case(2, 0.1, FALSE), case(2, 0.02, TRUE),
  case(3, 1e-2, FALSE), case(3, 0.05, TRUE)
)
write_json(
  list(
    call = "mgcv::gam(y ~ s(..., bs = 'tp', k = number of distinct points, m = 2), sp = sp, weights = w)",
    versions = list(R = R.version.string, mgcv = as.character(packageVersion("mgcv"))),
    seed = seed,
    cases = cases
  ),
  file.path(here, "surfaces.json"), auto_unbox = TRUE, digits = 17, matrix = "rowmajor"
)
