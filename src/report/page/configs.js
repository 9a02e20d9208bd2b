"use strict";

/* A Chart.js configuration for each kind of chart (src/report/tables/chart.h), from its JSON and the colours of the style sheet. */

const pointStyles = ["circle", "rect", "triangle", "rectRot", "crossRot", "star", "rectRounded", "cross"];

const coloursNow = () => {
  const style = getComputedStyle(document.documentElement);
  const named = (name) => style.getPropertyValue(name).trim();
  const list = (name, count) => Array.from({length: count}, (_, i) => named(`--${name}-${i}`));
  return {ink: named("--ink"), muted: named("--muted"), line: named("--line"), card: named("--card"),
          series: list("series", 8), bands: list("band", 5)};
};

/* A label as lines of at most `limit` characters, broken between words. */
const wrapped = (label, limit) => {
  const lines = [""];
  for (const word of label.split(" ")) {
    const last = lines[lines.length - 1];
    if (last && last.length + 1 + word.length > limit) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
};

const axis = (colours, title, more = {}) => ({
  title: {display: title !== "", text: title, color: colours.muted},
  grid: {color: colours.line, drawBorder: false, ...more.grid},
  ...more,
  ticks: {color: colours.muted, ...more.ticks},
});

const colourOf = (colours, series, index) =>
  series.ideal || series.name === "other" ? colours.muted : colours.series[index % colours.series.length];

const remarkOf = (series, index) => (series.remarks ?? [])[index] ?? "";

/* Lines; without `points` only where a value stands alone between gaps. */
const lineSets = (data, colours, points) => data.series.map((series, i) => {
  const colour = colourOf(colours, series, series.like ?? i);
  const places = series.at ?? data.at;
  const alone = (at) => series.values[at] !== null && (series.values[at - 1] ?? null) === null &&
    (series.values[at + 1] ?? null) === null;
  return {
    label: series.name,
    data: series.values.map((value, at) => ({x: places[at], y: value})),
    borderColor: colour,
    backgroundColor: colour,
    borderWidth: series.ideal ? 1.5 : 2,
    borderDash: series.ideal || series.like !== undefined ? [6, 4] : i >= colours.series.length ? [2, 2] : [],
    pointStyle: series.ideal ? "line" : pointStyles[i % pointStyles.length],
    pointRadius: series.values.map((_, at) => (series.ideal ? 0 : points ? 5 : alone(at) ? 3 : 0)),
    pointHitRadius: 8,
    pointBorderWidth: 2,
    pointBackgroundColor: series.values.map((_, at) => (remarkOf(series, at) ? colours.card : colour)),
  };
});

const barSets = (data, colours) => data.series.map((series, i) => {
  const colour = colourOf(colours, series, i);
  return {
    label: series.name,
    data: series.values,
    borderColor: colour,
    borderWidth: series.values.map((_, at) => (remarkOf(series, at) ? 2 : 0)),
    backgroundColor: series.values.map((_, at) =>
      remarkOf(series, at) ? Chart.helpers.color(colour).alpha(0.25).rgbString() : colour),
    maxBarThickness: 34,
  };
});

const common = (data, colours, legend) => ({
  animation: false,
  responsive: true,
  maintainAspectRatio: false,
  interaction: {mode: "nearest", intersect: false},
  plugins: {
    legend: {display: legend, position: "bottom",
             labels: {color: colours.ink, usePointStyle: true, boxWidth: 10, boxHeight: 8, padding: 14}},
    tooltip: {callbacks: {afterLabel: (item) => remarkOf(data.series[item.datasetIndex], item.dataIndex)}},
  },
});

const kinds = {
  scaling(data, colours) {
    const options = common(data, colours, true);
    const counts = data.at.length <= 16 ? {afterBuildTicks: (x) => { x.ticks = data.at.map((value) => ({value})); }} : {};
    options.scales = {
      x: axis(colours, data.x, {type: "linear", ...counts}),
      y: axis(colours, data.y, {beginAtZero: true, grace: "5%"}),
    };
    return {type: "line", data: {datasets: lineSets(data, colours, true)}, options};
  },

  time(data, colours) {
    const options = common(data, colours, true);
    options.layout = {padding: {top: 43}};
    options.scales = {
      x: axis(colours, data.x, {type: "linear", min: 0, max: data.at[data.at.length - 1]}),
      y: axis(colours, data.y, {beginAtZero: data.fromZero, grace: data.fromZero ? 0 : "10%"}),
    };
    return {type: "line", data: {datasets: lineSets(data, colours, false)}, options,
            plugins: [bandsOf(data.bands, colours, false)]};
  },

  bars(data, colours, width) {
    const options = common(data, colours, true);
    const limit = width < 500 ? 16 : 36;
    options.indexAxis = "y";
    options.scales = {
      x: axis(colours, data.y, {beginAtZero: true}),
      y: axis(colours, "", {grid: {display: false},
                            ticks: {autoSkip: false, callback: (value) => wrapped(data.labels[value], limit)}}),
    };
    options.interaction = {mode: "index", axis: "y", intersect: false};
    return {type: "bar", data: {labels: data.labels, datasets: barSets(data, colours)}, options};
  },

  parts(data, colours, width) {
    const [first, ...others] = colours.series;
    const [second, third, fourth, fifth, ...last] = others;
    const config = kinds.bars(data, {...colours, series: [fifth, first, second, third, fourth, ...last]}, width);
    config.options.scales.x.stacked = true;
    config.options.scales.y.stacked = true;
    return config;
  },

  histogram(data, colours) {
    const options = common(data, colours, false);
    const half = data.at.length > 1 ? (data.at[1] - data.at[0]) / 2 : data.at[0] / 50;
    options.scales = {
      x: axis(colours, data.x, {type: "linear", offset: false, grid: {offset: false},
                                min: data.at[0] - half, max: data.at[data.at.length - 1] + half,
                                ticks: {maxTicksLimit: 7, includeBounds: false}}),
      y: axis(colours, data.y, {beginAtZero: true, grace: "20%", ticks: {precision: 0}}),
    };
    const sets = barSets(data, colours);
    for (const set of sets) {
      Object.assign(set, {data: set.data.map((y, i) => ({x: data.at[i], y})), barPercentage: 1, categoryPercentage: 1,
                          maxBarThickness: undefined});
    }
    return {type: "bar", data: {datasets: sets}, options, plugins: [bandsOf(data.bands, colours, true)]};
  },

  curves(data, colours) {
    const options = common(data, colours, true);
    options.plugins.legend.labels.filter = ({datasetIndex}) => data.series[datasetIndex].values.length > 0;
    options.scales = {
      x: axis(colours, data.x, {type: "linear", min: 0}),
      y: axis(colours, data.y, {beginAtZero: data.fromZero, grace: "5%"}),
    };
    const sets = lineSets(data, colours, false);
    sets.forEach((set) => { if (set.data.length <= 40) set.pointRadius = 3; });
    return {type: "line", data: {datasets: sets}, options};
  },

  matrix(data, colours) {
    const options = common(data, colours, false);
    const {labels, series} = data;
    const classes = (title, limit, more) => axis(colours, title, {
      type: "linear", min: -0.5, max: labels.length - 0.5, grid: {display: false},
      afterBuildTicks: (scale) => { scale.ticks = labels.map((_, value) => ({value})); },
      ticks: {callback: (value) => (labels[value].length > limit ? `${labels[value].slice(0, limit)}...` : labels[value])},
      ...more,
    });
    options.scales = {x: classes(data.x, 12, {}), y: classes(data.y, 20, {reverse: true})};
    options.plugins.tooltip.callbacks = {label: ({raw: {x, y, images}}) =>
      `${labels[y]}, taken for ${labels[x]}: ${images} of ${series[y].values.reduce((all, value) => all + value, 0)}`};
    const cells = series.flatMap(({values}, y) => values.map((images, x) => ({x, y, images})));
    const points = {data: cells.filter(({images}) => images > 0), pointRadius: 0, pointHoverRadius: 0, pointHitRadius: 12};
    return {type: "scatter", data: {datasets: [points]}, options, plugins: [cellsOf(series, colours)]};
  },
};
