import type { ReportCheck, ReportControl, ReportEvidence } from '@remit/contract'
import {
  evidenceText,
  evidenceTitle,
  figureText,
  populationText,
  recordItems,
  resultText,
  supplyItems,
} from '@remit/contract/report-texts'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Table } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Literal } from '../../ui/values.tsx'
import type { Tone } from '../../ui/values.tsx'
import { AllEvidence, DatedSeqs } from './evidence.tsx'
import styles from './reports.module.css'

const STATUS_TONES: Readonly<Record<ReportControl['status'], Tone | undefined>> = {
  satisfied: 'allow',
  attention: 'deny',
  not_evidenced: 'wait',
  manual: undefined,
}

const RESULT_TONES: Readonly<Record<ReportCheck['result'], Tone | undefined>> = {
  pass: 'allow',
  fail: 'deny',
  too_small: 'wait',
  too_young: 'wait',
  not_applicable: undefined,
}

const toneOf = ({ result, carries }: ReportCheck): Tone | undefined =>
  result === 'pass' && carries === false ? undefined : RESULT_TONES[result]

/** A control; opened, it shows both lists, the checks and the evidence. */
export function Control({ report, control }: { report: string; control: ReportControl }) {
  const { id, title, status, reason, coverage, findings, checks, evidence } = control
  return (
    <details className={styles['control']}>
      <summary>
        <strong>{id}</strong>
        <span>
          <Literal>{title}</Literal>
        </span>
        {reason && <span className={ui['muted']}>{t.reports.reasons[reason]}</span>}
        <Badge tone={STATUS_TONES[status]}>{t.reports.statuses[status]}</Badge>
      </summary>
      <div className={styles['body']}>
        <div className={styles['lists']}>
          {coverage !== 'manual' && (
            <List title={t.reports.lists.record} items={recordItems(control)} />
          )}
          <List
            title={t.reports.lists.supply}
            items={supplyItems(control.organization_must_supply)}
          />
        </div>
        {findings.length > 0 && (
          <p>
            {t.reports.findings}:{' '}
            {findings.map((finding) => (
              <a key={finding} href={`#${finding}`}>
                {finding}
              </a>
            ))}
          </p>
        )}
        {checks.length > 0 && <Checks control={id} checks={checks} />}
        {evidence.length > 0 && (
          <>
            <Evidence control={id} evidence={evidence} />
            <AllEvidence report={report} control={id} />
          </>
        )}
      </div>
    </details>
  )
}

const List = ({ title, items }: { title: string; items: readonly string[] | null }) =>
  items && (
    <div>
      <h3>{title}</h3>
      <ul>
        {items.map((item) => (
          <li key={item}>
            <Literal>{item}</Literal>
          </li>
        ))}
      </ul>
    </div>
  )

const Checks = ({ control, checks }: { control: string; checks: readonly ReportCheck[] }) => (
  <Table
    label={t.reports.checksOf(control)}
    rows={checks}
    rowKey={({ id }) => id}
    columns={[
      {
        name: t.reports.check,
        cell: ({ id, title, severity }) => (
          <>
            {id} <Literal>{title}</Literal> <span className={ui['muted']}>{severity}</span>
          </>
        ),
      },
      {
        name: t.reports.result,
        cell: (check) => <Badge tone={toneOf(check)}>{resultText(check)}</Badge>,
      },
      {
        name: t.reports.found,
        cell: ({ value, id }) => <Literal>{figureText(value, id)}</Literal>,
      },
      {
        name: t.reports.passesWhen,
        cell: ({ threshold, relaxed }) => (
          <>
            <Literal>{threshold}</Literal> {relaxed && <strong>{t.reports.relaxed}</strong>}
          </>
        ),
      },
      { name: t.reports.population, cell: populationText },
    ]}
  />
)

const Evidence = ({
  control,
  evidence,
}: {
  control: string
  evidence: readonly ReportEvidence[]
}) => (
  <Table
    label={t.reports.evidenceOf(control)}
    rows={evidence}
    rowKey={({ kind }) => kind}
    columns={[
      { name: t.reports.evidence, cell: (one) => <Literal>{evidenceTitle(one)}</Literal> },
      { name: t.reports.inPeriod, cell: evidenceText },
      { name: t.reports.entries, end: true, cell: (one) => count(one.count) },
      {
        name: t.reports.sample,
        cell: ({ sample, sample_dates: dates }) => <DatedSeqs of={sample} dates={dates} />,
      },
    ]}
  />
)
