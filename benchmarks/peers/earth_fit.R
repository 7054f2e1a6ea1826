# Adaptive splines of R's earth, timed inside R. Arguments: folder with X.bin, y.bin, new.bin and
# size.txt, the degree, the most terms, the threshold, the number of repeats. Writes pred.bin
# (predictions at the new rows), fit.txt (terms grown, terms kept, GCV) and seconds.txt there.
suppressMessages(library(earth))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
degree <- as.integer(arguments[2])
nk <- as.integer(arguments[3])
thresh <- as.numeric(arguments[4])
repeats <- as.integer(arguments[5])
size <- scan(file.path(folder, "size.txt"), quiet = TRUE)
read <- function(name) readBin(file.path(folder, name), "double", 1e8)
x <- matrix(read("X.bin"), size[1], size[2])
y <- read("y.bin")
new <- matrix(read("new.bin"), ncol = size[2])
colnames(x) <- colnames(new) <- paste0("x", seq_len(size[2]))
seconds <- numeric(repeats)
for (i in seq_len(repeats)) {
  seconds[i] <- system.time(fit <- earth(x, y, degree = degree, nk = nk, thresh = thresh))["elapsed"]
}
writeBin(as.vector(predict(fit, new)), file.path(folder, "pred.bin"))
writeLines(format(c(nrow(fit$dirs), length(fit$selected.terms), fit$gcv), digits = 15),
           file.path(folder, "fit.txt"))
writeLines(format(seconds, digits = 10), file.path(folder, "seconds.txt"))
