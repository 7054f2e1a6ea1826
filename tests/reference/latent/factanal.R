# Reference numbers for factor analysis: R's factanal, without rotation, with varimax and promax.
# Run with  Rscript tests/reference/latent/factanal.R ; writes factanal.json beside this script.
suppressPackageStartupMessages(library(jsonlite))

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))

X <- unname(as.matrix(mtcars[, c("mpg", "cyl", "disp", "hp", "drat", "wt", "qsec", "gear", "carb")]))
# A tight optimum, and a rotation carried to its end: R's own default stops at 1e-5.
tight <- list(opt = list(factr = 1e4, maxit = 10000))

numbers <- function(K) {
  fit <- factanal(X, K, rotation = "none", control = tight)
  raw <- unclass(fit$loadings)
  attributes(raw) <- list(dim = dim(raw))
  spun <- varimax(raw, eps = 1e-15)
  lean <- function(T) {
    inverse <- solve(T)
    list(loadings = unname(raw %*% T), correlation = unname(inverse %*% t(inverse)))
  }
  # promax of stats, from the varimax solution carried to its end
  target <- unclass(spun$loadings)
  attributes(target) <- list(dim = dim(target))
  oblique <- promax(target, m = 4)
  z <- scale(X)
  list(
    K = K, uniquenesses = unname(fit$uniquenesses), objective = unname(fit$criteria["objective"]),
    dof = fit$dof, statistic = unname(fit$STATISTIC), p_value = unname(fit$PVAL),
    none = lean(diag(K)), varimax = lean(spun$rotmat),
    promax = lean(spun$rotmat %*% oblique$rotmat),
    regression = unname(z %*% solve(cor(X), raw)),
    bartlett = unname(z %*% (raw / fit$uniquenesses) %*%
      solve(t(raw) %*% (raw / fit$uniquenesses)))
  )
}

write_json(
  list(
    script = "tests/reference/latent/factanal.R",
    versions = list(R = as.character(getRversion())),
    calls = c("factanal(X, K, rotation = 'none', control = tight)", "varimax(raw, eps = 1e-15)",
              "promax(varimax loadings, m = 4)"),
    X = X, fits = lapply(2:3, numbers)
  ),
  file.path(here, "factanal.json"), digits = NA, auto_unbox = TRUE
)
