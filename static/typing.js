// Comfort only: every page works without this file. What the server says while something is typed.
"use strict";

// Search as one types: the page that the form would give, without waiting for the button. The address follows, so that
// it can be shared; "back" leaves the search as a whole. What is pasted, or too long to have been typed, may be of a log
// and gets into no address before somebody asks for that.
const longestTyped = 100;

function searchAsTyped(form) {
  const field = form.elements.q;
  // Stays where it is while its text changes, so that it is read out.
  const told = document.querySelector("[data-told]");
  const pause = 150;
  let waiting = null;
  let asked = null;
  let shown = field.value;
  // Stays until the field is emptied: what is typed behind it would take it along.
  let pasted = false;

  async function search() {
    if (asked) asked.abort();
    const typed = field.value;
    if (typed === shown || typed.length > longestTyped) return;
    asked = new AbortController();
    const query = new URLSearchParams(new FormData(form));
    try {
      // The last word may be a beginning only while it is typed.
      const answer = await fetch("/search?" + query + "&typing=1", { signal: asked.signal });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (field.value !== typed) return;
      const found = page.querySelectorAll("[data-found], [data-heading]");
      document.querySelectorAll("[data-found], [data-heading]").forEach((old, i) => found[i] && old.replaceWith(found[i]));
      document.title = page.title;
      told.textContent = document.querySelector("[data-heading]").textContent;
      shown = typed;
      history.replaceState(null, "", "/search?" + query);
    } catch {
      // Overtaken by what was typed since, or no network: the button still works.
    }
  }

  field.addEventListener("input", (event) => {
    clearTimeout(waiting);
    if (event.inputType === "insertFromPaste" || event.inputType === "insertFromDrop") {
      pasted = true;
      if (asked) asked.abort();
    }
    if (field.value === "") pasted = false;
    if (pasted) return;
    // A word of Chinese that is being composed is no word yet.
    if (!event.isComposing) waiting = setTimeout(search, pause);
  });
  field.addEventListener("compositionend", () => {
    clearTimeout(waiting);
    if (!pasted) waiting = setTimeout(search, pause);
  });
}

for (const form of document.querySelectorAll("[data-search]")) searchAsTyped(form);

// The search in the head: what is typed is suggested below it. `/` leads there, the arrows choose, Enter opens, Esc leaves. What
// is pasted, or too long to have been typed, is a message: it is looked up as in the box, and gets into no address.
const mostSuggested = 6;

function suggestAsTyped(form) {
  const field = form.elements.q;
  const list = form.querySelector("[role=listbox]");
  const pause = 150;
  let waiting = null;
  let asked = null;
  let chosen = -1;
  // The field's text once something was pasted into it, with the line breaks that the field drops.
  let pasted = "";

  field.setAttribute("role", "combobox");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);
  field.setAttribute("aria-expanded", "false");
  field.setAttribute("aria-keyshortcuts", "/");

  function close() {
    clearTimeout(waiting);
    if (asked) asked.abort();
    list.hidden = true;
    list.replaceChildren();
    chosen = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function choose(number) {
    const options = [...list.children];
    chosen = (number + options.length) % options.length;
    options.forEach((option, nth) => option.setAttribute("aria-selected", String(nth === chosen)));
    field.setAttribute("aria-activedescendant", options[chosen].id);
  }

  function option(link, number) {
    const item = document.createElement("div");
    item.id = "suggested-" + number;
    item.lang = link.lang;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", "false");
    item.textContent = link.textContent;
    item.dataset.href = link.getAttribute("href");
    // Before the field loses the focus, and the list goes.
    item.addEventListener("mousedown", (event) => {
      event.preventDefault();
      location.assign(item.dataset.href);
    });
    return item;
  }

  async function suggest() {
    close();
    const typed = field.value;
    if (!typed.trim() || typed.length > longestTyped) return;
    asked = new AbortController();
    try {
      const answer = await fetch("/search?" + new URLSearchParams(new FormData(form)) + "&typing=1", { signal: asked.signal });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (field.value !== typed || document.activeElement !== field) return;
      const links = [...page.querySelectorAll(".results > li > p:first-child > a")].slice(0, mostSuggested);
      list.replaceChildren(...links.map(option));
      list.hidden = links.length === 0;
      field.setAttribute("aria-expanded", String(links.length > 0));
    } catch {
      // Overtaken by what was typed since, or no network: Enter still searches.
    }
  }

  field.addEventListener("paste", (event) => {
    const text = event.clipboardData ? event.clipboardData.getData("text") : "";
    pasted = field.value.slice(0, field.selectionStart) + text + field.value.slice(field.selectionEnd);
  });
  field.addEventListener("input", (event) => {
    clearTimeout(waiting);
    // What was changed since is sent as it stands in the field.
    const isChanged = pasted && event.inputType !== "insertFromPaste";
    if (isChanged || event.inputType === "insertFromDrop") pasted = field.value;
    if (pasted) return close();
    if (!event.isComposing) waiting = setTimeout(suggest, pause);
  });
  field.addEventListener("compositionend", () => {
    clearTimeout(waiting);
    if (!pasted) waiting = setTimeout(suggest, pause);
  });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      field.blur();
    }
    if (list.hidden) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(event.key === "ArrowDown" ? chosen + 1 : Math.max(chosen, 0) - 1);
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      location.assign(list.children[chosen].dataset.href);
    }
  });
  form.addEventListener("submit", (event) => {
    const text = pasted || field.value;
    if (!pasted && text.length <= longestTyped) return;
    event.preventDefault();
    const message = document.createElement("form");
    message.method = "post";
    message.action = form.dataset.find;
    const whole = document.createElement("textarea");
    whole.name = "text";
    whole.value = text;
    message.append(whole);
    message.hidden = true;
    document.body.append(message);
    message.submit();
    message.remove();
  });
}

for (const form of document.querySelectorAll("[data-find]")) suggestAsTyped(form);

document.addEventListener("keydown", (event) => {
  const isTyped = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyped) return;
  const field = document.querySelector("form[role=search] input[type=search]");
  if (!field) return;
  event.preventDefault();
  field.focus();
  field.select();
});

// The workbench as one types: the page that the form would give, shown in its place below the form. Nothing gets into an address.
function askAsTyped(form) {
  const told = document.querySelector("[data-told]");
  const pause = 150;
  let waiting = null;
  let asked = null;

  async function ask() {
    if (asked) asked.abort();
    asked = new AbortController();
    const typed = new URLSearchParams(new FormData(form));
    try {
      const answer = await fetch(form.action, { method: "POST", body: typed, signal: asked.signal });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const result = page.querySelector("[data-result]");
      if (!result || new URLSearchParams(new FormData(form)).toString() !== typed.toString()) return;
      document.querySelector("[data-result]").replaceWith(result);
      told.textContent = [...result.querySelectorAll("h3")].map((part) => part.textContent.trim()).join(", ");
    } catch {
      // Overtaken by what was typed since, or no network: the button still works.
    }
  }

  form.addEventListener("input", (event) => {
    clearTimeout(waiting);
    if (!event.isComposing) waiting = setTimeout(ask, pause);
  });
  form.addEventListener("compositionend", () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, pause);
  });
}

for (const form of document.querySelectorAll("[data-workbench]")) askAsTyped(form);
