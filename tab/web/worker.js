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

async function read({ log, environment, base }) {
  const reading = records.start(JSON.stringify(environment), base);
  let bytes = 0;
  let told = 0;
  const take = (piece) => {
    bytes += piece.length;
    reading.push(piece);
    // Its memory is free at once, and does not wait for the garbage collector.
    piece.buffer.transfer?.(0);
    if (bytes < told + 16e6) return;
    told = bytes;
    self.postMessage({ progress: bytes });
  };
  try {
    const head = new Uint8Array(await log.slice(0, 2).arrayBuffer());
    if (head[0] === 0x1f && head[1] === 0x8b) await unpacked(log, take);
    else await inPieces(log, take);
  } catch (error) {
    reading.free();
    throw error;
  }
  return reading.finish();
}

// The next piece is read while the module works on this one.
async function inPieces(log, take) {
  const size = 1 << 20;
  const piece = (at) => (at < log.size ? log.slice(at, at + size).arrayBuffer() : null);
  let next = piece(0);
  for (let at = 0; at < log.size; at += size) {
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
