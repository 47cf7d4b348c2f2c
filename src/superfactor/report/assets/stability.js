// How often the top features are found again in subsamples.

figure("stability", (node, width) => {
  const {features, names, similarity, shuffled} = payload.stability;
  // As many columns of at least 19rem as the style sheet makes of this width.
  const columns = Math.min(similarity.length, Math.max(1, Math.floor((width + 40) / 344)));
  const side = (width + 40) / columns - 40;
  const cards = similarity.map(([low, middle, high], j) => {
    const own = features.filter((f) => f.factor === j + 1);
    return html("div", {class: "side factor"}, html("h3", {}, names[j]),
      html("p", {}, `similarity ${middle} (10 % to 90 %: ${low} to ${high})` + (shuffled[j] === null ? "" : `, shuffled: ${shuffled[j]}`)),
      frequencyBars(`Factor ${j + 1}`, own, side));
  });
  node.append(html("div", {class: "sides"}, ...cards));
});

function frequencyBars(label, features, width) {
  const start = width * 0.42;
  const reach = width - start - 48;
  const rows = features.map(({name, end, correlation, frequency, shuffled}, i) => {
    const y = 4 + i * ROW;
    return mark(
      svg("g", {class: end},
        svg("rect", {class: "track-line", x: start, y: y + 3, width: reach, height: ROW - 6, rx: 1.5}),
        svg("rect", {class: "bar", x: start, y: y + 3, width: Math.max(numeric(frequency) / 100 * reach, 0.5), height: ROW - 6, rx: 1.5}),
        shuffled === "–" ? null : svg("line", {class: "beside", x1: start + numeric(shuffled) / 100 * reach, x2: start + numeric(shuffled) / 100 * reach, y1: y + 1, y2: y + ROW - 1}),
        svg("text", {x: start - 8, y: y + 13.5, "text-anchor": "end"}, cut(name, start - 10)),
        svg("text", {class: "quiet", x: start + reach + 6, y: y + 13.5}, frequency)),
      [name, `found again in ${frequency} of the resamples`].concat(shuffled === "–" ? [] : [`shuffled: ${shuffled}`], `${end} end, correlation ${correlation} with the factor`));
  });
  return drawing(width, features.length * ROW + 8, `Frequencies of the top features of ${label}`, ...rows);
}
