// Reads logs and searches with the module. The glue that makes `wasm_bindgen` stands before this text; `cargo xtask wasm` puts both together.
// Nothing is asked of the network here, and the policy that comes with this script forbids it.
"use strict";

let records = null;
let search = null;

self.onmessage = async ({ data }) => {
  try {
    if (data.module) wasm_bindgen.initSync({ module: data.module });
    if (data.index) search = new wasm_bindgen.Search(new Uint8Array(data.index));
    if (data.signatures) {
      records = new wasm_bindgen.Records(new Uint8Array(data.signatures));
      search?.know(records);
    }
    if (data.find) {
      if (search.needsRecords(data.find.text)) self.postMessage({ needsRecords: true });
      else self.postMessage({ answer: search.find(JSON.stringify(data.find)) });
    } else if (!data.log) {
      self.postMessage({ answer: "" });
    } else {
      const answer = await read(data);
      self.postMessage({ answer, requests: performance.getEntriesByType("resource").length });
    }
  } catch (error) {
    // A file that a job still writes, and a folder: browsers refuse to read on.
    if (error instanceof DOMException && error.name.startsWith("Not"))
      return self.postMessage({ unreadable: "it changed while it was read, or is no file: copy it, and choose the copy" });
    // Of what it was given the module says in a sentence why it is not read. Anything else is a fault of browser or module.
    const isSaid = error instanceof Error && error.name === "Error" && records;
    self.postMessage(isSaid ? { unreadable: error.message } : { failed: String(error) });
  }
};

// Bytes of a piece.
const size = 1 << 20;
// Milliseconds that a read of a stream may take. Then the rest of the log is read in slices.
const patience = 2000;

async function read({ log, environment, base }) {
  // The first piece comes while the module gets ready.
  const first = log.slice(0, size).arrayBuffer();
  first.catch(() => {});
  const reading = records.start(JSON.stringify(environment), base);
  let bytes = 0;
  let told = 0;
  const take = (piece) => {
    bytes += piece.length;
    reading.push(piece);
    if (bytes < told + 16e6) return;
    told = bytes;
    self.postMessage({ progress: bytes });
  };
  try {
    const head = new Uint8Array(await first);
    if (head[0] === 0x1f && head[1] === 0x8b) await unpacked(log, take);
    else {
      take(head);
      if (bytes < log.size) await inOneBuffer(log.slice(bytes), take);
      await inSlices(log, bytes, take);
    }
  } catch (error) {
    reading.free();
    throw error;
  }
  return reading.finish();
}

// One buffer serves for all pieces, where the browser can fill it: new ones wait for the garbage collector, more than 100 MB of them.
// Whatever goes wrong with a read, the rest is left to slices, which say why they cannot be read. Chromium leaves a read without an end
// now and then. So each has its time, and the end of the stream is never asked for: the size says where it is.
async function inOneBuffer(rest, take) {
  let reader;
  try {
    reader = rest.stream().getReader({ mode: "byob" });
  } catch {
    return;
  }
  try {
    let buffer = new ArrayBuffer(size);
    for (let left = rest.size; left > 0; ) {
      const next = await inTime(reader.read(new Uint8Array(buffer)));
      if (!next || next.done) return;
      left -= next.value.length;
      take(next.value);
      buffer = next.value.buffer;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// What the promise gives; nothing where it fails or takes too long.
function inTime(promise) {
  return new Promise((resolve) => {
    const late = setTimeout(resolve, patience);
    promise.then(resolve, () => resolve()).finally(() => clearTimeout(late));
  });
}

// The next piece is read while the module works on this one.
async function inSlices(log, from, take) {
  const piece = (at) => (at < log.size ? log.slice(at, at + size).arrayBuffer() : null);
  let next = piece(from);
  for (let at = from; at < log.size; at += size) {
    const bytes = await next;
    next = piece(at + size);
    take(new Uint8Array(bytes));
  }
}

async function unpacked(log, take) {
  const reader = log.stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  for (;;) {
    let next;
    try {
      next = await reader.read();
    } catch (error) {
      throw new Error("it begins like a gzip file and cannot be unpacked to its end: " + error.message);
    }
    if (next.done) return;
    take(next.value);
  }
}
