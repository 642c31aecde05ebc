// Turning the points: by mouse, finger, wheel, keys and buttons.  All clouds turn together.

const STEEPEST = 1.5; // pitch, in radians
const TURN_KEYS = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
  "+": "nearer",
  "=": "nearer",
  "-": "farther",
  0: "reset",
};

function turn(way) {
  const angle = 0.1;
  const turns = {
    left: () => ({ yaw: state.yaw - angle }),
    right: () => ({ yaw: state.yaw + angle }),
    up: () => ({ pitch: clamp(state.pitch - angle, -STEEPEST, STEEPEST) }),
    down: () => ({ pitch: clamp(state.pitch + angle, -STEEPEST, STEEPEST) }),
    nearer: () => zoomed(1.2),
    farther: () => zoomed(1 / 1.2),
    reset: () => ({ yaw: 0, pitch: 0, zoom: 1 }),
  };
  set(turns[way]());
}

function zoomed(factor) {
  return { zoom: clamp(state.zoom * factor, 0.2, 8) };
}

function turnByHand(canvas) {
  let from = null; // where a drag began, and the angles then
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    from = { x: event.clientX, y: event.clientY, yaw: state.yaw, pitch: state.pitch };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from || !event.buttons) return;
    const unit = Math.PI / canvas.clientWidth;
    const down = event.pointerType === "touch" ? 0 : event.clientY - from.y; // a finger scrolls the page
    set({
      yaw: from.yaw + (event.clientX - from.x) * unit,
      pitch: clamp(from.pitch + down * unit, -STEEPEST, STEEPEST),
    });
  });
  canvas.addEventListener("pointerup", () => (from = null));
  canvas.addEventListener("pointercancel", () => {
    if (from) set({ yaw: from.yaw }); // the finger meant to scroll the page
    from = null;
  });
  canvas.addEventListener("keydown", (event) => {
    const way = TURN_KEYS[event.key];
    if (!way || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    turn(way);
  });
  const zoom = (event) => {
    if (document.activeElement !== canvas) return; // the page scrolls
    event.preventDefault();
    set(zoomed(Math.exp(-event.deltaY / 500)));
  };
  canvas.addEventListener("wheel", zoom, { passive: false });
}
