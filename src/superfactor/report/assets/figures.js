// Figures draw themselves at the width they have: again when it changes, and for paper.

const PAPER = 680;
const figures = [];

// draw(node, width) fills the node; it is called for every width and every change of a control.
function figure(name, draw, ...controls) {
  const node = document.querySelector(`[data-figure="${name}"]`);
  if (!node) return;
  const own = {node, draw, drawn: 0};
  figures.push(own);
  for (const id of controls) byId(id)?.addEventListener("change", () => redraw(own, own.drawn));
}

const figureNamed = (name) => figures.find((own) => own.node.dataset.figure === name);

function redraw(own, width) {
  hideTooltip();
  own.drawn = width;
  own.node.replaceChildren();
  own.draw(own.node, width);
  for (const drawing of own.node.querySelectorAll("svg")) {
    drawing.querySelector("[data-mark]")?.setAttribute("tabindex", 0);
  }
}

// A hidden figure has no width of its own yet: it waits for its tab.
function fit() {
  for (const own of figures) {
    const width = Math.floor(own.node.clientWidth);
    if (width > 0 && width !== own.drawn) redraw(own, width);
  }
}

function fitPaper() {
  for (const own of figures) redraw(own, PAPER);
}

function watchSize() {
  let waiting = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => { if (!matchMedia("print").matches) fit(); });
  }).observe(byId("main"));
  matchMedia("print").addEventListener("change", (event) => (event.matches ? fitPaper() : fit()));
  addEventListener("beforeprint", fitPaper);
  addEventListener("afterprint", fit);
}

// An svg with a name; with marks inside, its role is a group, otherwise an image.
function drawing(width, height, label, ...children) {
  const node = svg("svg", {viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": label}, ...children);
  node.setAttribute("role", node.querySelector("[data-mark]") ? "group" : "img");
  return node;
}

// Text cut in its middle to fit a width, since ends tell names apart; the tooltip has all of it.
const ruler = document.createElement("canvas").getContext("2d");
function cut(text, width, size = 12) {
  ruler.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  if (ruler.measureText(text).width <= width) return text;
  const letters = [...text];
  const keeping = (kept) =>
    letters.slice(0, Math.ceil(kept / 2)).join("") + "…" + letters.slice(letters.length - Math.floor(kept / 2)).join("");
  let kept = letters.length - 1;
  while (kept > 1 && ruler.measureText(keeping(kept)).width > width) kept -= 1;
  return keeping(kept);
}

// A name in a drawing: where it is cut, a tooltip of its own has all of it.
function nameText(name, room, attributes) {
  const text = cut(name, room);
  return svg("text", {...attributes, "data-tip": text === name ? null : name}, text);
}
