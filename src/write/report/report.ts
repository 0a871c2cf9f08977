/** What a report says: texts and figures, in the order in which they are read. Texts are as they are meant; the page escapes them. */

import type { SendingTimes } from "./sending-times.ts";

/** What a colour stands for; the words beside it say the same. */
export type Tone = "good" | "known" | "plain" | "warning" | "doubt" | "bad";

export interface Report {
  /** The result in one line. */
  readonly title: string;
  /** When, where and by what it was made. */
  readonly made: string;
  readonly tiles: readonly Tile[];
  readonly verdict: Verdict;
  readonly sections: readonly Section[];
}

/** A figure at the top. */
export interface Tile {
  readonly name: string;
  readonly value: number;
  readonly tone: Tone;
  /** Ids of sections that say more, the best first; where the page has none of them, its last section does. */
  readonly leadsTo: readonly string[];
}

export interface Verdict {
  readonly tone: Tone;
  readonly text: string;
  /** What else there is to know at once. */
  readonly lines: readonly string[];
  readonly commands: readonly Command[];
}

/** A command that a person may type next. */
export interface Command {
  readonly lead: string;
  readonly command: string;
}

export interface Section {
  /** Of its heading, to be linked to. */
  readonly id: string;
  readonly title: string;
  /** Closed until somebody opens it. */
  readonly isFolded?: boolean;
  readonly blocks: readonly Block[];
}

export type Block =
  | { readonly kind: "text"; readonly text: string }
  | Table
  | Bars
  | { readonly kind: "times"; readonly times: SendingTimes }
  | Group;

export interface Table {
  readonly kind: "table";
  readonly caption: string;
  readonly columns: readonly { readonly name: string; readonly isNumber?: boolean }[];
  readonly rows: readonly (readonly string[])[];
  /** What is not listed. */
  readonly more?: string | undefined;
}

/** Amounts beside each other, to one scale. */
export interface Bars {
  readonly kind: "bars";
  readonly title: string;
  /** `problems`: how many of the amount went wrong. */
  readonly bars: readonly { readonly name: string; readonly value: number; readonly problems: number }[];
  /** What has no bar, and so no part in their scale. */
  readonly more?: string | undefined;
}

/** Something with a heading of its own, open to be read. */
export interface Group {
  readonly kind: "group";
  readonly tone: Tone;
  readonly title: string;
  readonly lines: readonly string[];
  /** What only some readers need. */
  readonly small: string;
}
