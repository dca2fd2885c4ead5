// What the controls and keys do.
byId("sort").addEventListener("change", (event) => {
  state.sort = event.target.value;
  state.turned = false;
  update();
});
byId("direction").addEventListener("click", () => {
  state.turned = !state.turned;
  update();
});
for (const button of document.querySelectorAll(".sort")) {
  button.addEventListener("click", () => {
    state.turned = button.dataset.sort === state.sort && !state.turned;
    state.sort = byId("sort").value = button.dataset.sort;
    update();
  });
}
for (const id of ["domain", "entity", "lowest", "highest"]) byId(id).addEventListener("input", update);
byId("controls").addEventListener("submit", (event) => event.preventDefault());
byId("reset").addEventListener("click", () => filter("", ""));
byId("again").addEventListener("click", () => {
  filter("", "");
  byId("entity").focus(); // The button is gone; the next Tab must not begin at the top.
});
byId("all").addEventListener("click", openAll);
byId("best").addEventListener("click", () => chooseBest(state.shown.map(({ record }) => record)));
byId("export").addEventListener("click", exportCsv);
byId("export-json").addEventListener("click", exportJson);
byId("clear").addEventListener("click", clearChosen);

function filter(domain, entity) {
  byId("domain").selectedIndex = data.columns.indexOf(domain) + 1;
  byId("entity").value = entity;
  byId("lowest").value = byId("highest").value = "";
  update();
}

for (const bar of document.querySelectorAll("button.bar")) {
  bar.addEventListener("click", () => {
    filter(bar.dataset.domain, bar.dataset.entity === undefined ? "" : `"${bar.dataset.entity}"`);
    byId("records").scrollIntoView({ block: "start" });
    byId("records").focus({ preventScroll: true });
  });
}

// Letters typed into a field are letters; arrows there belong to the field.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.target.closest("input:not([type=radio]), select");
  if (field) {
    if (event.key === "Escape") field.blur();
    return;
  }
  // Arrows go from fix to fix where one of them is held, and from row to row elsewhere in the list.
  const inList = list.contains(document.activeElement) && document.activeElement.type !== "radio";
  if (event.key === "j" || (inList && event.key === "ArrowDown")) move(1);
  else if (event.key === "k" || (inList && event.key === "ArrowUp")) move(-1);
  else if (event.key === "/") byId("entity").focus();
  else if (event.key === "Escape" && heldItem() && isOpen(heldItem())) {
    const held = heldItem();
    held.button.focus();
    held.button.click();
  }
  else return;
  event.preventDefault();
});

isKept = remember(KEY + "-try", 1) && remember(KEY + "-try", null);
update();
showChosen();
goToAddress();
