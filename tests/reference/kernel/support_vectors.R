# Reference numbers for support vector machines.
# Run with  Rscript tests/reference/kernel/support_vectors.R ; writes support_vectors.json beside it.
suppressPackageStartupMessages({
  library(e1071)
  library(jsonlite)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 14
set.seed(seed)
n <- 120
X <- round(matrix(rnorm(n * 3), n, 3), 4)
signal <- X[, 1] * X[, 2] + X[, 3] + 0.5 * rnorm(n)
two <- factor(ifelse(signal > 0, "yes", "no"))
three <- factor(c("a", "b", "c")[findInterval(signal, c(-0.5, 0.5)) + 1])
number <- round(sin(X[, 1]) + X[, 2]^2 / 2 + 0.2 * rnorm(n), 4)
new <- round(matrix(rnorm(20 * 3), 20, 3), 4)

# The tolerance is far below what the tests ask for; libsvm keeps kernels in single precision.
values <- function(y, ...) {
  model <- svm(X, y, scale = FALSE, tolerance = 1e-8, ...)
  predicted <- predict(model, new, decision.values = TRUE)
  decisions <- attr(predicted, "decision.values")
  list(
    support = sort(model$index) - 1,
    predicted = if (is.factor(predicted)) as.character(predicted) else as.vector(predicted),
    pairs = colnames(decisions),
    decisions = decisions,
    rho = model$rho
  )
}

result <- list(
  call = "e1071: svm(X, y, scale = FALSE, tolerance = 1e-8, ...)",
  versions = list(R = R.version.string, e1071 = as.character(packageVersion("e1071"))),
  seed = seed,
  X = X, new = new, two = as.character(two), three = as.character(three), number = number,
  rbf = values(two, kernel = "radial", gamma = 0.3, cost = 2),
  linear = values(two, kernel = "linear", cost = 0.5),
  polynomial = values(two, kernel = "polynomial", degree = 2, gamma = 0.5, coef0 = 1, cost = 1),
  weighted = values(two, kernel = "radial", gamma = 0.3, cost = 2,
                    class.weights = c(no = 1, yes = 4)),
  several = values(three, kernel = "radial", gamma = 0.3, cost = 2),
  regression = values(number, kernel = "radial", gamma = 0.3, cost = 2, epsilon = 0.1),
  one_class = values(NULL, kernel = "radial", gamma = 0.3, nu = 0.2, type = "one-classification")
)
write(toJSON(result, digits = 12, auto_unbox = TRUE), file.path(here, "support_vectors.json"))
