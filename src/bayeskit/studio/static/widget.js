// The same views in a notebook: questions go to the kernel as messages, and what is known comes back as traits.

import { h } from "./dom.js";
import { StudioError } from "./api.js";
import { Evidence } from "./evidence.js";
import { NetworkView } from "./network_view.js";
import { ClassifierView } from "./classifier_view.js";
import { setLanguage } from "./words.js";

function asker(model) {
  const waiting = new Map();
  let next = 0;
  model.on("msg:custom", (message) => {
    const found = waiting.get(message.id);
    if (!found) return;
    waiting.delete(message.id);
    if (message.error) found.reject(new StudioError(message.error));
    else found.resolve(JSON.parse(message.answer));
  });
  return (question, body, signal) => new Promise((resolve, reject) => {
    next += 1;
    const id = next;
    waiting.set(id, { resolve, reject });
    signal?.addEventListener("abort", () => {
      waiting.delete(id);
      reject(new DOMException("stopped", "AbortError"));
    });
    model.send({ id, question, body });
  });
}

function render({ model, el }) {
  setLanguage((navigator.language || "").startsWith("zh") ? "zh" : "en");
  const [stage, panel] = [h("div", { class: "stage" }), h("div", { class: "panel" })];
  el.classList.add("bayeskit-explorer");
  el.append(h("div", { class: "studio" }, stage, panel));
  const post = asker(model);
  const share = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  let view;
  if (model.get("kind") === "network") {
    const evidence = Object.assign(new Evidence(), { given: { ...model.get("given") }, do: { ...model.get("actions") }, target: model.get("target") || null });
    const remember = () => share({ given: { ...evidence.given }, actions: { ...evidence.do }, target: evidence.target || "" });
    view = new NetworkView({ stage, panel, name: model.get("name"), evidence, post, remember });
    for (const [trait, key] of [["given", "given"], ["actions", "do"]]) {
      model.on(`change:${trait}`, () => {
        if (JSON.stringify(model.get(trait)) === JSON.stringify(evidence[key])) return;
        evidence[key] = { ...model.get(trait) };
        view.ask();
      });
    }
  } else {
    const params = new URLSearchParams({ row: JSON.stringify(model.get("row")) });
    const remember = (next) => share({ row: JSON.parse(next.get("row") || "{}") });
    view = new ClassifierView({ stage, panel, name: model.get("name"), source: null, params, tables: [], post, base: null, remember });
  }
  view.start();
  return () => view.close();
}

export default { render };
