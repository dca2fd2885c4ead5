// The training rows most like this one, side by side with it: one column each, differences in bold.
function precedents(record) {
  if (!record.precedents.length) return null;
  const titles = [["column", null], ["this row", null], ...record.precedents.map((one) => [many(one.count, "row"), null])];
  const rows = record.values.map(({ column, value, flagged }, at) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, (flagged ? "⚑ " : "") + column),
      el("td", { class: flagged ? "doubted" : null }, shown(value)),
      ...record.precedents.map((one) => precedent(one, column, at)),
    ),
  );
  return el(
    "details",
    { class: "precedents", open: "" },
    el("summary", {}, el("h3", {}, "Training rows most like this one")),
    el("div", { class: "beside", tabindex: "0", role: "region", "aria-label": "Training rows most like this one" }, el("table", {}, heads(...titles), el("tbody", {}, ...rows))),
    el("p", { class: "muted" }, "The most similar first, flagged values aside. Values that differ from this row are bold."),
  );
}

function precedent(one, column, at) {
  const differs = one.differs.includes(column);
  return el("td", { class: differs ? "differs" : "equal" }, differs ? el("b", {}, shown(one.values[at])) : shown(one.values[at]));
}

function shown(value) {
  return value === null ? el("i", {}, "missing") : brief(value);
}
