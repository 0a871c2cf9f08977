/** After a commit its change is on disk, and what a checkpoint moves is there before its place in the log is used again. */
export const DURABLE = "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;";
