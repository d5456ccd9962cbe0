// A picture over a grid of numbers: tells what is under the pointer, and reports what is picked.
// Everything but `html`, which the page made and escaped, is put in as text.

const numbersOf = (packed) =>
  new Float32Array(Uint8Array.from(atob(packed), (c) => c.charCodeAt(0)).buffer);

const written = (value, { digits, signed }) =>
  Number.isNaN(value) ? "-"
  : (signed && value > 0 ? "+" : "") +
    value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });

const element = (className, parent) => {
  const made = document.createElement("div");
  made.className = className;
  return parent.appendChild(made);
};

const WIDEST = 8, SHARPNESS = 3;
const MARGIN = 16;  // pixels around a saved picture: labels at its edges reach beyond
const SMALLEST = 60;  // pixels: a strip that is lower has no room for tools

// The rule of the page's font with the font itself, which a file cannot fetch; "" without any.
const fontOf = async (family) => {
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof CSSFontFaceRule) || rule.style.fontStyle === "italic") continue;
      if (rule.style.fontFamily.replace(/"/g, "") !== family) continue;
      const from = rule.cssText.match(/url\("?([^")]+)"?\)/)[1];
      const file = await (await fetch(new URL(from, sheet.href ?? document.baseURI))).blob();
      return new Promise((done) => {
        const reader = new FileReader();
        reader.onload = () => done(rule.cssText.replace(from, reader.result));
        reader.readAsDataURL(file);
      });
    }
  }
  return "";
};

// What is drawn as an SVG file.  It holds HTML, as the drawing does, which browsers alone can show.
const fileOf = async (root, drawing) => {
  const box = drawing.getBoundingClientRect(), style = getComputedStyle(root);
  const width = box.width + 2 * MARGIN, height = box.height + 2 * MARGIN;
  const copy = drawing.cloneNode(true);
  copy.querySelectorAll(".pointed-mark, .pointed-told").forEach((part) => part.remove());
  const ground = style.getPropertyValue("--st-background-color");
  copy.style.cssText =
    `width:${box.width}px;display:flow-root;color:${style.color};font:${style.font}`;
  const text = new XMLSerializer().serializeToString(copy);
  const font = await fontOf(style.fontFamily.split(",")[0].replace(/"/g, ""));
  return {
    width, height,
    svg: `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
      `style="font-size:${getComputedStyle(document.documentElement).fontSize}">` +  // of a rem
      `<style>${font}*{box-sizing:border-box}.pointed-surface{position:relative}</style>` +
      `<rect width="100%" height="100%" fill="${ground}"/>` +
      `<foreignObject x="${MARGIN}" y="${MARGIN}" width="${box.width}" height="${box.height}" ` +
      `style="overflow:visible">${text}</foreignObject></svg>`,
  };
};

const save = (blob, ending) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${document.title.replace(/[^\w]+/g, "-").replace(/^-|-$/g, "")}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

const savePng = ({ width, height, svg }) => {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(width * SHARPNESS);
    canvas.height = Math.round(height * SHARPNESS);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, "png"), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
};

// Wider or narrower, and files of what is drawn: shown where somebody points or comes by keyboard.
const addTools = (root, view, drawing) => {
  const tools = element("pointed-tools", root);
  const widen = (factor) => {
    root.times = Math.min(Math.max((root.times ?? 1) * factor, 1), WIDEST);
    drawing.style.width = `${100 * root.times}%`;
    view.style.overflowX = root.times > 1 ? "auto" : "visible";
  };
  const actions = {
    "−": ["Narrower", () => widen(0.5)],
    "+": ["Wider", () => widen(2)],
    SVG: ["Save as SVG, for browsers", async () =>
      save(new Blob([(await fileOf(root, drawing)).svg], { type: "image/svg+xml" }), "svg")],
    PNG: ["Save as PNG", async () => savePng(await fileOf(root, drawing))],
  };
  for (const [sign, [name, act]] of Object.entries(actions)) {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: sign, title: name, onclick: act });
    button.setAttribute("aria-label", name);
    tools.append(button);
  }
  widen(1);
};

// What the address says from now on; Back still leads to the page before.
const readdress = (parameters) => {
  const url = new URL(window.location.href);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  if (url.href !== window.location.href) window.history.replaceState(window.history.state, "", url);
};

export default function ({ data, parentElement, setTriggerValue }) {
  readdress(data.address);
  const root = parentElement.querySelector(".pointed");
  // Who points, or goes from cell to cell by keyboard, goes on where they were.
  const was = root.at, focused = root.contains(document.activeElement);
  if (root.drawn !== data.html) {
    root.replaceChildren();
    const view = element("pointed-view", root), drawing = element("pointed-drawing", view);
    drawing.innerHTML = root.drawn = data.html;
    if (root.offsetHeight >= SMALLEST) addTools(root, view, drawing);
  }
  const surface = root.querySelector(".pointed-surface");
  surface.querySelectorAll(".pointed-mark, .pointed-told").forEach((old) => old.remove());
  const marks = [element("pointed-mark", surface), element("pointed-mark", surface)];
  const told = element("pointed-told", surface);
  told.setAttribute("role", "status");

  const rows = data.rows.length, columns = data.columns.length;
  const layers = data.layers.map((layer) => ({ ...layer, values: numbersOf(layer.values) }));
  const textOf = (row, column) => {
    const cell = row * columns + column;
    if (Array.isArray(data.told)) return data.told[cell];
    const numbers = layers.map((layer) => layer.values[cell]);
    const told = data.missing && Number.isNaN(numbers[0]) ? data.missing : data.told;
    return told.replace(/\{(row|column|\d)\}/g, (_, name) =>
      name === "row" ? data.rows[row]
      : name === "column" ? data.columns[column]
      : written(numbers[name], layers[name]),
    );
  };

  const hide = () => {
    root.at = null;
    [told, ...marks].forEach((part) => (part.style.display = "none"));
  };

  const show = (row, column) => {
    root.at = [row, column];
    const left = (100 * column) / columns, top = (100 * row) / rows;
    const [across, down] = marks;
    across.style.cssText = `left:0;right:0;top:${top}%;height:${100 / rows}%`;
    across.style.display = rows > 1 ? "block" : "none";
    down.style.cssText = `top:0;bottom:0;left:${left}%;width:${100 / columns}%`;
    down.style.display = columns > 1 ? "block" : "none";
    told.textContent = textOf(row, column);
    told.style.cssText = told.textContent ? "display:block" : "display:none";
    place(left, top);
  };

  // Beside the cell where there is room, and always within the window.
  const place = (left, top) => {
    const box = surface.getBoundingClientRect(), width = told.offsetWidth, gap = 8;
    const cell = [(left / 100) * box.width, ((left + 100 / columns) / 100) * box.width];
    const room = document.documentElement.clientWidth - box.left - gap;
    const x = cell[1] + gap + width <= room ? cell[1] + gap : cell[0] - gap - width;
    told.style.left = `${Math.max(Math.min(x, room - width), gap - box.left)}px`;
    if (rows === 1) told.style.top = `${gap}px`;
    else if (top > 50) told.style.bottom = `${100 - top}%`;
    else told.style.top = `${top + 100 / rows}%`;
  };

  const under = (event) => {
    const box = surface.getBoundingClientRect();
    const share = (offset, size, count) =>
      Math.min(Math.max(Math.floor((offset / size) * count), 0), count - 1);
    return [
      share(event.clientY - box.top, box.height, rows),
      share(event.clientX - box.left, box.width, columns),
    ];
  };

  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const pick = () => data.picks && root.at && setTriggerValue("picked", root.at);

  hide();
  if (focused) surface.focus({ preventScroll: true });
  if (was && was[0] < rows && was[1] < columns) show(...was);
  surface.style.cursor = data.picks ? "pointer" : "default";
  surface.onpointermove = (event) => show(...under(event));
  surface.onpointerleave = hide;
  surface.onblur = hide;
  surface.onclick = (event) => {
    show(...under(event));
    pick();
  };
  surface.onkeydown = (event) => {
    if (event.key === "Enter") pick();
    if (event.key === "Escape") hide();
    if (!(event.key in steps)) return;
    event.preventDefault();
    const [row, column] = root.at ?? [0, -1];
    const [down, right] = root.at ? steps[event.key] : [0, 1];
    show(
      Math.min(Math.max(row + down, 0), rows - 1),
      Math.min(Math.max(column + right, 0), columns - 1),
    );
  };
}
