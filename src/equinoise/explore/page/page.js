// Asks the server as settings and schema change, and shows what comes back. Everything is loaded from this computer.

import { figurePlace, keepFigures, refit, showFigure } from "./charts.js";
import { noColumns, sayUsualRules, schema, showColumns, showUnit } from "./schema.js";

export function $(id) {
  return document.getElementById(id);
}

export function make(kind, inside) {
  const element = document.createElement(kind);
  element.append(...[inside].flat());
  return element;
}

export function table(figure) {
  const words = figure.header.map((_, column) => figure.rows.every((row) => !/^[\d.+\-<]/.test(String(row[column] ?? ""))));
  const cell = (kind) => (value, column) => Object.assign(make(kind, short(value)), { className: words[column] ? "text" : "" });
  const head = make("tr", figure.header.map(cell("th")));
  const rows = figure.rows.map((row) => make("tr", row.map(cell("td"))));
  return make("table", [make("thead", head), make("tbody", rows)]);
}

const tab = crypto.randomUUID(); // the server keeps a process for every tab
const BESIDE = "distribution"; // stands beside the statistics
const FIGURES = ["map", "noise", "losses", "cost"];
const QUIET = 250; // milliseconds without a change before anything is asked for
const GONE = "The command behind this page does not answer. Has it ended?";

let asking = null; // what is under way, to be dropped when settings move again
let timer = 0;
let refitting = 0;
let pending = null; // the number of what is being shown
let result = null; // the number of what is shown, if it can be saved
let publishing = false;
let drawn = new Set(); // the figures of what is being shown
let hasData = false;

const verb = () => document.querySelector("input[name=verb]:checked").value;
const looks = () => hasData && !$("plan-only").checked;
const optional = (id) => (Number.isNaN($(id).valueAsNumber) ? null : $(id).valueAsNumber);

function settings() {
  const shared = { verb: verb(), schema: schema(), epsilon: $("epsilon").valueAsNumber, delta: $("delta").valueAsNumber };
  if (verb() === "optimize") return { ...shared, draws: $("draws").valueAsNumber, scales: $("scales").value };
  const rows = $("same").checked ? "same" : $("rows").valueAsNumber;
  const each = $("unit").value === "" ? 1 : $("rows-per-person").valueAsNumber;
  return { ...shared, rows, people: optional("people"), method: $("method").value || null, rows_per_person: each };
}

function changed() {
  showWhatApplies();
  const now = settings();
  clearTimeout(timer);
  stop();
  if (!looks()) $("shown").hidden = true; // at once
  const empty = Object.entries(now).find(([, value]) => Number.isNaN(value));
  if (empty) {
    refuse(`Give a number for ${empty[0].replaceAll("_", " ")}.`);
  } else if (noColumns()) {
    refuse("Tick the columns to take, and fill in what is public about them.");
  } else {
    timer = setTimeout(solve, QUIET);
  }
}

// Fields and words that go with the verb, the switch and the unit.
function showWhatApplies() {
  const game = verb() === "optimize";
  for (const place of document.querySelectorAll(".of")) place.hidden = !place.classList.contains(verb());
  $("rows").disabled = $("same").checked;
  sayUsualRules(verb());
  if (hasData) $("plan-only-hint").textContent = looks() ? "Off: the data is counted and shown." : "Nothing of the data is counted or shown.";
  for (const place of document.querySelectorAll(".of-unit")) place.hidden = game || $("unit").value === "";
  const several = game && $("draws").valueAsNumber > 1;
  $("epsilon-hint").textContent = !game ? "For everything that comes out together, and for later rows of it."
    : several && $("delta").valueAsNumber > 0 ? "For all draws together." : several ? "For one draw; draws add up." : "For one draw.";
  $("delta-hint").textContent = several ? "With a delta such as 1e-6, epsilon is for all draws together, which takes longer."
    : "The probability with which epsilon may be exceeded. 0 is safest.";
  document.body.className = looks() ? "looking" : "planning";
  $("band").replaceChildren(...(looks()
    ? [make("strong", "Contains private data."), " What is shown of the data is as secret as the data. Only rows that were made may be given away."]
    : [make("strong", "Plan only."), " Nothing on this page comes from a value of the data."]));
  $("title").textContent = game ? "Try the paper’s game" : "Plan a release";
  $("keep-title").textContent = game ? "Save this mechanism" : "Make the rows";
  $("save").textContent = game ? "Save" : "Make";
  $("keep-hint").textContent = game ? "Work out what the data gives first." : "Noise is drawn once, when you make them: making rows again costs epsilon again.";
  $("keep-hint").hidden = game && looks();
  const wanted = game ? ".eq" : ".csv";
  if (!$("name").value.endsWith(wanted)) $("name").value = `${$("name").value.replace(/\.(eq|csv)$/, "")}${wanted}`;
}

function stop() {
  if (asking) asking.abort();
  asking = null;
  result = null;
  $("save").disabled = true;
  say("");
}

async function solve() {
  stop();
  const mine = (asking = new AbortController());
  const began = performance.now();
  busy(true);
  drawn = new Set();
  say("Working …");
  try {
    const answer = await send("solve", { tab, look: looks(), settings: settings() }, mine.signal);
    for await (const message of lines(answer)) {
      if (asking !== mine) return;
      await take(message, began);
    }
  } catch (error) {
    if (asking === mine) refuse(error.sentence || GONE);
  }
}

async function take(message, began) {
  if (message.kind === "note") note(message);
  if (message.kind === "refused" || message.kind === "cancelled") refuse(message.sentence);
  if (message.kind === "plan") {
    showPlan(message);
    if (verb() === "synthesize") offerSaving();
  }
  if (message.kind === "result") {
    showResult(message);
    pending = message.number;
  }
  if (message.kind === "figure") {
    drawn.add(message.figure.name);
    await showFigure(message.figure);
  }
  if (message.kind === "drawn") {
    keepFigures(drawn);
    busy(false);
    say(`Worked out and drawn in ${seconds(began)}.`);
  }
  if (message.kind === "done") {
    busy(false);
    say(`All worked out in ${seconds(began)}.`);
    result = pending;
    asking = null;
    offerSaving();
  }
}

function offerSaving() {
  $("save").disabled = publishing || !hasData || (verb() === "optimize" && (result === null || !looks()));
}

function note({ note: words, done }) {
  say(`Working … ${words}.`);
  $("progress").hidden = done === null;
  if (done !== null) $("progress").value = done;
}

function showPlan(plan) {
  $("refused").hidden = true;
  $("plan").hidden = $("command-place").hidden = false;
  $("plan-sentence").textContent = plan.sentence;
  $("plan-bins").textContent = plan.bins ?? "";
  $("plan-verdict").textContent = plan.verdict ?? "";
  $("plan-verdict").hidden = !plan.verdict;
  $("plan-verdict").classList.toggle("alert", plan.too_small ?? false);
  $("plan-basis").textContent = plan.basis ?? "";
  $("plan-tables").replaceChildren(...plan.tables.flatMap(titled));
  $("command").textContent = plan.command;
}

function titled(one) {
  const place = make("div", table(one));
  place.className = "table";
  place.tabIndex = 0;
  place.setAttribute("role", "region");
  place.setAttribute("aria-label", one.title);
  return [make("h3", one.title), place];
}

function showResult(message) {
  $("shown").hidden = false;
  $("promise").textContent = message.promise;
  $("in-full").textContent = message.in_full;
  $("example").textContent = message.example;
  showWarnings([...message.warnings, ...message.left_out]);
  showFacts(message.facts);
  $("statistics-title").textContent = message.statistics.title;
  $("statistics").replaceChildren(table(message.statistics));
  $("how-to-read").textContent = message.how_to_read;
}

function showWarnings(sentences) {
  $("warnings").replaceChildren(...sentences.map((words) => make("li", words)));
  $("warnings").hidden = sentences.length === 0;
}

function showFacts(facts) {
  $("facts").hidden = facts.length === 0;
  $("facts").replaceChildren(
    ...facts.map(([name, value, beside]) => {
      const box = make("div", [make("dt", name), make("dd", value)]);
      if (beside) box.lastChild.append(make("small", beside));
      return box;
    }),
  );
}

function refuse(sentence) {
  busy(false);
  $("shown").hidden = true;
  $("refused").textContent = sentence;
  $("refused").hidden = false;
  $("refused").scrollIntoView({ block: "nearest" }); // on a phone it is below the settings
  say("");
}

function busy(whether) {
  $("results").setAttribute("aria-busy", String(whether));
  if (!whether) $("progress").hidden = true;
}

const seconds = (began) => `${((performance.now() - began) / 1000).toFixed(1)} s`;
const say = (words) => ($("status").textContent = words);
const short = (value) => (typeof value === "number" ? String(Number(value.toPrecision(5))) : String(value ?? ""));

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

async function keep(event) {
  event.preventDefault();
  if ($("save").disabled) return;
  const name = $("name").value.trim();
  $("save").disabled = true;
  notify(["Writing …"]);
  try {
    if (verb() === "optimize") await saveMechanism(name);
    else await publish(name);
  } catch (error) {
    notify([error.sentence || GONE], "alert");
  }
  publishing = false;
  offerSaving();
}

async function saveMechanism(name) {
  const told = await (await send("save", { tab, number: result, name })).json();
  if (told.kind !== "saved") throw told;
  notify([told.sentence, reportLink(told.name), commands(told.commands)]);
}

async function publish(name) {
  const interrupted = asking !== null;
  if (interrupted) asking.abort();
  asking = null;
  publishing = true;
  busy(false);
  say("");
  const body = { tab, name, counts: $("counts").checked, settings: settings() };
  for await (const message of lines(await send("publish", body))) {
    if (message.kind === "note") notify([`Making the rows … ${message.note}.`]);
    if (message.kind === "refused" || message.kind === "cancelled") throw message;
    if (message.kind !== "published") continue;
    const [link, secret] = looks() ? [[reportLink(message.name)], message.left_out] : [[], []];
    const told = [message.promise, ...secret].map((words) => make("p", words));
    const parts = [make("strong", message.sentence), ...told, ...caveats(message.warnings)];
    notify([...parts, ...titled(message.rows), ...link, commands(message.commands)]);
  }
  publishing = false;
  if (interrupted) solve();
}

// Warnings may count people: with 'Plan only' they are there for whoever opens them.
function caveats(sentences) {
  const told = sentences.map((words) => make("p", words));
  if (looks() || told.length === 0) return told;
  return [make("details", [make("summary", "What to mind, which says something of the data"), ...told])];
}

function reportLink(name) {
  const link = make("a", "Open the report");
  Object.assign(link, { id: "report", href: `report/${encodeURIComponent(name)}`, target: "_blank", rel: "noopener" });
  return make("p", [link, " (for your eyes: it shows the data)"]);
}

function commands(list) {
  const place = make("pre", list.join("\n"));
  place.tabIndex = 0;
  place.setAttribute("aria-label", "What to do next");
  return place;
}

// Where the eye is, whatever part of the page is in view.
function notify(parts, kind = "") {
  $("notice").className = kind;
  $("notice-text").replaceChildren(...parts);
  $("notice").hidden = false;
}

async function keepSchema(event) {
  event.preventDefault();
  const name = $("schema-name").value.trim();
  try {
    await send("schema", { name, schema: schema() });
    $("schema-saved").textContent = `Saved ${name}.`;
  } catch (error) {
    $("schema-saved").textContent = error.sentence || GONE;
  }
}

function syncSlider(event) {
  if (event.target === $("slider")) {
    $("epsilon").value = Number((10 ** $("slider").valueAsNumber).toPrecision(2));
  } else if (event.target === $("epsilon") && $("epsilon").valueAsNumber > 0) {
    $("slider").value = Math.log10($("epsilon").valueAsNumber);
  }
  $("slider").setAttribute("aria-valuetext", $("epsilon").value);
}

function showData(facts) {
  hasData = facts.source !== null;
  $("source").textContent = hasData ? `From ${facts.source}.` : "No data was named, so there is the plan alone.";
  $("plan-only").disabled = !hasData;
  if (!hasData) $("plan-only-hint").textContent = "No data was named: equinoise explore DATA.";
  const stem = (facts.source ?? "rows").split(/[\\/]/).at(-1).replace(/\.[^.]*$/, "");
  $("name").value = `${stem.replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^[^\p{L}\p{N}]+/u, "").slice(0, 30) || "people"}-rows.csv`;
  if (hasData) document.title = `${facts.source}: Equinoise`;
}

async function begin() {
  const box = make("div", "");
  box.id = "tip";
  box.hidden = true;
  document.body.append(box);
  $("figure-place").append(figurePlace(BESIDE));
  $("figures").replaceChildren(...FIGURES.map(figurePlace));
  const facts = await (await fetch("facts")).json();
  showData(facts);
  showColumns(facts.columns);
  showUnit(facts);
  $("scales").replaceChildren(...facts.scales.map((name) => new Option(name, name)));
  $("method").replaceChildren(new Option("by the plan", ""), ...facts.methods.map((name) => new Option(name, name)));
  for (const place of ["switch", "settings", "schema-section"]) {
    $(place).addEventListener("input", (event) => {
      if (event.target === $("schema-name")) return;
      syncSlider(event);
      changed();
    });
  }
  $("settings").addEventListener("submit", (event) => event.preventDefault());
  $("keep").addEventListener("submit", keep);
  $("keep-schema").addEventListener("submit", keepSchema);
  $("notice-close").addEventListener("click", () => ($("notice").hidden = true));
  window.addEventListener("resize", () => {
    clearTimeout(refitting);
    refitting = setTimeout(refit, QUIET);
  });
  changed();
}

begin().catch(() => refuse(GONE));
