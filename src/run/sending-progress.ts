/** What is reported while a run is sent. */

import type { Ledger } from "../ledger/ledger.ts";
import { countRun, type RunRecord } from "../ledger/runs.ts";
import { parseManifest } from "../plan/files/manifest.ts";
import type { SendProgress } from "../sending/send.ts";
import type { RunContext } from "./context.ts";
import type { Wait } from "./progress.ts";

export function sendingProgress(
  { progress }: RunContext,
  { ledger }: { readonly ledger: Ledger },
  run: RunRecord,
  lanes: number,
): SendProgress {
  const before = countRun(ledger, run.runNo);
  const manifest = parseManifest(run.manifest);
  let done = before.accepted + before.rejected + before.settledByHand;
  let rejected = before.rejected;
  let decided = before.chunks.settled;
  let of = before.chunks.total;
  const show = (more: { readonly attempts?: number; readonly waiting?: Wait } = {}): void =>
    progress.advanced({
      doing: "sending",
      unit: "action",
      done,
      total: manifest.actions.planned,
      chunk: { number: Math.min(decided + 1, of), of },
      lanes,
      rejected,
      ...more,
    });
  show();
  return {
    sending: (chunk, attempt) => {
      progress.happened({ kind: "chunk sent", chunk, attempt });
      show({ attempts: attempt });
    },
    decided: (chunk, counts) => {
      done += counts.accepted + counts.rejected;
      rejected += counts.rejected;
      decided += 1;
      of = Math.max(of, decided);
      progress.happened({ kind: "chunk settled", chunk, ...counts });
      show();
    },
    late: (chunk, said) => progress.happened({ kind: "answer came late", chunk, said }),
    withoutStatus: () => progress.happened({ kind: "answers without status" }),
    waiting: (chunk, detail, waitMs) => {
      progress.happened({ kind: "chunk waits", chunk, detail, waitMs });
      show({ waiting: { detail, waitMs } });
    },
  };
}
