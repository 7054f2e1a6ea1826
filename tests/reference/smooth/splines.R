# Reference numbers for splines of one input: splines::bs, splines::ns and stats::smooth.spline.
# Run with  Rscript tests/reference/smooth/splines.R ; writes splines.json beside this script.
suppressPackageStartupMessages({
  library(jsonlite)
  library(splines)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20240611
set.seed(seed)

# Simulated numbers are rounded, so that JSON holds them exactly.
x <- round(runif(40, -2, 7), 3)
new <- c(-3, -2, 0.5, 3, 6.5, 8)

# ---- bases --------------------------------------------------------------------------------------
bases <- list()
add <- function(kind, basis, arguments) {
  at_new <- suppressWarnings(predict(basis, new)) # beyond the boundary knots bs warns
  plain <- function(b) matrix(as.vector(b), nrow(b))
  bases[[length(bases) + 1]] <<- c(
    list(kind = kind, knots = as.vector(attr(basis, "knots")), basis = plain(basis),
         at_new = plain(at_new)),
    arguments
  )
}
for (intercept in c(TRUE, FALSE)) {
  for (degree in c(1, 2, 3)) {
    count <- 4
    df <- count + degree + intercept
    add("bs", bs(x, df = df, degree = degree, intercept = intercept),
        list(degree = degree, intercept = intercept, n_knots = count, boundary = NULL))
  }
  add("bs", bs(x, knots = c(0, 1, 4), intercept = intercept, Boundary.knots = c(-3, 9)),
      list(degree = 3, intercept = intercept, boundary = c(-3, 9)))
  add("ns", ns(x, df = 4 + 1 + intercept, intercept = intercept),
      list(degree = 3, intercept = intercept, n_knots = 4, boundary = NULL))
  add("ns", ns(x, knots = c(0, 1, 4), intercept = intercept, Boundary.knots = c(-2.5, 7.5)),
      list(degree = 3, intercept = intercept, boundary = c(-2.5, 7.5)))
}

# ---- smooth.spline ------------------------------------------------------------------------------
# lambda is given, all distinct x are knots. R scales x to [0, 1] and the weights to mean one, and
# divides the sum of squares by the number of rows: its penalty on the scale of x is
# lambda * n * range^3 in units of the scaled weights. tol is small: no near ties are joined.
y <- round(sin(x) + 0.4 * rnorm(40), 3)
tied_x <- round(x)
weight <- round(runif(40, 0.2, 3), 2)
sets <- list(
  plain = list(x = x, y = y, w = rep(1, 40)),
  weighted = list(x = x, y = y, w = weight),
  tied = list(x = tied_x, y = y, w = rep(1, 40)),
  tied_weighted = list(x = tied_x, y = y, w = weight)
)
fits <- list()
for (name in names(sets)) {
  set <- sets[[name]]
  for (lambda in c(1e-6, 1e-4, 1e-2, 1)) {
    fit <- smooth.spline(set$x, set$y, set$w, lambda = lambda, all.knots = TRUE, tol = 1e-10,
                         keep.data = FALSE)
    loo <- smooth.spline(set$x, set$y, set$w, lambda = lambda, all.knots = TRUE, tol = 1e-10,
                         cv = TRUE)
    fits[[length(fits) + 1]] <- list(
      set = name, lambda = lambda, df = fit$df, gcv = fit$cv.crit, loo = loo$cv.crit,
      pen_crit = fit$pen.crit,
      knots = fit$x, fitted = fit$y, leverage = fit$lev,
      at_new = predict(fit, new)$y, slope = predict(fit, new, deriv = 1)$y,
      bend = predict(fit, new, deriv = 2)$y
    )
  }
}
# The degrees of freedom asked for, and the choice by GCV, on R's own data.
chosen <- list()
for (name in c("cars", "mcycle_like", "airquality")) {
  set <- switch(name,
    cars = list(x = cars$speed, y = cars$dist),
    mcycle_like = {
      grid <- round(seq(0, 1, length.out = 120)^1.5, 4)
      list(x = grid, y = round(sin(12 * grid) * grid + 0.2 * rnorm(120), 4))
    },
    airquality = with(na.omit(airquality), list(x = Temp, y = Ozone))
  )
  gcv <- smooth.spline(set$x, set$y, all.knots = TRUE, tol = 1e-10, control.spar = list(tol = 1e-10))
  cv <- smooth.spline(set$x, set$y, all.knots = TRUE, tol = 1e-10, df = 6,
                      control.spar = list(tol = 1e-10))
  chosen[[name]] <- list(
    x = set$x, y = set$y, knots = gcv$x, df = gcv$df, lambda = gcv$lambda, gcv = gcv$cv.crit,
    fitted = gcv$y, fitted_df6 = cv$y, df6 = cv$df
  )
}

found <- list(
  made_by = "splines.R", seed = seed, R = R.version.string,
  calls = c("bs", "ns", "smooth.spline(lambda = , all.knots = TRUE, tol = 1e-10)"),
  x = x, new = new, y = y, tied_x = tied_x, weight = weight,
  bases = bases, fits = fits, chosen = chosen
)
write_json(found, file.path(here, "splines.json"), digits = NA, auto_unbox = TRUE, null = "null")
