/**
 * The style of a printable page: light and dark on a screen, black on white on paper, A4 or Letter.
 */
import { DARK, LIGHT, PRINT } from "./tokens.ts";

/** The style of a plot's classes, in the colours of the page. */
const PLOT_STYLE = `.grid{color:var(--grid)}
.axis{color:var(--rule)}
.bar{color:var(--bar)}
.mark{color:var(--mark)}
.ground{color:var(--paper)}
.label{stroke:var(--paper);stroke-width:4px;paint-order:stroke}`;

/** The style of a picture that stands alone, in the colours of the pages. */
export const PICTURE_STYLE =
  `svg{${LIGHT};color:var(--ink)}@media (prefers-color-scheme:dark){svg{${DARK}}}${PLOT_STYLE}`;

/** The style of pages with links. */
export const LINK_STYLE = `
a{color:var(--bar);text-underline-offset:.15em}
:focus-visible{outline:3px solid var(--bar);outline-offset:2px}
`;

/** The header of the site. */
export const SITE_STYLE = `
main:focus{outline:none}
.skip{position:absolute;left:-99rem}
.skip:focus{left:.5rem;top:.5rem;z-index:2;padding:.5rem .75rem;background:var(--paper);border:2px solid var(--bar)}
.site{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem 1.5rem;padding:.6rem 1.25rem;border-bottom:1px solid var(--grid);background:var(--soft)}
.site ul{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;margin:0;padding:0;max-width:none;list-style:none}
.site li{margin:0}
.site a{display:inline-block;padding:.25rem 0;color:var(--ink);text-decoration:none;border-bottom:2px solid transparent}
.site a:hover{border-color:var(--rule)}
.site a[aria-current]{border-color:var(--bar);font-weight:600}
.site .brand{padding:0;border:0;font-weight:700;letter-spacing:.08em}
@media print{.site,.skip{display:none}}
`;

/** The text of the one `<style>` element. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;${LIGHT}}
@media screen and (prefers-color-scheme:dark){:root{${DARK}}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;overflow-wrap:break-word}
main{max-width:64rem;margin:0 auto;padding:2rem 1.25rem 4rem}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 1rem}
h2{font-size:1.25rem;line-height:1.3;margin:2.75rem 0 .75rem;padding-bottom:.25rem;border-bottom:1px solid var(--rule)}
p,ul,ol{margin:.75rem 0;max-width:46rem}
li{margin:.35rem 0}
code{font:.875em ui-monospace,monospace;overflow-wrap:anywhere}
dl{margin:1rem 0}
dl div{display:grid;grid-template-columns:11rem 1fr;gap:.25rem 1rem;padding:.3rem 0}
dt{color:var(--muted)}
dd{margin:0;min-width:0;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid var(--grid);font-variant-numeric:tabular-nums}
thead th{border-bottom:1px solid var(--rule);font-size:.8125rem;color:var(--muted)}
th[scope=row]{font-weight:400}
.statement{margin:1rem 0;padding:.75rem 1rem;max-width:none;background:var(--soft);border:1px solid var(--rule);border-left-width:.35rem}
.verdict{display:flex;flex-wrap:wrap;align-items:baseline;gap:.5rem 1rem;margin:1.25rem 0;font-size:1.0625rem}
.verdict p{margin:0}
.status{display:inline-block;padding:.1rem .55rem;border:2px solid;border-radius:.3rem;font-weight:600}
.verdict .status{font-size:1.25rem}
.compliant{color:var(--good)}
.partial{color:var(--fair);border-style:dashed}
.non_compliant{color:var(--bad);border-style:double;border-width:4px}
.insufficient_data,.not_applicable{color:var(--muted);border-style:dotted}
.small{font-size:.8125rem;line-height:1.4}
.note{font-size:.8125rem;line-height:1.4;color:var(--muted);margin:.4rem 0 0}
.scroll{overflow-x:auto}
.findings{min-width:46rem}
.findings p{margin:.2rem 0}
.findings thead th:nth-child(n+3){width:15%}
.findings thead th:nth-child(1),.findings thead th:nth-child(4){width:22%}
.findings tbody{border-bottom:1px solid var(--rule)}
.findings tbody th{font-weight:400}
.findings tbody td,.findings tbody th{border-bottom:0}
.findings tbody tr:first-child>*{padding-top:.7rem}
.findings tbody tr:first-child>td{padding-bottom:0}
.findings tbody tr:last-child>*{padding-bottom:.7rem}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr));gap:1.5rem 2.5rem}
.numbers th,.numbers td{font-size:.8125rem;line-height:1.35;padding:.2rem .5rem .2rem 0}
.numbers td,.numbers thead th+th{text-align:right}
.numbers td{white-space:nowrap}
figure{margin:1.5rem 0 2.25rem}
figcaption{font-weight:600;margin-bottom:.5rem}
.plot{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:1.5rem;align-items:start}
svg{display:block;width:100%;height:auto}
${PLOT_STYLE}
@media screen and (max-width:48rem){
.plot{grid-template-columns:minmax(0,1fr)}
dl div{grid-template-columns:1fr;gap:0}
}
@media print{
:root{color-scheme:light;font-size:9.5pt;${PRINT}}
body{font-size:1rem;line-height:1.4}
main{max-width:none;padding:0}
h2{margin-top:1.75rem}
h2,figcaption{break-after:avoid}
p,ul,ol{max-width:none;orphans:3;widows:3}
thead{display:table-header-group}
tr,li,figure,dl div,.statement,.verdict,.numbers,.findings tbody{break-inside:avoid}
.scroll{overflow:visible}
.findings{min-width:0}
.columns{grid-template-columns:1fr 1fr}
}
@page{margin:16mm 15mm 18mm;@bottom-right{content:"Page " counter(page) " of " counter(pages);font:8pt system-ui,sans-serif}}
`;
