// The samples on two factors, or on one factor by class; each factor has one axis in all plots.

const space = payload.samples;
const hiddenClasses = new Set();
const hasHeldOut = space.points.some((p) => p[1] === 1);
// The scores: 0 out of fold, 1 in training.
const inTraining = (name) => (name !== "overview" && byId("positions")?.value === "training" ? 1 : 0);
const placeOf = (point, training, factor) => (point[6][training] ?? point[6][0])[factor];
const axisOf = (name, factor) => space.names[factor]
  + (inTraining(name) || !space.outOfFold ? ", score in training" : ", score out of fold");
const SAMPLE_FIGURES = ["overview", "samples", "biplot"];

const boxOf = (width) => ({left: 62, right: width - 12, top: 26, bottom: Math.round(Math.min(Math.max(width * 0.62, 320), 580)) - 52});
const radiusOf = (width, count) => (width < 600 || count > 800 ? 3.5 : 4.5);

// Axes, ellipses and marks of factor `across` against factor `up`; `draw` makes the mark of a point at its place.
function plane(name, width, across, up, points, draw) {
  const box = boxOf(width);
  const training = inTraining(name);
  const x = linear(space.ranges[training][across], [box.left, box.right]);
  const y = linear(space.ranges[training][up], [box.bottom, box.top]);
  const outlines = space.ellipses.map((e, c) => (e === null || hiddenClasses.has(c) ? null
    : svg("path", {class: `ellipse ${colourOf(c)}${classes.length > 4 ? " many" : ""}`, "stroke-dasharray": dashOf(c), d: ellipsePath(e, across, up, x, y)})));
  const clip = svg("clipPath", {id: `clip-${name}`}, svg("rect", {x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top}));
  return {box, x, y, height: box.bottom + 52, nodes: [
    leftAxis(y, box.left, box.right, axisOf(name, up)),
    bottomAxis(x, [box.left, box.right], box.bottom, axisOf(name, across), {ticks: width < 600 ? 4 : 8}),
    clip, svg("g", {"clip-path": `url(#clip-${name})`, "aria-hidden": "true"}, ...outlines),
    ...points.map((point) => draw(point, x(placeOf(point, training, across)), y(placeOf(point, training, up))))]};
}

// Mean + radius·L(cos t, sin t), with L the Cholesky factor of the covariance on the two factors.
function ellipsePath({mean, covariance, radius}, a, b, x, y) {
  const at = (i, j) => covariance[Math.max(i, j) * (Math.max(i, j) + 1) / 2 + Math.min(i, j)];
  const first = Math.sqrt(at(a, a));
  const slant = first ? at(a, b) / first : 0;
  const second = Math.sqrt(Math.max(at(b, b) - slant * slant, 0));
  const points = Array.from({length: 73}, (_, k) => {
    const [c, s] = [Math.cos(k * Math.PI / 36), Math.sin(k * Math.PI / 36)];
    return [x(mean[a] + radius * first * c), y(mean[b] + radius * (slant * c + second * s))];
  });
  return path(points) + "Z";
}

function sampleMark(radius, more = "") {
  return (point, x, y) => {
    const filled = point[1] || !hasHeldOut ? " filled" : "";
    const shape = scaled ? 0 : groupOf(point[2]);
    return paint(svg("path", {d: shapeOf(shape, radius), class: `sample${filled}${more}`, transform: `translate(${x.toFixed(1)},${y.toFixed(1)})`}), point[2]);
  };
}

function drawSamples(node, name, width, points, across, up) {
  const draw = sampleMark(radiusOf(width, points.length));
  const marked = (point, x, y) => mark(draw(point, x, y), sampleLines(point));
  const label = `${points.length} samples, factor ${across + 1} horizontal, ${up === "class" ? (scaled ? `${scaled.name} vertical` : "one row per class") : `factor ${Number(up) + 1} vertical`}`;
  if (up === "class" && scaled) {
    const box = boxOf(width);
    const training = inTraining(name);
    const x = linear(space.ranges[training][across], [box.left, box.right]);
    const ends = scaled.root ? [Math.sqrt(scaled.low), Math.sqrt(scaled.high)] : [scaled.low, scaled.high];
    const inner = linear(ends, [box.bottom - 8, box.top + 8]);
    const place = (value) => inner(scaled.root ? Math.sqrt(value) : value);
    const values = (scaled.root ? rooted : linear)([scaled.low, scaled.high], [0, 1]).ticks(5).filter((v) => v >= scaled.low && v <= scaled.high);
    node.append(legendOfScale(), drawing(width, box.bottom + 52, label,
      leftAxis(place, box.left, box.right, scaled.name, {values}),
      bottomAxis(x, [box.left, box.right], box.bottom, axisOf(name, across), {ticks: width < 600 ? 4 : 8}),
      ...points.map((point) => marked(point, x(placeOf(point, training, across)), inner(ends[0] + point[2] * (ends[1] - ends[0]))))));
    return;
  }
  if (up === "class") {
    const box = {left: Math.min(150, width * 0.3), right: width - 12, top: 26, bottom: 8 + Math.max(classes.length * 42, 180)};
    const training = inTraining(name);
    const x = linear(space.ranges[training][across], [box.left, box.right]);
    const y = linear([-0.5, classes.length - 0.5], [box.top, box.bottom]);
    node.append(legendOfClasses(name), drawing(width, box.bottom + 52, label, classAxis(y, box),
      bottomAxis(x, [box.left, box.right], box.bottom, axisOf(name, across), {ticks: width < 600 ? 4 : 8}),
      ...points.map((point, i) => marked(point, x(placeOf(point, training, across)), y(groupOf(point[2]) + scatter(i))))));
    return;
  }
  const {height, nodes} = plane(name, width, across, Number(up), points, marked);
  node.append(legendOfClasses(name), drawing(width, height, label, ...nodes));
}

figure("overview", (node, width) => {
  const points = space.points.filter((p) => !hiddenClasses.has(groupOf(p[2])));
  drawSamples(node, "overview", width, points, 0, space.names.length > 1 ? 1 : "class");
});
figure("samples", (node, width) => drawSamples(node, "samples", width, space.points.filter(wanted),
  Number(byId("x-factor").value), byId("y-factor").value), "x-factor", "y-factor", "which-samples", "positions");
byId("colour-by")?.addEventListener("change", () => {
  for (const own of [...SAMPLE_FIGURES, "heatmap"].map(figureNamed)) if (own?.drawn) redraw(own, own.drawn);
});

function wanted(point) {
  const which = byId("which-samples").value;
  const [, heldOut, truth, predicted] = point;
  if (hiddenClasses.has(groupOf(truth))) return false;
  return which === "all" || (which === "wrong" ? truth !== predicted : heldOut === Number(which));
}

function sampleLines([id, heldOut, truth, predicted, best, own, , how]) {
  if (Array.isArray(predicted)) return [id, ...predicted, heldOut ? "held out" : `predicted ${how}`];
  const lines = [id, `${classes[truth]}, ${heldOut ? "held out" : "training"}`];
  lines.push(`predicted ${classes[predicted]}, probability ${best}` + (heldOut ? "" : ` (${how})`));
  if (predicted !== truth) lines.push(`probability of ${classes[truth]}: ${own}`);
  return lines;
}

// The same small shift for the same sample every time.
const scatter = (i) => (((i * 0.618034) % 1) - 0.5) * 0.6;

function classAxis(y, box) {
  const names = classes.map((name, i) => nameText(name, box.left - 10, {x: box.left - 8, y: y(i) + 4, "text-anchor": "end"}));
  return svg("g", {class: "axis", "aria-hidden": "true"}, ...names);
}

// Pressing a class hides or shows it in all plots of samples.
function legendOfClasses(name) {
  if (scaled) return legendOfScale();
  const items = classes.map((_, i) => {
    const button = html("button", {type: "button", "aria-pressed": String(!hiddenClasses.has(i))}, sign(i), ...legendName(i));
    button.addEventListener("click", () => {
      if (!hiddenClasses.delete(i)) hiddenClasses.add(i);
      for (const own of SAMPLE_FIGURES.map(figureNamed)) if (own?.drawn) redraw(own, own.drawn);
      figureNamed(name).node.querySelectorAll(".legend button")[i].focus();
    });
    return html("li", {}, button);
  });
  return html("ul", {class: "legend", "aria-label": "Classes: press to hide or show"}, ...items);
}
