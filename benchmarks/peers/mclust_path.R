# All mixtures of a path by mclust, timed inside R. Arguments: folder with X.bin and size.txt, the
# largest number of components, families separated by commas. Writes bic.bin (the table of BIC, in
# mclust's sign, one row per number of components) and seconds.txt there.
suppressMessages(library(mclust))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
most <- as.integer(arguments[2])
families <- strsplit(arguments[3], ",")[[1]]
size <- scan(file.path(folder, "size.txt"), quiet = TRUE)
path <- file.path(folder, "X.bin")
X <- matrix(readBin(path, "double", file.info(path)$size / 8), size[1], size[2])
seconds <- system.time(
  fit <- Mclust(X, G = 1:most, modelNames = families, verbose = FALSE)
)["elapsed"]
writeBin(as.vector(fit$BIC[, families]), file.path(folder, "bic.bin"))
writeLines(format(seconds, digits = 10), file.path(folder, "seconds.txt"))
