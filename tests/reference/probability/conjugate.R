# Reference numbers for conjugate models: dbeta, qbeta, pbeta, qgamma, qt, dnbinom, and evidence by
# numerical integration.
# Run with  Rscript tests/reference/probability/conjugate.R ; writes conjugate.json beside it.
suppressPackageStartupMessages(library(jsonlite))

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))

levels <- c(0.5, 0.9, 0.95, 0.999)

# The shortest interval of a density with one maximum: quantiles p and p + level, best p.
shortest <- function(level, quantile) {
  width <- function(p) quantile(p + level) - quantile(p)
  p <- optimize(width, c(0, 1 - level), tol = 1e-14)$minimum
  c(quantile(p), quantile(p + level))
}

beta_case <- function(a, b, s, f) {
  x <- seq(0.05, 0.95, by = 0.15)
  A <- a + s
  B <- b + f
  list(
    a = a, b = b, ones = s, zeros = f, x = x,
    prior = dbeta(x, a, b), posterior = dbeta(x, A, B),
    levels = levels,
    lower = qbeta((1 - levels) / 2, A, B), upper = qbeta((1 - levels) / 2, A, B, lower.tail = FALSE),
    shortest = if (A > 1 && B > 1) lapply(levels, shortest, function(p) qbeta(p, A, B)) else NULL,
    log_evidence = lbeta(A, B) - lbeta(a, b),
    mean = A / (A + B), sd = sqrt(A * B / ((A + B)^2 * (A + B + 1)))
  )
}

gamma_case <- function(a, b, x) {
  A <- a + sum(x)
  B <- b + length(x)
  marginal <- integrate(
    function(r) sapply(r, function(l) exp(sum(dpois(x, l, log = TRUE))) * dgamma(l, a, b)),
    0, Inf, rel.tol = 1e-12
  )$value
  list(
    a = a, b = b, x = x,
    lower = qgamma((1 - levels) / 2, A, B), upper = qgamma((1 + levels) / 2, A, B), levels = levels,
    predictive = dnbinom(0:12, size = A, prob = B / (B + 1)),
    evidence = marginal
  )
}

normal_gamma_case <- function(m, kappa, a, b, x) {
  n <- length(x)
  K <- kappa + n
  M <- (kappa * m + sum(x)) / K
  A <- a + n / 2
  B <- b + sum((x - mean(x))^2) / 2 + kappa * n * (mean(x) - m)^2 / (2 * K)
  inner <- function(tau) {
    sapply(tau, function(t) {
      integrate(
        function(mu) {
          sapply(mu, function(v) exp(sum(dnorm(x, v, 1 / sqrt(t), log = TRUE)))) *
            dnorm(mu, m, 1 / sqrt(kappa * t))
        },
        M - 15 / sqrt(K * t), M + 15 / sqrt(K * t), rel.tol = 1e-11
      )$value * dgamma(t, a, b)
    })
  }
  list(
    m = m, kappa = kappa, a = a, b = b, x = x,
    low = M - qt(0.975, 2 * A) * sqrt(B / (A * K)), high = M + qt(0.975, 2 * A) * sqrt(B / (A * K)),
    precision = qgamma(c(0.025, 0.975), A, B),
    evidence = integrate(inner, 0, Inf, rel.tol = 1e-9)$value
  )
}

write_json(
  list(
    script = "tests/reference/probability/conjugate.R",
    versions = list(R = as.character(getRversion())),
    calls = "dbeta, qbeta, lbeta, qgamma, dnbinom, qt, integrate",
    beta = list(
      beta_case(5, 5, 4, 8), beta_case(5, 5, 304, 306), beta_case(1, 1, 1, 4),
      beta_case(1, 1, 10, 40), beta_case(1, 1, 100, 400), beta_case(5, 5, 0, 2),
      beta_case(0.1, 0.1, 3, 7), beta_case(0.5, 2, 0, 0), beta_case(2.5, 0.7, 1000, 3)
    ),
    gamma = list(gamma_case(2, 1, c(3, 5, 4)), gamma_case(0.5, 0.2, c(0, 1, 0, 7))),
    normal_gamma = list(
      normal_gamma_case(10, 1, 2, 2, c(12.1, 11.8, 12.4)),
      normal_gamma_case(0, 0.5, 1.5, 3, c(-1, 0.5, 2, 4))
    )
  ),
  file.path(here, "conjugate.json"), digits = NA, auto_unbox = TRUE
)
