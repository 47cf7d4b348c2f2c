// Elements without innerHTML: names from the data only ever become text or attributes.

const payload = JSON.parse(document.getElementById("payload").textContent);
const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

// html("p", {class: "quiet"}, "text", node, …)
const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Numbers with a meaning come as text, written once for tables and figures; this is for ticks and places.
function shown(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const plain = size === 0 || (size >= 1e-3 && size < 1e6);
  const text = plain ? String(Number(value.toPrecision(digits))) : value.toExponential(digits - 1);
  return text.replace("-", "−");
}

// The number in a text such as −0.12, +3 or 96 %.
const numeric = (text) => Number.parseFloat(text.replaceAll("−", "-").replaceAll(",", "")) || 0;
const percent = (share) => `${shown(100 * share)} %`;
// Moves along a path: [[x, y], …] to "M…L…".
const path = (points) => "M" + points.map(([x, y]) => `${x.toFixed(2)},${y.toFixed(2)}`).join("L");
