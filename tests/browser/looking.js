// What is wrong with a page for people who see little, use no mouse, or listen to it.
() => {
  const wrong = [];
  const shown = (one) => {
    const box = one.getBoundingClientRect();
    const style = getComputedStyle(one);
    return box.width > 0 && box.height > 0 && style.visibility !== "hidden";
  };
  const named = (one) => `${one.tagName.toLowerCase()} "${(one.textContent || one.name || "").trim().slice(0, 40)}"`;
  const nameOf = (one) => {
    const by = one.getAttribute("aria-labelledby");
    if (by) return by.split(/\s+/).map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim();
    return (one.getAttribute("aria-label") || one.textContent || one.title || one.alt || "").trim();
  };

  // The document.
  if (!document.documentElement.lang) wrong.push("the page has no language");
  if (!document.title.trim()) wrong.push("the page has no title");
  if (document.querySelectorAll("main").length !== 1) wrong.push("there is not one main part");
  const seen = new Set();
  for (const one of document.querySelectorAll("[id]")) {
    if (seen.has(one.id)) wrong.push(`two elements have the id ${one.id}`);
    seen.add(one.id);
  }

  // Headings: one of the first level, and no level left out on the way down.
  const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(shown);
  if (headings.filter((one) => one.tagName === "H1").length !== 1) wrong.push("there is not one h1");
  let level = 0;
  for (const one of headings) {
    const own = Number(one.tagName[1]);
    if (own > level + 1) wrong.push(`${named(one)} comes after a heading of level ${level}`);
    if (!one.textContent.trim()) wrong.push("a heading is empty");
    level = own;
  }

  // Names.
  for (const one of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    const labels = [...(one.labels ?? [])].map((label) => label.textContent.trim()).join("");
    if (!labels && !nameOf(one)) wrong.push(`${one.tagName} ${one.name} has no label`);
    const help = one.getAttribute("aria-describedby");
    if (help && !document.getElementById(help)) wrong.push(`${one.name} is described by nothing`);
  }
  for (const one of document.querySelectorAll("a[href], button, summary, [role=button]")) {
    if (!nameOf(one)) wrong.push(`${one.outerHTML.slice(0, 80)} has no name`);
  }
  for (const one of document.querySelectorAll("svg, img")) {
    const hidden = one.closest("[aria-hidden=true]");
    if (!hidden && !nameOf(one) && !one.querySelector("title")) wrong.push("a picture has no name");
  }
  for (const one of document.querySelectorAll("table")) {
    if (!one.querySelector("th")) wrong.push("a table has no heads");
  }
  for (const one of document.querySelectorAll("[role=region], nav, section[aria-labelledby]")) {
    if (!nameOf(one)) wrong.push("a part of the page has no name");
  }
  for (const one of document.querySelectorAll("[tabindex]")) {
    if (one.tabIndex > 0) wrong.push(`${named(one)} changes the order of the keyboard`);
  }

  // Contrast of every text with what is behind it.
  const numbers = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const behind = (one) => {
    const layers = [];
    for (let at = one; at; at = at.parentElement) {
      const [r, g, b, a = 1] = numbers(getComputedStyle(at).backgroundColor);
      if (a > 0) layers.push([r, g, b, a]);
      if (a === 1) break;
    }
    let ground = [255, 255, 255];
    for (const [r, g, b, a] of layers.reverse()) {
      ground = [r, g, b].map((value, place) => value * a + ground[place] * (1 - a));
    }
    return ground;
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((one) => {
      const part = one / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const told = new Set();
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const one = walker.currentNode.parentElement;
    if (!text || !shown(one) || one.closest("[disabled], option")) continue;
    const style = getComputedStyle(one);
    const inPicture = one.closest("svg") !== null;
    const ink = numbers(inPicture ? style.fill : style.color).slice(0, 3);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    const found = contrast(ink, behind(one));
    const least = large ? 3 : 4.5;
    const what = `${one.tagName}.${one.className} ${ink} on ${behind(one).map(Math.round)}: ${found.toFixed(2)}`;
    if (found < least && !told.has(what)) wrong.push(`too little contrast: ${what} in "${text.slice(0, 30)}"`);
    told.add(what);
  }
  for (const one of document.querySelectorAll("input:not([type=hidden]), select, textarea, button")) {
    if (!shown(one)) continue;
    const style = getComputedStyle(one);
    if (style.borderTopWidth === "0px") continue; // looks like a link, and is told by its text
    const line = numbers(style.borderTopColor).slice(0, 3);
    if (contrast(line, behind(one.parentElement)) < 3 && contrast(numbers(style.backgroundColor).slice(0, 3), behind(one.parentElement)) < 3) {
      if (one.type !== "checkbox" && one.type !== "radio") wrong.push(`the edge of ${named(one)} is hard to see`);
    }
  }

  // Targets: 24 by 24 pixels, but for links in a sentence.
  for (const one of document.querySelectorAll("a[href], button, summary, select, input:not([type=hidden])")) {
    if (!shown(one) || one.closest(".skip, .visually-hidden")) continue;
    const box = (one.labels?.[0]?.classList.contains("pick") ? one.labels[0] : one).getBoundingClientRect();
    const around = one.parentElement.textContent.trim().length > one.textContent.trim().length;
    const inline = getComputedStyle(one).display === "inline" && around;
    if (!inline && (box.width < 23.5 || box.height < 23.5)) {
      wrong.push(`${named(one)} is ${Math.round(box.width)} by ${Math.round(box.height)}`);
    }
  }

  // Nothing stands over the edge.
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.querySelectorAll("main *, header *, footer *")].filter((one) => one.getBoundingClientRect().right > root.clientWidth + 1 && !one.closest(".wide, nav, pre"));
    wrong.push(`the page is ${root.scrollWidth} wide, not ${root.clientWidth}: ${wide.slice(0, 3).map(named)}`);
  }
  return wrong;
}
