/** The cells of a row, found sixteen bytes at a time by 128-bit instructions of WebAssembly. */

import { compileModule, instantiate } from "../../actions/wasm.ts";
import type { RowMemory } from "../candidates/row-memory.ts";
import { ASKING, type Cells, KINDS } from "./cells.ts";
import {
  BLANK,
  CELLS,
  FOUND,
  KINDS_FROM,
  LINE_ENDS,
  NEXT,
  NOT_WHOLE,
  ONES,
  TABLE_ASKING,
  TABLES,
  WIDTH,
  wideCellsModule,
} from "./wide-cells-module.ts";

/** Compiled once. */
let module: object | undefined;

/** Undefined where this memory, machine or Node has no such instructions. */
export function createWideCells(
  memory: RowMemory,
  columns: number,
  delimiter: number,
  quote: number,
): Cells | undefined {
  if (memory.lanes === undefined) return undefined;
  try {
    module ??= compileModule(wideCellsModule());
    return new WideCells(memory, instantiate(module, "scan", memory.lanes.memory), { columns, delimiter, quote });
  } catch {
    return undefined;
  }
}

/** Bytes of a cell's beginning, end and kinds. */
const BYTES_PER_CELL = 4 + 4 + 2;
const WORD = 4;

class WideCells implements Cells {
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly flags: Uint16Array;
  next = 0;
  nextLine = 0;
  isBlank = false;
  readonly #found: Int32Array;
  readonly #scan: (at: number, end: number) => void;

  constructor(
    memory: RowMemory,
    run: (...numbers: readonly number[]) => void,
    { columns, delimiter, quote }: { readonly columns: number; readonly delimiter: number; readonly quote: number },
  ) {
    const { bytes } = memory;
    const { buffer, byteOffset } = bytes;
    const out = memory.allot(CELLS + columns * BYTES_PER_CELL);
    const cells = byteOffset + out + CELLS;
    this.from = new Int32Array(buffer, cells, columns);
    this.to = new Int32Array(buffer, cells + WORD * columns, columns);
    this.flags = new Uint16Array(buffer, cells + 2 * WORD * columns, columns);
    this.#found = new Int32Array(buffer, byteOffset + out, KINDS_FROM / WORD);
    for (let byte = 0; byte < TABLES * WIDTH; byte += 1) bytes[out + KINDS_FROM + byte] = inTable(KINDS[byte] ?? 0);
    bytes.fill(0xff, out + ONES, out + ONES + WIDTH);
    bytes.fill(0, out + ONES + WIDTH, out + CELLS);
    const closing = quote === -1 ? delimiter : quote; // a cell that none opens has none
    this.#scan = (at, end) => run(at, end, columns, out, delimiter, quote, closing);
  }

  scan(at: number, end: number, line: number): boolean {
    this.#scan(at, end);
    const found = this.#found;
    const status = found[FOUND / WORD];
    this.isBlank = status === BLANK;
    this.next = found[NEXT / WORD] as number; // within its length
    this.nextLine = line + (found[LINE_ENDS / WORD] as number); // likewise
    return status !== NOT_WHOLE;
  }
}

const inTable = (kinds: number): number => ((kinds & ASKING) === 0 ? kinds : (kinds & ~ASKING) | TABLE_ASKING);
