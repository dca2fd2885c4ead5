// The chosen fixes as CSV, in the columns of `carat recourse`.
// A spreadsheet runs a cell that begins like a formula, also a quoted one, and some of them its full-width twin. Such a
// text gets a ' before it: it is then shown as text, at the price of one sign too many for a program that reads the file.
// Numbers are spared that price: -5 or +1e3 as a text is what a spreadsheet would show anyway, and runs nothing.
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function csvCell(value) {
  if (value === null || value === undefined) return "";
  const risky = typeof value === "string" && FORMULA.test(value) && !NUMBER.test(value);
  const safe = risky ? "'" + value : String(value);
  return /[",;\r\n\t]|^\s|\s$/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
}

function csvRow({ record, at }) {
  const { rank, score: value, percentile: share, valid, cost, changes: changed } = record.counterfactuals[at];
  const after = new Map(changed.map((change) => [change.column, change.after]));
  const values = record.values.map(({ column, value: own }) => (after.has(column) ? after.get(column) : own));
  const names = JSON.stringify([...after.keys()]);
  const row = [record.record, rank, value, share, valid, names, ...values];
  return data.costs ? [...row, cost] : row;
}

function csv() {
  const head = ["record", "rank", "score", "percentile", "valid", "changed", ...data.columns];
  if (data.costs) head.push("cost");
  const rows = [...chosen.values()].sort((a, b) => numberOf.get(a.record) - numberOf.get(b.record) || a.at - b.at).map(csvRow);
  return [head, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

function exportCsv() {
  // The mark at the start tells spreadsheets that this is UTF-8.
  const blob = new Blob(["\ufeff" + csv()], { type: "text/csv;charset=utf-8" });
  const link = el("a", { href: URL.createObjectURL(blob), download: "fixes.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
