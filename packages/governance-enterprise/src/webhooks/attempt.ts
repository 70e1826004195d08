import type { Entry, WebhookFormat } from '@remit/contract'
import { Failure } from '@remit/core/base'
import type { Ledger } from '@remit/core/ledger/records'
import type { Deps } from '@remit/core/module'
import { OutboundError } from '@remit/core/net'
import type { Outbound } from '@remit/core/net'
import { Webhook as Signer } from 'standardwebhooks'
import { sendMail } from './email.ts'
import { chatBody, isChat } from './formats.ts'
import { bodyOf, messageIdOf } from './message.ts'
import type { DeliveredEvent } from './message.ts'
import { noticeOf } from './notice.ts'
import { approversOf } from './recipients.ts'
import { addressesIn } from './target.ts'
import type { DeliveryRow } from '../tables/webhooks.ts'

/** The result of an attempt. `error` is a stable code; nothing that a receiver sent is stored. */
export interface Attempted {
  /** `gone` and `failed` are not retried. */
  readonly is: 'delivered' | 'refused' | 'gone' | 'failed'
  readonly status: number | null
  readonly error: string | null
}

interface Target {
  readonly url: string
  readonly secret: string
  readonly format: WebhookFormat
}

/**
 * Sends a message once; for programs, signed according to Standard Webhooks. The entry is read now: entries
 * erased in the meantime are not sent. Rejects only if the ledger cannot be read.
 */
export async function attempt(
  deps: Pick<Deps, 'outbound' | 'ledger' | 'settings' | 'db' | 'clock' | 'offered'>,
  { org_id, webhook_id, seq, event }: DeliveryRow,
  { url, secret, format }: Target,
  nowMs: number,
): Promise<Attempted> {
  const { outbound, ledger, settings } = deps
  const entry = await read(ledger, org_id, seq)
  if (entry === null) return { is: 'failed', status: null, error: 'entry_pruned' }
  if (entry.data === null) return { is: 'failed', status: null, error: 'entry_erased' }
  const id = messageIdOf(org_id, seq)
  if (format === 'email') {
    if (!settings.smtp) return { is: 'refused', status: null, error: 'no_mail_server' }
    const to = await recipientsOf(deps, url, org_id, entry)
    if (to.length === 0) return { is: 'failed', status: null, error: 'no_recipient' }
    const notice = noticeOf(entry, settings.baseUrl)
    return sendMail(settings.smtp, notice, { id: `${id}.${webhook_id}`, to })
  }
  if (isChat(format)) {
    const body = chatBody(format, noticeOf(entry, settings.baseUrl))
    return post(outbound, url, { 'content-type': 'application/json' }, body)
  }
  const body = bodyOf(event as DeliveredEvent, entry)
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': new Signer(secret).sign(id, new Date(nowMs), body),
  }
  return post(outbound, url, headers, body)
}

async function post(
  outbound: Outbound,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Attempted> {
  try {
    const { status } = await outbound.fetch(url, { method: 'POST', headers, body })
    if (status >= 200 && status < 300) return { is: 'delivered', status, error: null }
    if (status === 410) return { is: 'gone', status, error: 'gone' }
    return { is: 'refused', status, error: 'http_status' }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    return { is: 'refused', status: null, error: error.code }
  }
}

/** The addresses of a message: those of the webhook, else of the people who can vote. */
async function recipientsOf(
  deps: Parameters<typeof approversOf>[0],
  url: string,
  orgId: string,
  { data }: Entry,
): Promise<readonly string[]> {
  const named = addressesIn(url)
  if (named.length > 0) return named
  const { id } = (data?.['approval'] ?? {}) as { readonly id?: string }
  return id === undefined ? [] : approversOf(deps, orgId, id)
}

/** The entry; null if it was pruned. */
async function read(ledger: Ledger, orgId: string, seq: number): Promise<Entry | null> {
  try {
    return await ledger.entry(orgId, seq)
  } catch (error) {
    if (error instanceof Failure && error.code === 'ledger_pruned') return null
    throw error
  }
}
