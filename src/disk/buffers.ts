/** Bytes, and the memory outside of V8's heap that holds them. */

/**
 * Gives back memory that nobody looks at any more; only where nothing else shares it. V8 sees how small the object is
 * and not what it holds, so it would keep hundreds of them before it collects any.
 */
export function free(view: ArrayBufferView): void {
  // An empty one may have been given back before.
  if (view.byteLength > 0 && isOwn(view)) view.buffer.transfer(0);
}

/** Whether nothing else shares its memory. A small Buffer is a part of one that Node shares out; what zlib fills has a byte more (block.ts). */
const isOwn = <T extends ArrayBufferView>(view: T): view is T & { readonly buffer: ArrayBuffer } =>
  view.buffer instanceof ArrayBuffer && view.buffer.byteLength <= view.byteLength + 1;

/** The same memory as a Buffer. */
export const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
