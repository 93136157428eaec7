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
    button.title = button.dataset.copy;
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
  pick.addEventListener("click", () => {
    if (sending) return sending.abort();
    if (inTab.checked) prepare().catch(() => {});
    file.click();
  });
  file.addEventListener("change", () => file.files[0] && take(file.files[0]));

  // A log may be read in this tab, where the server has what it takes. Its script comes when it is asked for.
  const tab = box.querySelector("[data-tab]");
  const inTab = tab ? tab.querySelector("input") : {};
  const prepare = () => import(new URL(tab.dataset.tab, location)).then((script) => (script.prepare(tab.dataset), script));
  if (tab) {
    tab.hidden = false;
    const readText = box.querySelector("[data-tab-text]");
    readText.hidden = false;
    readText.addEventListener("click", () => box.elements.text.reportValidity() && readInTab(new Blob([box.elements.text.value])));
  }

  let cannotPrepare = false;
  function take(chosen) {
    cannotPrepare = false;
    if (inTab.checked) readInTab(chosen);
    else send(chosen, chosen.name);
  }

  function readInTab(log) {
    if (sending) return;
    const stop = new AbortController();
    sending = stop;
    pick.textContent = words.stop;
    prepare().then((script) => script.read(log, { box, status, signal: stop.signal })).then(
      () => {},
      (error) => end(stop.signal.aborted ? words.stopped : error.told || tab.dataset.broken),
    );
  }

  box.addEventListener("submit", (event) => {
    const text = box.elements.text.value;
    // A site of files has nobody to send it to.
    if (!box.hasAttribute("action")) {
      event.preventDefault();
      return readInTab(new Blob([text]));
    }
    if (text.length <= largeText) return;
    event.preventDefault();
    send(new Blob([text]), "");
  });
  box.elements.text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) box.requestSubmit();
  });

  const holdsFile = (event) => event.dataTransfer && event.dataTransfer.types.includes("Files");
  // What it takes to read a file comes while the file is still held above the box. Where that fails, it is asked for again
  // once a file is let go or chosen.
  box.addEventListener("dragenter", (event) => {
    if (!holdsFile(event) || !inTab.checked || cannotPrepare) return;
    prepare().then((script) => script.prepare(tab.dataset)).catch(() => { cannotPrepare = true; });
  });
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
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
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
    history.replaceState(null, "", (page.querySelector("[data-kept-at]")?.dataset.keptAt ?? "/match") + "?" + query + location.hash);
  } catch {
    // Too large, or the browser keeps nothing: then it is as without this script.
  }
}

// Puts back an answer that the tab has kept.
function putBackAnswer() {
  const address = new URLSearchParams(location.search);
  const number = address.get("answer");
  const place = document.querySelector("[data-kept-at]");
  if (!(place || location.pathname === "/match") || !number || document.querySelector("[data-keep]")) return;
  let kept = null;
  try {
    kept = JSON.parse(sessionStorage.getItem("answer-" + number));
  } catch {
    // The browser keeps nothing.
  }
  if (!kept && place) return history.replaceState(null, "", location.pathname);
  if (!kept) return history.replaceState(null, "", address.has("lang") ? "/?" + new URLSearchParams({ lang: address.get("lang") }) : "/");
  const [title, main] = kept;
  document.getElementById("main").outerHTML = main;
  document.title = title;
  const mark = location.hash && document.getElementById(location.hash.slice(1));
  if (mark) mark.scrollIntoView();
}

function start() {
  offerCopies();
  for (const row of document.querySelectorAll("[data-narrow]")) narrowAtOnce(row);
  for (const box of document.querySelectorAll("[data-box]")) fillBox(box);
}

keepAnswer(document);
putBackAnswer();
start();
