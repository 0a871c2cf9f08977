/** A terminal session as a page shows it, drawn as SVG. */

import { wrapLines } from "../src/commands/layout.ts";

const COLUMNS = 100;
/** In pixels. Every line is as long as its characters are many, whichever monospaced font the reader has. */
const CHARACTER = 8.4;
const LINE = 20;
const MARGIN = 20;
const BAR = 34;
/** Above a command that follows what another one printed. */
const GAP = 12;

interface Colours {
  readonly paper: string;
  readonly bar: string;
  readonly edge: string;
  readonly text: string;
  readonly prompt: string;
  readonly warning: string;
  readonly error: string;
}

const THEMES = {
  light: {
    paper: "#ffffff",
    bar: "#eff1f4",
    edge: "#d0d7de",
    text: "#1f2328",
    prompt: "#0a6b2d",
    warning: "#8a5a00",
    error: "#c5221f",
  },
  dark: {
    paper: "#0d1117",
    bar: "#1b212a",
    edge: "#3d444d",
    text: "#e6edf3",
    prompt: "#56d364",
    warning: "#e3b341",
    error: "#ff7b72",
  },
} as const satisfies Readonly<Record<string, Colours>>;

/** The lines of a `console` block, as a terminal of 100 columns breaks them. */
const linesOnScreen = (session: string): readonly string[] =>
  session
    .trimEnd()
    .split("\n")
    .flatMap((line) => (isCommand(line) ? [line] : wrapLines(line, COLUMNS).split("\n")));

/** `title` says in a sentence what is to be seen, for those who can't see it. */
export function terminalPicture(session: string, title: string, theme: keyof typeof THEMES): string {
  const colours = THEMES[theme];
  const lines = linesOnScreen(session);
  const width = Math.ceil(COLUMNS * CHARACTER + 2 * MARGIN);
  const gapsAbove = lines.map(
    (_line, at) => lines.slice(1, at + 1).filter((line, before) => isCommand(line) && !isCommand(lines[before])).length,
  );
  const height = BAR + lines.length * LINE + (gapsAbove.at(-1) ?? 0) * GAP + 2 * MARGIN - 4;
  const dots = [0, 1, 2].map((at) => `<circle cx="${MARGIN + 4 + at * 20}" cy="${BAR / 2}" r="6"/>`).join("");
  const texts = lines.map((line, at) =>
    textOf(line, BAR + MARGIN + 10 + at * LINE + (gapsAbove[at] ?? 0) * GAP, colours),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">${escaped(title)}</title>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="${colours.paper}" stroke="${colours.edge}"/>
<path d="M0.5 ${BAR}V10.5a10 10 0 0 1 10-10H${width - 10.5}a10 10 0 0 1 10 10V${BAR}z" fill="${colours.bar}" stroke="${colours.edge}"/>
<g fill="${colours.edge}">${dots}</g>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${colours.text}" style="white-space: pre">
${texts.join("\n")}
</g>
</svg>
`;
}

function textOf(line: string, y: number, { prompt, warning, error }: Colours): string {
  const length = ([...line].length * CHARACTER).toFixed(1);
  const [, mark = "", rest = ""] = /^(\$ |warning: |error: )?(.*)$/u.exec(line) ?? [];
  const colour = mark === "" ? undefined : { "$ ": prompt, "warning: ": warning, "error: ": error }[mark];
  const marked = colour === undefined ? "" : `<tspan fill="${colour}">${mark}</tspan>`;
  return `<text x="${MARGIN}" y="${y}" textLength="${length}" xml:space="preserve">${marked}${escaped(rest)}</text>`;
}

const isCommand = (line = ""): boolean => line.startsWith("$ ");

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
