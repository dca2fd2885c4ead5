// Suggested fixes as a difference to their row, and what was decided: by row, the fix that was accepted, or REJECT where
// the row is right as it is. The browser keeps it for this page.
const REJECT = -1;
const KEY = "carat-rows-" + data.key;
const chosen = new Map();
let isKept = true;
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
    return el("div", { class: "changes" }, el("h3", {}, "Suggested fixes"), el("p", { class: "muted" }, "No fix was found."), verdicts(record));
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
    verdicts(record),
  );
}

// What can be decided besides a fix.
function verdicts(record) {
  const number = numberOf.get(record);
  const button = (decision, label) => {
    const made = el("button", { type: "button", class: "quiet", "data-verdict": number + ":" + decision, "aria-label": `${label}: row ${record.record}` }, label);
    made.addEventListener("click", () => decide([[number, decision === "reject" ? REJECT : null]]));
    return made;
  };
  const made = el("p", { class: "verdicts" }, button("reject", "Reject, the row is right"), button("undecided", "Undecided"));
  return made;
}

function changeRow(record, change, at) {
  const number = numberOf.get(record);
  const box = el("input", { type: "radio", name: "fix-" + number, "data-key": keyOf(record, at), "aria-label": `Accept fix ${change.rank} of row ${record.record}` });
  box.checked = chosen.get(number) === at;
  box.addEventListener("change", () => decide([[number, at]]));
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

function decide(wanted) {
  for (const [number, decision] of wanted) {
    if (decision === null) chosen.delete(number);
    else chosen.set(number, decision);
  }
  isKept = remember(KEY, chosen.size ? Object.fromEntries(chosen) : null);
  showChosen();
}

function recallChosen() {
  chosen.clear();
  for (const [number, decision] of Object.entries(recall(KEY) ?? {})) {
    const record = data.records[number];
    if (record && (decision === REJECT || record.counterfactuals[decision])) chosen.set(Number(number), decision);
  }
}

// The bar at the bottom, the marks in the list, and the fields of rows that are drawn.
function showChosen() {
  const rejected = [...chosen.values()].filter((decision) => decision === REJECT).length;
  const parts = [chosen.size - rejected ? many(chosen.size - rejected, "fix", "fixes") + " accepted" : "", rejected ? many(rejected, "row") + " rejected" : ""].filter((part) => part);
  byId("chosen").hidden = chosen.size === 0;
  byId("chosen-count").textContent = `${parts.join(", ")} · ${count(chosen.size)} of ${count(data.records.length)} decided` + (isKept ? "" : " · not kept by this browser, export before you close");
  for (const box of document.querySelectorAll("[data-key]")) {
    const [number, at] = box.dataset.key.split(":").map(Number);
    box.checked = chosen.get(number) === at;
  }
  for (const button of document.querySelectorAll("[data-verdict]")) {
    const [number, decision] = button.dataset.verdict.split(":");
    const mine = chosen.get(Number(number));
    button.setAttribute("aria-pressed", String(decision === "reject" ? mine === REJECT : mine === undefined));
  }
  for (const mark of document.querySelectorAll("[data-mark]")) mark.textContent = markOf(Number(mark.dataset.mark));
}

function markOf(number) {
  const decision = chosen.get(number);
  return decision === undefined ? "" : decision === REJECT ? "✗ rejected" : `✓ fix ${data.records[number].counterfactuals[decision].rank} accepted`;
}

function clearChosen() {
  decide([...chosen.keys()].map((number) => [number, null]));
}

// A decision that was made before stays; a row that is normal, or that no fix makes so, is left to a person.
function chooseBest(records) {
  const open = records.filter((record) => record.anomalous && !chosen.has(numberOf.get(record)));
  const fixes = open.map((record) => [numberOf.get(record), record.counterfactuals.findIndex((fix) => fix.valid)]);
  decide(fixes.filter(([, at]) => at >= 0));
}

recallChosen();
