// The pictures: a view, or a map in colours, with its caption; and the legend of the colours.

const TABLES = Object.fromEntries(Object.entries(data.colours).map(([name, hex]) => [name, colourTable(hex)]));

// Colours as 0xaabbggrr, the order in which a canvas has them in memory.
const GOOD = 0xff8a5a2a; // deep blue
const BAD = 0xff4fc8ff; // light orange
const HATCH = [0xff777777, 0xffb8b8b8];

function colourTable(hex) {
  const table = new Uint32Array(256);
  for (let i = 0; i < 256; i++) {
    const [r, g, b] = [0, 2, 4].map((part) => parseInt(hex.slice(6 * i + part, 6 * i + part + 2), 16));
    table[i] = 0xff000000 | (b << 16) | (g << 8) | r;
  }
  return table;
}

function setUpPicture(result) {
  const canvas = $("canvas.map", result.figure);
  const cameras = $(".cameras", result.figure);
  const discs = result.views ? cameraMap(cameras, result.views.baselines, result.views.names) : [];
  result.figure.style.setProperty("--aspect", result.columns / result.rows);
  const render = (now) => {
    if (now.size === 1 && now.has("camera") && state.map !== "views") return;
    cameras.classList.toggle("shown", state.map === "views" && discs.length > 0);
    discs.forEach((disc, k) => disc.classList.toggle("on", k === viewOf(result)));
    const caption = paint(result, canvas).filter(Boolean).join(", ");
    $(".what", result.figure).textContent = caption;
    canvas.setAttribute("aria-label", `${title(result)}${result.label}, ${caption}`);
  };
  panels.push({ on: ["map", "threshold", "solve", "camera"], draw: render });
}

// Paint what is chosen; return the parts of its caption.
function paint(result, canvas) {
  if (state.map === "views" && result.views) return paintView(result, canvas);
  const values = valuesOf(result, state.map);
  canvas.width = result.columns;
  canvas.height = result.rows;
  if (!values) {
    const missing = { views: "views.jpg", uncertainty: "uncertainty" }[state.map] ?? "ground truth";
    return [`has no ${missing}`];
  }
  if (state.map === "badpix") paintColours(canvas, badPixels(values, shownOf(result).truth));
  else paintColours(canvas, colours(values, state.map));
  return captionOf(result, values);
}

function paintView(result, canvas) {
  const k = viewOf(result);
  const { width, height, columns, sheet, names } = result.views;
  const left = (k % columns) * width;
  const top = Math.floor(k / columns) * height;
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d").drawImage(sheet, left, top, width, height, 0, 0, width, height);
  canvas.dataset.view = k;
  const count = result.targets.length + 1;
  const some = names.length < count && `${names.length} of the ${count} views are in this page`;
  return [`${k ? "view" : "reference"} ${names[k]}`, some];
}

// The values of a map; null if the result has none.
function valuesOf(result, map) {
  if (map === "views") return null;
  if (map === "uncertainty") return result.uncertainty ?? null;
  const { disparity, truth } = shownOf(result);
  if (map === "disparity") return disparity;
  return truth ? disparity.map((value, i) => value - truth[i]) : null;
}

// A function from the index of a pixel to its colour; undefined where the value is unknown.
function colours(values, map) {
  const [low, high] = data.scales[map];
  const factor = 256 / (high - low);
  const table = TABLES[map];
  return (i) => (Number.isNaN(values[i]) ? undefined : table[clamp((values[i] - low) * factor, 0, 255) | 0]);
}

// The same for BadPix: a pixel without a disparity is bad where the truth is known.
function badPixels(errors, truth) {
  const limit = state.threshold;
  return (i) => {
    if (Number.isNaN(truth[i])) return undefined;
    return Math.abs(errors[i]) <= limit ? GOOD : BAD;
  };
}

function paintColours(canvas, colour) {
  const { width, height } = canvas;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  let i = 0;
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++, i++) {
      pixels[i] = colour(i) ?? HATCH[((column + row) & 7) < 2 ? 0 : 1];
    }
  }
  context.putImageData(image, 0, 0);
}

function captionOf(result, values) {
  const shown = shownOf(result);
  const limit = state.threshold;
  if (state.map === "uncertainty") { // only the final map has one
    return [`uncertainty ${statistics(values)}`, shown.when && "final", sampling(result.step)];
  }
  const when = [shown.when, sampling(shown.every, shown.final ? "" : "recorded at ")];
  if (state.map === "disparity") return [`disparity ${statistics(values)}`, ...when];
  const { rmse, badpix } = measures(result, shown, limit);
  return [state.map === "error" ? `RMSE ${rmse}` : `BadPix ${badpix} (error above ${limit})`, ...when];
}

function sampling(every, prefix = "") {
  return every > 1 && `${prefix}one pixel in every ${every} x ${every}`;
}

// ---- The legend ----

function drawLegend() {
  const legend = $("#legend");
  legend.replaceChildren();
  if (state.map === "views") {
    legend.textContent = "Move the pointer over the picture to move the camera.";
    return;
  }
  if (state.map === "badpix") drawSwatches(legend);
  else drawColourBar(legend, state.map);
  const unknown = make("span", { class: "pair" }, legend);
  make("span", { class: "swatch unknown" }, unknown);
  unknown.append(" unknown");
}

function drawSwatches(legend) {
  const limit = state.threshold;
  for (const [style, text] of [["good", `error at most ${limit}`], ["bad", `error above ${limit}`]]) {
    make("span", { class: `swatch ${style}` }, legend);
    make("span", {}, legend, text);
  }
}

const ENDS = {
  disparity: ["far", "near"],
  error: ["too far", "too near"],
  uncertainty: ["certain", "uncertain"],
};

function drawColourBar(legend, map) {
  const [low, high] = data.scales[map];
  make("span", {}, legend, `${map === "uncertainty" ? "" : "≤ "}${short(low)} (${ENDS[map][0]})`);
  const bar = make("canvas", { width: 256, height: 1, class: "bar", "aria-hidden": "true" }, legend);
  const context = bar.getContext("2d");
  const image = context.createImageData(256, 1);
  new Uint32Array(image.data.buffer).set(TABLES[map]);
  context.putImageData(image, 0, 0);
  make("span", {}, legend, `≥ ${short(high)} (${ENDS[map][1]})`);
  make("span", { class: "unit" }, legend, data.unit);
}
