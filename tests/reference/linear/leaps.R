# Reference numbers for subset selection: leaps::regsubsets.
# Run with  Rscript tests/reference/linear/leaps.R ; writes leaps.json beside this script.
suppressPackageStartupMessages({
  library(leaps)
  library(jsonlite)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20240611
set.seed(seed)

# ---- data ---------------------------------------------------------------------------------------
# Simulated numbers are rounded, so that JSON holds them exactly.
ar_X <- matrix(0, 120, 18)
ar_X[, 1] <- rnorm(120)
for (j in 2:18) ar_X[, j] <- 0.7 * ar_X[, j - 1] + sqrt(0.51) * rnorm(120)
ar_X <- round(ar_X, 4)
ar_y <- round(as.vector(ar_X[, c(2, 7, 8)] %*% c(1, -1, 0.7) + rnorm(120)), 4)
noise_X <- round(matrix(rnorm(60 * 14), 60, 14) + rnorm(60), 4)
noise_y <- round(rnorm(60), 4)
sets <- list(
  mtcars = list(X = as.matrix(mtcars[, -1]), y = mtcars$mpg),
  swiss = list(X = as.matrix(swiss[, -1]), y = swiss$Fertility),
  longley = list(X = as.matrix(longley[, 1:6]), y = longley$Employed),
  ar = list(X = ar_X, y = ar_y),
  noise = list(X = noise_X, y = noise_y)
)

# ---- regsubsets ---------------------------------------------------------------------------------
# cp is rss / sigma2 - n + 2 k with sigma2 of
# all columns; bic is n log(rss / nullrss) + k log n, relative to the model without columns.
found <- function(set, method, weights = rep(1, length(set$y)), force = NULL, intercept = TRUE) {
  colnames(set$X) <- paste0("c", seq_len(ncol(set$X)) - 1)
  fit <- regsubsets(
    set$X, set$y, weights = weights, nvmax = ncol(set$X), method = method, force.in = force,
    intercept = intercept
  )
  told <- summary(fit)
  # Forced columns are moved to the front, so the subsets are read by name.
  which <- told$which[, colnames(set$X), drop = FALSE]
  list(
    subsets = lapply(seq_len(nrow(which)), function(i) I(unname(base::which(which[i, ])) - 1)),
    rss = unname(told$rss), cp = unname(told$cp), bic = unname(told$bic), nullrss = fit$nullrss
  )
}

cases <- lapply(names(sets), function(name) {
  set <- sets[[name]]
  w <- rep(c(1, 2, 0.5), length.out = length(set$y))
  list(
    name = name, X = unname(set$X), y = set$y, weight = w,
    best = found(set, "exhaustive"),
    forward = found(set, "forward"),
    backward = found(set, "backward"),
    weighted = found(set, "exhaustive", weights = w),
    forced = found(set, "exhaustive", force = c(3, 5)),
    no_intercept = found(set, "exhaustive", intercept = FALSE)
  )
})

write_json(
  list(
    script = "tests/reference/linear/leaps.R", seed = seed,
    versions = list(R = as.character(getRversion()), leaps = as.character(packageVersion("leaps"))),
    calls = c("regsubsets(X, y, weights, nvmax, method, force.in, intercept)"),
    cases = cases
  ),
  file.path(here, "leaps.json"), digits = NA, auto_unbox = TRUE
)
