/** A report as one HTML page that needs nothing else, no network and no script; and where it may be written. */

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, open, realpath, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { errorCode, Failure } from "../../failure.ts";
import { count, displayPath, durationText, number } from "../../text.ts";
import { requestTimes, stackedBar } from "./chart.ts";
import { Html, html, NOTHING } from "./html.ts";
import type { Bars, Block, Command, Group, Report, Section, Table, Tile } from "./report.ts";
import type { SendingTimes } from "./sending-times.ts";
import { STYLE } from "./style.ts";

/** How each of our reports begins: only a file that does is replaced. */
export const REPORT_MARK = "<!doctype html>\n<!-- a report of tickets; the next one of this name replaces it -->\n";

/** Nothing is loaded and nothing is run; only the page's own style counts. */
const POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'`;

export function reportPage(report: Report): string {
  const { title, made, verdict, tiles, sections } = report;
  const page = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<p class="made">${made}</p>
${navigation(sections)}
</header>
<main>
${tiles.length === 0 ? NOTHING : html`<ul class="tiles">${tiles.map((tile) => tileOf(tile, sections))}</ul>`}
<div class="verdict ${verdict.tone}"><p>${verdict.text}</p>${verdict.lines.map((line) => html`<p>${line}</p>`)}${commands(verdict.commands)}</div>
${sections.map(sectionOf)}
</main>
<footer><p>Made by tickets. This page loads nothing and runs no script.</p></footer>
</body>
</html>
`;
  return REPORT_MARK + page.text;
}

const navigation = (sections: readonly Section[]): Html =>
  sections.length < 2
    ? NOTHING
    : html`<nav aria-label="Sections"><ul>${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>`;

/** Nothing has no colour. */
function tileOf({ name, value, tone, leadsTo }: Tile, sections: readonly Section[]): Html {
  const wanted = leadsTo.find((each) => sections.some(({ id }) => id === each)) ?? sections.at(-1)?.id ?? "";
  return html`<li class="${value === 0 ? "plain" : tone}"><a href="#${wanted}"><strong>${number(value)}</strong> ${name}</a></li>`;
}

function sectionOf({ id, title, isFolded = false, blocks }: Section): Html {
  const content = blocks.map((block, at) => blockOf(block, `${id}-${at + 1}`));
  const heading = html`<h2 id="${id}">${title}</h2>`;
  return isFolded
    ? html`<section aria-labelledby="${id}"><details><summary>${heading}</summary>${content}</details></section>`
    : html`<section aria-labelledby="${id}">${heading}${content}</section>`;
}

function blockOf(block: Block, id: string): Html {
  switch (block.kind) {
    case "text":
      return html`<p>${block.text}</p>`;
    case "table":
      return tableOf(block);
    case "bars":
      return barsOf(block);
    case "times":
      return timesOf(block.times, id);
    case "group":
      return groupOf(block);
  }
}

const commands = (all: readonly Command[]): Html =>
  html`${all.map(({ lead, command }) => html`<div class="command">${lead}: <code>${command}</code></div>`)}`;

/** What is wider than the page is scrolled, also by keyboard. */
function tableOf({ caption, columns, rows, more }: Table): Html {
  const kinds = columns.map(({ isNumber = false }) => (isNumber ? new Html(' class="n"') : NOTHING));
  const head = columns.map(({ name }, at) => html`<th scope="col"${kinds[at] ?? NOTHING}>${name}</th>`);
  const body = rows.map((row) => {
    const cells = row.map((cell, at) => {
      const kind = kinds[at] ?? NOTHING;
      return at === 0 ? html`<th scope="row"${kind}>${cell}</th>` : html`<td${kind}>${cell}</td>`;
    });
    return html`<tr>${cells}</tr>`;
  });
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table><caption>${caption}</caption><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>${moreOf(more)}`;
}

const moreOf = (more: string | undefined): Html => (more === undefined ? NOTHING : html`<p class="more">${more}</p>`);

function barsOf({ title, bars, more }: Bars): Html {
  const longest = Math.max(1, ...bars.map(({ value }) => value));
  const hasProblems = bars.some(({ problems }) => problems > 0);
  const rows = bars.map(({ name, value, problems }) => {
    const parts = [
      { value: problems, tone: "bad" },
      { value: value - problems, tone: "known" },
    ] as const;
    const wrong = hasProblems ? html`<td class="n">${number(problems)}</td>` : NOTHING;
    return html`<tr><th scope="row">${name}</th><td>${stackedBar(parts, longest)}</td><td class="n">${number(value)}</td>${wrong}</tr>`;
  });
  const wrong = hasProblems ? html`<th scope="col" class="n">problems</th>` : NOTHING;
  const head = html`<tr><th scope="col">name</th><th scope="col">amount</th><th scope="col" class="n">actions</th>${wrong}</tr>`;
  return html`<table class="bars"><caption>${title}</caption><thead>${head}</thead><tbody>${rows}</tbody></table>${moreOf(more)}`;
}

const groupOf = ({ tone, title, lines, small }: Group): Html =>
  html`<div class="group ${tone}"><h3>${title}</h3>${lines.map((line) => html`<p>${line}</p>`)}<p class="small">${small}</p></div>`;

/** When requests were sent and how long they took: in words, and in a chart. */
function timesOf(times: SendingTimes, id: string): Html {
  const { requests, busyMs, medianMs, slowestMs, answeredActions } = times;
  const all = Object.values(requests).reduce((sum, each) => sum + each, 0);
  const rate = Math.round((1000 * answeredActions) / Math.max(1, busyMs));
  const took =
    all === 1
      ? `It took ${durationText(slowestMs)}.`
      : `Half of them took up to ${durationText(medianMs)}, the slowest ${durationText(slowestMs)}.`;
  return html`<p>${count(all, "request")} in ${durationText(busyMs)}, ${number(rate)} actions a second. ${took}</p>
<figure><figcaption>How long the requests took, over the time of sending</figcaption>${requestTimes(times, id)}</figure>`;
}

/**
 * The absolute path of a report that can be written. Only an earlier report and an empty file are replaced.
 *
 * @param output the promises file of the command.
 * @throws Failure `usage` for any other file, and where the folder is missing or can't be written.
 */
export async function reportPath(
  { cwd }: { readonly cwd: string },
  file: string,
  { output, isToSend }: { readonly output: string | undefined; readonly isToSend: boolean },
): Promise<string> {
  const named = resolve(cwd, file);
  // What a link leads to is replaced, and the link stays.
  const path = await realpath(named).catch(() => named);
  const isOutput = output !== undefined && resolve(cwd, output) === named;
  const why = isOutput ? "the promises go there" : await whyNoReport(path);
  if (why === undefined) return path;
  throw new Failure("usage", `--report ${displayPath(named, cwd)} can't be written: ${why}.`, {
    nothingSent: isToSend,
    hint: "Name another file, such as report.html, or move this one away.",
  });
}

async function whyNoReport(path: string): Promise<string | undefined> {
  if (!/\.html?$/i.test(path)) return "a report is an HTML page, and this does not end in .html";
  // Of a file in place of the folder, the dot makes this ENOTDIR.
  const cause = await access(`${dirname(path)}/.`, constants.W_OK).catch((error: unknown) => error);
  if (cause !== undefined) return `its folder is missing or not writable (${errorCode(cause)})`;
  const found = await stat(path).catch(() => undefined);
  // A device or a pipe takes what is written.
  const isFree = found === undefined || (!found.isDirectory() && (found.size === 0 || (await isReport(path))));
  return isFree ? undefined : "it is no report of tickets, and is not replaced";
}

async function isReport(path: string): Promise<boolean> {
  await using file = await open(path, "r");
  const mark = Buffer.from(REPORT_MARK);
  const { buffer } = await file.read(Buffer.alloc(mark.length), 0, mark.length, 0);
  return buffer.equals(mark);
}
