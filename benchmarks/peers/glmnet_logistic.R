# Logistic lasso path by glmnet, timed inside R. Arguments: folder with X.bin, y.bin, alphas.bin and
# size.txt, the family, the number of repeats. Writes coef.bin (class by class) and seconds.txt there.
suppressMessages(library(glmnet))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
family <- arguments[2]
repeats <- as.integer(arguments[3])
size <- scan(file.path(folder, "size.txt"), quiet = TRUE)
read <- function(name, count) readBin(file.path(folder, name), "double", count)
X <- matrix(read("X.bin", size[1] * size[2]), size[1], size[2])
y <- as.integer(read("y.bin", size[1]))
alphas <- read("alphas.bin", size[3])
seconds <- numeric(repeats)
for (i in seq_len(repeats)) {
  seconds[i] <- system.time(
    fit <- glmnet(X, y, family = family, lambda = alphas, standardize = FALSE, intercept = FALSE)
  )["elapsed"]
}
beta <- if (family == "binomial") list(fit$beta) else fit$beta
writeBin(unlist(lapply(beta, function(b) as.vector(as.matrix(b)))), file.path(folder, "coef.bin"))
writeLines(format(seconds, digits = 10), file.path(folder, "seconds.txt"))
