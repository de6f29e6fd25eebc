// Cases: the rows of an open table as evidence, one after the other, with those that were seen.

import { h, put, percent } from "./dom.js";
import { isStopped } from "./api.js";
import { card, note, problem } from "./cards.js";
import { t } from "./words.js";

const MOST = 12;

export class Cases {
  constructor(view, tables) {
    Object.assign(this, { view, tables, number: 0, rows: null, seen: [] });
    this.table = tables()[0]?.id || null;
    this.host = h("div", {});
    this.said = h("div", {});
  }

  show() {
    const tables = this.tables();
    if (!tables.length) {
      put(this.host);
      return;
    }
    if (!tables.some((each) => each.id === this.table)) [this.table, this.seen] = [tables[0].id, []];
    const choose = h("select", { "aria-label": t("ofTable"), onchange: () => { this.table = choose.value; this.number = 0; this.seen = []; this.show(); } }, tables.map((each) => h("option", { value: each.id, selected: each.id === this.table }, each.name)));
    this.field = h("input", { type: "number", min: 1, class: "row-number", value: this.number || 1, "aria-label": t("rowOf"), onchange: () => this.go(Math.round(Number(this.field.value))) });
    const step = (by, text, name) => h("button", { class: "small", "aria-label": t(name), onclick: () => this.go(this.number + by) }, text);
    put(this.host, card(t("cases"), choose, h("div", { class: "buttons" }, step(-1, "◀", "previousCase"), this.field, this.rows && h("span", { class: "note" }, t("ofRows", this.rows)), step(1, "▶", "nextCase")), this.said, this.history()));
  }

  history() {
    if (!this.seen.length) return null;
    return h("ol", { class: "ranked seen" }, [...this.seen].reverse().map((each) => h("li", {}, h("button", { class: "link", onclick: () => this.go(each.number) }, t("caseNumber", each.number)), h("span", { class: "value" }, each.text))));
  }

  async go(number) {
    const { view } = this;
    const before = this.number;
    this.number = Math.min(Math.max(number, 1), this.rows || Infinity); // at once: quick clicks step on
    try {
      const answer = await view.latest.ask("case", (signal) => view.post("case", { table: this.table, number: this.number }, signal));
      [this.number, this.rows] = [answer.number, answer.rows];
      view.evidence.given = answer.given;
      view.evidence.do = {};
      if (view.evidence.target) delete view.evidence.given[view.evidence.target]; // what is asked about is not told
      await view.ask();
      this.remember(answer);
      const odd = Object.entries(answer.other).map(([name, text]) => `${name} = ${text}`);
      put(this.said, odd.length > 0 && note(t("notStates", odd.slice(0, 4).join(", "))));
      this.show();
    } catch (error) {
      if (isStopped(error)) return;
      this.number = before;
      put(this.said, problem(error));
    }
  }

  remember({ number, given }) {
    const { target } = this.view.evidence;
    const p = this.view.p[target];
    const best = p ? p.indexOf(Math.max(...p)) : -1;
    const text = p ? `${this.view.nodes.get(target).states[best]} ${percent(p[best])}` : t("knownCells", Object.keys(given).length);
    this.seen = [...this.seen.filter((each) => each.number !== number), { number, text }].slice(-MOST);
  }
}
