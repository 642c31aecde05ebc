// What the reader has chosen to see.  `set` changes it; the panels that depend on a change are drawn once a frame.

const lastSolve = Math.max(...results.map((result) => result.solves));

const state = {
  map: "disparity",
  threshold: data.thresholds[data.thresholds.length - 1],
  x: 0.5, // the pixel, as a share of the width and height, so that results of different sizes have it in common
  y: 0.5,
  held: false,
  camera: [0, 0], // where the camera should be, from -1 to 1
  solve: lastSolve,
  yaw: 0,
  pitch: 0,
  zoom: 1,
  right: 0, // where the camera of the new view stands, in unit baselines from the reference
  down: 0,
  aperture: 0, // of its lens, in unit baselines
  // Where it is focused: at a point of the reference, as a share of its size.  If the point was chosen in the new view
  // of the result `of`, w is its disparity there, because something may hide the point from the reference.
  sharp: { x: 0.5, y: 0.5, of: "", w: 0 },
};

const panels = []; // { on: the names that it depends on, draw }
let changed = new Set();
let awaited = false;

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
  for (const panel of panels) {
    if (panel.on.some((name) => now.has(name))) panel.draw(now);
  }
}

// Draw everything at its present size and in the present colours.
function redraw() {
  changed.add("size");
  draw();
}

// ---- What the state means for one result ----

// The chosen pixel: its column and row in the sampled maps, and x and y in the full-size picture.
function pixel({ columns, rows, step }) {
  const column = clamp(Math.floor(state.x * columns), 0, columns - 1);
  const row = clamp(Math.floor(state.y * rows), 0, rows - 1);
  return { column, row, index: row * columns + column, x: column * step, y: row * step };
}

function solveOf(result) {
  return Math.min(state.solve, result.solves);
}

function historyRow(result) {
  return result.history.findLast((row) => row.solve <= solveOf(result)) ?? result.history[0];
}
