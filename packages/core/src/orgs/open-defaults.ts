import type { Clock } from '../base/clock.ts'
import type { Db } from '../db/open.ts'
import { organizationPage } from './organizations.ts'
import { settingsOf } from './settings.ts'

/** Organizations that are read at most. */
const MOST = 100

/** Milliseconds for which the warnings are cached. */
const KEPT_MS = 60_000

/** Settings that allow what nobody decided about, with what they allow. */
export const OPEN_DEFAULTS = {
  default_effect: 'every action that no rule denies is allowed',
  unknown_agents: 'agents that are not registered may act',
} as const

/** Returns one warning per open setting, without names of organizations, of the oldest 100. */
async function openDefaultsWarnings(db: Db): Promise<string[]> {
  const { rows, next } = await organizationPage(db, MOST)
  // The plan enterprise alone has rules that could allow.
  const settings = rows
    .filter(
      (row) => row.plan === 'enterprise' && row.deleted_at === null && row.suspended_at === null,
    )
    .map(settingsOf)
  const count = settings.length
  return Object.entries(OPEN_DEFAULTS).flatMap(([name, what]) => {
    const open = settings.filter((one) => one[name as keyof typeof OPEN_DEFAULTS] === 'allow')
    if (open.length === 0) return []
    const of = `${next === null ? '' : 'the first '}${count} organizations`
    const where = count === 1 && next === null ? '' : ` in ${open.length} of ${of}`
    return `${name} is allow${where}: ${what}. To deny, send PATCH /v1/organization with {"settings":{"${name}":"deny"}}.`
  })
}

/**
 * Returns a function with the current warnings, at most a minute old. It reads the organizations once
 * a minute, however often it is called; while the database fails, it returns the last warnings.
 */
export function openDefaultsReader(db: Db, clock: Clock): () => Promise<readonly string[]> {
  let warnings: readonly string[] = []
  let readAt = -Infinity
  return async () => {
    if (clock.now() - readAt < KEPT_MS) return warnings
    readAt = clock.now()
    try {
      warnings = await openDefaultsWarnings(db)
    } catch {
      // The check of the database reports it.
    }
    return warnings
  }
}
