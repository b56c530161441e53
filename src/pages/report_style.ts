/** The style of a report's page with its summary. A page that was saved is verified to the letter: it must never change. */
import { PAGE_STYLE } from "./style.ts";

/** The text of the one `<style>` element. */
export const REPORT_STYLE = `${PAGE_STYLE}
h1,.summary p,.summary li,.provisions p{overflow-wrap:anywhere}
.summary h2{margin-top:2rem}
.summary .verdict{margin:.75rem 0}
.verdict .small{color:var(--muted)}
.verdicts td:last-child,.verdicts th:last-child{text-align:right}
.verdicts th[scope=row]{width:15rem}
.provisions{margin-top:1rem}
.provisions p{margin:.2rem 0}
.provisions thead th{width:22%}
.provisions thead th:first-child{width:34%}
.provisions .status{white-space:nowrap}
.provisions tbody{border-bottom:1px solid var(--rule)}
.provisions tbody th{font-weight:400}
.provisions tbody td,.provisions tbody th{border-bottom:0}
.provisions tbody tr:first-child>*{padding-bottom:0}
@media screen and (max-width:48rem){
.verdicts th[scope=row]{width:auto}
.verdicts th,.verdicts td{padding:.4rem .5rem .4rem 0;font-size:.875rem}
.verdicts .status{padding:.05rem .35rem}
.numbers td{white-space:normal}
.provisions thead{display:none}
.provisions,.provisions tbody,.provisions tr,.provisions th,.provisions td{display:block}
.provisions tbody{padding:.75rem 0}
.provisions td,.provisions th{padding:.3rem 0}
.provisions td[data-head]::before{content:attr(data-head);font-size:.8125rem;color:var(--muted)}
}
@media screen and (max-width:36rem){
main{padding:1.25rem 1rem 3rem}
h1{font-size:1.4rem}
.verdicts,.verdicts thead,.verdicts tbody{display:block}
.verdicts tr{display:grid;grid-template-columns:1fr auto;gap:.25rem 1rem;align-items:center;padding:.6rem 0;border-bottom:1px solid var(--grid)}
.verdicts tr>*,.verdicts th[scope=row]{padding:0;border:0}
.verdicts thead th:nth-child(2){position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.verdicts td:nth-child(2){grid-area:2/1/auto/3}
.verdicts td:last-child{grid-area:1/2;font-weight:600}
}
@media print{
.summary{break-after:page;font-size:.86rem;line-height:1.28}
.summary h1{font-size:1.4rem;margin-bottom:.4rem}
.summary h2{font-size:1rem;margin:.5rem 0 .1rem;padding-bottom:.05rem}
.summary p,.summary ul,.summary dl{margin:.15rem 0}
.summary ul{padding-left:1.1rem}
.summary li{margin:.05rem 0}
.summary dl div{padding:.05rem 0;grid-template-columns:7rem 1fr}
.summary .verdict{margin:.2rem 0}
.summary .verdict .status{font-size:1.1rem}
.summary .statement{margin:.3rem 0;padding:.2rem .6rem}
.summary th,.summary td{padding:.08rem .5rem .08rem 0}
.summary .verdicts .status{padding:0 .4rem}
.provisions{font-size:.9rem}
.provisions tbody{break-inside:avoid}
}
@page :first{margin:10mm 15mm 14mm}
`;
