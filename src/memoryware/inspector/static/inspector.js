// Keys and comfort. Every page does its work without this file.
"use strict";

document.documentElement.classList.add("scripted");

const typing = (target) => target.closest("input:not([type=checkbox]), textarea, select, dialog") !== null;

// A message stands in the address of the page that shows it; a reload shall not repeat it.
const here = new URL(location.href);
if (here.searchParams.has("said")) {
  here.searchParams.delete("said");
  history.replaceState(null, "", here);
}

// A form is sent once, however often its button is pressed.
addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
});
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

const groups = () => [...document.querySelectorAll(".group")];

function current() {
  return document.querySelector(".group.here");
}

function step(by) {
  const all = groups();
  if (all.length === 0) return;
  const place = all.indexOf(current());
  const next = all[place < 0 ? 0 : Math.min(Math.max(place + by, 0), all.length - 1)];
  for (const one of all) one.classList.toggle("here", one === next);
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function press(name) {
  const control = current()?.querySelector(`[data-key="${name}"]`);
  if (!control) return;
  if (control.tagName === "SUMMARY") {
    control.parentElement.open = true;
    control.parentElement.querySelector("textarea, input:not([type=hidden])")?.focus();
  } else {
    control.click();
  }
}

const keys = {
  j: ["Next", () => step(1)],
  k: ["Previous", () => step(-1)],
  a: ["Approve", () => press("a")],
  e: ["Edit", () => press("e")],
  r: ["Reject", () => press("r")],
  u: ["Undo the last action", () => document.querySelector("[data-key=u]")?.click()],
  x: ["Mark for all at once", () => press("x")],
  "/": ["Search", () => document.querySelector("input[type=search]")?.focus()],
  "?": ["These keys", () => help()],
};

// Single keys can be turned off: who dictates, or types without looking, may press them by chance.
const off = () => localStorage.getItem("memoryware-keys") === "off";

function help() {
  let dialog = document.getElementById("keys");
  if (!dialog) {
    dialog = document.createElement("dialog");
    dialog.id = "keys";
    dialog.setAttribute("aria-labelledby", "keys-title");
    const title = document.createElement("h2");
    title.id = "keys-title";
    title.textContent = "Keys";
    const table = document.createElement("table");
    for (const [key, [label]] of Object.entries(keys)) {
      const row = table.insertRow();
      const name = document.createElement("kbd");
      name.textContent = key;
      row.insertCell().append(name);
      row.insertCell().textContent = label;
    }
    const use = document.createElement("label");
    use.className = "pick";
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = !off();
    box.addEventListener("change", () => {
      localStorage.setItem("memoryware-keys", box.checked ? "on" : "off");
    });
    use.append(box, "Use these keys");
    const form = document.createElement("form");
    form.method = "dialog";
    const close = document.createElement("button");
    close.className = "button";
    close.textContent = "Close";
    form.append(close);
    dialog.append(title, table, use, form);
    document.body.append(dialog);
  }
  dialog.showModal();
}

document.getElementById("keys-button")?.addEventListener("click", help);

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.key === "Escape" && event.target.closest(".group textarea, .group input[type=text]")) {
    const details = event.target.closest("details");
    if (details) details.open = false;
    event.target.closest(".group").focus();
    return;
  }
  if (off() || typing(event.target)) return;
  const known = keys[event.key];
  if (!known) return;
  event.preventDefault();
  known[1]();
});

addEventListener("focusin", (event) => {
  const group = event.target.closest(".group");
  if (group) for (const one of groups()) one.classList.toggle("here", one === group);
});

const all = document.getElementById("mark-all");
all?.addEventListener("change", () => {
  for (const box of document.querySelectorAll("[data-key=x]")) box.checked = all.checked;
});
