# Reference values for bottega.classify's discriminants, written to discriminant.json beside this
# script:
#   Rscript discriminant.R
#
# MASS::lda and MASS::qda on iris (all rows; a part with classes of unequal size; given priors), and
# lda with method = "t", whose means are those of a multivariate t distribution.
library(MASS)
library(jsonlite)

argument <- grep("^--file=", commandArgs(FALSE), value = TRUE)
folder <- dirname(sub("^--file=", "", argument))

rows <- c(1:50, 51:80, 101:120)
X <- as.matrix(iris[rows, 1:4])
dimnames(X) <- NULL
y <- droplevels(iris$Species[rows])
new <- as.matrix(iris[-rows, 1:4])
dimnames(new) <- NULL
prior <- c(0.2, 0.3, 0.5)

described <- function(fit) {
  found <- predict(fit, new)
  list(
    class = as.character(found$class), posterior = unname(found$posterior),
    means = unname(fit$means), scaling = unname(fit$scaling), svd = fit$svd,
    coordinates = unname(found$x)
  )
}

quadratic <- function(fit) {
  found <- predict(fit, new)
  list(class = as.character(found$class), posterior = unname(found$posterior), ldet = fit$ldet)
}

# Collinear columns: the last is the sum of two others.
collinear <- suppressWarnings(lda(cbind(X, X[, 1] + X[, 2]), y))

# Rows with outliers, and the t distribution with 5 degrees of freedom.
outlying <- X
outlying[c(3, 60, 95), 2] <- outlying[c(3, 60, 95), 2] + c(20, -15, 30)
robust <- lda(outlying, y, method = "t", nu = 5)

write_json(
  list(
    about = list(
      call = "Rscript discriminant.R", R = R.version.string,
      MASS = as.character(packageVersion("MASS")), jsonlite = as.character(packageVersion("jsonlite"))
    ),
    X = X, y = as.character(y), new = new, prior = prior,
    lda = described(lda(X, y)),
    lda_prior = described(lda(X, y, prior = prior)),
    lda_collinear = unname(predict(collinear, cbind(new, new[, 1] + new[, 2]))$posterior),
    qda = quadratic(qda(X, y)),
    qda_prior = quadratic(qda(X, y, prior = prior)),
    outlying = outlying,
    robust = list(means = unname(robust$means), scaling = unname(robust$scaling))
  ),
  file.path(folder, "discriminant.json"),
  digits = NA, auto_unbox = TRUE
)
