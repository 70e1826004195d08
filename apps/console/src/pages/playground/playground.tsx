import { useSearch } from '@tanstack/react-router'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Page, TabLinks } from '../../ui/layout.tsx'
import { AuthzenPlayground } from './authzen.tsx'
import { DecisionPlayground } from './decision.tsx'
import { GuardPlayground } from './guard.tsx'
import { ScorerPlayground } from './scorers.tsx'

export function Playground() {
  const can = useCan()
  const tabs = [
    { label: t.playground.tabs.guard, value: 'guard', needs: 'POST /v1/guard' },
    { label: t.playground.tabs.scorers, value: 'scorers', needs: 'POST /v1/scorers' },
    {
      label: t.playground.tabs.decision,
      value: 'decision',
      needs: 'POST /v1/compliance/policies/dry-run',
    },
    { label: t.playground.tabs.authzen, value: 'authzen', needs: 'POST /access/v1/evaluation' },
  ].filter(({ needs }) => can(needs))
  const search = useSearch({ from: '/playground' })
  const tab = tabs.find(({ value }) => value === search.tab)?.value ?? tabs[0]?.value ?? ''
  return (
    <Page
      title={t.playground.title}
      tabs={<TabLinks label={t.playground.title} tabs={tabs} current={tab} />}
    >
      {tab === 'guard' && <GuardPlayground />}
      {tab === 'scorers' && <ScorerPlayground />}
      {tab === 'decision' && <DecisionPlayground />}
      {tab === 'authzen' && <AuthzenPlayground />}
    </Page>
  )
}
