// Changing a variable: its name, states, parents, note and colour; and a row of its table that keeps summing to 1.

import { h, put, number } from "./dom.js";
import { problem } from "./cards.js";
import { t } from "./words.js";

const COLOURS = ["a", "b", "c", "d", "e", "f", "g", "h"];

// One number of a row was typed: the others share what is left as they did before.
export function keepSum(row, k) {
  const values = row.map((input) => Number(input.value.replace(",", ".")));
  const typed = values[k];
  if (!(typed >= 0 && typed <= 1)) return; // said when the table is changed
  const rest = values.reduce((sum, value, place) => (place === k || !(value > 0) ? sum : sum + value), 0);
  row.forEach((input, place) => {
    if (place === k) return;
    const share = rest > 0 ? Math.max(values[place], 0) / rest : 1 / (row.length - 1);
    input.value = number((1 - typed) * share, 6);
  });
}

export function variableEditor(view, name, card) {
  const wrong = h("div", {});
  const change = (body) => view.change(body, wrong);
  const look = view.editing.document.look?.[name] || {};
  const newName = h("input", { type: "text", value: name, "aria-label": t("rename") });
  const rename = async (event) => {
    event.preventDefault();
    const text = newName.value.trim();
    if (!text || text === name) return;
    card.name = text; // the card stays with its variable
    await change({ change: "rename", variable: name, name: text });
    if (!view.nodes.has(text)) card.name = name;
  };
  const note = h("textarea", { rows: 2, "aria-label": t("note"), placeholder: t("note"), onchange: () => change({ change: "note", variable: name, note: note.value.trim() }) });
  note.value = note.defaultValue = look.note || "";
  const swatch = (colour) => {
    const button = h("button", { class: `swatch ${colour ? "" : "none"}`, "aria-label": colour ? t("colourOf", colour) : t("noColour"), "aria-pressed": String((look.colour || "") === colour), onclick: () => change({ change: "colour", variable: name, colour }) });
    if (colour) button.style.background = `var(--hue-${colour})`;
    return button;
  };
  const { parents, real } = view.nodes.get(name);
  return h("details", { open: card.editorOpen, ontoggle: (event) => { card.editorOpen = event.target.open; } }, h("summary", {}, t("editVariable")),
    h("form", { class: "edit-line", onsubmit: rename }, newName, h("button", { class: "small" }, t("rename"))),
    !real && [h("h3", {}, t("states")), statesEditor(view, name, change, wrong)],
    parents.length > 0 && [h("h3", {}, t("parents")), h("ul", { class: "chips" }, parents.map((parent) => h("li", {}, h("button", { class: "small", "aria-label": t("removeEvidence", `${parent} → ${name}`), onclick: () => change({ change: "remove-arc", arc: [parent, name] }) }, h("span", {}, `${parent} ×`)))))],
    h("h3", {}, t("note")), note,
    h("h3", {}, t("group")), view.groups.editor(name, change),
    h("h3", {}, t("colour")), h("div", { class: "swatches", role: "group", "aria-label": t("colour") }, ["", ...COLOURS].map(swatch)), wrong);
}

// The states by name; a new one has probability 0 until its table says otherwise.
function statesEditor(view, name, change, wrong) {
  const host = h("form", { class: "fields", onsubmit: (event) => { event.preventDefault(); apply(); } });
  const rows = view.nodes.get(name).states.map((state) => ({ before: state, input: h("input", { type: "text", value: state, "aria-label": t("stateName", state) }) }));
  const apply = () => {
    const states = rows.map((row) => row.input.value.trim());
    if (states.some((state) => !state) || new Set(states).size < states.length) {
      put(wrong, problem({ message: t("statesDiffer") }));
      return;
    }
    change({ change: "states", variable: name, states, sources: rows.map((row) => row.before) });
  };
  const show = () => put(host, rows.map((row, k) => h("div", { class: "edit-line" }, row.input, rows.length > 1 && h("button", { type: "button", class: "small", "aria-label": t("removeEvidence", row.input.value), onclick: () => { rows.splice(k, 1); show(); } }, "×"))),
    h("div", { class: "buttons" }, h("button", { type: "button", class: "small", onclick: () => { rows.push({ before: "", input: h("input", { type: "text", "aria-label": t("newState"), placeholder: t("newState") }) }); show(); rows.at(-1).input.focus(); } }, t("newState")), h("button", { class: "small primary" }, t("changeStates"))));
  show();
  return host;
}
