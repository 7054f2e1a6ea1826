# Loess of R's stats, timed inside R. Arguments: folder with X.bin, y.bin and size.txt, the span, the
# degree, "direct" (fits alone), "default" (as R does it unasked) or "exact" (direct, with exact
# standard errors, trace and deltas), the number of repeats. Writes pred.bin (fitted values), for
# "exact" se.bin and deltas.txt (trace, one.delta, two.delta), and seconds.txt there.
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
span <- as.numeric(arguments[2])
degree <- as.integer(arguments[3])
kind <- arguments[4]
repeats <- as.integer(arguments[5])
size <- scan(file.path(folder, "size.txt"), quiet = TRUE)
x <- readBin(file.path(folder, "X.bin"), "double", size[1])
y <- readBin(file.path(folder, "y.bin"), "double", size[1])
control <- switch(kind,
  direct = loess.control(surface = "direct", statistics = "none"),
  default = loess.control(),
  exact = loess.control(surface = "direct", statistics = "exact")
)
seconds <- numeric(repeats)
for (i in seq_len(repeats)) {
  seconds[i] <- system.time({
    fit <- loess(y ~ x, span = span, degree = degree, control = control)
    if (kind == "exact") se <- predict(fit, se = TRUE)$se.fit
  })["elapsed"]
}
if (kind == "exact") {
  writeBin(as.vector(se), file.path(folder, "se.bin"))
  writeLines(format(c(fit$trace.hat, fit$one.delta, fit$two.delta), digits = 15),
             file.path(folder, "deltas.txt"))
}
writeBin(as.vector(fit$fitted), file.path(folder, "pred.bin"))
writeLines(format(seconds, digits = 10), file.path(folder, "seconds.txt"))
