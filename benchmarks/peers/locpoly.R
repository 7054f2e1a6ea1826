# Binned local linear regression of KernSmooth, timed inside R. Arguments: folder with X.bin, y.bin
# and size.txt, the bandwidth, the number of grid points, the number of repeats. Writes grid.bin,
# pred.bin and seconds.txt there.
suppressMessages(library(KernSmooth))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
bandwidth <- as.numeric(arguments[2])
grid <- as.integer(arguments[3])
repeats <- as.integer(arguments[4])
size <- scan(file.path(folder, "size.txt"), quiet = TRUE)
x <- readBin(file.path(folder, "X.bin"), "double", size[1])
y <- readBin(file.path(folder, "y.bin"), "double", size[1])
seconds <- numeric(repeats)
for (i in seq_len(repeats)) {
  seconds[i] <- system.time({
    fit <- locpoly(x, y, degree = 1, bandwidth = bandwidth, gridsize = grid)
  })["elapsed"]
}
writeBin(fit$x, file.path(folder, "grid.bin"))
writeBin(fit$y, file.path(folder, "pred.bin"))
writeLines(format(seconds, digits = 10), file.path(folder, "seconds.txt"))
