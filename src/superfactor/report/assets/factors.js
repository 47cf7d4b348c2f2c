// Bars of the extreme features of each factor, supervised and plain SVD, matched.

const ROW = 19;
// Names of the coefficients where they are not those of classes.
const outputs = payload.factors.outputs ?? null;

figure("factors", (node, width) => {
  const {supervised, plain} = payload.factors;
  const show = byId("compare").value;
  const perEnd = Number(byId("per-end").value);
  const kinds = [["supervised", supervised], ["plain", plain]]
    .filter(([key]) => show === "both" || show === key);
  const side = kinds.length === 2 && width >= 650 ? (width - 40) / 2 : Math.min(width, 760);
  const one = byId("factor").value;
  supervised.forEach((_, j) => {
    if (one !== "all" && j + 1 !== Number(one)) return;
    const sides = kinds.map(([, factors]) => factorSide(factors, j, perEnd, side));
    const said = supervised[j].said ? `, ${supervised[j].said}` : "";
    const title = show === "plain" ? `SVD factor ${plain[j].number}, matched to factor ${j + 1}` : `Factor ${j + 1}${said}`;
    node.append(html("div", {class: "factor"}, html("h3", {}, title), html("div", {class: "sides"}, ...sides)));
  });
}, "factor", "per-end", "compare");

function factorSide(factors, j, perEnd, width) {
  const factor = factors[j];
  const called = factor.number ? `SVD factor ${factor.number}` : `Supervised factor ${j + 1}`;
  const head = html("p", {}, html("b", {}, factor.number ? called : "Supervised"),
    factor.number ? ` · similarity ${factor.similarity}` : null, ` · ${factor.share} of the variance`,
    factor.alone ? ` · ${payload.factors.own ?? "own AUC"}, ${payload.factors.judged}: ${factor.alone}` : null);
  const parts = html("div", {class: "parts"});
  let part = width;
  if (factor.coef.length === 1) {
    head.append(` · coefficient ${factor.coef[0][1]} ${outputs ? "on" : "towards"} ${outputs ? outputs[0] : classes[payload.factors.up]}`);
  } else {
    if (width >= 440) part = (width - 18) / 2;
    parts.append(coefficientBars(called, factor.coef, part));
  }
  parts.append(featureBars(called, factor, perEnd, part));
  return html("div", {class: "side"}, head, parts);
}

// Bars to both sides of a middle line, each with its name on the free side.
function bothSides(label, title, rows, largest, width) {
  const middle = width / 2;
  const reach = middle - 8;
  const top = title ? 20 : 2;
  const nodes = rows.map(({name, value, lines, strong, against, beside, gap}, i) => {
    const y = top + i * ROW + gap;
    const size = largest ? Math.abs(value) / largest * reach : 0;
    const right = value >= 0;
    return mark(
      svg("g", {class: right ? "high" : "low"},
        svg("rect", {x: 0, y, width, height: ROW, fill: "transparent"}),
        svg("rect", {class: "bar", x: right ? middle : middle - size, y: y + 3, width: Math.max(size, 0.5), height: ROW - 6, rx: 1.5}),
        beside === undefined || against ? null
          : svg("line", {class: "beside", x1: middle + beside * reach, x2: middle + beside * reach, y1: y + 1, y2: y + ROW - 1}),
        svg("text", {x: right ? middle - 8 : middle + 8, y: y + 13.5, "text-anchor": right ? "end" : "start", class: strong ? "strong" : null},
          cut((strong ? "★ " : "") + name + (against ? " †" : ""), reach - 4))),
      lines);
  });
  const height = top + rows.length * ROW + (rows.length ? rows[rows.length - 1].gap : 0) + 4;
  return drawing(width, height, label,
    title ? svg("text", {class: "quiet", x: 0, y: 12}, cut(title, width)) : null,
    svg("line", {class: "reference", x1: middle, x2: middle, y1: top - 2, y2: height - 2}),
    ...nodes);
}

// One scale for all factors, supervised or not.
const allCoef = [...payload.factors.supervised, ...payload.factors.plain].flatMap((f) => f.coef);
const largestCoef = allCoef.reduce((most, one) => (Math.abs(one[0]) > Math.abs(most[0]) ? one : most), [0, "0"]);

function coefficientBars(label, coef, width) {
  const rows = coef.map(([value, said], i) => ({
    name: (outputs ?? classes)[i], value, gap: 0, lines: [(outputs ?? classes)[i], `coefficient ${said}${outputs ? "" : " against the mean over classes"}`],
  }));
  const title = `Coefficients, full length ${largestCoef[1].replace(/[+−]/, "")}`;
  return bothSides(`Coefficients of ${label}`, title, rows, Math.abs(largestCoef[0]), width);
}

function featureBars(label, factor, perEnd, width) {
  const row = (end) => ([name, correlation, scaled, weight, against, note], i) => ({
    name, value: numeric(correlation), beside: numeric(scaled), against, strong: note !== undefined, gap: end === "high" ? 0 : 8,
    lines: [name, `correlation ${correlation} with the factor`, `weight in the score ${scaled} of the largest, ${weight} in units of the fit`,
      `rank ${i + 1} at the ${end} end`]
      .concat(against ? ["† weight and correlation have opposite signs"] : [], note === undefined ? [] : [note]),
  });
  const high = factor.high.slice(0, perEnd).map(row("high"));
  const low = factor.low.slice(0, perEnd).map(row("low")).reverse();
  return bothSides(`Top features of ${label}`, factor.coef.length > 1 ? "Features" : null, [...high, ...low], 1, width);
}
