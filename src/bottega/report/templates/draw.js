"use strict";
// Draws every chart of the page; a chart that fails says so in its place.
(async () => {
  const { config, specs } = JSON.parse(document.getElementById("figures").textContent);
  const draw = async ([name, spec]) => {
    const place = document.getElementById(name);
    // On a phone a legend is a list, one name per line.
    const columns = place.clientWidth < 480 ? { columns: 1 } : {};
    const options = {
      mode: "vega-lite", renderer: "svg", actions: false,
      config: { ...config, legend: { ...config.legend, ...columns } },
    };
    try {
      await vegaEmbed(place, spec, options);
    } catch (error) {
      place.textContent = "This chart could not be drawn: " + error.message;
      console.error(name, error);
    }
  };
  for (const entry of Object.entries(specs)) await draw(entry);
  document.documentElement.dataset.charts = "drawn";
})();
