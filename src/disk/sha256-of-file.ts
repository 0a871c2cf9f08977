import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/**
 * Hex SHA-256 of a file, or of a part of it.
 *
 * @param range `end` is the last byte of it.
 */
export async function sha256OfFile(path: string, range: { start?: number; end?: number } = {}): Promise<string> {
  const digest = createHash("sha256");
  for await (const block of createReadStream(path, range)) digest.update(block);
  return digest.digest("hex");
}
