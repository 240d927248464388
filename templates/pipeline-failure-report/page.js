// First half of the page's script: draws the buckets of the JSON block. Both halves are one
// function (see report_page.py). Texts reach the page as text nodes only; the page's policy also
// refuses every way to turn text into markup.
const { report, words, language, outcomes, places } = JSON.parse(byId("data").textContent);
const jobs = new Map(report.jobs.map((job) => [job.id, job]));
const pipelines = new Map(report.pipelines.map((step) => [step.id, step]));
const plural = new Intl.PluralRules(language);
const digits = new Intl.NumberFormat(language);
const list = byId("buckets");
const filters = byId("filters");
if (!list) return;
const most = Math.max(...report.buckets.map((bucket) => bucket.size));
const cards = report.buckets.map(card);

function byId(id) {
  return document.getElementById(id);
}

function say(key, facts = {}, n) {
  const form = n === undefined ? key : `${key}.${plural.select(n)}`;
  const text = words[form] ?? words[`${key}.other`];
  const all = n === undefined ? facts : { ...facts, n: digits.format(n) };
  return text.replace(/\{(\w+)\}/g, (whole, name) => String(all[name] ?? whole));
}

function make(tag, settings = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(settings)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
}

function link(text, url) {
  if (!/^https?:\/\/[^\s/]/i.test(url ?? "")) return make("span", {}, String(text));
  return make("a", { href: url, rel: "noreferrer noopener" }, String(text));
}

function pill(text, kind, hint) {
  return make("span", { class: `pill ${kind}`, title: hint }, text);
}

// --- buckets ---

function card(bucket, index) {
  const one = { bucket, index, rows: new Map(), shown: bucket.jobs, body: null };
  one.button = make(
    "button",
    {
      type: "button",
      class: "row bucket",
      "aria-expanded": "false",
      "aria-controls": `bucket-${index}`,
    },
    make("span", { class: "size" }, digits.format(bucket.size)),
    make(
      "span",
      { class: "what" },
      title(bucket.name),
      make("span", { class: "error" }, bucket.causal_error ?? say("report.no-cause")),
    ),
    marks(bucket),
    make("span", { class: "owned" }, bucket.owner),
    meter(bucket),
  );
  one.button.addEventListener("click", () => toggle(one, !isOpen(one.button), true));
  one.node = make(
    "article",
    { class: `card ${statusClass(bucket.status)}` },
    make("h2", {}, one.button),
  );
  one.text = searchable(bucket);
  list.append(one.node);
  return one;
}

function statusClass(status) {
  return status === "actionable" ? "actionable" : "issue-only";
}

function title(name) {
  const at = name.lastIndexOf("/") + 1;
  return make(
    "span",
    { class: "name" },
    make("span", { class: "path" }, name.slice(0, at)),
    make("b", {}, name.slice(at)),
  );
}

function marks(bucket) {
  const node = make("span", { class: "marks" });
  if (bucket.recurring === false) node.append(pill(say("mark.new"), "new"));
  if (bucket.recurring === true) node.append(pill(say("mark.recurring"), "quiet"));
  if (bucket.evidence !== "strong") node.append(pill(say("mark.weak"), "quiet"));
  node.append(pill(bucket.status, statusClass(bucket.status), words[`status.${bucket.status}`]));
  return node;
}

function meter(bucket) {
  const bar = make("i");
  bar.style.width = `${(100 * bucket.size) / most}%`;
  return make("span", { class: "meter", "aria-hidden": "true" }, bar);
}

function isOpen(button) {
  return button.getAttribute("aria-expanded") === "true";
}

function toggle(one, open, andTrace) {
  if (open && !one.body) {
    one.body = body(one);
    one.node.append(one.body);
    showRows(one);
  }
  one.button.setAttribute("aria-expanded", String(open));
  one.node.classList.toggle("open", open);
  if (one.body) one.body.hidden = !open;
  const first = one.rows.get(one.bucket.representative_job);
  if (open && andTrace && first && ![...one.rows.values()].some((row) => isOpen(row.button)))
    showTrace(first, true);
}

function body(one) {
  const { bucket, index } = one;
  const order = [
    bucket.representative_job,
    ...bucket.jobs.filter((id) => id !== bucket.representative_job),
  ];
  const rows = make("ul", { class: "jobs", "aria-label": say("label.jobs") });
  for (const job of order.map((id) => jobs.get(id)).filter(Boolean)) {
    const row = jobRow(job, bucket);
    one.rows.set(job.id, row);
    rows.append(row.node);
  }
  return make("div", { class: "body", id: `bucket-${index}` }, facts(bucket, index), rows);
}

function facts(bucket, index) {
  const node = make("dl", { class: "about" });
  const add = (label, ...content) =>
    node.append(make("div", {}, make("dt", {}, say(label)), make("dd", {}, ...content)));
  add(
    "label.why",
    bucket.reason,
    bucket.owner_assumed ? " " : "",
    bucket.owner_assumed ? pill(say("mark.owner-assumed"), "quiet") : "",
  );
  if (bucket.hypothesis) add("label.hypothesis", bucket.hypothesis);
  if (bucket.code) {
    const place = places[index];
    add(
      "label.code",
      link(place.text, bucket.code.url),
      " ",
      make("span", { class: "muted" }, `${bucket.code.repository} ${place.at}`),
    );
    if (bucket.code.changes) add("label.changes", ...changes(bucket.code.changes));
  }
  add("label.tracking", link(outcomes[index].text, outcomes[index].url));
  if (bucket.signature) add("label.signature", make("code", {}, bucket.signature));
  return node;
}

function changes(commits) {
  if (!commits.length) return [say("code.no-changes")];
  return commits.map((one) =>
    make("span", { class: "commit" }, link(one.sha.slice(0, 10), one.url), " ", one.title),
  );
}

// --- jobs and traces ---

function jobRow(job, bucket) {
  const button = make(
    "button",
    {
      type: "button",
      class: "row job",
      id: `job-${job.id}`,
      "aria-expanded": "false",
      "aria-controls": `trace-${job.id}`,
    },
    make(
      "span",
      { class: "who" },
      make("b", {}, job.workload || job.name || String(job.id)),
      job.model ? make("span", { class: "muted" }, job.model) : "",
    ),
    jobMarks(job, bucket),
    make("span", { class: "at" }, job.line ? say("markdown.line", { line: job.line }) : ""),
  );
  if ((job.text ?? "") !== (bucket.causal_error ?? "") && job.text)
    button.append(make("span", { class: "error" }, job.text));
  const row = { job, button, node: make("li", {}, button), trace: null };
  button.addEventListener("click", () => showTrace(row, !isOpen(button)));
  return row;
}

function jobMarks(job, bucket) {
  const node = make("span", { class: "marks" });
  if (job.id === bucket.representative_job && bucket.jobs.length > 1)
    node.append(pill(say("mark.representative"), "quiet"));
  if (job.supplementary) node.append(pill(say("mark.supplementary"), "quiet"));
  else if (job.evidence !== "strong") node.append(pill(say("mark.weak"), "quiet", job.weak_reason));
  if (job.allow_failure) node.append(pill(say("mark.allow-failure"), "quiet"));
  return node;
}

function showTrace(row, open) {
  if (open && !row.trace) {
    row.trace = trace(row.job);
    row.node.append(row.trace);
  }
  row.button.setAttribute("aria-expanded", String(open));
  row.node.classList.toggle("open", open);
  if (!row.trace) return;
  row.trace.hidden = !open;
  if (!open) return;
  history.replaceState(null, "", `#job-${row.job.id}`);
  const lines = row.trace.querySelector(".lines");
  const causal = lines?.querySelector(".causal");
  if (causal) lines.scrollTop = causal.offsetTop - lines.clientHeight / 2 + causal.offsetHeight / 2;
}

function trace(job) {
  const copy = make("button", { type: "button", class: "copy" }, say("page.copy-link"));
  copy.addEventListener("click", () => copyLink(job));
  const tools = make(
    "p",
    { class: "tools" },
    copy,
    link(say("report.job", { job: job.id }), job.job_url),
    link(say("label.raw-log"), job.log_url),
  );
  const head = make("div", { class: "head" }, traceFacts(job), tools);
  const node = make(
    "div",
    {
      class: "trace",
      id: `trace-${job.id}`,
      role: "group",
      "aria-label": say("page.trace", { job: job.name || job.id }),
    },
    head,
  );
  if (job.weak_reason) node.append(make("p", { class: "weak" }, job.weak_reason));
  if (job.excerpt_lines.length) node.append(lines(job));
  else node.append(make("p", { class: "weak" }, say("page.no-excerpt")));
  return node;
}

function traceFacts(job) {
  const node = make("dl", { class: "hints" });
  const add = (label, ...content) =>
    node.append(make("div", {}, make("dt", {}, label), make("dd", {}, ...content)));
  if (job.exception) add(say("label.exception"), job.exception);
  if (job.frame) add(say("label.frame"), job.frame);
  if (job.model) add(say("label.model"), job.model);
  for (const [key, value] of Object.entries(job.runtime_hints)) add(key, [value].flat().join(", "));
  const step = pipelines.get(job.pipeline_id);
  add(say("label.pipeline"), link(job.pipeline_id, step?.url));
  if (job.via_bridge)
    add(say("label.via-bridge"), link(step?.via_name || job.via_bridge, step?.via_url));
  return node;
}

function lines(job) {
  const wrappers = new Set(job.wrappers.map((one) => one.line));
  const node = make("ol", { class: "lines", tabindex: "0", "aria-label": say("page.trace-of") });
  const texts = job.excerpt.split("\n");
  const of = texts
    .map((text, index) => index)
    .filter((index) => job.excerpt_lines[index] === job.line);
  const cause = of.find((index) => texts[index].includes(job.text)) ?? of[0];
  texts.forEach((text, index) => {
    const number = job.excerpt_lines[index];
    const causal = index === cause;
    const wrapper = !causal && wrappers.has(number);
    const line = make(
      "li",
      {
        class: causal ? "causal" : wrapper ? "wrapper" : null,
        "aria-current": causal ? "true" : null,
      },
      make("span", { class: "number" }, String(number)),
      make("span", { class: "text" }, text || " "),
    );
    if (causal || wrapper)
      line.append(
        make("span", { class: "says" }, say(causal ? "page.causal-line" : "page.wrapper-line")),
      );
    node.append(line);
  });
  return node;
}

async function copyLink(job) {
  const url = `${location.href.split("#")[0]}#job-${job.id}`;
  history.replaceState(null, "", `#job-${job.id}`);
  toast((await copied(url)) ? say("page.copied") : `${say("page.copy-failed")} ${url}`);
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = make("textarea", { class: "unseen" });
    const focused = document.activeElement;
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    focused?.focus();
    return done;
  }
}

let toasted = 0;
function toast(text) {
  clearTimeout(toasted);
  byId("toast").textContent = text;
  toasted = setTimeout(() => (byId("toast").textContent = ""), 4000);
}
