// The decisions as CSV, one line per changed value with the old one beside the new, and as JSON.
// A spreadsheet runs a cell that begins like a formula, also a quoted one, and some of them its full-width twin. Such a
// text gets a ' before it: it is then shown as text, at the price of one sign too many for a program that reads the file.
// Numbers are spared that price: -5 or +1e3 as a text is what a spreadsheet would show anyway, and runs nothing.
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function safe(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "string" && FORMULA.test(value) && !NUMBER.test(value) ? "'" + value : String(value);
}

// By row, in the order of the page.
function decided() {
  return [...chosen]
    .sort(([a], [b]) => a - b)
    .map(([number, decision]) => {
      const record = data.records[number];
      const fix = decision === REJECT ? null : record.counterfactuals[decision];
      return {
        record: record.record,
        decision: fix ? "accept" : "reject",
        rank: fix ? fix.rank : null,
        score_before: record.score,
        score: fix ? fix.score : null,
        percentile_before: record.percentile,
        percentile: fix ? fix.percentile : null,
        valid: fix ? fix.valid : null,
        ...(data.costs ? { cost: fix ? fix.cost : null } : {}),
        changes: fix ? fix.changes.map(({ column, before, after }) => ({ column, before, after })) : [],
        values: Object.fromEntries(record.values.map(({ column, value }) => [column, value])),
      };
    });
}

function csv() {
  const facts = ["rank", "score_before", "score", "percentile_before", "percentile", "valid"].concat(data.costs ? ["cost"] : []);
  const head = ["record", "decision", "column", "before", "after", ...facts];
  const rows = decided().flatMap((one) =>
    (one.changes.length ? one.changes : [{}]).map(({ column, before, after }) => [one.record, one.decision, column, before, after, ...facts.map((name) => one[name])]),
  );
  return csvText([head, ...rows.map((row) => row.map(safe))]);
}

function exportCsv() {
  download("decisions.csv", csv(), "text/csv");
}

function exportJson() {
  download("decisions.json", JSON.stringify(decided(), null, 1) + "\n", "application/json");
}
