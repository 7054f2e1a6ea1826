# Reference values for the maps of bottega.classify.CalibratedClassifierCV, written to
# beta_calibration.json beside this script:
#   Rscript beta_calibration.R
#
# Beta calibration is a logistic regression on ln p and -ln(1 - p) (stats::glm); Platt's is one on
# the score with responses (n1 + 1)/(n1 + 2) and 1/(n0 + 2); isotonic calibration is stats::isoreg.
library(jsonlite)

argument <- grep("^--file=", commandArgs(FALSE), value = TRUE)
folder <- dirname(sub("^--file=", "", argument))
seed <- 6
set.seed(seed)

n <- 250
p <- round(rbeta(n, 1.2, 1.6), 6)
y <- rbinom(n, 1, plogis(0.4 + 0.9 * log(p) - 0.5 * log(1 - p)))
tight <- glm.control(epsilon = 1e-14, maxit = 100)
beta <- glm(y ~ log(p) + I(-log(1 - p)), family = binomial, control = tight)
hits <- sum(y)
target <- ifelse(y == 1, (hits + 1) / (hits + 2), 1 / (n - hits + 2))
platt <- suppressWarnings(glm(target ~ p, family = binomial, control = tight))
order <- order(p)
steps <- isoreg(p[order], y[order])$yf

write_json(
  list(
    call = "glm(y ~ log(p) + I(-log(1 - p)), binomial); glm(target ~ p, binomial); isoreg",
    versions = list(R = R.version.string), seed = seed, p = p, y = y,
    beta = unname(coef(beta)), platt = unname(coef(platt)),
    sorted = p[order], isotonic = steps
  ),
  file.path(folder, "beta_calibration.json"),
  auto_unbox = TRUE, digits = NA
)
