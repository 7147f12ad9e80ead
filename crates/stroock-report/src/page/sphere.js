// Latent paths on a ball that the reader can turn.

const LEVELS = 24;

function startSphere({ groups, inside, light, dark }, time) {
  const canvas = document.getElementById("globe");
  const [select, button] = [document.getElementById("group"), document.getElementById("turn")];
  const night = matchMedia("(prefers-color-scheme: dark)");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const low = Math.min(...groups.map((group) => group.t[0]));
  const high = Math.max(...groups.map((group) => group.t[group.t.length - 1]));
  const view = { longitude: 30, latitude: 25, turning: !still.matches, visible: true };
  let chosen = groups;

  for (const group of groups) {
    group.level = group.t.map((at) => (high > low ? Math.round(((at - low) / (high - low)) * (LEVELS - 1)) : 0));
  }

  const draw = () => drawGlobe(canvas, chosen, inside, view, night.matches ? dark : light);

  let before = null;
  const turn = (now) => {
    if (!view.turning || !view.visible) {
      before = null;
      return;
    }
    if (before !== null) view.longitude -= Math.min(100, now - before) * 0.006;
    before = now;
    draw();
    ask();
  };
  // One frame at a time, however often turning starts and stops.
  let frame = 0;
  const ask = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(turn);
  };
  const setTurning = (turning) => {
    const starts = turning && !view.turning;
    view.turning = turning;
    button.textContent = turning ? "Stop turning" : "Turn slowly";
    if (starts) ask();
  };

  let held = null;
  canvas.addEventListener("pointerdown", (event) => {
    setTurning(false);
    held = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    const degrees = 180 / (0.9 * canvas.clientWidth);
    view.longitude -= (event.clientX - held[0]) * degrees;
    view.latitude = Math.max(-90, Math.min(90, view.latitude + (event.clientY - held[1]) * degrees));
    held = [event.clientX, event.clientY];
    draw();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (held = null));
  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [5, 0], ArrowRight: [-5, 0], ArrowUp: [0, 5], ArrowDown: [0, -5] }[event.key];
    if (!move) return;
    event.preventDefault();
    setTurning(false);
    view.longitude += move[0];
    view.latitude = Math.max(-90, Math.min(90, view.latitude + move[1]));
    draw();
  });
  button.addEventListener("click", () => setTurning(!view.turning));
  still.addEventListener("change", () => setTurning(view.turning && !still.matches));
  night.addEventListener("change", draw);
  if (select) {
    select.addEventListener("change", () => {
      chosen = select.value === "" ? groups : [groups[Number(select.value)]];
      draw();
    });
  }
  const clock = time.date ? clockOf(time.zone) : null;
  const written = (at) => (clock ? writtenDate(clock, at) : plain(at));
  document.getElementById("bar-low").textContent = written(low);
  document.getElementById("bar-high").textContent = written(high);

  drawn(canvas, draw);
  setTurning(view.turning);
  new IntersectionObserver((entries) => {
    const visible = entries[entries.length - 1].isIntersecting;
    const starts = visible && !view.visible;
    view.visible = visible;
    if (starts) ask();
  }).observe(canvas);
  if (view.turning) ask();
}

function drawGlobe(canvas, groups, inside, { longitude, latitude }, colours) {
  const size = canvas.clientWidth;
  if (size < 40) return; // On paper the canvas has no place.
  const dense = Math.min(3, devicePixelRatio || 1);
  if (canvas.width !== Math.round(size * dense)) canvas.width = canvas.height = Math.round(size * dense);
  const pen = canvas.getContext("2d");
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.clearRect(0, 0, size, size);
  const [centre, radius] = [size / 2, size / 2 - 8];
  const [l, p] = [longitude, latitude].map((degrees) => (degrees * Math.PI) / 180);
  const axes = [
    [-Math.sin(l), Math.cos(l), 0],
    [-Math.sin(p) * Math.cos(l), -Math.sin(p) * Math.sin(l), Math.cos(p)],
    [Math.cos(p) * Math.cos(l), Math.cos(p) * Math.sin(l), Math.sin(p)],
  ];
  const seen = (x, y, z) => axes.map((axis) => axis[0] * x + axis[1] * y + axis[2] * z);
  const at = ([x, y]) => [centre + radius * x, centre - radius * y];
  pen.lineCap = pen.lineJoin = "round";

  const shade = pen.createRadialGradient(
    centre - 0.3 * radius, centre - 0.35 * radius, 0, centre - 0.3 * radius, centre - 0.35 * radius, 1.5 * radius,
  );
  shade.addColorStop(0, colours.ball[0]);
  shade.addColorStop(0.45, colours.ball[1]);
  shade.addColorStop(1, colours.ball[2]);
  pen.fillStyle = shade;
  pen.beginPath();
  pen.arc(centre, centre, radius, 0, 2 * Math.PI);
  pen.fill();

  const pieces = sorted(groups, seen, at);
  const strokes = (paths, far) => {
    paths.forEach((path, level) => {
      pen.strokeStyle = (far ? colours.far : colours.near)[level];
      pen.stroke(path);
    });
  };
  pen.lineWidth = 0.7;
  const graticule = parallels(seen, at, inside);
  pen.strokeStyle = colours.grid[1];
  pen.stroke(graticule.far);
  pen.lineWidth = 1.2;
  strokes(pieces.far, true);
  pen.lineWidth = 0.7;
  pen.strokeStyle = colours.grid[0];
  pen.stroke(graticule.near);
  pen.lineWidth = 1.6;
  strokes(pieces.near, false);
  pen.lineWidth = 1;
  pen.strokeStyle = colours.rim;
  pen.beginPath();
  pen.arc(centre, centre, radius, 0, 2 * Math.PI);
  pen.stroke();
  if (pieces.ends.length <= 120) pieces.ends.forEach((end) => drawEnd(pen, end, at, colours));
}

/** The steps of all paths by side and by time, and the ends of the paths, those far away first. */
function sorted(groups, seen, at) {
  const empty = () => Array.from({ length: LEVELS }, () => new Path2D());
  const pieces = { far: empty(), near: empty(), ends: [] };
  for (const { paths, level } of groups) {
    for (const path of paths) {
      let from = null;
      for (let index = 0; 3 * index < path.length; index += 1) {
        const to = seen(path[3 * index] / 1e4, path[3 * index + 1] / 1e4, path[3 * index + 2] / 1e4);
        if (from) {
          const line = (from[2] + to[2] < 0 ? pieces.far : pieces.near)[level[index]];
          line.moveTo(...at(from));
          line.lineTo(...at(to));
        }
        if (index === 0) pieces.ends.push({ place: to, open: true });
        if (3 * index + 3 === path.length) pieces.ends.push({ place: to, open: false });
        from = to;
      }
    }
  }
  pieces.ends.sort((a, b) => a.place[2] - b.place[2]);
  return pieces;
}

function drawEnd(pen, { place, open }, at, colours) {
  const ink = place[2] < 0 ? colours.grid[0] : colours.ink;
  pen.beginPath();
  pen.arc(...at(place), 3, 0, 2 * Math.PI);
  pen.fillStyle = open ? colours.ball[0] : ink;
  pen.strokeStyle = open ? ink : colours.ball[0];
  pen.lineWidth = 1.2;
  pen.fill();
  pen.stroke();
}

/** Circles of latitude and longitude on both sides; of a ball with paths inside, three great circles alone. */
function parallels(seen, at, inside) {
  const sides = { far: new Path2D(), near: new Path2D() };
  const round = Array.from({ length: 121 }, (_, step) => (step * Math.PI) / 60);
  const circle = (point) => {
    let from = null;
    for (const angle of round) {
      const to = seen(...point(angle));
      if (from) {
        const line = from[2] + to[2] < 0 ? sides.far : sides.near;
        line.moveTo(...at(from));
        line.lineTo(...at(to));
      }
      from = to;
    }
  };
  for (const degrees of inside ? [0] : [-60, -30, 0, 30, 60]) {
    const [sin, cos] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)];
    circle((angle) => [cos * Math.cos(angle), cos * Math.sin(angle), sin]);
  }
  for (const degrees of inside ? [0, 90] : [0, 30, 60, 90, 120, 150]) {
    const [sin, cos] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)];
    circle((angle) => [cos * Math.cos(angle), sin * Math.cos(angle), Math.sin(angle)]);
  }
  return sides;
}
