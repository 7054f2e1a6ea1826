# Reference numbers for kernels, kernel ridge regression and the linear support vector machine.
# Run with  Rscript tests/reference/kernel/kernels.R ; writes kernels.json beside this script.
suppressPackageStartupMessages({
  library(e1071)
  library(kernlab)
  library(jsonlite)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20261116
set.seed(seed)

# ---- data: simulated numbers are rounded, so that JSON holds them exactly ------------------------
X <- round(matrix(rnorm(40 * 3), 40, 3), 4)
Z <- round(matrix(rnorm(6 * 3), 6, 3), 4)
y <- round(sin(X[, 1]) + X[, 2]^2 / 2 + 0.1 * rnorm(40), 4)
label <- ifelse(X[, 1] - X[, 2] + 0.7 * rnorm(40) > 0, 1, -1)
texts <- c("banana", "bandana", "ananas", "cabana", "lemonade", "melon", "nab")

# ---- kernel matrices. polydot is (scale x.z + offset)^degree, tanhdot tanh(scale x.z + offset) --
plain <- function(K) matrix(as.numeric(K), nrow(K))
pairs <- function(k) outer(1:nrow(X), 1:nrow(Z), Vectorize(function(i, j) k(X[i, ], Z[j, ])[1]))
matrices <- list(
  gaussian = pairs(rbfdot(sigma = 0.3)),
  polynomial = pairs(polydot(degree = 3, scale = 0.5, offset = 2)),
  linear = pairs(vanilladot()),
  sigmoid = pairs(tanhdot(scale = 0.4, offset = -0.2))
)

# ---- the spectrum kernel: kernlab ends each text by a mark that counts as a character ------------
spectrum <- lapply(2:3, function(k) {
  plain(kernelMatrix(stringdot(type = "spectrum", length = k, normalized = FALSE), texts))
})
normalized <- plain(kernelMatrix(stringdot(type = "spectrum", length = 2, normalized = TRUE), texts))

# ---- the mean of a Gaussian process with noise variance alpha is kernel ridge, no intercept -----
alphas <- c(0.01, 0.3, 5)
ridge <- sapply(alphas, function(alpha) {
  fit <- gausspr(X, y, kernel = rbfdot(sigma = 0.3), var = alpha, scaled = FALSE,
                 type = "regression", tol = 1e-12, variance.model = FALSE)
  as.numeric(predict(fit, Z))
})

# ---- libsvm's hinge with an intercept that is free of penalty -----------------------------------
Cs <- c(0.1, 1)
svm <- lapply(Cs, function(C) {
  fit <- svm(X, factor(label, levels = c(1, -1)), kernel = "linear", cost = C, scale = FALSE,
             tolerance = 1e-10)
  f <- as.numeric(attr(predict(fit, Z, decision.values = TRUE), "decision.values"))
  list(C = C, decision = f * ifelse(fit$labels[1] == 1, 1, -1), n_support = fit$tot.nSV)
})

write_json(
  list(
    call = "kernlab: kernels, gausspr(var = alpha); e1071: svm(kernel = 'linear')",
    versions = list(R = R.version.string, kernlab = as.character(packageVersion("kernlab")),
                    e1071 = as.character(packageVersion("e1071"))),
    seed = seed, X = X, Z = Z, y = y, label = label, texts = texts, matrices = matrices,
    spectrum = spectrum, normalized = normalized, alphas = alphas, ridge = ridge, svm = svm
  ),
  file.path(here, "kernels.json"),
  digits = NA, auto_unbox = TRUE
)
