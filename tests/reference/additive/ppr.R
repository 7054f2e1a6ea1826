# Reference numbers for projection pursuit: stats::ppr.
# Run with  Rscript tests/reference/additive/ppr.R ; writes ppr.json beside this script.
# The tables are those of tests/reference/tables; simulated numbers are rounded, so that JSON holds
# them exactly.
suppressPackageStartupMessages(library(jsonlite))

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
table_of <- function(name) read.csv(file.path(here, "..", "tables", paste0(name, ".csv")))
seed <- 20240917
set.seed(seed)

rock <- table_of("rock")
boston <- table_of("boston")
cpus <- table_of("cpus")
airquality <- na.omit(table_of("airquality"))
swiss <- table_of("swiss")
swiss <- swiss[sapply(swiss, is.numeric)]

X <- matrix(round(runif(300 * 5), 3), 300)
friedman <- round(10 * sin(pi * X[, 1] * X[, 2]) + 20 * (X[, 3] - 0.5)^2 + 10 * X[, 4] + 5 * X[, 5] +
  rnorm(300), 3)
Z <- matrix(round(rnorm(250 * 4), 3), 250)
first <- sin(1.5 * (Z[, 1] + Z[, 2]))
second <- (Z[, 3] - Z[, 4])^2 / 2
responses <- round(cbind(first + 0.3 * second, second - first, 2 * first) +
  0.3 * matrix(rnorm(750), 250), 3)

sets <- list(
  rock = list(x = as.matrix(with(rock, cbind(area / 10000, peri / 10000, shape))),
              y = log(rock$perm)),
  boston = list(x = as.matrix(boston[, names(boston) != "medv"]), y = boston$medv),
  cpus = list(x = as.matrix(log(cpus[, c("syct", "mmin", "mmax")])), y = log(cpus$perf)),
  airquality = list(x = as.matrix(airquality[, c("Solar.R", "Wind", "Temp")]),
                    y = airquality$Ozone^(1 / 3)),
  swiss = list(x = as.matrix(swiss[, names(swiss) != "Fertility"]), y = swiss$Fertility),
  friedman = list(x = X, y = friedman),
  several = list(x = Z, y = responses)
)

plain <- function(x) matrix(as.vector(x), NROW(x))
fits <- list()
add <- function(name, n_terms, max_terms, ...) {
  set <- sets[[name]]
  fit <- ppr(plain(set$x), plain(set$y), nterms = n_terms, max.terms = max_terms, ...)
  residual <- plain(set$y) - plain(predict(fit, plain(set$x)))
  fits[[length(fits) + 1]] <<- c(
    list(set = name, n_terms = n_terms, max_terms = max_terms, rss = sum(residual^2),
         gofn = fit$gofn),
    list(...)
  )
}
for (name in names(sets)) {
  for (size in list(c(1, 1), c(2, 5), c(3, 3), c(4, 4))) {
    for (optlevel in if (name == "several") c(2, 3) else 2) {
      add(name, size[1], size[2], sm.method = "supsmu", optlevel = optlevel)
      add(name, size[1], size[2], sm.method = "supsmu", bass = 5, optlevel = optlevel)
      add(name, size[1], size[2], sm.method = "spline", df = 5, optlevel = optlevel)
      add(name, size[1], size[2], sm.method = "gcvspline", gcvpen = 2, optlevel = optlevel)
    }
  }
}

found <- list(
  made_by = "ppr.R", seed = seed, R = R.version.string,
  calls = "ppr(x, y, nterms, max.terms, optlevel, sm.method, df, gcvpen, bass)",
  friedman = list(x = X, y = friedman), several = list(x = Z, y = responses), fits = fits
)
write_json(found, file.path(here, "ppr.json"), digits = NA, auto_unbox = TRUE, null = "null")
