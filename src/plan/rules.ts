import { rulesOf } from "../actions/rules.ts";

/** What the plan says of actions beside what was accepted, and of sources that are not what they were. */
export const PLAN_RULES = rulesOf("warn", {
  changed: {
    reason: "An accepted action is not sent again, but the input now says something else about it.",
    example: "a soldTicket whose price differs from the one that was accepted",
  },
  late: {
    reason: "Updates, resales and claims overwrite, so an older one is not sent after a newer one was accepted.",
    example: "an updateTicket row inserted before one that was accepted yesterday",
  },
  unclear: {
    reason: "Neither a time nor a key says whether the action is an accepted one, so it is not sent on a guess.",
    example: "updateTicket A, B and A again, without a key",
  },
  "times-fall": {
    severity: "error",
    reason: "Resales or claims of one ticket whose times fall within one input would be sent in the wrong order.",
    example: "an export that begins with the newest resale",
  },
  "mapping-changed": {
    severity: "error",
    reason: "Made in another way, the ids, times or keys of a source would make accepted actions look new.",
    example: 'ticketId: "{Event}-{Position}", which was "{Order}-{Position}"',
  },
  "nothing-recognised": {
    severity: "error",
    reason: "Most rows of the source were known on its last two nights, and now almost none are.",
    example: "an export in another time zone",
  },
});
