/** The same content in two inputs, whatever their names and however they are packed. */

import { Failure } from "../failure.ts";
import type { FileFinding } from "../map/rules.ts";
import { type InputFile, shownName } from "../read/input-file.ts";

interface Seen {
  readonly file: InputFile;
  readonly readAs: string;
}

export class ContentsSeen {
  readonly #seen = new Map<string, Seen[]>();

  /**
   * A file beside its packed form is one file given twice. Under another name it may be a copy, or another night's file that
   * says the same: for actions that happen once or have a time, that makes no difference; for others it does.
   *
   * @param file read to its end; it has rows.
   * @param readAs what its rows are read as; "" where they say it themselves.
   * @throws Failure `usage` where an earlier one is the same file, packed or not.
   */
  note(file: InputFile, contentSha256: string | undefined, readAs: string): readonly FileFinding[] {
    if (contentSha256 === undefined || file.isRejects === true) return [];
    const same = this.#seen.get(contentSha256) ?? [];
    const alike = same.filter((each) => each.readAs === readAs || each.readAs === "" || readAs === "");
    const packed = alike.find((each) => unpackedName(each.file) === unpackedName(file));
    if (packed !== undefined)
      throw new Failure("usage", `${shownName(file)} has the same content as ${nameWithin(packed.file)}.`, {
        hint: "Give only one of them: the same rows would be sent twice.",
      });
    this.#seen.set(contentSha256, [...same, { file, readAs }]);
    return alike.slice(0, 1).map((twin) => ({
      rule: "input-twice",
      message: `The input is the same as ${nameWithin(twin.file)}, byte for byte.`,
      hint: "What both say is sent once, unless a rule takes something from the file's name. Leave a copy out. If the same happened twice, give the rows times or their source a key.",
    }));
  }
}

const unpackedName = ({ path }: InputFile): string => path.replace(/\.(?:gz|zst)$/i, "");

/** A file's name within a sentence. */
const nameWithin = (file: InputFile): string => (file.name === "-" ? "standard input" : shownName(file));
