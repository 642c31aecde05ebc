// The start: load the data, set up the controls and panels, and draw everything.

async function start() {
  await Promise.all(results.map(load));
  state.camera = places(results.find(({ views }) => views)?.views.baselines ?? [])[0]; // where the reference is
  setUpControls();
  results.forEach(setUpPicture);
  setUpReadout();
  panels.push({ on: ["size"], draw: drawConvergence }, { on: ["solve"], draw: drawSolve });
  results.forEach(setUpTrust);
  results.forEach(setUpPoints);
  setUpNewViews();
  changed = new Set(Object.keys(state));
  redraw();
  redrawWhenNeeded();
  window.gradcon = { data, state, set };
  document.documentElement.dataset.ready = Math.round(performance.now());
}

function setUpControls() {
  const form = $("#controls");
  const inputs = $$("input[name=map]");
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({ target: { name, value } }) => {
    set({ [name]: name === "map" ? value : Number(value) });
  });
  document.addEventListener("keydown", (event) => {
    if (!event.target.classList?.contains("keys") || event.ctrlKey || event.altKey || event.metaKey) return;
    const step = { "[": -1, "]": 1, PageUp: 1, PageDown: -1 }[event.key];
    const choice = inputs[Number(event.key) - 1];
    if (step && lastSolve) set({ solve: clamp(state.solve + step, 1, lastSolve) });
    else if (choice) set({ map: choice.value });
    else return;
    event.preventDefault();
  });
  for (const button of $$("button[data-turn]")) button.addEventListener("click", () => turn(button.dataset.turn));
  const render = () => {
    for (const input of inputs) input.checked = input.value === state.map;
    $("#thresholds").hidden = state.map !== "badpix";
    drawLegend();
  };
  panels.push({ on: ["map", "threshold"], draw: render });
}

function redrawWhenNeeded() {
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return; // phones change the height while a page scrolls
    width = innerWidth;
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", redraw); // a browser forgets the points once they are shown, and would print black
}

start().catch((error) => {
  // An old browser may lack what is used here.
  make("p", {}, $("header"), `This browser could not draw the page (${error.message}); use a newer one.`);
  console.error(error);
});
