// Groups of variables that fold into one box: the user's, or those that a large graph suggests; and what is near a
// variable that was asked for.

import { h, put } from "./dom.js";
import { card, note } from "./cards.js";
import { t } from "./words.js";

const MOST = 60; // groups in the list

export class Groups {
  // `folded` is a list of names; null is as the server finds it best. `near` are variables that are shown with their
  // neighbours while all groups are folded.
  constructor(view, { folded = null, near = [] } = {}) {
    Object.assign(this, { view, folded, near, groups: [], suggested: false });
    this.host = h("div", {});
  }

  static read(params) {
    const list = (key) => {
      try {
        const found = JSON.parse(params.get(key));
        return Array.isArray(found) && found.every((each) => typeof each === "string") ? found : null;
      } catch {
        return null;
      }
    };
    return { folded: list("folded"), near: list("near") || [] };
  }

  write(params) {
    for (const [key, value] of [["folded", this.folded], ["near", this.near.length ? this.near : null]]) {
      if (value) params.set(key, JSON.stringify(value));
      else params.delete(key);
    }
  }

  // What the drawing is asked with.
  body() {
    const look = this.view.editing?.document.look || {};
    const groups = Object.fromEntries(Object.entries(look).filter(([, each]) => each.group).map(([name, each]) => [name, each.group]));
    return { ...(Object.keys(groups).length ? { groups } : {}), ...(this.folded ? { folded: this.folded } : {}), ...(this.near.length ? { near: this.near } : {}) };
  }

  take({ groups, suggested }) {
    Object.assign(this, { groups, suggested });
    this.show();
  }

  get names() {
    return this.groups.map((group) => group.name);
  }

  fold(name, folded) {
    const now = this.groups.filter((group) => (group.name === name ? folded : group.folded)).map((group) => group.name);
    return this.set(now, folded ? [] : this.near);
  }

  async set(folded, near = []) {
    Object.assign(this, { folded, near });
    await this.view.rearrange();
  }

  // A variable in a folded group is shown with its neighbours. Whether the drawing had to be made again.
  async reveal(name) {
    if (this.view.drawing.nodes.has(name)) return false;
    await this.set(this.folded, [name]);
    return true;
  }

  show() {
    if (!this.groups.length) {
      put(this.host);
      return;
    }
    const line = (group) => h("li", {}, h("button", { class: "link", "aria-expanded": String(!group.folded), title: t(group.folded ? "unfold" : "fold"), onclick: () => this.fold(group.name, !group.folded) }, `${group.folded ? "▸" : "▾"} ${group.name}`), h("span", { class: "value" }, String(group.members.length)));
    const all = this.groups.every((group) => group.folded);
    put(this.host, card(t("groups"), note(t(this.near.length ? "nearHint" : this.suggested ? "suggestedHint" : "groupsHint", this.near.join(", "))),
      h("div", { class: "buttons" }, h("button", { class: "small", disabled: all && !this.near.length, onclick: () => this.set(this.names) }, t("overview")), h("button", { class: "small", onclick: () => this.set([]) }, t("unfoldAll"))),
      h("ul", { class: "ranked folds" }, this.groups.slice(0, MOST).map(line))));
  }

  // Chosen in the card of a variable: its group, which may be a new one.
  editor(name, change) {
    const look = this.view.editing.document.look || {};
    const known = [...new Set(Object.values(look).map((each) => each.group).filter(Boolean))];
    const id = `groups-${name}`;
    const field = h("input", { type: "text", value: look[name]?.group || "", list: id, "aria-label": t("group"), placeholder: t("noGroup") });
    const set = (variables) => change({ change: "group", variables, group: field.value.trim() });
    const near = () => {
      const { nodes } = this.view;
      return [name, ...[...nodes.values()].filter((node) => node.parents.includes(name)).map((node) => node.name), ...nodes.get(name).parents];
    };
    return h("form", { class: "edit-line", onsubmit: (event) => { event.preventDefault(); set([name]); } }, field, h("datalist", { id }, known.map((each) => h("option", { value: each }))),
      h("button", { class: "small" }, t("setGroup")), h("button", { class: "small", type: "button", title: t("groupNearHint"), onclick: () => set(near()) }, t("groupNear")));
  }
}
