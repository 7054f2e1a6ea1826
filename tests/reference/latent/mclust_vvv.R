# Reference numbers for mixtures of normals with any covariance: mclust's model VVV.
# Run with  Rscript tests/reference/latent/mclust_vvv.R ; writes mclust_vvv.json beside this script.
suppressPackageStartupMessages({
  library(jsonlite)
  library(mclust)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
X <- unname(as.matrix(iris[, 1:4]))
fit <- Mclust(X, G = 2, modelNames = "VVV", verbose = FALSE)
write_json(
  list(
    script = "tests/reference/latent/mclust_vvv.R",
    versions = list(R = as.character(getRversion()), mclust = as.character(packageVersion("mclust"))),
    calls = "Mclust(X, G = 2, modelNames = 'VVV')",
    X = X, loglik = fit$loglik, bic = fit$bic, df = fit$df, pro = fit$parameters$pro
  ),
  file.path(here, "mclust_vvv.json"), digits = NA, auto_unbox = TRUE
)
