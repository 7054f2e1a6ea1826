# Reference numbers for the penalised engine of bottega.additive: mgcv::gam with every link that the
# families of mgcv.R do not use there, with a given theta of the negative binomial, and with classes.
# Run with  Rscript tests/reference/additive/links.R ; writes links.json beside this script.
suppressPackageStartupMessages({
  library(jsonlite)
  library(mgcv)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20260115
set.seed(seed)

n <- 400
x0 <- round(runif(n), 4)
x1 <- round(runif(n), 4)
eta <- sin(6 * x0) + 2 * (x1 - 0.4)^2
data <- data.frame(x0, x1)
data$binary <- rbinom(n, 1, plogis(1.5 * eta - 0.5))
data$count <- rpois(n, exp(eta))
data$positive <- round(rgamma(n, 3, 3 / exp(eta)), 5)
data$over <- rnbinom(n, size = 2, mu = exp(eta + 0.5))
data$code <- (runif(n) > plogis(2 * eta)) + (runif(n) > 0.3 + 0.5 * x1)

terms <- "s(x0, bs = 'ps', k = 10) + s(x1, bs = 'ps', k = 10)"
rows <- round(seq(1, n, length.out = 25))
fit_of <- function(response, family, method = "REML") {
  fit <- gam(as.formula(paste(response, "~", terms)), family = family, data = data, method = method)
  list(
    score = unname(fit$gcv.ubre), edf = unname(summary(fit)$edf), deviance = deviance(fit),
    loglik = as.numeric(logLik(fit)), fitted = unname(fitted(fit)[rows])
  )
}
fits <- list(
  binomial_probit = fit_of("binary", binomial("probit")),
  binomial_cloglog = fit_of("binary", binomial("cloglog")),
  poisson_sqrt = fit_of("count", poisson("sqrt")),
  poisson_identity = fit_of("count", poisson("identity")),
  gamma_inverse = fit_of("positive", Gamma("inverse")),
  gamma_identity = fit_of("positive", Gamma("identity")),
  gaussian_log = fit_of("positive", gaussian("log")),
  negative_binomial_theta = fit_of("over", negbin(2)),
  poisson_gcv = fit_of("count", poisson(), "GCV.Cp")
)
model <- list(as.formula(paste("code ~", terms)), as.formula(paste("~", terms)))
classes <- gam(model, family = multinom(K = 2), data = data, method = "REML")
fits$classes <- list(
  edf = unname(summary(classes)$edf), deviance = deviance(classes),
  fitted = unname(predict(classes, type = "response")[rows, ])
)
answer <- list(
  R = R.version.string, mgcv = as.character(packageVersion("mgcv")), seed = seed,
  calls = "gam(y ~ s(x0, bs = 'ps', k = 10) + s(x1, ...), family, method = 'REML')",
  data = data, rows = rows, fits = fits
)
write_json(answer, file.path(here, "links.json"), digits = NA, auto_unbox = TRUE)
