# Reference numbers for k-means, hierarchical clustering, silhouettes and the gap statistic.
# Run with  Rscript tests/reference/cluster/clusters.R ; writes clusters.json beside this script.
suppressPackageStartupMessages({
  library(cluster)
  library(jsonlite)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
X <- as.matrix(iris[, 1:4])
dimnames(X) <- NULL

# ---- k-means from given rows: Lloyd's algorithm until no row changes its cluster -----------------
starts <- list(c(1, 51, 101), c(1, 2, 3), c(10, 20, 60, 110, 140))
kmeans_runs <- lapply(starts, function(rows) {
  fit <- kmeans(X, X[rows, ], algorithm = "Lloyd", iter.max = 200)
  list(rows = rows - 1, centers = unname(fit$centers), labels = fit$cluster - 1,
       inertia = fit$tot.withinss, sizes = fit$size)
})

# ---- silhouettes of the first run, and of its sums of absolute differences ----------------------
labels <- kmeans_runs[[1]]$labels
widths <- lapply(c(euclidean = "euclidean", cityblock = "manhattan"), function(metric) {
  s <- silhouette(as.integer(labels + 1), dist(X, metric))
  unname(s[, "sil_width"])
})

# ---- trees. Rows without ties; squared distances for centroid and median, as their formulas ask --
set.seed(5)
Y <- round(matrix(rnorm(30 * 3), 30, 3), 4)
d <- dist(Y)
methods <- c(ward = "ward.D2", average = "average", complete = "complete", single = "single",
             weighted = "mcquitty")
trees <- lapply(methods, function(method) {
  tree <- hclust(d, method)
  list(heights = tree$height, cut4 = cutree(tree, 4), cut9 = cutree(tree, 9),
       cophenetic = cor(d, cophenetic(tree)), order = tree$order - 1)
})
squared <- lapply(c(centroid = "centroid", median = "median"), function(method) {
  tree <- hclust(d^2, method)
  list(heights = sqrt(tree$height), cut4 = cutree(tree, 4))
})

# ---- the gap statistic: log W of given clusters (d.power = 2; W is half the sum of squares), and the
# ---- rule on given gaps --------------------------------------------------------------------------
by_rows <- function(x, k) {
  if (k == 1) return(list(cluster = rep(1L, nrow(x))))
  kmeans(x, x[seq_len(k) * 29, , drop = FALSE], algorithm = "Lloyd", iter.max = 200)
}
set.seed(1)
gap <- suppressWarnings(clusGap(X, by_rows, K.max = 4, B = 2, d.power = 2, verbose = FALSE))
log_within <- unname(gap$Tab[, "logW"])
rules <- lapply(1:6, function(i) {
  set.seed(i)
  f <- round(cumsum(runif(7, -0.05, 0.15)), 4)
  se <- round(runif(7, 0.01, 0.06), 4)
  list(gap = f, se = se, picked = maxSE(f, se, method = "Tibs2001SEmax"))
})

write_json(
  list(
    call = "kmeans(Lloyd), silhouette, hclust, cutree, cophenetic, clusGap(d.power = 2), maxSE",
    versions = list(R = R.version.string, cluster = as.character(packageVersion("cluster"))),
    X = X, kmeans = kmeans_runs, silhouettes = widths, Y = Y, trees = trees, squared = squared,
    log_within = log_within, rules = rules
  ),
  file.path(here, "clusters.json"), digits = NA, auto_unbox = TRUE
)
