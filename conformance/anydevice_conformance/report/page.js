"use strict";
(() => {
  const cases = [...document.querySelectorAll(".case")];
  const heads = [...document.querySelectorAll(".class-part")];
  const word = document.querySelector("#word"), bundle = document.querySelector("#bundle");
  const count = document.querySelector("#count"), empty = document.querySelector("#empty");
  const chosen = (kind) =>
    new Set([...document.querySelectorAll(`.toggle[data-kind=${kind}][aria-pressed=true]`)].map((b) => b.dataset.value));

  function show() {
    const verdicts = chosen("verdict"), classes = chosen("class");
    const words = word.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const one of cases) {
      const { verdict, bundle: b, text } = one.dataset, its = one.dataset["class"];
      const fits =
        (!verdicts.size || verdicts.has(verdict)) && (!classes.size || classes.has(its)) &&
        (!bundle.value || bundle.value === b) && words.every((w) => text.includes(w));
      one.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    for (const head of heads) head.hidden = !head.querySelector(".case:not([hidden])");
    count.textContent = `${shown} of ${cases.length} cases`;
    empty.hidden = shown > 0;
  }

  for (const button of document.querySelectorAll(".toggle")) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") !== "true"));
      show();
    });
  }
  word.addEventListener("input", show);
  bundle.addEventListener("change", show);
  show();
})();
