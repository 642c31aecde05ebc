// The sliders of the new views: where their camera stands, and how wide its lens is.

const POSITIONS = 80; // of a slider, or a few more

// Fit the sliders to the rigs; hide those that have nothing to move.
function setUpSliders(rigs) {
  const holder = $("#new-views .sliders");
  const spans = {
    right: reachOf(rigs, "right"),
    down: reachOf(rigs, "down"),
    aperture: [0, Math.min(...rigs.map(({ range }) => (range > 0 ? (2 * RIM) / range : Infinity)))],
  };
  for (const [name, [low, high]] of Object.entries(spans)) {
    const input = $(`input[name=${name}]`, holder);
    const step = roundStep((high - low) / POSITIONS);
    const usable = step > 0 && step < Infinity;
    input.closest("label").hidden = !usable;
    if (!usable) continue;
    // The numbers of steps are whole, so that the middle is the reference itself.
    input.min = Math.ceil(low / step - 1e-6);
    input.max = Math.floor(high / step + 1e-6);
    input.addEventListener("input", () => set({ [name]: Number((input.value * step).toPrecision(9)) }));
    const output = $("output", input.closest("label"));
    const render = () => {
      input.value = Math.round(state[name] / step);
      output.textContent = sliderInWords[name](state[name]);
      input.setAttribute("aria-valuetext", `${output.textContent}, in unit baselines`);
    };
    panels.push({ on: [name], draw: render });
  }
  $("button", holder).addEventListener("click", () => set({ right: 0, down: 0, aperture: 0 }));
  holder.hidden = !rigs.length || $$("label", holder).every(({ hidden }) => hidden);
}

// From the least to the largest place of any camera.
function reachOf(rigs, axis) {
  const ends = rigs.flatMap(({ reach }) => reach[axis]);
  return ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 0];
}

// A step of 1, 2 or 5 times a power of ten, at most as large as this.
function roundStep(largest) {
  if (!(largest > 0 && largest < Infinity)) return 0;
  const power = 10 ** Math.floor(Math.log10(largest) + 1e-9);
  return power * ([5, 2].find((factor) => factor * power <= largest * (1 + 1e-9)) ?? 1);
}

const sliderInWords = {
  right: (value) => (value ? `${short(Math.abs(value))} to the ${value > 0 ? "right" : "left"}` : "0"),
  down: (value) => (value ? `${short(Math.abs(value))} ${value > 0 ? "down" : "up"}` : "0"),
  aperture: (value) => short(value),
};
