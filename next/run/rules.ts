/** The rules of all checks. */

import { ALL_RULES as RULES_OF_TODAY } from "../../src/run/rules.ts";
import { PLAN_RULES } from "../plan/rules.ts";

export const ALL_RULES = { ...RULES_OF_TODAY, ...PLAN_RULES };

/** Ids of all rules, for the config's `rules`. */
export const KNOWN_RULES: readonly string[] = Object.keys(ALL_RULES);
