# An additive model of mgcv on binned inputs, smoothing chosen by fast REML, timed inside R. Arguments:
# folder with X.bin, y.bin, new.bin (rows of the test) and size.txt, the family, the number of
# functions of a term, the number of repeats. Writes pred.bin (means of the test rows), df.txt and
# seconds.txt there.
suppressMessages(library(mgcv))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
family <- get(arguments[2])()
k <- as.integer(arguments[3])
repeats <- as.integer(arguments[4])
size <- scan(file.path(folder, "size.txt"), quiet = TRUE)
n <- size[1]
p <- size[2]
rows <- function(name, n) {
  values <- readBin(file.path(folder, name), "double", n * p)
  as.data.frame(matrix(values, n, p, dimnames = list(NULL, paste0("x", seq_len(p)))))
}
data <- rows("X.bin", n)
data$y <- readBin(file.path(folder, "y.bin"), "double", n)
new <- rows("new.bin", file.size(file.path(folder, "new.bin")) / 8 / p)
terms <- paste0("s(x", seq_len(p), ", bs = 'ps', k = ", k, ")")
model <- as.formula(paste("y ~", paste(terms, collapse = " + ")))
seconds <- numeric(repeats)
for (i in seq_len(repeats)) {
  seconds[i] <- system.time({
    fit <- bam(model, family = family, data = data, method = "fREML", discrete = TRUE)
  })["elapsed"]
}
writeBin(as.numeric(predict(fit, new, type = "response")), file.path(folder, "pred.bin"))
writeLines(as.character(sum(fit$edf)), file.path(folder, "df.txt"))
writeLines(format(seconds, digits = 10), file.path(folder, "seconds.txt"))
