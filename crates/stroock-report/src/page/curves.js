// The course of training: losses against epochs.

function startCurves({ runs, best, log, limits }) {
  const [host, readout] = ["curve-plot", "curve-readout"].map((id) => document.getElementById(id));
  const epochs = [...new Set(runs.flatMap((run) => run.x))].sort((a, b) => a - b);
  const draw = () => {
    const chart = plot(host, {
      x: { name: "epoch", limits: padded(epochs, 0.012), ticks: linearTicks },
      y: { name: log ? "loss (logarithmic)" : "loss", limits, log, ticks: log ? logTicks : linearTicks },
      height: Math.round(Math.min(320, Math.max(230, 0.32 * host.clientWidth))),
      label: `Losses of ${epochs.length} epochs: ${runs.map((run) => run.name).join(", ")}. Use the arrow keys to read values.`,
    });
    const { inside, area, place } = chart;
    if (best !== null) {
      const at = short(place.x(best));
      shape(inside, "path", { class: "best", d: `M${at} ${area.top}V${area.bottom}` });
      const side = at > (area.left + area.right) / 2 ? { x: at - 6, "text-anchor": "end" } : { x: at + 6 };
      shape(inside, "text", { class: "tick", y: area.top + 9, ...side }, `kept: epoch ${plain(best)}`);
    }
    runs.forEach((run, index) => {
      const places = run.x.map((x, i) => [place.x(x), place.y(run.y[i])]);
      shape(inside, "path", { class: `curve colour${index % 8}`, d: lineOf(places) });
      if (places.length === 1) {
        shape(inside, "circle", { class: `spot colour${index % 8}`, cx: places[0][0], cy: places[0][1], r: 3 });
      }
    });
    readout.textContent = "Point at the plot, or use the arrow keys, to read values.";
    followed(chart, epochs, (index, group) => {
      const parts = [`epoch ${plain(epochs[index])}`];
      runs.forEach((run, number) => {
        const which = nearest(run.x, epochs[index]);
        if (run.x[which] !== epochs[index]) return;
        const centre = { cx: short(place.x(run.x[which])), cy: short(place.y(run.y[which])) };
        if (centre.cy >= area.top - 4) shape(group, "circle", { class: `spot colour${number % 8}`, ...centre, r: 3.5 });
        parts.push(`${run.name} ${plain(run.y[which])}`);
      });
      readout.textContent = parts.join("  ·  ");
    });
  };
  drawn(host, draw);
}
