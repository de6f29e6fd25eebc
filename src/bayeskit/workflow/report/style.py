"""The look of a report, and of the studio: light and dark, wide and narrow, screen and paper."""

# The colours, in one place for the report and the studio.
LIGHT = """--paper:#fbfbfa;--card:#fff;--ink:#1f2730;--soft:#5c6773;--line:#e2e5e8;--faint:#f1f3f5;
 --blue:#0072b2;--red:#c8500a;--grey:#8c8c8c;--hit:#0072b2;--miss:#d55e00;
 --hue-a:#0072b2;--hue-b:#d55e00;--hue-c:#009e73;--hue-d:#a3568f;--hue-e:#b8860b;--hue-f:#3a8fc0;--hue-g:#8a5a2b;--hue-h:#6a6a6a"""
DARK = """--paper:#14181c;--card:#1b2026;--ink:#e4e8ec;--soft:#9aa5b1;--line:#2e353d;--faint:#232a31;
 --blue:#4aa8dd;--red:#f08a4b;--grey:#8c959e;--hit:#2f8fc8;--miss:#e07b39;
 --hue-a:#4aa8dd;--hue-b:#f08a4b;--hue-c:#2fc79a;--hue-d:#d98cc4;--hue-e:#e0b83c;--hue-f:#9ad0f0;--hue-g:#c99a6b;--hue-h:#b0b0b0"""
FONTS = """system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans","PingFang SC","Microsoft YaHei",
 "Noto Sans CJK SC","WenQuanYi Micro Hei",sans-serif"""
# As the reader's system says; `data-theme` on the root decides otherwise, where a page has a switch.
LOOK = f""":root{{color-scheme:light dark;{LIGHT}}}
@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{DARK}}}}}
:root[data-theme=dark]{{color-scheme:dark;{DARK}}}
:root[data-theme=light]{{color-scheme:light}}
"""

CSS = (
    f"""
{LOOK}body{{font-family:{FONTS}}}
"""
    + """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);line-height:1.55;font-size:16px}
main{max-width:60rem;margin:0 auto;padding:3.5rem 1.25rem 5rem}
h1{font-size:2rem;line-height:1.2;font-weight:650;letter-spacing:-.01em;margin:0 0 .4rem;overflow-wrap:anywhere}
h2{font-size:1.2rem;font-weight:650;margin:3.25rem 0 .35rem}
h3{font-size:.95rem;font-weight:650;margin:0 0 .5rem;overflow-wrap:anywhere}
p{margin:.2rem 0 1rem;max-width:44rem}
p.lead,figcaption,.note{color:var(--soft)}
.note{font-size:.9rem}
code{font:.88em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1.75rem 0 0}
.figure,.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.9rem 1.05rem}
.figure b{display:block;font-size:1.5rem;font-weight:650;line-height:1.25;font-variant-numeric:tabular-nums}
.figure span{color:var(--soft);font-size:.86rem}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:10px;background:var(--card)}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.42rem .8rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}
tr:last-child td,tr:last-child th{border-bottom:0}
thead th{color:var(--soft);font-weight:500;font-size:.82rem;white-space:nowrap}
td.n,th.n{text-align:right;white-space:nowrap}
td.name{overflow-wrap:anywhere;min-width:6rem}
td small{color:var(--soft)}
tr.best td{background:color-mix(in srgb,var(--blue) 9%,transparent);font-weight:600}
tr.out td{color:var(--soft)}
.bar{position:relative;display:block;height:.5rem;border-radius:3px;background:var(--faint);overflow:hidden;
 min-width:3rem;margin:.15rem 0}
td.n .bar{width:6rem;margin-left:auto}
.bar.long{width:14rem;max-width:40vw;margin:.4rem 0 0}
.alarm{border:2px solid var(--red);border-radius:10px;padding:.8rem 1rem;font-weight:600;max-width:none}
nav{margin:1.75rem 0 0}
nav ul{display:flex;flex-wrap:wrap;gap:.35rem 1.1rem;padding:0;margin:0;list-style:none;font-size:.92rem}
a{color:var(--blue)}
section>h3{margin:1.5rem 0 .2rem}
.wide{overflow-x:auto}
.thirds{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(16rem,100%),1fr));gap:1rem}
.keys{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;max-width:none}
.key::before{content:"";display:inline-block;width:.8rem;height:.8rem;border-radius:3px;margin-right:.4rem;
 background:var(--k);vertical-align:-.08rem}
.c0{--k:var(--hue-a)}.c1{--k:var(--hue-b)}.c2{--k:var(--hue-c)}.c3{--k:var(--hue-d)}.c4{--k:var(--hue-e)}.c5{--k:var(--hue-f)}
.c6{--k:var(--hue-g)}.c7{--k:var(--hue-h)}
.step{fill:var(--k);fill-opacity:.12;stroke:var(--k);stroke-width:1.6}
.frame{fill:none;stroke:var(--grey);stroke-width:1}
.chance{fill:none;stroke:var(--grey);stroke-width:1;stroke-dasharray:4 4}
.line{fill:none;stroke:var(--blue);stroke-width:2}
.tick{font:11px system-ui,sans-serif;fill:var(--soft)}
.tick.end{text-anchor:end}.tick.middle{text-anchor:middle}
.cards .card>svg{display:block;max-width:100%;height:auto;margin:0 0 .5rem}
.bar i{position:absolute;inset:0 auto 0 0;background:var(--blue);border-radius:3px}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr));gap:1rem;align-items:start}
.waterfalls{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(25rem,100%),1fr));gap:1rem}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(18rem,1fr));gap:1rem}
.cards table{font-size:.84rem;table-layout:fixed}
.cards th:first-child{width:6.4rem}
.cards th,.cards td{padding:.2rem .4rem .2rem 0}
.cards.many{grid-template-columns:repeat(auto-fill,minmax(min(22rem,100%),1fr))}
.cards.many table{font-size:.72rem}
.cards.many th:first-child{width:5.2rem}
.cards.many th,.cards.many td{padding:.15rem .2rem .15rem 0}
.cards .bar{min-width:0}
.cell{text-align:center}
.matrix td{border:1px solid var(--line);text-align:center;font-size:1rem}
.matrix.many td{font-size:.74rem;padding:.15rem .2rem;min-width:1.5rem}
.matrix.many th{font-size:.74rem;padding:.15rem .35rem;white-space:nowrap}
.matrix.many small{display:inline-block;min-width:1.4em;color:var(--soft)}
figure{margin:0}
figure.card{padding:1rem}
figure svg{display:block;max-width:100%;height:auto;margin:0 auto}
figure.wide{overflow-x:auto}
figcaption{font-size:.88rem;margin-bottom:.5rem}
.plot text{font-family:inherit!important}
.plot text:not([style*="fill"]){fill:currentColor}
.waterfall svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
.waterfall svg .value{text-anchor:end}
.waterfall svg .value,.waterfall svg .foot{font-size:11.5px;fill:var(--soft)}
.waterfall svg .axis{stroke:var(--line);stroke-width:1}
.waterfall svg rect.up{fill:var(--blue)}
.waterfall svg rect.down{fill:var(--red)}
.waterfall svg rect.sum{fill:var(--soft)}
.waterfall svg rect.off{fill:none}
.waterfall svg text.off{fill:var(--grey)}
.network svg .box{fill:var(--card);stroke:var(--soft);stroke-width:1.1}
.network svg .given .box{fill:color-mix(in srgb,var(--blue) 16%,var(--card));stroke:var(--blue)}
.network svg .arc{fill:none;stroke:var(--grey);stroke-width:1.2}
.network svg .tip{fill:var(--grey)}
.network svg text{fill:var(--ink);font:600 12px system-ui,sans-serif;text-anchor:middle}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.25rem;margin:0;font-size:.92rem}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
@media (max-width:34rem){main{padding:2rem .9rem 3rem}h1{font-size:1.55rem}
 th,td{padding:.4rem .55rem}dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}
@media print{:root:root{color-scheme:light;--paper:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#ccc;--faint:#eee;
 --blue:#0072b2;--red:#c8500a;--grey:#777}
 body{font-size:10.5pt}main{max-width:none;padding:0}.scroll,.wide{overflow:visible}nav{display:none}
 .matrix.many td,.matrix.many th{font-size:6.5pt;padding:.05rem .1rem;min-width:0}
 figure.wide svg{min-width:0 !important}
 *{-webkit-print-color-adjust:exact;print-color-adjust:exact}
 h2,h2+p{break-after:avoid}figure,.card,tr,p{break-inside:avoid}}
@page{margin:14mm 12mm}
"""
)
