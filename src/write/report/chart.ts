/** Pictures as SVG without script or style of their own: the page's style colours them, in light and in dark. */

import { number } from "../../text.ts";
import { type Html, html } from "./html.ts";
import type { Tone } from "./report.ts";
import type { RequestEnd, SendingTimes } from "./sending-times.ts";

/** The chart is drawn twice, for wide and for narrow pages, since text in it must not shrink with it. */
const FORMS = [
  { name: "wide", width: 760, ticks: 8 },
  { name: "narrow", width: 340, ticks: 4 },
] as const;

const HEIGHT = 170;
const [TOP, RIGHT, BOTTOM] = [12, 10, HEIGHT - 26];
/** Of a character beside the axis, at most, and of what stands between it and the axis. */
const [CHARACTER_WIDTH, LABEL_GAP] = [8, 6];
/** More would hide the marks. */
const BREAKS_SHOWN = 20;

/** A square of a tone's colour. */
const swatch = (tone: Tone): Html =>
  html`<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true" focusable="false"><rect width="10" height="10" rx="2" class="fill-${tone}"/></svg>`;

/** Parts of a whole in one line; the words stand beside it. */
export function stackedBar(parts: readonly { readonly value: number; readonly tone: Tone }[], total: number): Html {
  let at = 0;
  const rects = parts.map(({ value, tone }) => {
    const width = (1000 * value) / Math.max(1, total);
    const rect = html`<rect x="${round(at)}" y="0" width="${round(width)}" height="10" class="fill-${tone}"/>`;
    at += width;
    return rect;
  });
  return html`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">${rects}</svg>`;
}

/** How long each request, or the slowest of each group of them, took, over the time of sending. */
export function requestTimes(times: SendingTimes, id: string): Html {
  const { marks, breaks, slowestMs } = times;
  const isGrouped = marks.some((mark) => mark.requests > 1);
  const title = isGrouped ? "Slowest request of each group" : "Time of each request";
  const said = `From the first request to the last; the slowest took ${number(Math.round(slowestMs))} ms.`;
  const pictures = FORMS.map(({ name, width, ticks }) => {
    const part = `${id}-${name}`;
    return html`<svg class="chart ${name}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-labelledby="${part}-title ${part}-desc"><title id="${part}-title">${title}</title><desc id="${part}-desc">${said}</desc>${drawn(times, width - RIGHT, ticks)}</svg>`;
  });
  const shown = Object.entries(MEANINGS).filter(([end]) => marks.some(({ worst }) => worst === end));
  const legend = [
    ...shown.map(([, { tone, text }]) => html`<li>${swatch(tone)} ${text}</li>`),
    ...(isGrouped ? [html`<li>each bar: the slowest of a group</li>`] : []),
    ...(breaks.length > 0 ? [html`<li>dashed line: a long break, which is left out</li>`] : []),
  ];
  return html`${pictures}<ul class="legend">${legend}</ul>`;
}

/** The worst of its requests gives a mark its colour. */
const MEANINGS = {
  answered: { tone: "good", text: "answered" },
  "not taken": { tone: "warning", text: "not taken, and tried again" },
  unknown: { tone: "doubt", text: "refused or in doubt" },
} as const satisfies Record<RequestEnd, { readonly tone: Tone; readonly text: string }>;

function drawn({ marks, breaks, busyMs, slowestMs }: SendingTimes, right: number, ticks: number): Html {
  const up = timeAxis(slowestMs, 4, "beyond");
  const highest = Math.max(...up.map(({ ms }) => ms));
  const left = LABEL_GAP + CHARACTER_WIDTH * Math.max(...up.map(({ text }) => text.length));
  const x = (ms: number): number => round(left + ((right - left) * ms) / Math.max(1, busyMs));
  const y = (ms: number): number => round(BOTTOM - ((BOTTOM - TOP) * ms) / highest);

  const lines = up.map(
    ({ ms, text }) =>
      html`<line x1="${left}" x2="${right}" y1="${y(ms)}" y2="${y(ms)}" class="grid"/><text x="${left - LABEL_GAP}" y="${y(ms) + 4}" text-anchor="end">${text}</text>`,
  );
  const bars = marks.map((mark) => {
    const height = Math.max(1.5, BOTTOM - y(mark.slowestMs));
    const width = Math.max(1.5, x(mark.to) - x(mark.from) - 0.5);
    return html`<rect x="${x(mark.from)}" y="${round(BOTTOM - height)}" width="${round(width)}" height="${round(height)}" class="fill-${MEANINGS[mark.worst].tone}"/>`;
  });
  const cuts = breaks
    .slice(0, BREAKS_SHOWN)
    .map((at) => html`<line x1="${x(at)}" x2="${x(at)}" y1="${TOP}" y2="${BOTTOM}" class="cut"/>`);
  const times = timeAxis(busyMs, ticks, "up to").map(({ ms, text }) => {
    const anchor = ms === 0 ? "start" : x(ms) > right - 20 ? "end" : "middle";
    return html`<line x1="${x(ms)}" x2="${x(ms)}" y1="${BOTTOM}" y2="${BOTTOM + 4}" class="axis"/><text x="${x(ms)}" y="${BOTTOM + 17}" text-anchor="${anchor}">${text}</text>`;
  });
  return html`${lines}${bars}${cuts}<line x1="${left}" x2="${right}" y1="${BOTTOM}" y2="${BOTTOM}" class="axis"/>${times}`;
}

const UNITS = [
  { below: 2000, per: 1, unit: " ms" },
  { below: 180_000, per: 1000, unit: " s" },
  { below: 3 * 3_600_000, per: 60_000, unit: " min" },
  { below: Number.POSITIVE_INFINITY, per: 3_600_000, unit: " h" },
] as const;

/** Round times from 0 on, about so many of them, up to or beyond the highest one. The last names the unit. */
function timeAxis(highestMs: number, count: number, end: "up to" | "beyond") {
  const highest = Math.max(1, highestMs);
  const { per, unit } = UNITS.find(({ below }) => highest < below) ?? UNITS[0];
  const least = highest / per / count;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
  const steps = highest / per / step;
  const last = end === "beyond" ? Math.ceil(steps - 1e-9) : Math.floor(steps + 1e-9);
  return Array.from({ length: last + 1 }, (_, at) => ({
    ms: at * step * per,
    text: `${number(Number((at * step).toFixed(2)))}${at === last ? unit : ""}`,
  }));
}

const round = (value: number): number => Math.round(value * 10) / 10;
