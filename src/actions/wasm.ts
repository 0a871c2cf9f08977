/** WebAssembly written instruction by instruction, so that nothing but a file of ours has to be read; and its use. */

export type Code = readonly number[];

/** Numbers as WebAssembly has them (LEB128). */
export function unsigned(value: number): Code {
  const bytes: number[] = [];
  for (let rest = value; ; ) {
    const byte = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest === 0 ? byte : byte | 0x80);
    if (rest === 0) return bytes;
  }
}

function signed(value: number): Code {
  const bytes: number[] = [];
  for (let rest = value | 0; ; ) {
    const byte = rest & 0x7f;
    rest >>= 7;
    const isLast = (rest === 0 && (byte & 0x40) === 0) || (rest === -1 && (byte & 0x40) !== 0);
    bytes.push(isLast ? byte : byte | 0x80);
    if (isLast) return bytes;
  }
}

export const list = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const section = (id: number, body: Code): Code => [id, ...unsigned(body.length), ...body];
const name = (text: string): Code => [...unsigned(text.length), ...Buffer.from(text)];

export const I32 = 0x7f;
export const V128 = 0x7b;
export const END = 0x0b;
export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number): Code => [0x21, ...unsigned(local)];
export const tee = (local: number): Code => [0x22, ...unsigned(local)];
export const constant = (value: number): Code => [0x41, ...signed(value)];
export const I32_ADD: Code = [0x6a];
export const I32_SUB: Code = [0x6b];
export const LOOP: Code = [0x03, 0x40];
export const AGAIN_IF: Code = [0x0d, 0];
export const BLOCK: Code = [0x02, 0x40];
/** Unsigned. */
export const AT_LEAST: Code = [0x4f];

/** Instructions of 128 bits. */
export const wide = (operation: number): Code => [0xfd, ...unsigned(operation)];
export const load = (offset: number): Code => [...wide(0x00), 0, ...unsigned(offset)];
export const store = (offset: number): Code => [...wide(0x0b), 0, ...unsigned(offset)];

/**
 * A module of one function without a result, which works on the memory `own.memory`.
 *
 * @param parameters how many numbers it takes.
 * @param data what its memory begins with.
 */
export function moduleOf(called: string, parameters: number, body: Code, data: Code = []): Uint8Array {
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list([[0x60, ...list(Array.from({ length: parameters }, () => [I32])), 0]])),
    ...section(2, list([[...name("own"), ...name("memory"), 0x02, 0, 1]])),
    ...section(3, list([[0]])),
    ...section(7, list([[...name(called), 0, 0]])),
    ...section(10, list([[...unsigned(body.length), ...body]])),
    ...(data.length === 0 ? [] : section(11, list([[0, ...constant(0), END, ...unsigned(data.length), ...data]]))),
  ]);
}

/** What is used of it; the language's own types don't have it. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WideMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: Readonly<Record<string, unknown>> };
};

const PAGE_BYTES = 64 * 1024;

/** Throws where this machine or this Node has no such instructions. */
export const compileModule = (module: Uint8Array): object => new WebAssembly.Module(module);

/** Memory of modules, whose size stays as it is. */
export interface WideMemory {
  readonly buffer: ArrayBuffer;
}

/** @param size in bytes, at least. */
export function createWideMemory(size: number): WideMemory {
  const pages = Math.ceil(size / PAGE_BYTES);
  return new WebAssembly.Memory({ initial: pages, maximum: pages });
}

/** The module's function. */
export function instantiate(
  module: object,
  called: string,
  memory: WideMemory,
): (...numbers: readonly number[]) => void {
  const { exports } = new WebAssembly.Instance(module, { own: { memory } });
  return exports[called] as (...numbers: readonly number[]) => void; // as `moduleOf` has it
}
