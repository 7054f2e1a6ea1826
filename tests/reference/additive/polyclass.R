# Reference errors for bottega.additive.AdaptiveSplinesClassifier(method="multinomial"), written to
# polyclass.json beside this script:
#   Rscript polyclass.R
#
# polspline::polyclass at its defaults: linear splines and their products for the log odds of the
# classes, added by score tests, removed by Wald tests and chosen by BIC. Errors on rows that were not
# fitted: the diabetes of MASS, and two generated tables.
library(polspline)
library(MASS)
library(jsonlite)

argument <- grep("^--file=", commandArgs(FALSE), value = TRUE)
folder <- dirname(sub("^--file=", "", argument))

errors <- function(X, y, new, label) {
  fit <- polyclass(y, X)
  odds <- ppolyclass(new, fit)
  list(
    X = unname(as.matrix(X)), y = y, new = unname(as.matrix(new)), label = label,
    error = mean(max.col(odds, "first") != label),
    log_loss = -mean(log(odds[cbind(seq_along(label), label)])), n_terms = fit$nbas
  )
}

set.seed(5)
# Three rings, and three noise columns.
rings <- function(n) {
  X <- round(matrix(rnorm(5 * n), n), 4)
  r <- X[, 1]^2 + X[, 2]^2 + 0.5 * rnorm(n)
  list(X = X, y = 1L + (r > 0.9) + (r > 2.6))
}
# Two classes by an interaction: a product of two inputs.
product <- function(n) {
  X <- round(matrix(runif(4 * n, -1, 1), n), 4)
  list(X = X, y = 1L + (runif(n) < plogis(8 * pmax(0, X[, 1]) * pmax(0, X[, 2] + 0.5) - 1.5)))
}
ring <- list(rings(300), rings(1000))
square <- list(product(400), product(1000))
pima <- lapply(list(Pima.tr, Pima.te), function(data) {
  list(X = as.matrix(data[, 1:7]), y = 1L + (data$type == "Yes"))
})
tables <- lapply(list(rings = ring, product = square, pima = pima), function(pair) {
  errors(pair[[1]]$X, pair[[1]]$y, pair[[2]]$X, pair[[2]]$y)
})

write_json(
  list(
    about = list(
      call = "Rscript polyclass.R", R = R.version.string, seed = 5,
      polspline = as.character(packageVersion("polspline")),
      MASS = as.character(packageVersion("MASS")),
      jsonlite = as.character(packageVersion("jsonlite"))
    ),
    tables = tables
  ),
  file.path(folder, "polyclass.json"),
  digits = NA, auto_unbox = TRUE
)
