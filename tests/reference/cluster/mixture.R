# Reference numbers for mixtures of normal distributions: mclust's fourteen families.
# Run with  Rscript tests/reference/cluster/mixture.R ; writes mixture.json beside this script.
suppressPackageStartupMessages({
  library(mclust)
  library(jsonlite)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
families <- c("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVE", "VVE", "EEV", "VEV",
              "EVV", "VVV")
# Until nothing changes any more, in and inside the M steps.
control <- emControl(tol = c(1e-13, 1e-13), itmax = c(20000, 5000))

# The start is the same for both sides: groups of equal size along one column.
groups <- function(x, k) (rank(x, ties.method = "first") - 1) %/% (length(x) / k) + 1

one <- function(X, labels, k) {
  z <- unmap(labels)
  sapply(families, function(family) {
    hard <- mstep(X, modelName = family, z = z)
    fit <- me(X, modelName = family, z = z, control = control)
    n <- nrow(X)
    found <- bic(family, fit$loglik, n, ncol(X), k)
    chosen <- apply(fit$z, 1, max)
    list(
      mstep_sigma = aperm(hard$parameters$variance$sigma, c(3, 1, 2)),
      mstep_mean = t(hard$parameters$mean),
      loglik = fit$loglik,
      bic = found,
      icl = found + 2 * sum(log(chosen)),
      df = nMclustParams(family, ncol(X), k),
      pro = fit$parameters$pro,
      mean = t(fit$parameters$mean),
      sigma = aperm(fit$parameters$variance$sigma, c(3, 1, 2))
    )
  }, simplify = FALSE)
}

iris4 <- as.matrix(iris[, 1:4])
dimnames(iris4) <- NULL
geyser <- as.matrix(faithful)
dimnames(geyser) <- NULL
iris_labels <- groups(iris4[, 3], 3)
geyser_labels <- groups(geyser[, 1], 2)

answer <- list(
  call = "mclust::mstep and mclust::me with z of given labels, emControl(tol = 1e-13)",
  versions = list(R = R.version.string, mclust = as.character(packageVersion("mclust"))),
  seed = "none: nothing is random",
  iris = list(X = iris4, labels = iris_labels, k = 3, fits = one(iris4, iris_labels, 3)),
  faithful = list(X = geyser, labels = geyser_labels, k = 2, fits = one(geyser, geyser_labels, 2))
)
write_json(answer, file.path(here, "mixture.json"), digits = 12, auto_unbox = TRUE)
