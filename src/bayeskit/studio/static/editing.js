// Changing a network: one request after the other, each for the version that the page shows; undo, redo, save.

import { h, icon } from "./dom.js";
import { post, get } from "./api.js";
import { card } from "./cards.js";
import { fileChanged } from "./conflicts.js";
import { t } from "./words.js";

const FORMATS = ["bif", "xmlbif", "net", "uai", "dot", "bayes"];
const MOST_TRIES = 20;

export class Editing {
  constructor(document, onChange) {
    this.document = document;
    this.onChange = onChange;
    this.last = Promise.resolve();
    this.waiting = 0; // requests under way
    this.stamp = 0; // one more with each answer: what was asked before it is older
    this.buttons = null;
  }

  get base() {
    return `/networks/${this.document.id}`;
  }

  take(document) {
    this.document = document;
    this.stamp += 1;
    this.onChange(document);
    this.showButtons();
  }

  // A change that somebody else was quicker than is made on top of theirs where the two touch different tables.
  async attempt(path, body, tries = 0) {
    try {
      this.take(await post(`${this.base}/${path}`, { ...body, version: this.document.version }));
    } catch (error) {
      if (error.kind !== "StaleError") throw error;
      this.take(await get(`/documents/${this.document.id}`));
      if (!error.details.merges || tries >= MOST_TRIES) throw error;
      await this.attempt(path, body, tries + 1);
    }
  }

  send(path, body = {}) {
    this.waiting += 1;
    const request = this.last.then(() => this.attempt(path, body)).finally(() => { this.waiting -= 1; });
    this.last = request.catch(() => {});
    return request;
  }

  change(body) {
    return body.change === "undo" || body.change === "redo" ? this.send(body.change) : this.send("change", body);
  }

  // Whether the file has it now; a file that somebody else wrote is replaced or taken only when the user says so.
  async save() {
    if (!this.document.savable) {
      h("a", { href: this.file("bif"), download: true }).click();
      return "downloaded";
    }
    try {
      await this.send("save");
      return "saved";
    } catch (error) {
      if (error.kind !== "ChangedFileError") throw error;
      const chosen = await fileChanged(this.base, this.document.name);
      if (chosen === "replace") await this.send("save", { overwrite: true });
      else if (chosen === "take") await this.send("take");
      return { replace: "saved", take: "taken", cancel: "" }[chosen];
    }
  }

  file(format) {
    return `/api/v1${this.base}/file?format=${format}`;
  }

  // Undo, Redo, Save: made once, live after each edit.
  toolbar(view) {
    const button = (name, what, act) => h("button", { class: "tool", title: what, "aria-label": what, onclick: act }, icon(name));
    this.buttons = {
      undo: button("undo", t("undo"), () => view.change({ change: "undo" })),
      redo: button("redo", t("redo"), () => view.change({ change: "redo" })),
      save: button("save", this.document.savable ? t("save", this.document.name) : t("saveDownload"), () => view.save()),
    };
    this.showButtons();
    return h("div", { class: "zoom" }, Object.values(this.buttons));
  }

  showButtons() {
    if (!this.buttons) return;
    this.buttons.undo.disabled = !this.document.undo;
    this.buttons.redo.disabled = !this.document.redo;
    this.buttons.save.disabled = !this.document.changed;
  }

  card(view) {
    const names = [...view.nodes.keys()];
    const wrong = h("div", {});
    const pick = (label) => h("label", {}, t(label), h("select", {}, names.map((name) => h("option", { value: name }, name))));
    const [from, to] = [pick("from"), pick("to")];
    const arc = () => [from, to].map((each) => each.querySelector("select").value);
    const name = h("input", { type: "text", placeholder: t("newName"), "aria-label": t("newName") });
    const states = h("input", { type: "text", placeholder: t("newStates"), "aria-label": t("newStates") });
    const format = h("select", { "aria-label": t("download") }, FORMATS.map((each) => h("option", { value: each }, `.${each}`)));
    const link = h("a", { class: "button small", href: this.file("bif"), download: true }, t("download"));
    format.addEventListener("change", () => link.setAttribute("href", this.file(format.value)));
    return card(t("edit"),
      h("div", { class: "buttons" }, format, link, h("button", { class: "small", onclick: () => view.change({ change: "layout" }, wrong) }, icon("layout"), t("autoLayout"))),
      h("details", {}, h("summary", {}, t("addArc")), h("div", { class: "fields" }, from, to, h("div", { class: "buttons" },
        h("button", { class: "small", onclick: () => view.change({ change: "add-arc", arc: arc() }, wrong) }, t("addArc")),
        h("button", { class: "small", onclick: () => view.change({ change: "remove-arc", arc: arc() }, wrong) }, t("removeArc"))))),
      h("details", {}, h("summary", {}, t("addVariable")), h("form", { class: "fields", onsubmit: (event) => {
        event.preventDefault();
        view.change({ change: "add-variable", variable: name.value.trim(), states: states.value.split(/[,,、]/).map((each) => each.trim()).filter(Boolean) }, wrong);
      } }, name, states, h("button", { class: "small" }, t("addVariable")))), wrong);
  }
}
