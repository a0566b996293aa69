// Ticks of the queue: says how many there are, and ticks or clears all that the page shows.
"use strict";

(() => {
  const form = document.getElementById("ticks");
  if (!form) return;
  const boxes = [...document.querySelectorAll("[data-tick]")];
  const all = document.querySelector("[data-tick-all]");
  const said = form.querySelector("[data-ticked]");
  const say = () => {
    const number = boxes.filter((box) => box.checked).length;
    said.textContent = `(${number})`;
    all.checked = number === boxes.length;
    all.indeterminate = number > 0 && number < boxes.length;
  };
  for (const box of boxes) box.addEventListener("change", say);
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    say();
  });
  window.addEventListener("pageshow", say); // a page that is come back to may have kept its ticks
  say();
})();
