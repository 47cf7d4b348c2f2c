// ROC curves.

figure("roc", (node, width) => {
  const {curves, labels} = payload.prediction;
  const nameOf = (k) => (labels ? labels[k].name : classes[k]);
  const size = Math.min(width, 460);
  const x = linear([0, 1], [44, size - 12]);
  const y = linear([0, 1], [size - 52, 24]);
  const lines = curves.map((curve) => {
    const d = path(curve.x.map((value, i) => [x(value), y(curve.y[i])]));
    return mark(
      svg("g", {class: colourOf(curve.class)},
        svg("path", {class: "reach", d}),
        svg("path", {class: "curve", d, "stroke-dasharray": dashOf(curve.class)})),
      [nameOf(curve.class), `area under the curve ${curve.area}`]);
  });
  const legend = curves.map((curve) => html("li", {},
    html("span", {}, sign(curve.class, true), ...legendName(curve.class, `, area ${curve.area}`, nameOf(curve.class)))));
  const area = curves.length ? `area from ${curves.map((c) => c.area).sort()[0]}` : "no class with and without samples";
  node.append(
    html("ul", {class: "legend"}, ...legend),
    drawing(size, size, `ROC curves of ${curves.length} ${labels ? "labels" : "classes"}, ${area}`,
      leftAxis(y, 44, size - 12, "true positive rate"),
      bottomAxis(x, [44, size - 12], size - 52, "false positive rate"),
      svg("line", {class: "reference", x1: x(0), y1: y(0), x2: x(1), y2: y(1)}),
      ...lines));
  node.lastChild.style.maxWidth = `${size}px`;
});
