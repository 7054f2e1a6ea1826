# Reference numbers for orthogonal polynomials: R's poly() and its predict().
# Run with  Rscript tests/reference/basis/poly.R ; writes poly.json beside this script.
library(jsonlite)

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 20240602
set.seed(seed)

# Simulated numbers are rounded, so that JSON holds them exactly.
columns <- list(
  speed = list(x = cars$speed, degree = 4),
  even = list(x = 1:12, degree = 6),
  skewed = list(x = round(rexp(25) * 1000, 3), degree = 3)
)

write_json(
  list(
    script = "tests/reference/basis/poly.R", seed = seed,
    versions = list(R = as.character(getRversion())),
    calls = c("poly(x, degree)", "predict(poly(x, degree), new)"),
    cases = lapply(names(columns), function(name) {
      x <- columns[[name]]$x
      basis <- poly(x, columns[[name]]$degree)
      new <- seq(min(x) - 1, max(x) + 1, length.out = 7)
      list(
        name = name, x = x, degree = columns[[name]]$degree,
        basis = unclass(unname(basis[, , drop = FALSE])),
        new = new, at_new = unclass(unname(predict(basis, new)[, , drop = FALSE]))
      )
    })
  ),
  file.path(here, "poly.json"), digits = NA, auto_unbox = TRUE
)
