// What was decided, cell by cell: accept, reject, wrong, or = and another value; undone one by one, kept in the browser.
const KEY = "carat-audit-" + data.key;
const DECIDED = { accept: "fix accepted", reject: "value is right", wrong: "wrong, value unknown" };
const decisions = new Map();
const past = [];
const watchers = [];
let isKept = true;

const decisionOf = (cell) => decisions.get(cell.at) ?? "";
const fateOf = (cell) => (decisionOf(cell).startsWith("=") ? "=" : decisionOf(cell));

function inWords(decision) {
  return decision.startsWith("=") ? [seen(decision.slice(1))] : [DECIDED[decision] ?? "undecided"];
}

// Several at once count as one step; what changes nothing is no step.
function decide(wanted, said) {
  const changed = wanted.filter(([cell, decision]) => decisionOf(cell) !== decision);
  if (changed.length) {
    past.push(changed.map(([cell]) => [cell, decisionOf(cell)]));
    put(changed);
    keep();
  }
  tell(said);
  return changed.length;
}

function put(wanted) {
  for (const [cell, decision] of wanted) {
    if (decision) decisions.set(cell.at, decision);
    else decisions.delete(cell.at);
  }
}

function undo() {
  const before = past.pop();
  if (!before) {
    tell("There is nothing to undo.");
    return null;
  }
  put(before);
  keep();
  tell(before.length === 1 ? `Undone: ${named(before[0][0])}.` : `Undone: ${many(before.length, "cell")}.`);
  return before[0][0];
}

function keep() {
  isKept = remember(KEY, decisions.size ? Object.fromEntries(decisions) : null);
}

function recallDecisions() {
  decisions.clear();
  for (const [at, decision] of Object.entries(recall(KEY) ?? {})) {
    if (cells[at] && typeof decision === "string" && (decision in DECIDED || decision.startsWith("="))) decisions.set(Number(at), decision);
  }
}

function tell(said = "") {
  if (said) byId("said").textContent = said;
  for (const watcher of watchers) watcher();
}

const named = (cell) => `row ${cell.record}, ${cell.name}`;

recallDecisions();
// The same page may be open twice.
addEventListener("storage", (event) => {
  if (event.key !== KEY) return;
  recallDecisions();
  past.length = 0;
  tell("Decisions were taken over from another window.");
});
addEventListener("beforeunload", (event) => {
  if (!isKept && decisions.size) event.preventDefault();
});
