// What Python wrote: the JSON of every record as docs/schema.md has it. The page leaves out what is null, false or empty,
// and texts that stand in `values`; they are put back here, so that all that follows reads the documented fields.
const written = JSON.parse(document.getElementById("data").textContent);
const data = { ...written, records: written.records.map(whole) };

function whole(record) {
  const values = record.values.map((value) => ({ value: null, likelihood: null, flagged: false, new: false, filled: null, against: [], ...value }));
  const own = new Map(values.map(({ column, value }) => [column, value]));
  for (const value of values) {
    value.against = value.against.map((witness) => ({ value: own.get(witness.column), usual: [], ...witness }));
  }
  const counterfactuals = (record.counterfactuals ?? []).map((found) => ({ score: null, percentile: null, valid: false, cost: null, changes: [], ...found }));
  for (const found of counterfactuals) {
    found.changes = found.changes.map((change) => ({ before: own.get(change.column), ...change }));
  }
  const pairs = (record.pairs ?? []).map((pair) => ({ expected: null, ...pair }));
  const precedents = (record.precedents ?? []).map((one) => ({ differs: [], ...one }));
  const agreements = (record.agreements ?? []).map((one) => ({ same: null, ...one }));
  return { score: null, percentile: null, alarm: null, anomalous: false, words: [], blamed: [], exhausted: false, reason: null, ...record, values, pairs, counterfactuals, precedents, agreements };
}
