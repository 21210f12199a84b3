"use strict";
(() => {
  const all = selector => [...document.querySelectorAll(selector)];
  const form = document.querySelector(".find"), input = document.getElementById("find");
  const found = document.getElementById("found"), focus = document.getElementById("focus");
  const rows = all("tr[id]"), states = all(".state");
  const opened = new Map(states.map(state => [state, state.open]));
  const texts = rows.map(row => row.textContent.toLowerCase());
  const concerns = (part, row) => part.dataset.v !== "" && part.dataset.v.split(" ").some(range => {
    const [first, last = first] = range.split("-").map(Number);
    return first <= row && row <= last;
  });
  // The variant of the address, `#v12`, or none.
  const chosen = () => /^#v\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
  const show = () => {
    const target = chosen(), words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, at) => {
      const fits = target ? row === target : words.every(word => texts[at].includes(word));
      count += fits;
      row.hidden = !fits;
    });
    all(".chunk, .state").forEach(part => { part.hidden = !part.querySelector("tr[id]:not([hidden])"); });
    states.forEach(state => { state.open = Boolean(target) || words.length > 0 || opened.get(state); });
    all("[data-v]").forEach(part => { part.hidden = target && !concerns(part, Number(target.id.slice(1))); });
    all("main > section").forEach(part => {
      const parts = [...part.querySelectorAll("[data-v]")];
      part.hidden = target && parts.length > 0 && parts.every(one => one.hidden);
    });
    all(".all").forEach(part => { part.hidden = Boolean(target); });
    found.textContent = words.length && !target ? count.toLocaleString("en") + " found" : "";
    focus.hidden = !target;
    form.hidden = Boolean(target) || rows.length === 0;
    if (target) focus.querySelector("b").textContent = target.querySelector("a").textContent;
  };
  form.addEventListener("submit", event => event.preventDefault());
  input.addEventListener("input", show);
  addEventListener("hashchange", () => { show(); if (chosen()) scrollTo(0, 0); });
  addEventListener("load", () => { if (chosen()) scrollTo(0, 0); });
  show();
})();
