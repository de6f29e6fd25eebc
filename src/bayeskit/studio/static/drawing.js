// The drawing of a network: boxes with bars, arcs as thick as their influence; pan, zoom, and detail by zoom.

import { s, number, percent } from "./dom.js";
import { arcShape, boxOf, densityPath, densityRows, short, snap, spreadOf } from "./strokes.js";
import { t } from "./words.js";

const FAR = 0.34; // below this scale boxes show their name only
const ALWAYS = 120; // up to so many boxes are filled at once; of more, those that are seen
const STEP = 1.25;

export class Drawing {
  // `on` has state(name, state), select(name, how), and `label`, what the drawing is called; where it can be changed,
  // also move({name: [x, y]}), connect(from, to) and selectArc(arc). Boxes that the user placed (`look`) stand there.
  constructor(host, geometry, on) {
    this.host = host;
    this.geometry = geometry;
    this.on = on;
    this.nodes = new Map();
    this.p = {};
    this.marks = { given: {}, do: {}, target: null, separated: new Set(), selected: null };
    this.placed = geometry.nodes.some((node) => this.put(node));
    this.place();
    this.layer = s("g", {});
    this.svg = s("svg", { class: "drawing", role: "group", "aria-label": on.label }, this.layer);
    this.view = { x: 0, y: 0, k: 1 };
    this.draw();
    host.append(this.svg);
    this.listen();
    this.fit();
  }

  // Boxes stand where they were put; a new one among them stands below all others.
  place() {
    if (!this.placed) return;
    const { geometry } = this;
    const fixed = geometry.nodes.filter((node) => this.put(node));
    for (const node of fixed) [node.x, node.y] = this.put(node);
    this.spread = spreadOf(fixed);
    for (const node of fixed) [node.x, node.y] = [node.x * this.spread, node.y * this.spread];
    let x = Math.min(...fixed.map((node) => node.x - node.width / 2));
    const y = Math.max(...fixed.map((node) => node.y + node.height / 2)) + 40;
    for (const node of geometry.nodes) {
      if (this.put(node)) continue;
      [node.x, node.y] = [x + node.width / 2, y + node.height / 2];
      x += node.width + 30;
    }
    this.bounds();
  }

  // Where the user put a box; a folded group stands in the middle of its members.
  put(node) {
    const places = (node.members || [node.name]).map((name) => this.on.look?.[name]?.at);
    if (!places.every(Boolean)) return null;
    return [0, 1].map((axis) => places.reduce((sum, place) => sum + place[axis], 0) / places.length);
  }

  // The room that the boxes take: the drawing may begin left of or above zero once boxes were moved.
  bounds() {
    const { nodes, measures } = this.geometry;
    const low = [Math.min(...nodes.map((node) => node.x - node.width / 2)) - measures.margin, Math.min(...nodes.map((node) => node.y - node.height / 2)) - measures.margin];
    const high = [Math.max(...nodes.map((node) => node.x + node.width / 2)) + measures.margin, Math.max(...nodes.map((node) => node.y + node.height / 2)) + measures.margin];
    Object.assign(this.geometry, { left: low[0], top: low[1], width: high[0] - low[0], height: high[1] - low[1] });
  }

  shape(arc) {
    return arcShape(arc, this.byName.get(arc.from), this.byName.get(arc.to), this.placed);
  }

  draw() {
    this.byName = new Map(this.geometry.nodes.map((node) => [node.name, node]));
    const arcs = s("g", { class: "arcs" });
    this.arcs = this.geometry.arcs.map((arc) => {
      const { weight, line, head } = this.shape(arc);
      const sign = arc.up && arc.down ? "↔" : arc.up ? "←" : "→";
      const group = s("g", { class: arc.influence < 0.01 ? "arc none" : "arc", "data-arc": JSON.stringify(arc.up ? [arc.to, arc.from] : [arc.from, arc.to]) }, s("title", {}, `${arc.from} ${sign} ${arc.to}${arc.n > 1 ? ` (${arc.n})` : ""}`));
      const parts = { line: s("path", { d: line, "stroke-width": weight.toFixed(2) }), head: s("path", { class: "tip", d: head }) };
      if (this.on.selectArc && !this.byName.get(arc.from).members && !this.byName.get(arc.to).members) parts.hit = s("path", { class: "arc-hit", d: line });
      group.append(...Object.values(parts));
      arcs.append(group);
      return { ...arc, group, parts };
    });
    const boxes = s("g", { class: "boxes" });
    for (const node of this.geometry.nodes) {
      const entry = this.box(node);
      this.nodes.set(node.name, entry);
      boxes.append(entry.group);
    }
    this.layer.append(arcs, boxes);
    const first = this.nodes.values().next().value;
    if (first) first.group.setAttribute("tabindex", "0");
  }

  box(node) {
    const group = boxOf(node, this.geometry.measures, this.on.look?.[node.name], Boolean(this.on.connect));
    group.setAttribute("transform", `translate(${node.x - node.width / 2} ${node.y - node.height / 2})`);
    return { node, group, rows: null };
  }

  // A box has moved: it and its arcs are drawn again.
  moved(name) {
    const { node, group } = this.nodes.get(name);
    group.setAttribute("transform", `translate(${node.x - node.width / 2} ${node.y - node.height / 2})`);
    for (const arc of this.arcs) {
      if (arc.from !== name && arc.to !== name) continue;
      const { line, head } = this.shape(arc);
      arc.parts.line.setAttribute("d", line);
      arc.parts.head.setAttribute("d", head);
      arc.parts.hit?.setAttribute("d", line);
    }
  }

  // The first box that is moved fixes all others where they are.
  fix() {
    if (this.placed) return;
    this.placed = true;
    for (const name of this.nodes.keys()) this.moved(name);
  }

  // The places that a move of a box changes: its own, or those of all boxes where none was moved before. The members of
  // a folded group move with it; those that had no place yet stand around it.
  places(name) {
    const { node: moved } = this.nodes.get(name);
    const look = this.on.look || {};
    const all = this.spread > 1 || !Object.values(look).some((each) => each.at);
    const places = {};
    for (const { node } of all ? this.nodes.values() : [{ node: moved }]) {
      if (!node.members) places[node.name] = [node.x, node.y];
      const from = node.members && this.put(node);
      node.members?.forEach((member, k) => {
        const wide = Math.ceil(Math.sqrt(node.members.length));
        const [dx, dy] = from ? [look[member].at[0] - from[0], look[member].at[1] - from[1]] : [((k % wide) - (wide - 1) / 2) * 190, (Math.floor(k / wide) - (wide - 1) / 2) * 130];
        places[member] = [node.x + dx, node.y + dy];
      });
    }
    return places;
  }

  // The lines of a box: made when it is first seen near enough.
  fill(entry) {
    if (entry.rows) return;
    const { node } = entry;
    if (node.members || node.real) {
      entry.rows = [];
      if (node.real) entry.density = densityRows(node, this.geometry.measures);
      if (node.real) entry.group.append(entry.density.rows);
      this.show(entry);
      return;
    }
    const { pad, font, row, percent: room } = this.geometry.measures;
    const start = pad + node.label;
    const width = node.width - pad - room - start - 5; // 100.0 % in bold must not touch its bar
    const rows = s("g", { class: "rows" }, s("path", { class: "rule", d: `M0 ${font + 2 * pad - 5}H${node.width}` }));
    entry.rows = [];
    for (let k = 0; k < node.shown; k += 1) {
      const y = font + 2 * pad - 2 + k * row;
      const fillBar = s("rect", { class: "bar-value", x: start, y: y + 2.5, width, height: 9, rx: 1.5 });
      const prior = s("path", { class: "bar-prior", d: "" });
      const value = s("text", { class: "p", x: node.width - pad, y: y + 10.5 });
      const line = s(
        "g",
        { class: "state-row", role: "button", tabindex: "-1", "aria-pressed": "false", "data-state": node.states[k] },
        s("rect", { class: "hit", x: 2, y: y - 0.5, width: node.width - 4, height: row, rx: 3 }),
        s("text", { class: "state", x: pad, y: y + 10.5 }, short(node.states[k], node.label + 4, 10)),
        s("rect", { class: "bar-back", x: start, y: y + 2.5, width, height: 9, rx: 1.5 }),
        fillBar,
        prior,
        value,
      );
      rows.append(line);
      entry.rows.push({ line, fillBar, value, state: node.states[k], k });
    }
    if (node.shown < node.states.length) {
      const y = font + 2 * pad - 2 + node.shown * row;
      rows.append(s("text", { class: "state more", x: pad, y: y + 10.5 }, t("others", node.states.length - node.shown)));
    }
    entry.group.append(rows);
    this.show(entry);
  }

  // New numbers and marks: bars move to them.
  update(p, marks, real) {
    this.p = p || this.p;
    this.real = real || this.real || {};
    this.marks = { ...this.marks, ...marks };
    for (const entry of this.nodes.values()) this.show(entry);
    for (const arc of this.arcs) {
      arc.group.classList.toggle("cut", arc.to in this.marks.do);
      const { selected } = this.marks;
      arc.group.classList.toggle("near", selected !== null && (arc.from === selected || arc.to === selected));
      arc.group.classList.toggle("chosen", this.marks.arc?.[0] === arc.from && this.marks.arc?.[1] === arc.to);
    }
  }

  show(entry) {
    const { node, group, rows } = entry;
    const { given, do: actions, target, separated, selected } = this.marks;
    const kind = ["node"];
    const names = node.members || [node.name];
    if (node.members) kind.push("group");
    if (names.some((name) => name in given)) kind.push("given");
    if (names.some((name) => name in actions)) kind.push("done");
    if (names.includes(target)) kind.push("target");
    if (names.every((name) => separated.has(name))) kind.push("separated");
    if (node.name === selected) kind.push("selected");
    if (entry === this.begun) kind.push("begun");
    const p = this.p[node.name];
    if (!p && !node.members && !this.real?.[node.name]) kind.push("blank");
    if (group.className.baseVal !== kind.join(" ")) group.setAttribute("class", kind.join(" "));
    if (node.real && rows) this.showDensity(entry);
    if (!p || !rows) return;
    const chosen = chosenStates(given[node.name] ?? actions[node.name]);
    for (const row of rows) {
      row.fillBar.style.transform = `scaleX(${p[row.k]})`;
      row.value.textContent = percent(p[row.k]);
      const pressed = chosen.has(row.state);
      row.line.setAttribute("aria-pressed", String(pressed));
      row.line.setAttribute("aria-label", `${node.name} = ${row.state}, ${percent(p[row.k])}`);
    }
    const best = p.indexOf(Math.max(...p));
    group.setAttribute("aria-label", `${node.name}: ${node.states[best]} ${percent(p[best])}`);
  }

  showDensity({ node, group, density }) {
    const found = this.real[node.name];
    if (!found) return;
    const top = Math.max(...found.density, ...found.before.density, 0);
    density.before.setAttribute("d", found.moved ? densityPath(found.before, density.room, found.range, top) : "");
    density.now.setAttribute("d", densityPath(found, density.room, found.range, top));
    density.text.textContent = found.sd > 0 ? `${number(found.mean, 4)} ± ${number(found.sd, 3)}` : `= ${number(found.mean, 6)}`;
    group.setAttribute("aria-label", `${node.name}: ${density.text.textContent}`);
  }

  // Where we look: x, y is the point of the drawing at the middle of the window.
  look({ x = this.view.x, y = this.view.y, k = this.view.k }) {
    this.view = { x, y, k: Math.min(Math.max(k, this.least * 0.7), 4) };
    const { width, height } = this.window();
    const { view } = this;
    this.layer.setAttribute("transform", `translate(${width / 2 - view.x * view.k} ${height / 2 - view.y * view.k}) scale(${view.k})`);
    this.svg.classList.toggle("far", view.k < FAR);
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.detail());
  }

  detail() {
    if (this.view.k < FAR) return;
    const { width, height } = this.window();
    const [w, hgt] = [width / 2 / this.view.k + 300, height / 2 / this.view.k + 200];
    const all = this.nodes.size <= ALWAYS;
    for (const entry of this.nodes.values()) {
      const { node } = entry;
      const seen = Math.abs(node.x - this.view.x) < w && Math.abs(node.y - this.view.y) < hgt;
      if (all || seen) this.fill(entry);
    }
  }

  window() {
    return { width: this.host.clientWidth || 800, height: this.host.clientHeight || 600 };
  }

  fit() {
    const { width, height } = this.window();
    const margin = 28;
    const k = Math.min((width - 2 * margin) / this.geometry.width, (height - 2 * margin - 40) / this.geometry.height);
    this.least = Math.min(k, 1);
    const { left = 0, top = 0 } = this.geometry;
    this.look({ x: left + this.geometry.width / 2, y: top + this.geometry.height / 2 - 12 / Math.min(k, 1.25), k: Math.min(k, 1.25) });
  }

  zoom(factor, at) {
    const { view } = this;
    const k = Math.min(Math.max(view.k * factor, this.least * 0.7), 4);
    const { width, height } = this.window();
    const [dx, dy] = at ? [at.x - width / 2, at.y - height / 2] : [0, 0];
    this.look({ x: view.x + dx / view.k - dx / k, y: view.y + dy / view.k - dy / k, k });
  }

  goTo(name, focus = true) {
    const entry = this.nodes.get(name);
    if (!entry) return;
    this.look({ x: entry.node.x, y: entry.node.y, k: Math.max(this.view.k, 0.9) });
    this.fill(entry);
    if (focus) this.focus(entry.group);
  }

  focus(element) {
    this.svg.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    element.setAttribute("tabindex", "0");
    element.focus({ preventScroll: true });
  }

  listen() {
    let drag = null;
    const touches = new Map();
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = this.svg.getBoundingClientRect();
      this.zoom(Math.exp(-event.deltaY * 0.0016), { x: event.clientX - box.left, y: event.clientY - box.top });
    }, { passive: false });
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      touches.set(event.pointerId, event);
      drag = { x: event.clientX, y: event.clientY, view: { ...this.view }, moved: false };
      const node = event.target.closest(".node");
      if (node && this.on.move && this.view.k >= FAR) drag.box = this.nodes.get(node.dataset.name);
      if (drag.box) drag.from = [drag.box.node.x, drag.box.node.y];
      if (event.target.closest(".port")) drag.arc = s("path", { class: "new-arc" });
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (!drag || !touches.has(event.pointerId)) return;
      const before = [...touches.values()];
      touches.set(event.pointerId, event);
      if (touches.size === 2) {
        const [a, b] = [...touches.values()];
        const [c, d] = before;
        const apart = (u, v) => Math.hypot(u.clientX - v.clientX, u.clientY - v.clientY);
        if (apart(c, d) > 0) this.zoom(apart(a, b) / apart(c, d));
        drag.moved = true;
        return;
      }
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      drag.moved = true;
      this.svg.setPointerCapture(event.pointerId);
      if (drag.arc) {
        this.layer.append(drag.arc);
        const [x, y] = this.at(event);
        drag.arc.setAttribute("d", `M${drag.box.node.x} ${drag.box.node.y + drag.box.node.height / 2}L${x} ${y}`);
        this.aim(this.under(event, drag.box));
        return;
      }
      if (drag.box) {
        this.fix();
        const wanted = [drag.from[0] + dx / drag.view.k, drag.from[1] + dy / drag.view.k];
        [drag.box.node.x, drag.box.node.y] = event.altKey ? wanted : this.snapped(drag.box, wanted);
        this.moved(drag.box.node.name);
        return;
      }
      this.look({ x: drag.view.x - dx / drag.view.k, y: drag.view.y - dy / drag.view.k });
    });
    const end = (event) => touches.delete(event.pointerId);
    this.svg.addEventListener("pointerup", (event) => {
      end(event);
      this.guides?.remove();
      if (!drag?.moved || !drag.box) return;
      if (drag.arc) {
        drag.arc.remove();
        const to = this.under(event, drag.box);
        this.aim(null);
        if (to) this.on.connect(drag.box.node.name, to.node.name);
      } else this.on.move(this.places(drag.box.node.name));
    });
    this.svg.addEventListener("pointercancel", end);
    this.svg.addEventListener("click", (event) => {
      const moved = drag?.moved;
      drag = null;
      if (moved) return;
      const node = event.target.closest(".node");
      const arc = event.target.closest(".arc");
      if (arc && event.target.closest(".arc-hit")) return this.on.selectArc(JSON.parse(arc.dataset.arc));
      if (!node) return this.on.select(null);
      const row = event.target.closest(".state-row");
      this.focus(row || node);
      if (this.opened(node)) return undefined;
      if (row) this.on.state(node.dataset.name, row.dataset.state);
      else this.on.select(node.dataset.name, "click");
      return undefined;
    });
    this.svg.addEventListener("contextmenu", (event) => {
      const node = event.target.closest(".node");
      if (!node) return;
      event.preventDefault();
      if (this.byName.get(node.dataset.name).members) return;
      this.on.select(node.dataset.name, "menu", event.target.closest(".state-row")?.dataset.state);
    });
    this.svg.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.look({})).observe(this.host);
  }

  // A folded group opens.
  opened(element) {
    const { members, group } = this.byName.get(element.dataset.name);
    if (members) this.on.unfold(group);
    return Boolean(members);
  }

  // The point of the drawing below the pointer, and the box there.
  at(event) {
    const box = this.svg.getBoundingClientRect();
    const { width, height } = this.window();
    return [this.view.x + (event.clientX - box.left - width / 2) / this.view.k, this.view.y + (event.clientY - box.top - height / 2) / this.view.k];
  }

  under(event, except) {
    const [x, y] = this.at(event);
    return [...this.nodes.values()].find((entry) => entry !== except && Math.abs(entry.node.x - x) <= entry.node.width / 2 && Math.abs(entry.node.y - y) <= entry.node.height / 2);
  }

  // A box that is dragged; guides show with which others it stands in line.
  snapped(entry, wanted) {
    const { place, guides } = snap([...this.nodes.values()].filter((each) => each !== entry).map((each) => each.node), wanted, this.view.k);
    this.guides?.remove();
    this.guides = s("path", { class: "guide", d: guides });
    this.layer.append(this.guides);
    return place;
  }

  aim(entry) {
    this.svg.querySelector(".node.aimed")?.classList.remove("aimed");
    entry?.group.classList.add("aimed");
  }

  // Alt and an arrow move a box; "a" begins an arc at it, and "a" at another box ends it there.
  edit(event, entry) {
    const moves = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
    if (event.altKey && moves[event.key] && this.on.move) {
      this.fix();
      const far = event.shiftKey ? 2 : 20;
      ["x", "y"].forEach((axis, k) => { entry.node[axis] += moves[event.key][k] * far; });
      this.moved(entry.node.name);
      clearTimeout(this.moving);
      this.moving = setTimeout(() => this.on.move(this.places(entry.node.name)), 400);
    } else if (event.key === "a" && !event.ctrlKey && !event.metaKey && this.on.connect) {
      if (this.begun && this.begun !== entry) this.on.connect(this.begun.node.name, entry.node.name);
      this.svg.querySelector(".node.begun")?.classList.remove("begun");
      this.begun = this.begun ? null : entry;
      this.begun?.group.classList.add("begun");
    } else if (event.key === "Escape" && this.begun) {
      this.begun.group.classList.remove("begun");
      this.begun = null;
    } else if (event.key === "Delete" && this.on.removeVariable) this.on.removeVariable(entry.node.name);
    else return false;
    event.preventDefault();
    return true;
  }

  // Arrows go to the nearest box in their direction; Enter goes into a box, Escape out of it; Space is a click.
  key(event) {
    const row = event.target.closest(".state-row");
    const group = event.target.closest(".node");
    if (!group) return;
    const entry = this.nodes.get(group.dataset.name);
    if ((event.key === "Enter" || event.key === " ") && this.opened(group)) {
      event.preventDefault();
      return;
    }
    if (!row && this.edit(event, entry)) return;
    const moves = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
    if (row) {
      const place = entry.rows.findIndex((each) => each.line === row);
      if (event.key === " " || event.key === "Enter") this.on.state(entry.node.name, row.dataset.state);
      else if (event.key === "ArrowDown") this.focus(entry.rows[Math.min(place + 1, entry.rows.length - 1)].line);
      else if (event.key === "ArrowUp") this.focus(entry.rows[Math.max(place - 1, 0)].line);
      else if (event.key === "Escape" || event.key === "ArrowLeft") this.focus(group);
      else return;
    } else if (moves[event.key]) {
      const next = this.nearest(entry.node, moves[event.key]);
      if (next) {
        this.reveal(next.node);
        this.focus(next.group);
      }
    } else if (event.key === "Enter") {
      this.look({ k: Math.max(this.view.k, FAR + 0.1) });
      this.fill(entry);
      if (!entry.rows.length) this.on.select(entry.node.name, "menu");
      else this.focus(entry.rows[0].line);
    } else if (event.key === " " || event.key === "ContextMenu") {
      this.on.select(entry.node.name, event.key === " " ? "click" : "menu");
    } else if (event.key === "+" || event.key === "=") this.zoom(STEP);
    else if (event.key === "-") this.zoom(1 / STEP);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  reveal(node) {
    const { width, height } = this.window();
    const [dx, dy] = [(node.x - this.view.x) * this.view.k, (node.y - this.view.y) * this.view.k];
    if (Math.abs(dx) > width / 2 - 60 || Math.abs(dy) > height / 2 - 60) this.look({ x: node.x, y: node.y });
  }

  nearest(from, [dx, dy]) {
    let best = null;
    let least = Infinity;
    for (const entry of this.nodes.values()) {
      const [x, y] = [entry.node.x - from.x, entry.node.y - from.y];
      const along = x * dx + y * dy;
      if (entry.node === from || along < 8) continue;
      const cost = along + 2.2 * Math.abs(x * dy - y * dx);
      if (cost < least) [best, least] = [entry, cost];
    }
    return best;
  }
}

export function chosenStates(value) {
  if (value === undefined) return new Set();
  if (typeof value === "string") return new Set([value]);
  if (Array.isArray(value)) return new Set(value);
  return new Set();
}
