// How a record is reached from outside: by the page's address, and by the browser's own search.
function addressOf(record) {
  return "#record-" + encodeURIComponent(record.record);
}

// The address names the record opened last, so that it can be sent to a colleague.
function point({ record }, opened) {
  const mine = addressOf(record);
  if (!opened && location.hash !== mine) return;
  try {
    history.replaceState(null, "", opened ? mine : "#records");
  } catch {} // Some browsers let no file change its address; the link in the record is there all the same.
}

function goToAddress() {
  let wanted = "";
  try {
    wanted = decodeURIComponent(location.hash);
  } catch {} // Not an address of ours.
  if (!wanted.startsWith("#record-")) return;
  const name = wanted.slice("#record-".length);
  const found = items.find(({ record }) => String(record.record) === name);
  if (!found) {
    byId("status").textContent = `Row ${name} is not in this report. ` + byId("status").textContent;
    byId("records").scrollIntoView();
    return;
  }
  if (found.line.hidden) filter("", "");
  open(found, true);
  showAllButton();
  found.line.scrollIntoView({ block: "start" });
  found.button.focus({ preventScroll: true });
}

addEventListener("hashchange", goToAddress);

// The search of a browser that looks into what is folded finds only what is drawn: that is done when there is time.
function drawWhenIdle(at = 0) {
  requestIdleCallback((idle) => {
    let next = at;
    while (next < data.records.length && idle.timeRemaining() > 1) draw(byNumber[next++]);
    if (next < data.records.length) drawWhenIdle(next);
  });
}

const byNumber = [...items];
if ("onbeforematch" in document && "requestIdleCallback" in window) addEventListener("load", () => drawWhenIdle());

// On paper nothing can be unfolded.
addEventListener("beforeprint", () => {
  for (const folded of document.querySelectorAll(".item.open details:not([open])")) {
    folded.open = true;
    folded.dataset.printed = "";
  }
});
addEventListener("afterprint", () => {
  for (const folded of document.querySelectorAll("details[data-printed]")) {
    folded.open = false;
    delete folded.dataset.printed;
  }
});
