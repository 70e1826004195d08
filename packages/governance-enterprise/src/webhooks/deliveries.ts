import { existing, Failure, isoTime, Periodic } from '@remit/core/base'
import { Cleanup, eachPart, inPart, on } from '@remit/core/db'
import type { Part } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { actorOf } from '@remit/core/caller'
import { OPERATOR } from '@remit/core/orgs'
import { cached } from '@remit/core/telemetry'
import { Turns } from '@remit/core/threads'
import type { TurnLimits } from '@remit/core/threads'
import { recording } from '@remit/core/ledger/lanes'
import { claimDue, forgetFinished, finishAttempt, giveUpAll } from './deliveries-store.ts'
import { WEBHOOKS_TOPIC } from './outbox.ts'
import type { DeliveryRow, WebhookRow } from '../tables/webhooks.ts'
import { attempt } from './attempt.ts'
import type { DeliveryResult } from './attempt.ts'
import { attemptsOf, recordedWebhook } from './view.ts'
import { fullUrl, openSecrets, disableWebhook, findWebhook } from './webhooks-store.ts'
import type { Tables } from '../tables/schema.ts'

const POLL_MS = 2_000
/** Longer than any attempt: afterwards the claiming process is considered dead. */
const LEASE_MS = 60_000
const KEPT_MS = 7 * 24 * 60 * 60 * 1000
const CANDIDATES = 200

/**
 * An organization can run eight attempts at a time, or an eighth of the free ones if that is less, but
 * always one: a few organizations with slow receivers cannot take all attempts, however many messages
 * they have.
 */
const ATTEMPTS: TurnLimits = {
  size: 64,
  each: (free) => Math.max(1, Math.min(8, Math.ceil(free / 8))),
}

/** Sends the messages of the outbox at least once each, in the background. */
export class Deliveries {
  readonly #deps: Deps
  readonly #turns = new Turns(ATTEMPTS)
  readonly #running = new Set<Promise<void>>()
  readonly #closing = new AbortController()
  readonly #cleanup: Cleanup
  readonly #looks: Periodic
  #unsubscribe = (): void => undefined
  #isWoken = false

  constructor(deps: Deps) {
    this.#deps = deps
    // Retries become due, and other processes abandon messages.
    this.#looks = new Periodic(POLL_MS, () => this.#look(), this.#failed)
    this.#cleanup = new Cleanup(deps, 'webhook deliveries', (part, signal) =>
      forgetFinished(deps.db, part, isoTime(deps.clock.now() - KEPT_MS), signal),
    )
  }

  start(): void {
    this.#unsubscribe = this.#deps.signals.subscribe(WEBHOOKS_TOPIC, () => this.#wake())
    this.#looks.start()
    this.#cleanup.start()
  }

  /**
   * Starts no further attempts and waits for the running ones, so that delivered messages are not
   * repeated.
   */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#unsubscribe()
    await this.#cleanup.close()
    await this.#looks.close()
    await Promise.all(this.#running)
  }

  #wake(): void {
    this.#isWoken = true
    void this.#looks.run()
  }

  readonly #failed = (error: unknown, organizations?: readonly string[]): void =>
    this.#deps.log.error({ err: error, organizations }, 'reading webhook deliveries failed')

  async #look(): Promise<void> {
    this.#isWoken = true
    while (this.#isWoken && !this.#closing.signal.aborted && !this.#turns.isFull) {
      this.#isWoken = false
      await eachPart(this.#deps.db, (part) => this.#claim(part), this.#failed)
    }
  }

  async #claim(part: Part): Promise<void> {
    const now = this.#deps.clock.now()
    const claimed = await claimDue(this.#deps.db, {
      part,
      now: isoTime(now),
      leaseEnd: isoTime(now + LEASE_MS),
      among: CANDIDATES,
      choose: (due) => this.#turns.choose(due, ({ org_id }) => org_id),
      except: this.#turns.full(),
    })
    // There may be more; the end of every attempt polls again.
    if (claimed.length > 0) this.#isWoken = true
    for (const row of claimed) this.#begin(row)
  }

  #begin(row: DeliveryRow): void {
    const delivery = this.#turns.run(row.org_id, () => deliver(this.#deps, row))
    this.#track(delivery.finally(() => this.#wake()))
  }

  /** Runs work in the background; failures are logged and retried after the lease. */
  #track(work: Promise<void>): void {
    const logged: Promise<void> = work
      .catch((error: unknown) => this.#deps.log.error({ err: error }, 'a webhook task failed'))
      .finally(() => this.#running.delete(logged))
    this.#running.add(logged)
  }
}

/** Runs one attempt of a claimed delivery and stores its result. */
async function deliver(deps: Deps, row: DeliveryRow): Promise<void> {
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

function send(
  deps: Deps,
  row: DeliveryRow,
  webhook: WebhookRow,
): Promise<DeliveryResult> | DeliveryResult {
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

function resultOf({ clock, log }: Deps, row: DeliveryRow, { is, status, error }: DeliveryResult) {
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
    const webhook = existing(await disableWebhook(tx, orgId, id, change), 'webhook_not_found')
    const given = { finished_at: recordedAt, error: 'gone' }
    await finishAttempt(tx, row, { state: 'failed', http_status: 410, history, ...given })
    await giveUpAll(tx, orgId, id, given)
    const data = { webhook: recordedWebhook(webhook) }
    return recording({ kind: 'webhook.disabled', actor: actorOf(null), data })
  })
  await disabling.catch((error: unknown) => {
    // Another message or an administrator has already disabled it.
    if (!(error instanceof Failure && error.code === 'webhook_not_found')) throw error
  })
}

const FIRST_MS = 5_000
const LONGEST_MS = 3 * 60 * 60 * 1000
const GIVE_UP_MS = 24 * 60 * 60 * 1000

/**
 * The time of the next attempt after `attempts` failures; null to give up: 5 s, 15 s, 45 s … up to
 * 3 hours, ± 25 %, until 24 hours after the event. `random` is in [0, 1).
 */
export function retryAt(
  attempts: number,
  createdMs: number,
  nowMs: number,
  random: number,
): number | null {
  const end = createdMs + GIVE_UP_MS
  if (nowMs >= end) return null
  const wait = Math.min(LONGEST_MS, FIRST_MS * 3 ** (attempts - 1))
  return Math.min(end, nowMs + Math.round(wait * (0.75 + random / 2)))
}

/** Attempts that are kept: as many as there are in 24 hours, and some repeats. */
const KEPT = 20

/** Returns the history of a delivery after an attempt. */
function withAttempt(row: DeliveryRow, { status, error }: DeliveryResult, ms: number): string {
  const latest = {
    at: row.attempted_at ?? row.created_at,
    status,
    error,
    duration_ms: Math.round(ms),
  }
  return JSON.stringify([...attemptsOf(row), latest].slice(-KEPT))
}

/** The metric of messages that wait for delivery, the same from every server. */
export function backlogMetric({ db, metrics }: Pick<Deps, 'db' | 'metrics'>): void {
  metrics.gauge(
    'remit_webhook_backlog',
    'Webhook messages of all organizations that are not delivered yet',
    cached(async () => {
      const counts = await eachPart(
        db,
        (part) =>
          on<Tables>(db)
            .selectFrom('webhook_delivery')
            .select((of) => of.fn.countAll().as('count'))
            .where(inPart(part))
            .where('state', '=', 'waiting')
            .executeTakeFirstOrThrow(),
        // Without the organizations that are unavailable.
        () => undefined,
      )
      return counts.reduce((sum, { count }) => sum + Number(count), 0)
    }),
  )
}
