// Two writers: what each of them has, side by side, and a question.

import { h, number } from "./dom.js";
import { post } from "./api.js";
import { askUser, note } from "./cards.js";
import { t } from "./words.js";

function rowsOf(table, title) {
  return h("div", { class: "side" }, h("h3", {}, title), h("div", { class: "scroll" }, h("table", { class: "cpt" },
    h("thead", {}, h("tr", {}, table.states.map((state) => h("th", { scope: "col", class: "n" }, state)))),
    h("tbody", {}, table.rows.slice(0, 8).map((row) => h("tr", {}, row.map((value) => h("td", { class: "n" }, number(value, 4)))))))));
}

// The same table was changed here and elsewhere: which one stays. Anything else: whether to do it all the same.
export async function bothChanged(view, body, error) {
  const touched = error.details.touched?.join(", ") || "";
  if (body.change === "table" && view.nodes.has(body.variable)) {
    const theirs = await view.post("table", { variable: body.variable });
    const mine = { states: theirs.states, rows: body.rows };
    const fits = mine.rows.length === theirs.rows.length && mine.rows.every((row) => row.length === theirs.states.length);
    const answers = fits ? [["mine", t("useMine"), "primary"], ["theirs", t("keepTheirs")]] : [["theirs", t("keepTheirs")]];
    const chosen = await askUser(t("bothChanged", body.variable), h("div", { class: "sides" }, rowsOf(theirs, t("theirs")), rowsOf(mine, t("mine"))), answers);
    return chosen === "mine";
  }
  const chosen = await askUser(t("changedElsewhere"), note(t("touched", touched)), [["again", t("doAnyway"), "primary"], ["leave", t("leaveIt")]]);
  return chosen === "again";
}

// Somebody else wrote the file: what it has that is not here. The answer is "replace", "take" or "cancel".
export async function fileChanged(base, name) {
  const found = await post(`${base}/difference`).catch((error) => ({ unreadable: error.message }));
  const said = [];
  if (found.unreadable) said.push(note(found.unreadable));
  else {
    if (found.only_here.length) said.push(note(t("onlyHere", found.only_here.join(", "))));
    if (found.only_there.length) said.push(note(t("onlyThere", found.only_there.join(", "))));
    for (const each of found.tables) said.push(h("h3", {}, each.variable), h("div", { class: "sides" }, rowsOf(each.there, t("inFile")), rowsOf(each.here, t("mine"))));
    if (found.differ.length > found.tables.length) said.push(note(t("others", found.differ.length - found.tables.length)));
    if (!said.length) said.push(note(t("sameNetwork")));
  }
  return askUser(t("fileChanged", name), h("div", {}, said), [["replace", t("replaceFile"), "danger"], ...(found.unreadable ? [] : [["take", t("takeFile")]]), ["cancel", t("cancel")]]);
}
