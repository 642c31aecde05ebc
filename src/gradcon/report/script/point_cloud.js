// The point cloud, drawn with WebGL.

const VERTEX = `
  attribute vec3 place;
  attribute vec3 colour;
  varying vec3 tint;
  uniform mat3 turn;
  uniform vec3 centre;
  uniform vec3 lens;
  uniform vec2 axis;
  uniform float size;
  void main() {
    vec3 p = turn * (place - centre);
    float z = p.z + lens.z, near = .02 * lens.z;
    gl_Position = vec4(lens.x * (p.x - axis.x * p.z), lens.y * (axis.y * p.z - p.y), z - 2. * near, z);
    gl_PointSize = clamp(size * place.z / max(z, near), 1., 24.); // a pixel's width at its depth
    tint = colour;
  }`;
const FRAGMENT = `
  precision mediump float;
  varying vec3 tint;
  void main() { gl_FragColor = vec4(tint, 1.); }`;
const UNIFORMS = ["turn", "centre", "lens", "axis", "size"];
const POINTER = [255, 40, 0]; // the colour of the chosen pixel

// Return the function that draws the points as the state describes them.
function pointCloud(gl, result, points, camera) {
  const { canvas } = gl;
  const { count, of } = points;
  const { axis, wide, aspect, lens } = camera;
  const uniform = prepare(gl, points);
  const depth = points.places.filter((_, n) => n % 3 === 2).sort()[count >> 1]; // the median
  gl.uniform3f(uniform.centre, axis[0] * depth, axis[1] * depth, depth);
  gl.uniform2fv(uniform.axis, axis);

  let most = count; // points that this machine can draw while they move
  let resting = 0;

  // Draw all points when nothing has happened for a while.
  const rest = (delay) => {
    clearTimeout(resting);
    resting = setTimeout(() => {
      changed.add("rest");
      set({});
    }, delay);
  };

  // After the next frame, adapt `most` so that 30 frames are drawn in a second.
  const adapt = () => {
    const start = performance.now();
    requestAnimationFrame(() => {
      const lasted = performance.now() - start;
      if (lasted > 40) most *= 0.7;
      else if (lasted < 25) most *= 1.25;
      most = clamp(most, Math.min(count, 8000), count);
    });
  };

  return (now) => {
    const moves = ["yaw", "pitch", "zoom"].some((name) => now.has(name));
    if (now.has("size")) resize(gl, aspect);
    else if (!moves && !now.has("rest")) return rest(200); // only the pixel has changed: draw the pictures first
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix3fv(uniform.turn, false, rotation(state.yaw, state.pitch));
    gl.uniform3f(uniform.lens, lens, lens * aspect, depth / state.zoom);
    const drawn = moves ? Math.floor(most) : count;
    if (moves) adapt();
    if (drawn < count) rest(150);
    // Make the points wide enough to cover the pixels that are left out.
    const size = ((1.7 * canvas.width * wide * lens) / 2 / result.columns) * Math.sqrt(of / drawn);
    gl.uniform1f(uniform.size, size);
    gl.drawArrays(gl.POINTS, 0, drawn);
    gl.uniform1f(uniform.size, Math.max(9, 3 * size));
    drawPointer(gl, count, placeOf(result, pixel(result).index));
    canvas.dataset.drawn = drawn;
  };
}

// Compile the shaders and upload the points, with one more for the chosen pixel; return the locations of the uniforms.
function prepare(gl, { count, places, colours }) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  const allPlaces = new Float32Array(3 * count + 3);
  const allColours = new Uint8Array(3 * count + 3);
  allPlaces.set(places);
  allColours.set(colours);
  allColours.set(POINTER, 3 * count);
  upload(gl, gl.getAttribLocation(program, "colour"), allColours, gl.UNSIGNED_BYTE);
  upload(gl, gl.getAttribLocation(program, "place"), allPlaces, gl.FLOAT); // last: `drawPointer` changes this buffer
  gl.enable(gl.DEPTH_TEST);
  return Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(program, name)]));
}

function upload(gl, location, array, type) {
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, array, gl.STATIC_DRAW);
  gl.enableVertexAttribArray(location);
  gl.vertexAttribPointer(location, 3, type, type !== gl.FLOAT, 0, 0);
}

// Draw the chosen pixel as the last point, so that it shows through whatever is in front of it.
function drawPointer(gl, last, place) {
  if (!(place[2] > 0 && place[2] < Infinity)) return;
  gl.bufferSubData(gl.ARRAY_BUFFER, 12 * last, new Float32Array(place));
  gl.disable(gl.DEPTH_TEST);
  gl.drawArrays(gl.POINTS, last, 1);
  gl.enable(gl.DEPTH_TEST);
}

// Fit the drawing to the size and the background of its canvas.
function resize(gl, aspect) {
  const { canvas } = gl;
  const width = Math.round(canvas.clientWidth * Math.min(devicePixelRatio, 2)) || 300;
  canvas.width = width;
  canvas.height = Math.round(width / aspect);
  gl.viewport(0, 0, canvas.width, canvas.height);
  const ground = getComputedStyle(canvas).backgroundColor.match(/[\d.]+/g).slice(0, 3);
  gl.clearColor(...ground.map((part) => part / 255), 1);
}

// The rotation, by columns, by which near things follow the hand: right as the yaw grows, down as the pitch does.
function rotation(yaw, pitch) {
  const [sy, cy] = [-Math.sin(yaw), Math.cos(yaw)];
  const [sp, cp] = [Math.sin(pitch), Math.cos(pitch)];
  return [cy, sy * sp, -sy * cp, 0, cp, sp, sy, -cy * sp, cy * cp];
}
