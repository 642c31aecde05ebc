// The picture from any place, blended from the views that see the same surfaces.  A view counts if nothing stands in
// front there, more if its camera is near, and more if it agrees with the others.

const BLENDED = 4; // views; more cost time, and blur the picture where the map is wrong
const HIDDEN = 1; // pixels that two surfaces must be apart in a view for one to hide the other
const SAME_PLACE = 0.1; // of the shortest baseline, within which a camera is as good as the one asked for
const AGREEMENT = 10; // the difference in colour, of 255, that halves the weight of a view
const ROUNDS = 2;

// Blend the picture that a camera at a place has of surfaces, whose disparities are `map`; only at `pixels`, if given.
// `seen` says which of them a view shows.  Elsewhere the nearest views are blended, although something hides it there.
function blended(sources, map, { right, down }, pixels = null) {
  const { width, height, unit } = sources;
  const farthest = Math.max(...sources.cameras.map(({ length }) => length));
  const views = sources.cameras.map((camera) => {
    const distance = Math.hypot(camera.right - right, camera.down - down);
    const slack = HIDDEN / (camera.length || farthest || 1); // for the reference, pixels of the farthest view
    return { camera, distance, slack, weight: 1 / (distance + SAME_PLACE * unit) ** 2, picture: null, front: null };
  });
  views.sort((a, b) => a.distance - b.distance);
  const picture = new Uint8ClampedArray(4 * width * height);
  const seen = new Uint8Array(width * height);
  const mix = mixer();
  const count = pixels ? pixels.length : width * height;
  for (let n = 0; n < count; n++) {
    const i = pixels ? pixels[n] : n;
    const w = map[i];
    const x = (i % width) + right * w; // in the reference
    const y = Math.floor(i / width) + down * w;
    mix.used = 0;
    for (let k = 0; k < views.length && (k < BLENDED || !mix.used); k++) {
      take(views[k], x, y, w, true, mix, width, height);
    }
    seen[i] = mix.used > 0 ? 1 : 0;
    for (let k = 0; k < Math.min(BLENDED, views.length) && !seen[i]; k++) {
      take(views[k], x, y, w, false, mix, width, height);
    }
    agree(mix);
    picture[4 * i] = mix.mean[0];
    picture[4 * i + 1] = mix.mean[1];
    picture[4 * i + 2] = mix.mean[2];
    picture[4 * i + 3] = 255;
  }
  return { picture, seen };
}

function mixer() {
  const [colours, weights, mean] = [3 * BLENDED, BLENDED, 3].map((count) => new Float32Array(count));
  return { used: 0, colours, weights, mean };
}

// Add what a view shows of the reference's point (x, y) of disparity w; if `strict`, only if nothing hides it there.
function take(view, x, y, w, strict, mix, width, height) {
  const u = x - view.camera.right * w;
  const v = y - view.camera.down * w;
  if (strict) {
    if (!(u >= -0.5 && v >= -0.5 && u <= width - 0.5 && v <= height - 0.5)) return;
    view.front ??= view.camera.front();
    const column = Math.min(Math.max(Math.round(u), 0), width - 1);
    const row = Math.min(Math.max(Math.round(v), 0), height - 1);
    if (view.front[row * width + column] > w + view.slack) return;
  }
  view.picture ??= view.camera.picture();
  const n = mix.used++;
  mix.weights[n] = view.weight;
  sampleColour(view.picture, u, v, width, height, mix.colours, 3 * n);
}

// Interpolate a picture between its pixels; its border repeats.
function sampleColour(picture, u, v, width, height, out, at) {
  const x = Math.min(Math.max(u, 0), width - 1) || 0;
  const y = Math.min(Math.max(v, 0), height - 1) || 0;
  const column = Math.min(Math.floor(x), Math.max(width - 2, 0));
  const row = Math.min(Math.floor(y), Math.max(height - 2, 0));
  const beside = width > 1 ? 4 : 0;
  const below = height > 1 ? 4 * width : 0;
  const [g, f] = [x - column, y - row];
  const a = 4 * (row * width + column);
  const [p, q, r, s] = [(1 - f) * (1 - g), (1 - f) * g, f * (1 - g), f * g];
  for (let part = a; part < a + 3; part++) {
    const low = p * picture[part] + q * picture[part + beside];
    out[at++] = low + r * picture[part + below] + s * picture[part + below + beside];
  }
}

// The weighted mean of the colours, in which those that deviate from it count less.
function agree({ used, colours, weights, mean }) {
  for (let round = 0; round <= ROUNDS; round++) {
    let [red, green, blue, total] = [0, 0, 0, 0];
    for (let n = 0; n < used; n++) {
      let weight = weights[n];
      if (round) {
        const off = Math.abs(colours[3 * n] - mean[0]) + Math.abs(colours[3 * n + 1] - mean[1]);
        const deviation = (off + Math.abs(colours[3 * n + 2] - mean[2])) / 3 / AGREEMENT;
        weight /= 1 + deviation * deviation;
      }
      red += weight * colours[3 * n];
      green += weight * colours[3 * n + 1];
      blue += weight * colours[3 * n + 2];
      total += weight;
    }
    mean[0] = red / total;
    mean[1] = green / total;
    mean[2] = blue / total;
    if (used < 2) break;
  }
}
