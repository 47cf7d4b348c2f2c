// The top features against the samples, both in the order of their trees.

figure("heatmap", (node, width) => {
  const map = payload.features.heatMap;
  const [rows, columns] = [map.features.length, map.samples.length];
  const side = width < 600 ? 24 : 60;
  ruler.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const names = Math.min(200, width * 0.34, 14 + Math.max(...map.features.map((name) => ruler.measureText(name).width)));
  const [left, right] = [side + 4, width - names];
  const [strip, top, tall] = [50, 66, 15];
  const bottom = top + rows * tall;
  const cell = (right - left) / columns;
  const columnAt = (place) => Math.min(Math.max(Math.floor((place - left) / cell), 0), columns - 1);
  const acrossOf = (event) => columnAt((event.clientX - picture.getBoundingClientRect().left) * (width / picture.getBoundingClientRect().width));
  const who = (j) => (scaled ? map.samples[j] : `${map.samples[j]}, ${classes[groupOf(map.classes[j])]}`);
  const runs = (same, at) => Array.from({length: columns}, (_, j) => j).filter(same).map(at).join("");
  const box = (j, y, height) => `M${(left + j * cell).toFixed(2)},${y}h${(cell + 0.15).toFixed(2)}v${height}h${(-cell - 0.15).toFixed(2)}Z`;

  const levels = Array.from({length: 2 * map.steps + 1}, (_, k) => {
    const letter = String.fromCharCode(97 + k);
    const d = map.levels.map((row, i) => runs((j) => row[j] === letter, (j) => box(j, top + i * tall, tall))).join("");
    const own = svg("path", {class: k < map.steps ? "level below" : "level", d});
    own.style.setProperty("--share", Math.abs(k - map.steps) / map.steps);
    return own;
  });
  const stripes = scaled ? map.classes.map((share, j) => paint(svg("path", {d: box(j, strip, 12)}), share)) : classes.map((_, c) => svg("path", {class: `bar ${colourOf(c)}`, d: runs((j) => groupOf(map.classes[j]) === c, (j) => box(j, strip + 12 * bandOf(c)[0], 12 * bandOf(c)[1]))}));
  const stripMark = mark(svg("g", {}, ...stripes, svg("rect", {x: left, y: strip, width: right - left, height: 12, fill: "transparent"})),
    (event) => (event ? [who(acrossOf(event))] : [scaled ? `${scaled.name} of the samples` : "Classes of the samples"]));
  const rowMarks = map.features.map((name, i) => mark(
    svg("g", {class: "row"}, nameText(name, names - 8, {x: right + 8, y: top + i * tall + 11.5}),
      svg("rect", {class: "frame", x: left, y: top + i * tall, width: right - left, height: tall})),
    (event) => {
      if (!event || event.target.tagName === "text") return [name, ...map.means[i].map((mean, c) => `mean of ${(map.parts ?? classes)[c]}: ${mean} s.d.`).slice(0, 12)];
      const j = acrossOf(event);
      const level = (map.levels[i].charCodeAt(j) - 97 - map.steps) / map.steps * map.farthest;
      return [name, who(j), `about ${shown(level, 2)} s.d.`];
    }));
  const trees = [
    ...map.columnTree.map(([a, ha, b, hb, h]) => {
      const [xa, xb, y] = [left + (a + 0.5) * cell, left + (b + 0.5) * cell, (height) => strip - 3 - height * (strip - 8)];
      return `M${xa.toFixed(1)},${y(ha).toFixed(1)}V${y(h).toFixed(1)}H${xb.toFixed(1)}V${y(hb).toFixed(1)}`;
    }),
    ...map.rowTree.map(([a, ha, b, hb, h]) => {
      const [ya, yb, x] = [top + (a + 0.5) * tall, top + (b + 0.5) * tall, (height) => side - height * (side - 4)];
      return `M${x(ha).toFixed(1)},${ya.toFixed(1)}H${x(h).toFixed(1)}V${yb.toFixed(1)}H${x(hb).toFixed(1)}`;
    })];
  const scaleAt = (k) => left + k * 9;
  const scale = levels.map((_, k) => {
    const own = svg("rect", {class: k < map.steps ? "level below" : "level", x: scaleAt(k), y: bottom + 14, width: 9.2, height: 10});
    own.style.setProperty("--share", Math.abs(k - map.steps) / map.steps);
    return own;
  });
  const ends = [[0, `−${map.farthest}`], [map.steps, "0"], [2 * map.steps, `+${map.farthest} s.d.`]].map(([k, text]) =>
    svg("text", {x: scaleAt(k + 0.5), y: bottom + 38, "text-anchor": "middle"}, text));
  const picture = drawing(width, bottom + 44, `Heat map of ${rows} features and ${columns} samples, clustered`,
    svg("path", {class: "tree", d: trees.join("")}), ...levels, stripMark, ...rowMarks,
    svg("g", {class: "axis", "aria-hidden": "true"}, ...scale, ...ends));
  const legend = classes.map((_, i) => html("li", {}, html("span", {}, svg("svg", {viewBox: "-8 -8 16 16", class: colourOf(i), "aria-hidden": "true"},
    svg("rect", {class: "bar", x: -6, y: -6 + 12 * bandOf(i)[0], width: 12, height: 12 * bandOf(i)[1]})), ...legendName(i))));
  node.append(scaled ? legendOfScale() : html("ul", {class: "legend"}, ...legend), picture);
});

// Classes of one colour differ in which part of the strip they fill: start and size.
const BANDS = [[0, 1], [0, 0.5], [0.5, 0.5], [0.25, 0.5], [0, 0.25]];
const bandOf = (index) => BANDS[Math.floor(index / COLOURS) % BANDS.length];
