"use strict";
(() => {
  const form = document.querySelector(".find"), input = document.getElementById("find");
  const found = document.getElementById("found"), focus = document.getElementById("focus");
  const rows = [...document.querySelectorAll("tr[id]")], states = [...document.querySelectorAll(".state")];
  const opened = new Map(states.map(state => [state, state.open]));
  const texts = rows.map(row => row.textContent.toLowerCase());
  const find = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, at) => {
      const fits = words.every(word => texts[at].includes(word));
      count += fits;
      row.hidden = !fits;
    });
    document.querySelectorAll(".chunk, .state").forEach(part => {
      part.hidden = !part.querySelector("tr[id]:not([hidden])");
    });
    states.forEach(state => { state.open = words.length > 0 || opened.get(state); });
    found.textContent = words.length ? count.toLocaleString("en") + " found" : "";
  };
  const concerns = (part, row) => part.dataset.v.split(" ").some(range => {
    const [first, last = first] = range.split("-").map(Number);
    return first <= row && row <= last;
  });
  const show = () => {
    const target = /^#v\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    const row = target ? Number(location.hash.slice(2)) : -1;
    document.querySelectorAll("[data-v]").forEach(part => {
      part.hidden = target ? !concerns(part, row) : false;
    });
    focus.hidden = !target;
    if (target) {
      focus.querySelector("b").textContent = target.querySelector("a").textContent;
      target.closest(".state").open = true;
      target.scrollIntoView({ block: "center" });
    }
  };
  form.hidden = rows.length === 0;
  form.addEventListener("submit", event => event.preventDefault());
  input.addEventListener("input", find);
  addEventListener("hashchange", show);
  show();
})();
