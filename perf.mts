import { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openLedger } from "./src/book/open.ts";
import { allRules } from "./src/checks/rules.ts";
import { severityTable } from "./src/checks/severity.ts";
import { createMapper } from "./src/mapping/create-mapper.ts";
import { MAPPING_RULES } from "./src/mapping/rules.ts";
import { makePlan } from "./src/plan/plan.ts";
import { Problems } from "./src/plan/problems.ts";
import { PLAN_RULES } from "./src/plan/rules.ts";
import { openInput } from "./src/readers/input.ts";
import { resolveInputs } from "./src/readers/inputs.ts";
import { INPUT_RULES, READER_RULES } from "./src/readers/rules.ts";

const folder = "/tmp/perf-plan";
const N = Number(process.argv[2] ?? 1e6),
  mode = process.argv[3] ?? "new",
  lanes = Number(process.argv[4] ?? 1);
const file = join(folder, `sales-${N}.csv`);
if (!existsSync(file)) {
  writeFileSync(file, "eventId,ticketId,userId,price,orderTime\n");
  let t = "";
  for (let i = 0; i < N; i++) {
    t += `event-${i % 50},ticket-${(i * 7919) % N}-${i % 10},user-${i % 300000},${10 + (i % 90)}.50,${1767225600 + i}\n`;
    if (t.length > 1e7) {
      appendFileSync(file, t);
      t = "";
    }
  }
  appendFileSync(file, t);
}
const cpu = () => {
  const u = process.cpuUsage();
  return (u.user + u.system) / 1e6;
};
let last = cpu(),
  wall = performance.now();
const step = (what: string) => {
  const c = cpu(),
    w = performance.now();
  console.log(
    what.padEnd(12),
    (c - last).toFixed(2),
    "s CPU",
    (((c - last) / N) * 1e6).toFixed(2),
    "µs/row",
    ((w - wall) / 1000).toFixed(2),
    "s wall",
    Math.round(process.resourceUsage().maxRSS / 1024),
    "MiB",
  );
  last = c;
  wall = w;
};
const path = join(folder, `ledger-${N}`, "ledger.db");
if (mode === "new" || mode === "adopt") rmSync(join(folder, `ledger-${N}`), { recursive: true, force: true });
const ledger = await openLedger({ place: { kind: "sqlite", path }, boundTo: "x" });
const severities = severityTable({}, allRules(READER_RULES, INPUT_RULES, MAPPING_RULES, PLAN_RULES));
const problems = new Problems(500);
const files = await resolveInputs([file]);
rmSync(join(folder, "plan"), { recursive: true, force: true });
step("start");
let isFirst = true;
const plan = await makePlan({
  files,
  directory: join(folder, "plan"),
  open: (f) => openInput(f),
  readingOf: async ({ name }, { header, format }) => ({
    mapper: createMapper({ fileName: "sales.csv", ...(header && { header }), isPayload: format === "json" }),
    readAs: "soldTicket",
    isSource: false,
    made: [],
    findings: [],
  }),
  allowEmpty: false,
  limit: Infinity,
  problems,
  ledger,
  environment: { complete: false, chunkSize: 5000, maxChunkBytes: 8e6 },
  mode: mode === "adopt" ? "adopt" : "judge",
  order: process.env.ORDER === "time" ? "time" : "input",
  lanes,
  maxInvalid: { rows: 0 },
  severities,
  now: () => new Date(),
  onUnderstood: () => step("read"),
  onRows: () => {},
  onJudged: () => {
    if (isFirst) step("sorted");
    isFirst = false;
  },
  signal: new AbortController().signal,
});
step("judged");
console.log(plan.rows, plan.actions, plan.lanes, problems.errors, problems.warnings);
const run = {
  run: Math.random().toString(16).slice(2, 10),
  createdAt: new Date().toISOString(),
  environment: "e",
  output: undefined,
  inputs: [],
  rows: {},
  actions: {},
  byAction: {},
  problems: {},
  options: {},
};
if (mode === "adopt")
  await ledger.adopt(run, plan.byKey(), { who: "me", at: "2026-01-01T00:00:00Z", reason: undefined });
else if (process.env.ENTER) await ledger.enterRun(run, plan.chunks(), plan.byKey());
else {
  let n = 0,
    b = 0;
  for await (const c of plan.chunks()) {
    n++;
    b += c.body.length;
  }
  step("chunks");
  let k = 0;
  for await (const x of plan.byKey()) k += x.length;
  console.log(n, b, k);
}
step("entered");
plan[Symbol.dispose]();
await ledger[Symbol.asyncDispose]();
