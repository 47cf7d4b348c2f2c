// The page comes to life.

function watchTheme() {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const name = () => { byId("theme").textContent = dark() ? "Light colours" : "Dark colours"; };
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    name();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();
}

watchTheme();
watchTables();
watchCopying();
watchSaving();
makeTabs();
watchSize();
