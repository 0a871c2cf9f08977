import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unguardCell } from "../../../src/actions/formula-guard.ts";
import { parseJson } from "../../../src/actions/json.ts";
import type { OutcomeRow } from "../../../src/ledger/outcomes.ts";
import { promiseFormat, promiseLines, promisesHeader } from "../../../src/outputs/promise-lines.ts";
import { codePoint } from "../../support/texts.ts";

const LABEL = { environment: "playground", run: "7f3a0c11" };

const sold = (more: Partial<OutcomeRow> = {}): OutcomeRow => ({
  seq: 3,
  chunk: 1,
  source: "sales.csv",
  line: 4,
  action: "soldTicket",
  data: '{"eventId":"E1","ticketId":"T1"}',
  eventId: "E1",
  ticketId: "T1",
  outcome: "accepted",
  status: "success",
  actionPromise: "9d2c6e10-5b1f-4f0e-8a77-6b1e2f3a0001",
  at: "2026-11-21T03:00:00.000Z",
  ...more,
});

const rejected = (response: string, status = "error"): OutcomeRow => {
  const { actionPromise: _, ...row } = sold();
  return { ...row, outcome: "rejected", status, response };
};

describe("a line of NDJSON", () => {
  it("holds what docs/cli.md says, in its order", () => {
    expect(promiseLines([sold()], LABEL, "ndjson")).toBe(
      '{"source":"sales.csv","line":4,"action":"soldTicket","eventId":"E1","ticketId":"T1","status":"success",' +
        '"actionPromise":"9d2c6e10-5b1f-4f0e-8a77-6b1e2f3a0001","environment":"playground","run":"7f3a0c11","seq":3,' +
        '"chunk":1,"at":"2026-11-21T03:00:00.000Z"}\n',
    );
  });

  it("of a rejected action has the service's status and its whole item", () => {
    const line = promiseLines([rejected('{"status":"failed","message":"no"}', "failed")], LABEL, "ndjson");
    expect(JSON.parse(line)).toMatchObject({ status: "failed", response: { status: "failed", message: "no" } });
    expect(line).not.toContain("actionPromise");
  });

  it("keeps every digit of the service's item", () => {
    const item = '{"status":"error","n":12345678901234567890}';
    expect(promiseLines([rejected(item)], LABEL, "ndjson")).toContain(`"response":${item}}`);
  });

  it.each(["null", '"error"', "[1]", "{}"])("takes an item that is %s", (item) => {
    expect(promiseLines([rejected(item, "")], LABEL, "ndjson")).toContain(`"response":${item}}`);
  });

  it("of an action settled by hand says so and has no promise", () => {
    const { actionPromise: _, ...row } = sold({ outcome: "settled by hand", status: "settled-by-hand" });
    const line = promiseLines([row], LABEL, "ndjson");
    expect(JSON.parse(line)).toMatchObject({ status: "settled-by-hand" });
    expect(line).not.toContain("actionPromise");
  });

  it("is one line, whatever stands in it", () => {
    const text = 'a\nb\r\u2028c"\\\u0000\ud800';
    const lines = promiseLines([sold({ ticketId: text, source: text })], LABEL, "ndjson");
    expect(lines.match(/\n/g)).toHaveLength(1);
    expect(JSON.parse(lines)).toMatchObject({ ticketId: text, source: text });
  });
});

describe.each(["ndjson", "csv"] as const)("what steers a terminal, in %s", (format) => {
  const text = "\u001b[31m\u009b31m\u202e\u200b";

  it("is escaped in the service's item", () => {
    const line = promiseLines([rejected(JSON.stringify({ status: "error", message: text }))], LABEL, format);
    expect(line.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

it("what steers a terminal is escaped in ids, names and states, and keeps its meaning", () => {
  const text = "\u001b[31m\u009b31m\u202e\u200b";
  const row = sold({ source: text, eventId: text, ticketId: text, nftId: text, actionPromise: text });
  const line = promiseLines([row, rejected("{}", text)], { ...LABEL, environment: text }, "ndjson");
  expect(line.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  const [first = "", second = ""] = line.split("\n");
  expect(JSON.parse(first)).toMatchObject({ source: text, ticketId: text, actionPromise: text, environment: text });
  expect(JSON.parse(second)).toMatchObject({ status: text });
});

describe("the lines of a chunk", () => {
  it("leave out what was never sent", () => {
    const rows = [sold(), sold({ seq: 4, outcome: "not sent" }), sold({ seq: 5 })];
    expect(promiseLines(rows, LABEL, "ndjson").match(/"seq":\d/g)).toEqual(['"seq":3', '"seq":5']);
    expect(promiseLines(rows, LABEL, "csv").trimEnd().split("\n")).toHaveLength(2);
  });

  it("may be none", () => {
    for (const format of ["ndjson", "csv"] as const) {
      expect(promiseLines([], LABEL, format)).toBe("");
      expect(promiseLines([sold({ outcome: "not sent" })], LABEL, format)).toBe("");
    }
  });
});

describe("CSV", () => {
  const rows = (text: string): readonly Record<string, string>[] =>
    parse(promisesHeader("csv", false) + text, { columns: true });

  it("has the same columns, always all of them", () => {
    expect(promisesHeader("csv", false)).toBe(
      "source,line,action,eventId,ticketId,nftId,status,actionPromise,environment,run,seq,chunk,at,response\n",
    );
    const { nftId, response, ...rest } = rows(promiseLines([sold()], LABEL, "csv"))[0] ?? {};
    expect([nftId, response]).toEqual(["", ""]);
    expect(rest).toEqual(
      Object.fromEntries(
        Object.entries(JSON.parse(promiseLines([sold()], LABEL, "ndjson"))).map(([key, value]) => [key, `${value}`]),
      ),
    );
  });

  it("reads back to what the NDJSON says, for any text", () => {
    const text = fc.string({ unit: codePoint, minLength: 1 });
    fc.assert(
      fc.property(text, text, fc.json(), (ticketId, source, item) => {
        const row = { ...rejected(item), ticketId, source };
        const line = parseJson(promiseLines([row], LABEL, "ndjson")) as Record<string, unknown>; // one object
        const cells = rows(promiseLines([row], LABEL, "csv"))[0];
        expect(cells).toMatchObject({ ticketId: line.ticketId, source: line.source });
        expect(parseJson(cells?.response ?? "")).toEqual(line.response);
      }),
    );
  });

  it("leaves what looks like a formula as it is, unless it is to be safe", () => {
    const row = sold({ ticketId: "=1+1" });
    expect(rows(promiseLines([row], LABEL, "csv"))[0]?.ticketId).toBe("=1+1");
    expect(promiseLines([row], LABEL, "csv", true)).toContain(",'=1+1,");
  });

  it("guards so that what stood there can be told, for any text, and says so", () => {
    const text = fc.stringMatching(/^[='@-]{0,4}x?$/).filter((id) => id !== "");
    fc.assert(
      fc.property(text, (ticketId) => {
        const csv = promisesHeader("csv", true) + promiseLines([sold({ ticketId })], LABEL, "csv", true);
        const [cells = {}] = parse(csv, { columns: true }) as readonly Record<string, string>[];
        expect(cells["tickets:guarded"]).toBe("yes");
        expect(cells.ticketId).not.toMatch(/^[=@-]/);
        expect(unguardCell(cells.ticketId ?? "")).toBe(ticketId);
      }),
    );
  });
});

it.each([
  ["p.csv", "csv"],
  ["P.CSV", "csv"],
  ["p.ndjson", "ndjson"],
  ["p.csv.ndjson", "ndjson"],
  ["csv", "ndjson"],
  ["", "ndjson"],
] as const)("the format of %j is %s", (path, format) => {
  expect(promiseFormat(path)).toBe(format);
});
