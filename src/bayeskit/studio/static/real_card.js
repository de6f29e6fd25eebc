// A real variable in its card: its density, what is known of it, and the equation of its table.

import { h, s, number } from "./dom.js";
import { densityPath } from "./strokes.js";
import { t } from "./words.js";

const ROOM = { x: 4, y: 4, width: 300, height: 90 };

// The density before and now, with an axis.
export function densityPlot(found) {
  const top = Math.max(...found.density, ...found.before.density, 0);
  const [low, high] = found.range;
  const ticks = [low, (low + high) / 2, high].map((value, k) => s("text", { x: [4, 154, 304][k], y: 110, "text-anchor": ["start", "middle", "end"][k] }, number(value, 4)));
  const said = `${t("meanSd", number(found.mean, 5), number(found.sd, 4))}, 95 %: ${number(found.interval[0], 4)} – ${number(found.interval[1], 4)}`;
  return h("figure", { class: "density-plot" }, s("svg", { viewBox: "0 0 308 114", role: "img", "aria-label": said },
    s("path", { class: "density before", d: found.moved ? densityPath(found.before, ROOM, found.range, top) : "" }), s("path", { class: `density ${found.sd === 0 ? "known" : ""}`, d: densityPath(found, ROOM, found.range, top) }), s("path", { class: "rule", d: "M4 94H304" }), ticks),
    h("figcaption", { class: "note" }, said));
}

// A number that was observed or is set; in "soft" with the standard deviation of its reading.
export function realEvidence(view, name, mode) {
  const known = view.evidence.given[name] ?? view.evidence.do[name];
  const value = h("input", { type: "number", step: "any", required: true, "aria-label": `${name} =`, value: typeof known === "number" ? known : known?.mean ?? "" });
  const sd = mode === "soft" ? h("input", { type: "number", step: "any", min: 0, required: true, "aria-label": t("readingError"), value: known?.sd ?? "" }) : null;
  const apply = (event) => {
    event.preventDefault();
    const x = Number(value.value);
    if (sd && !(Number(sd.value) > 0)) return;
    view.evidence.set(name, mode, sd ? { mean: x, sd: Number(sd.value) } : x);
    view.ask();
  };
  return h("form", { class: "soft", onsubmit: apply }, h("label", {}, h("span", { class: "label" }, `${name} =`), value), sd && h("label", {}, h("span", { class: "label" }, t("readingError")), sd),
    h("div", { class: "buttons" }, h("button", { class: "small primary" }, t("apply")), known !== undefined && h("button", { class: "small", type: "button", onclick: () => { view.evidence.remove(name); view.ask(); } }, t("clearOne"))));
}
