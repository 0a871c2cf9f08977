/** Two processes never write one file of promises at a time, wherever their files for the time being lie. */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { lockOutput } from "../../../src/run/promises.ts";
import { describeBothLedgers } from "../../support/both-ledgers.ts";

describeBothLedgers("the lock of a file of promises", (of) => {
  it.each(of.kind === "postgres" ? ["the same", "another"] : ["the same"])(
    "holds others back whose folder for temporary files is %s",
    async (which) => {
      const folder = mkdtempSync(join(tmpdir(), "tickets-lock-"));
      onTestFinished(() => {
        vi.unstubAllEnvs();
        rmSync(folder, { recursive: true });
      });
      for (const name of ["one", "other"]) mkdirSync(join(folder, name));
      using place = await of.newPlace();
      using mine = place.open();
      using theirs = place.open();
      const path = join(folder, "sales.promises.ndjson");
      const asking = { cwd: folder, abort: new AbortController().signal };
      const ends = new AbortController();

      vi.stubEnv("TMPDIR", join(folder, "one"));
      const held = await lockOutput(asking, mine, path, "tickets stream");
      if (which === "another") vi.stubEnv("TMPDIR", join(folder, "other"));
      const waits = lockOutput({ ...asking, abort: ends.signal }, theirs, path, "tickets collect");
      setTimeout(() => ends.abort(new Error("long enough")), 500);
      await expect(waits).rejects.toThrow();

      held[Symbol.dispose]();
      using _ = await lockOutput(asking, theirs, path, "tickets collect");
    },
  );
});
