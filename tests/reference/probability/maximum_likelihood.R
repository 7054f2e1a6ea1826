# Reference numbers for maximum likelihood: MASS::fitdistr, and profile intervals by stats::uniroot.
# Run with  Rscript tests/reference/probability/maximum_likelihood.R ; writes a JSON file beside it.
suppressPackageStartupMessages({
  library(jsonlite)
  library(MASS)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))

set.seed(17)
tight <- list(reltol = 1e-15, maxit = 5000, ndeps = c(1e-4, 1e-4))

case_of <- function(name, family, x, ...) {
  fit <- fitdistr(x, family, ...)
  list(
    name = name, x = x, estimate = as.list(fit$estimate), sd = as.list(fit$sd),
    loglik = as.numeric(logLik(fit))
  )
}

# Normal data: the profile of the standard deviation is in closed form.
normal_profile <- function(x) {
  n <- length(x)
  s <- sqrt(mean((x - mean(x))^2))
  drop <- function(v) n * (log(v / s) + (s^2 / v^2 - 1) / 2) - qchisq(0.95, 1) / 2
  c(
    uniroot(drop, c(s / 10, s), tol = 1e-13)$root,
    uniroot(drop, c(s, s * 10), tol = 1e-13)$root
  )
}

g <- round(rgamma(120, shape = 2.5, rate = 0.8), 4)
w <- round(rweibull(90, 1.6, 3), 4)
n <- round(rnorm(40, 10, 3), 4)
t <- round(5 + 2 * rt(200, 4), 4)
b <- round(rbeta(100, 0.8, 2.4), 5)
k <- rnbinom(150, size = 3, mu = 4)

write_json(
  list(
    script = "tests/reference/probability/maximum_likelihood.R",
    versions = list(R = as.character(getRversion()), MASS = as.character(packageVersion("MASS"))),
    seed = 17,
    calls = "MASS::fitdistr(x, family, control = list(reltol = 1e-15, maxit = 5000))",
    cases = list(
      case_of("normal", "normal", n),
      case_of("exponential", "exponential", w),
      case_of("lognormal", "lognormal", g),
      case_of("poisson", "Poisson", k),
      case_of("geometric", "geometric", k),
      case_of("gamma", "gamma", g, control = tight),
      case_of("weibull", "weibull", w, control = tight),
      case_of("beta", "beta", b, start = list(shape1 = 1, shape2 = 2), control = tight),
      case_of("t", "t", t, control = list(reltol = 1e-15, maxit = 5000, ndeps = rep(1e-4, 3))),
      case_of("negative binomial", "negative binomial", k, control = tight)
    ),
    normal_profile = list(x = n, interval = normal_profile(n))
  ),
  file.path(here, "maximum_likelihood.json"), digits = NA, auto_unbox = TRUE
)
