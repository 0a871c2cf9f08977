/** What the help of each command says beside its options: examples, what else to know, and where to read more. */

interface HelpText {
  readonly examples: readonly string[];
  readonly note?: string;
}

const HELP: Readonly<Record<string, HelpText>> = {
  tickets: {
    examples: ["tickets validate sales.csv", "tickets stream events.csv sales.csv"],
    note: "Exit codes: 0 done, 1 fault, 2 usage, 3 invalid input, 4 some rejected, 5 not let in, 6 in doubt, 7 stopped early, 8 busy, 9 refused, 10 storage, 128+n signal.",
  },
  stream: {
    examples: [
      "tickets stream events.csv sales.csv",
      "tickets stream sales.csv --env playground --limit 10",
      "tickets stream 'exports/*.ndjson.gz' --env production --quiet -o sent.ndjson",
      'tickets stream old.csv --env production --adopt --reason "the old tool"',
    ],
  },
  validate: { examples: ["tickets validate payload.json", "tickets validate sales.csv --env playground"] },
  plan: { examples: ["tickets plan sales.csv | head -n 3", "tickets plan export.csv --preview"] },
  init: {
    examples: [
      "tickets init attendees.csv",
      "tickets init events.csv orders.csv scans.csv",
      "tickets init orders.csv -o -",
    ],
    note: "It asks nothing and sends nothing; every guess is marked as one.",
  },
  status: {
    examples: [
      "tickets status --env playground",
      "tickets status 4ba62e61 --env playground",
      "tickets status 4ba62e61 --chunk 2 --env playground",
      "tickets status --max-age 26h --env production",
      "tickets status --remote --env production",
    ],
  },
  resume: {
    examples: ["tickets resume --env playground", "tickets resume 4ba62e61 --env playground --max-duration 2h"],
  },
  work: {
    examples: [
      "tickets work --env production --lanes 8",
      "tickets work --env production --until-idle",
      "tickets work --env production --max-duration 1h --json",
    ],
    note: "It reads no input and writes no promises file.",
  },
  settle: {
    examples: [
      "tickets settle 4ba62e61 --env playground",
      'tickets settle 4ba62e61 --env playground --sent --reason "they are there"',
      'tickets settle 4ba62e61 --env playground --not-sent --chunk 2 --reason "lost"',
    ],
    note: "Without --sent, --not-sent, --abandon or --pause it only shows what is to be decided.",
  },
  results: {
    examples: [
      "tickets results -o all.csv --env playground",
      "tickets results 4ba62e61 --env playground",
      "tickets results --follow --env production",
      "tickets results --import promises.ndjson --env playground",
    ],
  },
  find: {
    examples: ["tickets find PDLLYA-1 --env production", "tickets find PDLLYA-1 --env production --json"],
    note: "Exit code 4: nothing was found.",
  },
  env: { examples: ["tickets env", "tickets env production --check"] },
  prune: {
    examples: ["tickets prune --env production", "tickets prune --env production --older-than 3d"],
    note: "It removes the requests of old runs. Never removed: what was sent, its promises, and what an unfinished run or a doubt needs.",
  },
  completion: {
    examples: [
      "tickets completion fish > ~/.config/fish/completions/tickets.fish",
      "source <(tickets completion bash)",
    ],
  },
  sandbox: { examples: ["tickets sandbox", "tickets sandbox --port 4020 --faults fixtures/faults/gateway.yaml"] },
};

/** What to try of a command; `tickets` is the program itself. */
export const examplesOf = (name: string): readonly string[] => HELP[name]?.examples ?? [];

/** What else there is to know of it. */
export const noteOf = (name: string): string | undefined => HELP[name]?.note;

/** The examples of a command's help: they stand before its flags, since most people need no more. */
export function helpExamples(name: string): string {
  const examples = examplesOf(name);
  return [examples.length === 1 ? "Example:" : "Examples:", ...examples.map((example) => `  ${example}`), ""].join(
    "\n",
  );
}

/** The end of a command's help. */
export function helpEnd(name: string): string {
  const note = noteOf(name);
  return [
    ...(note === undefined ? [] : ["", note]),
    "",
    `More: docs/cli.md${name === "tickets" ? "" : `#tickets-${name}`} in the package's folder.`,
  ].join("\n");
}

/** What somebody sees who types `tickets` alone: what it is, and what to try next. */
export const WELCOME = {
  what: "tickets: checks a ticketing company's exports (CSV, NDJSON) and sends them to the service, in order and nothing twice, and keeps every promise.",
  steps: [
    ["tickets init orders.csv", "a starter config, from an export of yours"],
    ["tickets validate orders.csv", "check it; nothing is sent"],
    ["tickets stream orders.csv", "send it: to the sandbox on this machine, until you configure a service"],
  ],
  more: "All commands: tickets --help",
} as const;
