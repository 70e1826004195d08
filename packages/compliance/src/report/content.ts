/** The document of a report: `content` is what is hashed, the rest says when and how it was made. */
export type {
  ReadyReport,
  ReportCheck,
  ReportContent,
  ReportControl,
  ReportEvidence,
  ReportFinding,
  ReportMetric,
} from '@remit/contract'
