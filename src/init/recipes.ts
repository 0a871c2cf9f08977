/** The exports that `tickets init` recognises, and docs/recipes/ shows. */

import type { Recipe } from "./recipe.ts";
import { ACCESS_CONTROL } from "./recipes/access-control.ts";
import { ALFIO } from "./recipes/alfio.ts";
import { ATTENDIZE } from "./recipes/attendize.ts";
import { EVENTBRITE } from "./recipes/eventbrite.ts";
import { HIEVENTS } from "./recipes/hievents.ts";
import { OPENEVENT } from "./recipes/openevent.ts";
import { PRETIX } from "./recipes/pretix.ts";
import { STUBHUB } from "./recipes/stubhub.ts";
import { TICKETTAILOR } from "./recipes/tickettailor.ts";
import { TITO } from "./recipes/tito.ts";
import { WEEZTIX } from "./recipes/weeztix.ts";

/** The first whose headers a file has is taken. */
export const RECIPES: readonly Recipe[] = [
  ...PRETIX,
  ...ALFIO,
  ...HIEVENTS,
  ...EVENTBRITE,
  ...OPENEVENT,
  ...ATTENDIZE,
  ...TICKETTAILOR,
  ...WEEZTIX,
  ...TITO,
  ...ACCESS_CONTROL,
  ...STUBHUB,
];
