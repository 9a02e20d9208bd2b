"use strict";

/* The cells of a matrix, each as dark as its share of the row, with their numbers where there is room. */
const cellsOf = (rows, colours) => ({
  id: "cells",
  beforeDatasetsDraw(chart) {
    const {ctx: context, scales: {x, y}} = chart;
    const width = x.getPixelForValue(1) - x.getPixelForValue(0);
    const height = y.getPixelForValue(1) - y.getPixelForValue(0);
    const hue = Chart.helpers.color(colours.series[0]);
    context.save();
    context.font = `11px ${Chart.defaults.font.family}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    rows.forEach(({values}, row) => {
      const sum = values.reduce((all, value) => all + value, 0);
      values.forEach((value, column) => {
        if (value === 0) return;
        const share = value / sum;
        const left = x.getPixelForValue(column) - width / 2, top = y.getPixelForValue(row) - height / 2;
        context.fillStyle = hue.alpha(0.08 + 0.92 * share).rgbString();
        context.fillRect(left, top, Math.ceil(width), Math.ceil(height));
        if (width < 30 || height < 14) return;
        context.fillStyle = share > 0.5 ? colours.card : colours.ink;
        context.fillText(value, left + width / 2, top + height / 2);
      });
    });
    context.restore();
  },
});
