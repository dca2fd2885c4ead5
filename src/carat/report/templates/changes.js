// Counterfactuals as a difference to their record; the chosen ones wait for the export.
const chosen = new Map();
const keyOf = (record, at) => record.number + ":" + at;

function difference(record, changed) {
  return changed.flatMap(([domain, entity], place) => [
    place ? ", " : "",
    data.domains[domain] + " ",
    el("del", {}, text(record.entities[domain]) ?? "missing"),
    " → ",
    el("ins", {}, text(entity)),
  ]);
}

function changes(record) {
  if (!record.changes.length) {
    return el("div", { class: "changes" }, el("h3", {}, "Counterfactuals"), el("p", { class: "muted" }, "None was found."));
  }
  const shown = record.changes.length;
  const title = shown < record.count ? `Counterfactuals: the best ${count(shown)} of ${count(record.count)}` : many(shown, "counterfactual");
  const kept = data.domains.length - record.changes[0][4].length;
  const heads = ["", "#", "change", "score", "percentile", "normal", "support"].concat(data.costs ? ["cost"] : []);
  return el(
    "div",
    { class: "changes" },
    el("h3", {}, title),
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...heads.map((name, at) => el("th", { scope: "col", class: at === 5 ? "valid" : at > 2 ? "number" : null }, name)))),
      el("tbody", {}, ...record.changes.map((change, at) => changeRow(record, change, at))),
    ),
    kept ? el("p", { class: "muted" }, "What is not named stays as it is.") : null,
  );
}

function changeRow(record, change, at) {
  const [value, share, valid, cost, changed] = change;
  const key = keyOf(record, at);
  const box = el("input", { type: "checkbox", "data-key": key, "aria-label": `Choose counterfactual ${at + 1} of record ${record.name}` });
  box.checked = chosen.has(key);
  box.addEventListener("change", () => {
    if (box.checked) chosen.set(key, { record, at });
    else chosen.delete(key);
    showChosen();
  });
  const lines = changed.map((one) => el("span", { class: "change" }, ...difference(record, [one])));
  const beside = record.entities.filter((entity) => entity !== null).length - 1;
  const support = changed.map(([, , times, known]) =>
    el("span", { class: "change" }, `${known} of ${beside}`, el("small", {}, `, least ${count(times)}×`)),
  );
  return el(
    "tr",
    {},
    el("td", {}, box),
    el("td", {}, String(at + 1)),
    el("td", {}, ...lines),
    el("td", { class: "number", "data-label": "score" }, score(record.score) + " → " + score(value)),
    el("td", { class: "number", "data-label": "percentile" }, percentile(record.percentile) + " → " + percentile(share)),
    el("td", { class: "valid", "data-label": "normal" }, valid ? "✓ yes" : "✗ no"),
    el("td", { class: "number", "data-label": "support" }, ...support),
    data.costs ? el("td", { class: "number", "data-label": "cost" }, cost === null ? "none" : String(cost)) : null,
  );
}

function showChosen() {
  byId("chosen").hidden = chosen.size === 0;
  byId("chosen-count").textContent = many(chosen.size, "counterfactual") + " chosen";
}

function clearChosen() {
  chosen.clear();
  for (const box of document.querySelectorAll("[data-key]:checked")) box.checked = false;
  showChosen();
}

function chooseBest(records) {
  for (const record of records.filter(({ changes: found }) => found.length)) {
    const key = keyOf(record, 0);
    chosen.set(key, { record, at: 0 });
    // The record may not have been drawn yet; it looks at what is chosen when it is.
    const box = document.querySelector(`[data-key="${key}"]`);
    if (box) box.checked = true;
  }
  showChosen();
}
