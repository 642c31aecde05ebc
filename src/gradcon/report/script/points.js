// Points in space: which pixels become points, where they are, and their colours.

const MOST_CLOUDS = 12; // a browser allows about 16 WebGL drawings, and then gives up the oldest

function setUpPoints(result) {
  const figure = $(`.cloud[data-key=${result.key}]`);
  const canvas = $("canvas", figure);
  const about = $(".about", figure);
  const points = result.fused ?? pointsOf(result);
  const camera = pointCamera(result);
  about.textContent = pointsInWords(result, points);
  canvas.setAttribute("aria-label", `${title(result)}point cloud, ${about.textContent}`);
  canvas.style.setProperty("--aspect", camera.aspect);
  const drawn = results.indexOf(result) < MOST_CLOUDS;
  const gl = drawn && points.count ? canvas.getContext("webgl", { alpha: false, antialias: false }) : null;
  if (gl) {
    panels.push({
      on: ["yaw", "pitch", "zoom", "size", "rest", "x", "y"],
      draw: pointCloud(gl, result, points, camera),
    });
    turnByHand(canvas);
    return;
  }
  canvas.remove();
  if (!points.count) {
    about.textContent = "No pixel of this result has a depth.";
  } else if (drawn) {
    const instead = "gradcon estimate --points writes them to points.ply.";
    about.textContent = `The points are not drawn because this browser has no WebGL; ${instead}`;
  } else {
    const instead = "make a page of fewer results to see these.";
    about.textContent = `A page draws the points of its first ${MOST_CLOUDS} results; ${instead}`;
  }
}

function pointsInWords({ calibration, cloud, views, uncertainty, fused, unfused }, { count, of }) {
  const number = count.toLocaleString("en") + (of > count ? ` of ${of.toLocaleString("en")}` : "");
  const calibrated = cloud.unit ? `in ${cloud.unit}` : "up to scale";
  const scale = calibration ? calibrated : "not to scale because the cameras are not calibrated";
  if (fused) return `${number} points, ${scale}: ${fusedInWords(fused)}`;
  const which = uncertainty ? "the most certain pixels" : "pixels";
  const tint = views ? "" : ", coloured by disparity";
  const alone = unfused && `; the ${unfused}`;
  const said = `${which} of the final disparity, without the gaps between surfaces`;
  return `${number} points, ${scale}: ${said}${tint}${alone}`;
}

function fusedInWords({ maps, confirmed, pixels, merged, dropped }) {
  const [all, same] = [pixels, merged].map((number) => number.toLocaleString("en"));
  const others = `${confirmed} other map${confirmed === 1 ? " confirms" : "s confirm"}`;
  const fate = `Of ${all} pixels, ${same} are merged into points of other maps; dropped: ${dropped}`;
  return `the maps of ${maps} views fused, each surface once. In the median, ${others} a point. ${fate}`;
}

// The places and colours of at most data.points of the pixels to keep.
function pointsOf(result) {
  const { columns, rows, keep } = result;
  const kept = [];
  for (let i = 0; i < columns * rows; i++) {
    if ((keep[i >> 3] >> (i & 7)) & 1) kept.push(i);
  }
  const chosen = spread(kept, columns).slice(0, data.points);
  const places = new Float32Array(3 * chosen.length);
  chosen.forEach((i, n) => places.set(placeOf(result, i), 3 * n));
  return { count: chosen.length, of: kept.length, places, colours: pointColours(result, chosen) };
}

// At most data.points of the pixels `kept`, in an order whose first n pixels are spread evenly, whatever n is.
// The ranks are those of the two-dimensional sequence of the plastic number.
function spread(kept, columns) {
  const share = Math.min(data.points / kept.length, 1);
  const parts = Array.from({ length: 64 }, () => []);
  for (const i of kept) {
    const rank = (0.7548776662 * (i % columns) + 0.569840291 * Math.floor(i / columns)) % 1;
    if (rank < share) parts[Math.floor((64 * rank) / share)].push(i);
  }
  return parts.flat();
}

// A pixel in space: x to the right, y down, z ahead.
function placeOf({ columns, step, disparity, cloud: { product, offset, K } }, i) {
  const [[fx, skew, cx], [, fy, cy]] = K;
  const z = product / (disparity[i] + offset);
  const v = (Math.floor(i / columns) * step - cy) / fy;
  const u = ((i % columns) * step - cx - skew * v) / fx;
  return [u * z, v * z, z];
}

// The colours of the reference view, or of the disparity where there are no views.
function pointColours({ columns, rows, views, disparity }, chosen) {
  const tints = new Uint8Array(3 * chosen.length);
  if (views) {
    const context = new OffscreenCanvas(columns, rows).getContext("2d", { willReadFrequently: true });
    context.drawImage(views.sheet, 0, 0, views.width, views.height, 0, 0, columns, rows);
    const picture = context.getImageData(0, 0, columns, rows).data;
    chosen.forEach((i, n) => tints.set(picture.subarray(4 * i, 4 * i + 3), 3 * n));
    return tints;
  }
  const colour = colours(disparity, "disparity");
  chosen.forEach((i, n) => {
    for (let part = 0; part < 3; part++) tints[3 * n + part] = colour(i) >> (8 * part);
  });
  return tints;
}

// How the points are seen at first: as the reference camera sees them.  The middle of its picture need not be on its
// axis, and a narrow picture gets a drawing with room to turn it.
function pointCamera({ width, height, cloud: { K } }) {
  const [[fx, skew, cx], [, fy, cy]] = K;
  const down = ((height - 1) / 2 - cy) / fy;
  const axis = [((width - 1) / 2 - cx - skew * down) / fx, down];
  const [wide, high] = [Math.abs(width / fx), Math.abs(height / fy)];
  const aspect = clamp(wide / high || 1, 0.6, 2.5);
  return { axis, wide, aspect, lens: 2 / Math.max(wide, high * aspect) };
}
