// The maps at the chosen solve or pass: the final ones, or what `gradcon estimate --keep-weights` recorded there.

// The index of the record at or before the chosen solve; -1 if nothing was recorded.
function recordOf(result) {
  if (!result.weights) return -1;
  return Math.max(result.weights.solves.findLastIndex((solve) => solve <= solveOf(result)), 0);
}

// When record k was made.
function momentOf({ after, solves }, kind, k) {
  return `${after ? "after" : "before"} ${kind} ${solves[k]}`;
}

// The disparity and truth to show; `when` says which solve they belong to, `unit` is the smallest difference that they
// can have, and `every` is the number of pixels from one sample to the next.
function shownOf(result) {
  const { weights, disparity, truth, step, maps } = result;
  const k = recordOf(result);
  const ended = state.solve >= (result.solves || lastSolve);
  if (ended || k < 0) {
    const when = ended ? "" : "final, because earlier maps were not recorded";
    return { final: true, when, disparity, truth, unit: unitOf(maps.disparity), every: step };
  }
  if (weights.shown?.k !== k) weights.shown = recordedMaps(result, k);
  return weights.shown;
}

// The maps of record k.  Only every few pixels are recorded: each pixel of a map shows the nearest recorded one, with
// the truth there; `at` says where that is.
function recordedMaps({ weights, kind, columns, rows, step }, k) {
  const { before_columns: across, before_rows: down, before_step: every, low, high } = weights;
  const unit = (high - low) / 255;
  weights.nearest ??= nearestRecorded(weights, columns, rows, step);
  const codes = weights.before.subarray(k * across * down, (k + 1) * across * down);
  const recorded = Float32Array.from(codes, (code) => {
    const value = low + unit * code;
    return Math.abs(value) < 1e-6 * unit ? 0 : value; // an exact zero, in spite of rounding
  });
  const spread = (values) => new Float32Array(columns * rows).map((_, i) => values[weights.nearest[i]]);
  return {
    k,
    final: false,
    when: momentOf(weights, kind, k),
    unit,
    every,
    recorded,
    disparity: spread(recorded),
    truth: weights.shown?.truth ?? (weights.truth && spread(weights.truth)),
    at: (i) => ({ x: every * (weights.nearest[i] % across), y: every * Math.floor(weights.nearest[i] / across) }),
  };
}

// For each pixel of a map, the index of the nearest recorded pixel.
function nearestRecorded({ before_columns: across, before_rows: down, before_step: every }, columns, rows, step) {
  const place = (i, count) => Math.min(Math.round((i * step) / every), count - 1);
  const nearest = new Uint32Array(columns * rows);
  let i = 0;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      nearest[i++] = place(row, down) * across + place(column, across);
    }
  }
  return nearest;
}

// ---- Measures against the truth, as text ----

function measures(result, shown, limit) {
  return shown.final ? finalMeasures(result, limit) : recordedMeasures(result, shown.recorded, limit);
}

function finalMeasures({ rmse, badpix }, limit) {
  return {
    rmse: rmse === null ? "infinite (some disparities are unknown)" : rmse.toFixed(4),
    badpix: percent(badpix[limit] / 100, 2),
  };
}

// The measures over the recorded pixels.  As in `gradcon evaluate`, BadPix leaves a border out if pixels remain.
function recordedMeasures({ weights, width, height }, recorded, limit) {
  const { before_columns: across, before_step: every, truth } = weights;
  const { border } = data;
  const all = { known: 0, bad: 0 };
  const inner = { known: 0, bad: 0 };
  let squares = 0;
  recorded.forEach((value, i) => {
    const error = Math.abs(value - truth[i]);
    if (Number.isNaN(error)) return;
    squares += error * error;
    const x = every * (i % across);
    const y = every * Math.floor(i / across);
    const inside = x >= border && y >= border && x < width - border && y < height - border;
    for (const part of inside ? [all, inner] : [all]) {
      part.known += 1;
      part.bad += error > limit;
    }
  });
  if (!all.known) return { rmse: "unknown", badpix: "unknown" };
  const { known, bad } = inner.known ? inner : all;
  return { rmse: `about ${short(Math.sqrt(squares / all.known))}`, badpix: `about ${percent(bad / known, 1)}` };
}
