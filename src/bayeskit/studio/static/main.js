// The frame: a rail, the stage, the panel; files are opened, languages and themes switched, the address kept.

import { h, put, icon } from "./dom.js";
import * as api from "./api.js";
import { problem } from "./cards.js";
import { Editing } from "./editing.js";
import { Evidence } from "./evidence.js";
import { NetworkView } from "./network_view.js";
import { ClassifierView } from "./classifier_view.js";
import { TableView } from "./table_view.js";
import { language, setLanguage, t } from "./words.js";

const root = document.getElementById("studio");
const stored = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const store = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private windows keep nothing */ } };

class Studio {
  constructor() {
    this.documents = [];
    this.view = null;
    setLanguage(stored("language") || (document.documentElement.lang.startsWith("zh") ? "zh" : "en"));
    if (stored("theme")) document.documentElement.dataset.theme = stored("theme");
    this.frame();
    addEventListener("hashchange", () => this.wrote !== location.hash && this.route());
    addEventListener("dragover", (event) => { event.preventDefault(); root.classList.add("dropping"); });
    addEventListener("dragleave", (event) => event.relatedTarget === null && root.classList.remove("dropping"));
    addEventListener("drop", (event) => {
      event.preventDefault();
      root.classList.remove("dropping");
      this.openFiles(event.dataTransfer.files);
    });
  }

  frame() {
    document.documentElement.lang = language() === "zh" ? "zh-CN" : "en";
    this.file = h("input", { type: "file", class: "hidden", multiple: true, "aria-label": t("open"), tabindex: "-1", onchange: () => { this.openFiles(this.file.files); this.file.value = ""; } });
    const tool = (name, what, act, text) => h("button", { class: "rail-button", title: t(what), "aria-label": t(what), onclick: act }, text ? h("span", { class: "glyph" }, text) : icon(name));
    this.list = h("div", { class: "rail-documents" });
    this.rail = h("nav", { class: "rail", "aria-label": "bayeskit" }, h("a", { class: "logo", href: "#", "aria-label": "bayeskit studio" }, h("img", { src: "/static/icon.svg", alt: "" })),
      tool("open", "open", () => this.file.click()), this.list, h("div", { class: "rail-end" },
        tool("panel", "panel", () => root.classList.toggle("drawer")), tool("", "language", () => this.switchLanguage(), language() === "zh" ? "EN" : "中"), tool("theme", "theme", () => this.switchTheme())), this.file);
    this.rail.querySelector('[aria-label="' + t("panel") + '"]').classList.add("drawer-button");
    this.stage = h("main", { class: "stage", id: "stage" });
    this.panel = h("aside", { class: "panel", "aria-label": t("panel"), tabindex: "-1" });
    put(root, this.rail, this.stage, this.panel);
    this.showList();
  }

  switchLanguage() {
    const next = language() === "zh" ? "en" : "zh";
    store("language", next);
    setLanguage(next);
    this.frame();
    this.route();
    this.rail.querySelector(`[aria-label="${t("language")}"]`).focus();
  }

  switchTheme() {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    store("theme", document.documentElement.dataset.theme);
  }

  showList() {
    put(this.list, this.documents.map((each) => h("div", { class: `rail-document ${each.id === this.current?.id ? "current" : ""}` },
      h("a", { class: "rail-button", href: `#doc=${each.id}`, title: each.name, "aria-label": each.name, "aria-current": each.id === this.current?.id ? "page" : undefined },
        icon(each.kind), h("span", { class: "rail-name" }, each.name)),
      h("button", { class: "rail-close", "aria-label": t("closeDocument", each.name), onclick: () => this.closeDocument(each) }, icon("close")))));
  }

  async start() {
    this.documents = await api.get("/documents");
    await this.route();
  }

  // The address says which document and what is known; a bookmark from an earlier run finds a file of the same name.
  async route() {
    const params = new URLSearchParams(location.hash.slice(1));
    const wanted = params.get("doc");
    this.current = this.documents.find((each) => each.id === wanted) || this.documents.findLast((each) => each.name === params.get("name")) || null;
    this.view?.close?.();
    this.view = null;
    root.classList.remove("drawer");
    this.showList();
    root.classList.toggle("empty", !this.current);
    put(this.panel);
    document.title = this.current ? `${this.current.name} – bayeskit` : "bayeskit studio";
    if (!this.current) return this.showEmpty();
    const kinds = { network: () => this.showNetwork(params), classifier: () => this.showClassifier(params), table: () => this.showTable() };
    return kinds[this.current.kind]();
  }

  write(params) {
    params.set("doc", this.current.id);
    params.set("name", this.current.name);
    this.wrote = `#${params}`;
    history.replaceState(null, "", this.wrote);
  }

  async showNetwork(params) {
    const { current } = this;
    const evidence = Evidence.read(params);
    const editing = new Editing(current, (document) => {
      this.documents = this.documents.map((each) => (each.id === document.id ? document : each));
    });
    this.view = new NetworkView({
      stage: this.stage, panel: this.panel, name: current.name, evidence, editing,
      post: (question, body, signal) => api.post(`/networks/${current.id}/${question}`, body, signal),
      remember: () => { const next = new URLSearchParams(); evidence.write(next); this.write(next); },
      onPanel: () => root.classList.add("drawer"),
    });
    await this.view.start().catch(() => {});
  }

  async showClassifier(params) {
    const { current } = this;
    this.view = new ClassifierView({
      stage: this.stage, panel: this.panel, name: current.name, source: current.source, params,
      tables: this.documents.filter((each) => each.kind === "table"),
      post: (question, body, signal) => api.post(`/classifiers/${current.id}/${question}`, body, signal),
      base: `/classifiers/${current.id}`, remember: (next) => this.write(next),
    });
    await this.view.start();
  }

  async showTable() {
    const { current } = this;
    this.view = new TableView({
      stage: this.stage, panel: this.panel, document: current, base: `/tables/${current.id}`,
      opened: async (document) => { this.documents = await api.get("/documents"); this.showList(); return document; },
      go: (document) => { location.hash = `#doc=${document.id}`; },
    });
    await this.view.start();
  }

  showEmpty() {
    const examples = h("div", { class: "examples" });
    this.wrong = h("div", {});
    put(this.stage, h("div", { class: "centre" }, h("div", { class: "drop" }, h("img", { src: "/static/icon.svg", alt: "", class: "drop-icon" }),
      h("h1", {}, t("dropTitle")), h("p", {}, t("dropText")), h("button", { class: "primary", onclick: () => this.file.click() }, t("choose")), this.wrong, h("h2", {}, t("examples")), examples)));
    api.get("/examples").then((found) => put(examples, found.map((each) => h("button", { class: "example", onclick: () => this.openExample(each.name) }, icon(each.kind), each.name))), () => {});
  }

  async openExample(name) {
    await this.opening(async () => api.post(`/examples/${name}`));
  }

  async openFiles(files) {
    for (const file of files) await this.opening(async () => (await api.upload("/documents", file)).json());
  }

  async opening(work) {
    try {
      const document = await work();
      this.documents = await api.get("/documents");
      this.showList();
      location.hash = `#doc=${document.id}`;
    } catch (error) {
      const host = this.wrong?.isConnected ? this.wrong : this.panel.insertBefore(h("div", {}), this.panel.firstChild);
      put(host, problem(error));
      root.classList.add("drawer");
    }
  }

  async closeDocument(document) {
    await api.remove(`/documents/${document.id}`).catch(() => {});
    this.documents = this.documents.filter((each) => each.id !== document.id);
    if (document.id === this.current?.id) location.hash = "";
    this.showList();
  }
}

new Studio().start().catch((error) => put(root, problem(error)));
