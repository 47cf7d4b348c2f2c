// The table of top features: search in it, take it along.

function watchFeatures() {
  const table = document.querySelector("table.features");
  const rows = [...table.tBodies[0].rows];
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent.toLowerCase()).join(" "));
  const report = (text) => { byId("found").textContent = text; };
  const search = () => {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter((word) => word);
    rows.forEach((row, i) => { row.hidden = !words.every((word) => texts[i].includes(word)); });
    report(`${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`);
  };
  byId("search").addEventListener("input", search);
  search();
  byId("copy-csv").addEventListener("click", async () => {
    report((await copyText(csv(table))) ? "copied" : "the browser does not allow copying; download instead");
  });
  byId("download-csv").addEventListener("click", () => saveFile("top-features.csv", new Blob([csv(table)], {type: "text/csv"})));
}

function watchCopying() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const done = await copyText(byId(button.dataset.copy).textContent);
      button.nextElementSibling.textContent = done ? "copied" : "please copy it by hand";
    });
  }
}

// The rows that are not hidden, with plain minus signs for other programs.
function csv(table) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const number = (text) => (/^[−\d.]+(e[−+]?\d+)?$/.test(text) ? text.replaceAll("−", "-") : text);
  return [...table.rows]
    .filter((row) => !row.hidden)
    .map((row) => [...row.cells].map((cell) => quoted(number(cell.textContent))).join(","))
    .join("\n") + "\n";
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = html("textarea", {}, text);
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
