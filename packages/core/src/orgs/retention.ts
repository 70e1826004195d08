import { LEAST_RETENTION_DAYS } from '@remit/contract'
import type { OrganizationSettings } from '@remit/contract'
import { invalid } from '../base/errors.ts'

const LAW =
  'Articles 19(1) and 26(6) of the EU AI Act require providers and deployers of high-risk AI systems to keep logs for at least six months'

/** Returns the warning about a retention below the legal minimum. */
export const shortRetentionWarning = (days: number): string =>
  `Entries may be removed after ${days} days. ${LAW} (${LEAST_RETENTION_DAYS} days).`

/** Returns the warnings about the settings of an organization. */
export const settingsWarnings = ({
  retention_days: days,
}: Pick<OrganizationSettings, 'retention_days'>): { warnings?: string[] } =>
  days < LEAST_RETENTION_DAYS ? { warnings: [shortRetentionWarning(days)] } : {}

/** Throws `invalid_request` for an unconfirmed retention below the legal minimum. */
export function checkRetention(days: unknown, isAcknowledged: boolean): void {
  if (typeof days !== 'number' || days >= LEAST_RETENTION_DAYS || isAcknowledged) return
  throw invalid(
    'settings.retention_days',
    `must be at least ${LEAST_RETENTION_DAYS} unless acknowledge_short_retention is set. ${LAW}`,
  )
}
