// The list of records: sorted, filtered, opened.
const list = byId("list");
const ORDERS = {
  score: { words: ["lowest first", "highest first"], sign: 1, of: (a, b) => (a.score ?? -Infinity) - (b.score ?? -Infinity) || 0 },
  name: { words: ["first to last", "last to first"], sign: 1, of: byName },
  flagged: { words: ["most first", "fewest first"], sign: -1, of: (a, b) => a.flagged.length - b.flagged.length },
};
const state = { sort: "score", turned: false };

data.records.forEach((record, number) => {
  record.number = number;
  record.flagged = flaggedOf(record);
  record.folded = record.entities.map((entity) => (text(entity) ?? "").toLocaleLowerCase());
});
const items = data.records.map(item);

function byName(a, b) {
  if (typeof a.name === "number" && typeof b.name === "number") return a.name - b.name;
  return String(a.name).localeCompare(String(b.name), "en", { numeric: true });
}

function item(record) {
  const id = "record-" + record.number;
  const out = record.flagged.map((domain) => el("span", { class: "flagged-short" }, "⚑ " + data.domains[domain] + " " + text(record.entities[domain])));
  const best = record.changes[0];
  const repair = best ? [...difference(record, best[4]), " ", el("small", {}, "percentile " + percentile(best[1]))] : [el("small", {}, "none found")];
  const button = el(
    "button",
    { type: "button", class: "row", "aria-expanded": "false", "aria-controls": id },
    el("span", { class: "name" }, String(record.name), record.anomalous ? null : el("small", {}, " normal")),
    el("span", { class: "score" }, el("span", { class: "label" }, "score "), score(record.score)),
    el("span", { class: "out" }, ...(out.length ? out : [el("small", {}, "no single entity")])),
    el("span", { class: "best" }, ...repair),
    el("span", { class: "found" }, count(record.count), el("span", { class: "label" }, " found")),
  );
  const line = el("li", {}, button);
  button.addEventListener("click", () => open(line, record, button.getAttribute("aria-expanded") !== "true"));
  return { record, line, button };
}

// A record's details are made when it is first opened.
function open(line, record, wanted) {
  const id = "record-" + record.number;
  if (wanted && !byId(id)) line.append(detail(record, id));
  if (byId(id)) byId(id).hidden = !wanted;
  line.firstChild.setAttribute("aria-expanded", String(wanted));
}

function matches(record) {
  const domain = byId("domain").selectedIndex - 1;
  const wanted = byId("entity").value.trim().toLocaleLowerCase();
  const from = byId("lowest").value, to = byId("highest").value;
  if (domain >= 0 && !record.flagged.includes(domain)) return false;
  if (wanted && !record.folded.some((entity, at) => (domain < 0 || at === domain) && entity.includes(wanted))) return false;
  if (from !== "" && !(record.score >= +from)) return false;
  return to === "" || record.score <= +to;
}

function update() {
  const { of, sign, words: titles } = ORDERS[state.sort];
  const turn = sign * (state.turned ? -1 : 1);
  const shown = items.filter(({ record }) => matches(record));
  shown.sort((a, b) => turn * of(a.record, b.record) || a.record.number - b.record.number);
  const held = document.activeElement;
  list.replaceChildren(...shown.map(({ line }) => line));
  if (list.contains(held)) held.focus();
  byId("direction").textContent = titles[state.turned ? 1 : 0];
  const all = data.records.length;
  byId("status").textContent = shown.length === all ? many(all, "record") : `${count(shown.length)} of ${many(all, "record")}`;
  showAllButton();
}

function showAllButton() {
  const closed = list.querySelector('.row[aria-expanded="false"]');
  byId("all").hidden = !list.firstChild;
  byId("all").textContent = closed ? "Open all" : "Close all";
}

function openAll() {
  const wanted = list.querySelector('.row[aria-expanded="false"]') !== null;
  for (const { record, line } of items) if (line.isConnected) open(line, record, wanted);
  showAllButton();
}

function move(step) {
  const rows = [...list.querySelectorAll(".row")];
  const here = document.activeElement.closest ? document.activeElement.closest("#list > li") : null;
  const at = here ? rows.indexOf(here.firstChild) + step : step > 0 ? 0 : rows.length - 1;
  const next = rows[Math.min(Math.max(at, 0), rows.length - 1)];
  if (next) next.focus();
}
