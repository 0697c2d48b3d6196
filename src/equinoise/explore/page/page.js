// Asks the server as settings move, and shows what comes back. Everything is loaded from this computer.

const $ = (id) => document.getElementById(id);
const tab = crypto.randomUUID(); // the server keeps a process for every tab
const FIGURES = ["distribution", "noise", "losses", "cost"];
const NARROW = 420; // pixels, below which a legend needs two lines
const NARROWEST = 310; // and below which it needs a line for each
const QUICK = 5000; // cells of several columns that are worked out in a second or two
const QUIET = 120; // milliseconds without a change before anything is asked for

let asking = null; // what is under way, to be dropped when settings move again
let timer = 0;
let refitting = 0;
let pending = null; // the number of what is being shown
let result = null; // the number of what is shown, if it can be saved
const library = import("./vega.js"); // it takes a while: the first result is worked out meanwhile
const views = new Map();
const figures = new Map(); // what is drawn

function settings() {
  const promise = document.querySelector("input[name=promise]:checked").value;
  return {
    columns: [...document.querySelectorAll("input[name=column]:checked")].map((box) => Number(box.value)),
    epsilon: $("epsilon").valueAsNumber,
    bins: Number($("bins").value),
    scales: promise === "differential-privacy" ? "wide" : $("scales").value,
    promise,
    draws: $("draws").valueAsNumber,
    delta: $("delta").valueAsNumber,
  };
}

// Differential privacy takes one column.
function limitPromises() {
  const several = document.querySelectorAll("input[name=column]:checked").length > 1;
  document.querySelector("input[value=differential-privacy]").disabled = several;
  if (several) document.querySelector("input[value=per-instance]").checked = true;
  $("one-column").hidden = !several;
}

function changed() {
  limitPromises();
  const now = settings();
  const several = now.draws > 1;
  $("scales").disabled = now.promise === "differential-privacy";
  $("epsilon-hint").textContent =
    several && now.delta > 0 ? "For all draws together." : several ? "For one draw; draws add up." : "For one draw.";
  $("delta-hint").textContent = several
    ? "With a delta such as 1e-6, epsilon is for all draws together, which takes longer. With 0, draws add up."
    : "The probability with which epsilon may be exceeded. 0 is safest.";
  clearTimeout(timer);
  stop();
  const empty = Object.entries(now).find(([, value]) => Number.isNaN(value));
  if (empty) {
    refuse(`Give a number for ${empty[0]}.`);
  } else if (now.columns.length === 0) {
    refuse("Choose a column.");
  } else {
    timer = setTimeout(solve, QUIET);
  }
}

function stop() {
  if (asking) asking.abort();
  asking = null;
  result = null;
  $("save").disabled = true;
  $("saved").textContent = "";
  $("next").hidden = $("commands").hidden = true;
}

async function solve() {
  stop();
  const mine = (asking = new AbortController());
  const began = performance.now();
  $("results").setAttribute("aria-busy", "true");
  say("Working …");
  try {
    const answer = await send("solve", { tab, settings: settings() }, mine.signal);
    for await (const message of lines(answer)) {
      if (asking !== mine) return;
      await take(message, began);
    }
  } catch (error) {
    if (asking === mine) refuse(error.sentence || "The command behind this page does not answer. Has it ended?");
  }
}

async function take(message, began) {
  if (message.kind === "note") say(`Working … ${message.note}.`);
  if (message.kind === "refused" || message.kind === "cancelled") refuse(message.sentence);
  if (message.kind === "result") {
    $("refused").hidden = true;
    $("shown").hidden = false;
    $("promise").textContent = message.promise;
    $("command").textContent = message.command;
    showFacts(message.facts);
    $("statistics").replaceChildren(table(message.statistics));
    pending = message.number;
  }
  if (message.kind === "figure") await showFigure(message.figure);
  if (message.kind === "drawn") {
    $("results").setAttribute("aria-busy", "false");
    say(`Worked out and drawn in ${seconds(began)}. What draws cost follows; then it can be saved.`);
  }
  if (message.kind === "done") {
    say(`All worked out in ${seconds(began)}.`);
    result = pending;
    $("save").disabled = false;
  }
}

function refuse(sentence) {
  $("results").setAttribute("aria-busy", "false");
  $("shown").hidden = true;
  $("refused").textContent = sentence;
  $("refused").hidden = false;
  $("refused").scrollIntoView({ block: "nearest" }); // on a phone it is below the settings
  say("");
}

const seconds = (began) => `${((performance.now() - began) / 1000).toFixed(1)} s`;
const say = (words) => ($("status").textContent = words);

async function send(path, body, signal) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (!answer.ok) throw await answer.json();
  return answer;
}

async function* lines(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) yield JSON.parse(part);
  }
}

function showFacts(facts) {
  $("facts").replaceChildren(
    ...facts.map(([name, value, note]) => {
      const box = make("div", [make("dt", name), make("dd", value)]);
      if (note) box.lastChild.append(make("small", note));
      return box;
    }),
  );
}

function make(kind, inside) {
  const element = document.createElement(kind);
  element.append(...[inside].flat());
  return element;
}

async function showFigure(figure) {
  await library;
  const place = $(`figure-${figure.name}`);
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
function refit() {
  for (const figure of figures.values()) {
    const wide = $(`figure-${figure.name}`).querySelector(".chart").clientWidth;
    if (wide > 0 && figure.narrow !== wide < NARROW) showFigure(figure);
  }
}

function table(figure) {
  const head = make("tr", figure.header.map((name) => make("th", name)));
  const rows = figure.rows.map((row) => make("tr", row.map((value) => make("td", short(value)))));
  return make("table", [make("thead", head), make("tbody", rows)]);
}

const short = (value) => (typeof value === "number" ? String(Number(value.toPrecision(5))) : String(value ?? ""));

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

async function save(event) {
  event.preventDefault();
  if (result === null) return;
  const name = $("name").value.trim();
  $("save").disabled = true;
  $("saved").textContent = "Saving …";
  try {
    const told = await (await send("save", { tab, number: result, name })).json();
    if (told.kind !== "saved") throw told;
    $("saved").textContent = `Saved as ${name}. It holds the histogram and is as secret as the data.`;
    $("report").href = `report/${encodeURIComponent(name)}`;
    const quoted = /^[\w.-]+$/.test(name) ? name : `'${name}'`;
    $("commands").textContent = `equinoise audit ${quoted}\nequinoise sample ${quoted} -n 1`;
    $("next").hidden = $("commands").hidden = false;
  } catch (error) {
    $("saved").textContent = error.sentence || "The command behind this page does not answer. Has it ended?";
    $("save").disabled = false;
  }
}

function figurePlace(name) {
  const chart = make("div", "");
  chart.className = "chart";
  chart.setAttribute("role", "img");
  const numbers = make("div", "");
  numbers.className = "table";
  numbers.tabIndex = 0; // so that it can be scrolled by keyboard
  const figure = make("figure", [make("h2", ""), chart, make("figcaption", ""), make("details", [make("summary", "The numbers"), numbers])]);
  figure.id = `figure-${name}`;
  return figure;
}

function syncSlider(event) {
  if (event.target === $("slider")) {
    $("epsilon").value = Number((10 ** $("slider").valueAsNumber).toPrecision(2));
  } else if (event.target === $("epsilon") && $("epsilon").valueAsNumber > 0) {
    $("slider").value = Math.log10($("epsilon").valueAsNumber);
  }
  $("slider").setAttribute("aria-valuetext", $("epsilon").value);
}

const bounds = ({ low, high, public_bounds }) => `between ${low} and ${high}${public_bounds ? "" : " (read off the data)"}`;

function columnChoice(column, number) {
  const box = make("input", "");
  Object.assign(box, { type: "checkbox", name: "column", value: number, checked: true });
  const choice = make("label", [box, make("span", [make("b", column.label), bounds(column)])]);
  choice.className = "choice";
  return choice;
}

async function begin() {
  const box = make("div", "");
  box.id = "tip";
  box.hidden = true;
  document.body.append(box);
  $("figures").replaceChildren(...FIGURES.map(figurePlace));
  const facts = await (await fetch("facts")).json();
  const names = facts.columns.map(({ label }) => label);
  document.title = `${names.join(", ")}: Equinoise`;
  $("column").textContent = new Intl.ListFormat("en-GB").format(names.map((name) => `“${name}”`));
  const people = `${facts.people.toLocaleString("en")} people`;
  $("source").textContent =
    names.length > 1 ? `${people}, from ${facts.source}` : `${people} ${bounds(facts.columns[0])}, from ${facts.source}`;
  $("columns").append(...facts.columns.map(columnChoice));
  $("columns").hidden = names.length === 1;
  $("warnings").replaceChildren(...facts.warnings.map((words) => make("li", words)));
  $("warnings").hidden = facts.warnings.length === 0;
  const quick = facts.bins.filter((number) => (names.length > 1 ? number <= 26 && number ** names.length <= QUICK : number === 101));
  const usual = quick.at(-1) || facts.bins[0];
  $("bins").replaceChildren(...facts.bins.map((number) => new Option(number, number, number === usual, number === usual)));
  $("scales").replaceChildren(...facts.scales.map((name) => new Option(name, name)));
  $("name").value = `${names.join("-").replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^[^\p{L}\p{N}]+/u, "").slice(0, 30) || "column"}.eq`;
  $("settings").addEventListener("input", (event) => {
    syncSlider(event);
    changed();
  });
  $("settings").addEventListener("submit", (event) => event.preventDefault());
  $("keep").addEventListener("submit", save);
  window.addEventListener("resize", () => {
    clearTimeout(refitting);
    refitting = setTimeout(refit, QUIET);
  });
  changed();
}

begin().catch(() => refuse("The command behind this page does not answer. Has it ended?"));
