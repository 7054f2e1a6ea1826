# Best subsets of every size by leaps, timed inside R. Arguments: folder with X.bin, y.bin and
# size.txt, the number of repeats. Writes rss.bin and seconds.txt there.
suppressMessages(library(leaps))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
repeats <- as.integer(arguments[2])
size <- scan(file.path(folder, "size.txt"), quiet = TRUE)
read <- function(name, count) readBin(file.path(folder, name), "double", count)
X <- matrix(read("X.bin", size[1] * size[2]), size[1], size[2])
y <- read("y.bin", size[1])
seconds <- numeric(repeats)
for (i in seq_len(repeats)) {
  seconds[i] <- system.time(
    fit <- regsubsets(X, y, nvmax = ncol(X), method = "exhaustive", really.big = TRUE)
  )["elapsed"]
}
writeBin(as.vector(summary(fit)$rss), file.path(folder, "rss.bin"))
writeLines(format(seconds, digits = 10), file.path(folder, "seconds.txt"))
