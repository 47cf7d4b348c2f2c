// How a class looks: seven colours and five shapes, so that 35 classes differ in one or both.

const classes = payload.classes;
const COLOURS = 7;
const SHAPES = [
  (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`,
  (r) => `M${-r * 0.9},${-r * 0.9}h${r * 1.8}v${r * 1.8}h${-r * 1.8}Z`,
  (r) => `M0,${-r * 1.2}L${r * 1.15},${r * 0.85}H${-r * 1.15}Z`,
  (r) => `M0,${-r * 1.3}L${r * 1.3},0L0,${r * 1.3}L${-r * 1.3},0Z`,
  (r) => `M0,${r * 1.2}L${r * 1.15},${-r * 0.85}H${-r * 1.15}Z`,
];
const DASHES = [null, "7 3", "2 3", "10 3 2 3"];

const colourOf = (index) => `class-${index % COLOURS}`;
const shapeOf = (index, radius) => SHAPES[index % SHAPES.length](radius);
const dashOf = (index) => DASHES[Math.floor(index / COLOURS) % DASHES.length];

// The sign of a class for a legend: its shape, or a piece of its line.
function sign(index, line) {
  const inside = line
    ? svg("path", {d: "M-8,0H8", class: "curve", "stroke-dasharray": dashOf(index), stroke: "currentColor", "stroke-width": 3})
    : svg("path", {d: shapeOf(index, 5), class: "sample filled"});
  return svg("svg", {viewBox: "-8 -8 16 16", class: colourOf(index), "aria-hidden": "true"}, inside);
}

// A name for a legend, cut where it would fill a line; the tooltip has all of it.
function legendName(index, more = "") {
  const text = cut(classes[index], 250, 14);
  const whole = classes[index] + more;
  return text === classes[index] ? [whole]
    : [html("span", {"data-tip": whole, "aria-hidden": "true"}, text + more), html("span", {class: "unseen"}, whole)];
}
