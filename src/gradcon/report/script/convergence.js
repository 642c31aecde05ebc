// Convergence: charts of the mean step and the RMSE of each solve or pass, and the chosen one in words.

const DASHES = ["", "7 4", "2 3", "10 3 2 3", "1 2", "14 4"]; // curves differ in more than their colours
const FEW = 12; // rows that are marked one by one, because a curve hardly shows them
const CURVES = [
  { name: "step", label: `Mean step of each ${data.kind} (pixels, log scale)`, log: true },
  { name: "rmse", label: `RMSE after each ${data.kind} (pixels)`, log: false },
];

function lineStyle(k) {
  return { class: `line line-${k % 6}`, "stroke-dasharray": DASHES[k % 6] };
}

function drawConvergence() {
  const holder = $("#convergence .charts");
  const width = Math.max(holder.clientWidth, 200);
  holder.replaceChildren();
  for (const curve of CURVES) {
    const drawable = (row) => row[curve.name] !== null && (!curve.log || row[curve.name] > 0);
    const lines = results.map((result) => result.history.filter(drawable));
    if (lines.some((line) => line.length)) drawChart(holder, width, curve, lines);
  }
  if (!holder.children.length) make("p", {}, holder, `No ${data.kinds} were recorded.`);
  drawSolve();
}

function drawChart(holder, width, { name, label, log }, lines) {
  const height = width > 420 ? 200 : 170;
  const [left, right, top, bottom] = [52, 10, 28, 22]; // margins
  const scale = log ? Math.log10 : (value) => value;
  const [low, high] = spanOf(lines.flat().map((row) => scale(row[name])), log);
  const x = (solve) => left + (width - left - right) * (lastSolve > 1 ? (solve - 1) / (lastSolve - 1) : 0.5);
  const y = (value) => top + (height - top - bottom) * (1 - (scale(value) - low) / (high - low));

  const attributes = { width, height, viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img" };
  const svg = make("svg", { ...attributes, "aria-label": inWords(name, label, lines) }, holder);
  make("text", { x: 0, y: 13, class: "heading" }, svg, label);
  for (const value of ticks(low, high, log)) {
    make("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "grid" }, svg);
    make("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, svg, short(value));
  }
  for (const solve of new Set([1, Math.round((1 + lastSolve) / 2), lastSolve])) {
    const anchor = solve === lastSolve && lastSolve > 1 ? "end" : "middle";
    make("text", { x: x(solve), y: height - 6, "text-anchor": anchor }, svg, solve);
  }
  lines.forEach((line, k) => {
    const points = line.map((row) => `${x(row.solve).toFixed(1)},${y(row[name]).toFixed(1)}`).join(" ");
    make("polyline", { points, ...lineStyle(k) }, svg);
    if (line.length > FEW) return;
    for (const row of line) make("circle", { cx: x(row.solve), cy: y(row[name]), r: 3, class: `dot line-${k % 6}` }, svg);
  });

  const now = make("line", { y1: top, y2: height - bottom, class: "now-line" }, svg);
  svg.place = (solve) => {
    now.setAttribute("x1", x(solve));
    now.setAttribute("x2", x(solve));
  };
  const choose = (event) => {
    const share = (event.clientX - svg.getBoundingClientRect().left - left) / (width - left - right);
    set({ solve: clamp(Math.round(1 + share * (lastSolve - 1)), 1, lastSolve) });
  };
  svg.addEventListener("pointerdown", choose);
  svg.addEventListener("pointermove", (event) => event.buttons && choose(event));
}

// The ends of an axis; one that is not logarithmic starts at 0.
function spanOf(values, log) {
  const low = log ? Math.min(...values) : Math.min(0, ...values);
  const high = Math.max(...values);
  return [low, high - low < 1e-9 ? low + 1 : high];
}

function ticks(low, high, log) {
  if (log) {
    const first = Math.ceil(low);
    const count = Math.floor(high) - first + 1;
    return count >= 2 ? Array.from({ length: count }, (_, k) => 10 ** (first + k)) : [10 ** low, 10 ** high];
  }
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, k) => k * step);
}

function inWords(name, label, lines) {
  const ends = lines.map((line, k) => {
    return line.length ? `${title(results[k])}${short(line[0][name])} to ${short(line.at(-1)[name])}` : "";
  });
  return `${label} over ${lastSolve} ${data.kinds}: ${ends.filter(Boolean).join("; ")}`;
}

// Mark the chosen solve in the charts, on the slider and in words.
function drawSolve() {
  for (const svg of $$("#convergence svg.chart")) svg.place(state.solve);
  const slider = $("input[name=solve]");
  if (slider) {
    slider.value = state.solve;
    slider.setAttribute("aria-valuetext", `${data.kind} ${state.solve} of ${lastSolve}`);
    $("#solve-number").textContent = `${state.solve} of ${lastSolve}`;
  }
  const list = $("#convergence .now");
  list.replaceChildren();
  results.forEach((result, k) => {
    const item = make("li", { class: `line-${k % 6}` }, list);
    const key = make("svg", { width: 34, height: 10, "aria-hidden": "true" }, item);
    make("line", { x1: 0, x2: 34, y1: 5, y2: 5, ...lineStyle(k) }, key);
    writeSolve(item, result);
  });
}

function writeSolve(item, result) {
  const row = historyRow(result);
  if (!row) {
    make("span", {}, item, `${title(result)}no ${result.kinds} recorded`);
    return;
  }
  const parts = [`${result.kind} ${row.solve} of ${result.solves}`];
  if (row.step !== null) parts.push(`mean step ${short(row.step)}`);
  if (row.rmse !== null) parts.push(`RMSE ${row.rmse.toFixed(4)}`);
  if (row.views !== null) parts.push(`${row.views} views`);
  if (row.scales.length) parts.push(`scale${row.scales.length > 1 ? "s" : ""} ${row.scales.join(", ")}`);
  make("span", {}, item, title(result) + parts.join(" · "));
  if (row.solve === result.solves && result.stopped) make("bdi", { class: "stopped" }, item, result.stopped);
}
