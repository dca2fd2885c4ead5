// Suggested fixes as a difference to their row; the chosen ones wait for the export.
const chosen = new Map();
const numberOf = new Map(data.records.map((record, number) => [record, number]));
const keyOf = (record, at) => numberOf.get(record) + ":" + at;

function difference(changes) {
  return changes.flatMap(({ column, before, after }, place) => [
    place ? ", " : "",
    column + " ",
    el("del", {}, before ?? "missing"),
    " → ",
    el("ins", {}, after),
  ]);
}

function changes(record) {
  const found = record.counterfactuals;
  if (!found.length) {
    return el("div", { class: "changes" }, el("h3", {}, "Suggested fixes"), el("p", { class: "muted" }, "No fix was found."));
  }
  const shown = found.length;
  const title = shown < record.count ? `Suggested fixes: the best ${count(shown)} of ${count(record.count)}` : many(shown, "suggested fix", "suggested fixes");
  const kept = data.columns.length - found[0].changes.length;
  const heads = ["", "#", "fix", "score", "percentile", "normal", "support"].concat(data.costs ? ["cost"] : []);
  return el(
    "div",
    { class: "changes" },
    el("h3", {}, title),
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...heads.map((name, at) => el("th", { scope: "col", class: at === 5 ? "valid" : at > 2 ? "number" : null }, name)))),
      el("tbody", {}, ...found.map((change, at) => changeRow(record, change, at))),
    ),
    kept ? el("p", { class: "muted" }, "All other values stay as they are.") : null,
  );
}

function changeRow(record, change, at) {
  const key = keyOf(record, at);
  const box = el("input", { type: "checkbox", "data-key": key, "aria-label": `Select fix ${change.rank} of row ${record.record}` });
  box.checked = chosen.has(key);
  box.addEventListener("change", () => {
    if (box.checked) chosen.set(key, { record, at });
    else chosen.delete(key);
    showChosen();
  });
  const lines = change.changes.map((one) => el("span", { class: "change" }, ...difference([one])));
  const beside = record.values.filter(({ value }) => value !== null).length - 1;
  const support = change.changes.map(({ known, support: times }) =>
    el("span", { class: "change" }, `${known} of ${beside}`, times ? el("small", {}, `, min ${count(times)}×`) : null),
  );
  return el(
    "tr",
    {},
    el("td", {}, box),
    el("td", {}, String(change.rank)),
    el("td", {}, ...lines),
    el("td", { class: "number", "data-label": "score" }, score(record.score) + " → " + score(change.score)),
    el("td", { class: "number", "data-label": "percentile" }, percentile(record.percentile) + " → " + percentile(change.percentile)),
    el("td", { class: "valid", "data-label": "normal" }, change.valid ? "✓ yes" : "✗ no"),
    el("td", { class: "number", "data-label": "support" }, ...support),
    data.costs ? el("td", { class: "number", "data-label": "cost" }, change.cost === null ? "none" : String(change.cost)) : null,
  );
}

function showChosen() {
  byId("chosen").hidden = chosen.size === 0;
  byId("chosen-count").textContent = many(chosen.size, "fix", "fixes") + " selected";
}

function clearChosen() {
  chosen.clear();
  for (const box of document.querySelectorAll("[data-key]:checked")) box.checked = false;
  showChosen();
}

function chooseBest(records) {
  for (const record of records.filter(({ counterfactuals }) => counterfactuals.length)) {
    const key = keyOf(record, 0);
    chosen.set(key, { record, at: 0 });
    // The record may not have been drawn yet; it looks at what is chosen when it is.
    const box = document.querySelector(`[data-key="${key}"]`);
    if (box) box.checked = true;
  }
  showChosen();
}
