# Reference numbers for the additive model: mgcv::gam with P-splines, tensor products, cyclic and
# thin-plate bases, varying coefficients, random effects; five families; REML, GCV and UBRE.
# Run with  Rscript tests/reference/additive/mgcv.R ; writes mgcv.json beside this script.
suppressPackageStartupMessages({
  library(jsonlite)
  library(mgcv)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20240715
set.seed(seed)

# Simulated numbers are rounded, so that JSON holds them exactly.
n <- 300
f0 <- function(x) 2 * sin(pi * x)
f1 <- function(x) exp(2 * x) / 3
f2 <- function(x) 0.2 * x^11 * (10 * (1 - x))^6 + 10 * (10 * x)^3 * (1 - x)^10
x0 <- round(runif(n), 4)
x1 <- round(runif(n), 4)
x2 <- round(runif(n), 4)
x3 <- round(runif(n), 4)
id <- rep(1:15, length.out = n)
shift <- round(rnorm(15, sd = 0.8), 4)
empty <- rep(1:12, each = n / 12) # groups without an effect
level <- c("a", "b", "c")[1 + (seq_len(n) %% 3)]
weight <- round(runif(n, 0.3, 3), 2)
exposure <- round(runif(n, 0.5, 4), 2)
near <- round(pmin(pmax(0.85 * x0 + 0.15 * runif(n), 0), 1), 4) # nearly x0: concurvity
trials <- sample(1:6, n, replace = TRUE)
mean_of <- f0(x0) + f1(x1) + 0.4 * f2(x2)
eta <- (mean_of - mean(mean_of)) / 2
data <- data.frame(x0, x1, x2, x3, near, id = factor(id), empty = factor(empty),
                   level = factor(level), weight, exposure, trials)
data$gauss <- round(mean_of + rnorm(n, sd = 1.5), 3)
data$noisy <- round(mean_of + rnorm(n, sd = 1.5) / sqrt(weight), 3)
data$grouped <- round(mean_of + shift[id] + rnorm(n, sd = 1), 3)
data$binary <- rbinom(n, 1, plogis(eta))
data$share <- rbinom(n, trials, plogis(eta)) / trials
data$count <- rpois(n, exposure * exp(0.4 * eta))
data$positive <- round(rgamma(n, shape = 3, rate = 3 / exp(0.5 * eta)), 4) + 0.001
data$over <- rnbinom(n, size = 2, mu = exp(1 + 0.5 * eta))
data$surface <- round(sin(2 * pi * x0) * x1 * 2 + x2 + rnorm(n, sd = 0.3), 3)
data$wave <- round(sin(2 * pi * x0) + 0.5 * cos(4 * pi * x0) + x1 + rnorm(n, sd = 0.4), 3)
data$varying <- round(x3 * f0(x0) + c(a = 0, b = 1, c = -1)[level] * f1(x1) / 2 +
                        rnorm(n, sd = 0.4), 3)
data$stepped <- round(f0(x0) + 0.7 * x1 + c(a = 0, b = 0.6, c = -0.2)[level] +
                        rnorm(n, sd = 0.8), 3)
new <- 1 + 15 * (0:9) # rows of the training data at which terms are compared

answer <- function(fit, data) {
  told <- summary(fit)
  terms <- predict(fit, data[new, ], type = "terms", se.fit = TRUE)
  plain <- function(m) if (is.null(m) || length(m) == 0) NULL else
    list(names = I(rownames(m)), columns = I(colnames(m)), values = unname(as.matrix(m)))
  found <- list(
    call = deparse1(fit$formula), method = fit$method, family = fit$family$family,
    link = fit$family$link, edf = I(unname(told$edf)), edf_total = sum(fit$edf),
    edf1 = I(sapply(fit$smooth, function(s) sum(fit$edf1[s$first.para:s$last.para]))),
    score = unname(fit$gcv.ubre), scale = unname(told$scale), deviance = deviance(fit),
    null_deviance = fit$null.deviance, dev_expl = told$dev.expl, r_sq = told$r.sq,
    residual_df = told$residual.df, aic = AIC(fit), loglik = as.numeric(logLik(fit)),
    fitted = unname(fitted(fit)), fitted_at = unname(predict(fit, data[new, ], type = "response")),
    smooth = plain(told$s.table), parametric = plain(told$p.table), wald = plain(told$pTerms.table),
    terms = list(names = I(colnames(terms$fit)), fit = unname(terms$fit), se = unname(terms$se.fit))
  )
  if (grepl("Negative", fit$family$family)) found$theta <- fit$family$getTheta(TRUE)
  found
}

ps <- "bs = 'ps', k = 12"
four <- function(y) as.formula(sprintf("%s ~ s(x0, %s) + s(x1, %s) + s(x2, %s) + s(x3, %s)",
                                       y, ps, ps, ps, ps))
fits <- list()
add <- function(name, formula, family = gaussian(), method = "REML", weights = 1, select = FALSE,
                knots = NULL) {
  data$w <- weights
  fit <- gam(formula, family = family, data = data, method = method, weights = w, select = select,
             knots = knots)
  fits[[name]] <<- answer(fit, data)
  invisible(fit)
}

plain <- add("gaussian_reml", four("gauss"))
add("gaussian_gcv", four("gauss"), method = "GCV.Cp")
add("gaussian_weights", four("noisy"), weights = weight)
add("gaussian_select", four("gauss"), select = TRUE)
binary <- add("binomial_reml", four("binary"), binomial())
add("binomial_ubre", four("binary"), binomial(), method = "GCV.Cp")
add("binomial_trials", four("share"), binomial(), weights = trials)
add("poisson_reml", update(four("count"), ~ . + offset(log(exposure))), poisson())
add("poisson_ubre", update(four("count"), ~ . + offset(log(exposure))), poisson(),
    method = "GCV.Cp")
add("gamma_reml", four("positive"), Gamma(link = "log"))
add("gamma_gcv", four("positive"), Gamma(link = "log"), method = "GCV.Cp")
add("nb_reml", four("over"), nb())
add("tensor", surface ~ te(x0, x1, bs = "ps", k = c(6, 6), np = FALSE) + s(x2, bs = "ps", k = 12))
add("interaction", surface ~ s(x0, bs = "ps", k = 12) + s(x1, bs = "ps", k = 12) +
      ti(x0, x1, bs = "ps", k = c(6, 6), np = FALSE))
add("cyclic", wave ~ s(x0, bs = "cp", k = 12) + s(x1, bs = "ps", k = 12),
    knots = list(x0 = c(0, 1)))
add("by_number", varying ~ s(x0, by = x3, bs = "ps", k = 12) + s(x1, bs = "ps", k = 12))
add("by_factor", varying ~ level + s(x0, bs = "ps", k = 12) + s(x1, by = level, bs = "ps", k = 12))
add("random", grouped ~ s(x0, bs = "ps", k = 12) + s(x1, bs = "ps", k = 12) +
      s(x2, bs = "ps", k = 12) + s(id, bs = "re"))
add("random_null", gauss ~ s(x0, bs = "ps", k = 12) + s(x1, bs = "ps", k = 12) +
      s(x2, bs = "ps", k = 12) + s(empty, bs = "re"))
add("random_two", grouped ~ s(x0, bs = "ps", k = 12) + s(x1, bs = "ps", k = 12) +
      s(x2, bs = "ps", k = 12) + s(id, bs = "re") + s(empty, bs = "re"))
add("random_binomial", binary ~ s(x0, bs = "ps", k = 12) + s(x2, bs = "ps", k = 12) +
      s(id, bs = "re"), binomial())
add("parametric", stepped ~ x1 + level + s(x0, bs = "ps", k = 12))
add("parametric_binomial", binary ~ x1 + level + s(x2, bs = "ps", k = 12), binomial())
add("thin_plate", surface ~ s(x0, x1, bs = "tp", k = 25) + s(x2, bs = "ps", k = 12))
close <- add("concurvity", gauss ~ s(x0, bs = "ps", k = 12) + s(near, bs = "ps", k = 12) +
               s(x2, bs = "ps", k = 12))

concurved <- lapply(list(plain = plain, near = close), function(fit) {
  found <- concurvity(fit, full = TRUE)
  list(names = colnames(found), measures = rownames(found), values = unname(found))
})

# Too small a basis, and one that is large enough: the index of neighbouring residuals.
small <- gam(gauss ~ s(x0, bs = "ps", k = 12) + s(x2, bs = "ps", k = 4, m = c(1, 1)), data = data,
             method = "REML")
dimension <- lapply(list(small = small, plain = plain), function(fit) {
  set.seed(seed)
  found <- k.check(fit, subsample = 5000, n.rep = 2000)
  list(names = rownames(found), columns = colnames(found), values = unname(found))
})

# All that the tests of terms are made of, for two fits.
parts <- function(fit) {
  total <- matrix(0, length(coef(fit)), length(coef(fit)))
  at <- 0
  for (s in fit$smooth) for (one in s$S) {
    at <- at + 1
    where <- s$first.para:s$last.para
    total[where, where] <- total[where, where] + fit$sp[at] * one
  }
  W <- fit$weights
  told <- summary(fit)
  list(coef = unname(coef(fit)), covariance = unname(fit$Vp), covariance_freq = unname(fit$Ve),
       gram = crossprod(sqrt(W) * unname(model.matrix(fit))), penalty = total,
       edf = unname(fit$edf), edf1 = unname(fit$edf1), scale = fit$sig2, n = nrow(data),
       known = !told$dispersion == fit$sig2 || fit$scale.estimated == FALSE,
       first = I(sapply(fit$smooth, function(s) s$first.para)),
       last = I(sapply(fit$smooth, function(s) s$last.para)),
       smooth = list(names = I(rownames(told$s.table)), values = unname(told$s.table)))
}
inside <- list(
  gaussian = parts(gam(grouped ~ s(x0, bs = "ps", k = 8) + s(x3, bs = "ps", k = 8) +
                         s(id, bs = "re") + s(empty, bs = "re"), data = data, method = "REML")),
  binomial = parts(gam(binary ~ s(x0, bs = "ps", k = 8) + s(x2, bs = "ps", k = 8) +
                         s(id, bs = "re"), binomial(), data = data, method = "GCV.Cp"))
)

# The tail of weighted sums of chi-squares, and of their ratio to the estimate of a scale.
tails <- list()
for (weights in list(c(1, 0.4), c(1, 1, 1, 0.25), c(5, 2, 1, 0.5, 0.1), rep(1, 12),
                     1 / (1:30)^2)) {
  for (q in c(0.2, 1, 5, 20)) {
    at <- q * sum(weights) / 2
    known <- psum.chisq(at, weights, tol = 1e-7, nlim = 1e6)
    ratio <- psum.chisq(0, c(weights, -at / 25), df = c(rep(1, length(weights)), 25), tol = 1e-7,
                        nlim = 1e6)
    tails[[length(tails) + 1]] <- list(weights = weights, q = at, known = known, df = 25,
                                       ratio = ratio)
  }
}

found <- list(
  made_by = "mgcv.R", seed = seed, R = R.version.string,
  mgcv = as.character(packageVersion("mgcv")),
  calls = "gam(formula, family, data, method = 'REML' or 'GCV.Cp'), summary, predict(type = 'terms')",
  data = lapply(data, function(v) if (is.factor(v)) as.character(v) else v), rows = new,
  fits = fits, concurvity = concurved, dimension = dimension, inside = inside, tails = tails
)
write_json(found, file.path(here, "mgcv.json"), digits = NA, auto_unbox = TRUE, null = "null")
