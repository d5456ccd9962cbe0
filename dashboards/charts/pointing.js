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

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".pointed");
  // Who points, or goes from cell to cell by keyboard, goes on where they were.
  const was = root.at, focused = root.contains(document.activeElement);
  if (root.drawn !== data.html) {
    root.innerHTML = root.drawn = data.html;
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
    down.style.cssText = `top:0;bottom:0;left:${left}%;width:${100 / columns}%;display:block`;
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
