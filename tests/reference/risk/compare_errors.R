# Reference numbers for the paired comparison of errors: mcnemar.test, binom.test, t.test.
# Run with  Rscript tests/reference/risk/compare_errors.R ; writes compare_errors.json beside it.
suppressPackageStartupMessages(library(jsonlite))

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))

one <- function(both_right, only_second_wrong, only_first_wrong, both_wrong) {
  table <- matrix(c(both_right, only_second_wrong, only_first_wrong, both_wrong), 2, byrow = TRUE)
  b <- table[1, 2]
  c <- table[2, 1]
  corrected <- mcnemar.test(table)
  plain <- mcnemar.test(table, correct = FALSE)
  list(
    table = table, statistic = unname(corrected$statistic), chi2 = corrected$p.value,
    statistic_uncorrected = unname(plain$statistic), chi2_uncorrected = plain$p.value,
    exact = binom.test(b, b + c)$p.value
  )
}
tables <- list(one(794, 86, 150, 570), one(59, 6, 16, 80), one(90, 5, 5, 0), one(10, 0, 3, 7),
  one(40, 1, 0, 9), one(500, 31, 12, 57))

set.seed(7)
a <- rexp(40)
b <- a + rnorm(40, 0.1, 0.4)
test <- t.test(a, b, paired = TRUE, conf.level = 0.9)
paired <- list(a = a, b = b, delta = 0.1, difference = unname(test$estimate),
  lower = test$conf.int[1], upper = test$conf.int[2], p_value = test$p.value)

write_json(
  list(
    call = "mcnemar.test(table), binom.test(b, b + c), t.test(a, b, paired = TRUE)", seed = 7,
    versions = list(R = as.character(getRversion())), tables = tables, paired = paired
  ),
  file.path(here, "compare_errors.json"), digits = NA, auto_unbox = TRUE, pretty = TRUE
)
