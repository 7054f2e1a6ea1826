# Reference numbers for pruning: rpart's table of the complexity parameter, with the folds given.
# Run with  Rscript tests/reference/tree/rpart_cp.R ; writes rpart_cp.json beside this script.
suppressPackageStartupMessages({
  library(jsonlite)
  library(rpart)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
seed <- 4
set.seed(seed)

# Ordered factors are numbers to rpart and to us; other factors are texts.
plain <- function(column) {
  if (is.ordered(column)) as.integer(column) else if (is.factor(column)) as.character(column) else column
}

# A held-out value may equal a threshold (a midpoint of others), which rpart sends right and we
# send left: where that happens the numbers are moved by a ten-thousandth of their spread.
moved <- function(data) {
  number <- vapply(data, function(x) is.numeric(x) && !is.ordered(x), TRUE)
  data[number] <- lapply(data[number], function(x) x + 1e-4 * sd(x, na.rm = TRUE) * rnorm(length(x)))
  data
}

case <- function(formula, data, method, parms = NULL, ...) {
  data <- data[!is.na(data[[all.vars(formula)[1]]]), ]
  frame <- model.frame(formula, data, na.action = na.pass)
  fold <- sample(rep(1:10, length.out = nrow(frame)))
  control <- rpart.control(cp = 0, xval = fold, ...)
  call <- list(formula = formula, data = data, method = method, control = control)
  if (!is.null(parms)) call$parms <- parms
  fit <- do.call(rpart, call)
  list(
    call = deparse1(formula), method = method, parms = parms,
    minsplit = control$minsplit, minbucket = control$minbucket,
    y = plain(frame[[1]]), X = lapply(as.list(frame[-1]), plain), fold = fold,
    root = fit$frame$dev[1] / nrow(frame),
    cp = unname(fit$cptable[, "CP"]), nsplit = unname(fit$cptable[, "nsplit"]),
    rel_error = unname(fit$cptable[, "rel error"]),
    xerror = unname(fit$cptable[, "xerror"]), xstd = unname(fit$cptable[, "xstd"])
  )
}

cars <- car.test.frame[, c("Price", "Mileage", "Weight", "Disp.", "HP", "Type", "Country")]
summary_cars <- cu.summary[, c("Price", "Country", "Reliability", "Mileage", "Type")]
stage <- stagec[, c("pgstat", "age", "eet", "g2", "grade", "gleason", "ploidy")]
stage$pgstat <- factor(c("no", "yes")[stage$pgstat + 1])
whole <- na.omit(stage)

cases <- list(
  cars = case(Mileage ~ ., cars, "anova"),
  cars_small = case(Price ~ ., moved(cars), "anova", minsplit = 5),
  summary_cars = case(Price ~ ., na.omit(summary_cars), "anova"),
  summary_cars_missing = case(Price ~ ., moved(summary_cars), "anova"),
  kyphosis = case(Kyphosis ~ Age + Number + Start, kyphosis, "class"),
  stagec = case(pgstat ~ ., whole, "class"),
  stagec_missing = case(pgstat ~ ., moved(stage), "class"),
  stagec_entropy = case(pgstat ~ ., whole, "class", list(split = "information")),
  iris = case(Species ~ ., moved(iris), "class", minsplit = 2, minbucket = 1),
  iris_default = case(Species ~ ., iris, "class"),
  priors = case(pgstat ~ ., whole, "class", list(prior = c(0.4, 0.6))),
  loss = case(pgstat ~ ., whole, "class", list(loss = matrix(c(0, 3, 1, 0), 2))),
  priors_iris = case(Species ~ ., moved(iris), "class", list(prior = c(0.2, 0.3, 0.5)))
)

write_json(
  list(
    script = "tests/reference/tree/rpart_cp.R", seed = seed,
    versions = list(R = as.character(getRversion()), rpart = as.character(packageVersion("rpart"))),
    cases = cases
  ),
  file.path(here, "rpart_cp.json"), digits = NA, auto_unbox = TRUE, na = "null"
)
