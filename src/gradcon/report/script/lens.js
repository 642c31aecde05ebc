// What a wide lens makes of a sharp picture and its map.  The picture is cut into layers of equal blur, which are laid
// over each other from back to front: a blurred surface in front spreads over what is behind it, and a sharp one keeps
// its rim.  Light is mixed, of which pixels hold about the root.

const GAMMA = 2.2;
const LIGHT = Float32Array.from({ length: 256 }, (_, code) => (code / 255) ** GAMMA);
const CODES = Uint8Array.from({ length: 4096 }, (_, root) => Math.round(255 * (root / 4095) ** (2 / GAMMA)));
const FINE = 6; // levels in steps of half a pixel of blur; those beyond grow by a fifth each
const GROWTH = 1.2;

// The levels of the radii of blur, in steps of a part of a pixel up to RIM.
const PARTS = 8;
const LEVELS = Uint8Array.from({ length: RIM * PARTS + 1 }, (_, n) => {
  const radius = n / PARTS;
  return radius < FINE / 2 ? Math.round(2 * radius) : FINE + Math.round(Math.log(radius / (FINE / 2)) / Math.log(GROWTH));
});
const MOST_LEVELS = LEVELS[RIM * PARTS];

// The radius of a level, which is negative behind what is sharp.
function radiusOf(level) {
  const n = Math.abs(level);
  return n <= FINE ? n / 2 : (FINE / 2) * GROWTH ** (n - FINE);
}

// Return the picture that is sharp at the disparity `focus`; `radius` is the blur at a disparity of 1 away from it.
function throughLens({ width, height }, shown, deep, focus, radius) {
  const layers = layersOf(shown.map, deep, focus, radius);
  const light = new Float32Array(4 * width * height); // red, green, blue, and how much of a pixel is covered
  const layer = new Float32Array(4 * (width + 1) * height);
  for (const level of [...layers.keys()].sort((a, b) => a - b)) {
    // A layer includes the next one in front, so that a slope that crosses layers has no seam.
    const parts = [layers.get(level), layers.get(level + 1) ?? []];
    const radius = radiusOf(level);
    if (radius < 1) parts.forEach((pixels) => layOver(light, pixels, shown.picture, deep.picture));
    else {
      const disc = discOf(radius);
      layer.fill(0);
      for (const pixels of parts) scatter(layer, pixels, disc, shown.picture, deep.picture, width, height);
      compose(light, layer, disc.area, width, height);
    }
  }
  return developed(light);
}

// The pixels of each level; those that stand behind others have numbers beyond the picture.
function layersOf(map, deep, focus, radius) {
  const all = Array.from({ length: 2 * MOST_LEVELS + 1 }, () => []);
  const level = (w) => {
    const blur = radius * (w - focus);
    const n = LEVELS[Math.min(Math.round(Math.abs(blur) * PARTS), RIM * PARTS)];
    return MOST_LEVELS + (blur < 0 ? -n : n);
  };
  for (let i = 0; i < map.length; i++) all[level(map[i])].push(i);
  for (const i of deep.pixels) {
    const n = level(deep.map[i]);
    if (n < level(map[i]) - 1) all[n].push(map.length + i);
  }
  return new Map(all.map((pixels, n) => [n - MOST_LEVELS, pixels]).filter(([, pixels]) => pixels.length));
}

// Half of the width of each row of a disc, from its top to its bottom.
function discOf(radius) {
  const reach = Math.floor(radius);
  const half = (_, n) => Math.floor(Math.sqrt(radius ** 2 - (n - reach) ** 2));
  const rows = Int32Array.from({ length: 2 * reach + 1 }, half);
  return { reach, rows, area: sum([...rows].map((row) => 2 * row + 1)) };
}

// Lay sharp pixels over what is there.
function layOver(light, pixels, picture, deepPicture) {
  const size = picture.length / 4;
  for (const n of pixels) {
    const [from, i] = n < size ? [picture, n] : [deepPicture, n - size];
    for (let part = 0; part < 3; part++) light[4 * i + part] = LIGHT[from[4 * i + part]];
    light[4 * i + 3] = 1;
  }
}

// Add the discs of pixels to a layer, as the differences along its rows.
function scatter(layer, pixels, { reach, rows }, picture, deepPicture, width, height) {
  const size = width * height;
  const stride = width + 1;
  for (const n of pixels) {
    const from = n < size ? picture : deepPicture;
    const i = n < size ? n : n - size;
    const x = i % width;
    const y = (i - x) / width;
    const red = LIGHT[from[4 * i]];
    const green = LIGHT[from[4 * i + 1]];
    const blue = LIGHT[from[4 * i + 2]];
    const last = Math.min(y + reach, height - 1);
    for (let row = Math.max(y - reach, 0); row <= last; row++) {
      const half = rows[row - y + reach];
      const a = 4 * (row * stride + (x > half ? x - half : 0));
      const b = 4 * (row * stride + (x + half + 1 < width ? x + half + 1 : width));
      layer[a] += red;
      layer[a + 1] += green;
      layer[a + 2] += blue;
      layer[a + 3] += 1;
      layer[b] -= red;
      layer[b + 1] -= green;
      layer[b + 2] -= blue;
      layer[b + 3] -= 1;
    }
  }
}

// Add up the differences of a layer, and lay it over what is there.
function compose(light, layer, area, width, height) {
  for (let y = 0, i = 0, k = 0; y < height; y++, k += 4) {
    let [red, green, blue, cover] = [0, 0, 0, 0];
    for (let x = 0; x < width; x++, i += 4, k += 4) {
      red += layer[k];
      green += layer[k + 1];
      blue += layer[k + 2];
      cover += layer[k + 3];
      if (cover < 0.5) continue; // rounding leaves traces
      const through = 1 - Math.min(cover / area, 1);
      light[i] = red / area + through * light[i];
      light[i + 1] = green / area + through * light[i + 1];
      light[i + 2] = blue / area + through * light[i + 2];
      light[i + 3] = cover / area + through * light[i + 3];
    }
  }
}

// Turn light back into the colours of a picture.
function developed(light) {
  const picture = new Uint8ClampedArray(light.length);
  const most = CODES.length - 1;
  for (let i = 0; i < light.length; i += 4) {
    const cover = Math.max(light[i + 3], 1e-6);
    for (let part = i; part < i + 3; part++) {
      picture[part] = CODES[Math.min(Math.round(most * Math.sqrt(light[part] / cover)), most)];
    }
    picture[i + 3] = 255;
  }
  return picture;
}
