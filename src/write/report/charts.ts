/** Pictures as SVG without script or style of their own: the page's style colours them, in light and in dark. */

import { scaleLinear } from "d3-scale";
import { area, curveStepAfter } from "d3-shape";
import { number } from "../../actions/text.ts";
import { type Html, html } from "./html.ts";
import type { Part } from "./report.ts";
import type { RequestEnd, SendingTimes } from "./sending-times.ts";

/** A picture is drawn twice, for wide and for narrow pages, since text in it must not shrink with it. */
const WIDTHS = { wide: 760, narrow: 340 } as const;
type Form = keyof typeof WIDTHS;
const FORMS = ["wide", "narrow"] as const satisfies readonly Form[];

const HEIGHT = 170;
const MARGIN = { top: 12, right: 10, bottom: 26 };
/** Of a character beside the axis, at most, and of what stands between it and the axis. */
const [CHARACTER_WIDTH, LABEL_GAP] = [8, 6];

const TONES: Readonly<Record<RequestEnd, string>> = { answered: "good", "not taken": "warning", unknown: "doubt" };

/** Parts of a whole in one line; the words stand beside it. */
export function stackedBar(parts: readonly Part[], total: number): Html {
  let at = 0;
  const rects = parts.map(({ value, tone }) => {
    const width = (1000 * value) / Math.max(1, total);
    const rect = html`<rect x="${round(at)}" y="0" width="${round(width)}" height="10" class="fill-${tone}"/>`;
    at += width;
    return rect;
  });
  return html`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">${rects}</svg>`;
}

/** How long each request, or each group of them, took. */
export function requestTimes(times: SendingTimes, id: string): Html {
  const isGrouped = times.marks.some(({ requests }) => requests > 1);
  const title = isGrouped ? "Slowest and mean time of requests" : "Time of each request";
  const said = `${number(times.requests)} requests, from the first to the last; the slowest took ${number(Math.round(times.slowestMs))} ms. The table below has the figures.`;
  return forms(id, title, said, ({ x, y, ...plot }) => {
    const marks = times.marks.map(({ from, to, slowestMs, meanMs, requests, end }) => {
      const [left, width] = [x(from), Math.max(1.5, x(to) - x(from) - 0.5)];
      const bar = (ms: number, more: string): Html =>
        html`<rect x="${round(left)}" y="${round(Math.min(y(ms), plot.bottom - 1.5))}" width="${round(width)}" height="${round(Math.max(1.5, plot.bottom - y(ms)))}" class="fill-${TONES[end]}${more}"/>`;
      return requests === 1 ? bar(slowestMs, "") : html`${bar(slowestMs, " faint")}${bar(meanMs, "")}`;
    });
    return html`${marks}${cutsOf(times, x, plot)}`;
  })({ busyMs: times.busyMs, highest: times.slowestMs, unitOf: timeUnit });
}

/** Answered actions a second. */
export function throughput(times: SendingTimes, id: string): Html {
  const highest = Math.max(...times.rates);
  const said = `Answered actions a second over ${number(times.rates.length)} equal parts of the time; at most ${number(Math.round(highest))}.`;
  return forms(id, "Answered actions a second", said, ({ x, y, ...plot }) => {
    const partMs = times.busyMs / times.rates.length;
    const shape = area<number>()
      .x((_, at) => x(at * partMs))
      .y0(plot.bottom)
      .y1((rate) => y(rate))
      .curve(curveStepAfter)
      .digits(1);
    const path = shape([...times.rates, times.rates.at(-1) ?? 0]) ?? "";
    return html`<path d="${path}" class="fill-known"/>${cutsOf(times, x, plot)}`;
  })({ busyMs: times.busyMs, highest, unitOf: () => ({ per: 1, unit: "" }) });
}

interface Plot {
  readonly x: (ms: number) => number;
  readonly y: (value: number) => number;
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
}

interface Axes {
  readonly busyMs: number;
  readonly highest: number;
  readonly unitOf: (highest: number) => Unit;
}

interface Unit {
  readonly per: number;
  readonly unit: string;
}

/** The picture in both forms, with axes around what `draw` gives. */
function forms(id: string, title: string, said: string, draw: (plot: Plot) => Html): (axes: Axes) => Html {
  return (axes) =>
    html`${FORMS.map((form) => {
      const name = `${id}-${form}`;
      const width = WIDTHS[form];
      return html`<svg class="chart ${form}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-labelledby="${name}-title ${name}-desc"><title id="${name}-title">${title}</title><desc id="${name}-desc">${said}</desc>${drawAxes(width, axes, draw)}</svg>`;
    })}`;
}

function drawAxes(width: number, { busyMs, highest, unitOf }: Axes, draw: (plot: Plot) => Html): Html {
  const [right, bottom] = [width - MARGIN.right, HEIGHT - MARGIN.bottom];
  const [across, upward] = [timeUnit(busyMs), unitOf(highest)];
  const y = scaleLinear([0, Math.max(1, highest)], [bottom, MARGIN.top]).nice(4);
  const yTicks = scaleLinear(
    y.domain().map((value) => value / upward.per),
    [bottom, MARGIN.top],
  );
  const upTicks = yTicks.ticks(4);
  const labels = upTicks.map((tick, at) => `${tickText(tick)}${at === upTicks.length - 1 ? upward.unit : ""}`);
  const left = round(LABEL_GAP + CHARACTER_WIDTH * Math.max(...labels.map((label) => label.length)));
  const x = scaleLinear([0, Math.max(1, busyMs)], [left, right]);
  const xTicks = scaleLinear([0, Math.max(1, busyMs) / across.per], [left, right]);
  const lines = upTicks.map((tick, at) => {
    const place = round(yTicks(tick));
    return html`<line x1="${left}" x2="${right}" y1="${place}" y2="${place}" class="grid"/><text x="${left - LABEL_GAP}" y="${place + 4}" text-anchor="end">${labels[at] ?? ""}</text>`;
  });
  const acrossTicks = xTicks.ticks(width > 500 ? 8 : 4);
  const times = acrossTicks.map((tick, at) => {
    const place = round(xTicks(tick));
    const anchor = tick === 0 ? "start" : place > right - 20 ? "end" : "middle";
    const unit = at === acrossTicks.length - 1 ? across.unit : "";
    return html`<line x1="${place}" x2="${place}" y1="${bottom}" y2="${bottom + 4}" class="axis"/><text x="${place}" y="${bottom + 17}" text-anchor="${anchor}">${tickText(tick)}${unit}</text>`;
  });
  const plot: Plot = { x: (ms) => x(ms), y: (value) => y(value), left, right, bottom };
  return html`${lines}${draw(plot)}<line x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}" class="axis"/>${times}`;
}

/** Long breaks that are left out. */
const cutsOf = ({ cuts }: SendingTimes, x: Plot["x"], { bottom }: Omit<Plot, "x" | "y">): Html =>
  html`${cuts
    .slice(0, CUTS_SHOWN)
    .map(
      ({ at }) => html`<line x1="${round(x(at))}" x2="${round(x(at))}" y1="${MARGIN.top}" y2="${bottom}" class="cut"/>`,
    )}`;

/** More would hide the marks. */
const CUTS_SHOWN = 20;

function timeUnit(ms: number): Unit {
  if (ms < 2000) return { per: 1, unit: " ms" };
  if (ms < 180_000) return { per: 1000, unit: " s" };
  if (ms < 3 * 3_600_000) return { per: 60_000, unit: " min" };
  return { per: 3_600_000, unit: " h" };
}

const tickText = (tick: number): string => (Number.isInteger(tick) ? number(tick) : String(Number(tick.toFixed(2))));

const round = (value: number): number => Math.round(value * 10) / 10;

/** What the colours and lines of `requestTimes` mean. */
export function requestLegend({ marks, cuts }: SendingTimes): Html {
  const entries = [
    ...(marks.some(({ end }) => end === "answered") ? [legend("good", "answered")] : []),
    ...(marks.some(({ notTaken }) => notTaken > 0) ? [legend("warning", "not taken, and tried again")] : []),
    ...(marks.some(({ unknown }) => unknown > 0) ? [legend("doubt", "refused or in doubt")] : []),
    ...(marks.some(({ requests }) => requests > 1)
      ? [html`<li>full colour: mean; faint: slowest of a group</li>`]
      : []),
    ...(cuts.length > 0 ? [html`<li>dashed line: a long break, which is left out</li>`] : []),
  ];
  return html`<ul class="legend">${entries}</ul>`;
}

const legend = (tone: string, words: string): Html => html`<li>${swatch(tone)} ${words}</li>`;

/** A square of a tone's colour. */
export const swatch = (tone: string): Html =>
  html`<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true" focusable="false"><rect width="10" height="10" rx="2" class="fill-${tone}"/></svg>`;
