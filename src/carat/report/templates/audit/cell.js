// One cell: what stands there, what should, why, and the buttons that decide it.
const view = byId("cell");
let isTyping = false;

function drawCell() {
  const cell = state.current;
  if (!cell) return view.replaceChildren();
  const focused = view.contains(document.activeElement) ? document.activeElement.dataset.action ?? document.activeElement.getAttribute("aria-label") ?? "" : null;
  if (view.dataset.at !== String(cell.at)) isTyping = false;
  view.dataset.at = cell.at;
  view.replaceChildren(
    ...[cellHead(cell), el("p", { class: "change-of" }, ...change(cell.value, cell.proposal), cell.proposal === null ? el("small", {}, " no suggested fix") : null), cellFacts(cell), cell.reason ? el("p", {}, el("bdi", {}, sentence(cell.reason))) : null, actions(cell), isTyping ? typing(cell) : null, alternatives(cell), groupOf(cell), ...patternsOf(cell).map(patternBox), beside(cell)].filter((part) => part !== null),
  );
  if (focused !== null && !isTyping) refocusAction(focused);
}

function refocusAction(name) {
  const twin = [...view.querySelectorAll("button, [tabindex]")].find((one) => name && (one.dataset.action === name || one.getAttribute("aria-label") === name) && !one.disabled);
  (twin ?? view.querySelector("[data-action=next]:not([disabled]), button:not([disabled])"))?.focus({ preventScroll: true });
}

const sentence = (text) => (/[.!?…]$/.test(text) ? text : text + ".");

function cellHead(cell) {
  const place = state.shown.indexOf(cell);
  const step = (name, label, by) => {
    const button = el("button", { type: "button", class: "quiet small", "data-action": name }, label);
    button.disabled = place + by < 0 || place + by >= state.shown.length;
    button.addEventListener("click", () => go(place + by));
    return button;
  };
  return el(
    "header",
    {},
    el("h3", {}, "Row ", el("bdi", {}, cell.record), ", ", el("bdi", {}, cell.name)),
    el("span", { class: "steps" }, el("small", {}, `${count(place + 1)} of ${count(state.shown.length)}`), step("previous", "Previous", -1), step("next", "Next", 1)),
  );
}

function cellFacts(cell) {
  const fix = cell.proposal === null ? null : el("span", {}, `fix ${share(cell.confidence)} likely right`);
  return el("p", { class: "facts" }, el("span", {}, el("i", { class: "dot kind-" + cell.kind }), cell.kind), el("span", {}, share(cell.error) + " likely wrong"), fix);
}

function actions(cell) {
  const decision = decisionOf(cell);
  const button = (action, key, label, pressed) => {
    const made = el("button", { type: "button", class: "act", "data-action": action, "aria-pressed": String(pressed), "aria-keyshortcuts": key }, label + " ", el("kbd", {}, key));
    made.addEventListener("click", () => act(action));
    return made;
  };
  const accept = button("accept", "a", cell.proposal === "" ? "Leave it blank" : "Accept the fix", decision === "accept");
  accept.disabled = cell.proposal === null;
  return el(
    "div",
    { class: "actions" },
    accept,
    button("reject", "r", "Value is right", decision === "reject"),
    button("wrong", "w", "Wrong, value unknown", decision === "wrong"),
    button("type", "e", "Another value", decision.startsWith("=")),
    decision.startsWith("=") ? el("p", { class: "own" }, "Your value: ", el("b", {}, seen(decision.slice(1)))) : null,
  );
}

function typing(cell) {
  const decision = decisionOf(cell);
  const field = el("textarea", { id: "typed", rows: "1", dir: "auto", spellcheck: "false", "aria-describedby": "typed-hint" });
  field.value = decision.startsWith("=") ? decision.slice(1) : cell.proposal ?? cell.value ?? "";
  const save = el("button", { type: "button", class: "small" }, "Save");
  const stop = el("button", { type: "button", class: "quiet small" }, "Cancel");
  save.addEventListener("click", () => takeOwn(field.value, true));
  stop.addEventListener("click", stopTyping);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      takeOwn(field.value, true);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      stopTyping();
    }
  });
  return el("div", { class: "typing" }, el("label", {}, `What should stand in ${cell.name}?`, field), save, stop, el("p", { class: "muted", id: "typed-hint" }, "Enter saves, Esc cancels, Shift+Enter breaks the line. Leave it empty to blank the cell."));
}

function stopTyping() {
  isTyping = false;
  drawCell();
  focusLine(state.shown.indexOf(state.current));
}

function alternatives(cell) {
  const others = cell.alternatives.filter((text) => text !== cell.proposal);
  if (!others.length) return null;
  const buttons = others.map((text) => {
    const made = el("button", { type: "button", class: "quiet small other", "aria-label": `Take ${text || "(blank)"} instead`, "aria-pressed": String(decisionOf(cell) === "=" + text) }, seen(text));
    made.addEventListener("click", () => takeOwn(text, true));
    return made;
  });
  return el("p", { class: "others" }, cell.proposal === null ? "Perhaps: " : "Or: ", ...buttons);
}

function groupOf(cell) {
  const rest = together(cell).filter((one) => one !== cell);
  if (!rest.length) return null;
  return el("p", { class: "group" }, "Decided together with ", ...rest.flatMap((one, place) => [place ? "; " : "", `row ${one.record}, `, el("bdi", {}, one.name), ": ", ...change(one.value, one.proposal)]), ".");
}

function patternBox(pattern) {
  return el("p", { class: "pattern" }, el("span", {}, ...patternName(pattern)), patternButtons(pattern));
}

// One of the four decisions about the current cell and all that belong with it; then on to the next.
function act(action, focus = false) {
  const cell = state.current;
  if (!cell) return;
  if (action === "type") {
    isTyping = true;
    drawCell();
    byId("typed").focus();
    byId("typed").select();
    return;
  }
  const some = together(cell);
  if (action === "accept" && some.some((one) => one.proposal === null)) {
    tell("There is no suggested fix to accept; press e to type a value, or w if it is wrong.");
    return;
  }
  isTyping = false;
  const also = some.length > 1 ? ` and ${many(some.length - 1, "cell")} with it` : "";
  decide(some.map((one) => [one, action]), `${capital(named(cell))}${also}: ${DECIDED[action]}.`);
  nextUndecided(focus);
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

// Another value than the suggested one. The suggested one or the old one, typed, is a decision for that one.
function takeOwn(text, focus) {
  const cell = state.current;
  if (text === cell.proposal || (text === (cell.value ?? "") && text !== "")) return act(text === cell.proposal ? "accept" : "reject", focus);
  isTyping = false;
  const left = together(cell).filter((one) => one !== cell && !decisionOf(one)).length;
  const rest = left ? ` ${capital(many(left, "cell"))} that belong${left === 1 ? "s" : ""} with it ${left === 1 ? "is" : "are"} still undecided.` : "";
  decide([[cell, "=" + text]], `${capital(named(cell))}: ${text === "" ? "left blank" : text}.${rest}`);
  nextUndecided(focus);
}
