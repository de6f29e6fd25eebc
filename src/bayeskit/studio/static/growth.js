// A structure that grows: variables on a circle, so that they stay where they are while arcs come and go.

import { h, s } from "./dom.js";
import { t } from "./words.js";

const SIZE = 460;
const MARGIN = 92; // room for names
const MOST_NAMES = 80; // of more variables the names are shown by their dots only
const FRAMES = 90; // a search that took a moment is played in about so many frames

export class Growth {
  // `forbid(arc)` is called when somebody clicks an arc.
  constructor(names, forbid) {
    this.forbid = forbid;
    this.waiting = [];
    this.arcs = new Map();
    this.places = new Map(names.map((name, k) => [name, place(k, names.length)]));
    this.lines = s("g", { class: "grow-arcs" });
    const dots = names.map((name, k) => this.dot(name, k, names.length));
    this.svg = s("svg", { class: "growth", viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img" }, this.lines, ...dots);
    this.host = h("figure", { class: "growth-room" }, this.svg, h("figcaption", { class: "note" }, t("growthHint")));
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.say();
  }

  dot(name, k, n) {
    const angle = (2 * Math.PI * k) / n - Math.PI / 2;
    const { x, y } = this.places.get(name);
    const left = Math.cos(angle) < -1e-9;
    const turn = (angle * 180) / Math.PI + (left ? 180 : 0);
    const group = s("g", { class: "grow-node", "data-name": name }, s("title", {}, name), s("circle", { cx: x, cy: y, r: n > MOST_NAMES ? 2 : 4 }));
    if (n <= MOST_NAMES) {
      const text = [...name].length > 14 ? `${[...name].slice(0, 13).join("")}…` : name;
      group.append(s("text", { transform: `translate(${x + 9 * Math.cos(angle)} ${y + 9 * Math.sin(angle)}) rotate(${turn.toFixed(1)})`, "text-anchor": left ? "end" : "start", dy: "0.32em" }, text));
    }
    return group;
  }

  // An event of the search: the arcs that it added and removed, or at the end all that are left.
  take(event) {
    this.waiting.push(event);
    if (this.still) this.play(this.waiting.length);
    else this.frame ??= requestAnimationFrame(() => this.next());
  }

  next() {
    this.play(Math.ceil(this.waiting.length / FRAMES));
    this.frame = this.waiting.length ? requestAnimationFrame(() => this.next()) : null;
    if (!this.frame) this.done?.();
  }

  play(many) {
    for (const { added = [], removed = [], all } of this.waiting.splice(0, many)) {
      const kept = all && new Set(all.map((arc) => JSON.stringify(arc)));
      for (const arc of all ? [...this.arcs.keys()].filter((key) => !kept.has(key)).map((key) => JSON.parse(key)) : removed) this.remove(arc);
      for (const arc of all || added) this.add(arc);
    }
    this.say();
  }

  // All that came has been drawn.
  finished() {
    return this.waiting.length ? new Promise((resolve) => { this.done = resolve; }) : Promise.resolve();
  }

  add([from, to]) {
    const key = JSON.stringify([from, to]);
    if (this.arcs.has(key) || !this.places.has(from) || !this.places.has(to)) return;
    const [a, b] = [this.places.get(from), this.places.get(to)];
    const far = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [ux, uy] = [(b.x - a.x) / far, (b.y - a.y) / far];
    const [x, y] = [b.x - 6 * ux, b.y - 6 * uy];
    const tip = `M${x} ${y}L${x - 7 * ux + 3 * uy} ${y - 7 * uy - 3 * ux}L${x - 7 * ux - 3 * uy} ${y - 7 * uy + 3 * ux}z`;
    const group = s("g", { class: "grow-arc", "data-arc": key, onclick: () => this.forbid([from, to]) }, s("title", {}, t("forbidArc", from, to)),
      s("path", { class: "hit", d: `M${a.x} ${a.y}L${x} ${y}` }), s("path", { class: "line", d: `M${a.x} ${a.y}L${x} ${y}` }), s("path", { class: "tip", d: tip }));
    this.arcs.set(key, group);
    this.lines.append(group);
  }

  remove(arc) {
    const key = JSON.stringify(arc);
    this.arcs.get(key)?.remove();
    this.arcs.delete(key);
  }

  say() {
    this.svg.setAttribute("aria-label", t("growth", this.places.size, this.arcs.size));
  }
}

function place(k, n) {
  const angle = (2 * Math.PI * k) / n - Math.PI / 2;
  const radius = SIZE / 2 - MARGIN;
  return { x: SIZE / 2 + radius * Math.cos(angle), y: SIZE / 2 + radius * Math.sin(angle) };
}
