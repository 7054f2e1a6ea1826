# Reference numbers for local regression: locfit fitted directly at every point, KernSmooth's binned
# curves and its plug-in bandwidth.
# Run with  Rscript tests/reference/smooth/local.R ; writes local.json beside this script.
suppressPackageStartupMessages({
  library(jsonlite)
  library(KernSmooth)
  library(locfit)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20240806
set.seed(seed)

# Simulated numbers are rounded, so that JSON holds them exactly (and the line has ties).
n <- 90
line_x <- round(rexp(n) * 3, 1)
line_y <- round(sin(line_x) + 0.3 * rnorm(n), 3)
a <- round(rnorm(n), 3)
b <- round(3 * runif(n), 3)
plane_y <- round(cos(1.5 * a) + b / 2 + 0.2 * rnorm(n), 3)
weight <- rep(c(1, 2, 0.5, 1, 3), length.out = n)

# locfit's normal weight function is exp(-(2.5 u)^2 / 2): its h is 2.5 standard deviations.
kernels <- c(normal = "gauss", biquadratic = "bisq", tricube = "tcub", epanechnikov = "epan")

exact <- function(set, kernel, degree, h, nearest = 0, weighted = FALSE) {
  data <- data.frame(y = if (set == "line") line_y else plane_y, x = line_x, a = a, b = b,
                     w = if (weighted) weight else 1)
  width <- if (kernel == "normal") 2.5 * h else h
  reach <- if (nearest > 0) 0 else width
  inputs <- if (set == "line") lp(data$x, nn = nearest, h = reach, deg = degree)
            else lp(data$a, data$b, nn = nearest, h = reach, deg = degree)
  fit <- locfit.raw(inputs, data$y, weights = data$w, kern = kernels[[kernel]], ev = dat(),
                    maxk = 1000)
  fitted <- fitted(fit)
  list(set = set, kernel = kernel, degree = degree, bandwidth = h, nearest = nearest,
       weighted = weighted, fitted = as.numeric(fitted),
       leverage = as.numeric(predict(fit, what = "infl", where = "data")),
       length = as.numeric(predict(fit, what = "nlx", where = "data")))
}

cases <- list()
add <- function(...) cases[[length(cases) + 1]] <<- exact(...)
for (kernel in names(kernels)) for (degree in 0:2) {
  add("line", kernel, degree, if (kernel == "normal") 1.2 else 4.5)
  add("plane", kernel, degree, if (kernel == "normal") 1 else 3)
}
add("line", "tricube", 1, 4.5, weighted = TRUE)
add("plane", "normal", 1, 1, weighted = TRUE)
add("line", "tricube", 1, 0, nearest = 0.5)
add("plane", "tricube", 1, 0, nearest = 0.5)

# Binned curves: many rows, so that the truncation of its weight function is what is left.
m <- 2000
many_x <- round(runif(m), 4)
many_y <- round(sin(6 * many_x) + 0.3 * rnorm(m), 3)
curves <- list()
for (degree in 0:2) for (drv in 0:min(degree, 1)) {
  fit <- locpoly(many_x, many_y, drv = drv, degree = degree, bandwidth = 0.05, gridsize = 401,
                 range.x = c(0, 1))
  curves[[length(curves) + 1]] <- list(degree = degree, derivative = drv, bandwidth = 0.05,
                                       curve = fit$y[seq(1, 401, by = 10)])
}

plugin <- function(f, size, noise) {
  x <- round(runif(size), 4)
  y <- round(f(x) + noise * rnorm(size), 4)
  list(x = x, y = y, bandwidth = dpill(x, y))
}
plugins <- list(plugin(function(x) sin(6 * x), 200, 0.3),
                plugin(function(x) x + 2 * exp(-200 * (x - 0.5)^2), 400, 0.3),
                plugin(function(x) 5 * x^2, 500, 1))

writeLines(toJSON(list(
  call = "locfit(ev = dat()), KernSmooth::locpoly, KernSmooth::dpill",
  versions = list(R = as.character(getRversion()),
                  locfit = as.character(packageVersion("locfit")),
                  KernSmooth = as.character(packageVersion("KernSmooth"))),
  seed = seed,
  line = list(x = line_x, y = line_y), plane = list(a = a, b = b, y = plane_y), weight = weight,
  many = list(x = many_x, y = many_y),
  cases = cases, curves = curves, plugins = plugins
), auto_unbox = TRUE, digits = 15), file.path(here, "local.json"))
