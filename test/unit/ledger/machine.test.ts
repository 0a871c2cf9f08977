import { hostname } from "node:os";
import { describe, expect, it } from "vitest";
import { fromPlaced, hostOf, isHere, machineOf, toPlaced } from "../../../src/ledger/machine.ts";

const [ALONE, SHARED] = [{ kind: "sqlite" }, { kind: "postgres" }] as const;
const PATHS = ["/srv/exports/orders.ndjson", "/srv/a#b:c.csv", "C:\\exports\\a#b:c.csv", "/srv/two\nlines.ndjson"];

describe("files of several machines in one ledger", () => {
  it.each(PATHS)("names the machine of %j in a shared ledger, and reads it back", (path) => {
    const placed = toPlaced(SHARED, path);
    expect(placed).not.toBe(path);
    expect(fromPlaced(placed)).toEqual({ path, machine: machineOf(SHARED) });
  });

  it.each(PATHS)("leaves %j as it is in a ledger of one machine", (path) => {
    expect(toPlaced(ALONE, path)).toBe(path);
    expect(fromPlaced(path)).toEqual({ path, machine: undefined });
  });

  it("tells its own files from those of another machine", () => {
    expect(isHere(SHARED, machineOf(SHARED))).toBe(true);
    expect(isHere(SHARED, "another#")).toBe(false);
    expect(isHere(ALONE, undefined)).toBe(true);
  });

  it("names the host to people", () => {
    expect(hostOf(machineOf(SHARED) ?? "")).toBe(hostname().replaceAll(/[^\w.-]/g, "_"));
  });
});
