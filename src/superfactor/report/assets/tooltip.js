// One tooltip for all marks. A mark knows its lines; the first is its name.

const tooltip = byId("tooltip");
const linesOf = new WeakMap();

// Makes a node of a figure a mark: a tooltip for eyes, a label for ears, a stop for the arrow keys.
function mark(node, lines) {
  linesOf.set(node, lines);
  return fill(node, {"data-mark": "", role: "img", tabindex: -1, "aria-label": lines.join(", ")}, []);
}

function showTooltip(node, x, y) {
  tooltip.replaceChildren(...linesOf.get(node).map((line) => html("div", {}, line)));
  tooltip.hidden = false;
  const {width, height} = tooltip.getBoundingClientRect();
  const left = Math.min(Math.max(x - width / 2, 8), document.documentElement.clientWidth - width - 8);
  const above = y - height - 12;
  tooltip.style.left = `${left}px`;
  tooltip.style.top = `${above > 4 ? above : y + 18}px`;
}

const hideTooltip = () => { tooltip.hidden = true; };
const markAt = (event) => event.target.closest?.("[data-mark]");

document.addEventListener("pointermove", (event) => {
  const node = markAt(event);
  if (node) showTooltip(node, event.clientX, event.clientY);
  else if (!document.activeElement?.matches("[data-mark]")) hideTooltip();
});
document.addEventListener("focusin", (event) => {
  const node = markAt(event);
  if (!node) return hideTooltip();
  const box = node.getBoundingClientRect();
  showTooltip(node, box.left + box.width / 2, box.top);
});
document.addEventListener("focusout", hideTooltip);
document.addEventListener("scroll", hideTooltip, {passive: true});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return hideTooltip();
  const node = markAt(event);
  const steps = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity};
  if (!node || !(event.key in steps)) return;
  event.preventDefault();
  const marks = [...node.closest("svg").querySelectorAll("[data-mark]")];
  const next = marks.indexOf(node) + steps[event.key];
  const target = marks[Math.min(Math.max(next, 0), marks.length - 1)];
  node.setAttribute("tabindex", -1);
  target.setAttribute("tabindex", 0);
  target.focus();
});
