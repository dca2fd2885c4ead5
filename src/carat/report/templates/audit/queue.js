// The list of cells: filtered, ordered, and only drawn where it is looked at, so that ten thousand are as quick as ten.
const list = byId("list"), sheet = byId("sheet");
const state = { shown: [], current: null, only: null };
const HEIGHT = 3.75; // rem, as in queue.css
const AROUND = 8;
const ORDERS = {
  error: (a, b) => a.at - b.at,
  confidence: (a, b) => b.confidence - a.confidence || a.at - b.at,
  row: (a, b) => a.row - b.row || a.column - b.column,
};
const low = cells.map((cell) => [cell.record, cell.value ?? "", cell.proposal ?? "", ...cell.alternatives].join("\n").toLocaleLowerCase());

const lineHeight = () => HEIGHT * parseFloat(getComputedStyle(document.documentElement).fontSize);

// What is asked for, as a test of a cell.
function asked() {
  const column = byId("column").value, kind = byId("kind").value, fate = byId("decision").value;
  const typed = byId("search").value.trim();
  const exact = typed.length > 2 && typed.startsWith('"') && typed.endsWith('"') ? typed.slice(1, -1) : null;
  const part = typed.toLocaleLowerCase();
  return (cell) => {
    if (state.only && !state.only.has(cell)) return false;
    if (column !== "" && cell.column !== Number(column)) return false;
    if (kind && cell.kind !== kind) return false;
    const mine = fateOf(cell);
    if (fate && (fate === "undecided" ? mine !== "" : fate === "decided" ? mine === "" : mine !== fate)) return false;
    if (exact !== null) return [cell.value, cell.proposal, cell.record].includes(exact);
    return !part || low[cell.at].includes(part);
  };
}

// A decision does not take its cell out of the list at once: whoever looks at it would lose it.
function update() {
  state.shown = cells.filter(asked()).sort(ORDERS[byId("order").value]);
  if (!state.shown.includes(state.current)) state.current = state.shown.find((cell) => !decisionOf(cell)) ?? state.shown[0] ?? null;
  const none = !state.shown.length;
  document.querySelector(".panes").hidden = none;
  byId("none").hidden = !none || !cells.length;
  byId("only").hidden = state.only === null;
  sheet.style.height = `calc(${state.shown.length} * ${HEIGHT}rem)`;
  list.scrollTop = 0;
  reveal();
  refresh();
}

function refresh() {
  drawList();
  drawCell();
  showProgress();
  drawPatterns();
}

// Nobody who accepts many fixes at once has looked at each: those that are more likely wrong than right are left to decide.
function isLikely(cell) {
  return cell.proposal !== null && cell.confidence >= 0.5;
}

function showProgress() {
  const all = cells.length, some = state.shown.length;
  byId("meter").value = decisions.size;
  byId("progress").textContent = `${count(decisions.size)} of ${count(all)} decided`;
  byId("undo").disabled = !past.length;
  byId("status").textContent = some === all ? many(all, "cell") : `${count(some)} of ${many(all, "cell")}`;
  const open = state.shown.filter((cell) => !decisionOf(cell)), likely = open.filter(isLikely);
  byId("bulk").hidden = some === all || !open.length;
  byId("accept-shown").hidden = !likely.length;
  byId("accept-shown").textContent = likely.length === open.length ? `Accept all ${count(likely.length)} undecided` : `Accept the ${count(likely.length)} likely fixes`;
  byId("reject-shown").textContent = `Reject all ${count(open.length)} undecided`;
  showKept();
}

// Lines that are in sight, some around them, and the one that has the focus, wherever it is.
function drawList() {
  const tall = lineHeight();
  const first = Math.max(Math.floor(list.scrollTop / tall) - AROUND, 0);
  const last = Math.min(Math.ceil((list.scrollTop + list.clientHeight) / tall) + AROUND, state.shown.length);
  const held = list.contains(document.activeElement) ? Number(document.activeElement.dataset.place) : -1;
  const places = Array.from({ length: Math.max(last - first, 0) }, (_, step) => first + step);
  const mine = state.shown.indexOf(state.current);
  for (const extra of [mine, held]) {
    if (extra >= 0 && extra < state.shown.length && !places.includes(extra)) places.push(extra);
  }
  places.sort((a, b) => a - b);
  sheet.replaceChildren(...places.map((place) => line(state.shown[place], place)));
  if (held >= 0) focusLine(Math.min(held, state.shown.length - 1));
}

function line(cell, place) {
  const mine = cell === state.current, fate = fateOf(cell);
  const button = el(
    "button",
    { type: "button", class: "line" + (fate ? " decided" : ""), "data-place": place, "aria-current": mine ? "true" : null, tabindex: mine ? "0" : "-1" },
    el("span", { class: "what" }, ...change(cell.value, cell.proposal)),
    el("span", { class: "where" }, el("i", { class: "dot kind-" + cell.kind }), `${cell.kind} · row `, el("bdi", {}, cell.record), " · ", el("bdi", {}, cell.name)),
    el("span", { class: "fate fate-" + (fate === "=" ? "own" : fate || "none") }, fate ? MARKS[fate] : share(cell.error)),
  );
  if (fate) button.lastChild.setAttribute("aria-label", fate === "=" ? "another value" : DECIDED[fate]);
  else button.lastChild.setAttribute("aria-label", share(cell.error) + " likely wrong");
  button.addEventListener("click", () => go(place));
  return el("div", { role: "listitem", class: "entry", "aria-posinset": place + 1, "aria-setsize": state.shown.length, style: `top: calc(${place} * ${HEIGHT}rem)` }, button);
}

const MARKS = { accept: "✓", reject: "✗", wrong: "?", "=": "=" };

function focusLine(place) {
  sheet.querySelector(`[data-place="${place}"]`)?.focus({ preventScroll: true });
}

// The current line into sight, within the list alone.
function reveal() {
  const tall = lineHeight(), top = state.shown.indexOf(state.current) * tall;
  if (top < list.scrollTop) list.scrollTop = Math.max(top - tall, 0);
  else if (top + tall > list.scrollTop + list.clientHeight) list.scrollTop = top + 2 * tall - list.clientHeight;
}

function go(place, focus = false) {
  const at = Math.min(Math.max(place, 0), state.shown.length - 1);
  if (at < 0) return;
  state.current = state.shown[at];
  reveal();
  drawList();
  drawCell();
  if (focus) focusLine(at);
  const view = byId("cell");
  if (view.getBoundingClientRect().top < 0) view.scrollIntoView({ block: "start" });
}

const move = (step) => go(state.shown.indexOf(state.current) + step, true);

function nextUndecided(focus) {
  const here = state.shown.indexOf(state.current);
  const after = state.shown.findIndex((cell, place) => place > here && !decisionOf(cell));
  const next = after >= 0 ? after : state.shown.findIndex((cell) => !decisionOf(cell));
  if (next >= 0) go(next, focus);
  else if (focus) focusLine(here);
}

function showOnly(some, what) {
  clearFields();
  state.only = new Set(some);
  byId("only").firstChild.textContent = "Only: " + what;
  update();
  byId("queue").scrollIntoView({ block: "start" });
}

function clearFields() {
  for (const id of ["column", "kind", "decision", "search"]) byId(id).value = "";
  state.only = null;
}

function clearFilters() {
  clearFields();
  update();
}

list.addEventListener("scroll", drawList, { passive: true });
addEventListener("resize", drawList);
watchers.push(refresh);
