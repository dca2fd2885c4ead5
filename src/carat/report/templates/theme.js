// The colours chosen last, before anything is painted. A browser may forbid a file to remember: then it does not.
try {
  const remembered = localStorage.getItem("carat-theme");
  if (remembered === "dark" || remembered === "light") document.documentElement.dataset.theme = remembered;
} catch {}
