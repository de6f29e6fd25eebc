// Why the arcs of a learned network are there: what each adds to the score, its rows, how sure it is, and what came next.

import { h, number, percent } from "./dom.js";
import { note } from "./cards.js";
import { t } from "./words.js";

export function whyArcs(why) {
  const sure = why.arcs.some((arc) => arc.strength !== undefined);
  const head = ["arc", "gain", "rowsEach", ...(sure ? ["strength"] : [])];
  return h("details", { class: "why-arcs", open: sure }, h("summary", {}, t("whyArcs")), note(t("whyArcsHint", why.score.toUpperCase())),
    table(t("whyArcs"), head, why.arcs.map((arc) => line(arc, sure))),
    why.candidates.length > 0 && [h("h4", {}, t("cameNext")), table(t("cameNext"), head.slice(0, 3), why.candidates.map((arc) => line(arc, false)))]);
}

function table(label, head, rows) {
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, h("table", { class: "board" },
    h("thead", {}, h("tr", {}, head.map((word, k) => h("th", { scope: "col", class: k ? "n" : "" }, t(word))))), h("tbody", {}, rows)));
}

function line(arc, sure) {
  return h("tr", {}, h("th", { scope: "row" }, `${arc.from} → ${arc.to}`), h("td", { class: "n" }, number(arc.gain, 4)),
    h("td", { class: "n" }, `${number(arc.rows, 6)} (${Math.round(arc.rows / Math.max(arc.configurations, 1))})`),
    sure && h("td", { class: "n" }, `${percent(arc.strength)} (${percent(arc.direction)})`));
}
