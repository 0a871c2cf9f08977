/**
 * Inputs that went from the latest time to the earliest. Their runs' manifests say so, for the rejects of such an input hold some
 * of its rows only, and may not show it.
 */

import type { Ledger } from "./ledger.ts";
import type { RowNumbers } from "./row-places.ts";

interface InputOfRun {
  /** Number of its last row among those of the run. */
  readonly last: number;
  readonly isNewestFirst: boolean;
}

/** Tells of a rejected row which such inputs had it, each as a text of its own. The manifest of a run is read once. */
export function newestFirstInputs(ledger: Ledger): (numbers: RowNumbers) => ReadonlySet<string> {
  const known = new Map<number, readonly InputOfRun[]>();
  return (numbers) => {
    const found = new Set<string>();
    for (const [runNo, number] of numbers) {
      const inputs = known.get(runNo) ?? inputsOf(ledger, runNo);
      known.set(runNo, inputs);
      const at = inputs.findIndex(({ last }) => number <= last);
      if (inputs[at]?.isNewestFirst === true) found.add(`${runNo} ${at}`);
    }
    return found;
  };
}

function inputsOf(ledger: Ledger, runNo: number): readonly InputOfRun[] {
  const sql = `SELECT input.value ->> 'rows' AS rows, input.value ->> 'newestFirst' AS newest_first
    FROM runs, json_each(manifest, '$.inputs') AS input WHERE run_no = ? ORDER BY input.key`;
  let last = 0;
  return ledger.all(sql, runNo).map(({ rows, newest_first }) => {
    last += Number(rows);
    return { last, isNewestFirst: Number(newest_first) === 1 };
  });
}
