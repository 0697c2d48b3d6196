"use strict";
const config = JSON.parse(document.getElementById("look").textContent);
const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, config };  // ast: interpreted, not compiled
for (const place of document.querySelectorAll("[data-spec]")) {
  const spec = JSON.parse(document.getElementById(place.dataset.spec).textContent);
  vegaEmbed(place, spec, options).catch((error) => {
    place.textContent = "This figure could not be drawn; its numbers are in the table below.";
    console.error(error);
  });
}
addEventListener("beforeprint", () => {
  for (const section of document.querySelectorAll("details.section")) section.open = true;
});
