"""The parts of a description: inputs on one scale, components, clusters, outliers, relations."""
