// The lines of a drawing: arcs, their heads, densities, and what a box of the drawing is made of.

import { s } from "./dom.js";
import { t } from "./words.js";

const SNAP = 7; // pixels from which a dragged box falls in line with another
const GRID = 10;
const PLOT = 22; // of a density's box, the room of the line below it that says the mean

// An arc as it was laid out, or straight from box to box where boxes were moved. `arc.down` and `arc.up` say where it
// has heads: the arcs of a folded group may go both ways.
export function arcShape(arc, from, to, placed) {
  const weight = 0.7 + 3.1 * arc.influence;
  const points = placed ? straight(from, to) : arc.points;
  const [back, half] = [5 + weight, 2.6 + weight * 0.75];
  const ends = [towards(points[0], points[1], back), towards(points.at(-1), points.at(-2), back)];
  const cut = [...points];
  if (arc.up) cut[0] = ends[0].base;
  if (arc.down) cut[cut.length - 1] = ends[1].base;
  const head = [arc.up && tip(points[0], ends[0], half), arc.down && tip(points.at(-1), ends[1], half)].filter(Boolean).join("");
  return { weight, line: path(cut, placed), head };
}

// Where a head that ends at a point begins, and its direction.
function towards([x, y], [fromX, fromY], back) {
  const long = Math.hypot(fromX - x, fromY - y) || 1;
  const [ux, uy] = [(fromX - x) / long, (fromY - y) / long];
  return { base: [round(x + ux * back), round(y + uy * back)], across: [-uy, ux] };
}

function tip([x, y], { base: [bx, by], across: [ax, ay] }, half) {
  return `M${x} ${y}L${round(bx + ax * half)} ${round(by + ay * half)}L${round(bx - ax * half)} ${round(by - ay * half)}z`;
}

const round = (value) => Number(value.toFixed(1));

function path(points, placed) {
  const [first, ...rest] = points.map((point) => point.join(" "));
  let d = `M${first}`;
  if (placed) return `${d}L${rest[0]}`;
  for (let k = 0; k < rest.length; k += 3) d += `C${rest.slice(k, k + 3).join(" ")}`;
  return d;
}

function straight(from, to) {
  return [edge(from, to), edge(to, from)];
}

// Where the line from the middle of a box to that of another leaves it.
function edge(box, other) {
  const [dx, dy] = [other.x - box.x, other.y - box.y];
  const share = Math.min(1, Math.min(Math.abs(dx) > 0 ? box.width / 2 / Math.abs(dx) : Infinity, Math.abs(dy) > 0 ? box.height / 2 / Math.abs(dy) : Infinity));
  return [round(box.x + dx * share), round(box.y + dy * share)];
}

export function short(text, width, size = 12) {
  const most = Math.max(3, Math.floor(width / (size * 0.56)));
  const wide = [...text].reduce((sum, sign) => sum + (sign > "\u2e80" ? 1.8 : 1), 0);
  if (wide <= most) return text;
  return `${[...text].slice(0, Math.max(1, Math.floor((most - 1) * ([...text].length / wide)))).join("")}…`;
}

// The box of a variable or of a folded group, without its lines.
export function boxOf(node, { pad, font }, look = {}, port = false) {
  const said = node.members ? t("groupOf", node.members.length) : node.name;
  const group = s("g", { class: "node", role: "group", tabindex: "-1", "aria-label": node.members ? `${node.group}, ${said}` : node.name, "data-name": node.name });
  const { note, colour } = look;
  const title = node.members ? `${node.group}\n${node.members.slice(0, 30).join(", ")}${node.members.length > 30 ? " …" : ""}` : note ? `${node.name}\n${note}` : node.name;
  group.append(
    s("title", {}, title),
    ...(node.members ? [s("rect", { class: "box behind", x: 4, y: 4, width: node.width, height: node.height, rx: 7 })] : []),
    s("rect", { class: "box", width: node.width, height: node.height, rx: 7 }),
    ...(colour ? [s("path", { class: `colour hue-${colour}`, d: `M0 7a7 7 0 0 1 7-7H${node.width - 7}a7 7 0 0 1 7 7z` })] : []),
    ...(note ? [s("circle", { class: "has-note", cx: node.width - 9, cy: 11, r: 3.5 })] : []),
    s("text", { class: "name", x: node.width / 2, y: pad + font - 2.5 }, node.name),
    s("text", { class: "far-name", x: node.width / 2, y: node.height / 2 }, short(node.members ? node.group : node.name, node.width)),
    ...(node.members ? [s("text", { class: "members", x: node.width / 2, y: 2 * pad + font + 9 }, said)] : []),
  );
  if (port && !node.members) group.append(s("circle", { class: "port", cx: node.width / 2, cy: node.height, r: 6 }, s("title", {}, t("portHint"))));
  return group;
}

// The lines in the box of a real variable: what it was, what it is now, and a text below.
export function densityRows(node, { pad, font }) {
  const rows = s("g", { class: "rows" }, s("path", { class: "rule", d: `M0 ${font + 2 * pad - 5}H${node.width}` }));
  const room = { x: pad, y: font + 2 * pad - 2, width: node.width - 2 * pad, height: node.height - font - 2 * pad + 2 - PLOT };
  const parts = { before: s("path", { class: "density before" }), now: s("path", { class: "density" }), text: s("text", { class: "mean", x: node.width / 2, y: node.height - 8 }) };
  rows.append(s("path", { class: "rule", d: `M${room.x} ${room.y + room.height}h${room.width}` }), ...Object.values(parts));
  return { rows, room, ...parts };
}

// A density as the outline of its area; a known number is a line.
export function densityPath({ at, density }, room, [low, high], top) {
  const x = (value) => round(room.x + (room.width * (value - low)) / (high - low || 1));
  const y = (value) => round(room.y + room.height * (1 - value / (top || 1)));
  if (at.length === 1) return `M${x(at[0])} ${room.y}V${room.y + room.height}`;
  return `M${x(at[0])} ${y(0)}${at.map((value, k) => `L${x(value)} ${y(density[k])}`).join("")}L${x(at.at(-1))} ${y(0)}z`;
}

// How far places from elsewhere are drawn apart: other programs draw smaller boxes.
export function spreadOf(nodes) {
  const overlaps = (by) => nodes.reduce((sum, a, k) => sum + nodes.slice(k + 1).filter((b) => Math.abs(a.x - b.x) * by < (a.width + b.width) / 2 && Math.abs(a.y - b.y) * by < (a.height + b.height) / 2).length, 0);
  if (nodes.length < 3 || nodes.length > 500 || overlaps(1) <= nodes.length / 3) return 1;
  return [1.25, 1.5, 2, 2.5].find((by) => overlaps(by) === 0) || 3;
}

// Where a dragged box stands: in line with a box near it, else on a grid; and the guides that say so.
export function snap(others, wanted, scale) {
  const guides = [];
  const place = ["x", "y"].map((axis, k) => {
    const away = (node) => Math.abs(node[axis] - wanted[k]);
    const near = others.filter((node) => away(node) <= SNAP / scale);
    if (!near.length) return Math.round(wanted[k] / GRID) * GRID;
    const node = near.reduce((a, b) => (away(b) < away(a) ? b : a));
    guides.push([axis, node]);
    return node[axis];
  });
  return { place, guides: guides.map(([axis, node]) => `M${node.x} ${node.y}${axis === "x" ? "V" : "H"}${place[axis === "x" ? 1 : 0]}`).join("") };
}
