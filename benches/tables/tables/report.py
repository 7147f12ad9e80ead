"""Results as Markdown."""

from collections import defaultdict

# Of each part: what is compared, whether more of it is better, and the columns of its table.
PARTS = {
    "imputation": {
        "title": "Imputation",
        "score": "mse",
        "better": -1,
        "columns": {
            "MSE": "mse",
            "MAE": "mae",
            "CRPS": "crps",
            "inside 50 %": "in50",
            "inside 90 %": "in90",
            "MSE at window borders": "border.mse",
            "CRPS at window borders": "border.crps",
        },
        "about": "A fifth of the observed values of the whole table is hidden, one by one (`single`) or in runs of six of "
        "one variable (`runs`). stroock is fitted to the table with blanks in their place, and fills it. Errors are in "
        "standard deviations of the variable, pooled over all hidden values; a method without a distribution has its "
        "MAE as CRPS. *At window borders*: hidden values whose visible neighbour on one side lies in another of the "
        "windows that long series are cut into by default. Of PhysioNet's stays all are learnt from, and 1 000 are "
        "scored.",
    },
    "forecast": {
        "title": "Forecast",
        "score": "mase",
        "better": -1,
        "columns": {
            "RMSE": "rmse",
            "MASE": "mase",
            "scaled CRPS": "crps",
            "inside 50 %": "in50",
            "inside 90 %": "in90",
        },
        "about": "The last part of every series is forecast from all before it. The RMSE is in the units of the table; "
        "MASE and CRPS are in units of the mean absolute error of the seasonal naive forecast in the training part.",
    },
    "classification": {
        "title": "Classification",
        "score": "accuracy",
        "better": 1,
        "columns": {"accuracy": "accuracy", "log loss": "log_loss"},
        "about": "The official splits. Who only names a class has no log loss.",
    },
}


def number(value):
    """A number with about three digits."""
    if value is None:
        return ""
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.3g}" if abs(value) < 1 else f"{value:.4g}"


def look(row, name):
    """A figure of a row, which may be one of a part of it."""
    for step in name.split("."):
        row = row.get(step) if isinstance(row, dict) else None
    return row


def mean(rows, name):
    """Over seeds."""
    found = [look(row, name) for row in rows]
    found = [value for value in found if value is not None]
    return sum(found) / len(found) if found else None


def races(rows, part):
    """For every set and way of hiding the rows of every contestant, stroock first."""
    found = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["part"] == part:
            found[(row["set"], row.get("hidden") or "")][row["contestant"]].append(row)
    order = lambda contestant: (contestant != "stroock", contestant)
    return {race: {name: found[race][name] for name in sorted(found[race], key=order)} for race in sorted(found)}


def ratio(part, contestants):
    """Stroock's score over that of the best rival, above 1 where the rival is better; and who that is."""
    better, score = PARTS[part]["better"], PARTS[part]["score"]
    values = {name: mean(rows, score) for name, rows in contestants.items()}
    ours = values.pop("stroock", None)
    rivals = {name: value for name, value in values.items() if value is not None}
    if ours is None or not rivals:
        return None
    best = max(rivals, key=lambda name: better * rivals[name])
    if better < 0:
        return ours / rivals[best] if rivals[best] > 0 else float("inf"), best
    # Of accuracies the errors are compared, with half a mistake more for both, so that none may be zero.
    count = contestants["stroock"][0]["count"]
    wrong = lambda accuracy: (1 - accuracy) * count + 0.5
    return wrong(ours) / wrong(rivals[best]), best


def summary(rows):
    """Every race in one table, the worst first."""
    lines = [
        "| part | set | score | stroock | best rival | its score | ratio |",
        "|---|---|---|---:|---|---:|---:|",
    ]
    found = []
    for part, about in PARTS.items():
        for (name, hidden), contestants in races(rows, part).items():
            compared = ratio(part, contestants)
            if compared is None:
                if any("failure" in row for row in contestants.get("stroock", [])):
                    found.append((float("inf"), f"| {part} | {name} {hidden} | {about['score']} | failed | | | |"))
                continue
            worse, best = compared
            ours, theirs = (mean(contestants[who], about["score"]) for who in ("stroock", best))
            cells = [part, f"{name} {hidden}".strip(), about["score"], number(ours), best, number(theirs), number(worse)]
            found.append((worse, "| " + " | ".join(cells) + " |"))
    found.sort(key=lambda one: -one[0])
    won = sum(worse < 1 for worse, _ in found)
    head = [
        f"stroock is ahead of every rival in {won} of {len(found)} rows. The ratio is stroock's score over that of the "
        "best rival (of accuracies: that of the mistakes, half a one added), above 1 where the rival is better; the "
        "worst rows are first. The best rival of a set is chosen with hindsight.",
        "",
    ]
    return [*head, *lines, *(line for _, line in found), ""]


def table(rows, part):
    """All contestants of a part."""
    about = PARTS[part]
    columns = about["columns"]
    lines = [
        f"## {about['title']}",
        "",
        about["about"],
        "",
        "| set | contestant | seeds | " + " | ".join(columns) + " | fit s | answer s | processor s |",
        "|---|---|---:|" + "---:|" * (len(columns) + 3),
    ]
    for (_, hidden), contestants in races(rows, part).items():
        best = {name: best_of(contestants, name) for name in columns.values()}
        for contestant, of_seeds in contestants.items():
            first = of_seeds[0]
            label = ""
            if contestant == next(iter(contestants)):
                label = first["about"] + (f"; {first['hidden_values']} hidden, {hidden}" if hidden else "")
            seeds = ", ".join(str(row["seed"]) for row in of_seeds if row["seed"])
            failures = [row["failure"] for row in of_seeds if "failure" in row]
            if len(failures) == len(of_seeds):
                lines.append(f"| {label} | {contestant} | {seeds} | failed: {failures[0]} |" + " |" * (len(columns) + 2))
                continue
            cells = []
            for name in columns.values():
                value = mean(of_seeds, name)
                bold = value is not None and value == best[name]
                cells.append(f"**{number(value)}**" if bold else number(value))
            used = [mean(of_seeds, f"{name}_processor_seconds") for name in ("fit", "answer")]
            times = [mean(of_seeds, "fit_seconds"), mean(of_seeds, "answer_seconds"), sum(value or 0 for value in used)]
            cells += [number(value) for value in times]
            lines.append(f"| {label} | {contestant} | {seeds} | " + " | ".join(cells) + " |")
    notes = {f"- {row['set']}: {row['note']}." for row in rows if row["part"] == part and "note" in row}
    return [*lines, "", *sorted(notes), *([""] if notes else []), *means(rows, part)]


def means(rows, part):
    """Of the contestants that took part in every race of a part: the means over its races."""
    found = races(rows, part)
    columns = {title: name for title, name in PARTS[part]["columns"].items() if "." not in name and name != "rmse"}
    everywhere = [
        contestant
        for contestant in next(iter(found.values()), {})
        if all(mean(race.get(contestant, []), PARTS[part]["score"]) is not None for race in found.values())
    ]
    if len(found) < 2 or not everywhere:
        return []
    lines = [
        f"Means over all {len(found)} rows of this part:",
        "",
        "| contestant | " + " | ".join(columns) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    for contestant in everywhere:
        of_races = {name: [mean(race[contestant], name) for race in found.values()] for name in columns.values()}
        cells = ["" if None in values else number(sum(values) / len(values)) for values in of_races.values()]
        lines.append(f"| {contestant} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def best_of(contestants, name):
    """The best mean of a column; none for coverage."""
    if name.startswith("in"):
        return None
    values = [value for value in (mean(rows, name) for rows in contestants.values()) if value is not None]
    if len(values) < 2:
        return None
    return max(values) if name == "accuracy" else min(values)


def made_with(rows):
    """Builds, versions, machine and commands."""
    ours = [row for row in rows if row["contestant"] == "stroock"]
    machines = {
        f"{row['machine']['processor']}, {row['machine']['cores']} cores, {row['machine']['system']}, "
        f"{row['machine']['threads']} thread(s) for everyone"
        for row in rows
    }
    dates = sorted({row["machine"]["date"] for row in rows})
    loads = [row["machine"]["load"] for row in rows]
    lines = [
        f"{'; '.join(sorted(machines))}; {dates[0]}" + (f" to {dates[-1]}" if len(dates) > 1 else "")
        + f"; load {min(loads)} to {max(loads)} at the starts, so that seconds on the wall are no measure of speed "
        "where it was above the number of cores.",
        "",
        "stroock: " + "; ".join(sorted({row["by"] for row in ours})) + ".",
        "Rivals: " + "; ".join(sorted({row["by"] for row in rows if row["contestant"] != "stroock"})) + ".",
        "",
    ]
    for part in PARTS:
        commands = sorted({command for row in ours if row["part"] == part for command in row.get("commands", [])})
        # One of each is enough: they differ in seeds and in the last time.
        shown = {}
        for command in commands:
            shown.setdefault(command.split()[1], command)
        if shown:
            lines += [f"{PARTS[part]['title']}:", "", "```sh", *shown.values(), "```", ""]
    return lines


def markdown(rows):
    """The whole page."""
    lines = [
        "# Other people's tables",
        "",
        "Written by `benches/tables/run` from `results.json`; [README.md](README.md) says how it is measured.",
        "",
    ]
    lines += summary(rows)
    for part in PARTS:
        if any(row["part"] == part for row in rows):
            lines += table(rows, part)
    return "\n".join([*lines, "## Made with", "", *made_with(rows)]).rstrip() + "\n"


def write(store, folder):
    """Writes results.md."""
    store.read()
    rows = list(store.rows.values())
    if rows:
        (folder / "results.md").write_text(markdown(rows))
