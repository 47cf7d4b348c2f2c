// The samples on two factors, or on one factor by class.

const hiddenClasses = new Set();

figure("samples", (node, width) => {
  const shownPoints = payload.samples.points.filter(wanted);
  const across = Number(byId("x-factor").value);
  const up = byId("y-factor").value;
  const byClass = up === "class";
  const height = byClass ? 60 + Math.max(classes.length * 42, 180) : Math.round(Math.min(Math.max(width * 0.62, 320), 580));
  const left = byClass ? Math.min(150, width * 0.3) : 62;
  const box = {left, right: width - 12, top: 26, bottom: height - 52};
  const everyone = payload.samples.points;
  const x = linear(around(everyone.map((p) => p[6][across])), [box.left, box.right]);
  const y = byClass
    ? linear([-0.5, classes.length - 0.5], [box.top, box.bottom])
    : linear(around(everyone.map((p) => p[6][Number(up)])), [box.bottom, box.top]);
  const radius = width < 600 || shownPoints.length > 800 ? 3.5 : 4.5;
  const marks = shownPoints.map((point, i) => {
    const [, heldOut, truth, , , , codes] = point;
    const place = byClass ? truth + scatter(i) : codes[Number(up)];
    const filled = heldOut || !hasHeldOut ? " filled" : "";
    return mark(
      svg("path", {d: shapeOf(truth, radius), class: `sample${filled} ${colourOf(truth)}`, transform: `translate(${x(codes[across]).toFixed(1)},${y(place).toFixed(1)})`}),
      sampleLines(point));
  });
  const vertical = byClass ? classAxis(y, box) : leftAxis(y, box.left, box.right, `Factor ${Number(up) + 1}`);
  const label = `${shownPoints.length} samples, factor ${across + 1} across, ${byClass ? "one row a class" : `factor ${Number(up) + 1} up`}`;
  node.append(legendOfClasses(node), drawing(width, height, label, vertical,
    bottomAxis(x, [box.left, box.right], box.bottom, `Factor ${across + 1}`, {ticks: width < 600 ? 4 : 8}), ...marks));
}, "x-factor", "y-factor", "which-samples");

const hasHeldOut = payload.samples.points.some((p) => p[1] === 1);

function wanted(point) {
  const which = byId("which-samples").value;
  const [, heldOut, truth, predicted] = point;
  if (hiddenClasses.has(truth)) return false;
  return which === "all" || (which === "wrong" ? truth !== predicted : heldOut === Number(which));
}

function sampleLines([id, heldOut, truth, predicted, best, own]) {
  const lines = [id, `${classes[truth]}, ${heldOut ? "held out" : "training"}`];
  lines.push(`predicted ${classes[predicted]}, probability ${shown(best)}`);
  if (predicted !== truth) lines.push(`probability of ${classes[truth]}: ${shown(own)}`);
  return lines;
}

// The same small shift for the same sample every time.
const scatter = (i) => (((i * 0.618034) % 1) - 0.5) * 0.6;

function classAxis(y, box) {
  const names = classes.map((name, i) => svg("text", {x: box.left - 8, y: y(i) + 4, "text-anchor": "end"}, cut(name, box.left - 10)));
  return svg("g", {class: "axis", "aria-hidden": "true"}, ...names);
}

function legendOfClasses(node) {
  const items = classes.map((name, i) => {
    const button = html("button", {type: "button", "aria-pressed": String(!hiddenClasses.has(i))}, sign(i), name);
    button.addEventListener("click", () => {
      if (!hiddenClasses.delete(i)) hiddenClasses.add(i);
      const own = figures.find((f) => f.node === node);
      redraw(own, own.drawn);
      node.querySelectorAll(".legend button")[i].focus();
    });
    return html("li", {}, button);
  });
  return html("ul", {class: "legend", "aria-label": "Classes: press to hide or show"}, ...items);
}
