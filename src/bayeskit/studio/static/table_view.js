// A table: what its columns are, training with a leaderboard that fills, and learning a network.

import { h, put, percent, number, icon } from "./dom.js";
import { Latest, follow, get, isStopped, post } from "./api.js";
import { card, note, problem, answerIn } from "./cards.js";
import { Growth } from "./growth.js";
import { whyArcs } from "./why_arcs.js";
import { kindName, methodName, progressName, reason } from "./library_words.js";
import { t } from "./words.js";

const METHODS = ["best", "order", "hill-climb", "tabu", "chow-liu", "ges", "pc", "mmhc", "exact"];
const RESAMPLES = 50;

export class TableView {
  constructor({ document, base, params, opened, go, remember }) {
    Object.assign(this, { document, base, opened, go, remember });
    this.latest = new Latest();
    this.kinds = {};
    this.target = params.get("target") || "";
    try {
      this.kinds = JSON.parse(params.get("kinds") || "{}") || {};
    } catch {
      this.kinds = {};
    }
    this.arcs = { whitelist: [], blacklist: [] };
    this.method = "best";
    this.trials = null; // of a training that is under way
    this.done = null; // what the last one gave
    this.host = h("div", { class: "inner" });
    this.problems = h("div", {});
    this.board = h("div", {});
    this.learnHost = h("div", {});
    this.growthHost = h("div", {});
  }

  // Shown for the first time, or again with all that was there.
  async show(stage, panel) {
    put(stage, h("div", { class: "sheetroom" }, this.growthHost, this.host));
    put(panel, this.problems, this.board, this.learnHost);
    if (!this.trials && !this.done) {
      this.done = await get(`${this.base}/training`).catch(() => null);
      if (this.done && !this.target) [this.target, this.kinds] = [this.done.target, this.done.kinds || {}];
    }
    this.write();
    if (!this.trials) this.showTraining();
    await this.look();
    this.showLearning(this.learnSaid ? [...this.learnSaid.childNodes] : null);
  }

  write() {
    const params = new URLSearchParams();
    if (this.target) params.set("target", this.target);
    if (Object.keys(this.kinds).length) params.set("kinds", JSON.stringify(this.kinds));
    this.remember(params);
  }

  // What each column is; asked again when a kind is corrected, since a target changes what may be said.
  async look() {
    const body = { kinds: this.kinds, ...(this.target ? { target: this.target } : {}) };
    await answerIn(this.host, this.latest, "columns", (signal) => post(`${this.base}/columns`, body, signal), (found) => {
      this.found = found;
      return this.sheet(found);
    });
    this.showProblems(body);
  }

  // What is wrong with the table; warnings first.
  async showProblems(body) {
    const host = h("div", {});
    put(this.problems, card(t("problems"), host));
    await answerIn(host, this.latest, "problems", (signal) => post(`${this.base}/problems`, body, signal), ({ problems }) => {
      if (!problems.length) return note(t("noProblems"), "good");
      const sorted = [...problems].sort((a, b) => (a.severity === "warning" ? 0 : 1) - (b.severity === "warning" ? 0 : 1));
      return h("ul", { class: "problems" }, sorted.map((each) => h("li", { class: each.severity }, each.text)));
    });
  }

  sheet(found) {
    const target = h("select", { "aria-label": t("chooseColumn"), onchange: () => this.setTarget(target.value) }, h("option", { value: "" }, t("chooseColumn")), found.names.map((name) => h("option", { value: name, selected: name === this.target }, name)));
    const rows = found.columns.map((column) => {
      const own = column.kind === "target" || !found.names.includes(column.name);
      const kind = own ? h("span", {}, kindName(column.kind)) : h("select", { "aria-label": `${t("kind")}: ${column.name}`, onchange: (event) => this.setKind(column.name, event.target.value) },
        [...new Set([column.kind, ...found.kinds])].map((each) => h("option", { value: each, selected: each === column.kind }, kindName(each))));
      return h("tr", { class: column.kind === "target" ? "target" : column.kind === "left out" ? "out" : "" }, h("th", { scope: "row" }, column.name), h("td", {}, kind), h("td", {}, reason(column.why)), h("td", { class: "n" }, column.n_values || ""), h("td", { class: "n" }, column.missing ? percent(column.missing) : ""), h("td", {}, column.example));
    });
    const head = ["column", "kind", "because", "values", "missing", "example"];
    return h("div", {}, h("h1", {}, this.document.name), note(t("rows", found.rows, found.names.length)),
      h("div", { class: "toolbar" }, h("label", {}, t("target"), target), h("button", { class: "primary", disabled: !this.target, onclick: () => this.train() }, t("train"))),
      h("div", { class: "sheet wide", tabindex: "0", role: "region", "aria-label": t("column") }, h("table", {}, h("thead", {}, h("tr", {}, head.map((each) => h("th", { scope: "col", class: each === "values" || each === "missing" ? "n" : "" }, t(each))))), h("tbody", {}, rows))));
  }

  setTarget(name) {
    this.target = name;
    delete this.kinds[name];
    this.write();
    this.look();
    if (!this.trials) this.showTraining();
  }

  setKind(name, kind) {
    this.kinds[name] = kind;
    this.write();
    this.look();
  }

  showTraining() {
    if (this.done) this.finish(this.done);
    else put(this.board, card(t("leaderboard"), note(this.target ? t("boardHint") : t("chooseColumn"))));
  }

  async train() {
    this.trials = [];
    const line = h("p", { class: "thinking", role: "status" });
    const fill = h("i", {});
    const table = h("div", {});
    put(this.board, card(t("leaderboard"), note(t("boardHint")), line, h("div", { class: "progress", "aria-hidden": "true" }, fill), table));
    const stop = h("button", { class: "small", onclick: () => this.latest.stop("train") }, t("stop"));
    try {
      await this.latest.ask("train", async (signal) => {
        for await (const event of follow(`${this.base}/train`, { target: this.target, kinds: this.kinds }, signal)) {
          if (event.step) {
            put(line, h("span", { class: "spinner", "aria-hidden": "true" }), h("span", {}, t("training", progressName(event.step))), stop);
            fill.style.transform = `scaleX(${event.total ? event.done / event.total : 0})`;
          } else if (event.trial) {
            this.trials.push(event.trial);
            put(table, this.leaderboard(this.trials, null));
          } else if (event.done) {
            this.done = event.done;
            await this.opened(event.done.classifier);
          }
        }
      });
      this.trials = null;
      this.showTraining();
    } catch (error) {
      put(this.board, card(t("leaderboard"), isStopped(error) ? note(t("stopped")) : problem(error, () => this.train())));
      this.trials = null;
    }
  }

  finish(done) {
    put(this.board, card(t("leaderboard"), note(`${t("target")} ${done.target}`), note(t("boardHint")), done.warning && problem({ message: done.warning }), this.leaderboard(done.board, done.best),
      Object.entries(done.left_out).map(([name, why]) => note(`${name}: ${why}`)),
      h("div", { class: "buttons" }, h("button", { class: "small primary", onclick: () => this.go(done.classifier) }, icon("classifier"), t("tryIt")),
        h("a", { class: "button small", href: `/api/v1${this.base}/report`, target: "_blank", rel: "noopener" }, t("report")),
        h("a", { class: "button small", href: `/api/v1/classifiers/${done.classifier.id}/file`, download: true }, t("modelFile")))));
  }

  leaderboard(trials, best) {
    const value = (trial) => trial.scores?.log_loss?.value ?? Infinity;
    const rows = [...trials].sort((a, b) => value(a) - value(b)).map((trial) => h("tr", { class: trial.name === best ? "best" : "" }, h("td", {}, progressName(trial.name)), trial.scores
      ? ["error", "log_loss", "brier"].map((name) => h("td", { class: "n" }, trial.scores[name] ? (name === "error" ? percent(trial.scores[name].value) : trial.scores[name].value.toFixed(3)) : "∞"))
      : h("td", { colspan: 3 }, trial.refused)));
    return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("leaderboard") }, h("table", { class: "board" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("model")), ["error", "log_loss", "brier"].map((each) => h("th", { scope: "col", class: "n" }, t(each))))), h("tbody", {}, rows)));
  }

  // Learning a network: a method, arcs that must be there or must not, and again.
  showLearning(said = null) {
    const names = this.found?.names || [];
    const pick = (label) => h("select", { "aria-label": t(label) }, names.map((name) => h("option", { value: name }, name)));
    const [from, to] = [pick("from"), pick("to")];
    const add = (list) => {
      if (from.value !== to.value) this.arcs[list].push([from.value, to.value]);
      this.showLearning();
    };
    const chips = (list, word) => this.arcs[list].map((arc, k) => h("li", {}, h("button", { class: "chip", "aria-label": t("removeEvidence", arc.join(" → ")), onclick: () => { this.arcs[list].splice(k, 1); this.showLearning(); } }, h("span", {}, `${t(word)} ${arc[0]} → ${arc[1]}`), icon("close"))));
    const method = h("select", { "aria-label": t("method"), onchange: () => { this.method = method.value; } }, METHODS.map((each) => h("option", { value: each, selected: each === this.method }, methodName(each))));
    this.learnSaid = h("div", {}, said);
    put(this.learnHost, card(t("learnNet"), h("div", { class: "toolbar" }, h("label", {}, t("method"), method)),
      h("details", { open: this.arcs.whitelist.length + this.arcs.blacklist.length > 0 }, h("summary", {}, `${t("demand")} / ${t("forbid")}`), h("div", { class: "fields" }, h("label", {}, t("from"), from), h("label", {}, t("to"), to)), h("div", { class: "buttons" }, h("button", { class: "small", onclick: () => add("whitelist") }, t("demand")), h("button", { class: "small", onclick: () => add("blacklist") }, t("forbid")))),
      h("ul", { class: "chips" }, chips("whitelist", "demand"), chips("blacklist", "forbid")),
      h("label", { class: "check" }, h("input", { type: "checkbox", checked: this.sure, onchange: (event) => { this.sure = event.target.checked; } }), t("howSure")),
      h("button", { class: "small primary", onclick: () => this.learn() }, t("learn")), this.learnSaid));
  }

  async learn() {
    const ignore = (this.found?.columns || []).filter((column) => column.kind === "left out" && this.found.names.includes(column.name)).map((column) => column.name);
    const body = { method: this.method, ...this.arcs, ignore, strength: this.sure ? RESAMPLES : 0 };
    const stop = h("button", { class: "small", onclick: () => this.latest.stop("learn") }, t("stop"));
    put(this.learnSaid, h("p", { class: "thinking", role: "status" }, h("span", { class: "spinner", "aria-hidden": "true" }), t("thinking"), stop));
    try {
      await this.latest.ask("learn", async (signal) => {
        let growth = null;
        for await (const event of follow(`${this.base}/learn`, body, signal)) {
          if (event.variables) {
            growth = new Growth(event.variables, (arc) => this.forbid(arc));
            put(this.growthHost, growth.host);
            growth.host.scrollIntoView({ block: "nearest" });
            continue;
          }
          if (event.resampled) {
            put(this.learnSaid, h("p", { class: "thinking", role: "status" }, h("span", { class: "spinner", "aria-hidden": "true" }), t("resampled", event.resampled, event.of), stop));
            continue;
          }
          growth?.take(event.done ? { all: event.done.structure } : event);
          if (event.done) {
            await growth?.finished();
            await this.opened(event.done.network);
            put(this.learnSaid, note(t("learned", event.done.structure.length, number(event.done.score, 6), reason(event.done.reason)), "good"), h("button", { class: "small primary", onclick: () => this.go(event.done.network) }, icon("network"), t("show")), whyArcs(event.done.why));
          } else put(this.learnSaid, h("p", { class: "thinking", role: "status" }, h("span", { class: "spinner", "aria-hidden": "true" }), t("learning", event.step, number(event.score ?? NaN, 7)), stop));
        }
      });
    } catch (error) {
      put(this.learnSaid, isStopped(error) ? note(t("stopped")) : problem(error));
    }
  }

  forbid(arc) {
    if (!this.arcs.blacklist.some((each) => each.join() === arc.join())) this.arcs.blacklist.push(arc);
    this.showLearning(note(t("learnAgain")));
  }

  close() {
    this.latest.stopAll();
  }
}
