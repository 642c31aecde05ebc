// The data of the page: JSON, and arrays as deflated bytes in base64, as packing.py writes them.

const data = JSON.parse($("#data").textContent);
const results = data.results;
for (const result of results) result.solves = result.history[result.history.length - 1]?.solve ?? 0;

const MAP_CODES = 65534; // a code of 0 means unknown, so the values have codes 1 to 65535

// Disparity between two neighbouring codes of a map.
function unitOf({ low, high }) {
  return (high - low) / MAP_CODES;
}

function bytesOf(id) {
  const element = document.getElementById(id);
  const text = element.textContent;
  element.remove(); // to free the memory of the text
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

async function inflated(id) {
  const stream = new Blob([bytesOf(id)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// A map of 16-bit codes.  They are stored as differences along each row, all low bytes before all high ones.
async function readMap(id, about, columns, count) {
  const bytes = await inflated(id);
  const values = new Float32Array(count);
  const unit = unitOf(about);
  let code = 0;
  for (let i = 0; i < count; i++) {
    const before = i % columns ? code : 0;
    code = (before + bytes[i] + 256 * bytes[count + i]) & 65535;
    const value = about.low + (code - 1) * unit;
    if (!code) values[i] = NaN;
    else values[i] = about.log ? Math.exp(value) : value;
  }
  return values;
}

// Records of equal length, stored as the differences from each to the next.
async function readRecords(id, count) {
  const bytes = await inflated(id);
  const length = bytes.length / count;
  for (let i = length; i < bytes.length; i++) bytes[i] += bytes[i - length];
  return bytes;
}

// Points of a fused cloud: all x, all y and all z, then the colours of each point.
async function readPoints(id, count) {
  const bytes = await inflated(id);
  const planes = new Float32Array(bytes.buffer, 0, 3 * count);
  const places = new Float32Array(3 * count).map((_, n) => planes[(n % 3) * count + Math.floor(n / 3)]);
  return { places, colours: bytes.subarray(12 * count) };
}

// Read the arrays of a result: its maps, views, weights and fused points.
async function load(result) {
  const { key, columns, rows, maps, views, weights, fused } = result;
  for (const name of Object.keys(maps)) {
    result[name] = await readMap(`${key}-${name}`, maps[name], columns, columns * rows);
  }
  result.keep = await inflated(`${key}-keep`);
  if (views) views.sheet = await createImageBitmap(new Blob([bytesOf(`${key}-views`)], { type: "image/jpeg" }));
  if (weights) await loadWeights(key, weights);
  if (fused) Object.assign(fused, await readPoints(`${key}-fused`, fused.count));
  result.figure = document.getElementById(key);
}

async function loadWeights(key, weights) {
  const { solves, before_columns: across, before_rows: down, truth } = weights;
  weights.codes = await readRecords(`${key}-codes`, solves.length);
  weights.before = await readRecords(`${key}-before`, solves.length);
  weights.truth = truth && (await readMap(`${key}-recorded`, truth, across, across * down));
}
