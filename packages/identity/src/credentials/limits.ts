import { fail, Failure, isoTime } from '@remit/core/base'
import type { LedgerScope } from '@remit/core/ledger/lanes'
import type { CredentialRow } from '../tables/credentials.ts'
import { countIssuedSince, countLive } from './store.ts'

/** The maximum number of live credentials of an organization. */
const MAX_LIVE = 10_000
const MAX_ISSUED_A_MINUTE = 60
const MINUTE_MS = 60_000

/**
 * Checks the number of credentials per source. Counted in the creating transaction under the
 * organization's lock, so that concurrent requests cannot exceed the limit. `replaces`: the number
 * of credentials that the new one replaces.
 */
export async function checkLimits(
  { tx, orgId, now, recordedAt: at, organization }: LedgerScope,
  agentId: string,
  source: CredentialRow['source'],
  replaces: 0 | 1 = 0,
): Promise<void> {
  const { credentials_per_agent: mostAnAgent } = organization.settings
  const ofAgent = await countLive(tx, orgId, at, { agentId, source })
  if (ofAgent - replaces >= mostAnAgent)
    throw fail('too_many_credentials', `An agent can have at most ${mostAnAgent} live credentials`)
  if ((await countLive(tx, orgId, at)) - replaces >= MAX_LIVE)
    throw fail(
      'too_many_credentials',
      `An organization can have at most ${MAX_LIVE} live credentials`,
    )
  if (source === 'exchange') return
  if ((await countIssuedSince(tx, orgId, isoTime(now - MINUTE_MS))) >= MAX_ISSUED_A_MINUTE) {
    throw fail(
      'rate_limited',
      `At most ${MAX_ISSUED_A_MINUTE} credentials can be issued per minute`,
      {
        headers: { 'Retry-After': '60' },
      },
    )
  }
}

/** Returns whether an agent or its organization has reached its limit of exchanged credentials. */
export async function isAtLimit(scope: LedgerScope, agentId: string): Promise<boolean> {
  try {
    await checkLimits(scope, agentId, 'exchange')
    return false
  } catch (error) {
    if (error instanceof Failure && error.code === 'too_many_credentials') return true
    throw error
  }
}
