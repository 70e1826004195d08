import type { ReportFinding } from '@remit/contract'
import { concernsText, findingState } from '@remit/contract/report-texts'
import { t } from '../../texts.ts'
import { Card, Facts } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Literal } from '../../ui/values.tsx'
import { DatedSeqs } from './evidence.tsx'
import styles from './reports.module.css'

const TONES = { critical: 'deny', high: 'deny', medium: 'wait', low: undefined } as const

/** All findings, the most severe first. */
export const Findings = ({ findings }: { findings: readonly ReportFinding[] }) => (
  <Card title={t.reports.findings}>
    {findings.length === 0 && <p className={ui['muted']}>{t.reports.noFindings}</p>}
    {findings.map((finding) => (
      <Finding key={finding.id} finding={finding} />
    ))}
  </Card>
)

function Finding({ finding }: { finding: ReportFinding }) {
  const { id, severity, check, title = '', text, count, seqs, dates, fixed_seq, fixed_at } = finding
  return (
    <article id={id} className={styles['finding']}>
      <header>
        <strong>{id}</strong>
        <Badge tone={TONES[severity]}>{severity}</Badge>
        <h3>
          {check} <Literal>{title}</Literal>
        </h3>
        <span className={ui['muted']}>{findingState(finding)}</span>
      </header>
      <p>
        <Literal>{text}</Literal>
      </p>
      <Facts
        rows={[
          [t.reports.agents, named(finding.agents)],
          [t.reports.recordedBy, named(finding.keys)],
          [t.reports.entriesWithDates(count, seqs.length), dated(seqs, dates)],
          [t.reports.corrected, fixed_seq == null ? null : dated([fixed_seq], [fixed_at ?? null])],
        ]}
      />
      <p className={ui['muted']}>{concernsText(finding)}</p>
    </article>
  )
}

const named = (names: readonly string[] | undefined) =>
  names && names.length > 0 ? <Literal>{names.join(', ')}</Literal> : null

const dated = (seqs: readonly number[], dates: ReportFinding['dates']) =>
  seqs.length > 0 ? <DatedSeqs of={seqs} dates={dates} /> : null
