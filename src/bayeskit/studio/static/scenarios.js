// Scenarios: pieces of evidence that were pinned, and their bars side by side with what is known now.

import { h, put, percent, bar, icon } from "./dom.js";
import { card, note } from "./cards.js";
import { Evidence } from "./evidence.js";
import { t } from "./words.js";

const MOST = 4;
const NOTEWORTHY = 0.05; // a difference of probability that is marked

export class Scenarios {
  constructor(view, pins = []) {
    this.view = view;
    this.host = h("div", {});
    this.pins = pins.slice(0, MOST).map((pin) => ({ ...pin, p: null }));
    this.variable = null;
  }

  // Those of the address: names and states that the network does not have are let go, and the bars are asked for.
  async start() {
    for (const pin of this.pins) {
      const evidence = Object.assign(new Evidence(), { given: { ...pin.given }, do: { ...pin.do } });
      evidence.keep(this.view.nodes);
      Object.assign(pin, { given: evidence.given, do: evidence.do });
      pin.p = await this.view.post("posterior", { given: pin.given, do: pin.do }).then((answer) => answer.p, () => null);
    }
    this.pins = this.pins.filter((pin) => pin.p);
    this.show();
  }

  // After a change of the network the pinned bars are those of the new one.
  refresh() {
    if (this.pins.length) this.start();
  }

  pin() {
    const { evidence, p } = this.view;
    if (this.pins.length >= MOST) this.pins.shift();
    this.pins.push({ given: { ...evidence.given }, do: { ...evidence.do }, p });
    this.view.remember();
    this.show();
  }

  words(pin) {
    const said = Object.assign(new Evidence(), { given: pin.given, do: pin.do }).chips().map(([, text]) => text);
    return said.length ? said.join(", ") : t("noKnown");
  }

  show() {
    const { view } = this;
    if (!this.pins.length || this.pins.some((pin) => !pin.p)) { // none, or still being asked for
      put(this.host);
      return;
    }
    const shown = this.variable && view.nodes.has(this.variable) ? this.variable : view.evidence.target || view.variable.name || view.nodes.keys().next().value;
    const choose = h("select", { "aria-label": t("variable"), onchange: (event) => { this.variable = event.target.value; this.show(); } },
      [...view.nodes.keys()].map((name) => h("option", { value: name, selected: name === shown }, name)));
    const { states } = view.nodes.get(shown);
    const now = view.p[shown] || states.map(() => 0);
    const column = (p, base) => states.map((_, k) => {
      const difference = base ? p[k] - base[k] : 0;
      const mark = Math.abs(difference) >= NOTEWORTHY ? (difference > 0 ? "more" : "less") : "";
      return h("td", {}, bar(p[k]), h("span", { class: "value" }, percent(p[k])), base && h("span", { class: `difference ${mark}` }, `${difference >= 0 ? "+" : "−"}${Math.abs(100 * difference).toFixed(1)}`));
    });
    const columns = [column(now, null), ...this.pins.map((pin) => column(pin.p[shown] || now, now))];
    const heads = [h("th", { scope: "col" }, t("now")), ...this.pins.map((pin, place) => h("th", { scope: "col" }, h("div", { class: "pin-head" },
      h("button", { class: "link", title: t("goToScenario"), onclick: () => { view.evidence.given = { ...pin.given }; view.evidence.do = { ...pin.do }; view.ask(); } }, this.words(pin)),
      h("button", { class: "pin-close", "aria-label": t("removeEvidence", this.words(pin)), onclick: () => { this.pins.splice(place, 1); view.remember(); this.show(); } }, icon("close")))))];
    put(this.host, card(t("scenarios"), choose, note(t("scenariosWhy")), h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": t("scenarios") },
      h("table", { class: "scenarios" }, h("thead", {}, h("tr", {}, h("td", {}), heads)),
        h("tbody", {}, states.map((state, k) => h("tr", {}, h("th", { scope: "row" }, state), columns.map((cells) => cells[k]))))))));
  }

  write(params) {
    if (this.pins.length) params.set("pins", JSON.stringify(this.pins.map(({ given, do: done }) => ({ given, do: done }))));
    else params.delete("pins");
  }

  static read(params) {
    try {
      const pins = JSON.parse(params.get("pins") || "[]");
      return Array.isArray(pins) ? pins.filter((pin) => pin && typeof pin === "object").map((pin) => ({ given: pin.given || {}, do: pin.do || {} })) : [];
    } catch {
      return [];
    }
  }
}
