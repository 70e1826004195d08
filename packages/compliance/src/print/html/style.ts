import type { ReadyReport } from '@remit/contract'
import { periodText } from '@remit/contract/report-texts'

/** The style sheet of a report, with its own footer for printed pages. */
export function styleOf({ content_sha256, content, ledger_head }: ReadyReport): string {
  const about = `${content.framework.name}, ${periodText(content.period)}`
  const hashed = `content sha-256 ${content_sha256}`
  const checkpoint = `checkpoint ${ledger_head.size - 1} ${ledger_head.hash}`
  return `${SHEET}
@page {
  margin: 20mm 16mm 24mm;
  @top-left { ${MARGIN_TEXT} content: ${cssText(about)}; }
  @bottom-left { ${MARGIN_TEXT} content: ${cssText(hashed)} "\\A" ${cssText(checkpoint)}; }
  @bottom-right { ${MARGIN_TEXT} content: counter(page) " / " counter(pages); }
}
`
}

const MARGIN_TEXT =
  'font: 6.5pt/1.5 ui-monospace, Consolas, monospace; color: #444; white-space: pre;'

/** A CSS string; characters outside hashes, times, ids and words are removed. */
const cssText = (text: string): string => `"${text.replaceAll(/[^\w .:,-]/g, '?')}"`

const SHEET = `
:root { color-scheme: light; }
* { box-sizing: border-box; }
html { background: #fff; color: #1a1a1a; }
body {
  font: 10.5pt/1.5 Charter, "Bitstream Charter", Cambria, Georgia, "Noto Serif", serif;
  margin: 0 auto; max-width: 60rem; padding: 2rem 1.5rem; overflow-wrap: anywhere;
}
h1, h2, h3, th, .kind, .status, .severity, .reason, .facts dt, .cover dt {
  font-family: system-ui, "Segoe UI", "Helvetica Neue", Arial, "Noto Sans", sans-serif;
}
h1 { font-size: 2.4rem; line-height: 1.15; margin: 0 0 .25rem; }
h2 { border-bottom: 1.5pt solid #1a1a1a; font-size: 1.35rem; margin: 2.5rem 0 1rem; padding-bottom: .3rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .5rem; }
p { margin: .5rem 0; }
a { color: inherit; }
code { font: .86em/1.4 ui-monospace, "Cascadia Mono", Consolas, "DejaVu Sans Mono", monospace; }
.cover { padding-top: 4rem; }
.kind { font-size: .9rem; margin: 0 0 1rem; text-transform: uppercase; }
.version { color: #444; font-size: 1.1rem; margin: 0 0 2.5rem; }
dl { display: grid; gap: .45rem 1.5rem; grid-template-columns: 11rem minmax(0, 1fr); margin: 0; }
dt { color: #444; font-size: .85rem; padding-top: .1rem; }
dd { margin: 0; min-width: 0; }
.exact { color: #444; display: block; }
.notice { border: 1pt solid #1a1a1a; margin-top: 2.5rem; padding: .9rem 1.1rem; }
.warning { border: 2.5pt solid #8a1c1c; padding: .9rem 1.1rem; }
.facts { margin-top: 1.5rem; }
table { border-collapse: collapse; font-size: .87em; margin: .7rem 0; table-layout: fixed; width: 100%; }
th, td { border-bottom: .5pt solid #999; padding: .3rem .5rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 1pt solid #1a1a1a; font-size: .9em; }
tbody th { font-weight: 600; }
tfoot th, tfoot td { border-top: 1pt solid #1a1a1a; font-weight: 700; }
.number { font-variant-numeric: tabular-nums; text-align: right; }
.id { font-weight: 700; white-space: normal; }
.controls a { white-space: nowrap; }
.seqs { font-variant-numeric: tabular-nums; }
.day { white-space: nowrap; }
.reason { color: #444; font-size: .9em; font-weight: 400; }
.controls .reason { display: block; }
.status, .severity { border: 1pt solid; border-radius: 2pt; display: inline-block; font-size: .82rem; font-weight: 700; padding: 0 .35rem; }
.satisfied { background: #eef5ee; border-color: #1d5b2a; color: #164620; }
.attention { background: #fbeaea; border-color: #8a1c1c; border-width: 2pt; color: #7a1616; }
.not_evidenced { background: #fff; border-color: #555; border-style: dashed; color: #333; }
.manual { background: #fff; border-color: #777; border-style: dotted; color: #333; }
.critical, .high { border-color: #8a1c1c; border-width: 2pt; color: #7a1616; }
.medium { border-color: #7a5200; color: #5f4000; }
.low { border-color: #555; border-style: dashed; color: #333; }
.fail { font-weight: 700; text-decoration: underline; }
.not_applicable { color: #444; font-style: italic; }
.lists { display: grid; gap: 0 2rem; grid-template-columns: 3fr 2fr; }
.lists ul { margin: .2rem 0; padding-left: 1.1rem; }
h4 { font-family: system-ui, "Segoe UI", "Helvetica Neue", Arial, "Noto Sans", sans-serif; font-size: .87rem; margin: .7rem 0 0; }
.too_small, .too_young { color: #444; font-style: italic; }
article { border-top: .5pt solid #999; margin-top: 1.4rem; }
h2 + article { border-top: 0; }
.summary th:first-child { width: 9.5rem; } .summary .number { width: 5.5rem; }
.controls th:nth-child(1) { width: 15%; } .controls th:nth-child(3) { width: 13%; } .controls th:nth-child(4) { width: 23%; } .controls th:nth-child(5) { width: 13%; }
.checks th:nth-child(1) { width: 24%; } .checks th:nth-child(2) { width: 11%; } .checks th:nth-child(4) { width: 21%; } .checks th:nth-child(5) { width: 20%; }
.evidence th:nth-child(1) { width: 19%; } .evidence th:nth-child(2) { width: 11%; } .evidence th:nth-child(3) { width: 8%; } .evidence th:nth-child(4) { width: 18%; }
.manual-controls th:nth-child(1) { width: 15%; } .manual-controls th:nth-child(2) { width: 30%; }
.metrics th:nth-child(1) { width: 36%; } .metrics th:nth-child(3) { width: 14%; } .metrics th:nth-child(4) { width: 12%; }
.kinds, .thresholds { max-width: 30rem; }
@media print {
  body { font-size: 9.5pt; max-width: none; padding: 0; }
  .cover { break-after: page; padding-top: 30mm; }
  h2, h3 { break-after: avoid; }
  tr, .finding, .lists, .notice, .warning { break-inside: avoid; }
  thead { display: table-header-group; }
  tfoot { display: table-row-group; }
  .status, .severity, .notice, .warning { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`
