# Reference intervals for a probability of error and for a mean: R's binom.test (exact, two-sided
# and with an upper limit alone) and t.test.
# Run with  Rscript tests/reference/risk/binom_test.R ; writes binom_test.json beside this script.
suppressPackageStartupMessages(library(jsonlite))

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))

cases <- list(
  c(0, 1), c(1, 1), c(0, 10), c(3, 10), c(10, 10), c(5, 50), c(1, 299), c(0, 299), c(123, 456),
  c(17, 10000), c(499999, 1000000)
)
rows <- list()
for (case in cases) {
  for (delta in c(0.5, 0.05, 0.001, 1e-8)) {
    two <- binom.test(case[1], case[2], conf.level = 1 - delta)$conf.int
    one <- binom.test(case[1], case[2], conf.level = 1 - delta, alternative = "less")$conf.int
    rows[[length(rows) + 1]] <- list(
      errors = case[1], n = case[2], delta = delta, two = as.vector(two), one = as.vector(one)
    )
  }
}

losses <- c(0.3, 1.7, 0.01, 4.4, 2.2, 0.9, 0.0, 3.1)
t_test <- lapply(c(0.5, 0.05, 0.001), function(delta) {
  list(delta = delta, interval = as.vector(t.test(losses, conf.level = 1 - delta)$conf.int))
})

writeLines(toJSON(list(
  call = "binom.test(errors, n, conf.level = 1 - delta), also alternative = 'less'; t.test(losses)",
  versions = list(R = R.version.string),
  seed = "none: nothing is random",
  binomial = rows,
  losses = losses,
  t_test = t_test
), digits = NA, auto_unbox = TRUE, pretty = TRUE), file.path(here, "binom_test.json"))
