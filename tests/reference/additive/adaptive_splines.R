# Reference values for bottega.additive.AdaptiveSplines, written to adaptive_splines.json beside this
# script:
#   Rscript adaptive_splines.R
#
# earth at its defaults, of degrees 1 to 3, on four tables: criterion, size and importance. With
# glm = list(family = ...) the deviance of the generalised linear model on the chosen terms. Errors on
# rows that were not fitted are for tables that are large enough to be divided.
library(earth)
library(MASS)
library(jsonlite)

argument <- grep("^--file=", commandArgs(FALSE), value = TRUE)
folder <- dirname(sub("^--file=", "", argument))

set.seed(3)
n <- 400
U <- round(matrix(runif(n * 10), n), 4)
noise <- round(rnorm(n), 4)
friedman <- data.frame(U)
friedman$y <- with(friedman, 10 * sin(pi * X1 * X2) + 20 * (X3 - 0.5)^2 + 10 * X4 + 5 * X5) + noise
friedman$y <- round(friedman$y, 4)

house <- Boston
ozone <- ozone1
colnames(ozone)[1] <- "y"
colnames(house)[14] <- "y"
cars <- mtcars
colnames(cars)[1] <- "y"
tables <- list(friedman = friedman, boston = house, ozone = ozone, cars = cars)

cases <- list()
for (name in names(tables)) for (degree in 1:3) {
  data <- tables[[name]]
  fit <- earth(y ~ ., data = data, degree = degree)
  worth <- evimp(fit, trim = FALSE, sqrt. = FALSE)
  cases[[length(cases) + 1]] <- list(
    table = name, degree = degree, gcv = fit$gcv, rss = fit$rss, rsq = fit$rsq,
    n_terms = length(fit$selected.terms), grown = nrow(fit$dirs),
    terms = rownames(fit$dirs)[fit$selected.terms],
    subsets = lapply(seq_len(nrow(fit$prune.terms)), function(m) I(fit$prune.terms[m, seq_len(m)])),
    inputs = lapply(seq_len(nrow(fit$dirs)), function(k) I(unname(which(fit$dirs[k, ] != 0)))),
    rss_per_subset = fit$rss.per.subset, gcv_per_subset = fit$gcv.per.subset,
    importance = list(
      input = sub("-unused$", "", rownames(worth)), nsubsets = unname(worth[, "nsubsets"]),
      gcv = unname(worth[, "gcv"]), rss = unname(worth[, "rss"])
    )
  )
}

# Two responses at once: one set of terms.
both <- friedman
both$z <- round(3 * both$X1 - 8 * pmax(0, both$X2 - 0.4) + 0.3 * rnorm(n), 4)
several <- earth(cbind(y, z) ~ ., data = both, degree = 2)

# A generalised linear model on the chosen terms.
survived <- earth(survived ~ ., data = etitanic, degree = 2, glm = list(family = binomial))
pima <- rbind(Pima.tr, Pima.te)
diabetes <- earth(type ~ ., data = Pima.tr, degree = 1, glm = list(family = binomial))
counts <- friedman
counts$y <- rpois(n, exp(0.5 + 1.2 * sin(pi * U[, 1]) - 2 * pmax(0, U[, 2] - 0.5)))
poisson <- earth(y ~ ., data = counts, glm = list(family = poisson))

# The generalised linear model alone, on terms that are given.
given <- data.frame(
  y = as.numeric(Pima.tr$type == "Yes"), a = pmax(0, Pima.tr$glu - 120), b = pmax(0, 120 - Pima.tr$glu),
  c = pmax(0, Pima.tr$bmi - 30) * pmax(0, Pima.tr$age - 25)
)
logit <- glm(y ~ a + b + c, data = given, family = binomial, control = list(epsilon = 1e-14))

of_glm <- function(fit) {
  model <- fit$glm.list[[1]]
  list(gcv = fit$gcv, deviance = model$deviance, null = model$null.deviance,
       n_terms = length(fit$selected.terms), fitted = unname(predict(fit, type = "response")[, 1]))
}

write_json(
  list(
    about = list(
      call = "Rscript adaptive_splines.R", R = R.version.string, seed = 3,
      earth = as.character(packageVersion("earth")), MASS = as.character(packageVersion("MASS")),
      jsonlite = as.character(packageVersion("jsonlite"))
    ),
    tables = lapply(tables, function(data) as.list(data)),
    cases = cases,
    several = list(z = both$z, gcv = several$gcv, rss = several$rss,
                   gcv_each = unname(several$gcv.per.response)),
    titanic = c(list(data = as.list(transform(etitanic, sex = as.character(sex),
                                              pclass = as.character(pclass)))), of_glm(survived)),
    pima = c(list(
      data = as.list(transform(Pima.tr, type = as.character(type))),
      new = as.list(transform(Pima.te, type = as.character(type))),
      error = mean((predict(diabetes, Pima.te, type = "response")[, 1] > 0.5) != (Pima.te$type == "Yes"))
    ), of_glm(diabetes)),
    poisson = c(list(y = counts$y), of_glm(poisson)),
    logit = list(terms = unname(as.matrix(given[, 2:4])), y = given$y, coef = unname(coef(logit)),
                 deviance = logit$deviance)
  ),
  file.path(folder, "adaptive_splines.json"),
  digits = NA, auto_unbox = TRUE, na = "null"
)
