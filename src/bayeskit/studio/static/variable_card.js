// One variable: its states, what is known of it, why it is grey, and its table.

import { h, put, putTyping, percent, bar, number } from "./dom.js";
import { card, note, answerIn, problem } from "./cards.js";
import { t } from "./words.js";
import { chosenStates } from "./drawing.js";
import { densityPlot, realEvidence } from "./real_card.js";
import { keepSum, variableEditor } from "./variable_editor.js";

const MODES = ["is", "set", "soft", "do"];
const NAMES = { is: "observe", set: "oneOf", soft: "likelihood", do: "doIt" };
const REAL_MODES = ["is", "soft", "do"];
const REAL_HINTS = { is: "realHint", soft: "readingHint", do: "doHint" };
const HINTS = { is: "observeHint", set: "oneOfHint", soft: "likelihoodHint", do: "doHint" };

export class VariableCard {
  constructor(view) {
    this.view = view;
    this.host = h("div", {});
    this.name = null;
    this.mode = "is";
    this.tableOpen = false;
  }

  choose(name, mode) {
    if (this.name !== name) this.tableOpen = false;
    this.name = name;
    this.mode = mode || (name ? this.view.evidence.kindOf(name) : "is");
    this.show();
  }

  show() {
    const { view, name } = this;
    if (!name || !view.nodes.has(name)) {
      if (!view.arc) put(this.host); // else the card of an arc stands here
      return;
    }
    const p = view.p[name] || [];
    const modes = h("div", { class: "segments", role: "group", "aria-label": t("evidence") }, (view.nodes.get(name).real ? REAL_MODES : MODES).map((mode) =>
      h("button", { "aria-pressed": String(this.mode === mode), onclick: () => this.change(mode) }, t(NAMES[mode]))));
    const target = view.evidence.target === name
      ? h("button", { class: "small", "aria-pressed": "true", onclick: () => view.setTarget(null) }, t("isTarget"))
      : h("button", { class: "small", onclick: () => view.setTarget(name) }, t("makeTarget"));
    this.reason = h("div", {});
    this.table = h("div", { class: "table-host" });
    const open = h("details", { open: this.tableOpen, ontoggle: (event) => this.openTable(event.target.open) }, h("summary", {}, t("cpt")), this.table);
    const fill = this.shown === name ? putTyping : put; // the card is made anew with each answer
    this.shown = name;
    fill(this.host, card(name, modes, note(t((view.nodes.get(name).real ? REAL_HINTS : HINTS)[this.mode])), this.states(p), h("div", { class: "buttons" }, target,
      view.editable && h("button", { class: "small danger", onclick: () => view.change({ change: "remove-variable", variable: name }) }, t("remove"))), this.reason, open,
      view.editable && variableEditor(view, name, this)));
    this.showReason();
    if (this.tableOpen) this.loadTable();
  }

  change(mode) {
    this.mode = mode;
    if (mode === "is" || mode === "do") {
      const { evidence } = this.view;
      const number = evidence.given[this.name] ?? evidence.do[this.name];
      if (typeof number === "number") {
        evidence.set(this.name, mode, number);
        this.view.ask();
      }
      const [state] = chosenStates(evidence.given[this.name] ?? evidence.do[this.name]);
      if (state !== undefined) {
        evidence.set(this.name, mode, state);
        this.view.ask();
      }
    }
    this.show();
    this.host.querySelector('.segments [aria-pressed="true"]')?.focus();
  }

  states(p) {
    const { view, name, mode } = this;
    const { states, real } = view.nodes.get(name);
    if (real) return h("div", {}, view.reals[name] && densityPlot(view.reals[name]), realEvidence(view, name, mode));
    const known = view.evidence.given[name] ?? view.evidence.do[name];
    const chosen = chosenStates(known);
    if (mode === "soft") return this.likelihood(states, known);
    return h("div", { class: "states", role: "group", "aria-label": name }, states.map((state, k) =>
      h("button", { class: "state-button", "aria-pressed": String(chosen.has(state)), onclick: () => this.click(state, chosen) },
        h("span", { class: "label" }, state), bar(p[k] || 0, chosen.has(state) ? "known" : ""), h("span", { class: "value" }, p.length ? percent(p[k]) : ""))));
  }

  click(state, chosen) {
    const { view, name, mode } = this;
    if (mode === "set") {
      const next = new Set(chosen);
      if (next.has(state)) next.delete(state);
      else next.add(state);
      const all = view.nodes.get(name).states.filter((each) => next.has(each));
      view.evidence.set(name, "set", all.length ? all : null);
    } else {
      view.evidence.set(name, mode, chosen.has(state) && chosen.size === 1 ? null : state);
    }
    view.ask();
  }

  likelihood(states, known) {
    const { view, name } = this;
    const weights = known && typeof known === "object" && !Array.isArray(known) ? known.likelihood || known.marginal : {};
    const inputs = states.map((state) => h("input", {
      type: "number", min: 0, step: "any", value: weights[state] ?? 1, "aria-label": `${name} = ${state}`,
    }));
    const apply = () => {
      const found = Object.fromEntries(states.map((state, k) => [state, Number(inputs[k].value)]));
      view.evidence.set(name, "soft", { likelihood: found });
      view.ask();
    };
    return h("form", { class: "soft", onsubmit: (event) => { event.preventDefault(); apply(); } },
      states.map((state, k) => h("label", {}, h("span", { class: "label" }, state), inputs[k])), h("button", { class: "small primary" }, t("apply")));
  }

  // A grey variable: why it tells nothing about the target.
  showReason() {
    const { view, name } = this;
    const { target } = view.evidence;
    if (!target || target === name || name in view.evidence.given || name in view.evidence.do) return;
    const known = Object.entries(view.evidence.given).filter(([, value]) => typeof value !== "object").map(([each]) => each);
    if (view.separated.has(name)) {
      put(this.reason, h("p", { class: "note reason" }, h("b", {}, t("separatedFrom", target)), ". ",
        known.length ? t("separatedWhy", known.join(", ")) : t("separatedWhyNone")));
      return;
    }
    if (target in view.evidence.given || target in view.evidence.do) return;
    answerIn(this.reason, view.latest, "separation", (signal) => view.post("separation", { x: name, y: target, given: known, do: view.evidence.do }, signal), (found) =>
      note(t("connectedWhy", this.trail(found.trail)), "reason"));
  }

  trail(names) {
    let text = names[0];
    for (let k = 1; k < names.length; k += 1) {
      text += this.view.nodes.get(names[k]).parents.includes(names[k - 1]) ? ` → ${names[k]}` : ` ← ${names[k]}`;
    }
    return text;
  }

  openTable(open) {
    if (open === this.tableOpen) return;
    this.tableOpen = open;
    if (open) this.loadTable();
  }

  loadTable() {
    const { view, name } = this;
    answerIn(this.table, view.latest, "table", (signal) => view.post("table", { variable: name }, signal), (found) => this.grid(found));
  }

  grid(found) {
    if (found.equation) return h("pre", { class: "equation" }, found.equation);
    const combos = product(found.parent_states);
    const inputs = [];
    const rows = found.rows.map((values, r) => {
      inputs.push(values.map((value, k) => h("input", {
        type: "text", inputmode: "decimal", value: number(value, 6), disabled: !this.view.editable, onchange: () => keepSum(inputs[r], k), onfocus: (event) => event.target.select(),
        "aria-label": `P(${found.variable}=${found.states[k]}${combos[r].length ? ` | ${combos[r].map((state, j) => `${found.parents[j]}=${state}`).join(", ")}` : ""})`,
      })));
      return h("tr", {}, combos[r].map((state) => h("th", { scope: "row" }, state)), inputs[r].map((input) => h("td", {}, input)));
    });
    const wrong = h("div", {});
    const save = () => {
      const values = inputs.map((row) => row.map((input) => Number(input.value.replace(",", "."))));
      const odd = values.findIndex((row) => !(Math.abs(row.reduce((a, b) => a + b, 0) - 1) <= 1e-5));
      if (odd >= 0) {
        put(wrong, problem({ message: t("rowSum", odd + 1, number(values[odd].reduce((a, b) => a + b, 0), 6)) }));
        return;
      }
      for (const input of inputs.flat()) input.defaultValue = input.value; // no longer being typed: undo takes the change back
      this.view.change({ change: "table", variable: found.variable, rows: values }, wrong);
    };
    return h("form", { onsubmit: (event) => { event.preventDefault(); save(); } },
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("cpt") }, h("table", { class: "cpt" },
        h("thead", {}, h("tr", {}, found.parents.map((parent) => h("th", { scope: "col" }, parent)), found.states.map((state) => h("th", { scope: "col", class: "n" }, state)))),
        h("tbody", {}, rows))), wrong, this.view.editable && h("button", { class: "small primary" }, t("saveTable")));
  }
}

function product(lists) {
  return lists.reduce((found, list) => found.flatMap((each) => list.map((item) => [...each, item])), [[]]);
}
