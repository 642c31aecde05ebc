// The read-out: which pixel the reader points at, and the values of each result there, also for screen readers.

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function setUpReadout() {
  const ofCaption = ["solve", "map", "threshold", "camera"];
  const ofValues = ["x", "y", "held", "solve"];
  const render = (now) => {
    const texts = results.map((result) => {
      const values = drawReadout(result);
      const news = []; // only what has changed is spoken
      if (ofCaption.some((name) => now.has(name))) news.push($(".what", result.figure).textContent);
      if (ofValues.some((name) => now.has(name))) news.push(values);
      return title(result) + news.filter(Boolean).join(", ");
    });
    speak(texts.join("; "));
  };
  panels.push({ on: ["x", "y", "held", "solve", "map", "threshold", "camera"], draw: render });
  results.forEach(followPointer);
}

// Write the values of a result at the chosen pixel, and mark it; return them as text.
function drawReadout(result) {
  const rows = readoutRows(result);
  const list = $(".readout", result.figure);
  list.replaceChildren();
  for (const [name, value] of rows) {
    const pair = make("div", { "data-name": name }, list);
    make("dt", {}, pair, name);
    make("dd", {}, pair, value);
  }
  placeMarker(result);
  return rows.map((pair) => pair.join(" ")).join(", ");
}

function readoutRows(result) {
  const { index, x, y } = pixel(result);
  const shown = shownOf(result);
  const disparity = shown.disparity[index];
  const digits = decimals(shown.unit);
  const rows = [["pixel", `${x}, ${y}${state.held ? " (held)" : ""}`]];
  if (!shown.final && shown.every > 1) {
    const at = shown.at(index);
    rows.push(["recorded at", `${at.x}, ${at.y}`]);
  }
  rows.push(["disparity", fixed(disparity, digits)]);
  if (result.calibration) rows.push(["depth", depthOf(result.calibration, disparity, shown.unit)]);
  if (result.uncertainty) { // only the final map has one
    const value = result.uncertainty[index];
    const text = Number.isNaN(value) ? "unknown" : `± ${value ? value.toPrecision(4) : "0"}`;
    rows.push(["uncertainty", text + (shown.when ? " (final)" : "")]);
  }
  if (shown.truth) {
    const error = disparity - shown.truth[index];
    rows.push(["truth", fixed(shown.truth[index], decimals(unitOf(result.maps.truth)))]);
    rows.push(["error", (error > 0 ? "+" : "") + fixed(error, digits)]);
  }
  if (shown.when) rows.push(["shown", shown.when]);
  return rows;
}

function depthOf({ product, offset, unit }, disparity, step) {
  const inverse = disparity + offset;
  const depth = product / inverse;
  const known = inverse > 0 && depth < 3e38; // the range of float32, in which depth.pfm has it
  return known ? `${fixed(depth, decimals((depth / inverse) * step))} ${unit || "(no unit)"}` : "unknown";
}

// Put the ring on the chosen pixel.  Another view sees its point at (x, y) + B w, unless the cameras are turned against
// each other: then the baseline alone does not tell where, and there is no ring.
function placeMarker(result) {
  const { views, step, columns, rows } = result;
  const { index, x, y } = pixel(result);
  const shown = shownOf(result);
  const view = state.map === "views" && views ? viewOf(result) : 0;
  const from = view && !shown.final ? shown.at(index) : { x, y }; // the point whose disparity it is
  const [bx, by] = view ? views.baselines[view] : [0, 0];
  const w = Number.isNaN(shown.disparity[index]) ? 0 : shown.disparity[index];
  const left = ((from.x + bx * w) / step + 0.5) / columns;
  const top = ((from.y + by * w) / step + 0.5) / rows;
  const marker = $(".marker", result.figure);
  marker.hidden = (view && !views.planar) || left < 0 || left > 1 || top < 0 || top > 1;
  marker.style.left = `${100 * left}%`;
  marker.style.top = `${100 * top}%`;
}

// ---- Mouse, finger and keyboard on a picture ----

function followPointer(result) {
  const canvas = $("canvas.map", result.figure);
  canvas.addEventListener("pointermove", (event) => pointAt(canvas, event));
  canvas.addEventListener("click", (event) => {
    if (state.map !== "views") set({ held: !state.held });
    pointAt(canvas, event);
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && state.map !== "views") return set({ held: !state.held });
    const way = ARROWS[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (state.map === "views" && result.views) moveCamera(result, way);
    else movePixel(result, way, event.shiftKey ? 10 : 1);
  });
}

// Choose the pixel, or in the views the camera, under the pointer.
function pointAt(canvas, event) {
  const box = canvas.getBoundingClientRect();
  const x = clamp((event.clientX - box.left) / box.width, 0, 0.99999);
  const y = clamp((event.clientY - box.top) / box.height, 0, 0.99999);
  if (state.map === "views") set({ camera: [2 * x - 1, 2 * y - 1] });
  else if (!state.held || event.type === "click") set({ x, y });
}

function movePixel(result, [dx, dy], stride) {
  const { column, row } = pixel(result);
  const to = (from, by, count) => (clamp(from + stride * by, 0, count - 1) + 0.5) / count;
  set({ x: to(column, dx, result.columns), y: to(row, dy, result.rows) });
}
