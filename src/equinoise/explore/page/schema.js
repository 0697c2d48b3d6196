// The schema as a form: a row for every column, and what stands in it as the server takes it.

import { $, make } from "./page.js";

const KINDS = { numbers: "number", dates: "date", categories: "category" };
const USUAL = { synthesize: { missing: "drop", numbers: "nearer bound", categories: "drop" }, optimize: { missing: "refuse", numbers: "refuse", categories: "refuse" } };
const MISSING = { "": "usual rule", refuse: "refuse all rows", drop: "drop the row", category: "a category of its own" };
const OUTSIDE = {
  numbers: { "": "usual rule", refuse: "refuse all rows", clip: "take the nearer bound" },
  categories: { "": "usual rule", refuse: "refuse all rows", drop: "drop the row" },
};
const KEPT = ["bounds_epsilon", "bounds_book"]; // how bounds were found, as long as they are the same

const cards = [];

export function showColumns(columns) {
  cards.push(...columns.map((column, number) => new Card(column, number)));
  $("columns").replaceChildren(...cards.map((card) => card.element));
}

export function showUnit({ names, unit }) {
  $("unit").replaceChildren(new Option("nothing: every row is a person", ""), ...names.map((name) => new Option(name, name)));
  $("unit").value = unit ?? "";
}

// The schema as the server takes it, in the form of its file; a field that cannot be read is left as it is.
export function schema() {
  const columns = Object.fromEntries(cards.filter((card) => card.included).map((card) => [card.name, card.said()]));
  return $("unit").value === "" ? { columns } : { unit: $("unit").value, columns };
}

// What becomes of values that fit nowhere, where nothing is chosen.
export function sayUsualRules(verb) {
  for (const card of cards) {
    card.missing.options[0].textContent = `usual: ${USUAL[verb].missing}`;
    card.outside.options[0].textContent = `usual: ${USUAL[verb][card.kindOfRules()]}`;
  }
}

export const noColumns = () => !cards.some((card) => card.included);

class Card {
  constructor(column, number) {
    Object.assign(this, { name: column.name, given: column, typed: column.categories ?? [] });
    const id = (what) => `column-${number}-${what}`;
    this.tick = input(id("in"), "checkbox", {});
    this.tick.checked = column.included;
    this.kind = choice(id("kind"), KINDS, column.kind);
    this.low = input(id("low"), "text", { value: column.bounds?.[0] ?? "" });
    this.high = input(id("high"), "text", { value: column.bounds?.[1] ?? "" });
    this.step = input(id("step"), "text", { value: column.step ?? "", placeholder: "any" });
    this.bins = input(id("bins"), "text", { value: column.bins ?? "", placeholder: "by the plan" });
    this.list = make("textarea", "");
    Object.assign(this.list, { id: id("list"), rows: 3, spellcheck: false, value: this.typed.join("\n") });
    this.missing = choice(id("missing"), MISSING, column.missing ?? "");
    this.outside = choice(id("outside"), OUTSIDE[this.kindOfRules()], column.outside ?? "");
    this.note = make("p", "");
    this.note.className = "hint";
    const legend = make("legend", make("label", [this.tick, make("span", column.name)]));
    this.fields = make("div", [
      field("Kind", this.kind), field("from", this.low, "numbers dates"), field("to", this.high, "numbers dates"),
      field("step", this.step, "numbers dates"), field("bins", this.bins, "numbers dates"),
      field("categories, one a line", this.list, "categories"), field("missing values", this.missing, "", "rule"), field("values outside", this.outside, "", "rule"),
    ]);
    this.fields.className = "fields";
    this.element = make("fieldset", [legend, this.fields, this.note]);
    this.element.className = "column";
    this.element.addEventListener("input", (event) => this.changed(event.target));
    this.changed(null);
  }

  get included() {
    return this.tick.checked;
  }

  kindOfRules() {
    return this.kind.value === "categories" ? "categories" : "numbers";
  }

  // What is written here by hand was not read off the data any more.
  changed(target) {
    this.fields.hidden = !this.included;
    if (target === this.kind) {
      const rules = OUTSIDE[this.kindOfRules()];
      this.outside.replaceChildren(...options(rules, this.outside.value in rules ? this.outside.value : ""));
    }
    for (const one of this.fields.children) one.hidden = one.dataset.of !== "" && !one.dataset.of.split(" ").includes(this.kind.value);
    const dates = this.kind.value === "dates";
    this.low.placeholder = dates ? "2024-01-01" : "such as 0";
    this.high.placeholder = dates ? "2024-12-31" : "such as 100";
    const written = { bounds: [this.low, this.high], step: [this.step], categories: [this.list] };
    for (const [key, places] of Object.entries(written)) {
      if (!places.includes(target)) continue;
      this.given = { ...this.given, peeked: this.given.peeked?.filter((one) => one !== key) };
      if (key === "bounds") for (const kept of KEPT) delete this.given[kept];
    }
    const peeked = this.included ? this.given.peeked ?? [] : [];
    this.note.textContent = peeked.length
      ? `Read off the data: ${peeked.join(", ")}. Rows to publish are refused until you write down what is public here.`
      : this.given.bounds_epsilon && this.included ? `The bounds were found with epsilon ${this.given.bounds_epsilon}, which counts.` : "";
  }

  said() {
    const said = {};
    if (this.kind.value === "categories") {
      said.categories = this.list.value.split("\n").map((line) => line.trim()).filter(Boolean).map((text) => this.typedText(text));
    } else {
      const dates = this.kind.value === "dates";
      const ends = [this.low, this.high].map((end) => end.value.trim());
      said.bounds = ends.every((end) => end === "") ? [] : ends.map((end) => (dates ? end : number(end)));
      for (const key of ["step", "bins"]) if (this[key].value.trim() !== "") said[key] = number(this[key].value);
      for (const key of KEPT) if (this.given[key] !== undefined) said[key] = this.given[key];
    }
    for (const key of ["missing", "outside"]) if (this[key].value !== "") said[key] = this[key].value;
    const peeked = (this.given.peeked ?? []).filter((key) => said[key] !== undefined);
    if (peeked.length) said.peeked = peeked;
    return said;
  }

  // Categories of whole numbers or booleans stay what they were.
  typedText(text) {
    const kind = typeof this.typed[0];
    if (kind === "number" && /^-?\d+$/.test(text)) return Number(text);
    return kind === "boolean" && (text === "true" || text === "false") ? text === "true" : text;
  }
}

// A number, or the text as it stands, which is then refused by name.
const number = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text.trim());

function field(words, element, of = "", kind = "") {
  const label = make("label", words);
  label.htmlFor = element.id;
  const place = make("div", [label, element]);
  place.className = kind;
  place.dataset.of = of;
  return place;
}

function input(id, type, given) {
  return Object.assign(make("input", ""), { id, type, autocomplete: "off", spellcheck: false, ...given });
}

const options = (names, chosen) => Object.entries(names).map(([value, words]) => new Option(words, value, value === chosen, value === chosen));

function choice(id, names, chosen) {
  const element = make("select", options(names, chosen));
  element.id = id;
  return element;
}
