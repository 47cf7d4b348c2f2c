// One tooltip for all: marks of figures, words of the glossary, names that are cut. The first line is the name.

const tooltip = byId("tooltip");
const linesOf = new WeakMap();

// Makes a node of a figure a mark: a tooltip for eyes, a label for ears, a stop for the arrow keys.
// Lines may depend on where the pointer is: then they are a function of its place, or of nothing.
function mark(node, lines) {
  linesOf.set(node, lines);
  const said = typeof lines === "function" ? lines() : lines;
  return fill(node, {"data-mark": "", role: "img", tabindex: -1, "aria-label": said.join(", ")}, []);
}

function linesAt(node, place) {
  if (node.dataset.term) {
    const meaning = byId(node.dataset.term);
    return [meaning.previousElementSibling.textContent, meaning.textContent];
  }
  if (node.dataset.tip) return [node.dataset.tip];
  const lines = linesOf.get(node);
  return typeof lines === "function" ? lines(place) : lines;
}

function showTooltip(node, x, y, place) {
  tooltip.replaceChildren(...linesAt(node, place).map((line) => html("div", {}, line)));
  tooltip.hidden = false;
  const {width, height} = tooltip.getBoundingClientRect();
  const left = Math.min(Math.max(x - width / 2, 8), document.documentElement.clientWidth - width - 8);
  const above = y - height - 12;
  tooltip.style.left = `${left}px`;
  tooltip.style.top = `${above > 4 ? above : y + 18}px`;
}

const hideTooltip = () => { tooltip.hidden = true; };
const explained = (event) => event.target.closest?.("[data-tip], [data-term], [data-mark]");

document.addEventListener("pointermove", (event) => {
  const node = explained(event);
  if (node) showTooltip(node, event.clientX, event.clientY, event);
  else if (!document.activeElement?.matches("[data-tip], [data-term], [data-mark]")) hideTooltip();
});
function showBeside(node) {
  const box = node.getBoundingClientRect();
  showTooltip(node, box.left + box.width / 2, box.top);
}

document.addEventListener("focusin", (event) => {
  const node = explained(event);
  if (node) showBeside(node);
  else hideTooltip();
});
document.addEventListener("focusout", hideTooltip);
// What has the focus is scrolled into view, and takes its tooltip along.
document.addEventListener("scroll", () => {
  const focused = document.activeElement?.closest("[data-tip], [data-term], [data-mark]");
  if (tooltip.hidden) return;
  if (focused) showBeside(focused);
  else hideTooltip();
}, {passive: true, capture: true});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") return hideTooltip();
  const node = event.target.closest?.("[data-mark]");
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
