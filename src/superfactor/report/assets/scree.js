// Share of variance of each further factor of a plain SVD.

figure("scree", (node, width) => {
  const {share, said, rank, elbow} = payload.choice.scree;
  const height = Math.round(Math.min(Math.max(width * 0.4, 240), 340));
  const right = width - 12;
  const x = linear([0.4, share.length + 0.6], [58, right]);
  const y = linear([0, Math.max(...share) * 1.08 || 1], [height - 52, 26]);
  const room = x(2) - x(1);
  const bars = share.map((value, i) => mark(
    svg("rect", {class: `bar ${i < rank ? "chosen" : "plain"}`, x: x(i + 1) - room * 0.38, width: room * 0.76, y: y(value), height: Math.max(height - 52 - y(value), 0.5)}),
    [`Factor ${i + 1}`, `${said[i]} of the variance`, i < rank ? "used by the model" : "not used"]));
  const count = share.length;
  const line = (value, name, level) => value > count ? [] : [
    svg("line", {class: "reference", x1: x(value + 0.5), x2: x(value + 0.5), y1: 26, y2: height - 52}),
    svg("text", {class: "note", x: x(value + 0.5) + 6, y: level}, name)];
  const notes = rank === elbow ? line(rank, `rank ${rank}, where it bends`, 36)
    : [...line(rank, `rank ${rank}`, 36), ...line(elbow, `bends after ${elbow}`, 56)];
  node.append(drawing(width, height, `Share of variance of ${count} factors; the model uses ${rank}`,
    leftAxis(y, 58, right, "share of variance", {format: percent}),
    bottomAxis(whole(x), [58, right], height - 52, "factor of the plain SVD", {ticks: width < 600 ? 6 : 12}),
    ...bars, ...notes));
});
