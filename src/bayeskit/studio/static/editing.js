// Changing a network: arcs and variables, undo and redo, saving when asked.

import { h, put, icon } from "./dom.js";
import { post, get } from "./api.js";
import { card, problem } from "./cards.js";
import { t } from "./words.js";

const FORMATS = ["bif", "xmlbif", "net", "uai", "dot", "bayes"];

export class Editing {
  constructor(document, onChange) {
    this.document = document;
    this.onChange = onChange;
    this.last = Promise.resolve();
  }

  get base() {
    return `/networks/${this.document.id}`;
  }

  take(document) {
    this.document = document;
    this.onChange(document);
  }

  // Requests go one after the other, each for the version that the one before gave. One that somebody else was
  // quicker than is refused; the page then shows the network as it is now.
  send(path, body = {}) {
    const request = this.last.then(async () => {
      try {
        this.take(await post(`${this.base}/${path}`, { ...body, version: this.document.version }));
      } catch (error) {
        if (error.kind === "StaleError") this.take(await fresh(this.document.id));
        throw error;
      }
    });
    this.last = request.catch(() => {});
    return request;
  }

  change(body) {
    return body.change === "undo" || body.change === "redo" ? this.send(body.change) : this.send("change", body);
  }

  card(view) {
    const names = [...view.nodes.keys()];
    const wrong = h("div", {});
    const pick = (label) => h("label", {}, t(label), h("select", {}, names.map((name) => h("option", { value: name }, name))));
    const [from, to] = [pick("from"), pick("to")];
    const arc = () => [from, to].map((each) => each.querySelector("select").value);
    const name = h("input", { type: "text", placeholder: t("newName"), "aria-label": t("newName") });
    const states = h("input", { type: "text", placeholder: t("newStates"), "aria-label": t("newStates") });
    const step = (what, able) => h("button", { class: "tool", title: t(what), "aria-label": t(what), disabled: !able, onclick: () => view.change({ change: what }, wrong) }, icon(what));
    const save = async (more = {}) => {
      try {
        await this.send("save", more);
        put(wrong, h("p", { class: "note good", role: "status" }, t("saved")));
      } catch (error) {
        const replace = h("button", { class: "small danger", onclick: () => save({ overwrite: true }) }, t("replaceFile"));
        put(wrong, problem(error), error.kind === "ChangedFileError" && replace);
      }
    };
    const format = h("select", { "aria-label": t("download") }, FORMATS.map((each) => h("option", { value: each }, `.${each}`)));
    const link = h("a", { class: "button small", href: `/api/v1${this.base}/file?format=bif`, download: true }, t("download"));
    format.addEventListener("change", () => link.setAttribute("href", `/api/v1${this.base}/file?format=${format.value}`));
    return card(t("edit"),
      h("div", { class: "buttons" }, step("undo", this.document.undo), step("redo", this.document.redo),
        this.document.savable && h("button", { class: "small primary", disabled: !this.document.changed, onclick: () => save() }, t("save", this.document.name)), format, link),
      h("details", {}, h("summary", {}, t("addArc")), h("div", { class: "fields" }, from, to, h("div", { class: "buttons" },
        h("button", { class: "small", onclick: () => view.change({ change: "add-arc", arc: arc() }, wrong) }, t("addArc")),
        h("button", { class: "small", onclick: () => view.change({ change: "remove-arc", arc: arc() }, wrong) }, t("removeArc"))))),
      h("details", {}, h("summary", {}, t("addVariable")), h("form", { class: "fields", onsubmit: (event) => {
        event.preventDefault();
        view.change({ change: "add-variable", variable: name.value.trim(), states: states.value.split(/[,,]/).map((each) => each.trim()).filter(Boolean) }, wrong);
      } }, name, states, h("button", { class: "small" }, t("addVariable")))), wrong);
  }
}

export const fresh = (id) => get(`/documents/${id}`);
