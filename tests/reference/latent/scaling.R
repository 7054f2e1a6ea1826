# Reference numbers for multidimensional scaling: cmdscale of stats, isoMDS and sammon of MASS.
# Run with  Rscript tests/reference/latent/scaling.R ; writes scaling.json beside this script.
suppressPackageStartupMessages({
  library(MASS)
  library(jsonlite)
})

here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE)[1]))

# Road distances between European cities, and distances between the rows of swiss, whose columns are
# on one scale: the first are not Euclidean, the second are.
sets <- list(
  eurodist = eurodist,
  swiss = dist(as.matrix(swiss))
)

raw_stress <- function(d, points) sum((as.vector(d) - as.vector(dist(points)))^2)

scaled <- function(d, k) {
  classical <- cmdscale(d, k = k, eig = TRUE)
  nonmetric <- isoMDS(d, k = k, trace = FALSE, maxit = 500, tol = 1e-8)
  mapped <- sammon(d, k = k, trace = FALSE, niter = 500, tol = 1e-10)
  list(
    k = k,
    distances = unname(as.matrix(d)),
    points = unname(classical$points),
    eigenvalues = classical$eig,
    goodness_of_fit = classical$GOF,
    raw_stress = list(
      cmdscale = raw_stress(d, classical$points),
      isoMDS = raw_stress(d, nonmetric$points),
      sammon = raw_stress(d, mapped$points)
    ),
    # isoMDS gives Kruskal's stress in percent.
    isoMDS_stress_1 = nonmetric$stress / 100
  )
}

out <- list(
  call = "cmdscale(d, k, eig = TRUE); isoMDS(d, k = k, maxit = 500, tol = 1e-8); sammon(d, k = k)",
  versions = list(R = R.version.string, MASS = as.character(packageVersion("MASS"))),
  seed = "nothing is random",
  sets = list(
    eurodist_2 = scaled(sets$eurodist, 2),
    eurodist_3 = scaled(sets$eurodist, 3),
    swiss_2 = scaled(sets$swiss, 2)
  )
)
write_json(out, file.path(here, "scaling.json"), digits = 17, auto_unbox = TRUE, pretty = TRUE)
