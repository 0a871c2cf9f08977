/** Bytes, and the memory outside of V8's heap that holds them. */

/**
 * Gives back memory that nobody looks at any more; only where nothing else shares it. V8 sees how small the object is
 * and not what it holds, so it would keep hundreds of them before it collects any.
 */
export function free({ buffer, byteLength }: ArrayBufferView): void {
  // A small Buffer is a part of one that Node shares out; an empty one may have been given back before. What zlib fills has a
  // byte more (block.ts).
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength <= byteLength + 1) buffer.transfer(0);
}

/** The same memory as a Buffer. */
export const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Whether a piece stands at a place. */
export function isAt(bytes: Uint8Array, from: number, piece: Uint8Array): boolean {
  for (let at = 0; at < piece.length; at += 1) if (bytes[from + at] !== piece[at]) return false;
  return true;
}
