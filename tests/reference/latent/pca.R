# Reference numbers for principal components: stats::prcomp.
# Run with  Rscript tests/reference/latent/pca.R ; writes pca.json beside this script.
suppressPackageStartupMessages(library(jsonlite))

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))

case_of <- function(name, X, scale) {
  fit <- prcomp(X, center = TRUE, scale. = scale)
  list(
    name = name, scale = scale, X = unname(X), names = colnames(X),
    sdev = fit$sdev, rotation = unname(fit$rotation), center = unname(fit$center),
    scores = unname(fit$x)
  )
}

wide <- t(as.matrix(USArrests))[, 1:12]

write_json(
  list(
    script = "tests/reference/latent/pca.R",
    versions = list(R = as.character(getRversion())),
    calls = "prcomp(X, center = TRUE, scale. = scale)",
    cases = list(
      case_of("iris", as.matrix(iris[, 1:4]), FALSE),
      case_of("iris_scaled", as.matrix(iris[, 1:4]), TRUE),
      case_of("arrests", as.matrix(USArrests), FALSE),
      case_of("arrests_scaled", as.matrix(USArrests), TRUE),
      case_of("wide", wide, FALSE)
    )
  ),
  file.path(here, "pca.json"), digits = NA, auto_unbox = TRUE
)
