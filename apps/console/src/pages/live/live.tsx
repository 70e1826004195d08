import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { useCan } from '../../api/session.ts'
import { isShown, PAGES } from '../../shell/pages.ts'
import { t } from '../../texts.ts'
import { Choice, Input, Select } from '../../ui/field.tsx'
import { Page, Stack } from '../../ui/layout.tsx'
import { CurlButton } from '../../ui/states.tsx'
import { Counters } from './counters.tsx'
import { DecisionStream } from './decision-stream.tsx'
import { isMatch } from './filter.ts'
import { FirstSteps } from './first-steps.tsx'
import type { LiveFilter } from './filter.ts'
import { isSpan, SPANS } from './spans.ts'
import type { Span } from './spans.ts'
import { useDecisions } from './use-decisions.ts'

const DECISIONS = [
  ['', t.common.all],
  ['allow', 'allow'],
  ['deny', 'deny'],
  ['needs_approval', 'needs approval'],
] as const

/** The first page; without a ledger the first one that the session has. */
export function Live() {
  const can = useCan()
  if (can('GET /v1/ledger')) return <LivePage />
  const first = PAGES.find((page) => page.to !== '/' && isShown(page, can))
  return <Navigate to={first?.to ?? '/settings'} replace />
}

function LivePage() {
  const { span = '24h', ...filter }: LiveFilter & { span?: Span } = useSearch({ from: '/' })
  const navigate = useNavigate()
  const decisions = useDecisions()
  const set = (name: keyof LiveFilter | 'span') => (value: string) =>
    void navigate({
      to: '/',
      search: { span, ...filter, [name]: value || undefined } as never,
      replace: true,
    })
  return (
    <Page
      title={t.live.title}
      actions={
        <>
          <Choice
            label={t.live.span}
            value={span}
            options={Object.keys(SPANS)
              .filter(isSpan)
              .map((one) => [one, t.live.spans[one]])}
            onValue={set('span')}
          />
          <CurlButton
            request={() => ({ method: 'GET', path: '/v1/ledger?kind=authorization.decided' })}
          />
        </>
      }
    >
      <Stack>
        <FirstSteps />
        <Counters span={span} />
        <DecisionStream
          decisions={decisions}
          isMatch={(entry) => isMatch(filter, entry)}
          filters={
            <>
              <Select
                label={t.live.decision}
                options={DECISIONS}
                value={filter.decision ?? ''}
                onValue={set('decision')}
              />
              <Input label={t.live.agent} value={filter.agent ?? ''} onValue={set('agent')} />
              <Input label={t.live.action} value={filter.action ?? ''} onValue={set('action')} />
              <Input label={t.live.reason} value={filter.reason ?? ''} onValue={set('reason')} />
            </>
          }
        />
      </Stack>
    </Page>
  )
}
