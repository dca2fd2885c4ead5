// The list of records: sorted, filtered, opened.
const list = byId("list");
const bestOf = (record) => record.counterfactuals[0]?.percentile ?? -Infinity;
const alarmOf = (record) => record.alarm ?? -1;
const ORDERS = {
  alarm: { words: ["highest first", "lowest first"], sign: -1, of: (a, b) => alarmOf(a) - alarmOf(b) || (b.score ?? -Infinity) - (a.score ?? -Infinity) || 0 },
  score: { words: ["lowest first", "highest first"], sign: 1, of: (a, b) => (a.score ?? -Infinity) - (b.score ?? -Infinity) || 0 },
  name: { words: ["first to last", "last to first"], sign: 1, of: byName },
  flagged: { words: ["most first", "fewest first"], sign: -1, of: (a, b) => a.blamed.length - b.blamed.length },
  best: { words: ["highest first", "lowest first"], sign: -1, of: (a, b) => bestOf(a) - bestOf(b) || 0 },
  found: { words: ["most first", "fewest first"], sign: -1, of: (a, b) => a.count - b.count },
};
const MANY = 50;
// A column that nearly every training row fills; with an alarm, a blank in it is news. Above the items, which need it.
const FILLED = 0.95;
const hasAlarms = data.alarm !== null;
const state = { sort: hasAlarms ? "alarm" : "score", turned: false, order: "", shown: [] };

const items = data.records.map(item);
const longest = Math.max(0, ...data.records.map(({ record: name }) => String(name).length));
byId("browse").style.setProperty("--name", `clamp(7.5rem, ${longest + 4}ch, 13rem)`);

function byName(a, b) {
  if (typeof a.record === "number" && typeof b.record === "number") return a.record - b.record;
  return String(a.record).localeCompare(String(b.record), "en", { numeric: true });
}

function item(record) {
  const id = "detail-" + numberOf.get(record);
  const best = record.counterfactuals[0];
  const repair = best ? [...difference(best.changes), " ", el("small", {}, "percentile " + percentile(best.percentile) + (best.valid ? "" : record.anomalous ? ", still anomalous" : ", makes it anomalous"))] : [el("small", {}, /carat audit does/.test(record.reason ?? "") ? "blank: see carat audit" : "no fix found")];
  const button = el("button", { type: "button", class: "toggle", "aria-expanded": "false", "aria-controls": id }, String(record.record));
  const row = el(
    "div",
    { class: "row", role: "row" },
    el("span", { class: "name", role: "cell" }, button, record.anomalous ? null : el("small", {}, record.blamed.length ? " not anomalous" : " normal"), el("small", { class: "mark", "data-mark": numberOf.get(record) })),
    hasAlarms ? el("span", { class: "alarm", role: "cell" }, el("span", { class: "label" }, "alarm "), alarmText(record.alarm)) : null,
    el("span", { class: "score", role: "cell" }, el("span", { class: "label" }, "score "), score(record.score)),
    el("span", { class: "out", role: "cell" }, ...blamed(record)),
    el("span", { class: "best", role: "cell" }, ...repair),
    el("span", { class: "found", role: "cell" }, count(record.count), el("span", { class: "label" }, record.count === 1 ? " fix" : " fixes")),
  );
  const fold = el("div", { class: "fold", role: "row", id, hidden: "until-found" });
  const small = record.values.map(({ value }) => (value ?? "").toLocaleLowerCase());
  const made = { record, small, button, fold, line: el("div", { class: "item" }, row, fold) };
  row.addEventListener("click", (event) => {
    // Whoever marks a text with the mouse wants to copy it. Keys and scripts click without a mouse.
    if (event.detail && getSelection().toString() && getSelection().containsNode(row, true)) return;
    const wanted = !isOpen(made);
    open(made, wanted);
    point(made, wanted);
    showAllButton();
  });
  fold.addEventListener("beforematch", () => {
    open(made, true);
    showAllButton();
  });
  return made;
}

function blamed(record) {
  const flagged = record.values.filter((value) => value.flagged);
  if (flagged.length) {
    return flagged.map(({ column, value }) => el("span", { class: "flagged-short" }, "⚑ " + column + " " + value));
  }
  const blank = record.alarm === null ? [] : record.values.filter(({ filled }) => filled !== null && filled >= FILLED);
  if (blank.length) return [el("small", {}, "missing: " + blank.map(({ column }) => column).join(", "))];
  const rarest = record.pairs.slice(0, 1).map(({ columns }) => columns.map((column) => column + " " + valueIn(record, column).value).join(" with "));
  return [el("small", {}, ["none flagged", ...rarest.map((pair) => "rarest pair: " + pair)].join("; "))];
}

const isOpen = ({ button }) => button.getAttribute("aria-expanded") === "true";

// A record's details are made when they are first needed.
function draw({ record, fold }) {
  if (fold.firstChild) return;
  fold.append(detail(record));
  const pressed = chosen.get(numberOf.get(record));
  for (const button of fold.querySelectorAll("[data-verdict]")) {
    button.setAttribute("aria-pressed", String(button.dataset.verdict.endsWith("reject") ? pressed === REJECT : pressed === undefined));
  }
}

function open(made, wanted) {
  draw(made);
  if (wanted) made.fold.removeAttribute("hidden");
  else made.fold.setAttribute("hidden", "until-found");
  made.line.classList.toggle("open", wanted);
  made.button.setAttribute("aria-expanded", String(wanted));
}

// A score as it reads on the page, minus sign and all; null where nothing is asked, NaN where it is no number.
function bound(id) {
  const typed = byId(id).value.trim().replace("−", "-");
  const value = typed === "" ? null : Number(typed);
  if (Number.isNaN(value)) byId(id).setAttribute("aria-invalid", "true");
  else byId(id).removeAttribute("aria-invalid");
  return Number.isNaN(value) ? null : value;
}

// What is asked for, as a test of one item of the list.
function asked() {
  const column = data.columns[byId("domain").selectedIndex - 1];
  const typed = byId("entity").value.trim();
  const exact = typed.length > 2 && typed.startsWith('"') && typed.endsWith('"') ? typed.slice(1, -1) : null;
  const part = exact === null ? typed.toLocaleLowerCase() : "";
  const from = bound("lowest"), to = bound("highest");
  return ({ record, small }) => {
    const has = ({ value }, at) => (exact === null ? small[at].includes(part) : value === exact);
    if (column !== undefined && !record.blamed.includes(column)) return false;
    if (typed && !record.values.some((value, at) => (column === undefined || value.column === column) && has(value, at))) return false;
    // A bound that was read off the page is rounded, and so is the score it was read from.
    const near = [record.score, Number(score(record.score).replace("−", "-"))];
    if (from !== null && !near.some((value) => value !== null && value >= from)) return false;
    return to === null || near.some((value) => value !== null && value <= to);
  };
}

function update() {
  const { of, sign, words: titles } = ORDERS[state.sort];
  const turn = sign * (state.turned ? -1 : 1);
  const order = state.sort + turn;
  // Moving a thousand open records takes a while; a filter only hides them.
  if (order !== state.order) {
    state.order = order;
    items.sort((a, b) => turn * of(a.record, b.record) || numberOf.get(a.record) - numberOf.get(b.record));
    const held = document.activeElement;
    list.replaceChildren(...items.map(({ line }) => line));
    if (list.contains(held)) held.focus();
  }
  const matches = asked();
  for (const made of items) made.line.hidden = !matches(made);
  state.shown = items.filter(({ line }) => !line.hidden);
  byId("direction").textContent = titles[state.turned ? 1 : 0];
  for (const button of document.querySelectorAll(".sort")) {
    const mine = button.dataset.sort === state.sort;
    button.parentNode.setAttribute("aria-sort", mine ? (turn > 0 ? "ascending" : "descending") : "none");
    button.title = mine ? titles[state.turned ? 1 : 0] : "Sort by this";
  }
  const all = items.length, some = state.shown.length;
  byId("status").textContent = some === all ? many(all, "row") : `${count(some)} of ${many(all, "row")}`;
  list.parentNode.hidden = some === 0;
  byId("none").hidden = some > 0 || all === 0;
  byId("best").hidden = !state.shown.some(({ record }) => record.counterfactuals.length);
  showAllButton();
}

function showAllButton() {
  byId("all").hidden = !state.shown.length;
  byId("all").textContent = state.shown.every(isOpen) ? "Close all" : "Open all";
}

function openAll() {
  const wanted = !state.shown.every(isOpen);
  list.classList.toggle("many", state.shown.length > MANY);
  for (const made of state.shown) open(made, wanted);
  showAllButton();
}

const heldItem = () => items.find(({ line }) => line.contains(document.activeElement));

function move(step) {
  const here = state.shown.indexOf(heldItem());
  const at = here >= 0 ? here + step : step > 0 ? 0 : state.shown.length - 1;
  const next = state.shown[Math.min(Math.max(at, 0), state.shown.length - 1)];
  if (next) next.button.focus();
}
