// Survival curves by risk group, their bands, ends of observation, and numbers at risk below the axis.

figure("curves", (node, width) => {
  const {curves, ticks, axis} = payload.prediction;
  const size = Math.min(width, 860);
  const names = Math.min(110, size * 0.24);
  const [left, right, top] = [Math.max(44, names), size - 14, 24];
  const bottom = Math.round(Math.min(Math.max(size * 0.5, 260), 420));
  const last = Math.max(...curves.map((c) => c.time[c.time.length - 1]));
  const x = linear([0, last], [left, right]);
  x.ticks = () => ticks;
  const y = linear([0, 1], [bottom, top]);
  // From 1 at time 0, level until the next time.
  const steps = (times, values) => {
    const points = [[x(0), y(1)]];
    let level = 1;
    times.forEach((time, i) => {
      if (values[i] === null) return;
      points.push([x(time), y(level)], [x(time), y(values[i])]);
      level = values[i];
    });
    return points;
  };
  const drawn = curves.map((c, k) => {
    const line = path(steps(c.time, c.survival));
    const band = path([...steps(c.time, c.high), ...steps(c.time, c.low).reverse()]) + "Z";
    const strokes = c.ended.map((time, i) => `M${x(time).toFixed(2)},${(y(c.ended_at[i]) - 4).toFixed(2)}v8`).join("");
    const at = (event) => {
      const box = picture.getBoundingClientRect();
      const time = ((event.clientX - box.left) * (size / box.width) - left) / (right - left) * last;
      const i = c.time.findLastIndex((t) => t <= time);
      return i < 0 ? [] : [`at ${shown(c.time[i])}: ${percent(c.survival[i])} without an event`
        + (c.low[i] === null ? "" : `, 95 % interval ${percent(c.low[i])} to ${percent(c.high[i])}`)];
    };
    const told = [c.name, `${c.samples} samples, ${c.events} events`, `median survival ${c.median === null ? "not reached" : shown(c.median)}`];
    return mark(svg("g", {class: colourOf(groupColour(k, curves.length))},
      svg("path", {class: "band", d: band}), svg("path", {class: "reach", d: line}),
      svg("path", {class: "curve", d: line, "stroke-dasharray": DASHES[k]}), svg("path", {class: "ended", d: strokes})),
    (event) => [...told, ...(event ? at(event) : [])]);
  });
  const rows = curves.flatMap((c, k) => {
    const place = bottom + 78 + k * 19;
    return [svg("path", {class: `curve ${colourOf(groupColour(k, curves.length))}`, d: `M0,${place - 4}h14`}),
      svg("text", {class: "strong", x: 19, y: place}, cut(c.name.replace(/ risk$/, ""), names - 35)),
      ...c.at_risk.map((n, i) => svg("text", {x: x(ticks[i]), y: place, "text-anchor": "middle"}, String(n)))];
  });
  const height = bottom + 78 + curves.length * 19;
  const legend = curves.map((c, k) => html("li", {}, html("span", {},
    svg("svg", {viewBox: "-8 -8 16 16", class: colourOf(groupColour(k, curves.length)), "aria-hidden": "true"},
      svg("path", {d: "M-8,0H8", class: "curve", "stroke-dasharray": DASHES[k], stroke: "currentColor", "stroke-width": 3})),
    `${c.name}, ${c.events} of ${c.samples} with an event`)));
  const picture = drawing(size, height, `Survival curves of ${curves.length} groups`,
    leftAxis(y, left, right, "share without an event"),
    bottomAxis(x, [left, right], bottom, axis), ...drawn,
    svg("g", {class: "axis at-risk"}, svg("text", {x: 0, y: bottom + 59}, "number at risk"), ...rows));
  node.append(html("ul", {class: "legend"}, ...legend), picture);
  picture.style.maxWidth = `${size}px`;
});

// Low risk is blue and high risk orange, whatever is between.
const groupColour = (k, count) => (count === 3 ? [0, 4, 1][k] : k);
