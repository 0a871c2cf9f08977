import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { REPORT_MARK, reportPage } from "../../../../src/write/report/page.ts";
import type { Block, Report } from "../../../../src/write/report/report.ts";
import { sendingTimes } from "../../../../src/write/report/sending-times.ts";

/** A report that has the text wherever a text can stand. */
function reportOf(text: string): Report {
  const times = sendingTimes([
    { actions: 5, from: 0, to: 900, class: text },
    { actions: 5, from: 1000, to: 1900, class: "answered" },
  ]);
  if (times === undefined) throw new Error("there was a request");
  const inner: readonly Block[] = [
    { kind: "text", text },
    {
      kind: "table",
      caption: text,
      columns: [{ name: text }, { name: text, isNumber: true }],
      rows: [[text, text]],
      more: text,
    },
    { kind: "bars", title: text, bars: [{ name: text, value: 3, problems: 1 }], more: text },
    { kind: "times", times },
  ];
  return {
    title: text,
    made: text,
    verdict: { tone: "good", text, lines: [text], commands: [{ lead: text, command: text }] },
    tiles: [{ name: text, value: 3, tone: "good", leadsTo: [] }],
    sections: [
      { id: "one", title: text, isFolded: true, blocks: inner },
      { id: "two", title: text, blocks: [{ kind: "group", tone: "bad", title: text, lines: [text], small: text }] },
    ],
  };
}

const PLAIN = "plain";
const tagsOf = (page: string): readonly string[] => page.match(/<[^>]*>/g) ?? [];
/** The elements, without what stands in attributes that hold a text. */
const bare = (page: string): string =>
  tagsOf(page)
    .map((tag) => tag.replace(/ aria-label="[^"]*"/, ""))
    .join("");

describe("the page of a report", () => {
  it("has the same elements and attributes whatever the texts in it are", () => {
    const expected = bare(reportPage(reportOf(PLAIN)));
    const nasty = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "<script>alert(1)</script>",
        '" onload="alert(1)',
        "' onload='x'",
        "--></style><script>",
        "&lt;b&gt;",
        "\u202egnp.exe",
        "javascript:alert(1)",
        "]]><svg onload=x>",
      ),
    );
    fc.assert(
      // A line end makes no element; what it separates does not matter here.
      fc.property(nasty, (text) => bare(reportPage(reportOf(text))) === expected),
      { numRuns: 40 },
    );
  });

  it("shows what it was given, and no character that steers or hides", () => {
    const page = reportPage(reportOf("a<b> & \u202e \u0000 \u200b 'c' \"d\""));
    expect(page).toContain("a&lt;b&gt; &amp;");
    expect(page).toContain("&#39;c&#39; &quot;d&quot;");
    expect(page).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  });

  it("begins with the mark by which an earlier report is known", () => {
    expect(reportPage(reportOf(PLAIN)).startsWith(REPORT_MARK)).toBe(true);
  });

  it("allows its own style and nothing else", () => {
    const page = reportPage(reportOf(PLAIN));
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? "";
    const digest = createHash("sha256").update(style).digest("base64");
    expect(page).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'">`,
    );
    expect(
      tagsOf(page).filter((tag) => /^<(?:script|link|img|iframe|object|base|form)|\sstyle=|\son\w+=|\ssrc=/.test(tag)),
    ).toEqual([]);
    expect(page.match(/https?:|\/\/|url\(|@import/g)).toBeNull();
  });
});
