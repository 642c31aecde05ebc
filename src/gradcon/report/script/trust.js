// Trust: how much of it each scale and each view had at the chosen pixel, and how that changed from solve to solve.

function setUpTrust(result) {
  const holder = $(`.trust[data-key=${result.key}]`);
  const { weights, targets, baselines, kind } = result;
  if (!weights || !targets.length) {
    const how = "Not recorded. Use gradcon estimate SCENE --out DIR --keep-weights to record how much each pixel ";
    make("p", { class: "none" }, holder, `${how}trusted each view.`);
    return;
  }
  const order = weights.scales.map((_, q) => q).sort((a, b) => weights.scales[a] - weights.scales[b]); // finest first
  const nameOf = (q) => (q === order[0] ? "finest scale" : `scale ${weights.scales[q]}`);
  const several = order.length > 1;
  const far = farViews(baselines);
  const both = new Set(far).size > 1; // baselines of one length are neither near nor far

  const text = make("p", { class: "sentence" }, holder);
  const maps = scaleMaps(result, holder, order);
  const names = order.map(nameOf);
  const bars = (parts, label) => stack(holder, result, parts, label);
  const overScales = several && bars(names, "share of each scale");
  const sides = several ? [] : sidesOf(baselines);
  const overSides = sides.length > 1 && bars(sides.map(({ name }) => name), "where the views are from the reference");
  const farther = "far views have more than half of the longest baseline";
  const overReach = both && bars(["near views", "far views"], farther);

  const render = () => {
    const k = recordOf(result);
    const shares = trustAt(result, k);
    const whole = sum(shares.flat()) || 1;
    drawScaleMaps(result, maps, shares, nameOf);
    const parts = order.map((q) => `${nameOf(q)} ${wholePercent(sum(shares[q]) / whole)}`);
    const { x, y } = sampleOf(result);
    const where = `Trust at ${x}, ${y}, the nearest recorded pixel, ${momentOf(weights, kind, k)}`;
    text.replaceChildren(several ? `${where}: ${parts.join(", ")}. ` : `${where}. `);
    writeViews(text, result, shares, both && far);

    const all = weights.solves.map((_, n) => trustAt(result, n));
    if (overScales) overScales(all.map((one) => order.map((q) => sum(one[q]))), k);
    if (overSides) overSides(all.map(([one]) => sides.map(({ views }) => sum(views.map((t) => one[t])))), k);
    if (!both) return;
    const ofSide = (one, side) => sum(one.flatMap((scale) => scale.filter((_, t) => far[t] === side)));
    overReach(all.map((one) => [ofSide(one, false), ofSide(one, true)]), k);
  };
  panels.push({ on: ["x", "y", "solve"], draw: render });
}

// Whether each view is farther than half of the longest baseline.
function farViews(baselines) {
  const lengths = baselines.map(([x, y]) => Math.hypot(x, y));
  const half = Math.max(...lengths) / 2;
  return lengths.map((length) => length > half + 1e-9);
}

const SIDES = ["right", "lower right", "below", "lower left", "left", "upper left", "above", "upper right"];

// The views in each of eight directions from the reference, where there are any: the arms of a sweep.
function sidesOf(baselines) {
  const views = SIDES.map(() => []);
  baselines.forEach(([x, y], t) => views[(Math.round((Math.atan2(-y, -x) * 4) / Math.PI) + 8) % 8].push(t));
  return SIDES.map((name, side) => ({ name, views: views[side] })).filter((side) => side.views.length);
}

// The recorded pixel that is nearest to the chosen one.
function sampleOf(result) {
  const { first, step, rows, columns } = result.weights;
  const { x, y } = pixel(result);
  const place = (value, count) => clamp(Math.round((value - first) / step), 0, count - 1);
  const i = place(y, rows);
  const j = place(x, columns);
  return { index: i * columns + j, x: first + step * j, y: first + step * i };
}

// The shares of the trust there in record k: shares[scale][view].
function trustAt(result, k) {
  const { weights, targets } = result;
  const [scales, views] = [weights.scales.length, targets.length];
  const start = (k * weights.rows * weights.columns + sampleOf(result).index) * scales * views;
  const share = (q, t) => (weights.codes[start + q * views + t] / 255) ** 2;
  return weights.scales.map((_, q) => targets.map((_, t) => share(q, t)));
}

// Say which view was trusted most, and how much the far views were.
function writeViews(text, { targets }, shares, far) {
  const whole = sum(shares.flat()) || 1;
  const byView = targets.map((_, t) => sum(shares.map((scale) => scale[t])) / whole);
  const used = targets.map((_, t) => t).filter((t) => byView[t] > 0);
  if (!used.length) {
    text.append("No other view sees this pixel.");
    return;
  }
  const best = byView.indexOf(Math.max(...byView));
  const most = wholePercent(byView[best]);
  const alike = shares.every((scale) => {
    const codes = used.map((t) => Math.sqrt(scale[t])); // shares are recorded as their roots
    return Math.max(...codes) - Math.min(...codes) < 1.5 / 255;
  });
  if (used.length > 1 && alike) {
    const which = used.length < targets.length ? `The ${used.length} views in use` : "All views";
    text.append(`${which} are trusted equally, ${most} each`);
  } else {
    text.append("The most trusted view is ");
    make("bdi", {}, text, targets[best]);
    text.append(`, with ${most}`);
  }
  text.append(far ? `; the far views have ${wholePercent(sum(byView.filter((_, t) => far[t])))} in total.` : ".");
}

// ---- A map of the cameras for each scale ----

function scaleMaps({ baselines, targets }, holder, order) {
  const row = make("div", { class: "scales" }, holder);
  const widest = spacing(baselines) / 2; // so that no disc hides another
  return order.map((q) => {
    const box = make("figure", {}, row);
    const svg = make("svg", { class: "cameras shown", role: "img" }, box);
    const discs = cameraMap(svg, baselines, targets);
    return { q, svg, discs, widest, caption: make("figcaption", {}, box) };
  });
}

// Let the area of each disc show the share of its view.
function drawScaleMaps({ targets }, maps, shares, nameOf) {
  const whole = sum(shares.flat()) || 1;
  const largest = Math.max(1e-9, ...shares.flat());
  const smallest = 0.025;
  for (const { q, svg, discs, widest, caption } of maps) {
    discs.forEach((disc, t) => {
      const share = shares[q][t];
      disc.setAttribute("r", (smallest + (widest - smallest) * Math.sqrt(share / largest)).toFixed(3));
      disc.style.fillOpacity = (0.25 + (0.75 * share) / largest).toFixed(3);
      disc.classList.toggle("unused", share === 0);
      disc.firstChild.textContent = `${targets[t]}: ${percent(share / whole, 1)}`;
    });
    const total = `${nameOf(q)}: ${wholePercent(sum(shares[q]) / whole)}`;
    caption.textContent = maps.length > 1 ? total : "share of each view";
    svg.setAttribute("aria-label", maps.length > 1 ? `${total} of the trust` : "share of each view");
  }
}

// ---- Stacked bars, one for each recorded solve ----

const BARS = 34; // their height, in units of the drawing

// Make the bars; return the function that draws `shares`, by solve and name, and marks the chosen solve.
function stack(holder, { weights, kind, kinds }, names, label) {
  const { solves } = weights;
  const box = make("figure", { class: "stack" }, holder);
  const caption = make("figcaption", {}, box);
  const viewBox = `0 0 ${solves.length * 10} ${BARS}`;
  const svg = make("svg", { viewBox, preserveAspectRatio: "none", role: "img" }, box);
  const style = (n) => `share-${Math.min(n, 7)}`;
  names.forEach((name, n) => {
    make("i", { class: `swatch ${style(n)}` }, caption);
    caption.append(`${name} `);
  });
  const bars = solves.map((solve, k) => {
    const group = make("g", {}, svg);
    const parts = names.map((_, n) => make("rect", { x: 10 * k + 0.6, width: 8.8, class: style(n) }, group));
    make("title", {}, group, `${kind} ${solve}`);
    group.addEventListener("click", () => set({ solve }));
    return { group, parts };
  });
  make("p", { class: "axis" }, box, `recorded ${kinds} ${solves[0]} to ${solves.at(-1)}; ${label}`);
  return (shares, chosen) => {
    bars.forEach(({ group, parts }, k) => {
      drawBar(parts, shares[k]);
      group.classList.toggle("on", k === chosen);
    });
    const whole = sum(shares[chosen]) || 1;
    const inWords = names.map((name, n) => `${name} ${wholePercent(shares[chosen][n] / whole)}`);
    svg.setAttribute("aria-label", `${label}; ${momentOf(weights, kind, chosen)}: ${inWords.join(", ")}`);
  };
}

function drawBar(parts, shares) {
  const whole = sum(shares) || 1;
  let base = BARS;
  parts.forEach((part, n) => {
    const height = (BARS * shares[n]) / whole;
    base -= height;
    part.setAttribute("y", base.toFixed(2));
    part.setAttribute("height", height.toFixed(2));
  });
}
