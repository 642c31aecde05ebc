// The map as another camera sees it.  Every pixel is a small patch of a surface, cut into four samples that land in the
// other view, where the nearest one counts.  Patches of one surface touch each other; at a jump they do not.  What the
// reference does not see is filled from the farther of the surfaces on both sides.

const JUMP = 1; // pixels that a jump opens in the other view; a smaller step is a slope

function carried({ map, width, height }, { right, down }) {
  const limit = JUMP / Math.max(Math.hypot(right, down), 1e-9);
  const front = new Float32Array(width * height).fill(-Infinity);
  for (const side of [-1, 1]) {
    for (const edge of [-1, 1]) splat(map, front, width, height, right, down, limit, side, edge);
  }
  const known = new Uint8Array(front.length);
  for (let i = 0; i < front.length; i++) known[i] = front[i] > -Infinity ? 1 : 0;
  if (!known.includes(1)) return { map: map.slice(), known }; // the camera looks elsewhere
  const seen = filled(front, known, width, height, right, down);
  settle(seen, known, map, width, height, right, down, limit);
  return { map: seen, known };
}

// Let one sample of each pixel land: a quarter of a pixel to the given side and edge, on the slope of the surface.
function splat(map, front, width, height, right, down, limit, side, edge) {
  for (let y = 0, i = 0; y < height; y++) {
    const below = y + edge >= 0 && y + edge < height ? edge * width : 0;
    for (let x = 0; x < width; x++, i++) {
      const w = map[i];
      const across = x + side >= 0 && x + side < width ? map[i + side] - w : 0;
      const along = map[i + below] - w;
      const fine = w + (Math.abs(across) < limit ? across / 4 : 0) + (Math.abs(along) < limit ? along / 4 : 0);
      const u = x + side / 4 - right * fine + 0.5;
      const v = y + edge / 4 - down * fine + 0.5;
      if (!(u >= 0 && v >= 0 && u < width && v < height)) continue;
      const to = Math.trunc(v) * width + Math.trunc(u);
      if (fine > front[to]) front[to] = fine;
    }
  }
}

// Read the map between its pixels, where a pixel of the other view comes from, unless a jump is there.
function settle(seen, known, map, width, height, right, down, limit) {
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (!known[i]) continue;
      const w = seen[i];
      const fromX = clamp(x + right * w, 0, width - 1);
      const fromY = clamp(y + down * w, 0, height - 1);
      const column = Math.min(Math.floor(fromX), Math.max(width - 2, 0));
      const row = Math.min(Math.floor(fromY), Math.max(height - 2, 0));
      const at = row * width + column;
      const beside = width > 1 ? 1 : 0;
      const below = height > 1 ? width : 0;
      const [a, b, c, d] = [map[at], map[at + beside], map[at + below], map[at + below + beside]];
      if (Math.max(a, b, c, d) - Math.min(a, b, c, d) >= limit) continue;
      const [g, f] = [fromX - column, fromY - row];
      const between = (1 - f) * ((1 - g) * a + g * b) + f * ((1 - g) * c + g * d);
      if (Math.abs(between - w) < limit) seen[i] = between;
    }
  }
}
