import { defineModule } from '@remit/core/module'
import { createOutbound } from '@remit/core/net'
import { createClock } from '@remit/testing'
import type { TestClock, TestRemitOptions } from '@remit/testing'
import { vi } from 'vitest'
import governance from '../../src/index.ts'
import { createApi } from './api.ts'
import type { Api } from './api.ts'

/** Signatures carry the time, and receivers compare it with theirs. */
export const clockOfToday = (): TestClock => createClock(new Date().toISOString())

/** An API whose webhooks may be on loopback. */
export const createWebhookApi = (options: TestRemitOptions = {}): Promise<Api> =>
  createApi({ outbound: createOutbound({ allowLoopback: true }), ...options })

/** The module without what runs beside its requests: a process that died before it could deliver. */
export const withoutWorkers = defineModule({
  ...governance,
  setup(deps) {
    const { start: _, ...contribution } = governance.setup(deps)
    return contribution
  },
})

export const DENIED = { agent_id: 'denied', action: 'payments.transfer', resource: 'account:42' }

/** From now on every request of the agent `denied` is refused. */
export const denyAll = (api: Api): Promise<unknown> =>
  api.ok('setSpendLimit', { params: { id: DENIED.agent_id }, body: { daily_usd: 0 } })

export const askDenied = (api: Api) =>
  api.ok('authorize', { body: { ...DENIED, context: { amount_usd: 1, note: 'private' } } })

/** Polls until `look` gives something. */
export async function eventually<T>(look: () => Promise<T | null | undefined | false>): Promise<T> {
  let found: T | null | undefined | false
  await vi.waitUntil(async () => (found = await look()), { timeout: 60_000, interval: 20 })
  return found as T
}
