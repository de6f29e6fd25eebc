// Elements from words: text is always text, never HTML, whatever a file says.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value") {
      node.value = value;
      if (node.tagName === "INPUT") node.defaultValue = value; // what tells typing from what was there
    }
    else if (name === "checked" || name === "disabled" || name === "selected" || name === "hidden") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

export function s(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

export function put(host, ...children) {
  host.replaceChildren(...children.flat(Infinity).filter((child) => child));
  return host;
}

// What is put into a host takes over what is being typed in its fields, and the focus; fields are known by their labels.
export function putTyping(host, ...children) {
  const label = (field) => field.getAttribute("aria-label");
  const fields = [...host.querySelectorAll("input, textarea")];
  const typed = new Map(fields.filter((field) => field.value !== field.defaultValue).map((field) => [label(field), field.value]));
  const { activeElement: active } = document;
  const focused = host.contains(active) && fields.includes(active) ? label(active) : null;
  put(host, ...children);
  for (const field of host.querySelectorAll("input, textarea")) {
    if (typed.has(label(field))) field.value = typed.get(label(field));
    if (focused !== null && label(field) === focused) field.focus({ preventScroll: true });
  }
  return host;
}

// A probability as people read it: 12.3 %, and <0.1 % rather than 0.0 %.
export function percent(p) {
  if (p > 0 && p < 0.0005) return "<0.1 %";
  if (p < 1 - 1e-9 && p > 0.9995) return ">99.9 %";
  return `${(100 * p).toFixed(1)} %`;
}

export function number(x, digits = 3) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  return size >= 1e-3 && size < 1e6 ? String(Number(x.toPrecision(digits))) : x.toExponential(digits - 1);
}

// A bar that fills a share of its track.
export function bar(share, kind = "") {
  const inner = h("i", { class: "bar-fill" });
  inner.style.transform = `scaleX(${Math.min(Math.max(share, 0), 1)})`;
  return h("span", { class: `bar ${kind}`, "aria-hidden": "true" }, inner);
}

const PATHS = {
  open: "M4 7h6l2 2h8v10H4z",
  network: "M12 5v5M12 10l-6 6M12 10l6 6M12 5m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M6 18m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0M18 18m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0",
  classifier: "M5 19V9M10 19V5M15 19v-7M20 19v-4",
  chain: "M3 17h4v-6h5v4h4V7h5",
  table: "M4 5h16v14H4zM4 10h16M10 5v14",
  theme: "M12 4a8 8 0 1 0 8 8a6 6 0 0 1-8-8",
  plus: "M12 6v12M6 12h12",
  minus: "M6 12h12",
  fit: "M5 9V5h4M19 9V5h-4M5 15v4h4M19 15v4h-4",
  search: "M11 11m-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0M15 15l5 5",
  undo: "M8 5L4 9l4 4M4 9h10a5 5 0 0 1 0 10h-3",
  redo: "M16 5l4 4l-4 4M20 9H10a5 5 0 0 0 0 10h3",
  save: "M5 5h11l3 3v11H5zM8 5v5h7V5M8 19v-6h8v6",
  layout: "M4 4h6v5H4zM14 4h6v5h-6zM9 15h6v5H9zM7 9v3h10V9M12 12v3",
  arc: "M6 18L17 7M11 6h7v7",
  pin: "M9 4h6l-1 6l3 3H7l3-3zM12 13v7",
  share: "M12 15V4M8 8l4-4l4 4M5 13v7h14v-7",
  close: "M7 7l10 10M17 7L7 17",
  panel: "M4 5h16v14H4zM14 5v14",
};

export function icon(name) {
  return s("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, s("path", { d: PATHS[name] }));
}
