"use strict";
// Two comforts; the page is complete without them.
// 1. What an SVG shape is called appears at the pointer at once, not after the browser's delay.
const tip = document.createElement("div");
tip.id = "tip";
tip.setAttribute("role", "status");
document.body.append(tip);
function told(target) {
  for (let shape = target; shape && shape.nodeName !== "svg" && shape.nodeName !== "BODY"; shape = shape.parentNode) {
    if (shape.dataset && shape.dataset.told) return shape.dataset.told;
  }
  return "";
}
for (const title of document.querySelectorAll("svg g > title, svg rect > title, svg circle > title, svg path > title")) {
  title.parentNode.dataset.told = title.textContent;
  title.parentNode.setAttribute("aria-label", title.textContent);
  title.remove();
}
document.addEventListener("pointermove", (event) => {
  const text = told(event.target);
  tip.classList.toggle("on", text !== "");
  if (!text) return;
  tip.textContent = text;
  const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const above = event.clientY + 40 > innerHeight ? event.clientY - 40 : event.clientY + 18;
  tip.style.left = `${Math.max(left, 4)}px`;
  tip.style.top = `${above}px`;
});
// 2. Pointing at a state leaves only its own arcs in full strength.
for (const graph of document.querySelectorAll(".graph")) {
  const arcs = [...graph.querySelectorAll(".arc")];
  const nodes = [...graph.querySelectorAll(".node")];
  const light = (node) => {
    graph.classList.toggle("pointed", node !== null);
    const near = new Set([node]);
    for (const arc of arcs) {
      const on = node !== null && (arc.dataset.from === node || arc.dataset.to === node);
      arc.classList.toggle("on", on);
      if (on) near.add(arc.dataset.from).add(arc.dataset.to);
    }
    for (const other of nodes) other.classList.toggle("on", near.has(other.dataset.node));
  };
  for (const node of nodes) {
    node.addEventListener("pointerenter", () => light(node.dataset.node));
    node.addEventListener("pointerleave", () => light(null));
  }
}
