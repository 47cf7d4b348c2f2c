// How a class looks: ten colours and ten shapes, as in the plots; 100 classes differ in one or both.

const classes = payload.classes;
const COLOURS = 10;
const polygon = (...points) => (r) => `${path(points.map(([x, y]) => [x * r, y * r]))}Z`;
const turned = (points, angle) => points.map(([x, y]) => [x * Math.cos(angle) - y * Math.sin(angle), x * Math.sin(angle) + y * Math.cos(angle)]);
const PLUS = [[-0.45, -1.3], [0.45, -1.3], [0.45, -0.45], [1.3, -0.45], [1.3, 0.45], [0.45, 0.45], [0.45, 1.3], [-0.45, 1.3],
  [-0.45, 0.45], [-1.3, 0.45], [-1.3, -0.45], [-0.45, -0.45]];
const PENTAGON = [0, 1, 2, 3, 4].map((k) => [1.2 * Math.sin(k * 0.4 * Math.PI), -1.2 * Math.cos(k * 0.4 * Math.PI)]);
const SHAPES = [
  (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`,
  polygon([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]),
  polygon([0, -1.2], [1.15, 0.85], [-1.15, 0.85]),
  polygon([0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]),
  polygon([0, 1.2], [1.15, -0.85], [-1.15, -0.85]),
  polygon(...PLUS),
  polygon(...turned(PLUS, Math.PI / 4)),
  polygon([-1.2, 0], [0.85, -1.15], [0.85, 1.15]),
  polygon([1.2, 0], [-0.85, -1.15], [-0.85, 1.15]),
  polygon(...PENTAGON),
];
const DASHES = [null, "7 3", "2 3", "10 3 2 3"];

// Of several labels the one that pictures show; a scale instead of classes.
const chosenLabel = () => Number(byId("colour-by")?.value ?? 0);
const groupOf = (colour) => (Array.isArray(colour) ? colour[chosenLabel()] : colour);
const scaled = payload.samples.scale ?? null;
// A value from 0 to 1 as a class and a share: the page's two colours with the middle between them.
function paint(node, colour) {
  if (!scaled) node.classList.add(colourOf(groupOf(colour)));
  else {
    node.classList.add("on-scale");
    node.style.setProperty("--share", colour);
  }
  return node;
}

const colourOf = (index) => `class-${index % COLOURS}`;
const shapeOf = (index, radius) => SHAPES[(index + Math.floor(index / COLOURS)) % SHAPES.length](radius);
const dashOf = (index) => DASHES[Math.floor(index / COLOURS) % DASHES.length];

// The sign of a class for a legend: its shape, or a piece of its line.
function sign(index, line) {
  const inside = line
    ? svg("path", {d: "M-8,0H8", class: "curve", "stroke-dasharray": dashOf(index), stroke: "currentColor", "stroke-width": 3})
    : svg("path", {d: shapeOf(index, 5), class: "sample filled"});
  return svg("svg", {viewBox: "-8 -8 16 16", class: colourOf(index), "aria-hidden": "true"}, inside);
}

// The scale of a continuous outcome: colours, and the values at both ends and the middle.
function legendOfScale() {
  const at = (share) => {
    const {low, high, root} = scaled;
    return root ? (Math.sqrt(low) + share * (Math.sqrt(high) - Math.sqrt(low))) ** 2 : low + share * (high - low);
  };
  const cells = Array.from({length: 24}, (_, k) => paint(svg("rect", {x: k * 8, y: 0, width: 8.3, height: 12}), k / 23));
  const ends = [[0, "start"], [0.5, "middle"], [1, "end"]].map(([share, anchor]) =>
    svg("text", {x: share * 192, y: 27, "text-anchor": anchor}, shown(at(share))));
  const name = html("span", {class: "scale-name"}, cut(scaled.name, 250, 14));
  return html("div", {class: "legend scale"}, name, svg("svg", {viewBox: "0 0 192 30", width: 192, height: 30, role: "img",
    "aria-label": `Colours: ${scaled.name} from ${shown(at(0))} to ${shown(at(1))}`}, ...cells, ...ends));
}

// A name for a legend, cut where it would fill a line; the tooltip has all of it.
function legendName(index, more = "", name = classes[index]) {
  const text = cut(name, 250, 14);
  const whole = name + more;
  return text === name ? [whole]
    : [html("span", {"data-tip": whole, "aria-hidden": "true"}, text + more), html("span", {class: "unseen"}, whole)];
}
