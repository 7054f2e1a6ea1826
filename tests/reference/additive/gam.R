# Reference numbers for the backfitting engine: gam::gam with smoothing splines of given degrees of
# freedom and with local regression; gaussian, binomial, poisson.
# Run with  Rscript tests/reference/additive/gam.R ; writes gam.json beside this script.
suppressPackageStartupMessages({
  library(jsonlite)
  library(gam)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20240716
set.seed(seed)

# Beyond 49 distinct values s() takes fewer knots than there are values: columns are rounded.
n <- 200
x0 <- round(runif(n, -1, 3), 1)
x1 <- round(rnorm(n) * 4) / 4
x2 <- pmin(round(rexp(n) * 8) / 8, 4)
level <- c("a", "b", "c")[1 + (seq_len(n) %% 3)]
weight <- round(runif(n, 0.3, 3), 2)
mean_of <- sin(2 * x0) + 0.3 * x1^2 - log1p(x2)
data <- data.frame(x0, x1, x2, level = factor(level), weight)
data$gauss <- round(mean_of + 0.4 * rnorm(n), 4)
data$binary <- rbinom(n, 1, plogis(1.5 * mean_of))
data$count <- rpois(n, exp(0.5 + 0.6 * mean_of))
data$z <- round(runif(n, -1, 3), 4)
data$curved <- round(sin(2 * data$z) + 0.3 * x1^2 + 0.4 * rnorm(n), 4)

strict <- gam.control(epsilon = 1e-12, bf.epsilon = 1e-12, maxit = 100, bf.maxit = 500)
fits <- list()
add <- function(name, formula, family = gaussian(), weights = NULL) {
  data$w <- if (is.null(weights)) 1 else weights
  fit <- gam(formula, family = family, data = data, weights = w, control = strict)
  terms <- predict(fit, type = "terms")
  fits[[name]] <<- list(
    call = deparse1(formula), family = family$family, deviance = deviance(fit),
    null_deviance = fit$null.deviance, df_residual = fit$df.residual, nl_df = unname(fit$nl.df),
    nl_chisq = unname(fit$nl.chisq), aic = fit$aic, fitted = unname(fitted(fit)),
    linear_predictor = unname(fit$additive.predictors),
    terms = list(names = I(colnames(terms)), values = unname(terms))
  )
}
splines <- function(y) as.formula(paste(y, "~ s(x0, df = 6) + s(x1, df = 4) + s(x2, df = 3)"))
add("gaussian", splines("gauss"))
add("gaussian_weights", splines("gauss"), weights = weight)
add("gaussian_linear", gauss ~ s(x0, df = 6) + x1 + level)
add("binomial", splines("binary"), binomial())
add("poisson", splines("count"), poisson())
add("local", curved ~ lo(z, span = 0.5, degree = 1) + s(x1, df = 4))
add("local_alone", curved ~ lo(z, span = 0.5, degree = 1))

found <- list(
  made_by = "gam.R", seed = seed, R = R.version.string,
  gam = as.character(packageVersion("gam")),
  calls = "gam(formula, family, data, weights, control = gam.control(1e-12, 1e-12, 100, 500))",
  data = lapply(data, function(v) if (is.factor(v)) as.character(v) else v), fits = fits
)
write_json(found, file.path(here, "gam.json"), digits = NA, auto_unbox = TRUE, null = "null")
