// Any figure as a file: its drawings and texts as one SVG with the styles they have now, or that as PNG.

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "paint-order",
  "font-size", "font-weight", "font-family", "text-anchor"];
const pixel = Object.assign(document.createElement("canvas"), {width: 1, height: 1}).getContext("2d", {willReadFrequently: true});
const plainColours = new Map();

// A colour as other programs know it: #rrggbb, whatever it was mixed from.
function plainColour(colour) {
  if (!/^(rgb|color|ok|lab|lch|hsl|hwb)/.test(colour)) return colour;
  if (!plainColours.has(colour)) {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
    plainColours.set(colour, a === 0 ? "none" : "#" + [r, g, b].map((c) => c.toString(16).padStart(2, "0")).join(""));
  }
  return plainColours.get(colour);
}

// A copy of an svg node that needs no style sheet. Styles are inherited: only what differs is written.
function styledCopy(node, parent = {}) {
  const style = getComputedStyle(node);
  const copy = node.cloneNode(false);
  for (const name of ["class", "style", "role", "tabindex", "aria-label", "aria-hidden", "data-mark", "data-tip"]) copy.removeAttribute(name);
  const own = {};
  for (const name of STYLES) {
    own[name] = plainColour(style.getPropertyValue(name));
    if (own[name] !== parent[name]) copy.setAttribute(name, own[name]);
  }
  if (style.opacity !== "1") copy.setAttribute("opacity", style.opacity);
  for (const child of node.childNodes) {
    copy.append(child.nodeType === Node.ELEMENT_NODE ? styledCopy(child, own) : child.cloneNode());
  }
  return copy;
}

// The lines of text around the drawings, each where it stands.
function textLines(plot, place) {
  const walker = document.createTreeWalker(plot, NodeFilter.SHOW_TEXT, (node) =>
    (node.parentElement.closest("svg, .unseen") || !node.parentElement.checkVisibility() ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  const lines = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const style = getComputedStyle(node.parentElement);
    let line = null;
    for (const {0: word, index} of node.data.matchAll(/\S+\s*/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.trimEnd().length);
      const box = range.getBoundingClientRect();
      if (!line || Math.abs(box.bottom - line.bottom) > 3) {
        line = {bottom: box.bottom, text: "", x: place(box).x, y: place(box).y + box.height * 0.78, style};
        lines.push(line);
      }
      line.text += word;
    }
  }
  return lines.map(({text, x, y, style}) => svg("text", {x: x.toFixed(1), y: y.toFixed(1), fill: plainColour(style.color),
    "font-size": style.fontSize, "font-weight": style.fontWeight, "font-family": style.fontFamily}, text.trimEnd()));
}

function picture(plot) {
  const margin = 12;
  const box = plot.getBoundingClientRect();
  const place = (inner) => ({x: inner.left - box.left + margin, y: inner.top - box.top + margin});
  const ground = plainColour(getComputedStyle(plot.closest(".panel")).backgroundColor);
  // As wide as what is drawn, which may be less than its place.
  const right = Math.max(...[...plot.querySelectorAll("svg, li, p, h3")].map((node) => node.getBoundingClientRect().right));
  const [width, height] = [Math.ceil(right - box.left) + 2 * margin, Math.ceil(box.height) + 2 * margin];
  const drawings = [...plot.querySelectorAll("svg")].map((node) => {
    const inner = node.getBoundingClientRect();
    return fill(styledCopy(node), {...place(inner), width: inner.width, height: inner.height, overflow: "visible"}, []);
  });
  return svg("svg", {xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`},
    svg("rect", {width, height, fill: ground}), ...drawings, ...textLines(plot, place));
}

function saveFile(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = html("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function savePicture(name, kind) {
  const drawn = picture(figureNamed(name).node);
  const text = new XMLSerializer().serializeToString(drawn);
  if (kind === "svg") return saveFile(`${name}.svg`, new Blob([text], {type: "image/svg+xml"}));
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  await image.decode();
  const canvas = html("canvas", {width: 2 * Number(drawn.getAttribute("width")), height: 2 * Number(drawn.getAttribute("height"))});
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => saveFile(`${name}.png`, blob), "image/png");
}

function watchSaving() {
  for (const button of document.querySelectorAll("[data-save]")) {
    button.addEventListener("click", () => savePicture(button.dataset.of, button.dataset.save));
  }
}
