import { userInfo } from "node:os";

/** Who runs this process. A container's bare user id has no name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}
