import { LEAST_RETENTION_DAYS } from '@remit/contract'
import type { OrganizationSettings } from '@remit/contract'
import { invalid } from '../base/errors.ts'

const LAW =
  'Articles 19(1) and 26(6) of the EU AI Act have providers and deployers of high-risk AI systems keep its logs for at least six months'

/** What is wrong with a retention below the floor, in a sentence. */
export const shortRetentionWarning = (days: number): string =>
  `Entries may be removed after ${days} days. ${LAW}, which ${LEAST_RETENTION_DAYS} days are.`

/** What to tell whoever looks at the settings of an organization. */
export const settingsWarnings = ({
  retention_days: days,
}: Pick<OrganizationSettings, 'retention_days'>): { warnings?: string[] } =>
  days < LEAST_RETENTION_DAYS ? { warnings: [shortRetentionWarning(days)] } : {}

/** Throws `invalid_request` for a retention below the floor that nobody took upon himself. */
export function checkRetention(days: unknown, isAcknowledged: boolean): void {
  if (typeof days !== 'number' || days >= LEAST_RETENTION_DAYS || isAcknowledged) return
  throw invalid(
    'settings.retention_days',
    `must be at least ${LEAST_RETENTION_DAYS}, or come with acknowledge_short_retention. ${LAW}`,
  )
}
