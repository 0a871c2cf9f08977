/** `tickets env --check`: whether the service can be reached and accepts the key. It sends no action. */

import { cleanText } from "../actions/text.ts";
import { describeKeySource, displayOrigin } from "../config/declared.ts";
import { type Check, checkEnvironment as check } from "../run/check-environment.ts";
import type { EnvironmentOptions } from "../run/settings.ts";
import type { Context } from "./context.ts";
import { openSettings } from "./run-context.ts";

export interface CheckOptions extends EnvironmentOptions {
  readonly name: string | undefined;
  readonly json: boolean;
}

/** Exit 5 where authentication failed, 7 where the service can't be reached. */
export async function checkEnvironment(options: CheckOptions, context: Context): Promise<number> {
  const { reporter, cwd } = context;
  const { core, ...settings } = await openSettings(context, { ...options, env: options.name ?? options.env }, "any");
  const { environment } = settings;
  const { name, kind, baseUrl, keySource, origins } = environment;
  const { checks, exitCode } = await check(core, settings);
  if (options.json) {
    const document = { environment: name, baseUrl: baseUrl === "" ? null : baseUrl, checks, exitCode };
    reporter.out(`${JSON.stringify(document)}\n`);
    return exitCode;
  }
  const where = kind === "sandbox" ? "this machine; nothing leaves it" : baseUrl;
  reporter.out(`${name}  ${where}  (${displayOrigin(origins.baseUrl, cwd)})\n`);
  for (const each of checks) reporter.out(`  ${each.check.padEnd(10)}  ${describeCheck(each)}\n`);
  const last = checks.at(-1);
  if (last?.check === "key" && last.result !== "ok" && kind === "service")
    reporter.info(`The key of ${name} comes from ${describeKeySource(keySource)}.`);
  return exitCode;
}

const MARKS = { ok: "ok", failed: "FAILED", "not known": "not known" } as const;

const describeCheck = ({ result, detail }: Check): string => `${MARKS[result]}: ${cleanText(detail, 500)}`;
