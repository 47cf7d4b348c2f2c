// The links of the page as tabs: arrow keys move, the address remembers.

const tabs = [...byId("tabs").children];
const panels = tabs.map((tab) => byId(tab.hash.slice(1)));

function makeTabs() {
  byId("tabs").setAttribute("role", "tablist");
  tabs.forEach((tab, i) => {
    fill(tab, {role: "tab", id: `${panels[i].id}-tab`, "aria-controls": panels[i].id}, []);
    fill(panels[i], {role: "tabpanel", "aria-labelledby": tab.id}, []);
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      select(i);
      history.replaceState(null, "", tab.hash);
    });
  });
  byId("tabs").addEventListener("keydown", (event) => {
    const now = tabs.indexOf(document.activeElement);
    const next = {ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1, " ": now}[event.key];
    if (now < 0 || next === undefined) return;
    event.preventDefault();
    tabs[(next + tabs.length) % tabs.length].click();
    tabs[(next + tabs.length) % tabs.length].focus();
  });
  addEventListener("hashchange", openAddress);
  select(0);
  openAddress();
}

// Other addresses, such as that of the skip link, leave the tab as it is.
function openAddress() {
  const index = panels.findIndex((panel) => `#${panel.id}` === location.hash);
  if (index >= 0) select(index);
}

function select(index) {
  hideTooltip();
  tabs.forEach((tab, i) => {
    tab.setAttribute("aria-selected", String(i === index));
    tab.setAttribute("tabindex", i === index ? 0 : -1);
    panels[i].hidden = i !== index;
  });
  fit();
}
