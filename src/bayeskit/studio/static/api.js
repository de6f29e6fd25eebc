// Questions to the server: JSON out, JSON in; an error is where, what came, what would do.

export class StudioError extends Error {
  constructor({ where = "", what = "", kind = "", ...details } = {}) {
    super(what);
    this.where = where;
    this.kind = kind;
    this.details = details;
  }
}

const BASE = "/api/v1";

async function refused(response) {
  let found = {};
  try {
    found = (await response.json()).error || {};
  } catch {
    found = { what: `${response.status} ${response.statusText}` };
  }
  return new StudioError(found);
}

async function call(method, path, options = {}) {
  let response;
  try {
    response = await fetch(BASE + path, { method, ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new StudioError({ where: "connection", what: "offline", kind: "Offline" });
  }
  if (!response.ok) throw await refused(response);
  return response;
}

export const get = async (path) => (await call("GET", path)).json();
export const remove = async (path) => (await call("DELETE", path)).json();

export async function post(path, body = {}, signal) {
  const options = { body: JSON.stringify(body), headers: { "content-type": "application/json" }, signal };
  return (await call("POST", path, options)).json();
}

export async function upload(path, file, signal) {
  const name = encodeURIComponent(file.name);
  return call("POST", `${path}?name=${name}`, { body: file, headers: { "content-type": "application/octet-stream" }, signal });
}

// Events, line by line, until the work is done; leaving (the signal) ends it on the server too.
export async function* follow(path, body, signal) {
  const options = { body: JSON.stringify(body), headers: { "content-type": "application/json" }, signal };
  const reader = (await call("POST", path, options)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line) continue;
      const event = JSON.parse(line);
      if (event.error) throw new StudioError(event.error);
      yield event;
    }
  }
}

// One question at a time under each key: a newer one takes the place of the older, which is stopped.
export class Latest {
  constructor() {
    this.running = new Map();
  }

  async ask(key, question) {
    this.stop(key);
    const control = new AbortController();
    this.running.set(key, control);
    try {
      return await question(control.signal);
    } finally {
      if (this.running.get(key) === control) this.running.delete(key);
    }
  }

  stop(key) {
    this.running.get(key)?.abort();
    this.running.delete(key);
  }

  stopAll() {
    for (const key of [...this.running.keys()]) this.stop(key);
  }
}

export const isStopped = (error) => error.name === "AbortError";
