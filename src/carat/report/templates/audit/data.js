// What Python wrote, column by column and every text once; from here on a cell is an object.
const data = JSON.parse(document.getElementById("data").textContent);
const textAt = (place) => (place < 0 ? null : data.texts[place]);
const rowPlaces = new Map(data.rows.row.map((row, place) => [row, place]));

const cells = data.cells.row.map((row, at) => {
  const of = data.cells;
  return {
    at,
    row,
    record: of.record ? textAt(of.record[at]) : String(row),
    column: of.column[at],
    name: data.columns[of.column[at]],
    value: textAt(of.value[at]),
    kind: data.kinds[of.kind[at]],
    error: of.error[at] / 1e6,
    proposal: textAt(of.proposal[at]),
    confidence: of.confidence[at] / 1e6,
    alternatives: of.alternatives[at].map(textAt),
    reason: textAt(of.reason[at]) ?? "",
    group: of.group[at] < 0 ? null : of.group[at],
    pattern: textAt(of.pattern[at]),
  };
});

function gather(some, keyOf) {
  const found = new Map();
  for (const cell of some) {
    const key = keyOf(cell);
    if (key === null) continue;
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(cell);
  }
  return found;
}

const inRow = gather(cells, (cell) => cell.row);
const inGroup = gather(cells, (cell) => cell.group);
const together = (cell) => (cell.group === null ? [cell] : inGroup.get(cell.group));

// A whole row: what it is called and its values; null where the page does not hold it.
function wholeRow(place) {
  if (place === undefined) return null;
  const { row, record, values } = data.rows;
  return { row: row[place], record: record ? textAt(record[place]) : String(row[place]), values: values.map((column) => textAt(column[place])) };
}
