// What the controls and keys do.
for (const id of ["column", "kind", "decision", "order", "search"]) byId(id).addEventListener("input", update);
byId("controls").addEventListener("submit", (event) => event.preventDefault());
byId("reset").addEventListener("click", clearFilters);
byId("again").addEventListener("click", () => {
  clearFilters();
  byId("search").focus(); // The button is gone; the next Tab must not begin at the top.
});
byId("only").lastElementChild.addEventListener("click", () => {
  clearFilters();
  byId("search").focus();
});
byId("undo").addEventListener("click", () => takeBack(false));
byId("accept-shown").addEventListener("click", () => decideAll(state.shown.filter(isLikely), "accept", "all likely fixes shown"));
byId("reject-shown").addEventListener("click", () => decideAll(state.shown, "reject", "all cells shown"));

function lookAt(column, kind) {
  clearFields();
  byId("column").value = column;
  byId("kind").value = kind;
  update();
  byId("queue").scrollIntoView({ block: "start" });
  byId("queue").focus({ preventScroll: true });
}
for (const button of document.querySelectorAll("[data-column]")) button.addEventListener("click", () => lookAt(button.dataset.column, ""));
for (const button of document.querySelectorAll("[data-kind]")) button.addEventListener("click", () => lookAt("", button.dataset.kind));

// Back to the cell whose decision was taken back, if it is in the list.
function takeBack(focus) {
  const cell = undo();
  const place = cell ? state.shown.indexOf(cell) : -1;
  if (place >= 0) go(place, focus);
}

function help() {
  byId("help").open = !byId("help").open;
  if (!byId("help").open) return focusLine(state.shown.indexOf(state.current));
  byId("help").scrollIntoView({ block: "start" });
  byId("help").firstElementChild.focus({ preventScroll: true });
}

const KEYS = {
  a: () => act("accept", true),
  r: () => act("reject", true),
  w: () => act("wrong", true),
  e: () => act("type"),
  "=": () => act("type"),
  u: () => takeBack(true),
  j: () => move(1),
  k: () => move(-1),
  "/": () => byId("search").focus(),
  "?": help,
};

// Letters typed into a field are letters; arrows move within the list and the cell, and scroll elsewhere.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.target.closest("input:not([type=radio]), select, textarea");
  if (field) {
    if (event.key === "Escape") field.blur();
    return;
  }
  const working = list.contains(document.activeElement) || (view.contains(document.activeElement) && document.activeElement.tagName === "BUTTON");
  const arrow = working ? { ArrowDown: 1, ArrowUp: -1 }[event.key] : undefined;
  const key = event.key === "?" || event.key === "=" || event.key === "/" ? event.key : event.shiftKey ? "" : event.key;
  if (arrow) move(arrow);
  else if (Object.hasOwn(KEYS, key) && cells.length) KEYS[key]();
  else return;
  event.preventDefault();
});

if (byId("download")) {
  byId("download").addEventListener("click", downloadCells);
  byId("forget").addEventListener("click", forgetAll);
  byId("load").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file) await loadCells(file);
    event.target.value = ""; // The same file again is a change again.
  });
  for (const radio of document.querySelectorAll("[name=which]")) radio.addEventListener("change", showKept);
  byId("copy").addEventListener("click", async () => {
    // A browser may forbid a file the clipboard: then the command is marked, to be copied by hand.
    getSelection().selectAllChildren(byId("command"));
    try {
      await navigator.clipboard.writeText(data.command);
      tell("The command is in the clipboard.");
    } catch {
      tell("The command is selected; copy it with Ctrl+C.");
    }
  });
}

// Paper has no list that scrolls: the cells shown, as far as anybody would print them.
const PRINTED = 1000;
addEventListener("beforeprint", () => {
  const some = state.shown.slice(0, PRINTED);
  const lines = some.map((cell) => el("li", {}, el("span", {}, "Row ", el("bdi", {}, cell.record), ", ", el("bdi", {}, cell.name), ": ", ...change(cell.value, cell.proposal)), el("small", {}, ` ${cell.kind}, ${share(cell.error)} likely wrong; `, ...inWords(decisionOf(cell)), ". ", cell.reason)));
  if (state.shown.length > PRINTED) lines.push(el("li", {}, `and ${count(state.shown.length - PRINTED)} more`));
  byId("paper").replaceChildren(...lines);
});
addEventListener("afterprint", () => byId("paper").replaceChildren());

isKept = remember(KEY + "-try", 1) && remember(KEY + "-try", null);
for (const made of document.querySelectorAll("main .as-is")) made.replaceWith(seen(made.textContent));
update();
