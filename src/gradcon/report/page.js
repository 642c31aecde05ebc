// The script of a report.  Everything shown is computed here from the arrays in the page; nothing is fetched.
// All text goes into the page as text, never as markup: names of files and scenes are anybody's.
"use strict";
(async () => {

// ---- Data: JSON, and arrays as deflated bytes in base64 ------------------------------------------------------------

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const data = JSON.parse($("#data").textContent);

function bytesOf(id) {
  const element = document.getElementById(id), text = element.textContent;
  element.remove(); // or the text would stay in memory
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

async function inflated(id) {
  const stream = new Blob([bytesOf(id)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// 16-bit codes, as steps along rows, low bytes before high ones; 0 is unknown.
async function readMap(id, { low, high, log }, columns, count) {
  const bytes = await inflated(id), values = new Float32Array(count), unit = (high - low) / 65534;
  for (let i = 0, code = 0; i < count; i++) {
    code = ((i % columns ? code : 0) + bytes[i] + 256 * bytes[count + i]) & 65535;
    const value = low + (code - 1) * unit;
    values[i] = code ? (log ? Math.exp(value) : value) : NaN;
  }
  return values;
}

// Records one after the other, as changes from each to the next.
async function readRecords(id, count) {
  const bytes = await inflated(id), length = bytes.length / count;
  for (let i = length; i < bytes.length; i++) bytes[i] += bytes[i - length];
  return bytes;
}

async function load(result) {
  const { key, columns, rows, maps, views, weights } = result, count = columns * rows;
  for (const name of Object.keys(maps)) result[name] = await readMap(`${key}-${name}`, maps[name], columns, count);
  result.keep = await inflated(`${key}-keep`);
  result.solves = result.history.length ? result.history.at(-1).solve : 0;
  if (views) views.sheet = await createImageBitmap(new Blob([bytesOf(`${key}-views`)], { type: "image/jpeg" }));
  if (weights) {
    weights.codes = await readRecords(`${key}-codes`, weights.solves.length);
    weights.before = await readRecords(`${key}-before`, weights.solves.length);
    const { before_columns: across, before_rows: down, truth } = weights;
    weights.truth = truth && await readMap(`${key}-recorded`, truth, across, across * down);
  }
  result.figure = document.getElementById(key);
}

// ---- State: what is shown; a change draws the panels that depend on it, once a frame -------------------------------

const results = data.results;
const lastSolve = Math.max(...results.map((result) => (result.history.length ? result.history.at(-1).solve : 0)));
const state = {
  map: "disparity", threshold: data.thresholds.at(-1),
  x: 0.5, y: 0.5, held: false, // the pixel, as a share of width and height, which results of any size share
  camera: [0, 0], // wanted place of the camera, -1 to 1
  solve: lastSolve,
  yaw: 0, pitch: 0, zoom: 1,
};
const panels = []; // { on: names of what it depends on, draw }
let changed = new Set(), awaited = false;

function set(values) {
  for (const [name, value] of Object.entries(values)) {
    if (state[name] === value) continue;
    state[name] = value;
    changed.add(name);
  }
  if (changed.size && !awaited) {
    awaited = true;
    requestAnimationFrame(draw);
  }
}

function draw() {
  const now = changed;
  awaited = false;
  changed = new Set();
  for (const panel of panels) if (panel.on.some((name) => now.has(name))) panel.draw(now);
}

// ---- Numbers, text and elements ------------------------------------------------------------------------------------

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)}\u00a0%`;
const rounded = (share) => (share > 0 && share < 0.005 ? "below 1\u00a0%" : percent(share));
const short = (value) => (value === 0 ? "0" : Math.abs(value) < 1e-3 ? value.toExponential(1) : String(+value.toPrecision(3)));
const title = (result) => (result.letter ? `${result.letter}: ` : "");

function make(name, attributes = {}, parent = null, text = null) {
  const svg = ["svg", "g", "path", "line", "circle", "rect", "text", "title", "polyline"].includes(name);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== null) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

// Decimals of a value that is known in steps of a unit; the unit of a map's codes.
const decimals = (unit) => clamp(Math.round(-Math.log10(unit || 1e-4)), 0, 6);
const unitOf = ({ low, high }) => (high - low) / 65534;

function statistics(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return "nothing is known";
  const stride = Math.ceil(values.length / 20000); // enough for a median
  const some = values.filter((value, i) => i % stride === 0 && value === value).sort();
  return `from ${short(low)} to ${short(high)}${some.length ? `, median ${short(some[some.length >> 1])}` : ""}`;
}

// ---- What a result says at the chosen pixel and solve --------------------------------------------------------------

function pixel(result) { // column and row of the sampled maps; x and y in the full-size picture
  const column = clamp(Math.floor(state.x * result.columns), 0, result.columns - 1);
  const row = clamp(Math.floor(state.y * result.rows), 0, result.rows - 1);
  return { column, row, index: row * result.columns + column, x: column * result.step, y: row * result.step };
}

const solveOf = (result) => Math.min(state.solve, result.solves);
const historyRow = (result) => result.history.findLast((row) => row.solve <= solveOf(result)) ?? result.history[0];

// Index of the record at or before the chosen solve.
function recordOf(result) {
  return result.weights ? Math.max(result.weights.solves.findLastIndex((solve) => solve <= solveOf(result)), 0) : -1;
}

// What is shown: the final maps from the last solve on, else what was recorded before a solve.  That is of every few
// pixels alone: each pixel shows the nearest of these, and the truth there.
function shownOf(result) {
  const { weights, disparity, truth, columns, rows, step, maps } = result, k = recordOf(result);
  const ended = state.solve >= (result.solves || lastSolve), when = ended ? "" : "final: earlier maps were not recorded";
  if (ended || k < 0) return { final: true, when, disparity, truth, unit: unitOf(maps.disparity), every: step };
  if (weights.shown?.k === k) return weights.shown;
  const { before_columns: across, before_rows: down, before_step: every, low, high } = weights, unit = (high - low) / 255;
  if (!weights.nearest) {
    const place = (i, most) => Math.min(Math.round(i * step / every), most - 1);
    weights.nearest = new Uint32Array(columns * rows);
    for (let row = 0, i = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) weights.nearest[i++] = place(row, down) * across + place(column, across);
    }
  }
  const recorded = Float32Array.from(weights.before.subarray(k * across * down, (k + 1) * across * down), (code) => {
    const value = low + unit * code;
    return Math.abs(value) < 1e-6 * unit ? 0 : value; // rounding alone
  });
  const spread = (values) => values && new Float32Array(columns * rows).map((_, i) => values[weights.nearest[i]]);
  return (weights.shown = {
    k, final: false, when: `before solve ${weights.solves[k]}`, unit, every, recorded,
    disparity: spread(recorded), truth: weights.shown?.truth ?? spread(weights.truth),
    at: (i) => ({ x: every * (weights.nearest[i] % across), y: every * Math.floor(weights.nearest[i] / across) }),
  });
}

// RMSE and BadPix over the recorded pixels, in words, as gradcon.metrics has them: BadPix without a border, where that leaves any.
function measured({ weights, width, height }, recorded, limit) {
  const { before_columns: across, before_step: every, truth } = weights, { border } = data;
  const all = { known: 0, bad: 0, squares: 0 }, inner = { known: 0, bad: 0 };
  recorded.forEach((value, i) => {
    const error = Math.abs(value - truth[i]), x = every * (i % across), y = every * Math.floor(i / across);
    if (error !== error) return;
    all.squares += error * error;
    const inside = x >= border && y >= border && x < width - border && y < height - border;
    for (const part of inside ? [all, inner] : [all]) part.known++, (part.bad += error > limit);
  });
  const { known, bad } = inner.known ? inner : all;
  if (!known) return { rmse: "unknown", badpix: "unknown" };
  return { rmse: `about ${short(Math.sqrt(all.squares / all.known))}`, badpix: `about ${percent(bad / known, 1)}` };
}

// The recorded pixel that is nearest to the chosen one.
function sampleOf(result) {
  const { first, step, rows, columns } = result.weights, { x, y } = pixel(result);
  const place = (value, most) => clamp(Math.round((value - first) / step), 0, most - 1), i = place(y, rows), j = place(x, columns);
  return { index: i * columns + j, x: first + step * j, y: first + step * i };
}

// Share of the trust of each scale and view there, in record k: shares[scale][view].
function trustAt(result, k) {
  const { weights, targets } = result, Q = weights.scales.length, T = targets.length;
  const start = (k * weights.rows * weights.columns + sampleOf(result).index) * Q * T;
  return weights.scales.map((_, q) => Array.from({ length: T }, (_, t) => (weights.codes[start + q * T + t] / 255) ** 2));
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

// Where the reference and the others stand, in a square of -1 to 1, x and y in proportion; a baseline points against the
// camera's movement.
function places(baselines) {
  const all = [[0, 0], ...baselines].map(([x, y]) => [-x, -y]);
  const ends = [0, 1].map((axis) => [Math.min, Math.max].map((end) => end(...all.map((place) => place[axis]))));
  const reach = Math.max(1e-9, ...ends.map(([low, high]) => (high - low) / 2));
  return all.map((place) => place.map((value, axis) => (value - (ends[axis][0] + ends[axis][1]) / 2) / reach));
}

// The view nearest to where the camera is wanted.
function viewOf(result) {
  const far = places(result.views.baselines).slice(1).map(([x, y]) => Math.hypot(x - state.camera[0], y - state.camera[1]));
  return far.indexOf(Math.min(...far));
}

// ---- Pictures ------------------------------------------------------------------------------------------------------

const TABLES = Object.fromEntries(Object.entries(data.colours).map(([name, hex]) => {
  const table = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const [r, g, b] = [0, 2, 4].map((part) => parseInt(hex.slice(6 * i + part, 6 * i + part + 2), 16));
    table[i] = 0xff000000 | (b << 16) | (g << 8) | r;
  }
  return [name, table];
}));
const GOOD = 0xff8a5a2a, BAD = 0xff4fc8ff; // as 0xaabbggrr: a deep blue, a light orange

function valuesOf(result, map) { // of a map, or null where the result has none
  if (map === "views") return null;
  if (map === "uncertainty") return result.uncertainty ?? null;
  const { disparity, truth } = shownOf(result);
  if (map === "disparity") return disparity;
  return truth ? disparity.map((value, i) => value - truth[i]) : null;
}

function paint(result) {
  const canvas = $("canvas.map", result.figure), { columns, rows, views } = result;
  const context = canvas.getContext("2d"), { final, every, recorded, truth, ...shown } = shownOf(result), sure = state.map === "uncertainty";
  const when = sure && shown.when ? "final" : shown.when, apart = sure ? result.step : every;
  const sampled = apart > 1 ? `${final || sure ? "" : "recorded at "}one pixel of every ${apart} x ${apart}` : "";
  const say = (...what) => {
    $(".what", result.figure).textContent = what.filter(Boolean).join(", ");
    canvas.setAttribute("aria-label", `${title(result)}${result.label}, ${what.filter(Boolean).join(", ")}`);
  };
  if (state.map === "views" && views) {
    const k = viewOf(result), { width, height } = views;
    [canvas.width, canvas.height] = [width, height];
    const [left, top] = [(k % views.columns) * width, Math.floor(k / views.columns) * height];
    context.drawImage(views.sheet, left, top, width, height, 0, 0, width, height);
    canvas.dataset.view = k;
    const here = views.names.length, of = result.targets.length + 1;
    return say(`${k ? "view" : "reference"} ${views.names[k]}`, here < of && `${here} of ${of} views are here`);
  }
  const values = valuesOf(result, state.map);
  [canvas.width, canvas.height] = [columns, rows];
  if (!values) return say(`has no ${{ views: "views.jpg", uncertainty: "uncertainty" }[state.map] ?? "ground truth"}`);
  const image = context.createImageData(columns, rows), pixels = new Uint32Array(image.data.buffer);
  const name = state.map === "badpix" ? "error" : state.map, table = TABLES[name];
  const [low, high] = data.scales[name], factor = 256 / (high - low), limit = state.threshold;
  for (let row = 0, i = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++, i++) {
      const value = values[i];
      if (state.map === "badpix" && truth[i] === truth[i]) pixels[i] = Math.abs(value) <= limit ? GOOD : BAD; // BAD, too, where unknown
      else if (value !== value) pixels[i] = ((column + row) & 7) < 2 ? 0xff777777 : 0xffb8b8b8; // unknown: hatched
      else pixels[i] = table[clamp((value - low) * factor, 0, 255) | 0];
    }
  }
  context.putImageData(image, 0, 0);
  if (name !== "error") return say(`${state.map} ${statistics(values)}`, when, sampled);
  const exact = () => ({
    rmse: result.rmse === null ? "infinite, for some disparities are unknown" : result.rmse.toFixed(4),
    badpix: percent(result.badpix[limit] / 100, 2),
  });
  const { rmse, badpix } = final ? exact() : measured(result, recorded, limit);
  say(state.map === "error" ? `RMSE ${rmse}` : `BadPix ${badpix} worse than ${limit}`, when, sampled);
}

function readout(result) {
  const { index, x, y } = pixel(result), { maps, calibration, views, step } = result, shown = shownOf(result);
  const disparity = shown.disparity[index], digits = decimals(shown.unit), at = shown.final ? { x, y } : shown.at(index);
  const rows = [["pixel", `${x}, ${y}${state.held ? " (held)" : ""}`]];
  if (!shown.final && shown.every > 1) rows.push(["recorded at", `${at.x}, ${at.y}`]);
  rows.push(["disparity", number(disparity, digits)]);
  if (calibration) {
    const q = disparity + calibration.offset, depth = calibration.product / q, known = q > 0 && depth < 3e38; // as a float32
    rows.push(["depth", known ? `${number(depth, decimals(depth / q * shown.unit))} ${calibration.unit || "(no unit)"}` : "unknown"]);
  }
  if (result.uncertainty) { // which there is of the final map alone
    const value = result.uncertainty[index], deviation = value ? value.toPrecision(4) : "0";
    rows.push(["uncertainty", `${value === value ? `± ${deviation}` : "unknown"}${shown.when ? " at the end" : ""}`]);
  }
  if (shown.truth) {
    rows.push(["truth", number(shown.truth[index], decimals(unitOf(maps.truth)))]);
    rows.push(["error", number(disparity - shown.truth[index], digits, true)]);
  }
  if (shown.when) rows.push(["as it was", shown.when]);
  const list = $(".readout", result.figure);
  list.replaceChildren();
  for (const [name, value] of rows) {
    const pair = make("div", { "data-name": name }, list);
    make("dt", {}, pair, name);
    make("dd", {}, pair, value);
  }
  // In another view the same point is at (x, y) + B w, unless its camera is turned: then it is not known here.
  const view = state.map === "views" && views ? viewOf(result) : 0, baseline = view ? views.baselines[view] : [0, 0];
  const marker = $(".marker", result.figure), w = disparity === disparity ? disparity : 0;
  const from = view ? at : { x, y }; // in a view, the point whose disparity it is
  const left = ((from.x + baseline[0] * w) / step + 0.5) / result.columns;
  const top = ((from.y + baseline[1] * w) / step + 0.5) / result.rows;
  marker.hidden = (view && !views.planar) || left < 0 || left > 1 || top < 0 || top > 1;
  marker.style.left = `${100 * left}%`;
  marker.style.top = `${100 * top}%`;
  return rows.map((pair) => pair.join(" ")).join(", ");
}

function number(value, digits, signed = false) {
  if (value !== value) return "unknown";
  return (signed && value > 0 ? "+" : "") + value.toFixed(digits).replace("-", "−");
}

let speaking = 0;
function speak(text) { // after a pause, or a reader of the screen would never be done
  clearTimeout(speaking);
  speaking = setTimeout(() => ($("#spoken").textContent = text), 500);
}

function drawLegend() {
  const legend = $("#legend"), name = state.map;
  legend.replaceChildren();
  if (name === "views") return void (legend.textContent = "Move over the picture: the camera moves with the pointer.");
  if (name === "badpix") {
    for (const [style, text] of [["good", `error up to ${state.threshold}`], ["bad", `more than ${state.threshold}`]]) {
      make("span", { class: `swatch ${style}` }, legend);
      make("span", {}, legend, text);
    }
  } else {
    const [low, high] = data.scales[name], bar = make("canvas", { width: 256, height: 1, class: "bar", "aria-hidden": "true" });
    const context = bar.getContext("2d"), image = context.createImageData(256, 1);
    new Uint32Array(image.data.buffer).set(TABLES[name]);
    context.putImageData(image, 0, 0);
    const ends = { disparity: ["", " nearer"], error: [" too far", " too near"], uncertainty: [" sure", " unsure"] }[name];
    make("span", {}, legend, (name === "uncertainty" ? "" : "≤ ") + short(low) + ends[0]);
    legend.append(bar);
    make("span", {}, legend, `≥ ${short(high)}${ends[1]}`);
    make("span", { class: "unit" }, legend, data.unit);
  }
  const unknown = make("span", { class: "pair" }, legend);
  make("span", { class: "swatch unknown" }, unknown);
  unknown.append(" unknown");
}

// Distance between the closest two of the cameras, as they are drawn.
function spacing(baselines) {
  const all = places(baselines);
  let least = 0.5;
  for (let a = 0; a < all.length; a++) for (let b = 0; b < a; b++) {
    const far = Math.hypot(all[a][0] - all[b][0], all[a][1] - all[b][1]);
    if (far > 0.06) least = Math.min(least, far);
  }
  return least;
}

// Where the cameras stand, the reference a cross; returns the discs.
function cameraMap(svg, baselines, names) {
  svg.setAttribute("viewBox", "-1.3 -1.3 2.6 2.6");
  const [[left, top], ...others] = places(baselines);
  make("path", { d: `M${left - 0.09} ${top}h.18m-.09-.09v.18`, class: "reference" }, svg);
  return others.map(([x, y], t) => {
    const disc = make("circle", { cx: x, cy: y, r: 0.06, class: "camera" }, svg);
    make("title", {}, disc, names[t]);
    return disc;
  });
}

function setUpPicture(result) {
  const picture = $(".picture", result.figure), canvas = $("canvas", picture), { columns, rows } = result;
  result.figure.style.setProperty("--aspect", columns / rows);
  const cameras = $(".cameras", result.figure);
  const discs = result.views ? cameraMap(cameras, result.views.baselines, result.views.names) : [];

  const point = (event) => {
    const box = canvas.getBoundingClientRect();
    const x = clamp((event.clientX - box.left) / box.width, 0, 0.99999);
    const y = clamp((event.clientY - box.top) / box.height, 0, 0.99999);
    if (state.map === "views") set({ camera: [2 * x - 1, 2 * y - 1] });
    else if (!state.held || event.type === "click") set({ x, y });
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("click", (event) => {
    if (state.map !== "views") set({ held: !state.held });
    point(event);
  });
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && state.map !== "views") return set({ held: !state.held });
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    if (state.map === "views" && result.views) return moveCamera(result, way);
    const stride = event.shiftKey ? 10 : 1, { column, row } = pixel(result);
    const to = (from, by, most) => (clamp(from + stride * by, 0, most - 1) + 0.5) / most;
    set({ x: to(column, way[0], columns), y: to(row, way[1], rows) });
  });
  panels.push({ on: ["map", "threshold", "solve", "camera"], draw: (now) => {
    if (now.size === 1 && now.has("camera") && state.map !== "views") return;
    cameras.classList.toggle("shown", state.map === "views" && discs.length > 0);
    discs.forEach((disc, k) => disc.classList.toggle("on", k === viewOf(result)));
    paint(result);
  } });
}

// To the next camera in a direction: the nearest of those that lie more that way than across.
function moveCamera(result, [dx, dy]) {
  const all = places(result.views.baselines).slice(1), here = all[viewOf(result)];
  let best = null, least = Infinity;
  for (const place of all) {
    const along = (place[0] - here[0]) * dx + (place[1] - here[1]) * dy;
    const across = Math.abs((place[0] - here[0]) * dy) + Math.abs((place[1] - here[1]) * dx);
    if (along > 1e-6 && across <= along && along + across < least) [best, least] = [place, along + across];
  }
  if (best) set({ camera: best });
}

// ---- Convergence ---------------------------------------------------------------------------------------------------

const DASHES = ["", "7 4", "2 3", "10 3 2 3", "1 2", "14 4"];

function drawConvergence() {
  const holder = $("#convergence .charts"), width = Math.max(holder.clientWidth, 200);
  holder.replaceChildren();
  const curves = [["step", "mean step of a solve (pixels, log)", true], ["rmse", "RMSE after a solve (pixels)", false]];
  for (const [name, label, log] of curves) {
    const lines = results.map((result) => result.history.filter((row) => row[name] !== null && (!log || row[name] > 0)));
    if (lines.some((line) => line.length)) chart(holder, width, name, label, log, lines);
  }
  if (!holder.children.length) make("p", {}, holder, "The results say nothing of their solves.");
  drawSolve();
}

function chart(holder, width, name, label, log, lines) {
  const height = width > 420 ? 200 : 170, [left, right, top, bottom] = [52, 10, 28, 22];
  const all = lines.flat().map((row) => row[name]), scale = log ? Math.log10 : (value) => value;
  let low = scale(Math.min(...all)), high = scale(Math.max(...all));
  if (!log) low = Math.min(0, low);
  if (high - low < 1e-9) high = low + 1;
  const x = (solve) => left + (width - left - right) * (lastSolve > 1 ? (solve - 1) / (lastSolve - 1) : 0.5);
  const y = (value) => top + (height - top - bottom) * (1 - (scale(value) - low) / (high - low));
  const ends = (line, k) => (line.length ? `${title(results[k])}${short(line[0][name])} to ${short(line.at(-1)[name])}` : "");
  const inWords = `${label} over ${lastSolve} solves: ${lines.map(ends).filter(Boolean).join("; ")}`;
  const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": inWords }, holder);
  make("text", { x: 0, y: 13, class: "heading" }, svg, label);
  for (const value of ticks(low, high, log)) {
    make("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "grid" }, svg);
    make("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, svg, short(value));
  }
  for (const solve of new Set([1, Math.round((1 + lastSolve) / 2), lastSolve])) {
    const anchor = solve === lastSolve && lastSolve > 1 ? "end" : "middle";
    make("text", { x: x(solve), y: height - 6, "text-anchor": anchor }, svg, solve);
  }
  lines.forEach((line, k) => make("polyline", {
    points: line.map((row) => `${x(row.solve).toFixed(1)},${y(row[name]).toFixed(1)}`).join(" "),
    class: `line line-${k % 6}`, "stroke-dasharray": DASHES[k % 6],
  }, svg));
  const now = make("line", { y1: top, y2: height - bottom, class: "now-line" }, svg);
  svg.place = (solve) => [now.setAttribute("x1", x(solve)), now.setAttribute("x2", x(solve))];
  const choose = (event) => {
    const share = (event.clientX - svg.getBoundingClientRect().left - left) / (width - left - right);
    set({ solve: clamp(Math.round(1 + share * (lastSolve - 1)), 1, lastSolve) });
  };
  svg.addEventListener("pointerdown", choose);
  svg.addEventListener("pointermove", (event) => event.buttons && choose(event));
}

function ticks(low, high, log) {
  if (log) {
    const first = Math.ceil(low), count = Math.floor(high) - first + 1;
    if (count >= 2) return Array.from({ length: count }, (_, k) => 10 ** (first + k));
    return [10 ** low, 10 ** high];
  }
  const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, k) => k * step);
}

function drawSolve() {
  for (const svg of $$("#convergence svg.chart")) svg.place(state.solve);
  const slider = $("input[name=solve]");
  if (slider) {
    slider.value = state.solve;
    slider.setAttribute("aria-valuetext", `solve ${state.solve} of ${lastSolve}`);
    $("#solve-number").textContent = `${state.solve} of ${lastSolve}`;
  }
  const list = $("#convergence .now");
  list.replaceChildren();
  results.forEach((result, k) => {
    const row = historyRow(result), item = make("li", { class: `line-${k % 6}` }, list);
    const key = make("svg", { width: 34, height: 10, "aria-hidden": "true" }, item);
    make("line", { x1: 0, x2: 34, y1: 5, y2: 5, class: `line line-${k % 6}`, "stroke-dasharray": DASHES[k % 6] }, key);
    if (!row) return void make("span", {}, item, `${title(result)}no solves recorded`);
    const parts = [`solve ${row.solve} of ${result.solves}`];
    if (row.step !== null) parts.push(`mean step ${short(row.step)}`);
    if (row.rmse !== null) parts.push(`RMSE ${row.rmse.toFixed(4)}`);
    if (row.views !== null) parts.push(`${row.views} views`);
    if (row.scales.length) parts.push(`scale${row.scales.length > 1 ? "s" : ""} ${row.scales.join(", ")}`);
    make("span", {}, item, title(result) + parts.join(" · "));
    if (row.solve === result.solves && result.stopped) make("bdi", { class: "stopped" }, item, result.stopped);
  });
}

// ---- Trust: which views and scales, solve by solve -----------------------------------------------------------------

function setUpTrust(result) {
  const holder = $(`.trust[data-key=${result.key}]`), { weights, targets, baselines } = result;
  if (!weights || !targets.length) {
    const how = "Not recorded: gradcon estimate SCENE --out DIR --keep-weights records which views and scales ";
    return void make("p", { class: "none" }, holder, how + "each pixel trusted, solve by solve.");
  }
  const order = weights.scales.map((_, q) => q).sort((a, b) => weights.scales[a] - weights.scales[b]); // the finest first
  const nameOf = (q) => (q === order[0] ? "finest scale" : `scale ${weights.scales[q]}`), widest = spacing(baselines) / 2;
  const reach = baselines.map(([x, y]) => Math.hypot(x, y)), far = reach.map((length) => length > Math.max(...reach) / 2 + 1e-9);
  const text = make("p", { class: "sentence" }, holder), scaleMaps = make("div", { class: "scales" }, holder);
  const maps = order.map((q) => {
    const box = make("figure", {}, scaleMaps), svg = make("svg", { class: "cameras shown", role: "img" }, box);
    return { q, svg, discs: cameraMap(svg, baselines, targets), caption: make("figcaption", {}, box) };
  });
  const overScales = stack(holder, weights.solves, order.map(nameOf), "share of each scale");
  const both = new Set(far).size > 1, halves = ["near views", "far views"]; // baselines of one length are neither near nor far
  const overReach = both && stack(holder, weights.solves, halves, "far is beyond half of the longest baseline");

  const render = () => {
    const k = recordOf(result), shares = trustAt(result, k), whole = sum(shares.flat()) || 1;
    const byView = targets.map((_, t) => sum(shares.map((scale) => scale[t])) / whole), best = byView.indexOf(Math.max(...byView));
    const largest = Math.max(1e-9, ...shares.flat());
    for (const { q, svg, discs, caption } of maps) {
      const total = sum(shares[q]) / whole;
      discs.forEach((disc, t) => {
        const share = shares[q][t];
        disc.setAttribute("r", (0.025 + (widest - 0.025) * Math.sqrt(share / largest)).toFixed(3));
        disc.style.fillOpacity = (0.25 + 0.75 * share / largest).toFixed(3);
        disc.classList.toggle("unused", share === 0);
        disc.firstChild.textContent = `${targets[t]}: ${percent(share / whole, 1)}`;
      });
      caption.textContent = `${nameOf(q)}: ${rounded(total)}`;
      svg.setAttribute("aria-label", `${nameOf(q)}: ${rounded(total)} of the trust`);
    }
    const parts = maps.map(({ q }) => `${nameOf(q)}: ${rounded(sum(shares[q]) / whole)}`), { x, y } = sampleOf(result);
    text.replaceChildren(`At ${x}, ${y}, the nearest recorded pixel, before solve ${weights.solves[k]}: ${parts.join(", ")}. `);
    const used = targets.map((_, t) => t).filter((t) => byView[t] > 0), roots = shares.map((scale) => used.map((t) => Math.sqrt(scale[t])));
    if (used.length > 1 && roots.every((scale) => Math.max(...scale) - Math.min(...scale) < 1.5 / 255)) { // a code is a root
      text.append(`${used.length < targets.length ? `The ${used.length} views in use` : "All views"} alike: ${rounded(byView[best])} each`);
    } else {
      text.append("Most trusted view ");
      make("bdi", {}, text, targets[best]);
      text.append(`: ${rounded(byView[best])}`);
    }
    text.append(both ? `; far views: ${rounded(sum(byView.filter((_, t) => far[t])))}.` : ".");
    const all = weights.solves.map((_, n) => trustAt(result, n));
    overScales(all.map((one) => order.map((q) => sum(one[q]))), k);
    if (both) overReach(all.map((one) => [false, true].map((side) => sum(one.flatMap((scale) => scale.filter((_, t) => far[t] === side))))), k);
  };
  panels.push({ on: ["x", "y", "solve"], draw: render });
}

// Stacked bars, one a recorded solve; returns the function that gives them their heights.
function stack(holder, solves, names, label) {
  const box = make("figure", { class: "stack" }, holder);
  const caption = make("figcaption", {}, box), viewBox = `0 0 ${solves.length * 10} 34`;
  const svg = make("svg", { viewBox, preserveAspectRatio: "none", role: "img" }, box);
  names.forEach((name, n) => {
    make("i", { class: `swatch share-${Math.min(n, 5)}` }, caption);
    caption.append(`${name} `);
  });
  const bars = solves.map((solve, k) => {
    const group = make("g", {}, svg), bar = { x: 10 * k + 0.6, width: 8.8 };
    const parts = names.map((_, n) => make("rect", { ...bar, class: `share-${Math.min(n, 5)}` }, group));
    make("title", {}, group, `solve ${solve}`);
    group.addEventListener("click", () => set({ solve }));
    return { group, parts };
  });
  make("p", { class: "axis" }, box, `recorded solves ${solves[0]} to ${solves.at(-1)}; ${label}`);
  return (shares, chosen) => {
    shares.forEach((parts, k) => {
      const whole = sum(parts) || 1;
      let base = 34;
      parts.forEach((part, n) => {
        const height = 34 * part / whole;
        base -= height;
        bars[k].parts[n].setAttribute("y", base.toFixed(2));
        bars[k].parts[n].setAttribute("height", height.toFixed(2));
      });
      bars[k].group.classList.toggle("on", k === chosen);
    });
    const whole = sum(shares[chosen]) || 1;
    const inWords = names.map((name, n) => `${name} ${rounded(shares[chosen][n] / whole)}`).join(", ");
    svg.setAttribute("aria-label", `${label}; before solve ${solves[chosen]}: ${inWords}`);
  };
}

// ---- Points in space -----------------------------------------------------------------------------------------------

const MOST_CLOUDS = 12; // a browser gives up the oldest of more than 16

const VERTEX = `
  attribute vec3 place; attribute vec3 colour; varying vec3 tint;
  uniform mat3 turn; uniform vec3 centre; uniform vec3 lens; uniform vec2 axis; uniform float size;
  void main() {
    vec3 p = turn * (place - centre);
    float z = p.z + lens.z, near = .02 * lens.z;
    gl_Position = vec4(lens.x * (p.x - axis.x * p.z), lens.y * (axis.y * p.z - p.y), z - 2. * near, z);
    gl_PointSize = clamp(size * place.z / max(z, near), 1., 24.); // a pixel's width at its depth
    tint = colour;
  }`;
const FRAGMENT = "precision mediump float; varying vec3 tint; void main() { gl_FragColor = vec4(tint, 1.); }";

// Points and colours of the pixels to keep, at most data.points, in an order of which every beginning is spread evenly.
function pointsOf(result) {
  const { columns, rows, keep, disparity, views } = result, kept = [];
  for (let i = 0; i < columns * rows; i++) if (keep[i >> 3] >> (i & 7) & 1) kept.push(i);
  const of = kept.length, share = Math.min(data.points / of, 1), parts = Array.from({ length: 64 }, () => []);
  for (const i of kept) {
    const rank = (0.7548776662 * (i % columns) + 0.569840291 * Math.floor(i / columns)) % 1;
    if (rank < share) parts[Math.floor(64 * rank / share)].push(i);
  }
  const chosen = parts.flat().slice(0, data.points);
  const count = chosen.length;
  const places = new Float32Array(3 * count), colours = new Uint8Array(3 * count);
  let picture = null;
  if (views) {
    const context = new OffscreenCanvas(columns, rows).getContext("2d", { willReadFrequently: true });
    context.drawImage(views.sheet, 0, 0, views.width, views.height, 0, 0, columns, rows);
    picture = context.getImageData(0, 0, columns, rows).data;
  }
  const [low, high] = data.scales.disparity;
  for (let n = 0; n < count; n++) {
    const i = chosen[n];
    places.set(placeOf(result, i), 3 * n);
    if (picture) for (let part = 0; part < 3; part++) colours[3 * n + part] = picture[4 * i + part];
    else {
      const tint = TABLES.disparity[clamp(256 * (disparity[i] - low) / (high - low), 0, 255) | 0];
      for (let part = 0; part < 3; part++) colours[3 * n + part] = tint >> 8 * part;
    }
  }
  return { count, of, places, colours };
}

// A pixel in space: x to the right, y down, z ahead.
function placeOf({ columns, step, disparity, cloud: { product, offset, K } }, i) {
  const [[fx, skew, cx], [, fy, cy]] = K, z = product / (disparity[i] + offset);
  const v = (Math.floor(i / columns) * step - cy) / fy, u = ((i % columns) * step - cx - skew * v) / fx;
  return [u * z, v * z, z];
}

function setUpCloud(result) {
  const figure = $(`.cloud[data-key=${result.key}]`), canvas = $("canvas", figure), about = $(".about", figure);
  const { count, of, places, colours } = pointsOf(result), { calibration, cloud, columns } = result;
  const scale = calibration ? (cloud.unit ? `in ${cloud.unit}` : "up to scale") : "not to scale: the cameras are not calibrated";
  const number = count.toLocaleString("en") + (of > count ? ` of ${of.toLocaleString("en")}` : "");
  const tint = result.views ? "" : "; coloured by disparity";
  const which = result.uncertainty ? "the surest pixels of the final disparity" : "of the final disparity";
  const text = `${number} points, ${scale}; ${which}, gaps between surfaces left out${tint}`;
  about.textContent = text;
  canvas.setAttribute("aria-label", `${title(result)}point cloud, ${text}`);
  // What the reference camera sees, which need not be on its axis, is in the middle; of a strip with room to turn it.
  const [[fx, skew, cx], [, fy, cy]] = cloud.K, down = ((result.height - 1) / 2 - cy) / fy;
  const axis = [((result.width - 1) / 2 - cx - skew * down) / fx, down];
  const [wide, high] = [result.width / fx, result.height / fy].map(Math.abs), aspect = clamp(wide / high || 1, 0.6, 2.5);
  const lens = 2 / Math.max(wide, high * aspect);
  canvas.style.setProperty("--aspect", aspect);
  const drawn = results.indexOf(result) < MOST_CLOUDS;
  const gl = drawn && count ? canvas.getContext("webgl", { alpha: false, antialias: false }) : null;
  if (!gl) {
    canvas.remove();
    const noWebGL = "This browser has no WebGL to draw the points; gradcon estimate --points writes them as points.ply.";
    const tooMany = `A page draws the points of its first ${MOST_CLOUDS} results; make one of fewer.`;
    about.textContent = !count ? "No pixel of this result has a depth." : drawn ? noWebGL : tooMany;
    return;
  }
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  const uniform = Object.fromEntries(["turn", "centre", "lens", "axis", "size"].map((name) => [name, gl.getUniformLocation(program, name)]));
  const all = new Float32Array(3 * count + 3), tints = new Uint8Array(3 * count + 3); // and one for the pixel pointed at
  all.set(places);
  tints.set(colours);
  tints.set([255, 40, 0], 3 * count);
  [["colour", tints, gl.UNSIGNED_BYTE], ["place", all, gl.FLOAT]].forEach(([name, array, type]) => { // the places stay bound
    const location = gl.getAttribLocation(program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, array, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, 3, type, type !== gl.FLOAT, 0, 0);
  });
  gl.enable(gl.DEPTH_TEST);
  const depth = places.filter((_, n) => n % 3 === 2).sort()[count >> 1]; // the median
  gl.uniform3f(uniform.centre, axis[0] * depth, axis[1] * depth, depth);
  gl.uniform2fv(uniform.axis, axis);

  const resize = () => {
    const width = Math.round(canvas.clientWidth * Math.min(devicePixelRatio, 2)) || 300, height = Math.round(width / aspect);
    [canvas.width, canvas.height] = [width, height];
    gl.viewport(0, 0, width, height);
    gl.clearColor(...getComputedStyle(canvas).backgroundColor.match(/[\d.]+/g).slice(0, 3).map((part) => part / 255), 1);
  };
  const rest = (delay) => { // draw again, and all of it, when nothing has happened for a while
    clearTimeout(resting);
    resting = setTimeout(() => { changed.add("rest"); set({}); }, delay);
  };
  const render = (now) => {
    const moves = ["yaw", "pitch", "zoom"].some((name) => now.has(name));
    if (now.has("size")) resize();
    else if (!moves && !now.has("rest")) return rest(200); // the pixel alone: the pictures come first
    // Near things follow the hand: to the right as the yaw grows, down as the pitch does.
    const [sy, cy, sp, cp] = [-Math.sin(state.yaw), Math.cos(state.yaw), Math.sin(state.pitch), Math.cos(state.pitch)];
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix3fv(uniform.turn, false, [cy, sy * sp, -sy * cp, 0, cp, sp, sy, -cy * sp, cy * cp]);
    gl.uniform3f(uniform.lens, lens, lens * aspect, depth / state.zoom);
    // While it turns, as many points as this machine can draw at 30 frames a second; all of them once it rests.
    const start = performance.now(), drawn = moves ? Math.floor(most) : count;
    if (moves) requestAnimationFrame(() => {
      const lasted = performance.now() - start;
      most = clamp(most * (lasted > 40 ? 0.7 : lasted < 25 ? 1.25 : 1), Math.min(count, 8000), count);
    });
    if (drawn < count) rest(150);
    // Wide enough that the pixels which are left out leave no holes.
    const size = 1.7 * canvas.width * wide * lens / 2 / columns * Math.sqrt(of / drawn);
    gl.uniform1f(uniform.size, size);
    gl.drawArrays(gl.POINTS, 0, drawn);
    const at = placeOf(result, pixel(result).index);
    if (at[2] > 0 && at[2] < Infinity) {
      gl.bufferSubData(gl.ARRAY_BUFFER, 12 * count, new Float32Array(at));
      gl.uniform1f(uniform.size, Math.max(9, 3 * size));
      gl.disable(gl.DEPTH_TEST); // seen through what is before it
      gl.drawArrays(gl.POINTS, count, 1);
      gl.enable(gl.DEPTH_TEST);
    }
    canvas.dataset.drawn = drawn;
  };
  let most = count, resting = 0;
  let from = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    from = [event.clientX, event.clientY, state.yaw, state.pitch];
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from || !event.buttons) return;
    const unit = Math.PI / canvas.clientWidth, down = event.pointerType === "touch" ? 0 : event.clientY - from[1]; // where a finger scrolls
    set({ yaw: from[2] + (event.clientX - from[0]) * unit, pitch: clamp(from[3] + down * unit, -1.5, 1.5) });
  });
  canvas.addEventListener("pointercancel", () => from && set({ yaw: from[2] })); // it was to scroll
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (from = null));
  canvas.addEventListener("wheel", (event) => {
    if (document.activeElement !== canvas) return; // the page scrolls
    event.preventDefault();
    set({ zoom: clamp(state.zoom * Math.exp(-event.deltaY / 500), 0.2, 8) });
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const arrows = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" };
    const way = { ...arrows, "+": "nearer", "=": "nearer", "-": "farther", 0: "reset" }[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    turn(way);
  });
  panels.push({ on: ["yaw", "pitch", "zoom", "size", "rest", "x", "y"], draw: render });
}

function turn(way) {
  const step = 0.1;
  if (way === "left" || way === "right") set({ yaw: state.yaw + (way === "right" ? step : -step) });
  if (way === "up" || way === "down") set({ pitch: clamp(state.pitch + (way === "down" ? step : -step), -1.5, 1.5) });
  if (way === "nearer" || way === "farther") set({ zoom: clamp(state.zoom * (way === "nearer" ? 1.2 : 1 / 1.2), 0.2, 8) });
  if (way === "reset") set({ yaw: 0, pitch: 0, zoom: 1 });
}

// ---- Controls, and the start ---------------------------------------------------------------------------------------

function setUpControls() {
  const form = $("#controls"), choices = $$("input[name=map]").map((input) => input.value);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({ target: { name, value } }) => set({ [name]: name === "map" ? value : Number(value) }));
  document.addEventListener("keydown", (event) => {
    if (!event.target.classList?.contains("keys") || event.ctrlKey || event.altKey || event.metaKey) return;
    const step = { "[": -1, "]": 1, PageUp: 1, PageDown: -1 }[event.key], choice = choices[Number(event.key) - 1];
    if (step && lastSolve) set({ solve: clamp(state.solve + step, 1, lastSolve) });
    else if (choice && event.key !== "0") set({ map: choice });
    else return;
    event.preventDefault();
  });
  for (const button of $$("button[data-turn]")) button.addEventListener("click", () => turn(button.dataset.turn));
  panels.push({ on: ["map", "threshold"], draw: () => {
    for (const input of $$("input[name=map]")) input.checked = input.value === state.map;
    $("#thresholds").hidden = state.map !== "badpix";
    drawLegend();
  } });
}

await Promise.all(results.map(load));
state.camera = places(results.find(({ views }) => views)?.views.baselines ?? [])[0]; // the reference's
setUpControls();
results.forEach(setUpPicture);
panels.push({ on: ["x", "y", "held", "solve", "map", "threshold", "camera"], draw: (now) => speak(results.map((result) => {
  const values = readout(result), has = (...names) => names.some((name) => now.has(name)); // what is new is spoken
  const caption = has("solve", "map", "threshold", "camera") && $(".what", result.figure).textContent;
  return title(result) + [caption, has("x", "y", "held", "solve") && values].filter(Boolean).join(", ");
}).join("; ")) });
panels.push({ on: ["size"], draw: drawConvergence }, { on: ["solve"], draw: drawSolve });
results.forEach(setUpTrust);
results.forEach(setUpCloud);
const redraw = () => { changed.add("size"); draw(); };
changed = new Set(Object.keys(state));
redraw();
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; redraw(); } });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("beforeprint", redraw); // or the points, whose pixels are gone once they were shown, would print black
window.gradcon = { data, state, set };
document.documentElement.dataset.ready = Math.round(performance.now());
})().catch((error) => { // such as an old browser, which lacks what is used here
  const note = document.createElement("p");
  note.textContent = `This browser could not draw the page (${error.message}); take a newer one.`;
  document.querySelector("header").append(note);
  console.error(error);
});
