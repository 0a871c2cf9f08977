import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseFaultText } from "../../../src/sandbox/fault-text.ts";
import { openFaults } from "../../../src/sandbox/faults.ts";

const folder = new URL("../../../fixtures/faults/", import.meta.url);
const read = (name: string) => parseFaultText(readFileSync(new URL(name, folder), "utf8"), name);

/** What strikes the first `count` requests, by fault or status. */
function struck(name: string, count: number, items: readonly unknown[]): readonly (string | number | undefined)[] {
  const faults = openFaults(read(name));
  return Array.from({ length: count }, () => {
    const request = faults.countRequest();
    const early = faults.chooseEarly({ request, bytes: 1000 });
    const { fault = early, latencyMs } = faults.choose({ request, bytes: 1000, items });
    return latencyMs > 0 ? "latency" : fault?.fault === "status" ? fault.status : fault?.fault;
  });
}

describe("the fault scripts of the rehearsals", () => {
  test("are those that docs/rehearsal.md starts the sandbox with", () => {
    const document = readFileSync(new URL("../../../docs/rehearsal.md", import.meta.url), "utf8");
    const named = new Set([...document.matchAll(/--faults \S*fixtures\/faults\/(\S+\.yaml)/g)].map(([, name]) => name));
    expect([...named].sort()).toEqual(readdirSync(folder).sort());
  });

  test.each(readdirSync(folder))("%s can be read", (name) => {
    expect(read(name).rules.length).toBeGreaterThan(0);
  });

  const [some, many] = [Array(2000).fill({}), Array(2001).fill({})];
  const sale = { action: "soldTicket", data: { ticketId: "PDLLYA-2" } };
  test.each([
    ["lost-answer.yaml", some, [undefined, undefined, "drop", undefined, "drop", undefined]],
    ["gateway.yaml", some, [undefined, 429, undefined, 503, undefined, 503, 429, undefined, "latency", undefined]],
    ["too-large.yaml", some, [undefined, undefined]],
    ["too-large.yaml", many, [413, 413]],
    ["too-large.yaml", [sale], ["failure-items", undefined]],
    ["too-large.yaml", [...many, sale], [413, 413]],
  ])("%s strikes as the document tells: %#", (name, items, expected) => {
    expect(struck(name, expected.length, items)).toEqual(expected);
  });
});
