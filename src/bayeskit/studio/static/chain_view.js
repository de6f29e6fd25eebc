// A hidden Markov model: rows are pasted or read from a file, and its states are drawn as bands over time.

import { h, s, put, percent, number } from "./dom.js";
import { Latest } from "./api.js";
import { card, note, answerIn } from "./cards.js";
import { t } from "./words.js";

const HUES = ["a", "b", "c", "d", "e", "f", "g", "h"];
const WIDE = 1000, HIGH = 150, STRIP = 14, GAP = 8;

export class ChainView {
  constructor({ stage, panel, name, post }) {
    Object.assign(this, { stage, panel, name, post });
    this.latest = new Latest();
  }

  async start() {
    const host = h("div", { class: "inner" });
    this.drawn = h("div", { class: "bands" });
    put(this.stage, h("div", { class: "sheetroom" }, host));
    this.schema = await answerIn(host, this.latest, "schema", (signal) => this.post("schema", {}, signal), (schema) => this.form(schema));
    if (!this.schema) return;
    host.append(this.drawn);
    const { states, stationary, durations } = this.schema;
    const stay = (rows) => (rows === null ? t("stayEver") : t("stayRows", number(rows)));
    put(this.panel, card(t("chainStates"), this.legend(states), states.map((state, k) => note(`${t("stateShare", state, percent(stationary[k]))} ${stay(durations[k])}`))));
  }

  form({ target, group, time, columns }) {
    const names = [group, time, ...columns].filter((each) => each);
    this.text = h("textarea", { rows: 8, spellcheck: "false", placeholder: names.join(","), "aria-label": t("sequenceRows") });
    const show = () => answerIn(this.drawn, this.latest, "bands", (signal) => this.post("bands", { text: this.text.value }, signal), (found) => this.bands(found));
    const file = h("input", { type: "file", class: "hidden", tabindex: "-1", accept: ".csv,.tsv,.txt", "aria-label": t("sequenceFile"), onchange: async () => {
      const [chosen] = file.files;
      file.value = "";
      if (!chosen) return;
      this.text.value = await chosen.text();
      show();
    } });
    return h("div", {}, h("h1", {}, target || this.name), note("HiddenMarkov"), h("div", { class: "sheet" }, h("h2", {}, t("sequenceRows")), note(t("sequenceHint", names.join(", "))), h("div", { class: "rows-text" }, this.text),
      h("div", { class: "buttons" }, h("button", { class: "primary small", onclick: show }, t("showStates")), h("button", { class: "small", onclick: () => file.click() }, t("sequenceFile")), file)));
  }

  legend(states) {
    return h("ul", { class: "band-legend" }, states.map((state, k) => h("li", {}, h("i", { class: `hue-${HUES[k % HUES.length]}`, "aria-hidden": "true" }), state)));
  }

  bands(found) {
    const many = found.sequences.length > 1;
    return h("div", { class: "sheet" }, h("h2", {}, t("statesOverTime")), note(t("bandsHint")), found.sequences.map((each) => this.sequence(each, many)), found.left_out > 0 && note(t("sequencesLeftOut", found.left_out)));
  }

  sequence({ name, times, p, path }, many) {
    const { states } = this.schema;
    const n = p.length;
    const x = (i) => (WIDE * i) / n;
    const below = new Array(n).fill(0);
    const paths = states.map((state, k) => {
      let there = "";
      let back = "";
      for (let i = 0; i < n; i += 1) {
        const low = below[i];
        below[i] = Math.min(low + p[i][k], 1);
        there += `${i ? "L" : "M"}${x(i)} ${HIGH * (1 - below[i])}H${x(i + 1)}`;
        back = `L${x(i + 1)} ${HIGH * (1 - low)}H${x(i)}${back}`;
      }
      return s("path", { d: `${there}${back}Z`, class: `hue-${HUES[k % HUES.length]}`, "data-state": state });
    });
    const strip = path.map((state, i) => s("rect", { x: x(i), y: HIGH + GAP, width: WIDE / n, height: STRIP, class: `hue-${HUES[states.indexOf(state) % HUES.length]}`, "data-state": state }));
    const at = (i) => (times ? times[i] : String(i + 1));
    const line = s("line", { class: "band-line", y1: 0, y2: HIGH + GAP + STRIP, visibility: "hidden" });
    const said = h("p", { class: "note", role: "status" }, `${at(0)} – ${at(n - 1)}`);
    const point = (event) => {
      const box = svg.getBoundingClientRect();
      const i = Math.min(Math.max(Math.floor((n * (event.clientX - box.left)) / box.width), 0), n - 1);
      for (const end of ["x1", "x2"]) line.setAttribute(end, x(i + 0.5));
      line.setAttribute("visibility", "visible");
      said.textContent = `${at(i)}: ${states.map((state, k) => `${state} ${percent(p[i][k])}`).join(", ")} → ${path[i]}`;
    };
    const svg = s("svg", { viewBox: `0 0 ${WIDE} ${HIGH + GAP + STRIP}`, preserveAspectRatio: "none", role: "img", "aria-label": t("ofSequence", name), onpointermove: point }, paths, strip, line);
    return h("figure", { class: "band" }, many && h("figcaption", {}, t("ofSequence", name)), svg, h("div", { class: "band-times", "aria-hidden": "true" }, h("span", {}, at(0)), h("span", {}, at(n - 1))), said);
  }

  close() {
    this.latest.stopAll();
  }
}
