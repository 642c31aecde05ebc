// Where the cameras are: drawn as a small map, and searched for the view that the reader wants.

// The places of the reference and of the other cameras, in a square from -1 to 1 that keeps their proportions.
// A baseline points against the movement of the camera.
function places(baselines) {
  const all = [[0, 0], ...baselines].map(([x, y]) => [-x, -y]);
  const ends = [0, 1].map((axis) => {
    const values = all.map((place) => place[axis]);
    return [Math.min(...values), Math.max(...values)];
  });
  const reach = Math.max(1e-9, ...ends.map(([low, high]) => (high - low) / 2));
  return all.map((place) => place.map((value, axis) => (value - (ends[axis][0] + ends[axis][1]) / 2) / reach));
}

// The places of the views in the page; the first is the reference.
function viewPlaces(result) {
  return places(result.views.baselines).slice(1);
}

// The view nearest to where the camera should be.
function viewOf(result) {
  const [x, y] = state.camera;
  const distances = viewPlaces(result).map((place) => Math.hypot(place[0] - x, place[1] - y));
  return distances.indexOf(Math.min(...distances));
}

// Move to the next camera in a direction: the nearest of those that lie more in that direction than across it.
function moveCamera(result, [dx, dy]) {
  const all = viewPlaces(result);
  const here = all[viewOf(result)];
  let best = null;
  let least = Infinity;
  for (const place of all) {
    const [x, y] = [place[0] - here[0], place[1] - here[1]];
    const along = x * dx + y * dy;
    const across = Math.abs(x * dy) + Math.abs(y * dx);
    if (along > 1e-6 && across <= along && along + across < least) {
      best = place;
      least = along + across;
    }
  }
  if (best) set({ camera: best });
}

// Draw the cameras, the reference as a cross; return the discs of the others.
function cameraMap(svg, baselines, names) {
  svg.setAttribute("viewBox", "-1.3 -1.3 2.6 2.6");
  const [[left, top], ...others] = places(baselines);
  make("path", { d: `M${left - 0.09} ${top}h.18m-.09-.09v.18`, class: "reference" }, svg);
  return others.map(([x, y], t) => {
    const disc = make("circle", { cx: x, cy: y, r: 0.06, class: "camera" }, svg);
    make("title", {}, disc, names[t]);
    return disc;
  });
}

// The distance between the closest two cameras of such a map; cameras in nearly the same place do not count.
function spacing(baselines) {
  const all = places(baselines);
  let least = 0.5;
  for (let a = 0; a < all.length; a++) {
    for (let b = 0; b < a; b++) {
      const distance = Math.hypot(all[a][0] - all[b][0], all[a][1] - all[b][1]);
      if (distance > 0.06) least = Math.min(least, distance);
    }
  }
  return least;
}
