/** Bringing to the disk what the system may still hold back. */

import { open } from "node:fs/promises";

/** Makes a rename or a new file in `directory` survive a power cut. */
export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, "r");
  await handle.sync();
}
