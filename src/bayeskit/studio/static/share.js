// The view as a picture, and as one page that answers single clicks without a server.

import { h } from "./dom.js";
import { t } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 16;
const SCALE = 2; // pixels of a PNG for each of the drawing

async function text(path) {
  return (await fetch(path)).text();
}

function save(name, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const stem = (name) => name.replace(/\.[^.]*$/, "");

// The room of the drawing, with a margin.
function frame({ geometry: { left = 0, top = 0, width, height } }) {
  return { x: left - MARGIN, y: top - MARGIN, width: width + 2 * MARGIN, height: height + 2 * MARGIN };
}

// The whole drawing with its style inside; colours are those of the page now.
export async function drawingAsSvg(drawing) {
  for (const entry of drawing.nodes.values()) drawing.fill(entry);
  const copy = drawing.svg.cloneNode(true);
  const { x, y, width, height } = frame(drawing);
  copy.setAttribute("xmlns", SVG);
  copy.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.classList.remove("far");
  copy.firstElementChild.removeAttribute("transform");
  copy.querySelectorAll(".port, .arc-hit, .new-arc").forEach((each) => each.remove());
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  copy.dataset.theme = dark ? "dark" : "light";
  const style = document.createElementNS(SVG, "style");
  style.textContent = `${await text("/look.css")}\n${drawingRules(await text("/static/studio.css"))}\n.drawing{background:var(--paper);font-family:system-ui,sans-serif}`;
  copy.prepend(style);
  return copy;
}

// Of the page's style, what is about boxes and arcs, and the colours.
function drawingRules(css) {
  const colours = css.match(/^(:root|@media \(prefers-color-scheme|\.colour|\.has-note).*$/gm) || [];
  return [...colours, css.split("/* boxes and arcs */")[1].split("/* the panel */")[0]].join("\n");
}

const source = (svg) => new XMLSerializer().serializeToString(svg);

export async function saveSvg(view) {
  save(`${stem(view.name)}.svg`, new Blob([source(await drawingAsSvg(view.drawing))], { type: "image/svg+xml" }));
}

export async function savePng(view) {
  const svg = await drawingAsSvg(view.drawing);
  const { width, height } = frame(view.drawing);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source(svg))}`;
  await image.decode();
  const canvas = h("canvas", { width: Math.ceil(width * SCALE), height: Math.ceil(height * SCALE) });
  const context = canvas.getContext("2d");
  context.scale(SCALE, SCALE);
  context.drawImage(image, 0, 0, width, height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  save(`${stem(view.name)}.png`, blob);
}

// What the saved page does: a click on a state shows what follows from it, a second one goes back.
function answerClicks(data) {
  const percent = (p) => (p > 0 && p < 0.0005 ? "<0.1 %" : p < 1 - 1e-9 && p > 0.9995 ? ">99.9 %" : `${(100 * p).toFixed(1)} %`);
  let chosen = null;
  const show = () => {
    const p = chosen ? data.clicks[chosen[0]][chosen[1]] : data.now;
    for (const row of document.querySelectorAll(".state-row")) {
      const name = row.closest(".node").dataset.name;
      const value = p[name][data.states[name].indexOf(row.dataset.state)];
      row.querySelector(".bar-value").style.transform = `scaleX(${value})`;
      row.querySelector(".p").textContent = percent(value);
      const pressed = chosen ? chosen[0] === name && chosen[1] === row.dataset.state : false;
      row.setAttribute("aria-pressed", String(pressed || data.known.some(([each, state]) => each === name && state === row.dataset.state)));
    }
    for (const node of document.querySelectorAll(".node")) node.classList.toggle("given", (chosen && node.dataset.name === chosen[0]) || data.known.some(([each]) => each === node.dataset.name));
    document.getElementById("given").textContent = [...data.words, ...(chosen ? [`${chosen[0]} = ${chosen[1]}`] : [])].join(", ") || data.none;
  };
  const click = (target) => {
    const row = target.closest(".state-row");
    if (!row) return;
    const [name, state] = [row.closest(".node").dataset.name, row.dataset.state];
    if (!data.clicks[name]?.[state]) return;
    chosen = chosen && chosen[0] === name && chosen[1] === state ? null : [name, state];
    show();
  };
  document.addEventListener("click", (event) => click(event.target));
  document.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { click(event.target); event.preventDefault(); } });
  for (const row of document.querySelectorAll(".state-row")) row.setAttribute("tabindex", "0");
  show();
}

export async function savePage(view) {
  const { clicks } = await view.post("clicks", view.case);
  const svg = await drawingAsSvg(view.drawing);
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  const known = Object.entries({ ...view.evidence.given, ...view.evidence.do }).filter(([, value]) => typeof value === "string");
  const states = Object.fromEntries([...view.nodes.values()].map((node) => [node.name, node.states]));
  const data = { clicks, now: view.p, states, known, words: view.evidence.chips().map(([, text]) => text), none: t("noKnown") };
  const escape = (value) => value.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const html = `<!DOCTYPE html><html lang="${document.documentElement.lang}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escape(view.name)}</title>
<style>body{margin:0;font-family:system-ui,sans-serif;text-align:center}svg{max-width:100%;max-height:84vh}p{margin:.4rem 1rem}h1{font-size:1.2rem;margin:.8rem 1rem .2rem}</style></head>
<body><h1>${escape(view.name)}</h1><p><b id="given"></b></p>${source(svg)}<p>${escape(t("offlineHint"))}</p>
<script>(${answerClicks})(${JSON.stringify(data).replace(/</g, "\\u003c")});</script></body></html>`;
  save(`${stem(view.name)}.html`, new Blob([html], { type: "text/html" }));
}

// The report of the library about the network as it is now, with what is known and the target.
export async function saveReport(view) {
  const { target } = view.evidence;
  const { html } = await view.post("report", { ...view.case, ...(target ? { target } : {}) });
  save(`${stem(view.name)}-report.html`, new Blob([html], { type: "text/html" }));
}
