// Pieces of the panel: cards, errors where they happened, and work that says that it goes on.

import { h, put } from "./dom.js";
import { isStopped } from "./api.js";
import { t } from "./words.js";

const PATIENCE = 200; // milliseconds before work says that it goes on

export function card(title, ...children) {
  return h("section", { class: "card" }, h("h2", {}, title), ...children);
}

export function note(text, kind = "") {
  return h("p", { class: `note ${kind}` }, text);
}

// An error stands where it happened; what was typed stays.
export function problem(error, again) {
  const what = error.kind === "Offline" ? t("offline") : t("libraryError", error.message);
  return h("div", { class: "problem", role: "alert" }, h("p", {}, what), again && h("button", { class: "small", onclick: again }, t("again")));
}

// Runs a question and shows its answer in `host`, which keeps the last one until then; after a moment it says that it
// thinks, with a way to stop.
export async function answerIn(host, latest, key, question, show) {
  const timer = setTimeout(() => {
    const stop = h("button", { class: "small", onclick: () => latest.stop(key) }, t("stop"));
    host.querySelector(":scope > .thinking")?.remove();
    host.prepend(h("p", { class: "thinking", role: "status" }, h("span", { class: "spinner", "aria-hidden": "true" }), t("thinking"), stop));
  }, PATIENCE);
  host.setAttribute("aria-busy", "true");
  try {
    const found = await latest.ask(key, question);
    clearTimeout(timer);
    put(host, show(found));
    return found;
  } catch (error) {
    clearTimeout(timer);
    if (isStopped(error)) {
      // Stopped by hand, not by a newer question, which shows its own answer.
      if (!latest.running.has(key)) put(host, note(t("stopped")));
    } else put(host, problem(error));
    return null;
  } finally {
    if (!latest.running.has(key)) host.removeAttribute("aria-busy");
  }
}

// A question in the middle of the page; `answers` are [value, text, class]. Escape is the last of them.
export function askUser(title, body, answers) {
  return new Promise((resolve) => {
    const box = h("dialog", { class: "ask", "aria-label": title, onclose: () => { box.remove(); resolve(box.returnValue || answers.at(-1)[0]); } },
      h("h2", {}, title), h("div", { class: "ask-body" }, body),
      h("div", { class: "buttons" }, answers.map(([value, text, kind = ""]) => h("button", { class: kind, onclick: () => box.close(value) }, text))));
    document.body.append(box);
    box.showModal();
  });
}
