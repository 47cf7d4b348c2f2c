// From numbers to places, and the axes that say so.

function linear([from, to], [start, end]) {
  const span = to - from || 1;
  const place = (value) => start + ((value - from) / span) * (end - start);
  place.ticks = (count) => roundTicks(from, to, count);
  return place;
}

// The same scale with ticks at whole numbers only.
function whole(scale) {
  const place = (value) => scale(value);
  place.ticks = (count) => scale.ticks(count).filter(Number.isInteger);
  return place;
}

// Powers of ten; from and to are positive.
function logarithmic([from, to], range) {
  const inner = linear([Math.log10(from), Math.log10(to)], range);
  const place = (value) => inner(Math.log10(value));
  place.ticks = (count) => {
    const low = Math.ceil(Math.log10(from) - 1e-9);
    const high = Math.floor(Math.log10(to) + 1e-9);
    const step = Math.max(1, Math.ceil((high - low) / count));
    const ticks = [];
    for (let power = low; power <= high; power += step) ticks.push(10 ** power);
    return ticks;
  };
  return place;
}

// About `count` multiples of 1, 2 or 5 times a power of ten.
function roundTicks(from, to, count) {
  const rough = (to - from) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= 0.7 * rough) * power;
  const ticks = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k += 1) ticks.push(k * step);
  return ticks;
}

// The range of the values and a margin around it.
function around(values, margin = 0.05) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = (high - low) * margin || Math.abs(high) * margin || 1;
  return [low - room, high + room];
}

function bottomAxis(scale, [left, right], y, title, {ticks = 6, format = shown} = {}) {
  const marks = scale.ticks(ticks).flatMap((value) => [
    svg("line", {x1: scale(value), x2: scale(value), y1: y, y2: y + 5}),
    svg("text", {x: scale(value), y: y + 19, "text-anchor": "middle"}, format(value)),
  ]);
  // A long title is moved to the left where it would leave the picture.
  const text = cut(title, right);
  const middle = Math.max(Math.min((left + right) / 2, right + 8 - ruler.measureText(text).width / 2), 0);
  return svg("g", {class: "axis", "aria-hidden": "true"}, svg("line", {x1: left, x2: right, y1: y, y2: y}), ...marks,
    nameText(title, right, {x: middle, y: y + 40, "text-anchor": "middle"}));
}

function leftAxis(scale, x, right, title, {ticks = 5, format = shown, values = scale.ticks(ticks)} = {}) {
  const grid = values.map((value) => svg("line", {x1: x, x2: right, y1: scale(value), y2: scale(value)}));
  const names = values.map((value) =>
    svg("text", {x: x - 8, y: scale(value) + 4, "text-anchor": "end"}, format(value)));
  return svg("g", {"aria-hidden": "true"}, svg("g", {class: "grid"}, ...grid),
    svg("g", {class: "axis"}, ...names, svg("text", {x: 0, y: 12}, title)));
}
