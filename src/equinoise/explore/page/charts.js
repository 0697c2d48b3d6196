// Figures: charts drawn by Vega, with the numbers behind them. Everything is loaded from this computer.

import { $, make, table } from "./page.js";

const NARROW = 420; // pixels, below which a legend needs two lines
const NARROWEST = 310; // and below which it needs a line for each

const library = import("./vega.js"); // it takes a while: the first result is worked out meanwhile
const views = new Map();
const figures = new Map(); // what is drawn

export function figurePlace(name) {
  const chart = make("div", "");
  chart.className = "chart";
  chart.setAttribute("role", "img");
  const numbers = make("div", "");
  numbers.className = "table";
  numbers.tabIndex = 0; // so that it can be scrolled by keyboard
  const figure = make("figure", [make("h2", ""), chart, make("figcaption", ""), make("details", [make("summary", "The numbers"), numbers])]);
  figure.id = `figure-${name}`;
  figure.hidden = true;
  return figure;
}

// Hides the figures of a result that another one does not have.
export function keepFigures(names) {
  for (const place of document.querySelectorAll("figure")) {
    if (names.has(place.id.slice("figure-".length))) continue;
    place.hidden = true;
    figures.delete(place.id.slice("figure-".length));
  }
}

export async function showFigure(figure) {
  await library;
  const place = $(`figure-${figure.name}`);
  place.hidden = false;
  place.querySelector("h2").textContent = figure.title;
  place.querySelector("figcaption").textContent = figure.caption;
  const chart = place.querySelector(".chart");
  chart.setAttribute("aria-label", figure.words);
  const details = place.querySelector("details");
  details.ontoggle = () => details.open && details.lastChild.replaceChildren(table(figure));
  if (details.open) details.ontoggle();
  details.hidden = figure.rows.length === 0;
  figure.narrow = chart.clientWidth < NARROW;
  const places = panels(place, chart, figure.specs.length);
  const drawn = [];
  for (const [number, spec] of figure.specs.entries()) {
    const wide = places[number].clientWidth;
    spec.config.legend.columns = wide < NARROWEST ? 1 : wide < NARROW ? 2 : 0;
    drawn.push(await window.vegaEmbed(places[number], spec, {
      mode: "vega-lite", renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: tip,
    }));
  }
  for (const view of views.get(figure.name) || []) view.finalize();
  views.set(figure.name, drawn);
  figures.set(figure.name, figure);
}

// A place for each chart of a figure. Those there are stay, so that nothing jumps when a chart is drawn again.
function panels(place, chart, many) {
  place.classList.toggle("wide", many > 1);
  chart.classList.toggle("several", many > 1);
  chart.classList.toggle("none", many === 0);
  while (chart.children.length > many) chart.lastChild.remove();
  while (chart.children.length < many) chart.append(make("div", ""));
  return [...chart.children];
}

// Charts follow the width of their place by themselves; their legends must be told.
export function refit() {
  for (const figure of figures.values()) {
    const wide = $(`figure-${figure.name}`).querySelector(".chart").clientWidth;
    if (wide > 0 && figure.narrow !== wide < NARROW) showFigure(figure);
  }
}

function tip(handler, event, item, value) {
  const box = $("tip");
  box.hidden = !value;
  if (!value) return;
  box.replaceChildren(...Object.entries(value).map(([name, words]) => make("div", `${name}: ${words}`)));
  const left = Math.min(event.clientX + 12, window.innerWidth - box.offsetWidth - 8);
  const top = Math.min(event.clientY + 12, window.innerHeight - box.offsetHeight - 8);
  box.style.left = `${Math.max(left, 8)}px`;
  box.style.top = `${Math.max(top, 8)}px`;
}
