# A forest by ranger on all cores, timed inside R. Arguments: folder with X.bin, y.bin, test.bin and
# size.txt, "anova" or "class", the number of trees, columns tried at a split, least size of a node
# that is split, the number of threads. Writes pred.bin (predictions of test.bin) and seconds.txt there.
suppressMessages(library(ranger))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
method <- arguments[2]
trees <- as.integer(arguments[3])
tried <- as.integer(arguments[4])
least <- as.integer(arguments[5])
threads <- as.integer(arguments[6])
size <- scan(file.path(folder, "size.txt"), quiet = TRUE)
read <- function(name) {
  path <- file.path(folder, name)
  readBin(path, "double", file.info(path)$size / 8)
}
X <- matrix(read("X.bin"), size[1], size[2])
test <- matrix(read("test.bin"), ncol = size[2])
colnames(X) <- colnames(test) <- paste0("x", seq_len(size[2]))
y <- read("y.bin")
if (method == "class") y <- factor(y)
seconds <- system.time(
  fit <- ranger(x = X, y = y, num.trees = trees, mtry = tried, min.node.size = least,
                num.threads = threads, seed = 1)
)["elapsed"]
pred <- predict(fit, test, num.threads = threads)$predictions
if (method == "class") pred <- as.numeric(as.character(pred))
writeBin(as.vector(as.numeric(pred)), file.path(folder, "pred.bin"))
writeLines(format(seconds, digits = 10), file.path(folder, "seconds.txt"))
