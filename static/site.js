// Comfort only: every page works without this file. It copies texts, and sends a log file to the box as it is, so
// that nothing is read into memory or kept.
"use strict";

// Over plain http there is no clipboard; what is selected can be copied all the same.
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("not copied");
}

function copyOnClick(button, source) {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await copyText((source.value ?? source.textContent).trim());
      button.textContent = "✓";
    } catch {
      button.textContent = "✗";
    }
    button.focus();
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}

function offerCopies() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    const source = button.dataset.copy ? { value: button.dataset.copy } : button.parentElement.querySelector("[data-copy-text]");
    if (source) copyOnClick(button, source);
  }
  for (const row of document.querySelectorAll("[data-copy-row]")) {
    row.hidden = false;
    for (const button of row.querySelectorAll("[data-copy-from]")) {
      copyOnClick(button, document.getElementById(button.dataset.copyFrom));
    }
  }
}

// Faults of one host, rank or GPU alone, without asking the server again.
function narrowAtOnce(row) {
  const lists = row.querySelectorAll("select");
  // What the server left out already is not here to be shown again: then its button is needed.
  if ([...lists].some((list) => list.value)) return;
  row.hidden = false;
  row.querySelector("button").hidden = true;
  const fits = (item) => "any" in item.dataset || [...lists].every((list) => {
    const values = item.dataset[list.name.replace("only_", "") + "s"] || "";
    return !list.value || values.split("|").includes(list.value);
  });
  const narrow = () => {
    for (const item of document.querySelectorAll("[data-hosts]")) item.hidden = !fits(item);
  };
  row.addEventListener("change", narrow);
  // What was chosen for this text says nothing of another one.
  lists[0].form.addEventListener("input", () => {
    for (const list of lists) list.value = "";
    narrow();
  });
}

const encodings = { gz: "gzip", zst: "zstd" };
// A form field is percent-encoded, up to three times its size; larger texts go as they are.
const largeText = 1024 * 1024;

function fillBox(box) {
  const pick = box.querySelector("[data-pick]");
  const file = box.querySelector("[data-file]");
  const status = box.querySelector("[data-status]");
  // What is said meanwhile comes with the page, in its language.
  const words = box.dataset;
  const choose = pick.textContent;
  let sending = null;

  pick.hidden = false;
  for (const hint of box.querySelectorAll("[data-script-hint]")) hint.hidden = false;
  pick.addEventListener("click", () => (sending ? sending.abort() : file.click()));
  file.addEventListener("change", () => file.files[0] && send(file.files[0], file.files[0].name));

  box.addEventListener("submit", (event) => {
    const text = box.elements.text.value;
    if (text.length <= largeText) return;
    event.preventDefault();
    send(new Blob([text]), "");
  });
  box.elements.text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) box.requestSubmit();
  });

  const holdsFile = (event) => event.dataTransfer && event.dataTransfer.types.includes("Files");
  box.addEventListener("dragover", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    box.classList.add("over");
  });
  box.addEventListener("dragleave", () => box.classList.remove("over"));
  box.addEventListener("drop", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    box.classList.remove("over");
    if (event.dataTransfer.files[0]) send(event.dataTransfer.files[0], event.dataTransfer.files[0].name);
  });

  function send(body, name) {
    if (sending) return;
    const request = new XMLHttpRequest();
    const query = new URLSearchParams();
    for (const field of box.querySelectorAll(".fields input")) {
      if (field.value.trim()) query.set(field.name, field.value.trim());
    }
    sending = request;
    pick.textContent = words.stop;
    const target = new URL(box.action);
    for (const [name, value] of query) target.searchParams.set(name, value);
    request.open("POST", target);
    request.responseType = "document";
    request.setRequestHeader("Content-Type", "text/plain");
    request.setRequestHeader("Accept", "text/html");
    const encoding = encodings[name.split(".").pop().toLowerCase()];
    if (encoding) request.setRequestHeader("Content-Encoding", encoding);
    request.upload.addEventListener("progress", (event) => {
      const share = event.lengthComputable ? Math.floor((100 * event.loaded) / event.total) + " %" : "";
      status.textContent = share === "100 %" ? words.reading : words.sending + " " + share;
    });
    request.addEventListener("load", () => (request.response ? show(request.response) : end(words.unreadable)));
    request.addEventListener("error", () => end(words.broken));
    request.addEventListener("abort", () => end(words.stopped));
    request.send(body);
  }

  function end(text) {
    sending = null;
    file.value = "";
    pick.textContent = choose;
    status.textContent = text;
  }
}

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
  // What was pasted, with its lines, of which the field knows nothing.
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
    pasted = event.clipboardData ? event.clipboardData.getData("text") : "";
  });
  field.addEventListener("input", (event) => {
    clearTimeout(waiting);
    if (event.inputType === "insertFromDrop") pasted = field.value;
    if (field.value === "") pasted = "";
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
    const text = pasted.includes("\n") ? pasted : field.value;
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

// The answer to a file is the same page that the form would give.
function show(page) {
  const main = page.getElementById("main");
  keepAnswer(page);
  document.getElementById("main").replaceWith(main);
  document.title = page.title;
  start();
  window.scrollTo(0, 0);
  main.focus();
}

// An answer is given to a form: its address alone does not bring it back, and a file is not sent twice. So the tab keeps its last
// answers until it is closed, and the address says which this is; nothing goes to the server for it.
const answersKept = 10;

function keepAnswer(page) {
  if (!page.querySelector("[data-keep]")) return;
  const address = new URLSearchParams(location.search);
  try {
    const number = Number(sessionStorage.getItem("answers")) + 1;
    sessionStorage.removeItem("answer-" + (number - answersKept));
    sessionStorage.setItem("answer-" + number, JSON.stringify([page.title, page.getElementById("main").outerHTML]));
    sessionStorage.setItem("answers", number);
    const query = new URLSearchParams({ answer: number });
    if (address.has("lang")) query.set("lang", address.get("lang"));
    history.replaceState(null, "", "/match?" + query + location.hash);
  } catch {
    // Too large, or the browser keeps nothing: then it is as without this script.
  }
}

// Puts back an answer that the tab has kept.
function putBackAnswer() {
  const number = new URLSearchParams(location.search).get("answer");
  if (location.pathname !== "/match" || !number || document.querySelector("[data-keep]")) return;
  let kept = null;
  try {
    kept = JSON.parse(sessionStorage.getItem("answer-" + number));
  } catch {
    // The browser keeps nothing.
  }
  if (!kept) return history.replaceState(null, "", "/");
  const [title, main] = kept;
  document.getElementById("main").outerHTML = main;
  document.title = title;
  const place = location.hash && document.getElementById(location.hash.slice(1));
  if (place) place.scrollIntoView();
}

function start() {
  offerCopies();
  for (const row of document.querySelectorAll("[data-narrow]")) narrowAtOnce(row);
  for (const box of document.querySelectorAll("[data-box]")) fillBox(box);
}

keepAnswer(document);
putBackAnswer();
start();
