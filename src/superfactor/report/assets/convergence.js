// The objective against iterations or seconds.

figure("convergence", (node, width) => {
  const {iteration, objective, said, seconds, saidSeconds, bound} = payload.convergence;
  const time = byId("time-axis").value;
  const excess = byId("loss-axis").value === "excess";
  const best = Math.min(...objective);
  const points = objective
    .map((value, i) => ({at: time === "seconds" ? seconds[i] : iteration[i], value: excess ? value - best : value, i}))
    .filter((point) => !excess || point.value > 0);
  const height = Math.round(Math.min(Math.max(width * 0.45, 260), 400));
  const [left, right] = [78, width - 14];
  const ats = points.map((p) => p.at);
  const values = points.map((p) => p.value);
  if (!points.length) return node.append(html("p", {}, "One iteration was enough: there is no excess to draw."));
  const x = linear(time === "seconds" ? [0, Math.max(...ats) * 1.03] : [Math.min(...ats) - 0.5, Math.max(...ats) + 0.5], [left, right]);
  const near = !excess && bound !== null && best - bound <= Math.max(...values) - best + 1e-12 * Math.abs(best);
  const y = excess
    ? logarithmic([Math.min(...values) / 2, Math.max(...values) * 2], [height - 52, 26])
    : linear(around(near ? [...values, bound] : values, 0.08), [height - 52, 26]);
  const dots = points.map((p) => mark(
    svg("circle", {class: "bar chosen", cx: x(p.at), cy: y(p.value), r: points.length > 60 ? 2.5 : 4}),
    [`Iteration ${iteration[p.i]}`, `objective ${said[p.i]}`, `after ${saidSeconds[p.i]} s`]));
  const floor = near ? [
    svg("line", {class: "reference", x1: left, x2: right, y1: y(bound), y2: y(bound)}),
    svg("text", {class: "quiet note", x: left + 6, y: y(bound) - 6}, "proven lower bound")] : [];
  const title = excess ? "excess over the best" : "objective F";
  const digits = excess ? 2 : Math.min(12, 3 + Math.ceil(Math.max(0, Math.log10(Math.abs(best) / (Math.max(...values) - best || Math.abs(best))))));
  node.append(drawing(width, height, `${title} against ${time}, ${points.length} points, best ${said[objective.indexOf(best)]}`,
    leftAxis(y, left, right, title, {format: (v) => shown(v, digits)}),
    bottomAxis(time === "iteration" ? whole(x) : x, [left, right], height - 52, time, {ticks: width < 600 ? 5 : 10}),
    svg("g", {class: "chosen"}, svg("path", {class: "curve", d: path(points.map((p) => [x(p.at), y(p.value)]))})),
    ...floor, ...dots));
}, "time-axis", "loss-axis");
