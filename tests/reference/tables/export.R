# Public data sets as an analyst gets them: one CSV each, written by R as they are (factors as words,
# missing values as NA or empty, R's row names where they name something), and sources.csv, which
# says where each comes from and what is predicted from what.
#
# `use` says what a table is for: defaults may be set by the errors on "tune" tables, and are judged
# by those on "judge" tables; "run" tables have to go through (dates, groups, weights, series).
#
# Run with  Rscript tests/reference/tables/export.R ; writes the CSV files beside it.
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))
sources <- list()

fetch <- function(package, object) {
  found <- tryCatch(getExportedValue(package, object), error = function(e) NULL)
  if (is.null(found)) {
    place <- new.env()
    data(list = object, package = package, envir = place)
    found <- get(object, envir = place)
  }
  as.data.frame(found)
}

# named: write the row names, as write.csv() does unless told otherwise (a first column without name).
table_of <- function(use, package, object, target, task, ignore = character(), group = "", time = "",
                     weight = "", named = FALSE, na = "NA", data = fetch(package, object),
                     name = gsub("[.]", "_", tolower(object)), note = "") {
  stopifnot(target %in% names(data), all(ignore %in% names(data)))
  path <- file.path(here, paste0(name, ".csv"))
  write.csv(data, path, row.names = named, na = na, fileEncoding = "UTF-8")
  sources[[length(sources) + 1]] <<- data.frame(
    name = name, use = use, package = package,
    version = as.character(packageVersion(package)), object = object, target = target, task = task,
    ignore = paste(ignore, collapse = ";"), group = group, time = time, weight = weight,
    rows = nrow(data), columns = ncol(data), note = note
  )
}

judge <- function(...) table_of("judge", ...)
tune <- function(...) table_of("tune", ...)
run <- function(...) table_of("run", ...)
number <- "regression"
label <- "classification"

# ---- judged by ----------------------------------------------------------------------------------
judge("MASS", "Boston", "medv", number)
judge("MASS", "Pima.tr", "type", label, name = "pima",
      data = rbind(fetch("MASS", "Pima.tr"), fetch("MASS", "Pima.te")), note = "Pima.tr and Pima.te")
judge("MASS", "fgl", "type", label)
judge("MASS", "birthwt", "low", label, ignore = "bwt", note = "low is bwt below 2.5 kg")
judge("MASS", "biopsy", "class", label, na = "")
judge("MASS", "quine", "Days", number)
judge("MASS", "survey", "Sex", label, na = "")
judge("MASS", "Cars93", "Price", number, ignore = c("Min.Price", "Max.Price"),
      note = "Price is the mean of Min.Price and Max.Price")
judge("MASS", "crabs", "sp", label)
judge("MASS", "cpus", "perf", number, ignore = "estperf", note = "estperf is another model's answer")
judge("MASS", "Insurance", "Claims", number)
judge("MASS", "UScereal", "calories", number, named = TRUE)
judge("MASS", "Melanoma", "status", label, ignore = "time", note = "time is known with the status")
judge("datasets", "airquality", "Ozone", number)
judge("datasets", "mtcars", "mpg", number, named = TRUE)
judge("datasets", "infert", "case", label, ignore = c("stratum", "pooled.stratum"),
      note = "strata are matched by the target")
judge("datasets", "esoph", "ncases", number)
judge("datasets", "swiss", "Fertility", number, named = TRUE)
judge("datasets", "CO2", "uptake", number)
judge("datasets", "ChickWeight", "weight", number)
judge("datasets", "warpbreaks", "breaks", number)
judge("rpart", "kyphosis", "Kyphosis", label)
judge("rpart", "stagec", "pgstat", label, ignore = "pgtime", note = "pgtime is known with pgstat")
judge("rpart", "solder", "skips", number)
judge("rpart", "car90", "Price", number, named = TRUE)
judge("rpart", "car.test.frame", "Mileage", number, named = TRUE, na = "")
judge("rpart", "cu.summary", "Price", number, named = TRUE)

# ---- for setting defaults by --------------------------------------------------------------------
tune("MASS", "UScrime", "y", number)
tune("MASS", "bacteria", "y", label)
tune("MASS", "epil", "y", number, ignore = "period")
tune("MASS", "anorexia", "Postwt", number)
tune("MASS", "GAGurine", "GAG", number)
tune("MASS", "cabbages", "VitC", number)
tune("MASS", "cats", "Sex", label)
tune("MASS", "whiteside", "Gas", number)
tune("MASS", "hills", "time", number, named = TRUE)
tune("MASS", "petrol", "Y", number)
tune("MASS", "Rabbit", "BPchange", number)
tune("MASS", "snails", "Deaths", number)
tune("MASS", "oats", "Y", number)
tune("MASS", "genotype", "Wt", number)
tune("MASS", "painters", "School", label, named = TRUE)
tune("MASS", "shuttle", "use", label)
tune("MASS", "Cushings", "Type", label, named = TRUE)
tune("MASS", "synth.tr", "yc", label)
tune("MASS", "Traffic", "y", number)
tune("MASS", "topo", "z", number)
tune("MASS", "mcycle", "accel", number)
tune("datasets", "attitude", "rating", number)
tune("datasets", "stackloss", "stack.loss", number)
tune("datasets", "trees", "Volume", number)
tune("datasets", "ToothGrowth", "len", number)
tune("datasets", "InsectSprays", "count", number)
tune("datasets", "chickwts", "weight", number)
tune("datasets", "npk", "yield", number)
tune("datasets", "quakes", "mag", number)
tune("datasets", "rock", "perm", number)
tune("datasets", "LifeCycleSavings", "sr", number, named = TRUE)
tune("datasets", "attenu", "accel", number)
tune("datasets", "Puromycin", "rate", number)
tune("datasets", "Orange", "circumference", number)
tune("lattice", "singer", "voice.part", label)
tune("lattice", "barley", "yield", number)
tune("lattice", "ethanol", "NOx", number)
tune("nlme", "Orthodont", "distance", number)
tune("nlme", "MathAchSchool", "MEANSES", number, name = "math_schools")
tune("nlme", "Wheat2", "yield", number)
tune("nlme", "RatPupWeight", "weight", number)
tune("nlme", "Soybean", "weight", number)
tune("survival", "lung", "status", label, ignore = "time", note = "time is known with the status")
tune("survival", "pbc", "status", label, ignore = c("time", "id"), na = "",
     note = "time is known with the status")
tune("survival", "veteran", "time", number)
tune("survival", "gbsg", "status", label, ignore = c("pid", "rfstime"),
     note = "rfstime is known with the status")
tune("survival", "retinopathy", "status", label, ignore = c("id", "futime"),
     note = "futime is known with the status")
tune("randomForest", "imports85", "price", number)

# ---- have to go through -------------------------------------------------------------------------
dated <- function(series) {
  when <- as.numeric(time(series))
  month <- round(12 * (when %% 1)) + 1
  data.frame(date = as.Date(sprintf("%d-%02d-01", floor(when + 1e-6), month)),
             as.data.frame(series))
}
run("datasets", "Seatbelts", "DriversKilled", number, time = "date", data = dated(Seatbelts),
    ignore = "drivers", note = "a monthly series: the date column is its time; drivers include the killed")
run("datasets", "Titanic", "Survived", label, weight = "Freq", note = "one row a cell of the table")
run("datasets", "state.x77", "Life Exp", number, named = TRUE, note = "column names with blanks")
run("survival", "jasa", "fustat", label, note = "four columns of dates",
    ignore = c("futime", "fu.date"))
run("survival", "cgd", "status", label, group = "id", note = "a column of dates; rows of a patient",
    ignore = c("tstart", "tstop", "enum"))

sources <- do.call(rbind, sources)
sources <- sources[order(sources$use, sources$name), ]
write.csv(sources, file.path(here, "sources.csv"), row.names = FALSE)
