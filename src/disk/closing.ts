/** Files that stay open for whoever asked for them, unless that fails. */

/** What `work` makes of an open file; where it fails, the file is closed. Node ends a process that leaves one to the garbage. */
export async function orClosed<T>(file: { readonly close: () => Promise<void> }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    await file.close().catch(() => undefined);
    throw cause;
  }
}
