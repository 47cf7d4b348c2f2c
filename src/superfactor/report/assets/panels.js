// Predicted against true values, a panel for each target.

figure("panels", (node, width) => {
  const {panels, root, scorer} = payload.prediction;
  const side = panels.length > 1 && width >= 640 ? (width - 24) / 2 : Math.min(width, 560);
  const parts = html("div", {class: "panels"});
  for (const panel of panels) parts.append(scatterPanel(panel, side, root, scorer));
  node.append(parts);
});

function scatterPanel(panel, size, root, scorer) {
  const ends = root ? [0, 1.05 * Math.max(...panel.true, ...panel.predicted)] : around([...panel.true, ...panel.predicted]);
  const scale = root ? rooted : linear;
  const [left, right, top, bottom] = [62, size - 12, panel.name ? 44 : 26, Math.round(size * 0.82) - 52];
  const [x, y] = [scale(ends, [left, right]), scale(ends, [bottom, top])];
  const radius = panel.ids.length > 400 ? 2.5 : 3.5;
  const points = panel.ids.map((id, i) => mark(
    svg("circle", {class: "sample filled class-0", cx: x(panel.true[i]).toFixed(1), cy: y(panel.predicted[i]).toFixed(1), r: radius}),
    [id, `true ${shown(panel.true[i])}`, `predicted ${shown(panel.predicted[i])}`]));
  const title = `${panel.name}: ${scorer} ${panel.explained}`;
  const more = `, mean absolute error ${panel.error}`;
  const picture = drawing(size, bottom + 52, `Predicted against true values of ${panel.ids.length} samples, ${title}${more}`,
    svg("g", {transform: "translate(0,18)"}, leftAxis((value) => y(value) - 18, left, right, "predicted", {values: y.ticks(5)})),
    svg("text", {class: "strong", x: 0, y: 12}, cut(size < 420 ? title : title + more, size, 14)), // wider than the ruler's: bold
    bottomAxis(x, [left, right], bottom, "true", {ticks: size < 420 ? 4 : 6}),
    svg("line", {class: "reference", x1: x(ends[0]), y1: y(ends[0]), x2: x(ends[1]), y2: y(ends[1])}), ...points);
  picture.style.maxWidth = `${size}px`;
  return picture;
}

// Square roots: from and to are not negative.
function rooted([from, to], range) {
  const inner = linear([Math.sqrt(from), Math.sqrt(to)], range);
  const place = (value) => inner(Math.sqrt(Math.max(value, 0)));
  place.ticks = (count) => {
    const chosen = [];
    for (const value of roundTicks(Math.sqrt(from), Math.sqrt(to), count).map((v) => v * v)) {
      const digits = value < 10 ? 1 : 10 ** (Math.floor(Math.log10(value)) - 1);
      const tick = Math.round(value / digits) * digits;
      if (tick <= to && !chosen.includes(tick)) chosen.push(tick);
    }
    return chosen;
  };
  return place;
}
