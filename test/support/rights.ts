/** Running a command as someone who may read and write only what the file modes say, which root need not heed. */

import { spawnSync } from "node:child_process";

const DROP = ["--bounding-set", "-dac_override,-dac_read_search"];

/** For `RunOptions.shell`; undefined where it can't be done: for root without setpriv, or without the right to drop rights. */
export const BY_MODES_ONLY: string | undefined =
  process.getuid?.() !== 0
    ? '"$@"'
    : spawnSync("setpriv", [...DROP, "true"]).status === 0
      ? `exec setpriv ${DROP.join(" ")} "$@"`
      : undefined;
