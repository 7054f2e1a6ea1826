# Reference numbers for Bayesian linear regression, from the formulas on dense matrices: the
# posterior by matrix inversion, the evidence as the density of y (a multivariate normal with the
# coefficients integrated out), its maximum by R's general-purpose optim.
# Run with  Rscript tests/reference/linear/bayesian.R ; writes bayesian.json beside this script.
suppressPackageStartupMessages(library(jsonlite))

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))

X <- unname(as.matrix(swiss[, -1]) / 10)
y <- swiss$Fertility / 10
n <- nrow(X)
p <- ncol(X)

log_normal <- function(y, mean, covariance) {
  root <- chol(covariance)
  z <- backsolve(root, y - mean, transpose = TRUE)
  -0.5 * (length(y) * log(2 * pi) + sum(z^2)) - sum(log(diag(root)))
}

# ---- a full prior on intercept and coefficients -------------------------------------------------
Phi <- cbind(1, X)
m0 <- c(5, -1, 0, 0.5, 0, 1)
S0 <- 0.5^abs(outer(0:p, 0:p, "-")) * 2
beta <- 1.7
SN <- solve(solve(S0) + beta * t(Phi) %*% Phi)
mN <- SN %*% (solve(S0, m0) + beta * t(Phi) %*% y)
full <- list(
  prior_mean = m0, prior_covariance = S0, beta = beta, mean = as.vector(mN), covariance = SN,
  evidence = log_normal(y, Phi %*% m0, diag(n) / beta + Phi %*% S0 %*% t(Phi)),
  predictive_sd = sqrt(1 / beta + rowSums((Phi[1:4, ] %*% SN) * Phi[1:4, ]))
)

# ---- evidence maximised: no intercept, and a flat prior on the intercept ------------------------
# A flat intercept is integrated out by orthonormal contrasts of the rows; the density of y is then
# that of the contrasts over root n.
greatest <- function(X, y, shift) {
  minus <- function(u) {
    -log_normal(y, 0 * y, diag(length(y)) / exp(u[2]) + X %*% t(X) / exp(u[1]))
  }
  best <- optim(c(0, 0), minus, method = "BFGS", control = list(reltol = 1e-15, maxit = 1000))
  best <- optim(best$par, minus, method = "BFGS", control = list(reltol = 1e-15, maxit = 1000))
  list(alpha = exp(best$par[1]), beta = exp(best$par[2]), evidence = shift - best$value)
}
K <- contr.helmert(n)
K <- t(K) / sqrt(colSums(K^2))

write_json(
  list(
    script = "tests/reference/linear/bayesian.R",
    versions = list(R = as.character(getRversion())),
    calls = c("solve(solve(S0) + beta Phi'Phi)", "optim(c(0, 0), minus log evidence, BFGS)"),
    X = X, y = y, full = full,
    no_intercept = greatest(X, y, 0),
    intercept = greatest(K %*% X, as.vector(K %*% y), -0.5 * log(n))
  ),
  file.path(here, "bayesian.json"), digits = NA, auto_unbox = TRUE
)
