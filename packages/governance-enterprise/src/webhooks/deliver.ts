import { fail, Failure, isoTime } from '@remit/core/base'
import { actorOf } from '@remit/core/caller'
import type { Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import { attempt } from './attempt.ts'
import type { Attempted } from './attempt.ts'
import { finishAttempt, giveUpAll } from './deliveries-store.ts'
import { withAttempt } from './history.ts'
import { retryAt } from './retry.ts'
import type { DeliveryRow, WebhookRow } from '../tables/webhooks.ts'
import { recordedWebhook } from './view.ts'
import { fullUrl, openSecrets } from './secrets.ts'
import { disableWebhook, findWebhook } from './webhooks-store.ts'

/** Runs one attempt of a claimed delivery and stores its result. */
export async function deliver(deps: Deps, row: DeliveryRow): Promise<void> {
  const { db } = deps
  const webhook = await findWebhook(db, row.org_id, row.webhook_id)
  if (!webhook) return
  const began = performance.now()
  const attempted = await send(deps, row, webhook)
  const history = withAttempt(row, attempted, performance.now() - began)
  if (attempted.is === 'gone') await disable(deps, row, history)
  // Changes nothing if another attempt has finished it.
  await finishAttempt(db, row, { ...resultOf(deps, row, attempted), history })
}

function send(deps: Deps, row: DeliveryRow, webhook: WebhookRow): Promise<Attempted> | Attempted {
  if (webhook.enabled !== 1) return { is: 'failed', status: null, error: 'disabled' }
  const secrets = openSecrets(deps.secrets, webhook)
  // The key may be restored, so the message is kept and retried.
  if (secrets === null) return { is: 'refused', status: null, error: 'secret_unreadable' }
  const target = {
    url: fullUrl(webhook, secrets),
    secret: secrets.signing,
    format: webhook.format ?? ('standard' as const),
  }
  return attempt(deps, row, target, deps.clock.now())
}

function resultOf({ clock, log }: Deps, row: DeliveryRow, { is, status, error }: Attempted) {
  const now = clock.now()
  const seen = { http_status: status, error }
  if (is === 'delivered') return { ...seen, state: is, finished_at: isoTime(now) }
  const created = Date.parse(row.created_at)
  const next = is === 'refused' ? retryAt(row.attempts, created, now, Math.random()) : null
  if (next !== null) return { ...seen, due_at: isoTime(next) }
  const { org_id, webhook_id, seq, attempts } = row
  const facts = { orgId: org_id, webhook: webhook_id, seq, attempts, ...seen }
  log.warn(facts, 'a webhook delivery failed permanently')
  return { ...seen, state: 'failed' as const, finished_at: isoTime(now) }
}

/** The receiver responded 410: it refuses this and all other messages. */
async function disable({ writer }: Deps, row: DeliveryRow, history: string): Promise<void> {
  const { org_id: orgId, webhook_id: id } = row
  const disabling = writer.change(orgId, OPERATOR, async ({ tx, recordedAt }) => {
    const change = { disabled_reason: 'gone', updated_at: recordedAt }
    const webhook = await disableWebhook(tx, orgId, id, change)
    if (!webhook) throw fail('webhook_not_found')
    const given = { finished_at: recordedAt, error: 'gone' }
    await finishAttempt(tx, row, { state: 'failed', http_status: 410, history, ...given })
    await giveUpAll(tx, orgId, id, given)
    const data = { webhook: recordedWebhook(webhook) }
    return {
      entries: [{ kind: 'webhook.disabled', actor: actorOf(null), data }],
      reply: () => undefined,
    }
  })
  await disabling.catch((error: unknown) => {
    // Another message or an administrator has already disabled it.
    if (!(error instanceof Failure && error.code === 'webhook_not_found')) throw error
  })
}
