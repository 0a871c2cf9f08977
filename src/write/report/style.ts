/** The style of a report: light and dark as the reader has it, wide and narrow, and on paper. */
export const STYLE = `
:root{color-scheme:light dark;--back:#fff;--card:#f6f7f9;--ink:#1b1f24;--soft:#57606a;--line:#d5dae1;--link:#0a58b0;--good:#1f7a3d;--known:#3565b5;--plain:#8b949e;--warning:#b3690a;--doubt:#7a3fc4;--bad:#c02a2a}
@media (prefers-color-scheme:dark){:root{--back:#12161b;--card:#1b2128;--ink:#e7ebf0;--soft:#a3adb8;--line:#343c46;--link:#7db4f5;--good:#4fb871;--known:#76a3ea;--plain:#79838e;--warning:#e0a044;--doubt:#b794f6;--bad:#f2766d}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--back);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main,header,footer{max-width:60rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2rem}
footer{padding-bottom:3rem;color:var(--soft);font-size:.875rem}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;line-height:1.3;margin:2.5rem 0 .75rem;padding-top:.75rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.5rem 0 .5rem}
p{margin:.5rem 0;overflow-wrap:anywhere}
a{color:var(--link)}
.made,.more,caption,figcaption,.legend{color:var(--soft);font-size:.875rem}
.made{margin:0}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:0;margin:1rem 0 0;font-size:.9375rem}
.verdict{margin:1.25rem 0 0;padding:.75rem 1rem;border-left:.4rem solid var(--plain);background:var(--card);border-radius:0 .4rem .4rem 0}
.verdict p:first-child{font-size:1.125rem;font-weight:600;margin-top:0}
.verdict>:last-child{margin-bottom:0}
.verdict.good{border-color:var(--good)}.verdict.known{border-color:var(--known)}.verdict.warning{border-color:var(--warning)}.verdict.doubt{border-color:var(--doubt)}.verdict.bad{border-color:var(--bad)}
.counts{display:grid;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr));gap:1.25rem;margin-top:1.5rem}
.count{background:var(--card);border-radius:.4rem;padding:1rem}
.count h2{border:0;margin:0;padding:0;font-size:1.5rem;font-variant-numeric:tabular-nums}
.count table{margin-top:.5rem}
.bar{display:block;width:100%;height:.875rem;border-radius:.2rem;background:var(--line)}
.count .bar{margin:.6rem 0 .25rem}
.swatch{width:.7em;height:.7em}
table{border-collapse:collapse;width:100%;font-size:.9375rem}
caption{text-align:left;padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th:last-child,td:last-child{padding-right:0}
thead th{color:var(--soft);font-weight:600;font-size:.875rem;overflow-wrap:normal;vertical-align:bottom}
tbody th{font-weight:400}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.scroll{overflow-x:auto;margin:.5rem 0}
.scroll:focus-visible,summary:focus-visible,a:focus-visible{outline:2px solid var(--link);outline-offset:2px}
code{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
.command{margin:.5rem 0}
.command code{display:block;background:var(--back);border:1px solid var(--line);border-radius:.3rem;padding:.4rem .6rem;overflow-wrap:anywhere;white-space:pre-wrap;user-select:all}
.messages{list-style:none;padding:0;margin:.5rem 0}
.messages li{padding:.35rem .75rem;border-left:.25rem solid var(--plain);margin:.4rem 0;overflow-wrap:anywhere;white-space:pre-line}
.messages .warning{border-color:var(--warning)}.messages .bad{border-color:var(--bad)}.messages .good{border-color:var(--good)}
details{margin:.75rem 0}
summary{cursor:pointer;color:var(--link);font-size:.9375rem}
.group{border:1px solid var(--line);border-left:.3rem solid var(--plain);border-radius:.4rem;padding:.6rem .9rem;margin:.75rem 0}
.group.warning{border-left-color:var(--warning)}.group.doubt{border-left-color:var(--doubt)}.group.bad{border-left-color:var(--bad)}
.group h3{margin:0;display:flex;flex-wrap:wrap;gap:0 1rem;justify-content:space-between;overflow-wrap:anywhere}
.group h3 span{font-weight:400;color:var(--soft);font-size:.9375rem}
.bars{table-layout:fixed;margin-bottom:1rem}.bars th{width:12rem}.bars th+th,.bars td{width:auto}.bars .n,.bars th.n{width:6rem}
.scroll th,.scroll td{overflow-wrap:break-word;max-width:24rem}
.bars .bar{margin-top:.4rem}
figure{margin:1rem 0}
figcaption{margin-bottom:.25rem}
.chart{display:block;width:100%;height:auto}
.chart text{fill:var(--soft);font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.chart.narrow{display:none}
.grid{stroke:var(--line)}.axis{stroke:var(--soft)}.cut{stroke:var(--ink);stroke-dasharray:3 3}
.fill-good{fill:var(--good)}.fill-known{fill:var(--known)}.fill-plain{fill:var(--plain)}.fill-warning{fill:var(--warning)}.fill-doubt{fill:var(--doubt)}.fill-bad{fill:var(--bad)}
.faint{opacity:.35}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.25rem 1rem;padding:0;margin:.25rem 0}
@media (max-width:40rem){
main,header,footer{padding-left:1rem;padding-right:1rem}
.chart.wide{display:none}.chart.narrow{display:block}
.bars th{width:7rem}.bars .n,.bars th.n{width:4.5rem}
th,td{padding-right:.5rem}
table{font-size:.875rem}
.scroll :is(th,td){max-width:15rem}
.scroll tbody :is(th,td):not(.n){min-width:6rem;overflow-wrap:anywhere}
.group .scroll thead{position:absolute;clip-path:inset(50%)}
.group .scroll tbody tr{display:flex;flex-wrap:wrap;gap:0 .75rem;padding:.3rem 0;border-bottom:1px solid var(--line)}
.group .scroll tbody :is(th,td){border:0;padding:0;min-width:0;max-width:100%;overflow-wrap:anywhere}
.group .scroll td:empty{display:none}
}
@page{margin:15mm}
@media print{
:root{color-scheme:light;--back:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#bbb;--link:#000;--good:#1f7a3d;--known:#3565b5;--plain:#8b949e;--warning:#b3690a;--doubt:#7a3fc4;--bad:#c02a2a}
body{font-size:10pt}
main,header,footer{max-width:none;padding:0}
nav{display:none}
h2,h3,caption,figcaption{break-after:avoid}
.group,.count,figure,tr,.verdict{break-inside:avoid}
.group{box-decoration-break:clone;-webkit-box-decoration-break:clone}
.count,.verdict{border:1px solid var(--line)}
svg{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.scroll{overflow:visible}
.chart.wide{display:block}.chart.narrow{display:none}
}
`;
