# Reference numbers for linear and quadratic programs.
# Run with  Rscript tests/reference/optimize/programs.R ; writes programs.json beside this script.
suppressPackageStartupMessages({
  library(boot)
  library(kernlab)
  library(jsonlite)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20261118
set.seed(seed)

# ---- quadratic programs: min c'x + x'Hx/2, b <= Ax <= b + r, l <= x <= u --------------------------
quadratic <- lapply(1:4, function(k) {
  d <- 3 + k
  m <- 2 + k
  X <- round(matrix(rnorm((d + 2) * d), d + 2, d), 3)
  H <- crossprod(X)
  c <- round(rnorm(d), 3)
  A <- round(matrix(rnorm(m * d), m, d), 3)
  b <- round(A %*% rnorm(d) / 4 - 1, 3)
  fit <- ipop(c, H, A, b, l = rep(-2, d), u = rep(2, d), r = rep(3, m),
              sigf = 12, maxiter = 200, margin = 0.05, bound = 10)
  list(X = X, c = c, A = A, b = as.numeric(b), x = primal(fit), how = how(fit))
})

# ---- linear programs: max a'x, A1 x <= b1, A2 x >= b2, x >= 0 -------------------------------------
linear <- lapply(1:4, function(k) {
  d <- 2 + k
  a <- round(runif(d, 0.5, 2), 3)
  A1 <- round(matrix(runif((k + 2) * d), k + 2, d), 3)
  b1 <- round(runif(k + 2, 2, 5), 3)
  A2 <- round(matrix(runif(d), 1, d), 3)
  b2 <- 0.3
  fit <- simplex(a, A1, b1, A2, b2, maxi = TRUE)
  list(a = a, A1 = A1, b1 = b1, A2 = A2, b2 = b2, x = as.numeric(fit$soln),
       value = as.numeric(fit$value), solved = fit$solved)
})

write_json(
  list(
    call = "kernlab::ipop(c, H, A, b, -2, 2, 3, sigf = 12); boot::simplex(a, A1, b1, A2, b2, maxi = TRUE)",
    versions = list(R = as.character(getRversion()), kernlab = as.character(packageVersion("kernlab")),
                    boot = as.character(packageVersion("boot"))),
    seed = seed,
    quadratic = quadratic,
    linear = linear
  ),
  file.path(here, "programs.json"), digits = NA, auto_unbox = TRUE, pretty = TRUE
)
