"use strict";

// The question is the form; the address holds all of it, after #e=. The answer comes from one call.
const FIELDS = [
  "expr", "shapes", "values", "grad", "wrt", "assume", "order", "dtype", "random_seed", "expand",
];
const MORE = FIELDS.slice(5); // stand below the others, where nobody has to see them
const NAME = /[A-Za-z_]\w*/g;
const PAUSE = 250; // milliseconds without a key before an answer is asked for
const form = document.getElementById("question");
const answer = document.getElementById("answer");
const error = document.getElementById("error");
const state = document.getElementById("state");
const examples = document.getElementById("examples");
const narrow = window.matchMedia("(max-width: 50rem)"); // as in page.css
let command = "", timer = 0, asked = 0, known = [], example;

async function ask(question) {
  const reply = await fetch("answer", { method: "POST", body: JSON.stringify(question) });
  if (!reply.ok) throw new Error(`the server says ${reply.status}`);
  return reply.json();
}

function question() {
  return Object.fromEntries(FIELDS.map((name) => [name, value(form.elements[name])]));
}

function value(field) {
  return field.type === "checkbox" && !field.checked ? "" : field.value;
}

function fill(given) {
  const isGiven = (other) => FIELDS.every((name) => (other[name] ?? "") === (given[name] ?? ""));
  example = known.find(isGiven);
  examples.value = example ? known.indexOf(example) : "";
  for (const name of FIELDS) {
    const field = form.elements[name];
    if (field.type === "checkbox") field.checked = Boolean(given[name]);
    else field.value = given[name] ?? "";
  }
  if (MORE.some((name) => given[name])) document.getElementById("more").open = true;
}

// An expression without a name of the example's is another question: what the example gives besides
// does not belong to it, unless it was changed by hand.
function leaveExample() {
  if (!example) return;
  const names = new Set(form.elements.expr.value.match(NAME));
  if ((example.expr.match(NAME) ?? []).every((name) => names.has(name))) return;
  for (const name of FIELDS.slice(1)) {
    const field = form.elements[name];
    if (example[name] && field.value === example[name]) field.value = "";
  }
  example = undefined;
  examples.value = "";
}

// The error stands where it is seen: in the place of an answer, or on a phone below the expression.
function placeError() {
  if (narrow.matches) form.elements.expr.closest("label").after(error);
  else answer.before(error);
}

function written(given) {
  const kept = Object.entries(given).filter(([, text]) => text);
  const bytes = new TextEncoder().encode(JSON.stringify(Object.fromEntries(kept)));
  const text = btoa(String.fromCharCode(...bytes));
  return "#e=" + text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function read(fragment) {
  try {
    const text = fragment.replace(/^#e=/, "").replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return {};
  }
}

async function show() {
  const given = question(), turn = ++asked;
  if (!given.expr.trim()) return;
  history.replaceState(null, "", written(given));
  answer.classList.add("old");
  state.textContent = "…";
  let found;
  try {
    found = await ask(given);
  } catch (reason) {
    found = { ok: false, error: `There is no answer: ${reason.message}` };
  }
  if (turn !== asked) return; // a later question is under way
  state.textContent = "";
  error.hidden = found.ok;
  if (found.ok) {
    command = found.command;
    answer.srcdoc = found.page;
    answer.classList.remove("old");
  } else {
    error.replaceChildren(...lines(found.error));
  }
}

// The lines of an error: its sentences are wrapped, a caret stays below its place.
function lines(text) {
  const typed = text.trimEnd().split("\n");
  const caret = typed.findIndex((line) => /^ *\^+ *$/.test(line));
  return typed.map((line, k) => {
    const row = document.createElement("span");
    row.textContent = `${line}\n`;
    row.classList.toggle("sentence", caret < 0 || k < caret - 1 || k > caret);
    return row;
  });
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(show, PAUSE);
}

async function copy(event) {
  const what = event.target.dataset.copy;
  if (!what) return;
  await navigator.clipboard.writeText(what === "link" ? location.href : command);
  state.textContent = `Copied the ${what}.`;
}

async function begin() {
  known = await (await fetch("examples")).json();
  known.forEach((example, k) => examples.add(new Option(example.question, k)));
  examples.addEventListener("change", () => {
    if (examples.value) fill(known[examples.value]);
    show();
  });
  fill(location.hash.startsWith("#e=") ? read(location.hash) : known[0]);
  show();
}

form.elements.expr.addEventListener("input", leaveExample);
form.addEventListener("input", (event) => event.target !== examples && later());
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("click", copy);
narrow.addEventListener("change", placeError);
window.addEventListener("hashchange", () => {
  fill(read(location.hash));
  show();
});
placeError();
begin();
