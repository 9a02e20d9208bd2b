"use strict";

/* Draws each chart when it comes into view, and again when the colours change: to dark or light, and to paper. */

const charts = new Map();

const draw = (figure) => {
  charts.get(figure)?.destroy();
  const data = JSON.parse(figure.querySelector("script").textContent);
  charts.set(figure, new Chart(figure.querySelector("canvas"), kinds[data.kind](data, coloursNow(), figure.clientWidth)));
};

const drawAll = (figures) => [...figures].forEach(draw);

const comingIntoView = new IntersectionObserver((entries) => {
  for (const {isIntersecting, target} of entries) {
    if (!isIntersecting) continue;
    comingIntoView.unobserve(target);
    draw(target);
  }
}, {rootMargin: "300px"});

const onPaper = (printing) => {
  document.documentElement.classList.toggle("printing", printing);
  drawAll(printing ? document.querySelectorAll("figure.chart") : charts.keys());
};

Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.devicePixelRatio = Math.max(2, window.devicePixelRatio);

for (const figure of document.querySelectorAll("figure.chart")) {
  const bars = Number(figure.dataset.bars);
  const each = figure.classList.contains("parts") ? 44 : 22;
  if (bars > 0) figure.querySelector(".box").style.height = `${Math.max(170, 100 + bars * each)}px`;
  comingIntoView.observe(figure);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll(charts.keys()));
addEventListener("beforeprint", () => onPaper(true));
addEventListener("afterprint", () => onPaper(false));
