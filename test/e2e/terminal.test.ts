/** What a person sees on a terminal: a real one of util-linux's `script`, as wide as it is set to be. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { BIN, openWorkplace, type Workplace } from "../support/bin.ts";
import { openSales, startService } from "../support/service.ts";
import { LONG } from "../support/walks.ts";

const ESCAPE = String.fromCharCode(27);
/** What a terminal gets beside the text. */
const SEQUENCE = new RegExp(`${ESCAPE}\\[[0-9;?]*[A-Za-z]`, "g");
/** Back to the first column, or up: what follows is another line. */
const MOVES = new RegExp(`${ESCAPE}\\[[0-9]*[GAK]|\r(?!\n)`, "g");
const COLOUR = new RegExp(`${ESCAPE}\\[3[0-9]m`);

interface Screen {
  readonly code: number | null;
  /** All that was written, escape sequences too. */
  readonly raw: string;
  readonly lines: readonly string[];
}

/** Runs `tickets` on a terminal; `answers` are typed one after the other, each when its question stands there. */
async function onTerminal(
  place: Workplace,
  columns: number,
  args: readonly string[],
  {
    env = {},
    answers = [],
  }: { readonly env?: Readonly<Record<string, string>>; readonly answers?: readonly string[] } = {},
): Promise<Screen> {
  const words = [process.execPath, BIN, ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn(
    "script",
    ["--quiet", "--return", "--command", `stty cols ${columns} rows 24; exec ${words}`, "/dev/null"],
    {
      cwd: place.folder,
      env: {
        PATH: process.env.PATH,
        SHELL: "/bin/sh",
        TERM: "xterm",
        HOME: place.path("home"),
        XDG_STATE_HOME: place.path("home/state"),
        ...env,
      },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  let raw = "";
  let answered = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    raw += text;
    const answer = answers[answered];
    if (raw.split("[y/N]").length - 1 <= answered || answer === undefined) return;
    answered += 1;
    child.stdin.write(`${answer}\n`);
  });
  const [code] = await once(child, "close");
  const lines = raw
    .replaceAll(MOVES, "\n")
    .replaceAll(SEQUENCE, "")
    .replaceAll("\r", "")
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
  return { code, raw, lines };
}

const SENT = ["stream", "sales.csv"];

describe("on 80 columns", () => breaksBetweenWords(80));
describe("on 40 columns", LONG, () => breaksBetweenWords(40));

function breaksBetweenWords(columns: number): void {
  /** A line that is too long must be one word, or a command that is to be copied. */
  const expectBroken = (lines: readonly string[]): void => {
    for (const line of lines)
      if (line.length > columns) expect(line.trim()).toMatch(/^\S+$|^(Usage: )?tickets [a-z]+( |$)/);
  };

  test("what a run says breaks between words", async () => {
    const { place, service } = await openSales(3);
    const { code, lines } = await onTerminal(place, columns, [...SENT, "--env", "playground"], service);
    expect(code).toBe(0);
    expectBroken(lines);
    expect(lines.join(" ")).toContain("soldTicket by file name");
    expect(lines.some((line) => line.length > columns / 2)).toBe(true);
  });

  test("errors and help do so too", LONG, async () => {
    const place = openWorkplace();
    for (const args of [["stream", "gone.csv"], ["stream", "--qiet"], ["stream", "--help"], ["--help"], ["status"]])
      expectBroken((await onTerminal(place, columns, args)).lines.filter((line) => !/^ {2}tickets/.test(line)));
  });

  test("an environment says each setting with where it comes from", LONG, async () => {
    const { lines } = await onTerminal(openWorkplace(), columns, ["env", "sandbox"]);
    expect(lines.find((line) => line.startsWith("  chunkSize"))).toMatch(/^ {2}chunkSize +5000 {2}\(default\)$/);
    expectBroken(lines);
  });
}

test("what came from elsewhere steers no terminal, whatever is written there", LONG, async () => {
  const hostile = "T\u009b31m\u202egnp\u200b";
  const place = openWorkplace();
  const data = { eventId: "E", ticketId: hostile, userId: hostile, price: "1", orderTime: 1768600000 };
  place.write(
    "in.ndjson",
    `${[
      { action: "newEvent", data: { eventId: "E", currency: "EUR" } },
      { action: "soldTicket", data },
    ]
      .map((action) => JSON.stringify(action))
      .join("\n")}\n`,
  );
  const service = await startService({
    failureOf: ({ action }) => (action === "soldTicket" ? { status: "error", message: hostile } : undefined),
  });
  const env = ["--env", "playground"];
  const commands = [
    ["plan", "in.ndjson"],
    ["stream", "in.ndjson", "-o", "-", ...env],
    ["results", ...env],
    ["status", ...env],
    ["status", "--json", ...env],
  ];
  for (const command of commands) {
    const { raw } = await onTerminal(place, 200, command, service);
    expect(raw, command.join(" ")).not.toMatch(/[\u0080-\u009f\u200b\u202a-\u202e]/);
  }
  const results = await place.tickets(["results", ...env], service);
  const reported = results.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as object); // lines of ours
  expect(reported).toContainEqual(
    expect.objectContaining({ ticketId: hostile, response: { status: "error", message: hostile } }),
  );
});

describe("colours", () => {
  test("are there on a terminal, in the live line too", LONG, async () => {
    const { place, service } = await openSales(3);
    const { raw } = await onTerminal(place, 80, [...SENT, "--env", "playground"], service);
    expect(raw).toMatch(COLOUR);
  });

  test("are nowhere with NO_COLOR, not in the live line either", LONG, async () => {
    const { place, service } = await openSales(3);
    const env = { ...service.env, NO_COLOR: "1" };
    const { raw, code } = await onTerminal(place, 80, [...SENT, "--env", "playground"], { env });
    expect(code).toBe(0);
    expect(raw).toContain("sending");
    expect(raw).not.toMatch(COLOUR);
  });
});

describe("settle --abandon", () => {
  async function stoppedRun() {
    const { place, service } = await openSales(6, {
      answer: ({ items }) => (items[0]?.data.ticketId === "T-3" ? { status: 500, body: "" } : undefined),
    });
    const { summary } = await place.summary([...SENT, "--env", "playground", "TICKETS_CHUNK_SIZE=2"], service);
    return { place, env: service.env, abandon: ["settle", summary.run ?? "", "--abandon", "--env", "playground"] };
  }
  const CLOSING = /2 answered, 2 not sent, which go into rejects, 2 in doubt/;

  test("says on a terminal what it will close, and asks; no is no", LONG, async () => {
    const { place, env, abandon } = await stoppedRun();
    const no = await onTerminal(place, 200, abandon, { env, answers: ["n"] });
    expect(no.code).toBe(0);
    expect(no.raw).toMatch(CLOSING);
    expect(no.raw).toContain("The run stays open.");
    expect((await place.tickets(["status", "--env", "playground"], { env })).stdout).toContain("open, in doubt");
    const yes = await onTerminal(place, 200, abandon, { env, answers: ["y"] });
    expect(yes.raw).toContain("is closed.");
  });

  test.each([
    ["without a terminal", []],
    ["with -y", ["-y"]],
  ])("%s asks nothing", LONG, async (_name, more) => {
    const { place, env, abandon } = await stoppedRun();
    const ended = await place.tickets([...abandon, ...more], { env });
    expect(ended.stderr).toMatch(CLOSING);
    expect(ended.stderr).toContain("is closed.");
  });
});
