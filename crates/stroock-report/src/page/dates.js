// Dates along an axis. Times are seconds since 1970; `wall` is the same as a clock of the zone shows it.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const [MINUTE, HOUR, DAY] = [60, 3600, 86400];
const STEPS = [1, 2, 5, 15, 30, 60, 120, 300, 900, 1800, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];

function clockOf(zone) {
  let format = null;
  try {
    const parts = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" };
    format = zone && new Intl.DateTimeFormat("en-GB", { ...parts, second: "numeric", hourCycle: "h23", timeZone: zone });
  } catch {
    format = null; // A zone that this browser does not know: UTC.
  }
  const offset = (time) => {
    if (!format) return 0;
    const part = {};
    const whole = Math.floor(time);
    for (const { type, value } of format.formatToParts(new Date(whole * 1000))) part[type] = Number(value);
    return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second) / 1000 - whole;
  };
  return {
    zone: format ? zone : "UTC",
    wall: (time) => time + offset(time),
    time: (wall) => wall - offset(wall - offset(wall)),
  };
}

const two = (number) => String(number).padStart(2, "0");

/** A time in full, with seconds where there are some. */
function writtenDate(clock, time) {
  const date = new Date(Math.round(clock.wall(time)) * 1000);
  const day = `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
  const seconds = date.getUTCSeconds() ? `:${two(date.getUTCSeconds())}` : "";
  return `${day} ${two(date.getUTCHours())}:${two(date.getUTCMinutes())}${seconds}`;
}

/** Beginnings of months, `step` months apart, between two times of the wall clock. */
function months(low, high, step) {
  const start = new Date(low * 1000);
  const walls = [];
  let month = start.getUTCFullYear() * 12 + start.getUTCMonth();
  month -= month % step;
  for (; ; month += step) {
    const wall = Date.UTC(Math.floor(month / 12), month % 12, 1) / 1000;
    if (wall > high) return walls;
    if (wall >= low) walls.push(wall);
  }
}

function multiples(low, high, step) {
  const walls = [];
  for (let wall = Math.ceil(low / step) * step; wall <= high; wall += step) walls.push(wall);
  return walls;
}

/** At most about `count` round dates from `low` to `high`, with their texts. */
function dateTicks(clock, low, high, count) {
  const [from, to] = [clock.wall(low), clock.wall(high)];
  const least = (to - from) / Math.max(1, count);
  const written = (wall, text) => ({ value: clock.time(wall), text });
  const clockStep = STEPS.find((step) => step >= least);
  if (clockStep) {
    return multiples(from, to, clockStep).map((wall, index) => {
      const date = new Date(wall * 1000);
      const seconds = clockStep < MINUTE ? `:${two(date.getUTCSeconds())}` : "";
      const hours = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}${seconds}`;
      const fresh = index === 0 || wall % DAY < clockStep;
      return written(wall, fresh ? `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${hours}` : hours);
    });
  }
  const days = [1, 2, 4, 7, 14].find((step) => step * DAY >= least);
  if (days) {
    let year = null;
    return multiples(from, to, days * DAY).map((wall) => {
      const date = new Date(wall * 1000);
      const fresh = year !== date.getUTCFullYear();
      year = date.getUTCFullYear();
      return written(wall, `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}${fresh ? ` ${year}` : ""}`);
    });
  }
  let step = [1, 2, 3, 6, 12].find((number) => number * 30.5 * DAY >= least);
  for (let years = 1; !step; years *= 10) step = [2, 5, 10].map((n) => n * years * 12).find((n) => n * 30.5 * DAY >= least);
  return months(from, to, step).map((wall) => {
    const date = new Date(wall * 1000);
    const month = date.getUTCMonth();
    return written(wall, step < 12 ? `${MONTHS[month]} ${date.getUTCFullYear()}` : String(date.getUTCFullYear()));
  });
}
