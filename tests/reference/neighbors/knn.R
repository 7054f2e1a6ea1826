# Reference values for bottega.neighbors, written to knn.json beside this script:
#   Rscript knn.R
#
# class::knn and class::knn.cv with use.all = TRUE let every row at the k-th distance vote, as
# bottega does. They break equal votes at random, so of two classes only the winning share is
# comparable there: the test compares labels where prob is not 1/2. They take squared distances
# within 1e-4 of each other as equal; the continuous data have none so close at the k-th place
# (the script stops if they have).
library(class)
library(jsonlite)

argument <- grep("^--file=", commandArgs(FALSE), value = TRUE)
folder <- dirname(sub("^--file=", "", argument))
seed <- 2
set.seed(seed)

squared <- function(a, b) outer(rowSums(a^2), rowSums(b^2), "+") - 2 * a %*% t(b)

check_no_ties <- function(distances, ks) {
  sorted <- t(apply(distances, 1, sort))
  for (k in ks) stopifnot(all(sorted[, k + 1] > sorted[, k] * (1 + 1.01e-4)))
}

votes <- function(train, new, labels, ks) {
  lapply(ks, function(k) {
    found <- knn(train, new, labels, k = k, prob = TRUE, use.all = TRUE)
    list(k = k, label = as.character(found), prob = attr(found, "prob"))
  })
}

left_out <- function(train, labels, ks) {
  lapply(ks, function(k) {
    found <- knn.cv(train, labels, k = k, prob = TRUE, use.all = TRUE)
    list(k = k, label = as.character(found), prob = attr(found, "prob"))
  })
}

ks <- c(1, 3, 7, 15)

# Continuous inputs: no ties.
n <- 60
smooth_train <- matrix(round(rnorm(n * 3), 6), n)
smooth_labels <- factor(ifelse(smooth_train[, 1] + rnorm(n, sd = 0.8) > 0, "b", "a"))
smooth_new <- matrix(round(rnorm(40 * 3), 6), 40)
check_no_ties(squared(smooth_new, smooth_train), ks)
own <- squared(smooth_train, smooth_train)
check_no_ties(own[, ], ks + 1)

# Inputs on a coarse grid: many ties and duplicates.
m <- 50
grid_train <- matrix(sample(0:4, m * 2, replace = TRUE), m)
grid_labels <- factor(sample(c("a", "b"), m, replace = TRUE))
grid_new <- as.matrix(expand.grid(0:4, 0:4))

# Regression: means over the neighbours, each row left out in turn.
response <- round(sin(2 * smooth_train[, 1]) + rnorm(n, sd = 0.3), 6)
diag(own) <- Inf
regression_ks <- 1:20
regression_loo <- sapply(regression_ks, function(k) {
  predicted <- apply(own, 1, function(d) mean(response[order(d)[1:k]]))
  mean((response - predicted)^2)
})

# Parzen: densities by dnorm, Bayes' rule, and the same with each row left out.
sigmas <- c(2, 1, 0.5, 0.25)
density_at <- function(x, rows, sigma) {
  mean(apply(rows, 1, function(row) prod(dnorm(x, mean = row, sd = sigma))))
}
posterior <- function(x, rows, labels, sigma) {
  joint <- sapply(levels(labels), function(c) {
    inside <- rows[labels == c, , drop = FALSE]
    density_at(x, inside, sigma) * nrow(inside) / nrow(rows)
  })
  joint / sum(joint)
}
parzen <- lapply(sigmas, function(sigma) {
  list(
    sigma = sigma,
    posterior = t(apply(smooth_new, 1, posterior, smooth_train, smooth_labels, sigma)),
    log_density = sapply(levels(smooth_labels), function(c) {
      log(apply(smooth_new, 1, density_at, smooth_train[smooth_labels == c, ], sigma))
    }),
    loo_posterior = t(sapply(1:n, function(i) {
      posterior(smooth_train[i, ], smooth_train[-i, ], smooth_labels[-i], sigma)
    }))
  )
})

write_json(
  list(
    about = list(
      call = "Rscript knn.R",
      R = R.version.string,
      class = as.character(packageVersion("class")),
      jsonlite = as.character(packageVersion("jsonlite")),
      seed = seed
    ),
    smooth = list(
      train = smooth_train, labels = as.character(smooth_labels), new = smooth_new,
      knn = votes(smooth_train, smooth_new, smooth_labels, ks),
      knn_cv = left_out(smooth_train, smooth_labels, ks)
    ),
    grid = list(
      train = grid_train, labels = as.character(grid_labels), new = unname(grid_new),
      knn = votes(grid_train, grid_new, grid_labels, ks),
      knn_cv = left_out(grid_train, grid_labels, ks)
    ),
    regression = list(response = response, k = regression_ks, loo = regression_loo),
    parzen = parzen
  ),
  file.path(folder, "knn.json"),
  digits = NA, auto_unbox = TRUE
)
