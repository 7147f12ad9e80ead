// Fits: the reader chooses a series and a variable, the address keeps the choice.

function startFits(fits, time) {
  const [series, variable] = [document.getElementById("series"), document.getElementById("variable")];
  const [host, readout, note] = ["fit-plot", "fit-readout", "fit-note"].map((id) => document.getElementById(id));
  const clock = time.date ? clockOf(time.zone) : null;
  const axis = {
    name: time.date ? `${time.label} (${clock.zone})` : time.label,
    ticks: time.date ? (low, high, count) => dateTicks(clock, low, high, count) : linearTicks,
  };
  const written = (at) => (time.date ? writtenDate(clock, at) : plain(at, 5));
  const names = [...new Set(fits.map((fit) => fit.series))];
  let shown = fits[0];

  const fill = (select, texts, chosen) => {
    select.replaceChildren(...texts.map((text) => new Option(text, text, false, text === chosen)));
  };
  const show = (fit) => {
    shown = fit;
    series.value = fit.series;
    fill(variable, fits.filter((other) => other.series === fit.series).map((other) => other.variable), fit.variable);
    drawFit(host, readout, fit, axis, written);
    note.textContent = fit.note;
    for (const key of document.querySelectorAll("#fit-legend [data-key]")) key.hidden = !hasKey(fit, key.dataset.key);
  };
  const find = (name, other) => {
    const own = fits.filter((fit) => fit.series === name);
    return own.find((fit) => fit.variable === other) || own[0];
  };
  const choose = (fit) => {
    if (!fit) return;
    show(fit);
    const view = new URLSearchParams({ series: fit.series, variable: fit.variable });
    try {
      history.replaceState(null, "", `#${view}`);
    } catch {
      // Some viewers of files do not let the address change; the view changes all the same.
    }
  };
  const fromAddress = () => {
    const view = new URLSearchParams(location.hash.slice(1));
    return view.has("series") || view.has("variable")
      ? find(view.get("series") ?? shown.series, view.get("variable"))
      : undefined;
  };
  const step = (by) => {
    const place = (names.indexOf(shown.series) + by + names.length) % names.length;
    choose(find(names[place], shown.variable));
  };

  fill(series, names, shown.series);
  series.addEventListener("change", () => choose(find(series.value, shown.variable)));
  variable.addEventListener("change", () => choose(find(shown.series, variable.value)));
  document.getElementById("before").addEventListener("click", () => step(-1));
  document.getElementById("after").addEventListener("click", () => step(1));
  for (const id of ["before", "after"]) document.getElementById(id).hidden = names.length < 2;
  addEventListener("hashchange", () => {
    const fit = fromAddress();
    if (fit) show(fit);
  });
  shown = fromAddress() ?? shown;
  drawn(host, () => show(shown));
}

function hasKey(fit, key) {
  const [kind, level] = key.split(" ");
  if (kind === "band") return fit.bands.some((band) => band.level === Number(level));
  return { seen: fit.seen.t.length, withheld: fit.withheld.t.length, mean: fit.mean.length, forecast: fit.from !== null }[kind];
}

function drawFit(host, readout, fit, axis, written) {
  const { seen, withheld, t, mean, bands } = fit;
  const ends = bands.flatMap((band) => [band.lower, band.upper]);
  const width = host.clientWidth;
  const chart = plot(host, {
    x: { ...axis, limits: padded([...t, ...seen.t, ...withheld.t], 0.015) },
    y: {
      name: fit.unit ? `${fit.variable} (${fit.unit})` : fit.variable,
      ticks: linearTicks,
      limits: padded([...seen.y, ...withheld.y, ...mean, ...ends.flat()], 0.05),
    },
    height: Math.round(Math.min(400, Math.max(270, 0.4 * width))),
    label:
      `${fit.variable} of series ${fit.series}: ${seen.t.length} observed and ${withheld.t.length} withheld values` +
      `${mean.length ? ", posterior mean" : ""}${bands.length ? ` and ${bands.length} intervals` : ""}` +
      `${fit.from === null ? "" : `, forecast from ${written(fit.from)}`}. Use the arrow keys to read values.`,
  });
  const { inside, area, place } = chart;
  if (fit.from !== null) {
    const from = Math.min(area.right, Math.max(area.left, place.x(fit.from)));
    const box = { x: short(from), y: area.top - 4, width: short(area.right - from), height: area.bottom - area.top + 4 };
    shape(inside, "rect", { class: "forecast", ...box });
  }
  const widest = [...bands].sort((a, b) => b.level - a.level);
  widest.forEach((band, rank) => {
    const upper = t.map((at, index) => [place.x(at), place.y(band.upper[index])]);
    const lower = t.map((at, index) => [place.x(at), place.y(band.lower[index])]).reverse();
    shape(inside, "path", { class: `band rank${bandRank(rank, widest.length)}`, d: `${lineOf([...upper, ...lower])}Z` });
  });
  const drawMean = () => {
    if (mean.length) shape(inside, "path", { class: "mean", d: lineOf(t.map((at, i) => [place.x(at), place.y(mean[i])])) });
  };
  // Where points touch each other they are small and pale, and the mean lies on top of them.
  const dense = seen.t.length + withheld.t.length > (area.right - area.left) / 2;
  if (!dense) drawMean();
  for (const [points, kind] of [[withheld, "withheld"], [seen, "seen"]]) {
    const group = shape(inside, "g", { class: dense ? "dense" : "sparse" });
    points.t.forEach((at, index) => {
      const centre = { cx: short(place.x(at)), cy: short(place.y(points.y[index])) };
      shape(group, "circle", { class: kind, ...centre, r: dense ? 1.5 : 2.8 });
    });
  }
  if (dense) drawMean();
  const hint = "Point at the plot, or use the arrow keys, to read values.";
  readout.textContent = hint;
  const times = t.length ? t : [...seen.t, ...withheld.t].sort((a, b) => a - b);
  const near = 0.012 * (times[times.length - 1] - times[0]);
  followed(chart, times, (index, group) => {
    const at = times[index];
    const parts = [`at ${written(at)}`];
    if (mean.length) {
      shape(group, "circle", { class: "here", cx: short(place.x(at)), cy: short(place.y(mean[index])), r: 3.5 });
      parts.push(`mean ${plain(mean[index])}`);
    }
    if (t.length) {
      const texts = widest.map((b) => `${plain(100 * b.level, 3)} %: ${plain(b.lower[index])} to ${plain(b.upper[index])}`);
      parts.push(...texts.reverse());
    }
    for (const [points, kind] of [[seen, "observed"], [withheld, "withheld"]]) {
      if (!points.t.length) continue;
      const which = nearest(points.t, at);
      if (Math.abs(points.t[which] - at) <= near) parts.push(`${kind} ${plain(points.y[which])}`);
    }
    readout.textContent = parts.join("  ·  ");
  });
}

/** Wide bands are pale; three shades are enough to tell any number of them apart. */
const bandRank = (rank, count) => (count < 2 ? 1 : Math.round((2 * rank) / (count - 1)));
