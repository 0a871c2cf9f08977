/** cosmiconfig as this tool uses it: it finds and loads data, runs nothing, and obeys no folder's settings. */

import { cosmiconfig, defaultLoaders, type Loader, type PublicExplorer } from "cosmiconfig";

/** The name that configs bear, and their key in a package.json. */
export const MODULE_NAME = "tickets";

/**
 * Finds a config among `places` of the one folder that is searched, and loads a config whose path is known; `load` reads
 * its text, of whatever ending. Every other ending that cosmiconfig has a loader for, scripts above all, is refused.
 */
export function openExplorer(places: readonly string[], load: Loader): PublicExplorer {
  const endings = Object.keys(defaultLoaders);
  return withoutMetaConfig(() =>
    cosmiconfig(MODULE_NAME, {
      searchPlaces: [...places],
      searchStrategy: "none",
      ignoreEmptySearchPlaces: false, // an empty file is an empty config
      loaders: Object.fromEntries(endings.map((ending) => [ending, DATA.has(ending) ? load : refuse])),
      cache: false,
    }),
  );
}

const DATA: ReadonlySet<string> = new Set([".yaml", ".yml", ".json", "noExt"]);

const refuse: Loader = (file) => {
  throw new Error(`${file} is not a data file`);
};

/**
 * `cosmiconfig()` looks for settings of its own in `process.cwd()`: it runs `.config/config.js` and obeys the key `cosmiconfig`
 * of a package.json, and no option prevents it. So it is opened as if the working directory were the folder of this
 * file. It holds no such settings, and whoever could put some there could change this program as well.
 * It looks before it returns, so nothing else sees the other folder. `process.chdir` would mislead everything that is being
 * read by a relative path, fails in a worker, and may find no way back.
 */
function withoutMetaConfig<T>(open: () => T): T {
  const { cwd } = process;
  process.cwd = () => import.meta.dirname;
  try {
    return open();
  } finally {
    process.cwd = cwd;
  }
}
