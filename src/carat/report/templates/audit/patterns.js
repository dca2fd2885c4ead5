// Fixes that recur: the same value and fix in one column, and the same rewrite of different values.
const sameFix = gather(cells, (cell) => (cell.proposal === null || cell.group !== null ? null : JSON.stringify([cell.column, cell.value, cell.proposal])));
const sameRewrite = gather(cells, (cell) => (cell.pattern === null || cell.group !== null ? null : cell.column + " " + cell.pattern));
const SHOWN_PATTERNS = 12;

// One that other cells share; a rewrite only where it is of more cells than the same value and fix.
function patternsOf(cell) {
  const same = (cell.proposal !== null && sameFix.get(JSON.stringify([cell.column, cell.value, cell.proposal]))) || [];
  const rewrite = (cell.pattern !== null && sameRewrite.get(cell.column + " " + cell.pattern)) || [];
  return [same.length > 1 ? { some: same } : null, rewrite.length > Math.max(same.length, 1) ? { some: rewrite, rewrite: cell.pattern } : null].filter((one) => one);
}

function patternName({ some, rewrite }) {
  const [{ name, value, proposal }] = some;
  const what = rewrite === undefined ? [seen(value), " → ", seen(proposal)] : [rewrite];
  return [el("bdi", {}, name), ": ", el("b", {}, ...what), rewrite === undefined ? ` in ${many(some.length, "row")}` : ` in ${many(some.length, "cell")}`];
}

function patternText({ some, rewrite }) {
  const [{ value, proposal }] = some;
  return rewrite === undefined ? `${value ?? "(blank)"} → ${proposal || "(blank)"}` : rewrite;
}

// Only what is undecided: a decision that was made with a closer look stays.
function decideAll(some, decision, what) {
  const open = some.filter((cell) => decisionOf(cell) === "" && (decision !== "accept" || cell.proposal !== null));
  const whole = [...new Set(open.flatMap(together))].filter((cell) => decisionOf(cell) === "");
  const changed = decide(whole.map((cell) => [cell, decision]));
  tell(changed ? `${many(changed, "cell")} decided, ${DECIDED[decision]}: ${what}.` : `Nothing was left to decide: ${what}.`);
}

function patternButtons(pattern) {
  const left = pattern.some.filter((cell) => decisionOf(cell) === "").length;
  const what = patternText(pattern);
  const button = (decision, label) => {
    const made = el("button", { type: "button", class: "quiet small", "aria-label": `${label}: ${what}` }, label);
    made.disabled = !left;
    made.addEventListener("click", () => decideAll(pattern.some, decision, what));
    return made;
  };
  const show = el("button", { type: "button", class: "link", "aria-label": "Show the cells: " + what }, "Show");
  show.addEventListener("click", () => showOnly(pattern.some, what));
  return el("span", { class: "pattern-buttons" }, button("accept", left ? `Accept ${count(left)}` : "Accept"), button("reject", left ? `Reject ${count(left)}` : "Reject"), show);
}

function frequentPatterns() {
  const fixes = [...sameFix.values()].filter((some) => some.length > 1).map((some) => ({ some }));
  const rewrites = [...sameRewrite.values()].map((some) => ({ some, rewrite: some[0].pattern }));
  const wider = rewrites.filter(({ some }) => new Set(some.map((cell) => cell.value)).size > 1);
  // What a rewrite says already is not said again for each of its values.
  const covered = new Set(wider.flatMap(({ some }) => some));
  return [...wider, ...fixes.filter(({ some }) => !covered.has(some[0]))].sort((a, b) => b.some.length - a.some.length || a.some[0].at - b.some[0].at);
}

const frequent = frequentPatterns();

function drawPatterns() {
  const box = byId("patterns");
  box.hidden = !frequent.length;
  const some = frequent.slice(0, SHOWN_PATTERNS);
  box.firstChild.textContent = frequent.length > some.length ? `Fixes that recur: the ${some.length} most frequent of ${count(frequent.length)}` : `${many(frequent.length, "fix", "fixes")} that recur${frequent.length === 1 ? "s" : ""}`;
  const held = box.lastChild.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  box.lastChild.replaceChildren(...some.map((pattern) => el("li", {}, el("span", {}, ...patternName(pattern)), patternButtons(pattern))));
  if (held !== null) refocus(box, held);
}

// What was drawn anew under the finger: the button that says the same has the focus again.
function refocus(box, label) {
  const twin = [...box.querySelectorAll("button")].find((button) => button.getAttribute("aria-label") === label && !button.disabled);
  (twin ?? box.querySelector("summary, button:not([disabled])"))?.focus({ preventScroll: true });
}
