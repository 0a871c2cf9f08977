/** The exports of known systems, as their pages in docs/recipes/ describe them. */

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export interface Recipe {
  readonly page: string;
  /** Name of the source. */
  readonly name: string;
  /** The system and the export, in words. */
  readonly title: string;
  /** Headers (for JSON rows: keys) that together occur in no other export. */
  readonly headers: readonly string[];
  /** What a user should know before trusting it. */
  readonly notes: readonly string[];
  /**
   * The source as YAML. There `# FILL IN: what` is beside an example of what no export says, which is asked; `as {Column}`:
   * unless that column has the same text in all rows; `for each {Column}`: once for each of its texts.
   */
  readonly source: string;
}

const FOLDER = "docs/recipes";

/** Each section of a page that says by which columns its export is recognised. */
export function readRecipes(): readonly Recipe[] {
  const own = dirname(createRequire(import.meta.url).resolve("ticket-stream/package.json"));
  return readdirSync(join(own, FOLDER)).flatMap((file) => {
    const page = `${FOLDER}/${file}`;
    const [about = "", ...sections] = readFileSync(join(own, page), "utf8").split("\n## ");
    const system = about.slice("# ".length, about.indexOf("\n"));
    return sections.flatMap((section): readonly Recipe[] => {
      const [, recognised] = /^Recognised by (.*)$/m.exec(section) ?? [];
      const [, name = "", source = ""] = /^sources:\n {2}(\S+):\n(.*?)^```/ms.exec(section) ?? [];
      if (recognised === undefined) return [];
      const [heading = ""] = section.split("\n", 1);
      return [
        {
          page,
          name,
          title: `${system}, ${heading.charAt(0).toLowerCase()}${heading.slice(1)}`,
          headers: [...recognised.matchAll(/`([^`]+)`/g)].map(([, header = ""]) => header),
          notes: [...section.matchAll(/^- (.*)$/gm)].map(([, note = ""]) => note),
          source,
        },
      ];
    });
  });
}
