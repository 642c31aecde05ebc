// Where a new view is sharp: chosen by a click or by the arrow keys, and marked by a ring.

// The disparity that is sharp, in the pixels of the new view.
function focusOf(result, { map, width, height, scale }) {
  const { x, y, of, w } = state.sharp;
  if (of === result.key) return w * scale;
  const column = clamp(Math.floor(x * width), 0, width - 1);
  const row = clamp(Math.floor(y * height), 0, height - 1);
  return map[row * width + column];
}

function ringAt(marker, { width, height }, { right, down }, focus) {
  const { x, y } = state.sharp;
  const [left, top] = [x - (right * focus) / width, y - (down * focus) / height];
  marker.hidden = !state.aperture || !(left >= 0 && left <= 1 && top >= 0 && top <= 1);
  marker.style.left = `${100 * left}%`;
  marker.style.top = `${100 * top}%`;
}

function chooseSharp(canvas, result, sources, camera) {
  const { width, height, scale } = sources;
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const column = clamp(Math.floor(((event.clientX - box.left) / box.width) * width), 0, width - 1);
    const row = clamp(Math.floor(((event.clientY - box.top) / box.height) * height), 0, height - 1);
    const place = placeWithin(sources.reach);
    const w = camera.at(place).map[row * width + column];
    const x = (column + 0.5 + place.right * w) / width;
    const y = (row + 0.5 + place.down * w) / height;
    set({ sharp: { x, y, of: result.key, w: w / scale } });
  });
  canvas.addEventListener("keydown", (event) => {
    const way = ARROWS[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const stride = event.shiftKey ? 10 : 1;
    const to = (from, by, count) => (clamp(Math.floor(from * count) + stride * by, 0, count - 1) + 0.5) / count;
    const { x, y } = state.sharp;
    set({ sharp: { x: to(x, way[0], result.width), y: to(y, way[1], result.height), of: "", w: 0 } });
  });
}
