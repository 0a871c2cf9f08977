import { describe, expect, it } from "vitest";
import { ACTION_NAMES, ACTIONS, acceptedFields, actionSpec, isActionName } from "../../../src/actions/actions.ts";
import { FIELD_NAMES, fieldSpec, isFieldName, isPublic } from "../../../src/actions/fields.ts";

// Written by hand from the specification, so that a slip in the tables has something to differ from.
const ON_CHAIN =
  "eventName currency shopUrl coverImageUrl latitude longitude startTime endTime ticketId price orderTime to metadataAttributes name description";
const OFF_CHAIN =
  "eventId coverMediaUrl defaultNftImageUrl defaultNftMediaUrl callbackUrl userId nftId imageUrl mediaUrl metadataTemplateId";
const BLANK = "eventName shopUrl coverImageUrl coverMediaUrl defaultNftImageUrl defaultNftMediaUrl imageUrl mediaUrl";
const ZERO = "latitude longitude startTime endTime";
const LENGTHS: Record<string, number> = {
  eventId: 255,
  eventName: 255,
  shopUrl: 255,
  coverImageUrl: 255,
  coverMediaUrl: 255,
  defaultNftImageUrl: 255,
  defaultNftMediaUrl: 255,
  callbackUrl: 255,
  ticketId: 255,
  userId: 255,
  imageUrl: 255,
  mediaUrl: 255,
  name: 128,
  description: 10240,
};
const EVENT_OPTIONAL =
  "eventName shopUrl coverImageUrl coverMediaUrl defaultNftImageUrl defaultNftMediaUrl latitude longitude startTime endTime callbackUrl";
const ACTION_TABLE: Record<string, { required: string; exclusive?: boolean; anyOf?: string; optional: string }> = {
  newEvent: { required: "eventId currency", optional: EVENT_OPTIONAL },
  updateEvent: { required: "eventId", optional: `currency ${EVENT_OPTIONAL}` },
  soldTicket: {
    required: "eventId ticketId userId price",
    optional: "imageUrl mediaUrl orderTime to metadataAttributes name description",
  },
  updateTicket: { required: "", exclusive: true, optional: "imageUrl mediaUrl metadataAttributes" },
  resoldTicket: { required: "userId price", exclusive: true, optional: "orderTime to" },
  scannedTicket: { required: "", exclusive: true, optional: "orderTime" },
  checkedInTicket: { required: "", exclusive: true, optional: "orderTime" },
  claimedTicket: { required: "", exclusive: true, anyOf: "to userId", optional: "orderTime" },
  invalidatedTicket: { required: "", exclusive: true, optional: "orderTime" },
};

const sorted = (names: string | readonly string[]): readonly string[] =>
  (typeof names === "string" ? names.split(" ") : [...names]).filter((name) => name !== "").sort();

describe("the field table", () => {
  it("has the fields of the specification", () => {
    expect(sorted([...FIELD_NAMES])).toEqual(sorted(`${ON_CHAIN} ${OFF_CHAIN}`));
  });

  it("says of each whether it is public, as the specification does", () => {
    expect(sorted(FIELD_NAMES.filter((name) => isPublic(name)))).toEqual(sorted(ON_CHAIN));
    expect(FIELD_NAMES.filter((name) => fieldSpec(name).onChain === "as SHA-256 hash")).toEqual(["ticketId"]);
  });

  it("has the defaults of the specification", () => {
    expect(sorted(FIELD_NAMES.filter((name) => fieldSpec(name).default === ""))).toEqual(sorted(BLANK));
    expect(sorted(FIELD_NAMES.filter((name) => fieldSpec(name).default === 0))).toEqual(sorted(ZERO));
  });

  it("has the lengths of the specification", () => {
    const lengths = FIELD_NAMES.flatMap((name) => {
      const { maxLength } = fieldSpec(name);
      return maxLength === undefined ? [] : [[name, maxLength] as const];
    });
    expect(Object.fromEntries(lengths)).toEqual(LENGTHS);
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "eventid", ""])("has no field %j", (name) => {
    expect(isFieldName(name)).toBe(false);
    expect(isActionName(name)).toBe(false);
  });
});

describe("the action table", () => {
  it("has the actions of the specification", () => {
    expect(sorted(ACTION_NAMES)).toEqual(sorted(Object.keys(ACTION_TABLE)));
  });

  it.each(ACTION_NAMES)("has the fields of %s as the specification gives them", (action) => {
    const { required, exclusive, anyOf, optional } = actionSpec(action);
    const expected = ACTION_TABLE[action];
    expect(sorted([...required])).toEqual(sorted(expected?.required ?? ""));
    expect([...exclusive]).toEqual(expected?.exclusive === true ? ["ticketId", "nftId"] : []);
    expect(sorted([...anyOf])).toEqual(sorted(expected?.anyOf ?? ""));
    expect(sorted([...optional])).toEqual(sorted(expected?.optional ?? ""));
    expect(new Set(acceptedFields(action)).size).toBe(acceptedFields(action).length);
  });

  it("has no more actions than --order time has places for at one time", () => {
    expect(ACTION_NAMES.length).toBeLessThanOrEqual(16);
  });

  it("has the actions in the order of a ticket's life, which is theirs where time does not decide", () => {
    expect(ACTION_NAMES).toEqual([
      "newEvent",
      "updateEvent",
      "soldTicket",
      "updateTicket",
      "resoldTicket",
      "scannedTicket",
      "checkedInTicket",
      "claimedTicket",
      "invalidatedTicket",
    ]);
  });

  it("takes a file name for one action only", () => {
    const names = Object.values(ACTIONS).flatMap(({ fileNames }) => [...fileNames]);
    expect(new Set(names).size).toBe(names.length);
  });
});
