/** Ids that are written almost like another one, accepted or of this input. */

import { formOf } from "../actions/marks.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { byCodePoints } from "./events.ts";
import type { Store } from "./store.ts";

/** Another id that is written almost like one of the input. */
export interface Near {
  readonly subject: string;
  /** Where it stands in this input; undefined where it was accepted. */
  readonly row: number | undefined;
}

/**
 * @param subjects of this input, which the ledger does not know.
 * @param hasOdd some id of this input differs from its normal form.
 */
export async function nearTo(
  subjects: readonly string[],
  {
    store,
    ledger,
    hasOdd,
  }: { readonly store: Store; readonly ledger: Pick<Ledger, "near"> | undefined; readonly hasOdd: boolean },
): Promise<ReadonlyMap<string, Near>> {
  const near = new Map<string, Near>();
  if (subjects.length === 0) return near;
  const forms = [...new Set(subjects.map(formOf))].sort(byCodePoints);
  const accepted = new Map(((await ledger?.near(forms)) ?? []).map(({ normal, subject }) => [normal, subject]));
  if (accepted.size === 0 && !hasOdd) return near;
  const here = "SELECT subject, row FROM odd WHERE form = ? AND subject <> ? ORDER BY row LIMIT 1";
  for (const subject of subjects) {
    const form = formOf(subject);
    const other = accepted.get(form);
    if (other !== undefined && other !== subject) near.set(subject, { subject: other, row: undefined });
    else if (hasOdd) {
      const found = store.get<Near>(here, form, subject);
      if (found !== undefined) near.set(subject, found);
    }
  }
  return near;
}
