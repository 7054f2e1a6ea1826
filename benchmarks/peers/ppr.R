# Projection pursuit of R's stats with the super smoother, timed inside R. Arguments: folder with
# X.bin, y.bin, new.bin and size.txt, the number of terms, the number of repeats. Writes pred.bin
# (predictions of the new rows) and seconds.txt there.
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
terms <- as.integer(arguments[2])
repeats <- as.integer(arguments[3])
size <- scan(file.path(folder, "size.txt"), quiet = TRUE)
read <- function(name) {
  file <- file.path(folder, paste0(name, ".bin"))
  readBin(file, "double", file.size(file) / 8)
}
X <- matrix(read("X"), size[1])
y <- read("y")
seconds <- numeric(repeats)
for (i in seq_len(repeats)) {
  seconds[i] <- system.time(fit <- ppr(X, y, nterms = terms))["elapsed"]
}
writeBin(as.vector(predict(fit, matrix(read("new"), ncol = size[2]))), file.path(folder, "pred.bin"))
writeLines(format(seconds, digits = 10), file.path(folder, "seconds.txt"))
