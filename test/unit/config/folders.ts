import { type Config, loadConfig } from "../../../src/config/config.ts";
import { openFolders as openFiles } from "../../support/config-files.ts";

/** A project folder and a home of its own, whose config can be loaded. */
export async function openFolders(files: Readonly<Record<string, string>> = {}) {
  const folders = await openFiles(files);
  const { cwd, home } = folders;
  return {
    ...folders,
    load: (env: NodeJS.ProcessEnv = {}, configFlag?: string): Promise<Config> =>
      loadConfig({ cwd, env: { HOME: home, ...env }, configFlag, knownRules: ["price-invalid", "currency-unknown"] }),
  };
}
