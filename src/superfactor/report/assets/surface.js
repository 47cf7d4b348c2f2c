// Cross-validated scores over (ξ, λ).

figure("surface", (node, width) => {
  const {surfaces, scorer} = payload.choice;
  const {model, rank, xi, lam, mean, said, spread, chosen} = surfaces[Number(byId("surface")?.value ?? 0)];
  const everything = surfaces.flatMap((s) => s.mean.flat()).filter((value) => value !== null);
  const low = Math.min(...everything);
  const high = Math.max(...everything);
  const left = 74;
  const cell = Math.min((width - left - 8) / xi.length, 130);
  const tall = Math.min(Math.max(cell * 0.6, 26), 46);
  const bottom = 26 + lam.length * tall;
  const cells = lam.flatMap((_, i) => xi.map((_, j) => {
    const value = mean[i][j];
    const box = {x: left + j * cell + 1, y: bottom - (i + 1) * tall + 1, width: cell - 2, height: tall - 2, rx: 2};
    const rect = svg("rect", {...box, class: value === null ? "heat missing" : "heat"});
    rect.style.setProperty("--share", high > low && value !== null ? (value - low) / (high - low) : 0.5);
    const text = cell < 48 || value === null ? null
      : svg("text", {x: box.x + box.width / 2, y: box.y + box.height / 2 + 4, "text-anchor": "middle"}, said[i][j]);
    const picked = chosen && chosen[0] === i && chosen[1] === j;
    const ring = picked ? svg("rect", {...box, class: "pick"}) : null;
    return mark(svg("g", {}, rect, text, ring), [
      `${scorer} ${said[i][j]} ± ${spread[i][j]}`, `ξ = ${xi[j]}, λ = ${lam[i]}`]
      .concat(picked ? ["chosen"] : []));
  }));
  const every = Math.ceil(58 / cell);
  const names = [
    ...xi.map((value, j) => j % every ? null : svg("text", {x: left + (j + 0.5) * cell, y: bottom + 18, "text-anchor": "middle"}, value)),
    ...lam.map((value, i) => svg("text", {x: left - 8, y: bottom - (i + 0.5) * tall + 4, "text-anchor": "end"}, value)),
    svg("text", {x: left + (xi.length * cell) / 2, y: bottom + 40, "text-anchor": "middle"}, "ξ, weight of the reconstruction"),
    svg("text", {x: 0, y: 12}, "λ, ridge"),
  ];
  const picture = drawing(width, bottom + 48, `Mean ${scorer} of the ${model} model with ${rank} factors over ξ and λ, from ${shown(low)} to ${shown(high)}`,
    svg("g", {class: "axis", "aria-hidden": "true"}, ...names.filter((n) => n)), ...cells);
  node.append(picture);
}, "surface");
