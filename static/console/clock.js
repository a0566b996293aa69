// Lets the clocks of deadlines go on while a page stays open. Says it in the words that each clock brings.
"use strict";

(() => {
  const EVERY_MS = 5000;
  const DAY = 86400, HOUR = 3600, MINUTE = 60;
  const clocks = [...document.querySelectorAll("[data-clock]")].map((place) => [place, Number(place.dataset.clock)]);
  if (!clocks.length) return;
  const begun = performance.now(); // what was left was counted by the server; the browser's clock may be wrong
  const words = (place, seconds) => {
    const size = Math.abs(seconds);
    const text = size >= DAY
      ? `${Math.floor(size / DAY)} d ${Math.floor((size % DAY) / HOUR)} h`
      : `${Math.floor(size / HOUR)}:${String(Math.floor((size % HOUR) / MINUTE)).padStart(2, "0")}`;
    return (seconds >= 0 ? place.dataset.left : place.dataset.over).replace("{span}", text);
  };
  setInterval(() => {
    const passed = Math.floor((performance.now() - begun) / 1000);
    for (const [place, left] of clocks) {
      place.textContent = words(place, left - passed);
      if (left < passed) place.closest(".due")?.classList.add("late");
    }
  }, EVERY_MS);
})();
