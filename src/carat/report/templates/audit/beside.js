// The row around a cell, side by side with the rows most like it: one column each. What the cell is about comes first.
function beside(cell) {
  const mine = wholeRow(rowPlaces.get(cell.row));
  if (!mine) return el("p", { class: "muted" }, `Row ${cell.record} is not in this page: only the rows around the most suspicious cells are.`);
  const others = (data.similar[cell.at] ?? []).map(wholeRow);
  const doubts = new Map(inRow.get(cell.row).map((one) => [one.column, one]));
  const titles = ["column", "this row", ...others.map(({ record }) => "row " + record)];
  const places = [cell.column, ...data.columns.keys()].filter((column, at) => at === 0 || column !== cell.column);
  const rows = places.map((column) =>
    el(
      "tr",
      { class: column === cell.column ? "here" : null },
      el("th", { scope: "row" }, el("bdi", {}, data.columns[column])),
      ownValue(mine.values[column], doubts.get(column), column === cell.column),
      ...others.map((other) => otherValue(other, column, mine.values[column], column === cell.column)),
    ),
  );
  const label = others.length ? "The row and similar rows" : "The row";
  return el(
    "section",
    { class: "beside" },
    el("h4", {}, label),
    others.length ? el("p", {}, ...saying(cell, others)) : el("p", { class: "muted" }, data.similar[cell.at] ? "No other row shares a telling value with this one." : "Similar rows are shown for the most suspicious cells only."),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, el("table", {}, el("thead", {}, el("tr", {}, ...titles.map((title) => el("th", { scope: "col" }, el("bdi", {}, title))))), el("tbody", {}, ...rows))),
  );
}

function ownValue(value, doubt, here) {
  const mark = doubt ? el("span", { class: "flag", title: "suspicious" }, "⚑ ") : null;
  const fix = doubt && !here && doubt.proposal !== null ? el("small", {}, " → ", seen(doubt.proposal)) : null;
  return el("td", { class: doubt ? "doubted" : null }, mark, seen(value), fix);
}

function otherValue(other, column, mine, here) {
  const value = other.values[column];
  const doubted = (inRow.get(other.row) ?? []).some((one) => one.column === column);
  return el("td", { class: here ? null : value === mine ? "equal" : "differs" }, doubted ? el("span", { class: "flag", title: "suspicious" }, "⚑ ") : null, seen(value));
}

// What the similar rows have in the column of the cell, the most frequent first.
function saying(cell, others) {
  const counts = new Map();
  for (const { values } of others) counts.set(values[cell.column], (counts.get(values[cell.column]) ?? 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  return [
    others.length === 1 ? "The most similar row has in " : `The ${others.length} most similar rows have in `,
    el("bdi", {}, cell.name),
    ": ",
    ...sorted.flatMap(([value, times], place) => [place ? ", " : "", el("b", {}, seen(value)), others.length > 1 ? ` ${count(times)}×` : ""]),
    ". What they share with this row is marked.",
  ];
}
