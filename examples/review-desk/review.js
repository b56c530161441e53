/** The page's script: it shows one case after another, measures each review, and sends the decision to the desk. */
const at = (id) => document.getElementById(id);
const form = at("decision");
let shown = null;
let collection = null;
let since = 0;
let isLocked = false;

at("sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { reviewer } = event.target.elements;
  try {
    await post("/api/sign-in", { reviewer: reviewer.value });
    at("sign-in").hidden = true;
    await showNext();
  } catch {
    say("Not signed in: please try again.");
  }
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (isLocked) return;
  const decision = event.submitter?.value ?? "accepted";
  const amount = Number(form.elements.amount.value);
  if (decision === "modified" && amount === shown.recommended) {
    say("The amount is the recommended one: change it, or accept.");
    return;
  }
  lock(true);
  say("Saving…");
  const body = {
    case: shown.case,
    decision,
    ...(decision === "modified" ? { amount } : {}),
    measurement: measured(),
  };
  try {
    await post("/api/decisions", body);
  } catch {
    // The desk takes the same decision twice without harm.
    say("Not saved: please try again.");
    lock(false);
    return;
  }
  await showNext().catch(() => say("Saved, but the next case did not come: please reload the page."));
});

/** Sends JSON to the desk. @returns what it answered. @throws if it refused, or did not answer. */
async function post(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return await response.json();
}

async function showNext() {
  shown = await post("/api/next", {});
  const { content } = shown;
  shown.recommended = content.recommended;
  at("title").textContent = `Case ${shown.case}`;
  at("recommendation").textContent = content.recommended === 0
    ? "The AI recommends: refuse"
    : `The AI recommends: grant ${money(content.recommended)}`;
  at("reason").textContent = content.reason;
  at("application").textContent = `${content.purpose}. Asked: ${
    money(content.asked)
  } over ${content.months} months.`;
  at("employment").textContent = content.employment;
  at("money").textContent = `Each month: income ${money(content.income)}, housing ${
    money(content.housing)
  }, other instalments ${money(content.other)}.`;
  at("statement").replaceChildren(...content.statement.map((line) => {
    const item = document.createElement("li");
    item.textContent = line;
    return item;
  }));
  at("bureau").textContent = content.bureau;
  for (const details of document.querySelectorAll("details")) details.open = false;
  form.elements.amount.value = `${content.recommended}`;
  at("desk").hidden = false;
  say("");
  at("title").focus();
  since = performance.now();
  collection = start();
  lock(false);
}

/** Begins to measure once the case is on the screen. @returns null if the collector did not load or not start. */
function start() {
  try {
    return globalThis.JissCollector.start(at("case"));
  } catch {
    return null;
  }
}

function measured() {
  try {
    return collection.stop();
  } catch {
    return { time_to_decision_ms: Math.round(Math.min(performance.now() - since, 86_400_000)) };
  }
}

/** One decision at a time; `disabled` would lose the focus. */
function lock(locked) {
  isLocked = locked;
  for (const button of form.querySelectorAll("button")) button.setAttribute("aria-disabled", `${locked}`);
}

function say(text) {
  at("status").textContent = text;
}

function money(amount) {
  return amount.toLocaleString("en");
}
