// New views: what a camera with a wide lens sees between the cameras, computed in the browser.

const MOST_NEW_VIEWS = 4; // results; more would make the sliders slow
const FIXED =
  "The camera cannot be moved, because the page knows where a camera sees a surface only if all cameras stand in a " +
  "plane and look the same way.";

function setUpNewViews() {
  setUpSliders(results.map(setUpNewView).filter(Boolean));
}

// Set up the new view of a result; return what it is made of, or null if there is none.
function setUpNewView(result, k) {
  const figure = $(`.new-view[data-key=${result.key}]`);
  const sources = result.views && k < MOST_NEW_VIEWS ? sourcesOf(result) : null;
  const about = $(".about", figure);
  if (!sources) {
    for (const part of [".picture", ".cameras"]) $(part, figure).remove();
    about.textContent = whyNone(result, k);
    return null;
  }
  figure.style.setProperty("--aspect", sources.width / sources.height);
  const { planar, baselines, names } = result.views;
  if (!planar && baselines.length > 1) make("p", { class: "none" }, figure, FIXED);
  const here = sources.cameras.length > 1 && placeOnMap($(".cameras", figure), baselines, names);
  const canvas = $("canvas", figure);
  const camera = newCamera(sources);
  const render = (now) => {
    const place = placeWithin(sources.reach);
    const shown = camera.at(place);
    const focus = focusOf(result, sources);
    paintPixels(canvas, camera.through(shown, place, focus, state.aperture / 2), sources);
    ringAt($(".marker", figure), sources, place, focus);
    if (here) here(place);
    about.textContent = newViewInWords(result, sources, place, shown, focus);
    canvas.setAttribute("aria-label", `${title(result)}new view, ${about.textContent}`);
    if (!now.has("map")) speak(title(result) + about.textContent); // at the start the maps speak
  };
  panels.push({ on: ["right", "down", "aperture", "sharp"], draw: render });
  chooseSharp(canvas, result, sources, camera);
  return sources;
}

function whyNone(result, k) {
  if (!result.views) return "No new views: this result has no views.jpg, the small copies of its views.";
  if (k >= MOST_NEW_VIEWS) return `A page makes new views of its first ${MOST_NEW_VIEWS} results.`;
  return "No new views: no pixel of this result has a disparity.";
}

// What the camera of a result sees; what two redraws share is kept.
function newCamera(sources) {
  let last = { place: { right: 0, down: 0 }, shown: reference(sources), deep: null };
  const at = (place) => {
    if (place.right !== last.place.right || place.down !== last.place.down) {
      last = { place, shown: seenFrom(sources, place), deep: null };
    }
    return last.shown;
  };
  const through = (shown, place, focus, radius) => {
    if (!(radius > 0)) return shown.picture;
    last.deep ??= behind(sources, shown, place);
    return throughLens(sources, shown, last.deep, focus, radius);
  };
  return { at, through };
}

// The map and the picture from a place, and the share of its pixels that no view shows.
function seenFrom(sources, place) {
  if (!place.right && !place.down) return reference(sources);
  const { map } = carried(sources, place);
  const { picture, seen } = blended(sources, map, place);
  return { map, picture, guessed: 1 - sum(seen) / seen.length };
}

function reference({ map, cameras }) {
  return { map, picture: cameras[0].picture(), guessed: 0 };
}

// The place that the sliders ask for, within the reach of these cameras.
function placeWithin(reach) {
  return { right: clamp(state.right, ...reach.right), down: clamp(state.down, ...reach.down) };
}

function paintPixels(canvas, pixels, { width, height }) {
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
}

// Add a ring to a map of the cameras; return the function that moves it.
function placeOnMap(svg, baselines, names) {
  svg.classList.add("shown");
  cameraMap(svg, baselines, names);
  const ring = make("circle", { r: 0.13, class: "here" }, svg);
  return ({ right, down }) => {
    const [x, y] = places([...baselines, [-right, -down]]).at(-1);
    ring.setAttribute("cx", x);
    ring.setAttribute("cy", y);
  };
}

function newViewInWords(result, { scale, width, height }, place, { guessed }, focus) {
  const said = [place.right || place.down ? `The view from ${placeInWords(place)}.` : "The view of the reference."];
  if (state.aperture) {
    const { x, y } = state.sharp;
    const at = [x * result.width, y * result.height].map((value) => Math.floor(value)).join(", ");
    said.push(`Sharp at pixel ${at}, where the disparity is ${fixed(focus / scale, 3)}.`);
    said.push(`A disparity 1 away is blurred to a disc of ${short(state.aperture)} pixels.`);
  } else said.push("Everything is sharp.");
  if (guessed) said.push(`Guessed, because no view shows them: ${wholePercent(guessed)} of its pixels.`);
  if (width < result.width) said.push(`Drawn with ${width} x ${height} of ${result.width} x ${result.height} pixels.`);
  return said.join(" ");
}

function placeInWords({ right, down }) {
  const along = (value, ways) => value && `${short(Math.abs(value))} ${ways[Number(value < 0)]}`;
  const parts = [along(right, ["to the right", "to the left"]), along(down, ["down", "up"])].filter(Boolean);
  return `${parts.join(" and ")}, in unit baselines`;
}
