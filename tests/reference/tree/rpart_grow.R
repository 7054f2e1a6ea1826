# Splits, surrogates and leaves of rpart on its own data sets, with surrogates and without.
# Run from this folder: Rscript rpart_grow.R  (writes rpart_grow.json beside it).
suppressMessages({library(rpart); library(jsonlite)})

control <- function(surrogates, bucket) {
  rpart.control(cp = -1, minsplit = 2 * bucket, minbucket = bucket, maxdepth = 4, maxcompete = 0,
                maxsurrogate = surrogates, usesurrogate = 2, surrogatestyle = 0, xval = 0)
}

case <- function(name, formula, data, method, surrogates, bucket) {
  fit <- rpart(formula, data = data, method = method, control = control(surrogates, bucket),
               y = TRUE, x = FALSE)
  frame <- model.frame(formula, data, na.action = na.rpart)
  inputs <- frame[-1]
  ordered <- sapply(inputs, function(v) is.factor(v) && !is.ordered(v))
  response <- model.response(frame)
  list(
    name = name, method = method, surrogates = surrogates, bucket = bucket,
    columns = names(inputs), categorical = unname(ordered),
    levels = unname(sapply(inputs, function(v) if (is.factor(v)) nlevels(v) else 0)),
    x = unname(lapply(inputs, as.numeric)),
    y = if (is.factor(response)) as.integer(response) - 1 else as.numeric(response),
    classes = if (is.factor(response)) nlevels(response) else 0,
    node = as.integer(rownames(fit$frame)), variable = as.character(fit$frame$var),
    n = fit$frame$n, deviance = fit$frame$dev, n_surrogates = fit$frame$nsurrogate,
    where = unname(fit$where),
    split_variable = rownames(fit$splits), split_ncat = unname(fit$splits[, "ncat"]),
    split_improve = unname(fit$splits[, "improve"]), split_index = unname(fit$splits[, "index"]),
    level_directions = if (is.null(fit$csplit)) list() else fit$csplit
  )
}

cars <- car.test.frame
cases <- list(
  case("car.test.frame", Mileage ~ Weight + Disp. + HP + Type + Reliability + Price,
       cars, "anova", 5, 5),
  case("cu.summary", Price ~ Country + Reliability + Mileage + Type, cu.summary, "anova", 5, 10),
  case("cu.summary classes", Type ~ Country + Price + Mileage, cu.summary, "class", 5, 5),
  case("kyphosis", Kyphosis ~ Age + Number + Start, kyphosis, "class", 5, 3),
  case("stagec", factor(pgstat) ~ age + eet + g2 + grade + gleason + ploidy, stagec, "class", 6, 7),
  case("stagec time", pgtime ~ age + eet + g2 + grade + gleason + ploidy, stagec, "anova", 6, 7),
  case("solder", skips ~ Opening + Solder + Mask + PadType + Panel, solder, "anova", 5, 20),
  case("solder, off", skips ~ Opening + Solder + Mask + PadType + Panel, solder, "anova", 0, 20),
  case("kyphosis, off", Kyphosis ~ Age + Number + Start, kyphosis, "class", 0, 3)
)
reference <- list(
  call = "rpart(formula, data, method, control = rpart.control(cp = -1, maxdepth = 4, ...))",
  R = R.version.string, rpart = as.character(packageVersion("rpart")), cases = cases
)
write(toJSON(reference, digits = 17, na = "null", auto_unbox = TRUE), "rpart_grow.json")
