// One record: its entities, why it was flagged, and where its score lies.
const CUT = 0.5;
const STEPS = [0.1, 0.3, CUT, 0.8];
const valueIn = (record, column) => record.values.find((value) => value.column === column);

function strip(record) {
  const link = el("a", { href: addressOf(record) }, "Link to this row");
  return el("div", {}, el("div", { class: "over" }, el("h3", {}, "Values and their likelihood"), link), el("dl", { class: "strip" }, ...record.values.map(cell)));
}

function cell({ column, value, likelihood, flagged, seen: times }) {
  if (value === null) {
    return el("div", { class: "cell missing" }, el("dt", {}, column), el("dd", { class: "entity" }, "missing"));
  }
  // A likelihood just below the cut is rounded to it; its colour is that of a flagged one all the same.
  const step = STEPS.filter((edge) => likelihood >= edge && !(flagged && edge >= CUT)).length;
  const seen = times ? "seen " + count(times) + "×" : "never seen";
  const number = likelihood === null ? "no likelihood" : likelihood.toFixed(2);
  return el(
    "div",
    { class: "cell step-" + step + (flagged ? " flagged" : "") },
    el("dt", {}, (flagged ? "⚑ " : "") + column),
    el("dd", { class: "entity" }, value),
    el("dd", { class: "likelihood" }, number, el("span", { class: "seen" }, seen)),
  );
}

function words(record) {
  const notes = [];
  if (record.reason) notes.push("Note: " + record.reason + ".");
  if (!record.exhausted) notes.push("The search stopped at a limit. There may be better fixes.");
  return el(
    "div",
    { class: "words" },
    ...record.words.map((sentence) => el("p", {}, sentence)),
    ...notes.map((sentence) => el("p", { class: "note" }, sentence)),
  );
}

// More than two entities would push the counterfactuals far down: their counts open on request.
const UNFOLDED = 2;

function evidence(record) {
  if (record.pairs.length) return el("div", { class: "evidence" }, pairs(record));
  return el("div", { class: "evidence" }, ...record.blamed.map((column, at) => witnesses(valueIn(record, column), at < UNFOLDED)));
}

function named({ column, value }) {
  return [el("small", {}, column + " "), brief(value)];
}

function heads(...titles) {
  return el("thead", {}, el("tr", {}, ...titles.map(([title, kind]) => el("th", { scope: "col", class: kind }, title))));
}

function pairs(record) {
  const rows = record.pairs.map(({ columns, together, expected }) =>
    el(
      "tr",
      {},
      ...columns.map((column) => el("td", {}, ...named(valueIn(record, column)))),
      el("td", { class: "count", "data-label": "together" }, together ? count(together) + "×" : "never"),
      el("td", { class: "count", "data-label": "by chance" }, (expected >= 10 ? count(Math.round(expected)) : expected.toFixed(1)) + "×"),
    ),
  );
  const titles = heads(["value", null], ["with", null], ["together", "count"], ["by chance", "count"]);
  return el("div", { class: "pairs" }, el("h3", {}, "Rarest pairs"), el("table", {}, titles, el("tbody", {}, ...rows)));
}

function usually({ value, count: times }) {
  return el("span", { class: "usual" }, brief(value), el("small", {}, " " + count(times) + "×"));
}

function witnesses({ column, value, seen: times, new: isNew, against }, open) {
  const seen = times ? "seen " + count(times) + "× in training" : isNew ? "never seen in training" : "only in held-out rows";
  const rows = against.map((witness) =>
    el(
      "tr",
      {},
      el("td", { class: "beside" }, ...named(witness)),
      el("td", { class: "count" }, witness.together ? count(witness.together) + "×" : "never"),
      el("td", { class: "usually", "data-label": "usually" }, ...(witness.usual.length ? witness.usual.map(usually) : ["unknown"])),
    ),
  );
  const titles = heads(["other value", "beside"], ["together", "count"], ["usually goes with", null]);
  return el(
    "details",
    { class: "witnesses", open: open ? "" : null },
    el("summary", {}, el("h3", {}, `${column} ${value}, ${seen}`)),
    el("table", {}, titles, el("tbody", {}, ...rows)),
  );
}

// The histogram again, small, with this record (▲) and its counterfactuals (dots) under it.
function place(record) {
  const { counts, edges } = data.histogram;
  const width = 320, height = 70;
  const first = edges[0], last = edges[edges.length - 1];
  const x = (value) => (width * (Math.min(Math.max(value, first), last) - first)) / (last - first);
  const tallest = Math.sqrt(Math.max(1, ...counts));
  const bars = counts.map((number, bar) => {
    const tall = number ? Math.max((height * Math.sqrt(number)) / tallest, 1) : 0;
    const left = x(edges[bar]);
    const below = edges[bar + 1] <= data.threshold ? "bars below" : "bars";
    return shape("rect", { class: below, x: left, y: height - tall, width: Math.max(x(edges[bar + 1]) - left - 0.6, 0.4), height: tall });
  });
  const edge = x(data.threshold);
  const dots = record.counterfactuals.filter((found) => found.score !== null).map((found) => shape("circle", { class: "after", cx: x(found.score), cy: height + 8, r: 2.6 }));
  const here = x(record.score === null ? first : record.score);
  const above = `M${here - 5},${height + 13}L${here + 5},${height + 13}L${here},${height + 3}Z`;
  const alarm = record.alarm === null ? "" : `Alarm ${alarmText(record.alarm)}. `;
  const said = `${alarm}Score ${score(record.score)}, percentile ${percentile(record.percentile)}: ${record.verdict}. The threshold is ${score(data.threshold)}`;
  const beyond = record.score !== null && (record.score < first || record.score > last) ? ", beyond the bars" : "";
  return el(
    "div",
    { class: "place" },
    el("h3", {}, "Where the score lies"),
    shape(
      "svg",
      { viewBox: `0 0 ${width} ${height + 16}`, role: "img", "aria-label": said },
      ...bars,
      shape("line", { class: "threshold", x1: edge, x2: edge, y1: 0, y2: height }),
      ...dots,
      shape("path", { class: "here", d: above }),
    ),
    el("p", { class: "muted" }, said + ". ▲ this row" + beyond + (dots.length ? ", ● its fixes" : "")),
  );
}

function detail(record) {
  const known = record.blamed.length + record.pairs.length > 0;
  const why = el("div", { class: known ? "why" : "" }, known ? evidence(record) : null, place(record));
  return el("div", { class: "detail", role: "cell", "aria-colspan": hasAlarms ? "6" : "5" }, strip(record), words(record), why, precedents(record), changes(record));
}
