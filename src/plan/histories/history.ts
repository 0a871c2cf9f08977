/** A history holds the deeds of one kind of one ticket or event (docs/guarantees.md, Histories): what is known of them, and what becomes of them. */

export interface HistoryDeed {
  /** Everything it says, as a digest: equal for two deeds that say the same. */
  readonly content: string;
  /** Called only where the contents do not decide. */
  readonly said: () => Said;
}

export interface Said {
  readonly time: bigint | undefined;
  /** The content without the time; for a deed without a time, its content. */
  readonly rest: string;
  /** For a resale, the user it goes to, which names it whatever else differs. Undefined for other deeds. */
  readonly holder: string | undefined;
}

/** What names a deed beside its time. */
export const namingOf = ({ holder, rest }: Said): string => holder ?? rest;

/** A deed that the service was asked for. */
export interface KnownDeed extends HistoryDeed {
  /** `pending`: it may yet turn out to be accepted. */
  readonly state: "accepted" | "rejected" | "pending";
  /** Number of its run. */
  readonly run: number;
  /** Whether that was an `--again`. */
  readonly isAgain: () => boolean;
}

/** A deed of the input. */
export type InputDeed =
  | (HistoryDeed & {
      readonly isTimed: boolean;
      /**
       * For a row from a rejects file whose deed may come too late: how many of the known deeds were sent before it was
       * rejected. Undefined where the ledger does not know the row.
       */
      readonly after?: number | undefined;
      /** Likewise: the known deed as which it was sent and rejected. */
      readonly asked?: number | undefined;
      /** Likewise: those of these deeds that are later than it nevertheless, since they stood behind its row. */
      readonly behind?: ReadonlySet<number> | undefined;
      /** Likewise: those of these deeds of which nobody knows whether they are later; for a scan, whether it is one of them. */
      readonly unplaced?: ReadonlySet<number> | undefined;
      /** Likewise: known deeds that were accepted for just this action of its row when that was mended. */
      readonly became?: readonly number[] | undefined;
      /** Likewise: known deeds that the service took of its row when it rejected others of that, and that this one may be. */
      readonly beside?: readonly number[] | undefined;
      /** Likewise: the run that rejected it. */
      readonly rejectedIn?: number | undefined;
      /** Likewise: by run that had it among its rejects, which row of its input it was. */
      readonly numbers?: ReadonlyMap<number, number> | undefined;
    })
  | UnknownDeed
  /** Of a row that was mended: certainly the known deed with this number. `rejectedIn`: the run that rejected the row. */
  | {
      readonly content: undefined;
      readonly is: number;
      readonly rejectedIn?: number | undefined;
      readonly numbers?: ReadonlyMap<number, number> | undefined;
    };

/** Of an invalid row: nothing is known of it, except perhaps its time. */
export interface UnknownDeed {
  readonly content: undefined;
  readonly time: bigint | undefined;
}

export const isUnknown = (deed: InputDeed): deed is UnknownDeed => deed.content === undefined && !("is" in deed);

/** What becomes of a deed of the input. `of`, `since`: number of a known deed; `before`: number of one of the input. */
export type DeedVerdict =
  /** Accepted, or pending, with just this content. */
  | { readonly kind: "old"; readonly of: number }
  /** The same deed with other content; not sent. */
  | { readonly kind: "changed"; readonly of: number }
  | { readonly kind: "new" }
  /** New, but it stands before an old one: sent now, it would undo that. With a time: before a resale without one. */
  | { readonly kind: "late"; readonly before: number }
  /** Rejected, by the service or as a bad row, and something later of its history was accepted since. */
  | { readonly kind: "superseded"; readonly since: number }
  /** New, beside a deed of which nobody knows whether it is old. */
  | { readonly kind: "held" }
  | { readonly kind: "unclear"; readonly why: WhyUnclear }
  /** Of a rejected row: nobody can tell where it stands among the accepted ones, or whether it is one of them. */
  | { readonly kind: "unplaced"; readonly why?: "undecided" }
  /** Of an invalid row, with the accepted deed in whose place it stands, if there is one. */
  | { readonly kind: "unknown"; readonly inPlaceOf: number | undefined };

/**
 * Why it can't be told what of a history was accepted:
 * - `repeats`: contents occur more than once.
 * - `times`: times came or went.
 * - `holder`: a resale may be an accepted one to the same user that is told otherwise.
 * - `rejected`: a rejected row says just what was accepted.
 * - `forms`: rows that different runs rejected may be one row, in two forms.
 * - `before unclear`: it stands before one of which it can't be told.
 */
export type WhyUnclear = "repeats" | "times" | "holder" | "rejected" | "forms" | "before unclear";

export type KnownInput = Exclude<InputDeed, { readonly content: undefined }>;
