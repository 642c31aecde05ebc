// What stands behind the rims of near surfaces, which a wide lens sees past them: the farther surface goes on there, in
// the colours that other views show, or else in its own colour at the rim.

const RIM = 20; // pixels, as far as the farther surface is continued and as far as a lens may blur
const RIM_STEPS = 24; // a rim is a jump by more than the range of the disparities divided by this

// Return the picture and the map behind the surfaces that a camera at a place sees; `pixels` has something behind it.
function behind(sources, shown, place) {
  const { width, height, range } = sources;
  const { map } = shown;
  const { pixels, from } = continued(map, width, height, range / RIM_STEPS);
  const deep = map.slice();
  for (const i of pixels) deep[i] = map[from[i]];
  const { picture, seen } = blended(sources, deep, place, pixels);
  for (const i of pixels) {
    if (seen[i]) continue;
    for (let part = 0; part < 4; part++) picture[4 * i + part] = shown.picture[4 * from[i] + part];
  }
  return { picture, map: deep, pixels };
}

// Find the pixels within RIM of a farther surface, ring by ring; `from` says at which pixel that surface ends.
function continued(map, width, height, jump) {
  const from = new Int32Array(width * height).fill(-1);
  const pixels = [];
  if (!(jump > 0)) return { pixels, from };
  const around = (i, reach, visit) => {
    const x = i % width;
    if (x >= reach) visit(i - reach);
    if (x < width - reach) visit(i + reach);
    if (i >= reach * width) visit(i - reach * width);
    if (i < (height - reach) * width) visit(i + reach * width);
  };
  for (let i = 0; i < map.length; i++) { // an edge of an estimate is up to two pixels wide
    for (const reach of [1, 2]) {
      around(i, reach, (k) => {
        if (map[i] - map[k] > jump && (from[i] < 0 || map[k] < map[from[i]])) from[i] = k;
      });
    }
    if (from[i] >= 0) pixels.push(i);
  }
  let ring = pixels.slice();
  for (let n = 1; n < RIM; n++) {
    const next = [];
    for (const i of ring) {
      around(i, 1, (k) => {
        if (from[k] >= 0 || map[k] - map[from[i]] <= jump) return;
        from[k] = from[i];
        next.push(k);
      });
    }
    pixels.push(...next);
    ring = next;
  }
  return { pixels, from };
}
