"use strict";
for (const box of document.querySelectorAll(".slider")) {
  const numbers = (name) => box.dataset[name].split(" ").map(Number);
  const chosen = numbers("chosen"), right = numbers("right");
  const rows = Number(box.dataset.rows), positive = Number(box.dataset.positive);
  const range = box.querySelector("input[type=range]"), output = box.querySelector("output");
  const cost = (name) => Math.max(0, Number(box.querySelector(`[data-cost=${name}]`).value) || 0);
  const show = (name, text) => { box.querySelector(`[data-shown=${name}]`).textContent = text; };
  const share = (value) => Number.isFinite(value) ? `${(100 * value).toFixed(1)} %` : "–";
  const price = (k) => ((chosen[k] - right[k]) * cost("wrong") + (positive - right[k]) * cost("missed")) / rows;
  const update = () => {
    const k = Number(range.value);
    output.textContent = (k / 100).toFixed(2);
    show("chosen", chosen[k].toLocaleString("en"));
    show("precision", share(right[k] / chosen[k]));
    show("recall", share(right[k] / positive));
    const lift = (right[k] / positive) / (chosen[k] / rows);
    show("lift", Number.isFinite(lift) ? lift.toFixed(2) : "–");
    show("cost", price(k).toPrecision(4));
    let best = 0;
    for (let i = 1; i < chosen.length; i += 1) if (price(i) < price(best)) best = i;
    show("best", (best / 100).toFixed(2));
  };
  box.addEventListener("input", update);
  box.hidden = false;
  update();
}
