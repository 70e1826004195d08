import type { ReadyReport, ReportControl } from '@remit/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card, Facts, Grid, Page, Row, Stack, Table } from '../../ui/layout.tsx'
import { CurlButton, Failure, Loaded, Note, Skeleton } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Id, Literal, Time, useNow } from '../../ui/values.tsx'
import type { Tone } from '../../ui/values.tsx'
import { Bars } from './bars.tsx'
import { canonicalHash } from './canonical.ts'
import { AllEvidence, Seqs } from './evidence.tsx'
import { Pictures } from './pictures.tsx'
import styles from './reports.module.css'

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
          <CurlButton request={() => ({ method: 'GET', path })} />
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

const TONES: Readonly<Record<ReportControl['status'], Tone | undefined>> = {
  satisfied: 'allow',
  attention: 'deny',
  not_evidenced: 'wait',
  manual: undefined,
}

const SEVERITIES = { critical: 'deny', high: 'deny', medium: 'wait', low: undefined } as const

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
      <Card>
        <Stack>
          <Facts
            rows={[
              [t.reports.period, `${period.from.slice(0, 10)} – ${period.to.slice(0, 10)}`],
              [t.reports.generated, <Time key="g" at={report.generated_at} as="full" />],
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
      <Grid>
        <Bars
          title={t.reports.controlsChart}
          nameTitle={t.reports.status}
          valueTitle={t.reports.controls}
          rows={statuses}
        />
        <Bars title={t.reports.decisionsChart} nameTitle={t.reports.kind} rows={kinds} />
      </Grid>
      <Pictures period={period} />
      <Card title={t.reports.controls}>
        {controls.map((control) => (
          <Control key={control.id} report={report.id} control={control} />
        ))}
      </Card>
      <Card title={t.reports.findings}>
        {findings.length === 0 ? (
          <p className={ui['muted']}>{t.reports.noFindings}</p>
        ) : (
          <Table
            label={t.reports.findings}
            rows={findings}
            rowKey={({ id }) => id}
            columns={[
              {
                name: t.reports.severity,
                cell: ({ severity }) => <Badge tone={SEVERITIES[severity]}>{severity}</Badge>,
              },
              { name: t.reports.finding, cell: ({ text }) => <Literal>{text}</Literal> },
              { name: t.reports.evidence, cell: ({ seqs }) => <Seqs of={seqs} /> },
              {
                name: t.reports.fixed,
                cell: ({ fixed_seq: seq }) => (seq == null ? t.reports.open : <Seqs of={[seq]} />),
              },
            ]}
          />
        )}
      </Card>
      <p className={ui['hint']}>
        <Literal>{notice}</Literal>
      </p>
    </Stack>
  )
}

function Control({ report, control }: { report: string; control: ReportControl }) {
  const seqs = [...new Set(control.evidence.flatMap(({ sample }) => sample))]
  return (
    <details className={styles['control']}>
      <summary>
        <strong>{control.id}</strong>
        <span>
          <Literal>{control.title}</Literal>
        </span>
        <Badge tone={TONES[control.status]}>{t.reports.statuses[control.status]}</Badge>
      </summary>
      <div className={styles['body']}>
        {control.checks.map((check) => (
          <Row key={check.id}>
            <Badge
              tone={check.result === 'pass' ? 'allow' : check.result === 'fail' ? 'deny' : 'wait'}
            >
              {check.result.replaceAll('_', ' ')}
            </Badge>
            <Literal>{check.title}</Literal>
          </Row>
        ))}
        {seqs.length > 0 && (
          <div>
            <h3>{t.reports.evidence}</h3>
            <Seqs of={seqs} />
            <AllEvidence report={report} control={control.id} />
          </div>
        )}
        <div>
          <h3>{t.reports.supply}</h3>
          <p>
            <Literal>{control.organization_must_supply}</Literal>
          </p>
        </div>
      </div>
    </details>
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
