// Tables of features: search in them, sort them, take them along.

function watchTables() {
  for (const tools of document.querySelectorAll("[data-tools]")) watchTable(tools, byId(tools.dataset.tools));
}

function watchTable(tools, table) {
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const texts = rows.map((row) => [...row.cells].map((cell) => cell.textContent.toLowerCase()).join(" "));
  const report = (text) => { tools.querySelector("[role=status]").textContent = text; };
  const input = tools.querySelector("input");
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter((word) => word);
    rows.forEach((row, i) => { row.hidden = !words.every((word) => texts[i].includes(word)); });
    report(`${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`);
  };
  input.addEventListener("input", search);
  search();
  tools.querySelector("[data-csv=copy]").addEventListener("click", async () => {
    report((await copyText(csv(table))) ? "copied" : "the browser does not allow copying; download instead");
  });
  tools.querySelector("[data-csv=download]").addEventListener("click", () =>
    saveFile(`${table.id.replace("-table", "-features")}.csv`, new Blob([csv(table)], {type: "text/csv"})));
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = html("button", {type: "button", class: "sort", "aria-label": `Sort by ${cell.textContent.trim()}`});
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      body.append(...sorted(rows, column, down));
    });
    cell.append(button);
  });
}

// Rows by the values of a column: numbers by size, empty ones last, equal ones in the order they had.
function sorted(rows, column, down) {
  const value = (row) => row.cells[column].textContent.trim();
  const size = (text) => text === "perfect" ? Infinity : Number(text.replaceAll("−", "-").replace(/^[<>] |[ %,+]/g, ""));
  const numbers = rows.every((row) => ["", "–"].includes(value(row)) || !Number.isNaN(size(value(row))));
  const empty = (row) => Number(["", "–"].includes(value(row)));
  const before = numbers ? (a, b) => size(value(a)) - size(value(b))
    : (a, b) => value(a).localeCompare(value(b), undefined, {numeric: true});
  return [...rows].sort((a, b) => empty(a) - empty(b) || (empty(a) ? 0 : (down ? -1 : 1) * before(a, b)));
}

function watchCopying() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const done = await copyText(byId(button.dataset.copy).textContent);
      button.nextElementSibling.textContent = done ? "copied" : "please copy it by hand";
    });
  }
}

// The rows that are not hidden, with plain minus signs for other programs. An apostrophe precedes text that a
// spreadsheet would compute; superfactor removes it when it reads the file.
function csv(table) {
  const computed = /^'*([=@\t\r]|[+-](?!\s*[\d.,]*(e[+-]?\d+)?\s*%?\s*$)(?=.*[\p{L}\p{N}_(]))/isu;
  const quoted = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const number = (text) => (/^[+−]?[\d.]+(e[−+]?\d+)?$/.test(text) ? text.replaceAll("−", "-") : text);
  const text = (cell) => (computed.test(cell) ? `'${cell}` : cell);
  return [...table.rows]
    .filter((row) => !row.hidden)
    .map((row) => [...row.cells].map((cell) => quoted(text(number(cell.textContent)))).join(","))
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
