# A tree of rpart, grown in full, cross-validated ten-fold and pruned by the one-SE rule, timed inside
# R. Arguments: folder with X.bin, y.bin, test.bin and size.txt, "anova" or "class", the number of
# repeats. Writes pred.bin (predictions of test.bin), leaves.txt and seconds.txt there.
suppressMessages(library(rpart))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
method <- arguments[2]
repeats <- as.integer(arguments[3])
size <- scan(file.path(folder, "size.txt"), quiet = TRUE)
read <- function(name) {
  path <- file.path(folder, name)
  readBin(path, "double", file.info(path)$size / 8)
}
frame <- as.data.frame(matrix(read("X.bin"), size[1], size[2]))
test <- as.data.frame(matrix(read("test.bin"), ncol = size[2]))
frame$y <- read("y.bin")
if (method == "class") frame$y <- factor(frame$y)
set.seed(1)
seconds <- numeric(repeats)
for (i in seq_len(repeats)) {
  seconds[i] <- system.time({
    fit <- rpart(y ~ ., data = frame, method = method,
                 control = rpart.control(cp = 0, xval = 10, maxcompete = 0, maxsurrogate = 0))
    table <- fit$cptable
    least <- which.min(table[, "xerror"])
    chosen <- which(table[, "xerror"] <= table[least, "xerror"] + table[least, "xstd"])[1]
    pruned <- prune(fit, cp = table[chosen, "CP"])
  })["elapsed"]
}
pred <- if (method == "class") {
  as.numeric(as.character(predict(pruned, test, type = "class")))
} else {
  predict(pruned, test)
}
writeBin(as.vector(as.numeric(pred)), file.path(folder, "pred.bin"))
writeLines(as.character(sum(pruned$frame$var == "<leaf>")), file.path(folder, "leaves.txt"))
writeLines(format(seconds, digits = 10), file.path(folder, "seconds.txt"))
