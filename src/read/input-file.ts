/** The files that a command reads, and the forms that they may have. */

import { cleanText } from "../text.ts";
import type { Compression } from "./file-names.ts";

export const INPUT_FORMATS = ["csv", "tsv", "ndjson", "json"] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

/** One file to read, as the command line named it. */
export interface InputFile {
  /** Absolute, or `-` for standard input. */
  readonly path: string;
  /** As the user named it; for a glob's match the path that the glob gave. */
  readonly name: string;
  /** `detect`: standard input without `--format`; its first character decides when it is opened. */
  readonly format: InputFormat | "detect";
  readonly compression: Compression | "none";
  readonly fromGlob: boolean;
  /** Its first line shows columns of rejects: it is a rejects file, whatever it is called. */
  readonly isRejects?: boolean;
}

/** A file's name as messages show it. */
export function shownName(file: { readonly name: string }): string {
  return file.name === "-" ? "Standard input" : cleanText(file.name, 300);
}
