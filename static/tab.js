// Reads a log in this tab. The page and the records are fetched first; from then on nothing is asked for until the answer is there.
// The reader is a worker whose own policy forbids it every request.

let ready = null;

// Fetches what it takes, once; the browser keeps it by its entity tag.
export function prepare(words) {
  ready ??= load(words).catch((error) => {
    ready = null;
    throw error;
  });
  ready.catch(() => {});
  return ready;
}

async function load(words) {
  const page = await fetched(words.page, "text");
  const blank = new DOMParser().parseFromString(page, "text/html");
  const { module, worker, signatures } = blank.querySelector("[data-answer]").dataset;
  const coming = { module: fetched(module, "arrayBuffer"), signatures: fetched(signatures, "arrayBuffer") };
  coming.signatures.catch(() => {});
  // Its script comes beside them, and it compiles the module while the records are on their way.
  const reader = new Worker(worker);
  const broken = new Promise((_, reject) => { reader.onerror = () => reject(Object.assign(new Error(), { told: words.unsupported })); });
  try {
    for (const name of ["module", "signatures"]) {
      const body = await Promise.race([coming[name], broken]);
      await told(reader, { [name]: body }, [body], words, () => {});
    }
  } catch (error) {
    reader.terminate();
    throw error;
  }
  return { page, reader };
}

async function fetched(address, as) {
  const response = await fetch(address, { headers: { Accept: as === "text" ? "text/html" : "*/*" } });
  if (!response.ok) throw new Error(address);
  const body = await response[as]();
  // A site of files gives out packed files.
  return globalThis.unpack && as === "arrayBuffer" ? globalThis.unpack(body) : body;
}

// Asks the worker and waits for its last word.
function told(reader, message, transfer, words, onProgress) {
  return new Promise((resolve, reject) => {
    reader.onerror = () => reject(Object.assign(new Error(), { told: words.unsupported }));
    reader.onmessage = ({ data }) => {
      if ("progress" in data) onProgress(data.progress);
      else if ("unreadable" in data) reject(Object.assign(new Error(), { unreadable: data.unreadable }));
      else if ("failed" in data) reject(Object.assign(new Error(data.failed), { told: words.unsupported }));
      else resolve(data);
    };
    reader.postMessage(message, transfer);
  });
}

export async function read(log, { box, status, signal }) {
  const words = box.querySelector("[data-tab]").dataset;
  status.textContent = words.loading;
  const { page, reader } = await prepare(words);
  signal.throwIfAborted();
  signal.addEventListener("abort", () => {
    reader.terminate();
    ready = null;
    reader.onerror();
  });
  const environment = {};
  for (const field of box.querySelectorAll(".fields input")) {
    if (field.value.trim()) environment[field.name] = field.value.trim();
  }
  performance.clearResourceTimings();
  const progress = (bytes) => {
    status.textContent = words.progress.replace("{size}", size(bytes));
  };
  progress(0);
  const answering = told(reader, { log, environment, base: location.origin }, [], words, progress);
  // The page of the answer is made while the log is read.
  const blank = new DOMParser().parseFromString(page, "text/html");
  try {
    const { answer, requests } = await answering;
    fill(blank, JSON.parse(answer), performance.getEntriesByType("resource").length + requests);
  } catch (error) {
    if (!error.unreadable) {
      reader.terminate();
      ready = null;
      error.told ??= words.unsupported;
      throw error;
    }
    refuse(blank, error.unreadable);
  }
  globalThis.show(blank);
}

// What is no text gets no "no known error": only the reason why it was not read. Reasons are in English.
function refuse(page, reason) {
  const main = page.querySelector("[data-answer]");
  const note = main.querySelector("[data-not-sent]");
  const why = page.createElement("span");
  why.lang = "en";
  why.textContent = " " + reason;
  note.className = "note warn";
  note.replaceChildren(main.dataset.unreadable, why);
  tidy(page);
}

const mostShown = 60;
const mostLines = 1000;
const number = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");

function size(bytes) {
  let unit = 0;
  let value = bytes;
  for (; value >= 1000 && unit < 3; unit += 1) value /= 1000;
  return (unit ? value.toFixed(1) : value) + " " + ["B", "kB", "MB", "GB"][unit];
}

// The causes as they stand in the text, then what follows from them, then harmless ones.
function inOrder(answer) {
  const causes = answer.root_causes.map((cause) => answer.matches.find((found) => found.id === cause.match));
  const ordered = [...new Set([...causes, ...answer.matches])].filter(Boolean);
  return [...ordered.filter((found) => !found.harmless), ...ordered.filter((found) => found.harmless)];
}

function relation(answer, ordered, found, words) {
  const place = (id) => ordered.findIndex((other) => other.id === id) + 1;
  const at = (text, value) => text.replace("{count}", value);
  if (found.harmless) return words.harmless;
  const own = answer.root_causes.find((cause) => cause.match === found.id);
  if (own?.behind_line) return words.becauseOfLine.replace("{line}", number(own.behind_line));
  if (ordered.filter((other) => !other.harmless).length === 1) return "";
  if (own) {
    const led = own.chain.filter((id) => id !== found.id).map(place).filter(Boolean);
    const name = answer.root_cause === found.id && !answer.unknown_cause ? words.firstCause : words.anotherCause;
    return led.length ? name + words.comma + at(words.ledTo, led.slice(0, 8).join(words.comma) + (led.length > 8 ? " …" : "")) : name;
  }
  const leader = answer.root_causes.find((cause) => cause.chain.includes(found.id));
  if (leader) return at(words.becauseOf, place(leader.match));
  const beside = answer.root_causes.find((cause) => cause.line === firstLine(answer, found));
  return beside ? at(words.sameLine, place(beside.match)) : "";
}

// The record calls the message harmless, the driver calls a line of it fatal.
function isWorse(found) {
  return !found.harmless && Boolean(found.harmless_unless);
}

function firstLine(answer, found) {
  const cause = answer.root_causes.find((one) => one.match === found.id);
  return cause ? cause.line : found.lines[0]?.line;
}

function fill(page, answer, requests) {
  const main = page.querySelector("[data-answer]");
  const words = main.dataset;
  const chinese = page.documentElement.lang.startsWith("zh");
  const copy = (name) => page.querySelector(`template[data-${name}]`).content.cloneNode(true);
  const term = (name) => page.querySelector("template[data-terms]").content.querySelector(`[data-term="${name}"]`)?.cloneNode(true);
  const ordered = inOrder(answer);
  const errors = ordered.filter((found) => !found.harmless).length;
  const unknown = answer.unknown_cause;
  const isInterrupted = unknown?.part === "interrupted";
  const none = unknown ? (isInterrupted ? words.headingInterrupted : words.headingUnknown) : words.noneFound;
  const heading = errors ? words.found.replace("{count}", number(errors)) : none;
  page.title = heading + " · Peerless";
  main.dataset.keep = "";
  main.querySelector("h1").textContent = heading;

  const said = copy("said");
  for (const text of [...said.children]) {
    const put = { "{requests}": number(requests), "{lines}": number(answer.lines_scanned), "{size}": size(answer.bytes_scanned) };
    text.firstChild.data = text.firstChild.data.replace(/\{\w+\}/g, (name) => put[name] ?? name);
  }
  main.querySelector("[data-not-sent]").replaceWith(said);

  const faults = main.querySelector(".faults");
  faults.hidden = !ordered.length;
  const order = main.querySelector("[data-order]");
  order.hidden = ordered.length < 2;
  order.textContent = { time: words.byTime, time_by_clock: words.byClock }[answer.order] ?? words.byPlace;
  const cards = page.querySelector("[data-matches]");
  ordered.slice(0, mostShown).forEach((found, at) => {
    const title = (chinese && found.title_zh) || found.title || found.signature;
    const name = (link) => {
      link.textContent = isWorse(found) ? words.calledFatal.replace("{title}", () => title) : title;
      link.lang = title === found.title_zh ? "zh-Hans" : "en";
    };
    const row = copy("fault");
    row.querySelector(".no").textContent = at + 1;
    name(row.querySelector("a"));
    row.querySelector("a").href = "#match-" + (at + 1);
    const role = relation(answer, ordered, found, words);
    if (role) row.querySelector("[data-relation]").textContent = role;
    else for (const empty of row.querySelectorAll("br, [data-relation]")) empty.remove();
    const line = firstLine(answer, found);
    const toLine = row.querySelector("[data-line]");
    toLine.textContent = words.line.replace("{line}", number(line));
    toLine.href = "#line-" + line;
    if (found.count > 1) row.querySelector("[data-count]").textContent = "×" + number(found.count);
    const severity = term(found.severity);
    if (severity) row.querySelector("[data-severity]").append(severity);
    faults.append(row);
    cards.append(card(copy, term, found, at + 1, name, words.record));
  });

  const shownOf = main.querySelector("[data-shown-of]");
  shownOf.hidden = ordered.length <= mostShown;
  const counts = { "{shown}": mostShown, "{all}": number(ordered.length) };
  shownOf.textContent = shownOf.textContent.replace(/\{\w+\}/g, (name) => counts[name] ?? name);

  const components = (answer.environment ?? []).map((one) => {
    const from = one.line ? words.line.replace("{line}", number(one.line)) : words.given;
    return `${one.component} ${one.value} (${from})`;
  });
  const environment = main.querySelector("[data-environment]");
  environment.hidden = !components.length;
  environment.querySelector("span").textContent = components.join("; ");
  if (unknown) {
    const shown = page.createElement("p");
    shown.className = "note warn";
    const error = unknown.text ? unknown.name + ": " + unknown.text : unknown.name;
    const said = isInterrupted ? words.interrupted : unknown.part === "ended" ? words.unknownCause : words.unknownRaised;
    shown.textContent = said.replace("{line}", number(unknown.line)).replace("{error}", () => error);
    main.querySelector("[data-notes]").append(shown);
  }
  if (answer.unexplained) {
    const { lines, are_more: areMore } = answer.unexplained;
    const shown = page.createElement("p");
    shown.className = "note warn";
    const first = lines.slice(0, 8).map((one) => number(one.line));
    const more = lines.length > 8 || areMore ? " …" : "";
    const named = words.unexplained.replace("{line}", first.join(words.comma) + more);
    // Without lines, not all of the text was looked at.
    shown.textContent = lines.length ? named : words.unexplainedMore;
    main.querySelector("[data-notes]").append(shown);
  }
  for (const note of answer.notes) {
    const shown = page.createElement("p");
    shown.className = "note warn";
    shown.lang = "en";
    shown.textContent = note;
    main.querySelector("[data-notes]").append(shown);
  }
  main.querySelector("[data-nothing]").hidden = errors > 0;
  showLines(page, ordered);
  tidy(page);
}

function card(copy, term, found, no, name, file) {
  const card = copy("match");
  const article = card.querySelector("article");
  article.id = "match-" + no;
  const part = (selector, text) => {
    const element = card.querySelector(selector);
    if (text) return element;
    element.remove();
    return null;
  };
  // The address is one of this server; what leads elsewhere is no record of it.
  const path = file ? file.replace("{id}", found.id) : new URL(found.address).pathname;
  card.querySelector(".no").textContent = no;
  const heading = card.querySelector("h2 a");
  name(heading);
  heading.href = path;
  card.querySelector("[data-whole]").href = path;
  const sample = part(".sig", found.title);
  if (sample) sample.textContent = found.signature;
  const step = found.workaround?.action;
  const first = part("[data-first]", step || found.action);
  if (first) {
    const text = first.querySelector("span");
    if (step) {
      text.lang = "en";
      text.textContent = step;
    } else text.append(term("do-" + found.action) ?? "");
  }
  const put = (selector, text) => {
    const element = part(selector, text);
    if (element) element.querySelector("span").textContent = text;
  };
  put("[data-stop]", found.workaround?.stop_first);
  const how = part("[data-how]", found.workaround?.how);
  if (how) how.firstChild.textContent = found.workaround.how;
  put("[data-unless]", found.harmless && found.harmless_unless);
  part("[data-worse]", isWorse(found));
  part("[data-applies]", found.applies === "no");
  card.querySelector(".facts code").textContent = found.id;
  return card;
}

// The first three lines of each fault and the last, as far as the answer has them.
function showLines(page, ordered) {
  const lines = new Map();
  ordered.slice(0, mostShown).forEach((found, at) => {
    for (const line of found.lines.flatMap((one) => [one, ...(one.parts ?? [])])) {
      if (line.text === undefined) continue;
      const known = lines.get(line.line) ?? { text: line.text, marks: [], faults: new Set() };
      known.faults.add(at + 1);
      if (known.text === line.text) known.marks.push([line.mark_start, line.mark_end]);
      lines.set(line.line, known);
    }
  });
  const list = page.querySelector(".log.whole");
  list.parentElement.hidden = !lines.size;
  let before = 0;
  for (const [line, shown] of [...lines].sort((a, b) => a[0] - b[0]).slice(0, mostLines)) {
    if (line > before + 1) {
      const gap = page.createElement("li");
      gap.className = "gap";
      gap.innerHTML = '<span class="ln" aria-hidden="true">⋮</span><span></span>';
      list.append(gap);
    }
    before = line;
    list.append(lineItem(page, line, shown));
  }
}

function lineItem(page, line, shown) {
  const item = page.createElement("li");
  item.id = "line-" + line;
  item.className = "hit";
  item.innerHTML = '<span class="ln"></span><code></code><span class="at"></span>';
  item.children[0].textContent = number(line);
  // Marks count bytes of UTF-8.
  const bytes = new TextEncoder().encode(shown.text);
  const text = (from, to) => new TextDecoder().decode(bytes.subarray(from, to));
  let done = 0;
  for (const [from, to] of shown.marks.sort((a, b) => a[0] - b[0])) {
    if (to <= done) continue;
    const mark = page.createElement("mark");
    mark.textContent = text(Math.max(from, done), to);
    item.children[1].append(text(done, Math.max(from, done)), mark);
    done = to;
  }
  item.children[1].append(text(done));
  for (const fault of shown.faults) {
    const link = page.createElement("a");
    link.className = "no";
    link.href = "#match-" + fault;
    link.textContent = fault;
    item.children[2].append(link);
  }
  return item;
}

// What the page was filled from is not kept with the answer.
function tidy(page) {
  for (const spent of page.querySelectorAll("main template")) spent.remove();
}
