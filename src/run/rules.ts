/** The rules of all checks. */

import { allRules } from "../check/rules.ts";
import { MAPPING_RULES } from "../map/rules.ts";
import { PLAN_RULES } from "../plan/rules.ts";
import { INPUT_RULES, READER_RULES } from "../read/rules.ts";

export const ALL_RULES = allRules(READER_RULES, INPUT_RULES, MAPPING_RULES, PLAN_RULES);

/** Ids of all rules, for the config's `rules`. */
export const KNOWN_RULES: readonly string[] = Object.keys(ALL_RULES);
