// Decisions as a file, in the columns of `carat audit --out`, for `carat apply`; and back from it.
const FIELDS = ["record", "column", "value", "kind", "error", "proposal", "confidence", "alternatives", "reason", "group", "decision"];
const filed = (text) => (text === null ? "" : text === "" ? "<blank>" : text);

function cellsCsv(some) {
  const rows = some.map((cell) => [
    cell.record,
    cell.name,
    cell.value ?? "",
    cell.kind,
    String(cell.error),
    filed(cell.proposal),
    String(cell.confidence),
    JSON.stringify(cell.alternatives.map(filed)),
    cell.reason,
    cell.group === null ? "" : String(cell.group),
    decisionOf(cell),
  ]);
  return csvText([FIELDS, ...rows]);
}

const wantsAll = () => document.querySelector("[name=which]:checked").value === "all";

function downloadCells() {
  const some = wantsAll() ? cells : cells.filter((cell) => decisionOf(cell));
  download(data.download, cellsCsv(some), "text/csv");
  tell(`${data.download}: ${many(some.length, "cell")} downloaded.`);
}

function showKept() {
  if (!byId("kept")) return;
  const some = decisions.size, left = cells.length - some;
  byId("kept").textContent = isKept
    ? `${count(some)} of ${count(cells.length)} decided. This browser remembers your decisions for this page; the file does not.`
    : `${count(some)} of ${count(cells.length)} decided. This browser does not let the page remember anything: download your decisions before you close it.`;
  byId("kept").classList.toggle("warning", !isKept);
  byId("download").disabled = !some && !wantsAll();
  byId("forget").hidden = !some;
  byId("meaning").textContent = wantsAll() && left
    ? `Undecided cells are fixed too if their fix is at least 90% likely right. Add --certain 0.95 to be stricter, or --decided-only to leave them alone.`
    : "Only what you decided is changed. Everything else in the table stays as it is.";
}

// A file of decisions that somebody made with this page or by hand. Of two cells with one name, the value tells.
async function loadCells(file) {
  const [head, ...rows] = readCsv(await file.text());
  const place = Object.fromEntries(FIELDS.map((name) => [name, (head ?? []).indexOf(name)]));
  if (["record", "column", "decision"].some((name) => place[name] < 0)) {
    tell(`${file.name}: not a list of cells; it needs the columns record, column and decision.`);
    return;
  }
  const byName = gather(cells, (cell) => JSON.stringify([cell.record, cell.name]));
  const wanted = [];
  let strange = 0;
  for (const row of rows) {
    const decision = understood(row[place.decision] ?? "");
    if (decision === "") continue;
    const twins = byName.get(JSON.stringify([row[place.record], row[place.column]])) ?? [];
    const value = place.value < 0 ? null : row[place.value];
    const cell = twins.find((one) => value === null || (one.value ?? "") === value);
    if (!cell || decision === null || (decision === "accept" && cell.proposal === null)) strange++;
    else wanted.push([cell, decision]);
  }
  const found = wanted.length ? `${many(wanted.length, "decision")} loaded from ${file.name}` : `${file.name}: no decisions for this page`;
  decide(wanted, found + (strange ? `; ${many(strange, "line")} fit${strange === 1 ? "s" : ""} no cell of this page` : "") + ".");
}

// A decision as `carat apply` reads it; null for what is none.
function understood(text) {
  const trimmed = text.trim();
  if (trimmed.startsWith("=")) return text.slice(text.indexOf("="));
  const small = trimmed.toLowerCase();
  return small === "" || small in DECIDED ? small : null;
}

function forgetAll() {
  const all = [...decisions.keys()].map((at) => [cells[at], ""]);
  decide(all, `${many(all.length, "decision")} forgotten; undo brings them back.`);
}
