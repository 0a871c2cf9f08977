/** The same content in two inputs of one run, whatever their names and however they are packed. */

import { Failure } from "../../failure.ts";
import type { ContentFinding } from "../../readers/content.ts";
import type { Input } from "../../readers/input.ts";
import { shownName } from "../../readers/names.ts";

/** Notes what the inputs of a run hold. */
export interface ContentsSeen {
  /**
   * A file beside its packed form is one file given twice. Under another name it may be a copy, or another night's file that
   * says the same. For deeds that happen once or have a time, that makes no difference; for others it does.
   *
   * @param input read to its end; it has rows.
   * @param readAs what its rows are read as: the same bytes may mean other deeds in another file. "" where the rows say it
   * themselves.
   * @returns a finding where an earlier input has the same content and means the same.
   * @throws Failure `usage` where that one is the same file, packed or not.
   */
  note(input: Pick<Input, "file" | "contentSha256">, readAs: string): readonly ContentFinding[];
}

export function createContentsSeen(): ContentsSeen {
  const seen = new Map<string, { readonly file: Input["file"]; readonly readAs: string }[]>();
  return {
    note({ file, contentSha256 }, readAs) {
      // Rows of rejects are recognised by their keys, and taken once.
      if (contentSha256 === undefined || file.isRejects === true) return [];
      const same = seen.get(contentSha256) ?? [];
      const alike = same.filter((each) => each.readAs === readAs || each.readAs === "" || readAs === "");
      const packed = alike.find((each) => unpackedName(each.file) === unpackedName(file));
      if (packed !== undefined)
        throw new Failure("usage", `${shownName(file)} has the same content as ${nameWithin(packed.file)}.`, {
          hint: "Give only one of them: the same rows would be sent twice.",
        });
      seen.set(contentSha256, [...same, { file, readAs }]);
      const [twin] = alike;
      if (twin === undefined) return [];
      return [
        {
          rule: "input-twice",
          line: 1,
          message: `The input is the same as ${nameWithin(twin.file)}, byte for byte.`,
          hint: "If it is a copy, give only one of them: of updates, and of scans without times, each is sent.",
        },
      ];
    },
  };
}

const unpackedName = ({ path }: Input["file"]): string => path.replace(/\.(?:gz|zst)$/i, "");

/** A file's name within a sentence. */
const nameWithin = (file: Input["file"]): string => (file.name === "-" ? "standard input" : shownName(file));
