import type { Framework, ReportListItem } from '@remit/contract'
import { openText, periodText } from '@remit/contract/report-texts'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { refresh } from '../../api/query-client.ts'
import { ledgerStartQuery, listQuery } from '../../api/queries.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Card, Page, Row, Stack, TableOf } from '../../ui/layout.tsx'
import { CurlButton, Failure } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { useNow } from '../../ui/values.tsx'
import { faultAt } from '../rules/validation.ts'
import { askedPeriod } from './asked-period.ts'

const REPORT = {
  method: 'POST',
  path: '/v1/compliance/reports',
  body: { framework: 'soc2' },
}
const FRAMEWORKS = Object.entries(t.reports.frameworks) as [Framework, string][]
const POLL_MS = 2_000
const NOW_MS = 10_000

export function Reports() {
  const can = useCan()
  const query = useQuery({
    ...listQuery('reports', remit.listReports, 200),
    refetchInterval: ({ state }) =>
      state.data?.data.some(({ status }) => status === 'generating') ? POLL_MS : false,
  })
  return (
    <Page title={t.reports.title} actions={<CurlButton request="/v1/compliance/reports" />}>
      <Stack>
        {can('POST /v1/compliance/reports') && <Generate />}
        <TableOf<ReportListItem>
          query={query}
          empty={{ title: t.reports.empty, text: t.reports.emptyText, request: REPORT }}
          label={t.reports.title}
          rowKey={({ id }) => id}
          csv="reports"
          columns={[
            {
              name: t.reports.framework,
              value: ({ framework }) => t.reports.frameworks[framework],
              cell: ({ id, framework }) => (
                <Link to="/reports/$id" params={{ id }}>
                  {t.reports.frameworks[framework]}
                </Link>
              ),
            },
            {
              name: t.reports.period,
              value: ({ period }) => periodText(period),
            },
            {
              name: t.reports.status,
              value: ({ status }) => status,
              badge: ({ status }) =>
                status === 'ready' ? 'allow' : status === 'failed' ? 'deny' : 'wait',
            },
            {
              name: t.reports.summary,
              value: ({ summary }) =>
                summary === null
                  ? null
                  : `${t.reports.statuses.satisfied}: ${summary.satisfied} · ${t.reports.statuses.attention}: ${summary.attention}`,
            },
            {
              name: t.reports.openFindings,
              value: ({ summary }) => summary && openText(summary),
            },
            { name: t.reports.generated, value: ({ requested_at }) => requested_at, as: 'time' },
          ]}
        />
      </Stack>
    </Page>
  )
}

function Generate() {
  const navigate = useNavigate()
  const [framework, setFramework] = useState<Framework>('soc2')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const can = useCan()
  const start = useQuery({ ...ledgerStartQuery, enabled: can('GET /v1/ledger') })
  const body = {
    framework,
    ...askedPeriod({ from, to }, start.data ?? undefined, useNow(NOW_MS)),
  }
  const generate = useMutation({
    mutationFn: () => remit.createReport({ body }),
    onSuccess: async ({ id }) => {
      await refresh('reports')
      await navigate({ to: '/reports/$id', params: { id } })
    },
  })
  const faultOf = (path: string) => faultAt(generate.error, path)
  return (
    <Card title={t.reports.generate}>
      <Stack>
        <Row>
          <Select
            label={t.reports.framework}
            value={framework}
            options={FRAMEWORKS}
            onValue={(value) => setFramework(value as Framework)}
          />
          <Input
            type="date"
            label={t.reports.from}
            value={from}
            onValue={setFrom}
            fault={faultOf('from')}
          />
          <Input
            type="date"
            label={t.reports.to}
            value={to}
            onValue={setTo}
            fault={faultOf('to')}
          />
          <Button tone="primary" disabled={generate.isPending} onClick={() => generate.mutate()}>
            {t.reports.generate}
          </Button>
          <CurlButton request={() => ({ ...REPORT, body })} />
        </Row>
        <p className={ui['hint']}>
          {t.reports.covers(shown(body.from), shown(body.to))} {t.reports.periodHint}
        </p>
        {generate.isPending && <p role="status">{t.reports.generating}</p>}
        {generate.error && <Failure error={generate.error} />}
      </Stack>
    </Card>
  )
}

const shown = (time: string): string => time.slice(0, 16).replace('T', ' ')
