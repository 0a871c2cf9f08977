/** The commands that lead on, as they are typed. */

import { inShell } from "../actions/text.ts";
import type { Environment } from "../config/environment.ts";
/**
 * What a command that is told to people names the environment with. Such a command ends its line, after a colon, so that it
 * can be copied: what is said after it begins a new line.
 */
export const environmentFlags = ({ named }: Pick<Environment, "named">): string => named.map(inShell).join(" ");
