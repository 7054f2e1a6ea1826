# A smoothing spline of R's stats, its smoothing chosen by GCV, timed inside R. Arguments: folder
# with X.bin, y.bin and size.txt, TRUE for a knot at every x, the number of repeats. Writes pred.bin
# (fitted values of the rows), df.txt and seconds.txt there.
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
all_knots <- as.logical(arguments[2])
repeats <- as.integer(arguments[3])
size <- scan(file.path(folder, "size.txt"), quiet = TRUE)
x <- readBin(file.path(folder, "X.bin"), "double", size[1])
y <- readBin(file.path(folder, "y.bin"), "double", size[1])
seconds <- numeric(repeats)
for (i in seq_len(repeats)) {
  seconds[i] <- system.time({
    fit <- smooth.spline(x, y, all.knots = all_knots, keep.data = FALSE)
  })["elapsed"]
}
writeBin(predict(fit, x)$y, file.path(folder, "pred.bin"))
writeLines(as.character(fit$df), file.path(folder, "df.txt"))
writeLines(format(seconds, digits = 10), file.path(folder, "seconds.txt"))
