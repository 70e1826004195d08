import type { Clock } from '../base/clock.ts'
import type { Db } from '../db/open.ts'
import { organizationPage } from './list.ts'
import { settingsOf } from './settings.ts'

/** Organizations that are read at most. */
const MOST = 100

/** Milliseconds for which the warnings are cached. */
const KEPT_MS = 60_000

/** Settings that allow what nobody decided about, with what they allow. */
const OPEN = {
  default_effect: 'every action that no rule denies is allowed',
  unknown_agents: 'agents that are not registered may act',
} as const

/** Numbers of organizations that allow by default, among the oldest 100. */
interface OpenDefaults {
  /** Active organizations on the plan enterprise: the others have no rules that could allow. */
  readonly organizations: number
  /** True if further organizations were not read. */
  readonly more: boolean
  /** Organizations in which the setting is `allow`. */
  readonly open: Readonly<Record<keyof typeof OPEN, number>>
}

/** Counts the organizations whose `default_effect` or `unknown_agents` is `allow`. */
async function findOpenDefaults(db: Db): Promise<OpenDefaults> {
  const { rows, next } = await organizationPage(db, MOST)
  const all = rows.filter(
    (row) => row.plan === 'enterprise' && row.deleted_at === null && row.suspended_at === null,
  )
  const settings = all.map(settingsOf)
  const count = (name: keyof typeof OPEN) => settings.filter((s) => s[name] === 'allow').length
  return {
    organizations: all.length,
    more: next !== null,
    open: { default_effect: count('default_effect'), unknown_agents: count('unknown_agents') },
  }
}

/** Returns one warning per open setting, without names of organizations. */
function openDefaultsWarnings({ organizations, more, open }: OpenDefaults): string[] {
  return (['default_effect', 'unknown_agents'] as const)
    .filter((name) => open[name] > 0)
    .map((name) => {
      const of = `${more ? 'the first ' : ''}${organizations} organizations`
      const where = organizations === 1 && !more ? '' : ` in ${open[name]} of ${of}`
      return `${name} is allow${where}: ${OPEN[name]}. To deny, send PATCH /v1/organization with {"settings":{"${name}":"deny"}}.`
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
      warnings = openDefaultsWarnings(await findOpenDefaults(db))
    } catch {
      // The check of the database reports it.
    }
    return warnings
  }
}
