/** The same content in two inputs of one run, whatever their names and however they are packed, is one file given twice. */

import { Failure } from "../../failure.ts";
import type { Input } from "../readers/input.ts";
import { shownName } from "../readers/names.ts";

/** Notes what the inputs of a run hold. */
export interface ContentsSeen {
  /**
   * @param input read to its end; it has rows.
   * @param readAs what its rows are read as: the same bytes may mean other deeds in another file. "" where they say it themselves.
   * @throws Failure `usage` where an earlier input holds the same and means the same.
   */
  note(input: Pick<Input, "file" | "contentSha256">, readAs: string): void;
}

export function createContentsSeen(): ContentsSeen {
  const seen = new Map<string, { readonly file: Input["file"]; readonly readAs: string }[]>();
  return {
    note({ file, contentSha256 }, readAs) {
      // Rows of rejects are known by their keys, and taken once.
      if (contentSha256 === undefined || file.isRejects === true) return;
      const same = seen.get(contentSha256) ?? [];
      const twin = same.find((each) => each.readAs === readAs || each.readAs === "" || readAs === "");
      if (twin !== undefined)
        throw new Failure("usage", `${shownName(file)} holds the same as ${nameWithin(twin.file)}.`, {
          hint: "Give only one of them: the same rows would be sent twice.",
        });
      seen.set(contentSha256, [...same, { file, readAs }]);
    },
  };
}

/** A file's name within a sentence. */
const nameWithin = (file: Input["file"]): string => (file.name === "-" ? "standard input" : shownName(file));
