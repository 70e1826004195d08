import type { ReadyReport } from '@remit/contract'
import {
  actorText,
  EVALUATION_NOTICE,
  openFindingsText,
  periodText,
} from '@remit/contract/report-texts'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card, Facts, Page, Row, Stack } from '../../ui/layout.tsx'
import { CurlButton, Failure, Loaded, Note, Skeleton } from '../../ui/states.tsx'
import { Pair } from '../../ui/tile.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Id, Literal, Time, useNow } from '../../ui/values.tsx'
import { Bars } from './bars.tsx'
import { canonicalHash } from './canonical.ts'
import { Control } from './control.tsx'
import { Findings } from './findings.tsx'
import { NextSteps } from './next-steps.tsx'
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
              [
                t.reports.requestedBy,
                <Literal key="b">
                  {actorText(report.generated_by, report.generated_by_person)}
                </Literal>,
              ],
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
      <p className={ui['hint']}>
        <Literal>{notice}</Literal>
      </p>
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
