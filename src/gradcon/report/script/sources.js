// What new views are made of: the pictures and the map of a result, at a size at which a redraw is quick.

const MOST_PIXELS = 120000; // of a new view
const LEAST_BASELINE = 1e-9;

// Everything is in pixels of this size; disparities w are in these pixels per unit baseline.  A camera stands `right` and
// `down` of the reference, in unit baselines: it sees the reference's pixel (x, y) at (x, y) - (right, down) w.
function sourcesOf(result) {
  const { views } = result;
  const factor = Math.min(1, Math.sqrt(MOST_PIXELS / (views.width * views.height)));
  const width = Math.max(1, Math.round(views.width * factor));
  const height = Math.max(1, Math.round(views.height * factor));
  const map = scaledMap(result, width, height);
  if (!map) return null;
  const shown = views.planar ? views.baselines : views.baselines.slice(0, 1);
  const cameras = shown.map(([x, y], k) => ({ k, right: 0 - x, down: 0 - y, length: Math.hypot(x, y) }));
  const unit = Math.min(...cameras.map(({ length }) => length).filter((length) => length > LEAST_BASELINE));
  const sources = {
    width,
    height,
    scale: width / result.width,
    map,
    range: rangeOf(map),
    cameras,
    unit: unit < Infinity ? unit : 1, // the shortest baseline
    reach: { right: endsOf(cameras, "right"), down: endsOf(cameras, "down") },
  };
  for (const camera of cameras) {
    camera.picture = once(() => pictureOf(views, camera.k, width, height));
    camera.front = once(() => (camera.length ? carried(sources, camera).map : map)); // the map as this camera sees it
  }
  return sources;
}

// A function that computes its value when it is first needed, and keeps it.
function once(compute) {
  let value;
  return () => (value ??= compute());
}

// The pixels of a view, four bytes each.
function pictureOf({ sheet, columns, width: wide, height: high }, k, width, height) {
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.imageSmoothingQuality = "high";
  const [left, top] = [(k % columns) * wide, Math.floor(k / columns) * high];
  context.drawImage(sheet, left, top, wide, high, 0, 0, width, height);
  return context.getImageData(0, 0, width, height).data;
}

// The final disparity at this size, without unknown pixels; null if all are unknown.
function scaledMap({ disparity, columns, rows, step, width: full }, width, height) {
  const scale = width / full;
  const place = (i, count) => clamp(Math.round(((i + 0.5) / scale - 0.5) / step), 0, count - 1);
  const column = Array.from({ length: width }, (_, x) => place(x, columns));
  const map = new Float32Array(width * height);
  for (let y = 0, i = 0; y < height; y++) {
    const row = place(y, rows) * columns;
    for (let x = 0; x < width; x++, i++) map[i] = disparity[row + column[x]] * scale;
  }
  const known = Uint8Array.from(map, (value) => Number(!Number.isNaN(value)));
  return known.includes(1) ? filled(map, known, width, height, 1, 0) : null;
}

function endsOf(cameras, axis) {
  const places = cameras.map((camera) => camera[axis]);
  return [Math.min(...places), Math.max(...places)];
}

// The range of nearly all disparities.
function rangeOf(map) {
  const some = map.filter((_, i) => i % 7 === 0).sort();
  return some[Math.floor(0.99 * some.length)] - some[Math.floor(0.01 * some.length)];
}

// Fill unknown pixels of a map with the farther of the nearest known ones in the directions of +move and -move, or with
// the farthest of all if there is none.
function filled(map, known, width, height, right, down) {
  const length = Math.hypot(right, down);
  const [across, along] = length > 0 && length < Infinity ? [right / length, down / length] : [1, 0];
  let farthest = Infinity;
  for (let i = 0; i < map.length; i++) if (known[i] && map[i] < farthest) farthest = map[i];
  const result = map.slice();
  const look = (x, y, sign) => {
    for (let n = 1; ; n++) {
      const column = Math.round(x + sign * n * across);
      const row = Math.round(y + sign * n * along);
      if (column < 0 || row < 0 || column >= width || row >= height) return Infinity;
      if (known[row * width + column]) return map[row * width + column];
    }
  };
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (known[i]) continue;
      const farther = Math.min(look(x, y, 1), look(x, y, -1));
      result[i] = farther < Infinity ? farther : farthest;
    }
  }
  return result;
}
