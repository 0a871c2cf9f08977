/** The style of a report: light and dark as the reader has it, wide and narrow, and on paper. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: light-dark(#fff, #12161b);
  --card: light-dark(#f6f7f9, #1b2128);
  --ink: light-dark(#1b1f24, #e7ebf0);
  --soft: light-dark(#57606a, #a3adb8);
  --line: light-dark(#d5dae1, #343c46);
  --link: light-dark(#0a58b0, #7db4f5);
  --good: light-dark(#1f7a3d, #4fb871);
  --known: light-dark(#3565b5, #76a3ea);
  --plain: light-dark(#8b949e, #79838e);
  --warning: light-dark(#b3690a, #e0a044);
  --doubt: light-dark(#7a3fc4, #b794f6);
  --bad: light-dark(#c02a2a, #f2766d);
}
* { box-sizing: border-box; }
body {
  margin: 0 auto;
  max-width: 62.5rem;
  padding: 0 1.25rem 3rem;
  background: var(--back);
  color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  overflow-wrap: anywhere;
}
h1 { margin: 2rem 0 .25rem; font-size: 1.6rem; line-height: 1.25; }
h2 { margin: 2.5rem 0 .75rem; padding-top: .75rem; border-top: 1px solid var(--line); font-size: 1.2rem; line-height: 1.3; }
h3 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
p { margin: .5rem 0; }
a, summary { color: var(--link); }
.made, .more, .small, caption, figcaption, .legend, footer { color: var(--soft); font-size: .875rem; }
nav ul, .tiles, .legend { list-style: none; margin: 1rem 0 0; padding: 0; }
nav ul, .legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }

/* What a tone colours: the edge of a box, a figure, a shape. */
.good { --tone: var(--good); }
.known { --tone: var(--known); }
.plain { --tone: var(--plain); }
.warning { --tone: var(--warning); }
.doubt { --tone: var(--doubt); }
.bad { --tone: var(--bad); }
.fill-good { fill: var(--good); }
.fill-known { fill: var(--known); }
.fill-plain { fill: var(--plain); }
.fill-warning { fill: var(--warning); }
.fill-doubt { fill: var(--doubt); }
.fill-bad { fill: var(--bad); }

.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: 1rem; }
.tiles a {
  display: block;
  padding: .75rem 1rem;
  color: inherit;
  text-decoration: none;
  border-top: .3rem solid var(--tone);
  border-radius: .4rem;
  background: var(--card);
}
.tiles a:hover { text-decoration: underline; }
.tiles strong { display: block; font-size: 1.8rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.verdict, .group { border-left: .3rem solid var(--tone); border-radius: .4rem; padding: .6rem .9rem; }
.verdict { margin-top: 1.25rem; background: var(--card); }
.verdict p:first-child { font-size: 1.125rem; font-weight: 600; }
.group { margin: .75rem 0; box-shadow: inset 0 0 0 1px var(--line); }
.group h3 { margin: 0; }
summary { cursor: pointer; }
section > details { margin-top: 2.5rem; padding-top: .75rem; border-top: 1px solid var(--line); }
summary > h2 { display: inline; border: 0; color: var(--ink); }

table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
caption { padding: .25rem 0; text-align: left; }
th, td { padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--soft); font-size: .875rem; font-weight: 600; overflow-wrap: normal; vertical-align: bottom; }
tbody th { font-weight: 400; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; margin: .5rem 0; }
.scroll :is(th, td) { max-width: 24rem; overflow-wrap: break-word; }
code { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
.command { margin: .5rem 0; }
.command code {
  display: block;
  padding: .4rem .6rem;
  border: 1px solid var(--line);
  border-radius: .3rem;
  background: var(--back);
  white-space: pre-wrap;
  user-select: all;
}

.bar { display: block; width: 100%; height: .875rem; margin: .4rem 0; border-radius: .2rem; background: var(--line); }
.swatch { width: .7em; height: .7em; }
.bars { table-layout: fixed; margin: 1rem 0; }
.bars th { width: 12rem; }
.bars th + th { width: auto; }
.bars th.n { width: 6rem; }
figure { margin: 1rem 0; }
.chart { display: block; width: 100%; height: auto; }
.chart text { fill: var(--soft); font-size: 12px; }
.chart.narrow { display: none; }
.grid { stroke: var(--line); }
.axis { stroke: var(--soft); }
.cut { stroke: var(--ink); stroke-dasharray: 3 3; }

@media (max-width: 40rem) {
  body { padding: 0 1rem 2rem; }
  .tiles { grid-template-columns: repeat(auto-fit, minmax(6.5rem, 1fr)); gap: .5rem; }
  .tiles a { padding: .5rem .75rem; }
  .chart.wide { display: none; }
  .chart.narrow { display: block; }
  .bars th { width: 7rem; }
  .bars th.n { width: 4.5rem; }
  table { font-size: .875rem; }
  .scroll :is(th, td) { max-width: 15rem; }
  .scroll tbody :is(th, td):not(.n) { min-width: 6rem; overflow-wrap: anywhere; }
}

@page { margin: 15mm; }
@media print {
  :root { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  nav { display: none; }
  details::details-content { content-visibility: visible; height: auto; }
  h2, h3, caption, figcaption { break-after: avoid; }
  .group, figure, tr, .verdict { break-inside: avoid; }
  svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .scroll { overflow: visible; }
}
`;
