import { EXIT_CODES } from "../failure.ts";

/** What each exit code says, in short (docs/commands.md, Exit codes). */
const EXIT_WORDS: Readonly<Record<keyof typeof EXIT_CODES, string>> = {
  ok: "done",
  internal: "fault",
  usage: "usage",
  "input-invalid": "invalid input",
  "finished-with-rejects": "some rejected",
  "authentication-failed": "authentication failed",
  "in-doubt": "in doubt",
  "stopped-early": "stopped early",
  busy: "busy",
  refused: "refused",
  storage: "storage",
};

const BY_CODE = new Map(
  Object.entries(EXIT_WORDS).map(([name, words]) => [EXIT_CODES[name as keyof typeof EXIT_CODES], words]), // its own keys
);

/** `0 done, 1 fault, …` */
export const allExitCodes = (): string =>
  [...[...BY_CODE].map(([code, words]) => `${code} ${words}`), "128+n signal"].join(", ");

/** `4, some rejected` */
export const describeExit = (code: number): string =>
  `${code}, ${(BY_CODE as ReadonlyMap<number, string>).get(code) ?? "signal"}`;
