// A network: the drawing in the middle, what follows from the evidence beside it.

import { h, put, percent, bar, number, icon } from "./dom.js";
import { Latest, isStopped } from "./api.js";
import { card, note, problem, answerIn } from "./cards.js";
import { Drawing } from "./drawing.js";
import { bothChanged } from "./conflicts.js";
import { VariableCard } from "./variable_card.js";
import { Cases } from "./cases.js";
import { Groups } from "./groups.js";
import { Scenarios } from "./scenarios.js";
import { densityPlot } from "./real_card.js";
import { savePage, savePng, saveReport, saveSvg } from "./share.js";
import { t } from "./words.js";

const PATIENCE = 200;
let serial = 0; // a notebook may show several views

export class NetworkView {
  // `post(question, body, signal)` asks the library; `remember()` writes the address; `editing` may be null (a notebook).
  constructor({ stage, panel, name, evidence, post, remember, editing = null, onPanel = () => {}, pins = [], tables = () => [], folds = {} }) {
    Object.assign(this, { stage, panel, name, evidence, post, remember, editing, onPanel });
    this.editable = editing !== null;
    this.latest = new Latest();
    this.p = {};
    this.reals = {};
    this.nodes = new Map();
    this.separated = new Set();
    this.variable = new VariableCard(this);
    this.groups = new Groups(this, folds);
    this.scenarios = new Scenarios(this, pins);
    this.cases = new Cases(this, tables);
    this.frame();
  }

  frame() {
    serial += 1;
    this.canvas = h("div", { class: "canvas" });
    this.busy = h("div", { class: "busy", role: "status", hidden: true });
    this.search = h("input", { type: "search", list: `variables-${serial}`, placeholder: t("search"), "aria-label": t("search"), oninput: () => this.search.setCustomValidity(""), onchange: () => this.find(), onkeydown: (event) => event.key === "Enter" && this.find() });
    this.names = h("datalist", { id: `variables-${serial}` });
    const button = (name, what, act) => h("button", { class: "tool", title: t(what), "aria-label": t(what), onclick: act }, icon(name));
    put(this.stage, h("h1", { class: "hidden" }, this.name), this.canvas, h("div", { class: "tools" }, h("div", { class: "search" }, icon("search"), this.search, this.names),
      this.editing && this.editing.toolbar(this), h("div", { class: "zoom" }, button("minus", "zoomOut", () => this.drawing?.zoom(0.8)), button("plus", "zoomIn", () => this.drawing?.zoom(1.25)), button("fit", "fit", () => this.drawing?.fit()))), this.busy);
    this.parts = { evidence: h("div", {}), conflict: h("div", {}), target: h("div", {}), questions: h("div", {}), tornado: h("div", {}), moved: h("div", {}), mpe: h("div", {}), edit: h("div", {}), share: h("div", {}), wrong: h("div", {}) };
    put(this.panel, this.parts.wrong, this.parts.evidence, this.scenarios.host, this.variable.host, this.parts.target, this.parts.moved, this.parts.mpe, this.cases.host, this.groups.host, this.parts.edit, this.parts.share);
  }

  async start() {
    this.post("posterior", {}).catch(() => {}); // compiled while the drawing is laid out
    const asked = [this.evidence.target, ...Object.keys(this.evidence.given), ...Object.keys(this.evidence.do)].filter(Boolean);
    if (!this.groups.near.length && !this.groups.folded) this.groups.near = asked; // of a folded network, what is near that
    await this.layOut();
    await this.ask();
    this.scenarios.start();
    this.cases.show();
    if (this.editable) this.showShare();
    return this;
  }

  async layOut() {
    const stop = this.wait(t("layingOut", this.name), "geometry");
    try {
      const geometry = await this.latest.ask("geometry", (signal) => this.post("geometry", this.groups.body(), signal));
      const shown = geometry.nodes.filter((node) => !node.members);
      this.nodes = new Map([...shown, ...geometry.hidden].map((node) => [node.name, node]));
      this.real = [...this.nodes.values()].some((node) => node.real);
      this.targets = null;
      this.groups.take(geometry);
      this.evidence.keep(this.nodes);
      put(this.names, [...this.nodes.keys()].map((name) => h("option", { value: name })));
      put(this.canvas);
      this.drawing = new Drawing(this.canvas, geometry, {
        label: t("drawing"),
        state: (name, state) => { this.evidence.toggle(name, state); this.ask(); },
        select: (name, how) => this.select(name, how),
        unfold: (group) => this.groups.fold(group, false),
        ...this.editor(),
      });
    } catch (error) {
      put(this.canvas, h("div", { class: "centre" }, isStopped(error) ? note(t("stopped")) : problem(error, () => this.start())));
      throw error;
    } finally {
      stop();
    }
  }

  // What the drawing may change.
  editor() {
    if (!this.editable) return {};
    return {
      look: this.editing.document.look || {},
      move: (places) => this.editing.change({ change: "move", places }).then(() => { this.drawing.on.look = this.editing.document.look; }, (error) => put(this.parts.wrong, problem(error))),
      connect: (from, to) => this.change(this.nodes.get(to).parents.includes(from) ? { change: "remove-arc", arc: [from, to] } : { change: "add-arc", arc: [from, to] }),
      selectArc: (arc) => this.selectArc(arc),
      removeVariable: (name) => this.change({ change: "remove-variable", variable: name }),
    };
  }

  // An arc that was clicked: what it is, and a way to remove it (Delete too).
  selectArc(arc) {
    this.arc = arc;
    this.select(null);
    this.arc = arc;
    this.drawing.update(null, this.marks());
    const remove = h("button", { class: "small danger", onclick: () => this.change({ change: "remove-arc", arc }) }, t("removeArc"));
    remove.addEventListener("keydown", (event) => event.key === "Delete" && remove.click());
    put(this.variable.host, card(`${arc[0]} → ${arc[1]}`, h("div", { class: "buttons" }, remove)));
    this.onPanel();
    remove.focus();
  }

  // After a moment the page says that it thinks, with a way to stop.
  wait(text, key) {
    const timer = setTimeout(() => {
      put(this.busy, h("span", { class: "spinner", "aria-hidden": "true" }), text, h("button", { class: "small", onclick: () => this.latest.stop(key) }, t("stop")));
      this.busy.hidden = false;
    }, PATIENCE);
    return () => {
      clearTimeout(timer);
      this.busy.hidden = true;
    };
  }

  get case() {
    return { given: this.evidence.given, do: this.evidence.do };
  }

  // The evidence has changed: bars first, then all that follows from it.
  async ask() {
    this.remember();
    this.showEvidence();
    this.variable.show();
    this.drawing?.update(null, this.marks());
    const stop = this.wait(t("thinking"), "posterior");
    try {
      const { target } = this.evidence;
      const found = await this.latest.ask("posterior", (signal) => this.post("posterior", { ...this.case, ...(target ? { target } : {}) }, signal));
      put(this.parts.wrong);
      this.p = found.p;
      this.separated = new Set(found.separated);
      this.log = found.log_evidence;
      this.reals = found.real || {};
      this.drawing?.update(this.p, this.marks(), this.reals);
      this.showEvidence();
      this.variable.show();
      this.showMoved(found.moved);
      this.scenarios.show();
      this.follow();
    } catch (error) {
      if (!isStopped(error)) put(this.parts.wrong, problem(error));
    } finally {
      stop();
    }
  }

  marks() {
    return { given: this.evidence.given, do: this.evidence.do, target: this.evidence.target, separated: this.separated, selected: this.variable.name, arc: this.arc || null };
  }

  follow() {
    this.showConflict();
    this.showTarget();
    this.showExplanation();
    if (!this.parts.edit.hasChildNodes()) this.showEditing();
  }

  select(name, how = "click") {
    this.arc = null;
    this.variable.choose(name, how === "menu" && name && this.evidence.kindOf(name) === "is" ? "set" : undefined);
    this.drawing?.update(null, this.marks());
    if (how === "menu") {
      this.onPanel();
      this.variable.host.querySelector(".segments button[aria-pressed=true]")?.focus();
    }
    if (name) this.variable.host.scrollIntoView({ block: "nearest" });
  }

  async setTarget(name) {
    this.evidence.target = name;
    if (name) await this.groups.reveal(name);
    await this.ask();
  }

  find() {
    const name = this.search.value;
    const found = this.nodes.has(name) ? name : [...this.nodes.keys()].find((each) => each.toLowerCase().includes(name.toLowerCase()));
    this.search.setCustomValidity(name && !found ? t("notFound", name) : "");
    if (name && !found) this.search.reportValidity();
    if (!name || !found) return;
    this.search.value = found;
    if (found !== this.variable.name || !this.drawing.nodes.has(found)) this.goTo(found, true);
  }

  // A variable is brought to the middle; one of a folded group is shown with its neighbours.
  async goTo(name, focus = false) {
    await this.groups.reveal(name);
    this.drawing.goTo(name, focus);
    this.select(name);
  }

  // Groups were folded or unfolded: the drawing is made again, what is known stays.
  async rearrange() {
    this.remember();
    const { p, marks, real } = this.drawing;
    try {
      await this.layOut();
    } catch (error) {
      if (isStopped(error)) return; // a newer one is under way
      throw error;
    }
    this.drawing.update(p, marks, real);
    if (this.variable.name) this.drawing.update(null, this.marks());
  }

  showEvidence() {
    const chips = this.evidence.chips();
    const body = chips.length
      ? [
          h("ul", { class: "chips" }, chips.map(([name, text]) => h("li", {}, h("button", { class: "chip", "aria-label": t("removeEvidence", text), onclick: () => { this.evidence.remove(name); this.ask(); } }, h("span", {}, text), icon("close"))))),
          this.log !== null && this.log !== undefined && h("p", { class: "fact" }, h("span", {}, t(this.real && Object.keys(this.evidence.given).some((name) => this.nodes.get(name)?.real) ? "densityEvidence" : "pEvidence")), h("b", {}, number(Math.exp(this.log), 4))),
          this.parts.conflict,
          h("div", { class: "buttons" }, h("button", { class: "small", onclick: () => { this.evidence.clear(); this.ask(); } }, t("clear")), this.pinButton()),
        ]
      : [note(t("noEvidence")), this.scenarios.pins.length > 0 && this.pinButton()];
    put(this.parts.evidence, card(t("evidence"), body));
  }

  pinButton() {
    return h("button", { class: "small", title: t("pinHint"), onclick: () => this.scenarios.pin() }, icon("pin"), t("pin"));
  }

  showConflict() {
    if (this.real || Object.keys(this.evidence.given).length < 2) {
      put(this.parts.conflict);
      return;
    }
    answerIn(this.parts.conflict, this.latest, "conflict", (signal) => this.post("conflict", this.case, signal), (found) => {
      if (found.conflict <= 1e-9) return note(t("conflictNo"), "good");
      const worst = Object.entries(found.pieces).filter(([, value]) => value > 1e-9).slice(0, 3).map(([name]) => found.words[name]);
      return h("div", { class: "alarm" }, h("b", {}, t("conflictYes")), h("p", {}, t("conflictWhy", number(Math.exp(found.conflict), 3), worst.join(", "))));
    });
  }

  showTarget() {
    const { target } = this.evidence;
    // Made once for a network: a thousand options take longer than the answer.
    this.targets ??= h("select", { "aria-label": t("chooseTarget"), onchange: (event) => this.setTarget(event.target.value || null) },
      h("option", { value: "" }, t("none")), [...this.nodes.keys()].map((name) => h("option", { value: name }, name)));
    this.targets.value = target || "";
    const parts = [this.targets];
    if (!target) parts.push(note(t("chooseTarget")));
    else {
      const { states, real } = this.nodes.get(target);
      if (real && this.reals[target]) parts.push(densityPlot(this.reals[target]));
      parts.push(h("div", { class: "states" }, states.map((state, k) => h("div", { class: "state-line" }, h("span", { class: "label" }, state), bar(this.p[target]?.[k] || 0), h("span", { class: "value" }, percent(this.p[target]?.[k] || 0))))));
      const known = target in this.evidence.given || target in this.evidence.do;
      if (!known && !this.real) parts.push(h("h3", {}, t("next")), note(t("nextWhy", target)), this.parts.questions, h("h3", {}, t("tornado")), this.parts.tornado);
    }
    put(this.parts.target, card(t("target"), parts));
    if (!target || this.real || target in this.evidence.given || target in this.evidence.do) return;
    answerIn(this.parts.questions, this.latest, "questions", (signal) => this.post("questions", { target, ...this.case }, signal), (found) => this.questionList(found.questions));
    if (this.nodes.size <= 60) this.showTornado();
    else put(this.parts.tornado, h("button", { class: "small", onclick: () => this.showTornado() }, t("showTornado")));
  }

  questionList(questions) {
    if (!questions.length) return note(t("nothingToAsk"));
    const most = questions[0].information;
    const sorted = [...questions].sort((a, b) => b.information - a.information).slice(0, 6);
    return h("ol", { class: "ranked" }, sorted.map((each) => h("li", {}, h("button", { class: "link", onclick: () => this.goTo(each.variable) }, each.variable),
      bar(each.information / Math.max(most, sorted[0].information)), h("span", { class: "value" }, number(each.information / Math.LN2, 3)))));
  }

  showTornado() {
    const { target } = this.evidence;
    answerIn(this.parts.tornado, this.latest, "sensitivity", (signal) => this.post("sensitivity", { target, ...this.case }, signal), (found) => {
      if (!found.numbers.length) return note(t("insensitive"));
      const low = Math.min(...found.numbers.map((each) => each.low));
      const high = Math.max(...found.numbers.map((each) => each.high));
      const span = Math.max(high - low, 1e-12);
      return h("div", {}, note(t("tornadoWhy", target, found.state, found.swing)), h("ul", { class: "tornado" }, found.numbers.slice(0, 8).map((each) => {
        const line = h("span", { class: "track", "aria-hidden": "true" });
        const [down, up, mark] = [h("i", { class: "down" }), h("i", { class: "up" }), h("i", { class: "mark" })];
        const at = (p) => `${(100 * (p - low)) / span}%`;
        down.style.left = at(each.low);
        down.style.right = `${100 - (100 * (found.probability - low)) / span}%`;
        up.style.left = at(found.probability);
        up.style.right = `${100 - (100 * (each.high - low)) / span}%`;
        mark.style.left = at(found.probability);
        line.append(down, up, mark);
        return h("li", {}, h("span", { class: "label" }, each.number), line, h("span", { class: "value" }, `${percent(each.low)} … ${percent(each.high)}`));
      })));
    });
  }

  showMoved(moved) {
    if (!moved.length) {
      put(this.parts.moved, this.evidence.empty ? null : card(t("moved"), note(t("movedNothing"))));
      return;
    }
    put(this.parts.moved, card(t("moved"), h("ol", { class: "ranked" }, moved.slice(0, 6).map((each) => {
      const p = this.p[each.variable];
      let k = 0;
      p.forEach((value, place) => { if (Math.abs(value - each.before[place]) > Math.abs(p[k] - each.before[k])) k = place; });
      const { states } = this.nodes.get(each.variable);
      return h("li", {}, h("button", { class: "link", onclick: () => this.goTo(each.variable) }, each.variable),
        h("span", { class: "change" }, `${states[k]}  ${percent(each.before[k])} → ${percent(p[k])}`), bar(each.distance));
    }))));
  }

  showExplanation() {
    if (this.evidence.empty) {
      put(this.parts.mpe);
      return;
    }
    const host = h("div", {});
    put(this.parts.mpe, card(t("mpe"), host));
    answerIn(host, this.latest, "mpe", (signal) => this.post("explanation", this.case, signal), (found) => {
      const entries = Object.entries(found.states).filter(([name]) => !(name in this.evidence.given) && !(name in this.evidence.do));
      const shown = entries.slice(0, 12);
      return h("div", {}, found.probability !== null && note(t("mpeP", number(found.probability, 3))), h("dl", { class: "pairs" }, shown.map(([name, state]) => [h("dt", {}, name), h("dd", {}, typeof state === "number" ? number(state, 5) : state)])),
        entries.length > shown.length && note(t("others", entries.length - shown.length)));
    });
  }

  showEditing() {
    if (!this.editable || (this.parts.edit.contains(document.activeElement) && document.activeElement.value)) return;
    this.parts.edit.replaceChildren(this.editing.card(this));
  }

  // A change of the network: the drawing is made again where its graph changed, and what is known stays.
  async change(body, host = this.parts.wrong) {
    try {
      await this.editing.change(body);
      put(this.parts.wrong);
      put(host);
      await this.redraw();
    } catch (error) {
      if (error.kind !== "StaleError") {
        if (!isStopped(error)) put(host, problem(error));
        return;
      }
      await this.redraw().catch(() => {});
      if (body.change === "undo" || body.change === "redo") put(this.parts.wrong, note(t("changedElsewhere")));
      else if (await bothChanged(this, body, error)) await this.change(body, host);
    }
  }

  async redraw() {
    const { view } = this.drawing || {};
    this.arc = null;
    this.latest.stopAll();
    await this.layOut();
    if (view) this.drawing.look(view);
    await this.ask();
    this.scenarios.refresh();
    this.showEditing();
  }

  showShare() {
    const said = h("div", {});
    const button = (word, act) => h("button", { class: "small", onclick: () => act(this).then(() => put(said), (error) => put(said, problem(error))) }, t(word));
    put(this.parts.share, card(t("share"), h("div", { class: "buttons" }, button("asSvg", saveSvg), button("asPng", savePng), button("asPage", savePage), button("report", saveReport)), note(t("shareHint")), said));
  }

  async save() {
    try {
      const done = await this.editing.save();
      if (done === "taken") await this.redraw();
      if (done) this.say(t(done));
    } catch (error) {
      if (error.kind === "StaleError") await this.redraw();
      put(this.parts.wrong, problem(error));
    }
  }

  // A sentence that goes by itself.
  say(text) {
    put(this.parts.wrong, h("p", { class: "note good", role: "status" }, text));
    setTimeout(() => this.parts.wrong.querySelector(".good")?.remove(), 4000);
  }

  // Another page changed the network: show it as it is now.
  async follows(document) {
    this.editing.take(document);
    await this.redraw();
    this.say(t("followed"));
  }

  close() {
    this.latest.stopAll();
  }
}
