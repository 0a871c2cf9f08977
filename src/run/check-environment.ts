/** Whether an environment's service can be reached, and accepts the key, as far as that shows without sending an action. */

import { describeOwnCertificate } from "../config/tls.ts";
import { EXIT_CODES } from "../failure.ts";
import { describe, type Exchange, isCertificateRefused } from "../send/answer.ts";
import { pathOf } from "../send/ask-statuses.ts";
import { readStatus } from "../send/status-answer.ts";
import type { RunContext } from "./context.ts";
import { connectorTo, openService } from "./session.ts";
import type { Settings } from "./settings.ts";

export interface Check {
  readonly check: "service" | "key";
  readonly result: "ok" | "failed" | "not known";
  /** What was seen. */
  readonly detail: string;
}

export interface Checked {
  /** The key is not judged where the service does not answer. */
  readonly checks: readonly Check[];
  readonly exitCode: number;
}

/** For the one request. */
const MOST_MS = 15_000;

/** Asks about no promise that any service gave. */
const NO_PROMISE = "00000000-0000-0000-0000-000000000000";

/**
 * Asks one question over a connection such as every request takes: proxy and certificates are those of the environment. The
 * key is sent only where a status can be asked for.
 *
 * @throws Failure `authentication-failed` where there is a `statusPath`, and no key.
 */
export async function checkEnvironment(
  context: RunContext,
  { environment: { statusPath, timeoutMs, tls }, environment }: Pick<Settings, "environment">,
): Promise<Checked> {
  await using service = await openService(context, environment);
  const connect = await connectorTo(service, context, {
    ...{ timeoutMs: Math.min(timeoutMs, MOST_MS), freshConnection: true, maxAnswerBytes: 1024 * 1024 },
    sendsKey: statusPath !== undefined,
  });
  await using client = connect();
  const path = statusPath === undefined ? "/" : pathOf(statusPath, NO_PROMISE);
  const exchange = await client.get(path, AbortSignal.any([context.stop, context.abort]));
  context.stop.throwIfAborted();
  if (exchange.kind !== "answer") {
    const why = describe(exchange.error);
    const isRefused = isCertificateRefused(exchange.error);
    const detail = isRefused ? `${describeOwnCertificate(tls)} is not accepted (${why})` : why;
    const exitCode = EXIT_CODES[isRefused ? "authentication-failed" : "stopped-early"];
    return { checks: [{ check: "service", result: "failed", detail }], exitCode };
  }
  const reached: Check = { check: "service", result: "ok", detail: `answered HTTP ${exchange.status}` };
  const { exitCode, ...key } = statusPath === undefined ? NOT_ASKED : judgeKey(exchange);
  return { checks: [reached, { check: "key", ...key }], exitCode };
}

type Judgement = Omit<Check, "check"> & { readonly exitCode: number };

const NOT_ASKED: Judgement = {
  result: "not known",
  detail: "without a statusPath, only sending an action would show whether it is accepted",
  exitCode: EXIT_CODES.ok,
};

function judgeKey(exchange: Exchange): Judgement {
  const reading = readStatus(exchange, NO_PROMISE);
  switch (reading.kind) {
    case "status":
    case "unreadable":
      return { result: "ok", detail: "accepted; the question was about a made-up promise", exitCode: EXIT_CODES.ok };
    case "authentication failed":
      return {
        result: "failed",
        detail: `authentication failed (${reading.detail}): ${reading.body || "(empty)"}`,
        exitCode: EXIT_CODES["authentication-failed"],
      };
    case "later":
      return {
        result: "not known",
        detail: `no answer about a promise (${reading.detail})`,
        exitCode: EXIT_CODES["stopped-early"],
      };
    case "refused":
      return {
        result: "not known",
        detail: `the question was refused (${reading.detail}), perhaps because of statusPath: ${reading.body || "(empty)"}`,
        exitCode: EXIT_CODES.refused,
      };
  }
}
