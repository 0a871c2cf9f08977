import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Failure } from "../../../src/failure.ts";
import { refuseNetworkFileSystem } from "../../../src/ledger/open-ledger.ts";

const PATH = join(tmpdir(), "playground", "ledger.db");

/** `statfs(2)` and linux/magic.h, written down here again. */
const REFUSED: readonly (readonly [string, number])[] = [
  ["NFS", 0x6969],
  ["SMB", 0x517b],
  ["CIFS", 0xff534d42],
  ["SMB2", 0xfe534d42],
  ["Ceph", 0x00c36400],
  ["9P", 0x01021997],
  ["AFS", 0x5346414f],
  ["Lustre", 0x0bd00bd0],
];

const TAKEN: readonly (readonly [string, number])[] = [
  ["ext4", 0xef53],
  ["XFS", 0x58465342],
  ["Btrfs", 0x9123683e],
  ["ZFS", 0x2fc12fc1],
  ["tmpfs", 0x01021994],
  ["overlay", 0x794c7630],
  ["APFS on macOS", 0x1a],
];

describe("a ledger on a network file system", () => {
  test.each(REFUSED)("is refused: %s", (name, type) => {
    let refused: unknown;
    try {
      refuseNetworkFileSystem(PATH, type);
    } catch (cause) {
      refused = cause;
    }
    expect(refused).toBeInstanceOf(Failure);
    expect(refused).toMatchObject({ code: "usage", hint: expect.stringContaining("--state-dir") });
    expect(String(refused)).toContain(`${join(tmpdir(), "playground")} is on a network file system (${name})`);
  });

  test.each(TAKEN)("is not seen in %s", (_, type) => {
    expect(() => refuseNetworkFileSystem(PATH, type)).not.toThrow();
  });

  test("is looked for where the ledger's folder is", () => {
    expect(() => refuseNetworkFileSystem(join(tmpdir(), "ledger.db"))).not.toThrow();
  });
});
