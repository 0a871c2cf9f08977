import { appendFile, mkdir, mkdtemp, readFile, rename, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import type { OutcomeRow } from "../../../src/ledger/outcomes.ts";
import {
  inspectOutput,
  OutputChanged,
  type OutputFile,
  openOutput,
  setOutputAside,
} from "../../../src/outputs/output-file.ts";
import { promiseLines } from "../../../src/outputs/promise-lines.ts";
import { openPromiseFile } from "../../../src/outputs/promise-sink.ts";
import { describeBothLedgers, type LedgerKind } from "../../support/both-ledgers.ts";

interface Place {
  readonly folder: string;
  readonly path: string;
  readonly ledger: Ledger;
  /** Opens the file as it stands, and closes it with the test. */
  open(header?: string, unrecorded?: (length: number) => readonly string[]): Promise<OutputFile>;
  /** Appends and records, as one chunk does. */
  add(file: OutputFile, text: string): Promise<void>;
  text(): Promise<string>;
}

async function placeWith(of: LedgerKind): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "tickets-output-"));
  const ledgerPlace = await of.newPlace();
  const ledger = ledgerPlace.open({ boundTo: "https://example.test" });
  const opened: OutputFile[] = [];
  const path = join(folder, "promises.ndjson");
  onTestFinished(async () => {
    for (const file of opened) await file[Symbol.asyncDispose]();
    ledger[Symbol.dispose]();
    ledgerPlace[Symbol.dispose]();
    await rm(folder, { recursive: true });
  });
  return {
    folder,
    path,
    ledger,
    async open(header = "", unrecorded) {
      const state = await inspectOutput(ledger, path, "promises", unrecorded);
      const file = await openOutput({ ledger, path, kind: "promises", header, state });
      opened.push(file);
      return file;
    },
    async add(file, text) {
      const appended = await file.append(text);
      ledger.transaction(() => appended.record(ledger));
    },
    text: () => readFile(path, "utf8"),
  };
}

/** A file with two recorded appends, closed. */
async function writtenWith(of: LedgerKind): Promise<Place> {
  const here = await placeWith(of);
  const file = await here.open();
  await here.add(file, "one\n");
  await here.add(file, "two\n");
  return here;
}

describeBothLedgers("what a ledger knows of an output", (of) => {
  const place = () => placeWith(of);
  const written = () => writtenWith(of);

  describe("an output file", () => {
    it("that is missing or empty starts afresh, with its header", async () => {
      for (const make of [() => Promise.resolve(), (path: string) => writeFile(path, "")]) {
        const here = await place();
        await make(here.path);
        expect(await inspectOutput(here.ledger, here.path, "promises")).toEqual({ state: "fresh" });
        const file = await here.open("a,b\n");
        expect([file.length, await here.text()]).toEqual([4, "a,b\n"]);
        await here.add(file, "1,2\n");
        expect(await inspectOutput(here.ledger, here.path, "promises")).toEqual({
          state: "ours",
          length: 8,
          torn: false,
        });
      }
    });

    it("that earlier runs wrote is appended to, without another header", async () => {
      const here = await place();
      await here.add(await here.open("a,b\n"), "1,2\n");
      await here.add(await here.open("a,b\n"), "3,4\n");
      expect(await here.text()).toBe("a,b\n1,2\n3,4\n");
    });

    it("takes texts of any length and script", async () => {
      const here = await place();
      const file = await here.open();
      const texts = ["", "日本語\n", `${"x".repeat(3_000_000)}\n`, "🎫\n"];
      for (const text of texts) await here.add(file, text);
      expect(await here.text()).toBe(texts.join(""));
      expect(await inspectOutput(here.ledger, here.path, "promises")).toMatchObject({ state: "ours", torn: false });
    });
  });

  describe("what an interrupted append left behind", () => {
    // After a power cut zeros stand where nothing arrived, wherever that is.
    const zeros = ["\0\0\0", "thr\0\0\0\0", "\0\0\0\0e\nfour\n", "th\0\0\0\nfour\n"];
    it.each(["t", "three\nfo", "three\nfour\n", ...zeros])("is cut back: %j", async (tail) => {
      const here = await written();
      await appendFile(here.path, tail);
      const unrecorded = (length: number) => [length === 8 ? "three\nfour\n" : "wrong length"];
      expect(await inspectOutput(here.ledger, here.path, "promises", unrecorded)).toEqual({
        state: "ours",
        length: 8,
        torn: true,
      });
      const file = await here.open("", unrecorded);
      expect(await here.text()).toBe("one\ntwo\n");
      await here.add(file, "three\nfour\n");
      expect(await here.text()).toBe("one\ntwo\nthree\nfour\n");
    });

    it.each(["three\n", "th", "four\nfi", "four\nfive\n"])("is cut back where lanes took turns: %j", async (tail) => {
      const here = await written();
      await appendFile(here.path, tail);
      const state = await inspectOutput(here.ledger, here.path, "promises", () => ["three\n", "four\nfive\n"]);
      expect(state).toEqual({ state: "ours", length: 8, torn: true });
    });

    it.each(["three\nfour\n", "four\nfive\nthree", "five"])("is one append: %j", async (tail) => {
      const here = await written();
      await appendFile(here.path, tail);
      const state = await inspectOutput(here.ledger, here.path, "promises", () => ["three\n", "four\nfive\n"]);
      expect(state).toMatchObject({ state: "strange" });
    });

    it.each(["four\n", "\0hree\nfive\n", "three\nfour\n\0"])("is nothing that others added: %j", async (tail) => {
      const here = await written();
      await appendFile(here.path, tail);
      expect(await inspectOutput(here.ledger, here.path, "promises", () => ["three\nfour\n"])).toMatchObject({
        state: "strange",
      });
    });

    it.each(["a,", "a,b\n1,"])("and a header among it is written again: %j", async (tail) => {
      const here = await place();
      await here.open(); // the process ends before anything is recorded
      await appendFile(here.path, tail);
      const file = await here.open("a,b\n", (length) => [length === 0 ? "a,b\n1,2\n" : "wrong length"]);
      await here.add(file, "1,2\n");
      expect(await here.text()).toBe("a,b\n1,2\n");
      expect(await inspectOutput(here.ledger, here.path, "promises")).toEqual({
        state: "ours",
        length: 8,
        torn: false,
      });
    });

    it("is nothing when the text was on disk and only the record is missing", async () => {
      const here = await written();
      const file = await here.open();
      await file.append("three\n"); // never recorded: the process ends here
      const again = await here.open("", () => ["three\n"]);
      expect(await here.text()).toBe("one\ntwo\n");
      await here.add(again, "three\n");
      expect(await here.text()).toBe("one\ntwo\nthree\n");
    });
  });

  describe("a file that others touched is not written into", () => {
    const changes: readonly (readonly [string, (here: Place) => Promise<void>, string])[] = [
      ["appended to", ({ path }) => appendFile(path, "mine\n"), "something else was written after its byte 8"],
      ["cut short", ({ path }) => truncate(path, 5), "it is shorter than tickets left it"],
      ["changed in its first part", ({ path }) => writeFile(path, "One\ntwo\n"), "between byte 0 and 4"],
      ["changed in its last part", ({ path }) => writeFile(path, "one\nTwo\n"), "between byte 4 and 8"],
      ["changed and appended to", ({ path }) => writeFile(path, "One\ntwo\nthree\n"), "between byte 0 and 4"],
      [
        "replaced by a folder",
        async ({ path }) => {
          await rm(path);
          await mkdir(path);
        },
        "it is not a regular file",
      ],
    ];

    it.each(changes)("%s", async (_name, change, why) => {
      const here = await written();
      await change(here);
      const state = await inspectOutput(here.ledger, here.path, "promises", () => ["three\n"]);
      expect(state).toMatchObject({ state: "strange", lostRun: undefined });
      if (state.state === "strange") expect(state.why).toContain(why);
      await expect(openOutput({ ...here, kind: "promises", header: "", state })).rejects.toThrow("must not be written");
    });

    it("and one that tickets did not write", async () => {
      const here = await place();
      await writeFile(here.path, "something of value\n");
      expect(await inspectOutput(here.ledger, here.path, "promises")).toEqual({
        state: "strange",
        why: "tickets did not write it for this environment",
        lostRun: undefined,
      });
      expect(await here.text()).toBe("something of value\n");
    });

    it("touched without change, it is still ours", async () => {
      const here = await written();
      await utimes(here.path, new Date(0), new Date(0));
      expect(await inspectOutput(here.ledger, here.path, "promises")).toEqual({
        state: "ours",
        length: 8,
        torn: false,
      });
    });

    it("copied elsewhere and back, it is still ours", async () => {
      const here = await written();
      const text = await here.text();
      await rm(here.path);
      await writeFile(here.path, text);
      await here.add(await here.open(), "three\n");
      expect(await here.text()).toBe("one\ntwo\nthree\n");
    });

    it("and one that holds something else, also once it was moved, or is still empty", async () => {
      const here = await written();
      const other = { state: "strange", why: "it is a promises file" };
      expect(await inspectOutput(here.ledger, here.path, "rejects")).toMatchObject(other);
      const path = join(here.folder, "moved.ndjson");
      await rename(here.path, path);
      expect(await inspectOutput(here.ledger, path, "rejects")).toMatchObject(other);
      const begun = await place();
      await begun.open();
      expect(await inspectOutput(begun.ledger, begun.path, "rejects")).toMatchObject(other);
    });

    describe("moved elsewhere", () => {
      const NOWHERE = { state: "strange", why: "tickets did not write it for this environment" } as const;
      async function moved(): Promise<Place & { readonly former: string }> {
        const here = await written();
        const path = join(here.folder, "moved.ndjson");
        await rename(here.path, path);
        return { ...here, path, former: here.path };
      }

      it("it is still ours, and what the ledger knows of it moves along", async () => {
        const { ledger, path, former } = await moved();
        const state = await inspectOutput(ledger, path, "promises");
        expect(state).toEqual({ state: "ours", length: 8, torn: false, movedFrom: former });
        await using file = await openOutput({ ledger, path, kind: "promises", header: "", state });
        const appended = await file.append("three\n");
        ledger.transaction(() => appended.record(ledger));
        expect(await readFile(path, "utf8")).toBe("one\ntwo\nthree\n");
        expect(await inspectOutput(ledger, path, "promises")).toEqual({ state: "ours", length: 14, torn: false });
        await writeFile(former, "one\ntwo\n");
        expect(await inspectOutput(ledger, former, "promises")).toMatchObject(NOWHERE);
      });

      it.each<[string, (place: Place & { readonly former: string }) => Promise<void>]>([
        ["and changed", ({ path }) => writeFile(path, "one\nTwo\n")],
        ["and appended to", ({ path }) => appendFile(path, "mine\n")],
        ["and cut short", ({ path }) => truncate(path, 4)],
        ["while another stands in its place", ({ former }) => writeFile(former, "mine\n")],
        ["and copied back", ({ former }) => writeFile(former, "one\ntwo\n")],
      ])("%s, it is not", async (_name, change) => {
        const here = await moved();
        await change(here);
        expect(await inspectOutput(here.ledger, here.path, "promises")).toMatchObject(NOWHERE);
      });
    });

    it("deleted between runs, it starts afresh and says nothing of what it held", async () => {
      const here = await written();
      await rm(here.path);
      await here.add(await here.open("a,b\n"), "three\n");
      expect(await here.text()).toBe("a,b\nthree\n");
      expect(await inspectOutput(here.ledger, here.path, "promises")).toEqual({
        state: "ours",
        length: 10,
        torn: false,
      });
    });

    it("a file that holds runs which the ledger does not know tells of a lost ledger", async () => {
      for (const line of [
        '{"source":"s.csv","line":2,"environment":"x","run":"0badcafe","seq":1,"chunk":1,"at":"2026-11-21T03:00:00.000Z"}\n',
        "s.csv,2,soldTicket,E,T,,success,p,x,0badcafe,1,1,2026-11-21T03:00:00.000Z,\n",
      ]) {
        const here = await place();
        await writeFile(here.path, line);
        expect(await inspectOutput(here.ledger, here.path, "promises")).toMatchObject({
          state: "strange",
          lostRun: { environment: "x", run: "0badcafe" },
        });
      }
    });
  });

  describe("a file that is changed while the run writes it", () => {
    const changes: readonly (readonly [string, (path: string) => Promise<void>])[] = [
      ["deleted", (path) => rm(path)],
      ["moved", (path) => rename(path, `${path}.moved`)],
      ["appended to", (path) => appendFile(path, "mine\n")],
      ["emptied", (path) => truncate(path, 0)],
      [
        "replaced by one of the same length",
        async (path) => {
          await rename(path, `${path}.old`);
          await writeFile(path, "one\ntwo\n");
        },
      ],
    ];

    it.each(changes)("is not appended to when it was %s", async (_name, change) => {
      const here = await place();
      const file = await here.open();
      await here.add(file, "one\ntwo\n");
      await change(here.path);
      const before = await here.text().catch(() => undefined);
      await expect(file.append("three\n")).rejects.toThrow(OutputChanged);
      expect(await here.text().catch(() => undefined)).toBe(before);
    });

    const row = (seq: number): OutcomeRow => ({
      seq,
      chunk: 1,
      source: "s.csv",
      line: seq + 1,
      action: "scannedTicket",
      data: "{}",
      ticketId: "T1",
      outcome: "accepted",
      status: "success",
      actionPromise: `p${seq}`,
      at: "2026-11-21T03:00:00.000Z",
    });

    it.each(changes)("the run goes on in another file when it was %s", async (_name, change) => {
      const here = await place();
      const moved: string[] = [];
      await using sink = await openPromiseFile({
        ledger: here.ledger,
        path: here.path,
        state: await inspectOutput(here.ledger, here.path, "promises"),
        label: { environment: "x", run: "7f3a0c11" },
        safeCsv: false,
        onMoved: (path) => moved.push(path),
      });
      const add = async (seq: number): Promise<void> => {
        const record = await sink.write(promiseLines([row(seq)], sink.style.label, sink.style.format));
        here.ledger.transaction(() => record(here.ledger));
      };
      await add(1);
      await change(here.path);
      await add(2);
      await add(3);
      expect(moved).toEqual([`${here.path}.7f3a0c11.ndjson`]);
      expect(sink.path).toBe(moved[0]);
      const lines = (await readFile(moved[0] ?? "", "utf8")).trimEnd().split("\n");
      expect(lines.map((line) => JSON.parse(line).seq)).toEqual([2, 3]);
      expect(await inspectOutput(here.ledger, moved[0] ?? "", "promises")).toMatchObject({
        state: "ours",
        torn: false,
      });
    });

    it("and again under another name when that one is taken", async () => {
      const here = await place();
      const moved: string[] = [];
      await writeFile(`${here.path}.7f3a0c11.ndjson`, "somebody's\n");
      await using sink = await openPromiseFile({
        ledger: here.ledger,
        path: here.path,
        state: { state: "fresh" },
        label: { environment: "x", run: "7f3a0c11" },
        safeCsv: false,
        onMoved: (path) => moved.push(path),
      });
      await rm(here.path);
      await sink.write(promiseLines([row(1)], sink.style.label, sink.style.format));
      expect(moved).toEqual([`${here.path}.7f3a0c11.2.ndjson`]);
      expect(await readFile(`${here.path}.7f3a0c11.ndjson`, "utf8")).toBe("somebody's\n");
    });
  });

  describe("setting what is in the way aside", () => {
    it("leaves the place to a fresh file", async () => {
      const here = await place();
      await writeFile(here.path, "something of value\n");
      const aside = await setOutputAside(here.path);
      expect(await readFile(aside, "utf8")).toBe("something of value\n");
      expect(await inspectOutput(here.ledger, here.path, "promises")).toEqual({ state: "fresh" });
    });
  });
});
