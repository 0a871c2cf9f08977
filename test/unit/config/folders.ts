import { type Config, loadConfig } from "../../../src/config/config.ts";
import { type Environment, type EnvironmentFlags, resolveEnvironment } from "../../../src/config/environment.ts";
import { openFolders as openFiles } from "../../support/config-files.ts";

/** How an environment is chosen. */
export interface Choice {
  readonly envFlag?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly flags?: EnvironmentFlags;
}

/** A project folder and a home of its own, whose config can be loaded. */
export async function openFolders(files: Readonly<Record<string, string>> = {}) {
  const folders = await openFiles(files);
  const { cwd, home } = folders;
  const load = (env: NodeJS.ProcessEnv = {}, configFlag?: string): Promise<Config> =>
    loadConfig({ cwd, env: { HOME: home, ...env }, configFlag, knownRules: ["price-invalid", "currency-unknown"] });
  return {
    ...folders,
    load,
    resolve: async (choice: Choice): Promise<Environment> =>
      resolveEnvironment(await load(choice.env), { ...choice, env: { HOME: home, ...choice.env } }),
  };
}
