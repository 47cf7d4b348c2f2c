// Samples and the top features of two factors, as arrows.

figure("biplot", (node, width) => {
  const [across, up] = [Number(byId("biplot-x").value), Number(byId("biplot-y").value)];
  const points = space.points.filter((p) => !hiddenClasses.has(groupOf(p[2])));
  const {box, x, y, height, nodes} = plane("biplot", width, across, up, points, sampleMark(3, " faint"));
  // The top features of both factors, half of the arrows each; a feature of both is drawn once.
  const half = Number(byId("biplot-arrows").value) / (across === up ? 1 : 2);
  const chosen = [...new Set([across, up])].flatMap((j) => space.arrows.filter((arrow) => arrow[0] === j).slice(0, half));
  const features = [...new Map(chosen.map(([, name, said]) => [name, {name, said, u: numeric(said[across]), v: numeric(said[up])}])).values()];
  // A correlation of 1 reaches the edge that is nearer.
  const [x1, y1] = [x(0), y(0)];
  const [wide, tall] = [Math.min(x1 - box.left, box.right - x1), Math.min(y1 - box.top, box.bottom - y1)];
  const tips = features.map((f) => [x1 + f.u * wide, y1 - f.v * tall]);
  // No name covers another one or the tip of an arrow.
  const taken = tips.map(([tx, ty]) => ({left: tx - 4, right: tx + 4, top: ty - 4, bottom: ty + 4}));
  const shafts = tips.map(([tx, ty]) => Array.from({length: 24}, (_, k) => [x1 + (tx - x1) * k / 24, y1 + (ty - y1) * k / 24]));
  const names = features.map((f, i) => arrowName(f.name, x1, ...tips[i], box, taken, shafts));
  const arrows = features.map((f, i) => {
    const [x2, y2] = tips[i];
    return mark(svg("g", {class: "arrow"}, svg("path", {class: "reach", d: path([[x1, y1], [x2, y2]])}),
      svg("path", {class: "shaft", d: path([[x1, y1], [x2, y2]]) + arrowHead(x1, y1, x2, y2)})),
    [f.name, `correlation ${f.said[across]} with factor ${across + 1}`, `correlation ${f.said[up]} with factor ${up + 1}`]);
  });
  node.append(legendOfClasses("biplot"), drawing(width, height,
    `${points.length} samples and ${arrows.length} features, factor ${across + 1} horizontal, factor ${up + 1} vertical`, ...nodes, ...arrows,
    svg("g", {"aria-hidden": "true"}, ...names)));
}, "biplot-x", "biplot-y", "biplot-arrows", "positions");

function arrowHead(x1, y1, x2, y2) {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const side = (turn) => [x2 - 8 * Math.cos(angle + turn), y2 - 8 * Math.sin(angle + turn)];
  return path([side(0.4), [x2, y2], side(-0.4)]);
}

// At the free place that is best: near the tip, away from the centre, across few shafts of arrows. A name that is not next
// to its tip has a line to it; where no place is free the tooltip alone names the arrow.
const SHIFTS = Array.from({length: 15}, (_, k) => 14 * (k - 7));

function arrowName(name, x1, x2, y2, box, taken, shafts) {
  const text = cut(name, Math.min(150, (box.right - box.left) * 0.35));
  ruler.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const wide = ruler.measureText(text).width;
  const outward = x2 >= x1 ? 1 : -1;
  const within = (own, [px, py]) => px > own.left && px < own.right && py > own.top && py < own.bottom;
  const places = SHIFTS.flatMap((shift) => [x2 + 7, x2 - wide / 2, x2 - 7 - wide].map((start, k) => {
    const left = Math.min(Math.max(start, box.left + 2), box.right - wide);
    const own = {left, right: left + wide, top: y2 + shift - 8, bottom: y2 + shift + 6};
    const crossed = shafts.filter((points) => points.some((point) => within(own, point))).length;
    const inward = k === 1 ? 12 : (k === 0) === (outward > 0) ? 0 : 25;
    return {own, shift, cost: Math.abs(shift) + inward + 25 * crossed};
  }));
  for (const {own, shift} of places.sort((a, b) => a.cost - b.cost)) {
    const free = own.top > box.top && own.bottom < box.bottom
      && taken.every((other) => own.left > other.right + 2 || own.right < other.left - 2 || own.top > other.bottom || own.bottom < other.top);
    if (!free) continue;
    taken.push(own);
    const joint = [Math.min(Math.max(x2, own.left), own.right), shift > 0 ? own.top + 1 : own.bottom];
    return svg("g", {}, Math.abs(shift) > 14 ? svg("path", {class: "leader", d: path([[x2, y2], joint])}) : null,
      svg("text", {class: "note", x: own.left, y: y2 + shift + 4, "data-tip": text === name ? null : name}, text));
  }
  return null;
}
