/** What `plan` and `validate --json` say of every fixture, export, recipe and report, to the byte. When a change is meant: `npx vitest run golden-plans -u`. */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { globSync } from "tinyglobby";
import { expect, test } from "vitest";
import { type Ended, FIXTURES, openWorkplace, type Workplace } from "../support/bin.ts";
import { clockOf } from "../support/clock.ts";
import { readPage } from "../support/pages.ts";

const GOLDEN = fileURLToPath(new URL("golden-plans/", import.meta.url));

interface Input {
  readonly name: string;
  readonly args: readonly string[];
  /** Puts the files in place. */
  readonly layIn: (place: Workplace) => void;
}

const CONFIG = "tickets.config.yaml";
const SEASON = [
  ...["events.csv", "event-updates.csv", "sales.csv", "updates.csv", "resales.csv"],
  ...["scans.csv", "checkins.csv", "claims.csv", "invalidations.csv"],
];
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  "bad/sales-action-conflict.ndjson": ["--action", "soldTicket"],
  "reports/16-json-array-of-rows/users.ndjson": ["--action", "soldTicket"],
  "reports/21-packed-otherwise/twice.csv.gz": ["--action", "soldTicket"],
};

/** Each file that is an input, with the config beside it and the files that this may look into. */
function fixtureInputs(): readonly Input[] {
  const files = globSync(
    [
      "**/*.{csv,json,ndjson,gz,zst,zip}",
      "!**/*.expected.*",
      "!service/responses",
      "!**/index.json",
      "!bad/expected.json",
      // Which have no config yet: test/e2e/newcomer.test.ts makes it.
      "!newcomer/**",
    ],
    {
      cwd: FIXTURES,
    },
  );
  return files.map((path) => {
    const slash = path.lastIndexOf("/") + 1;
    const [folder, file] = [path.slice(0, slash), path.slice(slash)];
    const isAlone = !existsSync(join(FIXTURES, folder, CONFIG));
    const names = isAlone ? [file] : readdirSync(join(FIXTURES, folder));
    return { name: path, args: [file, ...(FLAGS[path] ?? [])], layIn: (place) => copy(place, folder, names) };
  });
}

const seasonInput = (name: string, flags: readonly string[]): Input => ({
  name,
  args: [...SEASON, ...flags],
  layIn: (place) => copy(place, "", SEASON),
});

function copy(place: Workplace, folder: string, names: readonly string[]): void {
  for (const name of names) lay(place, name, readFileSync(join(FIXTURES, folder, name)));
}

function lay(place: Workplace, name: string, content: string | Buffer): void {
  const at = new Date(NOW_MS - 3_600_000);
  utimesSync(place.write(name, content), at, at);
}

/** Each example of the recipes: its first file, by its config. */
function recipeInputs(): readonly Input[] {
  return globSync("docs/recipes/*.md", { cwd: fileURLToPath(new URL("../..", import.meta.url)) }).flatMap((page) => {
    const blocks = [...readPage(page).matchAll(/^```(\w+) ?(.*)\n([\s\S]*?)^```$/gm)];
    const ends = blocks.flatMap(([, language], at) => (language === "ndjson" || language === "text" ? [at] : []));
    return ends.map((end, nth): Input => {
      const own = blocks.slice((ends[nth - 1] ?? -1) + 1, end);
      const first = own.find(([, language]) => language !== "yaml")?.[2] ?? "";
      return {
        name: `${page.replace(/^docs\//, "").replace(/\.md$/, "")}/${nth + 1}-${first}`,
        args: [first],
        layIn: (place) => {
          for (const [, language, name = "", text = ""] of own) lay(place, language === "yaml" ? CONFIG : name, text);
        },
      };
    });
  });
}

const INPUTS = [
  ...fixtureInputs(),
  ...recipeInputs(),
  seasonInput("season", []),
  seasonInput("season-by-time", ["--order", "time"]),
];

/** What is far ahead depends on the day: the clock stands still, and the files are an hour old. */
const NOW_MS = Date.UTC(2026, 10, 28, 12);
const env = { NODE_OPTIONS: `--import=${clockOf(String(NOW_MS))}` };

test.for(INPUTS)("$name", async ({ name, args, layIn }) => {
  const place = openWorkplace();
  layIn(place);
  const run = (verb: string, ...flags: readonly string[]): Promise<Ended> =>
    place.tickets([verb, ...args, ...flags], { env });
  const said = [await run("plan"), await run("validate", "--json")].map((ended) => inWords(ended, place));
  await expect(said.join("\n")).toMatchFileSnapshot(join(GOLDEN, `${name}.txt`));
});

function inWords({ args, exitCode, stdout, stderr }: Ended, { folder }: Workplace): string {
  const reported = [
    `$ tickets ${args.join(" ")}`,
    `exit ${exitCode}`,
    "--- stderr",
    stderr,
    "--- stdout",
    shortened(stdout),
  ];
  // What takes long shows a line each half minute; Node's word for damage depends on how its reads fall.
  return reported
    .join("\n")
    .replaceAll(folder, "FOLDER")
    .replaceAll(/^(?:checking|comparing) .*\n/gm, "")
    .replaceAll(/(?<=Zstandard-compressed) \([^)]*\)/g, "");
}

const MOST_LINES = 100;

/** Of many lines some, and the digest of all. */
function shortened(text: string): string {
  const lines = text.split("\n");
  if (lines.length <= MOST_LINES) return text;
  const some = lines.filter((_, at) => at % MOST_LINES === 0);
  return [...some, `${lines.length} lines, SHA-256 ${createHash("sha256").update(text).digest("hex")}`, ""].join("\n");
}

test("no golden file is left of an input that is gone", () => {
  const kept = globSync("**", { cwd: GOLDEN, dot: true });
  expect(kept.filter((file) => !INPUTS.some(({ name }) => file === `${name}.txt`))).toEqual([]);
});
