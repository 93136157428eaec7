// Comfort only: the form of a record works without this file. It keeps unsaved changes in this browser, checks while one types,
// shows the page as it will look, and offers records for edges.
"use strict";

const form = document.querySelector("[data-edit]");
const key = `peerless-edit:${new URL(form.action).pathname}:${form.elements.id.value}`;
const pause = 700;
const own = new Set(["csrf", "lang"]);
let dirty = false;
let sending = null;
let timer = null;

function values() {
  return [...new FormData(form)].filter(([name]) => !own.has(name));
}

function keep() {
  try {
    localStorage.setItem(key, JSON.stringify({ base: form.dataset.base, fields: values() }));
  } catch { /* A full or forbidden storage keeps nothing. */ }
}

function forget() {
  try { localStorage.removeItem(key); } catch { /* as above */ }
}

function put(name, value) {
  const field = form.elements.namedItem(name);
  if (field && field.type === "checkbox") field.checked = true;
  else if (field) field.value = value;
  else {
    // A row that was added before: the server knows it by its name.
    const hidden = document.createElement("input");
    hidden.type = "hidden";
    hidden.name = name;
    hidden.value = value;
    form.append(hidden);
  }
}

function restore() {
  let kept = null;
  try { kept = JSON.parse(localStorage.getItem(key)); } catch { return; }
  if (!kept || kept.base !== form.dataset.base) return;
  const now = new Map(values());
  if (kept.fields.every(([name, value]) => now.get(name) === value)) return;
  for (const [name, value] of kept.fields) put(name, value);
  dirty = true;
  document.querySelector("[data-kept]").hidden = false;
  later();
}

async function ask(step) {
  const body = new URLSearchParams(new FormData(form));
  body.set("do", step);
  const answer = await fetch(form.action, {
    method: "POST", body, signal: sending.signal, headers: { accept: "text/html" }, credentials: "same-origin",
  });
  if (!answer.ok && answer.status !== 422) throw new Error(String(answer.status));
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

async function check() {
  if (sending) sending.abort();
  sending = new AbortController();
  const gone = document.querySelector("[data-gone]");
  try {
    const typed = new Map(values());
    const page = await ask("check");
    for (const told of form.querySelectorAll("[data-told]")) {
      const fresh = page.getElementById(told.id);
      if (fresh) told.replaceChildren(...fresh.childNodes);
      const folded = told.closest("details");
      if (folded && told.children.length > 0) folded.open = true;
    }
    const general = page.querySelector("[data-general]");
    if (general) form.querySelector("[data-general]").replaceChildren(...general.childNodes);
    const other = page.querySelector("[data-edit]");
    if (other) follow(other, typed);
    const view = (await ask(document.documentElement.lang.startsWith("zh") ? "preview-zh" : "preview-en"))
      .querySelector(".record article");
    const preview = form.querySelector("[data-preview]");
    preview.hidden = !view;
    if (view) {
      for (const named of view.querySelectorAll("[id]")) named.removeAttribute("id");
      preview.querySelector("[data-preview-page]").replaceChildren(view);
    }
    gone.hidden = true;
  } catch (error) {
    if (error.name !== "AbortError") gone.hidden = false;
  }
}

// The texts follow the fields and the fields the texts, but for what was typed since the question was asked.
function follow(other, typed) {
  const now = new Map(values());
  for (const [name, value] of new FormData(other)) {
    if (own.has(name) || name === "base") continue;
    const field = form.elements.namedItem(name);
    if (field && field !== document.activeElement && now.get(name) === typed.get(name)) field.value = value;
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(() => { keep(); check(); }, pause);
}

let choices = null;
async function offer(input) {
  const text = input.value.trim();
  if (text.length < 2) return;
  const answer = await fetch(`/api/v1/search?limit=8&q=${encodeURIComponent(text)}`, { credentials: "same-origin" });
  if (!answer.ok) return;
  const found = (await answer.json()).hits || [];
  if (!choices) {
    choices = document.createElement("datalist");
    choices.id = "known-records";
    document.body.append(choices);
  }
  choices.replaceChildren(...found.map((hit) => {
    const option = document.createElement("option");
    option.value = hit.id;
    option.label = hit.title || hit.signature || hit.id;
    return option;
  }));
  input.setAttribute("list", choices.id);
}

form.addEventListener("input", (event) => {
  dirty = true;
  later();
  if (event.target.matches("[data-picker]")) offer(event.target);
});
form.addEventListener("submit", (event) => {
  clearTimeout(timer);
  const step = event.submitter && event.submitter.value;
  keep();
  dirty = step && step.startsWith("preview");
});
document.querySelector("[data-forget]").addEventListener("click", () => {
  forget();
  dirty = false;
  location.assign(location.href);
});
window.addEventListener("beforeunload", (event) => {
  if (dirty) { keep(); event.preventDefault(); }
});
restore();
