// What is known, and how it is written into the address.

export class Evidence {
  constructor() {
    this.given = {};
    this.do = {};
    this.target = null;
  }

  static read(params) {
    const found = new Evidence();
    for (const key of ["given", "do"]) {
      try {
        const value = JSON.parse(params.get(key) || "{}");
        if (value && typeof value === "object" && !Array.isArray(value)) found[key] = value;
      } catch {
        found[key] = {};
      }
    }
    found.target = params.get("target");
    return found;
  }

  write(params) {
    for (const key of ["given", "do"]) {
      if (Object.keys(this[key]).length) params.set(key, JSON.stringify(this[key]));
      else params.delete(key);
    }
    if (this.target) params.set("target", this.target);
    else params.delete("target");
  }

  // Names and states that the network does not have (a bookmark of an older file) are let go.
  keep(nodes) {
    for (const key of ["given", "do"]) {
      for (const [name, value] of Object.entries(this[key])) {
        const node = nodes.get(name);
        const states = statesOf(value, key === "do");
        const fits = node?.real ? isReading(value, key === "do") : states?.every((state) => node?.states.includes(state));
        if (!node || !fits) delete this[key][name];
      }
    }
    if (this.target && !nodes.has(this.target)) this.target = null;
  }

  get empty() {
    return !Object.keys(this.given).length && !Object.keys(this.do).length;
  }

  // A click on a state: evidence, or no longer.
  toggle(name, state) {
    if (name in this.do) {
      if (this.do[name] === state) delete this.do[name];
      else this.do[name] = state;
    } else if (this.given[name] === state) delete this.given[name];
    else this.given[name] = state;
  }

  set(name, kind, value) {
    this.remove(name);
    if (value === null) return;
    if (kind === "do") this.do[name] = value;
    else this.given[name] = value;
  }

  remove(name) {
    delete this.given[name];
    delete this.do[name];
  }

  clear() {
    this.given = {};
    this.do = {};
  }

  kindOf(name) {
    if (name in this.do) return "do";
    const value = this.given[name];
    if (value === undefined || typeof value === "string" || typeof value === "number") return "is";
    return Array.isArray(value) ? "set" : "soft";
  }

  // One chip for each piece: [variable, text].
  chips() {
    const said = Object.entries(this.given).map(([name, value]) => {
      if (typeof value === "string" || typeof value === "number") return [name, `${name} = ${value}`];
      if (value.mean !== undefined) return [name, `${name} ≈ ${value.mean} ± ${value.sd}`];
      if (Array.isArray(value)) return [name, `${name} ∈ {${value.join(", ")}}`];
      const weights = Object.entries(value.likelihood || value.marginal);
      return [name, `${name} ~ ${weights.map(([state, weight]) => `${state} ${weight}`).join(", ")}`];
    });
    return [...said, ...Object.entries(this.do).map(([name, value]) => [name, `do(${name} = ${value})`])];
  }
}

// A number of a real variable, or one that was read with an error.
function isReading(value, action) {
  if (Number.isFinite(value)) return true;
  return !action && Boolean(value) && Number.isFinite(value.mean) && Number.isFinite(value.sd) && value.sd > 0;
}

// The states that a piece of evidence names; null where it is nothing that the API takes.
function statesOf(value, action) {
  if (typeof value === "string") return [value];
  if (!value || typeof value !== "object") return null;
  if (Array.isArray(value)) return action || !value.length ? null : value;
  const weights = action ? value : value.likelihood || value.marginal;
  const good = weights && typeof weights === "object" && Object.values(weights).every((each) => typeof each === "number" && each >= 0);
  return good ? Object.keys(weights) : null;
}
