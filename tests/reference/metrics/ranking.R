# Reference values for bottega.metrics, written to ranking.json beside this script:
#   Rscript ranking.R
#
# pROC: area under the ROC curve, DeLong's variance and interval, the test of two areas on the same
# rows, partial areas (plain and standardised), and Hand and Till's mean over pairs of classes.
# vcd: Cohen's kappa with its asymptotic standard error, plain and weighted.
suppressMessages({
  library(pROC)
  library(vcd)
})
library(jsonlite)

argument <- grep("^--file=", commandArgs(FALSE), value = TRUE)
folder <- dirname(sub("^--file=", "", argument))
seed <- 4
set.seed(seed)

sample_of <- function(n, digits) {
  y <- rbinom(n, 1, 0.35)
  list(
    y = y,
    a = round(0.9 * y + rnorm(n), digits),
    b = round(0.6 * y + rnorm(n), digits)
  )
}

curves <- lapply(list(c(60, 6), c(200, 1)), function(size) { # the second has many ties
  rows <- sample_of(size[1], size[2])
  first <- roc(rows$y, rows$a, levels = c(0, 1), direction = "<", quiet = TRUE)
  second <- roc(rows$y, rows$b, levels = c(0, 1), direction = "<", quiet = TRUE)
  test <- roc.test(first, second, method = "delong", paired = TRUE)
  low <- auc(first, partial.auc = c(1, 0.8), partial.auc.focus = "specificity")
  scaled <- auc(first,
    partial.auc = c(1, 0.8), partial.auc.focus = "specificity", partial.auc.correct = TRUE
  )
  best <- coords(first, "best", best.method = "youden", ret = c("sensitivity", "specificity"))
  list(
    y = rows$y, a = rows$a, b = rows$b,
    auc = as.numeric(auc(first)), variance = var(first, method = "delong"),
    interval = as.numeric(ci.auc(first, method = "delong")),
    interval_90 = as.numeric(ci.auc(first, conf.level = 0.9, method = "delong")),
    test = list(statistic = unname(test$statistic), p_value = test$p.value),
    partial = as.numeric(low), partial_standardized = as.numeric(scaled),
    youden = max(best$sensitivity + best$specificity - 1)
  )
})

classes <- sample(c("a", "b", "c"), 150, replace = TRUE, prob = c(0.5, 0.3, 0.2))
scores <- matrix(rnorm(450), 150) + outer(classes, c("a", "b", "c"), "==")
shares <- exp(scores) / rowSums(exp(scores))
colnames(shares) <- c("a", "b", "c")
pairs <- multiclass.roc(classes, shares, quiet = TRUE)

one <- sample(1:4, 120, replace = TRUE)
two <- pmin(4, pmax(1, one + sample(-1:1, 120, replace = TRUE, prob = c(0.2, 0.6, 0.2))))
table_of <- table(factor(one, 1:4), factor(two, 1:4))
kappas <- lapply(c("Equal-Spacing", "Fleiss-Cohen"), function(weights) {
  found <- Kappa(table_of, weights = weights)
  list(
    weights = weights, plain = unname(found$Unweighted), weighted = unname(found$Weighted)
  )
})

write_json(
  list(
    call = "pROC::roc, ci.auc, roc.test, multiclass.roc; vcd::Kappa",
    versions = list(
      R = R.version.string, pROC = as.character(packageVersion("pROC")),
      vcd = as.character(packageVersion("vcd"))
    ),
    seed = seed, curves = curves,
    pairs = list(y = classes, shares = unname(shares), auc = as.numeric(pairs$auc)),
    kappa = list(one = one, two = two, found = kappas)
  ),
  file.path(folder, "ranking.json"),
  auto_unbox = TRUE, digits = NA
)
