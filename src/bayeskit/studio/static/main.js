// The frame: a rail, the stage, the panel; files are opened, languages and themes switched, the address kept.

import { h, put, icon } from "./dom.js";
import * as api from "./api.js";
import { askUser, note, problem } from "./cards.js";
import { Editing } from "./editing.js";
import { Evidence } from "./evidence.js";
import { Groups } from "./groups.js";
import { NetworkView } from "./network_view.js";
import { Scenarios } from "./scenarios.js";
import { ChainView } from "./chain_view.js";
import { ClassifierView } from "./classifier_view.js";
import { TableView } from "./table_view.js";
import { language, setLanguage, t } from "./words.js";

const root = document.getElementById("studio");
const stored = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const store = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private windows keep nothing */ } };

const EVERY = 1500; // milliseconds between looks at what other pages did

class Studio {
  constructor() {
    this.documents = [];
    this.view = null;
    this.tables = new Map(); // views of tables go on while another document is shown
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
    addEventListener("paste", (event) => this.paste(event));
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("beforeunload", (event) => this.documents.some((each) => each.changed) && event.preventDefault());
    addEventListener("visibilitychange", () => this.keepInStep());
    setInterval(() => this.keepInStep(), EVERY);
  }

  // Ctrl+Z, Ctrl+Shift+Z (or Ctrl+Y) and Ctrl+S; what is being typed has its own undo.
  key(event) {
    const { view } = this;
    if (!(event.ctrlKey || event.metaKey) || event.altKey || !view?.editing) return;
    const key = event.key.toLowerCase();
    const { target } = event;
    if (key === "s") view.save();
    else if ((key === "z" || key === "y") && !(target.value !== undefined && target.value !== target.defaultValue && target.matches("input, textarea"))) {
      const what = key === "y" || event.shiftKey ? "redo" : "undo";
      if (view.editing.document[what]) view.change({ change: what });
    } else return;
    event.preventDefault();
  }

  // What other pages opened, closed and changed; and whether the server is still there.
  async keepInStep() {
    if (document.hidden || this.looking) return;
    this.looking = true;
    const { view } = this;
    const stamp = view?.editing?.stamp;
    try {
      const documents = await api.get("/documents");
      this.away.hidden = true;
      if (view !== this.view || (view?.editing && (view.editing.waiting || view.editing.stamp !== stamp))) return;
      this.takeList(documents);
      const now = this.current && documents.find((each) => each.id === this.current.id);
      if (this.current && !now) await this.route();
      else if (view?.editing && now.version !== view.editing.document.version) await view.follows(now);
    } catch (error) {
      this.away.hidden = error.kind !== "Offline";
    } finally {
      this.looking = false;
    }
  }

  takeList(documents) {
    const same = JSON.stringify(documents) === JSON.stringify(this.documents);
    this.documents = documents;
    if (!same) this.showList();
    if (!same) this.view?.cases?.show();
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
    this.away = h("div", { class: "away", role: "alert", hidden: true }, t("offline"));
    put(root, this.rail, this.stage, this.panel, this.away);
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

  showTitle() {
    const changed = this.documents.find((each) => each.id === this.current?.id)?.changed;
    document.title = this.current ? `${changed ? "● " : ""}${this.current.name} – bayeskit` : "bayeskit studio";
  }

  showList() {
    this.showTitle();
    put(this.list, this.documents.map((each) => h("div", { class: `rail-document ${each.id === this.current?.id ? "current" : ""} ${each.changed ? "changed" : ""}` },
      h("a", { class: "rail-button", href: `#doc=${each.id}`, title: each.changed ? t("unsaved", each.name) : each.name, "aria-label": each.changed ? t("unsaved", each.name) : each.name, "aria-current": each.id === this.current?.id ? "page" : undefined },
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
    if (!(this.view instanceof TableView)) this.view?.close?.();
    this.view = null;
    root.classList.remove("drawer");
    this.showList();
    root.classList.toggle("empty", !this.current);
    put(this.panel);
    if (!this.current) return this.showEmpty();
    const kinds = { network: () => this.showNetwork(params), classifier: () => this.showClassifier(params), chain: () => this.showChain(), table: () => this.showTable(params) };
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
      this.takeList(this.documents.map((each) => (each.id === document.id ? document : each)));
    });
    this.view = new NetworkView({
      stage: this.stage, panel: this.panel, name: current.name, evidence, editing,
      post: (question, body, signal) => api.post(`/networks/${current.id}/${question}`, body, signal),
      remember: () => { const next = new URLSearchParams(); evidence.write(next); this.view.scenarios?.write(next); this.view.groups?.write(next); this.write(next); },
      pins: Scenarios.read(params), folds: Groups.read(params), tables: () => this.documents.filter((each) => each.kind === "table"),
      onPanel: () => root.classList.add("drawer"),
    });
    await this.view.start().catch(() => {});
    if (current.recovered) this.view.say(t("recovered"));
  }

  async showChain() {
    const { current } = this;
    this.view = new ChainView({
      stage: this.stage, panel: this.panel, name: current.name,
      post: (question, body, signal) => api.post(`/chains/${current.id}/${question}`, body, signal),
    });
    this.write(new URLSearchParams());
    await this.view.start();
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

  async showTable(params) {
    const { current } = this;
    this.view = this.tables.get(current.id) || new TableView({
      document: current, base: `/tables/${current.id}`, params,
      opened: async (document) => { this.takeList(await api.get("/documents")); return document; },
      go: (document) => { location.hash = `#doc=${document.id}`; },
      remember: (next) => this.current?.id === current.id && this.write(next),
    });
    this.tables.set(current.id, this.view);
    await this.view.show(this.stage, this.panel);
  }

  showEmpty() {
    const examples = h("div", { class: "examples" });
    this.wrong = h("div", {});
    put(this.stage, h("div", { class: "centre" }, h("div", { class: "drop" }, h("img", { src: "/static/icon.svg", alt: "", class: "drop-icon" }),
      h("h1", {}, t("dropTitle")), h("p", {}, t("dropText")), h("div", { class: "buttons" }, h("button", { class: "primary", onclick: () => this.file.click() }, t("choose")),
        h("button", { title: t("pasteHint"), onclick: () => this.pasteClipboard() }, t("paste"))), this.wrong, h("h2", {}, t("examples")), examples)));
    api.get("/examples").then((listed) => put(examples, listed.map((each) => h("button", { class: "example", onclick: () => this.openExample(each.name) }, icon(each.kind), each.name))), () => {});
  }

  async openExample(name) {
    await this.opening(async () => api.post(`/examples/${name}`));
  }

  async openFiles(files) {
    for (const file of files) await this.opening(async () => (await api.upload("/documents", file)).json());
  }

  // Ctrl+V on the start page: copied files, or cells copied from a spreadsheet.
  paste(event) {
    if (this.current) return;
    const { files } = event.clipboardData;
    const text = event.clipboardData.getData("text/plain");
    event.preventDefault();
    // A spreadsheet adds a picture of the cells, which is a file too.
    if (text.trim()) this.openText(text);
    else this.openFiles(files);
  }

  async pasteClipboard() {
    const text = await (navigator.clipboard?.readText().catch(() => null) ?? null);
    if (text?.trim()) await this.openText(text);
    else put(this.wrong, note(t(text === null ? "pasteKeys" : "pasteNothing")));
  }

  // Spreadsheets copy cells with tabs between them, which the server reads as it reads such a file.
  async openText(text) {
    await this.openFiles([new File([text], `${t("pasted")}.tsv`)]);
  }

  async opening(work) {
    try {
      const document = await work();
      this.takeList(await api.get("/documents"));
      location.hash = `#doc=${document.id}`;
    } catch (error) {
      const host = this.wrong?.isConnected ? this.wrong : this.panel.insertBefore(h("div", {}), this.panel.firstChild);
      put(host, problem(error));
      root.classList.add("drawer");
    }
  }

  // The server knows whether there is unsaved work, also of another page; then the user is asked.
  async closeDocument(document) {
    try {
      await api.remove(`/documents/${document.id}`);
    } catch (error) {
      if (error.kind === "UnsavedError") {
        const text = document.kind === "classifier" ? t("closeModel") : document.savable ? t("closeSavable") : t("closeUnsaved");
        if ((await askUser(t("unsaved", document.name), note(text), [["close", t("closeAnyway"), "danger"], ["cancel", t("cancel"), "primary"]])) !== "close") return;
        await api.remove(`/documents/${document.id}?discard=true`).catch(() => {});
      }
    }
    this.tables.get(document.id)?.close();
    this.tables.delete(document.id);
    this.documents = this.documents.filter((each) => each.id !== document.id);
    if (document.id === this.current?.id) location.hash = "";
    this.showList();
  }
}

new Studio().start().catch((error) => put(root, problem(error)));
