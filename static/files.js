// What a site of files does without a server: it shows a record in the site's second language, and searches. Pages of records, lists
// and the graph work without this file.
"use strict";

// Files that only scripts read are packed. A host may have unpacked one on the way.
globalThis.unpack = async (buffer) => {
  const head = new Uint8Array(buffer, 0, Math.min(2, buffer.byteLength));
  if (head[0] !== 0x1f || head[1] !== 0x8b) return buffer;
  return new Response(new Response(buffer).body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
};

async function fileAt(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(address);
  return unpack(await response.arrayBuffer());
}

// The second language of a record. What stands there until its text has come is not shown: it would be another text that moves away.
const root = document.documentElement;
// What a script shows has its place from the start, so that nothing moves when it comes.
root.classList.add("runs");
const asked = new URLSearchParams(location.search).get("lang");
const second = root.dataset.second;
if (asked && second?.split(".")[0] === asked) {
  root.classList.add("waits");
  const coming = fileAt(second + ".json.gz");
  coming.catch(() => {});
  addEventListener("DOMContentLoaded", () => putIn(coming).finally(() => root.classList.remove("waits")));
}

async function putIn(coming) {
  const main = document.getElementById("main");
  try {
    const texts = JSON.parse(new TextDecoder().decode(await coming));
    const own = texts.records[main.querySelector(".eyebrow code").textContent];
    main.innerHTML = own.main;
    document.title = own.title;
    document.querySelector("header").outerHTML = texts.head;
    document.querySelector("footer").outerHTML = texts.foot;
    root.lang = texts.lang;
    globalThis.start();
  } catch {
    // What is said without script holds here, too; a browser that runs scripts has it as text.
    const note = main.querySelector("noscript");
    note.outerHTML = note.textContent;
  }
}

addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("[data-finder]");
  if (form) offerSearch(form);
});

// One request after the other: the worker answers in order.
class Finder {
  constructor(words) {
    this.words = words;
    this.last = this.begin();
  }

  async begin() {
    const { module, index, worker } = this.words;
    const [code, documents] = await Promise.all([fileAt(module), fileAt(index)]);
    this.worker = new Worker(worker);
    await this.told({ module: code, index: documents }, [code, documents]);
  }

  told(message, transfer = []) {
    return new Promise((resolve, reject) => {
      const refuse = (why) => reject(Object.assign(new Error(why), { told: this.words.unsupported }));
      this.worker.onerror = () => refuse("");
      this.worker.onmessage = ({ data }) => ("failed" in data || "unreadable" in data ? refuse(data.failed ?? data.unreadable) : resolve(data));
      this.worker.postMessage(message, transfer);
    });
  }

  find(request) {
    const before = this.last;
    this.last = (async () => {
      await before;
      let told = await this.told({ find: request });
      // A whole message is also asked of the matcher, which needs what recognises each record.
      if (told.needsRecords) {
        const signatures = await fileAt(this.words.signatures);
        await this.told({ signatures }, [signatures]);
        told = await this.told({ find: request });
      }
      return JSON.parse(told.answer);
    })();
    return this.last;
  }
}

const pause = 150;

function offerSearch(form) {
  const words = form.dataset;
  const field = form.elements.q;
  const told = document.querySelector("[data-told]");
  const readAs = document.querySelector("[data-read-as]");
  const hits = document.querySelector("[data-hits]");
  const more = document.querySelector("[data-more]");
  const row = document.querySelector("template[data-hit]");
  let finder = null;
  let turn = 0;

  async function search(typing, cursor) {
    const text = field.value;
    const own = ++turn;
    if (!finder) told.textContent = words.loading;
    try {
      finder ??= new Finder(words);
      const answer = await finder.find({ text, typing, cursor });
      if (own === turn) show(answer, text, typing, Boolean(cursor));
    } catch (error) {
      finder = null;
      if (own === turn) told.textContent = error.told || words.broken;
    }
  }

  function show(answer, text, typing, isNext) {
    const count = words.found.replace("{count}", answer.total);
    told.textContent = !answer.total ? words.none : answer.near ? words.near : count;
    const read = answer.read_as.map((one) => `${words.noRecordHas} ${one.typed}${words.searchedFor} ${one.meant.join(` ${words.or} `)}${words.stop}`);
    if (answer.unknown.length) read.push(`${words.passedOver} ${answer.unknown.join(words.comma)}${words.stop}`);
    readAs.textContent = read.join(" ");
    readAs.hidden = !read.length;
    const items = answer.hits.map(item);
    if (isNext) hits.append(...items);
    else hits.replaceChildren(...items);
    more.hidden = !answer.next_cursor;
    more.onclick = () => search(typing, answer.next_cursor);
  }

  function item(hit) {
    const copy = row.content.cloneNode(true);
    const chinese = root.lang.startsWith("zh");
    const title = (chinese && hit.title_zh) || hit.title;
    const [link, sample] = [copy.querySelector("a"), copy.querySelector(".sample")];
    link.href = words.record.replace("{id}", hit.id);
    link.lang = title && title === hit.title_zh ? "zh-Hans" : "en";
    link.textContent = title ?? hit.signature;
    sample.lang = "en";
    if (title) sample.textContent = hit.signature;
    else sample.remove();
    copy.querySelector("code").textContent = hit.id;
    return copy;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    history.replaceState(null, "", "?" + new URLSearchParams({ q: field.value }));
    search(false);
  });
  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => (field.value.trim() ? search(true) : clear()), pause);
  });
  // The index is on its way before the first word is finished.
  field.addEventListener("focus", () => { finder ??= new Finder(words); finder.last.catch(() => { finder = null; }); }, { once: true });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    field.focus();
  });

  function clear() {
    turn += 1;
    hits.replaceChildren();
    told.textContent = "";
    readAs.hidden = more.hidden = true;
  }

  const q = new URLSearchParams(location.search).get("q");
  if (q) {
    field.value = q;
    search(false);
  }
}
