/** A whole source for the exports of a known system, from which `tickets init` starts when it recognises a file by its headers. */

import type { SourceConfig } from "../map/source.ts";

export interface Recipe {
  /** Name of the source. */
  readonly name: string;
  /** The page that shows it. */
  readonly page: string;
  /** The system and the export, in words. */
  readonly title: string;
  /** Headers (for JSON rows: keys) that together occur in no other export. */
  readonly headers: readonly string[];
  /** What a user should know before trusting it. */
  readonly notes: readonly string[];
  readonly source: SourceConfig;
  /** Remarks about keys of the source, by their paths: `fields.eventId`, `actions.soldTicket.fields.price`. */
  readonly remarks: Readonly<Record<string, Remark>>;
}

export type Remark = { readonly note: string } | FillIn;

/** The value is an example of what no export says; `tickets init` asks for it. */
export interface FillIn {
  readonly fillIn: string;
  /** A column whose text is the value, where it is the same in all rows. */
  readonly sameIn?: string;
  /** There is one such entry for each text of this column. */
  readonly forEach?: string;
  /** The part of the value that is the example. */
  readonly part?: string;
}

export const toFillIn = (remark: Remark | undefined): FillIn | undefined =>
  remark !== undefined && "fillIn" in remark ? remark : undefined;
