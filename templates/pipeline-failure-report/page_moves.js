// Second half of the page's script: filters, links to jobs, the keyboard, printing.
function searchable(bucket) {
  return [
    bucket.name,
    bucket.causal_error,
    bucket.hypothesis,
    bucket.reason,
    bucket.owner,
    bucket.code?.path,
  ]
    .join("\n")
    .toLowerCase();
}

function matches(job, text) {
  return [job.id, job.name, job.workload, job.model, job.text, job.exception, job.frame]
    .join("\n")
    .toLowerCase()
    .includes(text);
}

function filter() {
  const asked = new FormData(filters);
  const text = String(asked.get("text") ?? "")
    .trim()
    .toLowerCase();
  for (const one of cards) {
    const { bucket } = one;
    const fits =
      (!asked.get("status") || bucket.status === asked.get("status")) &&
      (!asked.get("owner") || bucket.owner === asked.get("owner")) &&
      (!asked.get("new") || bucket.recurring === false);
    const all = fits && (!text || one.text.includes(text));
    one.shown = all
      ? bucket.jobs
      : fits
        ? bucket.jobs.filter((id) => jobs.has(id) && matches(jobs.get(id), text))
        : [];
    one.node.hidden = !one.shown.length;
    showRows(one);
  }
  told(Boolean(text || asked.get("status") || asked.get("owner") || asked.get("new")));
}

function showRows(one) {
  const shown = new Set(one.shown);
  for (const [id, row] of one.rows) row.node.hidden = !shown.has(id);
}

function told(filtered) {
  const visible = cards.filter((one) => one.shown.length);
  const count = visible.reduce((sum, one) => sum + one.shown.length, 0);
  const facts = {
    buckets: digits.format(visible.length),
    total: say("count.buckets", {}, cards.length),
    jobs: say("count.jobs", {}, count),
  };
  byId("shown").textContent = visible.length ? say("page.shown", facts) : say("page.nothing");
  byId("reset").hidden = !filtered;
  for (const one of cards) one.segment.classList.toggle("off", !one.shown.length);
}

function reset() {
  filters.reset();
  filter();
}

// --- moving about ---

function reveal() {
  const id = Number(/^#job-(\d+)$/.exec(location.hash)?.[1]);
  const one = id && cards.find((each) => each.bucket.jobs.includes(id));
  if (!one) return;
  if (!one.shown.includes(id)) reset();
  toggle(one, true, false);
  const row = one.rows.get(id);
  if (!row) return;
  showTrace(row, true);
  row.node.scrollIntoView({ block: "start" });
  row.button.focus({ preventScroll: true });
}

function rows() {
  return [...list.querySelectorAll(".row")].filter((row) => row.offsetParent);
}

function move(event) {
  const row = event.target.closest(".row");
  if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
  const all = rows();
  const at = all.indexOf(row);
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (next !== undefined) all[Math.min(Math.max(next, 0), all.length - 1)].focus();
  else if (event.key === "ArrowRight" && !isOpen(row)) row.click();
  else if (event.key === "ArrowLeft" && isOpen(row)) row.click();
  else if (event.key === "ArrowLeft") row.closest(".card").querySelector(".row").focus();
  else return;
  event.preventDefault();
}

function shortcut(event) {
  const field = filters.elements.text;
  if (
    event.key === "/" &&
    !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) &&
    !event.ctrlKey &&
    !event.metaKey
  ) {
    event.preventDefault();
    field.focus();
    field.select();
  } else if (event.key === "Escape" && event.target === field && field.value) {
    event.preventDefault();
    field.value = "";
    filter();
  }
}

function strip() {
  for (const one of cards) {
    const { bucket } = one;
    const hint = `${bucket.name}: ${say("count.jobs", {}, bucket.size)}`;
    one.segment = make("i", { class: statusClass(bucket.status), title: hint });
    one.segment.style.flexGrow = String(bucket.size);
    one.segment.addEventListener("click", () => {
      if (one.node.hidden) reset();
      toggle(one, true, true);
      one.button.focus();
      one.node.scrollIntoView({ block: "start" });
    });
  }
  const actionable = (one) => one.segment.matches(".actionable");
  const ordered = [...cards.filter(actionable), ...cards.filter((one) => !actionable(one))];
  byId("strip").append(...ordered.map((one) => one.segment));
}

let openBefore = null;
function beforePrint() {
  openBefore = cards.map((one) => isOpen(one.button));
  cards.forEach((one) => toggle(one, true, false));
}

function afterPrint() {
  cards.forEach((one, index) => toggle(one, openBefore?.[index] ?? true, false));
}

filters.hidden = byId("bar").hidden = byId("keys").hidden = false;
filters.addEventListener("input", filter);
filters.addEventListener("submit", (event) => event.preventDefault());
byId("reset").addEventListener("click", reset);
byId("open-all").addEventListener("click", () => cards.forEach((one) => toggle(one, true, false)));
byId("close-all").addEventListener("click", () =>
  cards.forEach((one) => toggle(one, false, false)),
);
list.addEventListener("keydown", move);
document.addEventListener("keydown", shortcut);
addEventListener("hashchange", reveal);
addEventListener("beforeprint", beforePrint);
addEventListener("afterprint", afterPrint);
strip();
filter();
reveal();
