// The button for dark and light.
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";

function showTheme() {
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  byId("theme").setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
}

byId("theme").addEventListener("click", () => {
  const theme = isDark() ? "light" : "dark";
  // Back at what the screen's owner prefers anyway, the page follows that again.
  const own = (theme === "dark") === dark.matches;
  if (own) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (own) localStorage.removeItem("carat-theme");
    else localStorage.setItem("carat-theme", theme);
  } catch {} // As in theme.js.
  showTheme();
});
dark.addEventListener("change", showTheme);
showTheme();
