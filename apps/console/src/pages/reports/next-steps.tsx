import type { ReportControl, StatusReason } from '@remit/contract'
import { t } from '../../texts.ts'
import { Card, Facts } from '../../ui/layout.tsx'

/** Advice for controls without evidence, by reason, the most frequent first. */
export function NextSteps({ controls }: { controls: readonly ReportControl[] }) {
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
