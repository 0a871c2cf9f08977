/** `tickets env --check`: whether the service can be reached and accepts the key, as far as that shows without sending an action. */

import { describeKeySource, displayOrigin } from "../config/declared.ts";
import type { Environment } from "../config/environment.ts";
import { EXIT_CODES } from "../failure.ts";
import type { RunContext } from "../run/context.ts";
import { connectorTo, openService } from "../run/session.ts";
import { describe } from "../send/answer.ts";
import { pathOf } from "../send/ask-statuses.ts";
import type { Exchange } from "../send/exchange.ts";
import { readStatus } from "../send/status-answer.ts";
import { cleanText } from "../text.ts";
import type { Context } from "./context.ts";
import { openSettings } from "./core.ts";
import type { EnvOptions } from "./env.ts";
import { columnsOf, type Fact, inPairs, wrapLines } from "./layout.ts";

/** Exit 5 where authentication failed, 7 where the service can't be reached. */
export async function checkEnvironment(options: EnvOptions, context: Context): Promise<number> {
  const { reporter, cwd, stdout } = context;
  const { core, environment } = await openSettings(context, { ...options, env: options.name ?? options.env }, "any");
  const { name, kind, baseUrl, keySource, origins } = environment;
  const { checks, exitCode } = judge(await askOnce(core, environment), environment);
  if (options.json) {
    reporter.document({ environment: name, baseUrl: baseUrl === "" ? null : baseUrl, checks, exitCode });
    return exitCode;
  }
  const where = kind === "sandbox" ? "this machine; nothing leaves it" : baseUrl;
  const facts = checks.map(({ check, result, detail }): Fact => {
    return [check, `${result === "failed" ? "FAILED" : result}: ${cleanText(detail, 500)}`];
  });
  const columns = columnsOf(stdout);
  const head = wrapLines(`${name}  ${where}  (${displayOrigin(origins.baseUrl, cwd)})`, columns);
  const lines = [head, ...inPairs(facts, columns, "  ")];
  reporter.show(`${lines.join("\n")}\n`);
  const last = checks.at(-1);
  if (last?.check === "key" && last.result !== "ok" && kind === "service")
    reporter.info(`The key of ${name} comes from ${describeKeySource(keySource)}.`);
  return exitCode;
}

/** For the one request. */
const MOST_MS = 15_000;

/** Asks about no promise that any service gave. */
const NO_PROMISE = "00000000-0000-0000-0000-000000000000";

/**
 * Asks one question over a connection such as every request takes: its proxy is that of the environment. The
 * key is sent only where a status can be asked for.
 *
 * @throws Failure `authentication-failed` where there is a `statusPath`, and no key.
 */
async function askOnce(context: RunContext, environment: Environment): Promise<Exchange> {
  const { statusPath, timeoutMs } = environment;
  await using service = await openService(context, environment);
  const connect = await connectorTo(service, context, {
    ...{ timeoutMs: Math.min(timeoutMs, MOST_MS), freshConnection: true, maxAnswerBytes: 1024 * 1024 },
    sendsKey: statusPath !== undefined,
  });
  await using client = connect();
  const path = statusPath === undefined ? "/" : pathOf(statusPath, NO_PROMISE);
  const exchange = await client.get(path, AbortSignal.any([context.stop, context.abort]));
  context.stop.throwIfAborted();
  return exchange;
}

interface Check {
  readonly check: "service" | "key";
  readonly result: "ok" | "failed" | "not known";
  /** What was seen. */
  readonly detail: string;
}

interface Judged {
  readonly checks: readonly Check[];
  readonly exitCode: number;
}

/** The key is not judged where the service does not answer. */
function judge(exchange: Exchange, { statusPath }: Environment): Judged {
  if (exchange.kind !== "answer") {
    const failed = { check: "service", result: "failed", detail: describe(exchange.error) } as const;
    return { checks: [failed], exitCode: EXIT_CODES["stopped-early"] };
  }
  const service = { check: "service", result: "ok", detail: `answered HTTP ${exchange.status}` } as const;
  const { exitCode, ...key } = statusPath === undefined ? NOT_ASKED : judgeKey(exchange);
  return { checks: [service, { check: "key", ...key }], exitCode };
}

const NOT_ASKED = {
  result: "not known",
  detail: "without a statusPath, only sending an action would show whether it is accepted",
  exitCode: EXIT_CODES.ok,
} as const;

function judgeKey(exchange: Exchange): Omit<Check, "check"> & Pick<Judged, "exitCode"> {
  const reading = readStatus(exchange, NO_PROMISE);
  if (reading.kind === "status" || reading.kind === "unreadable")
    return { result: "ok", detail: "accepted; the question was about a made-up promise", exitCode: EXIT_CODES.ok };
  const { kind, detail: because } = reading;
  if (kind === "later") {
    const detail = `no answer about a promise (${because})`;
    return { result: "not known", detail, exitCode: EXIT_CODES["stopped-early"] };
  }
  const body = reading.body || "(empty)";
  if (kind === "refused") {
    const detail = `the question was refused (${because}), perhaps because of statusPath: ${body}`;
    return { result: "not known", detail, exitCode: EXIT_CODES.refused };
  }
  const detail = `authentication failed (${because}): ${body}`;
  return { result: "failed", detail, exitCode: EXIT_CODES["authentication-failed"] };
}
