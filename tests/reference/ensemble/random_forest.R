# Reference numbers for random forests: out-of-bag errors of randomForest and ranger over many
# seeds, on data that is written beside them (so that both sides see the same rows).
# Run with  Rscript tests/reference/ensemble/random_forest.R ; writes random_forest.json beside it.
suppressPackageStartupMessages({
  library(jsonlite)
  library(randomForest)
  library(ranger)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seeds <- 1:40
n_trees <- 200

summarise <- function(errors) list(mean = mean(errors), sd = sd(errors), seeds = length(errors))

# ---- numbers: Friedman's first function, ten inputs, five of them noise -------------------------
set.seed(11)
n <- 250
X <- round(matrix(runif(n * 10), n), 3)
y <- round(10 * sin(pi * X[, 1] * X[, 2]) + 20 * (X[, 3] - 0.5)^2 + 10 * X[, 4] + 5 * X[, 5] +
             rnorm(n), 3)
colnames(X) <- paste0("x", 1:10)

regression <- list()
for (mtry in c(1, 3, 10)) {
  errors <- sapply(seeds, function(seed) {
    set.seed(seed)
    randomForest(X, y, ntree = n_trees, mtry = mtry, nodesize = 1)$mse[n_trees]
  })
  regression[[paste0("mtry_", mtry)]] <- summarise(errors)
}

# ---- classes: iris with noise, three classes ----------------------------------------------------
set.seed(12)
Z <- as.matrix(iris[, 1:4])
Z <- round(Z + matrix(rnorm(length(Z), sd = 0.5), nrow(Z)), 3)
label <- iris$Species
classes <- list()
for (mtry in c(1, 2, 4)) {
  errors <- sapply(seeds, function(seed) {
    set.seed(seed)
    forest <- ranger(x = as.data.frame(Z), y = label, num.trees = n_trees, mtry = mtry,
                     min.node.size = 1, probability = TRUE, seed = seed, num.threads = 1)
    said <- levels(label)[max.col(forest$predictions, ties.method = "first")]
    mean(said != label)
  })
  classes[[paste0("mtry_", mtry)]] <- summarise(errors)
}

# ---- importance: rise of the OOB error when a column is shuffled, over its standard error -------
set.seed(1)
forest <- randomForest(X, y, ntree = 500, mtry = 3, nodesize = 1, importance = TRUE)

write_json(
  list(
    script = "tests/reference/ensemble/random_forest.R",
    versions = list(
      R = as.character(getRversion()),
      randomForest = as.character(packageVersion("randomForest")),
      ranger = as.character(packageVersion("ranger"))
    ),
    calls = c(
      "randomForest(X, y, ntree = 200, mtry, nodesize = 1)$mse[200]",
      "ranger(Z, label, num.trees = 200, mtry, min.node.size = 1, probability = TRUE)",
      "randomForest(X, y, ntree = 500, mtry = 3, nodesize = 1, importance = TRUE)"
    ),
    X = unname(X), y = y, regression = regression,
    Z = unname(Z), label = as.character(label), classes = classes,
    importance = as.vector(randomForest::importance(forest, type = 1, scale = FALSE)),
    importance_z = as.vector(randomForest::importance(forest, type = 1, scale = TRUE))
  ),
  file.path(here, "random_forest.json"), digits = NA, auto_unbox = TRUE
)
