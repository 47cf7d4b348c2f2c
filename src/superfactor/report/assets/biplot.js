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
  const taken = [];
  const names = [];
  const arrows = features.map((f) => {
    const [x2, y2] = [x1 + f.u * wide, y1 - f.v * tall];
    names.push(arrowName(f.name, x1, x2, y2, box, taken));
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

// Beside the tip of its arrow, at the nearest free place; without one the tooltip alone names it.
function arrowName(name, x1, x2, y2, box, taken) {
  const text = cut(name, Math.min(150, (box.right - box.left) * 0.35));
  ruler.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const wide = ruler.measureText(text).width;
  const right = x2 >= x1;
  const left = Math.min(Math.max(right ? x2 + 5 : x2 - 5 - wide, box.left + 2), box.right - wide);
  for (const shift of [0, -14, 14, -28, 28, -42, 42]) {
    const own = {left, right: left + wide, top: y2 + shift - 8, bottom: y2 + shift + 6};
    const free = own.top > box.top && own.bottom < box.bottom
      && taken.every((other) => own.left > other.right + 3 || own.right < other.left - 3 || own.top > other.bottom || own.bottom < other.top);
    if (free) {
      taken.push(own);
      return svg("text", {class: "note", x: left, y: y2 + shift + 4, "data-tip": text === name ? null : name}, text);
    }
  }
  return null;
}
