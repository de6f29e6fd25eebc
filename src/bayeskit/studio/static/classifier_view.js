// A classifier: a form in the middle, what follows from the case beside it.

import { h, put, percent, bar, number } from "./dom.js";
import { Latest, isStopped, upload } from "./api.js";
import { card, note, problem, answerIn } from "./cards.js";
import { t } from "./words.js";

const HUES = ["a", "b", "c", "d", "e", "f", "g", "h"];

export class ClassifierView {
  constructor({ stage, panel, name, source, params, tables, post, base, remember }) {
    Object.assign(this, { stage, panel, name, source, tables, post, base, remember });
    this.latest = new Latest();
    this.row = {};
    this.loss = null;
    this.reject = null;
    const read = (key, empty) => { try { return JSON.parse(params.get(key)) ?? empty; } catch { return empty; } };
    this.row = read("row", {});
    if (typeof this.row !== "object" || Array.isArray(this.row)) this.row = {};
    this.loss = read("loss", null);
    const reject = read("reject", null);
    this.reject = typeof reject === "number" ? reject : null;
    this.parts = Object.fromEntries(["wrong", "posterior", "why", "ask", "turn"].map((name_) => [name_, h("div", {})]));
  }

  async start() {
    const host = h("div", { class: "inner" });
    put(this.stage, h("div", { class: "sheetroom" }, host));
    this.schema = await answerIn(host, this.latest, "schema", (signal) => this.post("schema", {}, signal), (schema) => {
      this.schema = schema;
      return this.form(schema);
    });
    if (!this.schema) return;
    const n = this.schema.classes.length; // costs of another model do not fit
    if (!Array.isArray(this.loss) || this.loss.length !== n || !this.loss.every((costs) => Array.isArray(costs) && costs.length === n && costs.every(Number.isFinite))) this.loss = null;
    this.lossCard = h("div", {});
    put(this.panel, this.parts.wrong, this.parts.posterior, this.lossCard, this.parts.why, this.parts.ask, this.parts.turn, this.base && this.files());
    this.showLoss();
    this.ask();
  }

  form(schema) {
    const known = new Set(schema.columns.map((column) => column.name));
    for (const name of Object.keys(this.row)) if (!known.has(name)) delete this.row[name];
    this.inputs = new Map();
    const fields = schema.columns.map((column) => this.field(column));
    const clear = h("button", { class: "small", onclick: () => this.load({}) }, t("clearCase"));
    return h("div", {}, h("h1", {}, schema.target ? `${schema.target}` : schema.model), note(`${schema.model} · ${schema.classes.join(" / ")}`),
      h("div", { class: "sheet" }, h("h2", {}, t("case")), h("div", { class: schema.text ? "form-grid one-text" : "form-grid" }, fields), h("div", { class: "buttons" }, clear, this.rowLoader())));
  }

  field(column) {
    const hint = h("small", {});
    const { name } = column;
    let input;
    const take = (value) => {
      if (value === null) delete this.row[name];
      else this.row[name] = value;
      label.classList.toggle("filled", value !== null);
      this.hint(column, hint);
      this.ask();
    };
    if (column.numeric) {
      input = h("input", { type: "number", step: "any", placeholder: t("unknown"), oninput: () => take(input.value === "" || !Number.isFinite(Number(input.value)) ? null : Number(input.value)) });
    } else if (column.kind === "text") {
      input = h("textarea", { rows: 6, placeholder: t("typeText"), oninput: () => take(input.value === "" ? null : input.value) });
    } else {
      input = h("select", { onchange: () => take(input.value === "" ? null : column.values[Number(input.value)]) },
        h("option", { value: "" }, t("unknown")), column.values.map((value, k) => h("option", { value: String(k) }, String(value))));
    }
    const label = h("label", {}, h("span", {}, name), input, hint);
    this.inputs.set(name, { column, input, label, hint });
    this.set(name);
    return label;
  }

  set(name) {
    const { column, input, label, hint } = this.inputs.get(name);
    const value = this.row[name] ?? null;
    if (column.numeric || column.kind === "text") input.value = value === null ? "" : String(value);
    else input.value = value === null ? "" : String(column.values.findIndex((each) => each === value || String(each) === String(value)));
    label.classList.toggle("filled", value !== null);
    this.hint(column, hint);
  }

  hint(column, host) {
    const value = this.row[column.name];
    if (!column.edges.length || value === undefined) host.textContent = "";
    else host.textContent = column.bins[column.edges.filter((edge) => edge <= value).length];
  }

  load(row) {
    this.row = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
    for (const name of this.inputs.keys()) this.set(name);
    this.ask();
  }

  rowLoader() {
    if (!this.tables.length || this.schema?.text) return null;
    const table = h("select", { "aria-label": t("ofTable") }, this.tables.map((each) => h("option", { value: each.id, selected: each.id === this.source }, each.name)));
    const place = h("input", { type: "number", min: 1, value: 1, class: "row-number", "aria-label": t("rowOf") });
    const load = async () => {
      put(this.parts.wrong, note(t("thinking")));
      try {
        const found = await this.latest.ask("row", (signal) => this.post("row", { table: table.value, number: Math.round(Number(place.value)) }, signal));
        put(this.parts.wrong, found.notes.map((text) => note(text)));
        this.load(found.row);
      } catch (error) {
        if (!isStopped(error)) put(this.parts.wrong, problem(error));
      }
    };
    place.addEventListener("keydown", (event) => event.key === "Enter" && load());
    return h("span", { class: "buttons" }, t("rowOf"), place, t("ofTable"), table, h("button", { class: "small", onclick: load }, t("load")));
  }

  get case() {
    return { row: this.row, loss: this.loss, reject: this.reject };
  }

  ask() {
    const params = new URLSearchParams();
    if (Object.keys(this.row).length) params.set("row", JSON.stringify(this.row));
    if (this.loss) params.set("loss", JSON.stringify(this.loss));
    if (this.reject !== null) params.set("reject", String(this.reject));
    this.remember(params);
    answerIn(this.parts.posterior, this.latest, "explain", (signal) => this.post("explain", this.case, signal), (found) => {
      this.showWhy(found);
      this.showQuestions(found);
      this.showTurn();
      return this.verdict(found);
    });
  }

  verdict(found) {
    const best = Math.max(...found.posterior);
    const least = Math.min(...found.risks);
    return card(t("decision"), h("p", { class: "decision", role: "status" }, found.decision), note(t("expectedLoss", number(least, 3))),
      h("div", { class: "states" }, found.classes.map((label, k) => h("div", { class: "state-line" }, h("span", { class: "label" }, label), bar(found.posterior[k], found.posterior[k] === best ? "" : "rest"), h("span", { class: "value" }, percent(found.posterior[k]))))),
      found.regions.length > 0 && this.regions(found));
  }

  regions(found) {
    const p = found.posterior[1];
    const pin = h("i", { class: "pin" });
    pin.style.left = `${100 * p}%`;
    const parts = found.regions.map((region) => {
      const k = found.actions.indexOf(region.action);
      const part = h("span", { class: "region" }, region.high - region.low > 0.12 ? region.action : "");
      part.style.flexGrow = String(region.high - region.low);
      part.style.background = `var(--hue-${HUES[k % HUES.length]})`;
      return part;
    });
    const said = found.regions.map((region) => `${region.action}: ${percent(region.low)} – ${percent(region.high)}`).join(", ");
    return h("div", {}, h("h3", {}, t("regions", found.classes[1])), h("div", { class: "regions", role: "img", "aria-label": said }, parts, pin), note(said));
  }

  showLoss() {
    const { classes } = this.schema;
    const matrix = this.loss || classes.map((_, i) => classes.map((__, j) => (i === j ? 0 : 1)));
    const take = (i, j, value) => {
      if (value === "" || !Number.isFinite(Number(value))) return;
      matrix[i][j] = Number(value);
      this.loss = matrix;
      this.ask();
    };
    const rows = classes.map((truth, i) => h("tr", {}, h("th", { scope: "row" }, truth), classes.map((action, j) => h("td", {},
      h("input", { type: "number", step: "any", value: matrix[i][j], "aria-label": `${truth} → ${action}`, oninput: (event) => take(i, j, event.target.value) })))));
    const reject = h("input", { type: "number", step: "any", min: 0, placeholder: t("noReject"), value: this.reject ?? "", "aria-label": t("reject"), oninput: () => { this.reject = reject.value === "" ? null : Number(reject.value); this.ask(); } });
    put(this.lossCard, card(t("lossTitle"), note(t("lossHint")), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("lossTitle") }, h("table", { class: "loss" }, h("thead", {}, h("tr", {}, h("td", {}), classes.map((each) => h("th", { scope: "col" }, each)))), h("tbody", {}, rows))),
      h("label", { class: "soft" }, h("span", { class: "note" }, t("reject")), " ", reject), h("div", { class: "buttons" }, h("button", { class: "small", onclick: () => { this.loss = null; this.reject = null; this.showLoss(); this.ask(); } }, t("reset")))));
  }

  showWhy(found) {
    const { evidence } = found;
    const used = evidence.terms.filter((term) => term.used);
    let at = evidence.prior;
    const steps = [{ label: t("prior"), from: 0, to: at, kind: "total" }];
    for (const term of used) {
      steps.push({ label: term.label, from: at, to: at + term.log_odds, kind: term.log_odds >= 0 ? "plus" : "minus" });
      at += term.log_odds;
    }
    steps.push({ label: t("sum"), from: 0, to: evidence.log_odds, kind: "total" });
    const low = Math.min(0, ...steps.map((step) => Math.min(step.from, step.to)));
    const span = Math.max(0, ...steps.map((step) => Math.max(step.from, step.to))) - low || 1;
    put(this.parts.why, card(t("why"), note(t("whyHint", evidence.for, evidence.against)), found.marked.length > 0 && this.markedText(found.marked), h("ul", { class: "waterfall" }, steps.map((step) => {
      const piece = h("i", { class: step.kind });
      piece.style.left = `${(100 * (Math.min(step.from, step.to) - low)) / span}%`;
      piece.style.width = `max(2px,${(100 * Math.abs(step.to - step.from)) / span}%)`;
      return h("li", {}, h("span", { class: "label" }, step.label), h("span", { class: "track", "aria-hidden": "true" }, piece), h("span", { class: "value" }, `${step.to - step.from >= 0 ? "+" : ""}${(step.to - step.from).toFixed(2)}`));
    }))));
  }

  // The text with each word as strong as its weight.
  markedText(pieces) {
    const most = Math.max(...pieces.map((piece) => Math.abs(piece.weight)), 1e-9);
    return h("p", { class: "marked-text" }, pieces.map((piece) => {
      if (!piece.weight) return piece.text;
      const word = h("mark", { class: piece.weight > 0 ? "plus" : "minus", title: number(piece.weight, 3) }, piece.text);
      word.style.setProperty("--weight", `${Math.round((60 * Math.abs(piece.weight)) / most)}%`);
      return word;
    }));
  }

  showQuestions(found) {
    if (this.schema.text) return;
    if (found.questions === null) {
      put(this.parts.ask, card(t("ask"), note(t("calibrated"))));
      return;
    }
    const most = found.questions[0]?.value || 1;
    put(this.parts.ask, card(t("ask"), found.questions.length ? [note(t("askHint")), h("ol", { class: "ranked" }, found.questions.map((each) => h("li", {},
      h("button", { class: "link", onclick: () => this.inputs.get(each.feature).input.focus() }, each.feature), bar(each.value / most), h("span", { class: "value" }, number(each.value, 3)))))] : note(t("askNothing"))));
  }

  showTurn() {
    if (!Object.keys(this.row).length || this.schema.text) {
      put(this.parts.turn);
      return;
    }
    const host = h("div", {});
    put(this.parts.turn, card(t("turn"), host));
    answerIn(host, this.latest, "turn", (signal) => this.post("what-if", this.case, signal), (found) => {
      const changes = Object.entries(found.changes);
      if (!changes.length) return note(t("turnNone", found.tried));
      return h("div", {}, h("p", {}, h("b", {}, t("turnTo", found.after))), h("dl", { class: "pairs" }, changes.map(([name, value]) => [h("dt", {}, name), h("dd", {}, typeof value === "number" ? number(value, 4) : String(value))])));
    });
  }

  files() {
    const said = h("div", {});
    const input = h("input", { type: "file", class: "hidden", tabindex: "-1", "aria-label": t("predictTable"), onchange: async () => {
      const [file] = input.files;
      input.value = "";
      if (!file) return;
      await answerIn(said, this.latest, "predictions", async (signal) => {
        const response = await upload(`${this.base}/predictions`, file, signal);
        return { blob: await response.blob(), name: `${file.name.replace(/\.[^.]*$/, "")}-predicted.csv` };
      }, (found) => {
        const link = h("a", { href: URL.createObjectURL(found.blob), download: found.name });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
        return note(t("predicted", found.name), "good");
      });
    } });
    return card(t("download"), h("div", { class: "buttons" }, h("a", { class: "button small", href: `/api/v1${this.base}/file`, download: true }, t("modelFile")), h("button", { class: "small", onclick: () => input.click() }, t("predictTable")), input), said);
  }

  close() {
    this.latest.stopAll();
  }
}
