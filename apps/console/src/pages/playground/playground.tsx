import { useSearch } from '@tanstack/react-router'
import { t } from '../../texts.ts'
import { TabPage } from '../../ui/layout.tsx'
import { AuthzenPlayground } from './authzen.tsx'
import { DecisionPlayground } from './decision.tsx'
import { GuardPlayground } from './guard.tsx'
import { ScorerPlayground } from './scorers.tsx'

const { tabs } = t.playground
const TABS = [
  { label: tabs.guard, value: 'guard', needs: 'POST /v1/guard', Panel: GuardPlayground },
  { label: tabs.scorers, value: 'scorers', needs: 'POST /v1/scorers', Panel: ScorerPlayground },
  {
    label: tabs.decision,
    value: 'decision',
    needs: 'POST /v1/compliance/policies/dry-run',
    Panel: DecisionPlayground,
  },
  {
    label: tabs.authzen,
    value: 'authzen',
    needs: 'POST /access/v1/evaluation',
    Panel: AuthzenPlayground,
  },
]

export function Playground() {
  const { tab } = useSearch({ from: '/playground' })
  return <TabPage title={t.playground.title} tabs={TABS} current={tab} />
}
