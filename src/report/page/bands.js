"use strict";

/* The phases of a run behind its lines, each name once above the first of its phases, which have one colour; or marks,
   each with its name beside. */
const bandsOf = (bands, colours, marks) => {
  const names = [...new Set(bands.map(({name}) => name))];
  const inside = (area, pixel) => Math.min(area.right, Math.max(area.left, pixel));

  const drawMark = (context, area, band, from, row) => {
    const width = context.measureText(band.name).width;
    const leftOf = from + width + 6 > area.right;
    context.strokeStyle = colours.ink;
    context.setLineDash([3, 3]);
    context.beginPath();
    context.moveTo(from, area.top);
    context.lineTo(from, area.bottom);
    context.stroke();
    context.fillText(band.name, leftOf ? from - width - 4 : from + 4, area.top + 12 + 13 * row);
  };

  const drawName = (context, area, name, from, to, taken) => {
    const width = context.measureText(name).width;
    const at = Math.min(area.right - width, Math.max(area.left, (from + to - width) / 2));
    const row = taken.findIndex((end) => end + 6 < at);
    if (row < 0) return;
    taken[row] = at + width;
    context.fillText(name, at, area.top - 6 - 13 * row);
  };

  return {
    id: "bands",
    beforeDatasetsDraw(chart) {
      const {ctx: context, chartArea: area, scales: {x}} = chart;
      const taken = [-Infinity, -Infinity, -Infinity];
      context.save();
      context.font = `11px ${Chart.defaults.font.family}`;
      bands.forEach((band, i) => {
        const from = inside(area, x.getPixelForValue(band.from));
        const to = inside(area, x.getPixelForValue(band.to));
        context.fillStyle = colours.ink;
        if (marks) return drawMark(context, area, band, from, i);
        if (bands.findIndex(({name}) => name === band.name) === i) drawName(context, area, band.name, from, to, taken);
        context.fillStyle = colours.bands[names.indexOf(band.name) % colours.bands.length];
        context.fillRect(from, area.top, Math.max(1, to - from), area.bottom - area.top);
      });
      context.restore();
    },
  };
};
