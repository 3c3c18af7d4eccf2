"use strict";
(() => {
  // Everything is on the page already; this shows one state at a time. Without it all are shown.
  const root = document.documentElement;
  root.classList.add("js");
  const traces = [...document.querySelectorAll(".trace")];
  const steps = new Map();
  let open = null;
  let cameFrom = null;

  const last = (trace) => trace.querySelectorAll(".scene").length - 1;

  // A list whose last line is cut fades out where it goes on.
  const fade = (list) => list.classList.toggle(
    "more", list.scrollHeight - list.scrollTop - list.clientHeight > 2);

  function show(trace, asked) {
    const step = Math.max(0, Math.min(last(trace), asked));
    steps.set(trace, step);
    for (const part of trace.querySelectorAll("[data-step]")) {
      const isCurrent = Number(part.dataset.step) === step;
      part.classList.toggle("current", isCurrent);
      if (part.tagName === "LI") {
        part.firstElementChild.toggleAttribute("aria-current", isCurrent);
        if (isCurrent) {
          const list = part.parentElement;
          const above = part.getBoundingClientRect().top - list.getBoundingClientRect().top;
          if (above < 0 || above + part.offsetHeight > list.clientHeight) {
            list.scrollTop += above - list.clientHeight / 3;
          }
          fade(list);
        }
      }
    }
    trace.querySelector("output").textContent = `${step} of ${last(trace)}`;
    trace.querySelector("input").value = step;
  }

  function openTrace(trace) {
    open = trace;
    for (const other of traces) other.classList.toggle("open", other === trace);
  }

  function move(trace, how) {
    const now = steps.get(trace);
    const to = { first: 0, previous: now - 1, next: now + 1, last: last(trace) }[how];
    show(trace, to);
    history.replaceState(null, "", `#${trace.id}/${steps.get(trace)}`);
  }

  function follow(isFirst) {
    const [name, step] = location.hash.slice(1).split("/");
    const trace = traces.find((each) => each.id === name);
    if (trace) {
      const isNew = open !== trace;
      openTrace(trace);
      if (step !== undefined && /^\d+$/.test(step)) show(trace, Number(step));
      for (const back of trace.querySelectorAll(".back")) {
        if (cameFrom) back.hash = cameFrom;
      }
      if (isNew || isFirst) trace.scrollIntoView();
    }
  }

  for (const trace of traces) {
    show(trace, 0);
    const list = trace.querySelector(".steps");
    list.addEventListener("scroll", () => fade(list), { passive: true });
    new ResizeObserver(() => fade(list)).observe(list);
    for (const button of trace.querySelectorAll("[data-move]")) {
      button.addEventListener("click", () => move(trace, button.dataset.move));
    }
    trace.querySelector("input").addEventListener("input", (event) => {
      show(trace, Number(event.target.value));
    });
    for (const step of trace.querySelectorAll("svg .step")) {
      step.addEventListener("click", () => {
        show(trace, Number(step.dataset.step));
        trace.querySelector(".bar").scrollIntoView({ block: "nearest" });
      });
    }
    const scenes = trace.querySelector(".scenes");
    let start = null;
    scenes.addEventListener("touchstart", (event) => {
      start = event.touches.length === 1 ? event.touches[0] : null;
    }, { passive: true });
    scenes.addEventListener("touchend", (event) => {
      if (!start) return;
      const across = event.changedTouches[0].clientX - start.clientX;
      const down = event.changedTouches[0].clientY - start.clientY;
      start = null;
      if (Math.abs(across) > 40 && Math.abs(across) > 2 * Math.abs(down)) {
        move(trace, across < 0 ? "next" : "previous");
      }
    }, { passive: true });
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[id][href^='#trace-']");
    if (link) cameFrom = `#${link.id}`;
  });

  const keys = {
    ArrowRight: "next", j: "next", n: "next", ArrowLeft: "previous", k: "previous", p: "previous",
    Home: "first", g: "first", End: "last", G: "last",
  };
  document.addEventListener("keydown", (event) => {
    const how = keys[event.key];
    if (!how || !open || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    move(open, how);
  });

  window.addEventListener("hashchange", () => follow(false));
  if (traces.length && !document.body.classList.contains("grid-page")) openTrace(traces[0]);
  follow(true);
})();
