# Reference values for bottega.classify.NaiveBayes, written to naive_bayes.json beside this script:
#   Rscript naive_bayes.R
#
# e1071::naiveBayes on numbers (iris), on numbers, categories and truth values with missing entries
# (MASS::birthwt), with and without Laplace's pseudo-counts; densities by stats::density's default
# bandwidth (bw.nrd0), summed up exactly, for numbers by kernels.
library(e1071)
library(MASS)
library(jsonlite)

argument <- grep("^--file=", commandArgs(FALSE), value = TRUE)
folder <- dirname(sub("^--file=", "", argument))

train <- c(seq(1, 149, by = 2), 2, 4)
numbers <- naiveBayes(iris[train, 1:4], iris$Species[train])
posterior <- predict(numbers, iris[-train, 1:4], type = "raw")

births <- data.frame(
  age = as.numeric(birthwt$age), lwt = as.numeric(birthwt$lwt),
  race = factor(c("white", "black", "other")[birthwt$race]),
  smoke = factor(ifelse(birthwt$smoke == 1, "yes", "no"))
)
births$age[c(4, 17, 100)] <- NA
births$race[c(2, 50)] <- NA
births$smoke[c(2, 77)] <- NA
low <- factor(birthwt$low)
mixed <- lapply(c(0, 1), function(laplace) {
  fit <- naiveBayes(births, low, laplace = laplace)
  list(laplace = laplace, posterior = predict(fit, births, type = "raw"))
})

# Kernel densities, summed up exactly.
log_joint <- sapply(levels(iris$Species), function(k) {
  inside <- iris[train, ][iris$Species[train] == k, 1:4]
  total <- log(nrow(inside) / length(train))
  for (j in 1:4) {
    h <- bw.nrd0(inside[, j])
    total <- total + log(sapply(iris[-train, j], function(x) mean(dnorm(x, inside[, j], h))))
  }
  total
})
kernel <- exp(log_joint - apply(log_joint, 1, max))

write_json(
  list(
    about = list(
      call = "Rscript naive_bayes.R", R = R.version.string,
      e1071 = as.character(packageVersion("e1071")), MASS = as.character(packageVersion("MASS")),
      jsonlite = as.character(packageVersion("jsonlite"))
    ),
    train = unname(as.matrix(iris[train, 1:4])), labels = as.character(iris$Species[train]),
    new = unname(as.matrix(iris[-train, 1:4])),
    posterior = unname(posterior),
    kernel = unname(kernel / rowSums(kernel)),
    births = births, low = as.character(low), mixed = mixed
  ),
  file.path(folder, "naive_bayes.json"),
  digits = NA, auto_unbox = TRUE, na = "null"
)
