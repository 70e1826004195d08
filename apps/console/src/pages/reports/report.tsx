import type {
  ReadyReport,
  ReportControl,
  StatusReason,
  ReportFinding,
  ReportCheck,
  ReportEvidence,
} from '@remit/contract'
import { hex, sha256 } from '@remit/contract/fit'
import {
  actorText,
  EVALUATION_NOTICE,
  openFindingsText,
  periodText,
  concernsText,
  findingState,
  evidenceText,
  evidenceTitle,
  figureText,
  populationText,
  recordItems,
  resultText,
  supplyItems,
  byDay,
} from '@remit/contract/report-texts'
import { useMutation, useQuery, useInfiniteQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { pagesQuery } from '../../api/queries.ts'
import { t } from '../../texts.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card, Facts, Page, Row, Stack, Table } from '../../ui/layout.tsx'
import { CurlButton, Failure, Loaded, Note, Skeleton } from '../../ui/states.tsx'
import { Pair } from '../../ui/tile.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Id, Literal, Time, useNow } from '../../ui/values.tsx'
import type { Tone } from '../../ui/values.tsx'
import { Bars, Pictures } from './pictures.tsx'
import styles from './reports.module.css'
import { count } from '../../format/money.ts'
import { everyPage } from '../../format/csv.ts'
import { SEQ_COLUMN } from '../ledger/columns.tsx'

const POLL_MS = 1_500

export function ReportPage() {
  const { id } = useParams({ from: '/reports/$id' })
  const query = useQuery({
    queryKey: ['reports', id],
    queryFn: ({ signal }) => remit.getReport({ params: { id }, signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'generating' ? POLL_MS : false),
  })
  const path = `/v1/compliance/reports/${encodeURIComponent(id)}`
  const report = query.data
  const title = report ? t.reports.frameworks[report.framework] : t.reports.title
  return (
    <Page
      title={title}
      actions={
        <>
          <CurlButton request={path} />
          {report?.status === 'ready' && <Downloads path={path} />}
        </>
      }
    >
      <Loaded query={query}>
        {(loaded) => {
          if (loaded.status === 'ready') return <Ready report={loaded} />
          if (loaded.status === 'failed') return <Failure error={new Error(loaded.detail)} />
          return <Generating since={loaded.requested_at} />
        }}
      </Loaded>
    </Page>
  )
}

/** The server does not tell how far it is, but the page tells how long it has been. */
function Generating({ since }: { since: string }) {
  const now = useNow(1_000)
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1000))
  return (
    <Stack>
      <p role="status">{t.reports.generating}</p>
      <progress className={styles['progress']} aria-label={t.reports.generating} />
      <p className={ui['hint']}>{t.reports.elapsed(seconds)}</p>
      <Skeleton />
    </Stack>
  )
}

/** Plain links: the browser saves the files itself. */
const Downloads = ({ path }: { path: string }) => (
  <>
    <a className={buttonClass()} href={`${path}?format=html`} target="_blank" rel="noreferrer">
      {t.reports.print}
    </a>
    <a className={buttonClass()} href={`${path}?format=csv&bom=true`} download="report.csv">
      {t.reports.csv}
    </a>
    <a className={buttonClass()} href={`${path}?format=oscal`} download="report.oscal.json">
      {t.reports.oscal}
    </a>
  </>
)

function Ready({ report }: { report: ReadyReport }) {
  const { content, period } = report
  const { summary, controls, findings, ledger, notice } = content
  const statuses = (['satisfied', 'attention', 'not_evidenced', 'manual'] as const).map(
    (status) => ({ name: t.reports.statuses[status], value: summary[status] }),
  )
  const kinds = Object.entries(ledger.by_kind)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, 10)
    .map(([name, value]) => ({ name, value }))
  return (
    <Stack>
      {report.evaluation && <Note tone="wait">{EVALUATION_NOTICE}</Note>}
      <Card>
        <Stack>
          <Facts
            rows={[
              [t.reports.framework, content.framework.version],
              [t.reports.scope, content.scope.statement],
              [t.reports.period, periodText(period)],
              [t.reports.generated, <Time key="g" at={report.generated_at} as="full" />],
              [t.reports.requestedBy, actorText(report.generated_by, report.generated_by_person)],
              [t.reports.openFindings, openFindingsText(content)],
              [
                t.reports.verifiedLedger,
                <Badge key="v" tone={ledger.verified ? 'allow' : 'deny'}>
                  {ledger.verified ? t.common.yes : t.common.no}
                </Badge>,
              ],
              [
                t.reports.record,
                <Link key="r" to="/ledger/$seq" params={{ seq: String(report.record_seq) }}>
                  {t.ledger.entry(report.record_seq)}
                </Link>,
              ],
              [t.reports.hash, <Id key="h">{report.content_sha256}</Id>],
            ]}
          />
          <VerifyHash report={report} />
        </Stack>
      </Card>
      <Pair>
        <Bars
          title={t.reports.controlsChart}
          nameTitle={t.reports.status}
          valueTitle={t.reports.controls}
          rows={statuses}
        />
        <Bars title={t.reports.decisionsChart} nameTitle={t.reports.kind} rows={kinds} />
      </Pair>
      <NextSteps controls={controls} />
      <Pictures period={period} />
      <Findings findings={findings} />
      <Card title={t.reports.controls}>
        {controls.map((control) => (
          <Control key={control.id} report={report.id} control={control} />
        ))}
      </Card>
      <Literal as="p" className={ui['hint']}>
        {notice}
      </Literal>
    </Stack>
  )
}

/** Hashes the content in this browser and compares. */
function VerifyHash({ report }: { report: ReadyReport }) {
  const check = useMutation({ mutationFn: () => canonicalHash(report.content) })
  const { data: hash } = check
  const isEqual = hash === report.content_sha256
  return (
    <Row>
      <Button disabled={check.isPending} onClick={() => check.mutate()}>
        {t.reports.verify}
      </Button>
      {hash !== undefined && (
        <Note tone={hash === null ? 'wait' : isEqual ? 'allow' : 'deny'}>
          <output>
            {hash === null ? t.reports.hashMissing : isEqual ? t.reports.hashOk : t.reports.hashBad}
          </output>
        </Note>
      )}
    </Row>
  )
}

/**
 * JSON as RFC 8785 writes it: names in the order of their UTF-16 code units, numbers and strings as
 * ECMAScript serializes them.
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
  return `{${members.join(',')}}`
}

/** The SHA-256 of a value's canonical JSON; null where the browser has no WebCrypto. */
async function canonicalHash(value: unknown): Promise<string | null> {
  if (!globalThis.crypto?.subtle) return null
  return hex(await sha256(new TextEncoder().encode(canonical(value))))
}

/** Advice for controls without evidence, by reason, the most frequent first. */
function NextSteps({ controls }: { controls: readonly ReportControl[] }) {
  const reasons = controls.flatMap(({ reason }) => reason ?? [])
  const manual = controls.filter(({ status }) => status === 'manual').length
  if (reasons.length + manual === 0) return null
  const groups = [...Map.groupBy(reasons, (reason) => reason)].toSorted(
    ([, one], [, other]) => other.length - one.length,
  )
  return (
    <Card title={t.reports.nextSteps}>
      <Facts
        rows={[
          ...groups.map(([reason, all]) => [nameOf(reason, all.length), hintOf(reason)] as const),
          ...(manual > 0
            ? [[t.reports.hinted(manual, t.reports.statuses.manual), t.reports.manualHint] as const]
            : []),
        ]}
      />
    </Card>
  )
}

const nameOf = (reason: StatusReason, n: number): string =>
  t.reports.hinted(n, t.reports.reasons[reason])

const hintOf = (reason: StatusReason): string => t.reports.hints[reason]

const TONES = { critical: 'deny', high: 'deny', medium: 'wait', low: undefined } as const

/** All findings, the most severe first. */
const Findings = ({ findings }: { findings: readonly ReportFinding[] }) => (
  <Card title={t.reports.findings}>
    {findings.length === 0 && <p className={ui['muted']}>{t.reports.noFindings}</p>}
    {findings.map((finding) => (
      <Finding key={finding.id} finding={finding} />
    ))}
  </Card>
)

function Finding({ finding }: { finding: ReportFinding }) {
  const { id, severity, check, title = '', text, seqs, dates, fixed_seq, fixed_at } = finding
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
      <Literal as="p">{text}</Literal>
      <Facts
        rows={[
          [t.reports.agents, finding.agents?.join(', ')],
          [t.reports.recordedBy, finding.keys?.join(', ')],
          [t.reports.entriesWithDates(finding.count, seqs.length), dated(seqs, dates)],
          [t.reports.corrected, fixed_seq == null ? null : dated([fixed_seq], [fixed_at ?? null])],
        ]}
      />
      <p className={ui['muted']}>{concernsText(finding)}</p>
    </article>
  )
}

const dated = (seqs: readonly number[], dates: ReportFinding['dates']) =>
  seqs.length > 0 ? <DatedSeqs of={seqs} dates={dates} /> : null

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
function Control({ report, control }: { report: string; control: ReportControl }) {
  const { id, title, status, reason, coverage, findings, checks, evidence } = control
  return (
    <details className={styles['control']}>
      <summary>
        <strong>{id}</strong>
        <Literal as="span">{title}</Literal>
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
          <Literal as="li" key={item}>
            {item}
          </Literal>
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

interface DatedSeqsProps {
  readonly of: readonly number[]
  readonly dates: readonly (string | null)[] | undefined
}

/** Links to entries, with their days. */
const DatedSeqs = ({ of, dates }: DatedSeqsProps) => (
  <div className={styles['seqs']}>
    {byDay(of, dates).map(({ day, seqs }) => (
      <span key={seqs[0]}>
        {seqs.map((seq) => (
          <Link key={seq} to="/ledger/$seq" params={{ seq: String(seq) }}>
            {seq}
          </Link>
        ))}
        {day !== null && <span className={ui['muted']}>({day})</span>}
      </span>
    ))}
  </div>
)

/** Every entry behind a control, page by page. */
function AllEvidence({ report, control }: { report: string; control: string }) {
  const [isOpen, setOpen] = useState(false)
  const read = (cursor: string | undefined, signal?: AbortSignal) =>
    remit.listReportEvidence({
      params: { id: report },
      query: { control, limit: 100, cursor },
      ...(signal && { signal }),
    })
  const query = useInfiniteQuery({
    ...pagesQuery(['reports', report, 'evidence', control], read),
    enabled: isOpen,
  })
  if (!isOpen)
    return (
      <Row>
        <Button tone="quiet" onClick={() => setOpen(true)}>
          {t.reports.allEvidence}
        </Button>
      </Row>
    )
  return (
    <Loaded query={query}>
      {({ data }) => (
        <Stack>
          <Table
            label={t.reports.allEvidence}
            rows={data}
            rowKey={({ seq }) => String(seq)}
            csv={`evidence-${control}`}
            all={() => everyPage(read)}
            columns={[
              SEQ_COLUMN,
              { name: t.ledger.kind, value: ({ kind }) => kind },
              {
                name: t.ledger.time,
                value: ({ recorded_at }) => recorded_at,
                cell: ({ recorded_at }) => <Time at={recorded_at} as="full" />,
              },
            ]}
          />
          {query.hasNextPage && (
            <Row>
              <Button onClick={() => void query.fetchNextPage()}>{t.common.more}</Button>
            </Row>
          )}
        </Stack>
      )}
    </Loaded>
  )
}
