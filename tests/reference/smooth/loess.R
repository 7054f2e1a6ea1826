# Reference numbers for loess: R's stats::loess with exact statistics, direct and interpolated.
# Run with  Rscript tests/reference/smooth/loess.R ; writes loess.json beside this script.
suppressPackageStartupMessages(library(jsonlite))

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20240805
set.seed(seed)

# Simulated numbers are rounded, so that JSON holds them exactly (and the line has ties).
n <- 90
line_x <- round(rexp(n) * 3, 1)
line_y <- round(sin(line_x) + 0.3 * rnorm(n), 3)
line_y[c(7, 31, 64)] <- line_y[c(7, 31, 64)] + c(4, -3, 6)
plane_a <- round(rnorm(n), 3)
plane_b <- round(10 * rexp(n), 3)
plane_y <- round(cos(1.5 * plane_a) + plane_b / 10 + 0.2 * rnorm(n), 3)
space_c <- round(runif(n), 3)
sets <- list(
  cars = list(X = data.frame(a = cars$speed), y = cars$dist,
              new = data.frame(a = c(2, 4.5, 10.2, 15, 21.7, 30))),
  line = list(X = data.frame(a = line_x), y = line_y,
              new = data.frame(a = c(-1, 0.05, 1.23, 4, 7.7, 20))),
  plane = list(X = data.frame(a = plane_a, b = plane_b), y = plane_y,
               new = data.frame(a = c(0, 0.5, -1, 1.2), b = c(5, 12, 3, 60))),
  space = list(X = data.frame(a = plane_a, b = plane_b, c = space_c), y = plane_y,
               new = data.frame(a = c(0, 0.5), b = c(5, 12), c = c(0.5, 0.3)))
)

run <- function(name, span, degree, surface, family = "gaussian", weighted = FALSE,
                normalize = TRUE) {
  set <- sets[[name]]
  data <- cbind(set$X, y = set$y, w = rep(c(1, 2, 0.5, 1, 3), length.out = length(set$y)))
  if (!weighted) data$w <- 1
  formula <- as.formula(paste("y ~", paste(names(set$X), collapse = " + ")))
  fit <- loess(formula, data, weights = w, span = span, degree = degree, family = family,
               normalize = normalize,
               control = loess.control(surface = surface, statistics = "exact"))
  at <- predict(fit, data, se = TRUE)
  new <- predict(fit, set$new, se = TRUE)
  list(set = name, span = span, degree = degree, surface = surface, family = family,
       weighted = weighted, normalize = normalize,
       fitted = unname(fit$fitted), se = unname(at$se.fit), df = at$df,
       # With se = TRUE R's direct robust predictions forget the prior weights (their standard
       # errors do not), so the means come from a call of their own.
       new = unname(predict(fit, set$new)), new_se = unname(new$se.fit),
       s = fit$s, enp = fit$enp, trace = fit$trace.hat, one_delta = fit$one.delta,
       two_delta = fit$two.delta, divisor = unname(fit$divisor))
}

cases <- list()
add <- function(...) cases[[length(cases) + 1]] <<- run(...)
for (surface in c("direct", "interpolate")) {
  for (name in c("cars", "line", "plane")) {
    for (degree in 0:2) for (span in c(0.3, 0.75, 1.5)) add(name, span, degree, surface)
    add(name, 0.6, 2, surface, weighted = TRUE)
    add(name, 0.6, 1, surface, family = "symmetric")
    add(name, 0.75, 2, surface, family = "symmetric")
    add(name, 0.75, 2, surface, family = "symmetric", weighted = TRUE)
  }
  add("plane", 0.5, 2, surface, normalize = FALSE)
  add("space", 0.8, 2, surface)
  add("space", 0.5, 1, surface)
}

write_json(
  list(
    call = "loess(control = loess.control(statistics = 'exact'))",
    versions = list(R = R.version.string),
    seed = seed,
    sets = lapply(sets, function(set) {
      list(X = unname(as.matrix(set$X)), y = set$y, new = unname(as.matrix(set$new)))
    }),
    cases = cases
  ),
  file.path(here, "loess.json"), digits = 13, auto_unbox = TRUE, na = "null"
)
