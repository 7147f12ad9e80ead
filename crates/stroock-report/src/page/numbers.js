// How numbers are written, and which of them stand at an axis.

const grouped = (text) => {
  const [whole, rest] = text.replace("-", "").split(".");
  const groups = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u2009") : whole;
  return (text.startsWith("-") ? "\u2212" : "") + groups + (rest ? `.${rest}` : "");
};

const superscript = (power) => String(power).replace(/./g, (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]);

const scientific = (value, digits) => {
  const [size, power] = value.toExponential(digits).split("e");
  const shown = size.includes(".") ? size.replace(/\.?0+$/, "") : size;
  const ten = `10${superscript(Number(power))}`;
  return shown === "1" ? ten : `${grouped(shown)}×${ten}`;
};

/** A number with as many digits as it needs, `digits` at most. */
function plain(value, digits = 4) {
  if (value === 0) return "0";
  const power = Math.floor(Math.log10(Math.abs(value)));
  if (power < -4 || power >= 7) return scientific(value, digits - 1);
  const text = value.toFixed(Math.min(15, Math.max(0, digits - 1 - power)));
  return grouped(text.includes(".") ? text.replace(/\.?0+$/, "") : text);
}

/** About `count` round numbers from `low` to `high`, with their texts. */
function linearTicks(low, high, count) {
  const least = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 2.5, 5, 10, 20].map((digit) => digit * power).find((s) => s >= least * (1 - 1e-9));
  const first = Math.ceil(low / step - 1e-6);
  const last = Math.floor(high / step + 1e-6);
  if (!(Math.abs(first) < 1e12 && last - first < 100)) return [];
  const values = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  const largest = Math.max(...values.map(Math.abs));
  const sized = (largest >= 1e7 || step < 0.99e-4) && largest <= 1e4 * step;
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9) + (/^2\.5/.test(step.toExponential(6)) ? 1 : 0));
  const places = step >= 10 ? 0 : Math.min(15, decimals);
  const written = (value) => (Math.abs(value) < step / 2 ? (0).toFixed(places) : grouped(value.toFixed(places)));
  return values.map((value) => ({
    value,
    text: sized ? (value === 0 ? "0" : scientific(value, 3)) : written(value),
  }));
}

/** Powers of ten, and where these are few also twice and five times them. */
function logTicks(low, high, count) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const inside = (value) => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9);
  if (last - first < 2) {
    const values = [];
    for (let power = first - 1; power <= last; power += 1) {
      values.push(...[1, 2, 5].map((digit) => digit * 10 ** power).filter(inside));
    }
    return values.length < 2 ? linearTicks(low, high, count) : values.map((value) => ({ value, text: plain(value) }));
  }
  const every = Math.ceil((last - first + 1) / Math.max(2, count));
  const powers = [];
  for (let power = first; power <= last; power += 1) if (power % every === 0) powers.push(10 ** power);
  return powers.map((value) => ({ value, text: plain(value) }));
}

/** Place of the entry of a sorted list that is nearest to `value`. */
function nearest(sorted, value) {
  let [low, high] = [0, sorted.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle;
    else high = middle;
  }
  return Math.abs(sorted[low] - value) <= Math.abs(sorted[high] - value) ? low : high;
}
