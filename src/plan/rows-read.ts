/** What the rows of all inputs came to. */

import type { ActionName } from "../actions/actions.ts";
import { NO_RUN } from "../actions/rejects-columns.ts";
import type { InputFile } from "../read/input-file.ts";
import type { Span } from "./verdicts.ts";

/** An input as it was read. */
export interface ReadInput {
  readonly name: string;
  readonly path: string;
  /** How its rows are written; `cells` for tables. */
  readonly format: "cells" | "ndjson" | "json";
  readonly compression: InputFile["compression"];
  readonly bytes: number;
  readonly sha256: string;
  readonly rows: number;
  readonly encoding: string;
  readonly delimiter: string | undefined;
  readonly headerLine: number | undefined;
  readonly header: readonly string[] | undefined;
  readonly readAs: string;
  readonly isSource: boolean;
}

/** What the rows came to. */
export class RowsRead {
  readonly inputs: ReadInput[] = [];
  read = 0;
  skipped = 0;
  invalid = 0;
  readonly skipReasons = new Map<string, number>();
  /** Rows that give their event and nothing else, by the reason for the latter. */
  readonly eventOnlyReasons = new Map<string, number>();
  readonly spans = new Map<ActionName, Span>();
  /** By which ids tickets are resold. */
  readonly resoldBy = new Set<string>();
  /** Some subject differs from its normal form. */
  hasOdd = false;
  /** Some rows are from rejects: these say where they were first read. */
  hasPositions = false;
  /** The runs that positions name. */
  readonly runs = new RunNames();
  /** Rows behind the limit were left out. */
  isCut = false;
  /** What is said of a file as a whole is an error, or part of one can't be read as rows: no allowance helps. */
  isUnfit = false;
}

/** The ids of runs by their numbers. */
export class RunNames {
  readonly #ids = new Map<number, string>([[0, NO_RUN]]);
  readonly #numbers = new Map<string, number>([[NO_RUN, 0]]);
  #unknown = 0;

  note(number: number, id: string): void {
    this.#ids.set(number, id);
    this.#numbers.set(id, number);
  }

  idOf(number: number): string {
    return this.#ids.get(number) ?? NO_RUN;
  }

  numberOf(id: string): number | undefined {
    return this.#numbers.get(id);
  }

  get nextUnknown(): number {
    this.#unknown -= 1;
    return this.#unknown;
  }
}
