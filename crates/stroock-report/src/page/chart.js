// A plot with two axes in SVG, as wide as its place on the page, with a mark that follows the reader.

const SVG = "http://www.w3.org/2000/svg";

/** A new element of SVG inside of `parent`. */
function shape(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

const short = (number) => Math.round(number * 100) / 100;

/** Commands of a line through places. */
const lineOf = (places) => places.map(([x, y], index) => `${index ? "L" : "M"}${short(x)} ${short(y)}`).join("");

/** The smallest and the largest number, a share of the span apart from the rim. */
function padded(numbers, share) {
  let [low, high] = [Infinity, -Infinity];
  for (const number of numbers) {
    if (number < low) low = number;
    if (number > high) high = number;
  }
  if (low > high) return [0, 1];
  const span = high - low || Math.abs(high) * 0.1 || 1;
  return low === high ? [low - span / 2, high + span / 2] : [low - share * span, high + share * span];
}

/** Room that a text takes, roughly: digits are narrower than letters. */
const widthOf = (text) => text.length * 6.4;

/** Leaves out texts that would touch their neighbours, or stick out of the picture. */
function apart(ticks, place, right) {
  let end = -Infinity;
  return ticks.map((tick) => {
    const [x, half] = [place(tick.value), widthOf(tick.text) / 2];
    if (x - half < end + 8 || x + half > right || x - half < 0) return { ...tick, text: "" };
    end = x + half;
    return tick;
  });
}

/**
 * Draws an empty plot into `host`.
 *
 * `x` and `y` have `limits`, `ticks(low, high, count)` and a `name`; `y.log` makes a logarithmic axis. Gives the
 * elements and the functions from numbers to places.
 */
function plot(host, { x, y, height, label }) {
  const width = Math.max(240, Math.floor(host.clientWidth));
  const yTicks = y.ticks(...y.limits, Math.max(2, Math.floor(height / 56)));
  const left = 10 + Math.max(18, ...yTicks.map((tick) => widthOf(tick.text)));
  const area = { left, right: width - 12, top: 26, bottom: height - 40 };
  const size = y.log ? Math.log10 : (value) => value;
  const [low, high] = y.limits.map(size);
  const place = {
    x: (value) => area.left + ((value - x.limits[0]) / (x.limits[1] - x.limits[0])) * (area.right - area.left),
    y: (value) => area.bottom - ((size(value) - low) / (high - low)) * (area.bottom - area.top),
    time: (at) => x.limits[0] + ((at - area.left) / (area.right - area.left)) * (x.limits[1] - x.limits[0]),
  };
  host.replaceChildren();
  const svg = shape(host, "svg", {
    width, height, viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0, "aria-label": label,
  });
  const back = shape(svg, "g", {});
  for (const tick of yTicks) {
    const at = short(place.y(tick.value));
    shape(back, "path", { class: "level", d: `M${area.left} ${at}H${area.right}` });
    shape(back, "text", { class: "tick", x: area.left - 6, y: at, "text-anchor": "end", dy: "0.32em" }, tick.text);
  }
  const xTicks = x.ticks(...x.limits, Math.max(2, Math.floor((area.right - area.left) / 95)));
  for (const tick of apart(xTicks, place.x, width)) {
    const at = short(place.x(tick.value));
    shape(back, "path", { class: "axis", d: `M${at} ${area.bottom}v4` });
    shape(back, "text", { class: "tick", x: at, y: area.bottom + 17, "text-anchor": "middle" }, tick.text);
  }
  shape(back, "path", { class: "axis", d: `M${area.left} ${area.bottom}H${area.right}` });
  shape(back, "text", { class: "name", x: 0, y: 13 }, y.name);
  shape(back, "text", { class: "name", x: area.right, y: height - 5, "text-anchor": "end" }, x.name);
  const inside = shape(svg, "svg", {
    x: area.left, y: area.top - 4, width: area.right - area.left, height: area.bottom - area.top + 4,
    viewBox: `${area.left} ${area.top - 4} ${area.right - area.left} ${area.bottom - area.top + 4}`,
  });
  return { svg, inside, area, place };
}

/** Lets the reader move a mark over `times` by pointer or arrow keys; `show(index, group)` draws it. */
function followed({ svg, area, place }, times, show) {
  if (!times.length) return;
  const group = shape(svg, "g", { class: "cursor" });
  let index = null;
  const move = (to) => {
    index = to;
    group.replaceChildren();
    const at = short(place.x(times[index]));
    shape(group, "path", { class: "hair", d: `M${at} ${area.top}V${area.bottom}` });
    show(index, group);
  };
  const point = (event) => {
    const at = event.clientX - svg.getBoundingClientRect().left;
    move(nearest(times, place.time(at)));
  };
  svg.addEventListener("pointermove", point);
  svg.addEventListener("pointerdown", point);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (!step) return;
    event.preventDefault();
    move(Math.min(times.length - 1, Math.max(0, index === null ? 0 : index + step)));
  });
}

/** Calls `draw` now and whenever the width of `host` has changed. */
function drawn(host, draw) {
  let width = host.clientWidth;
  draw();
  new ResizeObserver(() => {
    if (host.clientWidth === width || host.clientWidth === 0) return;
    width = host.clientWidth;
    draw();
  }).observe(host);
}
