import { GuardRequest } from '@remit/contract'
import type { Entry, WebhookFormat } from '@remit/contract'
import { Failure } from '@remit/core/base'
import type { Ledger } from '@remit/core/ledger/records'
import type { Deps, SmtpSettings } from '@remit/core/module'
import { OutboundError, hostOf, isLoopbackHost } from '@remit/core/net'
import type { Outbound } from '@remit/core/net'
import { Webhook as Signer } from 'standardwebhooks'
import { settingsOf } from '@remit/core/orgs/settings'
import nodemailer from 'nodemailer'
import { isRecord, readData } from '@remit/contract/entries'
import type { EntryReading, EventKind } from '@remit/contract/entries'
import {
  amountText,
  failedText,
  resourceText,
  spellOut,
  summaryOf,
  titleOf,
} from '@remit/contract/fit'
import type { Asked } from '@remit/contract/fit'
import { inspectContent as checkContent } from '@remit/core/guard'
import { bodyOf, messageIdOf } from './outbox.ts'
import type { DeliveredEvent, TESTED } from './outbox.ts'
import { addressesIn, isAddress } from './target.ts'
import type { DeliveryRow } from '../tables/webhooks.ts'
import { statusAt } from '../approvals/lifecycle.ts'
import { requirementsOf } from '../approvals/request.ts'
import type { Voter } from '../approvals/requirements.ts'
import { findRequest } from '../approvals/store.ts'
import { peopleOf, whyNot } from '../approvals/vote.ts'

/** The result of an attempt. `error` is a stable code; nothing that a receiver sent is stored. */
export interface DeliveryResult {
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
): Promise<DeliveryResult> {
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
): Promise<DeliveryResult> {
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

/** The most people that one message goes to. */
const MAX_RECIPIENTS = 100

/**
 * Returns the addresses of those who can vote on a request now: active people of the organization, and
 * addresses that a rule names. Empty if nobody can, such as after the decision.
 */
async function approversOf(
  deps: Pick<Deps, 'db' | 'clock' | 'offered'>,
  orgId: string,
  requestId: string,
): Promise<string[]> {
  const { db, clock } = deps
  const row = await findRequest(db, orgId, requestId)
  const now = clock.now()
  if (!row || statusAt(row, now) !== 'pending') return []
  const people = peopleOf(deps)
  const organization = await db
    .selectFrom('organization')
    .select('settings')
    .where('id', '=', orgId)
    .executeTakeFirstOrThrow()
  const { four_eyes: fourEyes, require_separate_keys: apart } = settingsOf(organization)
  const parties = (await people.parties(db, [row], fourEyes))(row)
  const known = (await deps.offered('people')?.deciders(db, orgId)) ?? []
  const voters: Voter[] = known
    .filter(({ role }) => role === 'approver' || !apart)
    .map(({ id, email, role, names }) => ({
      type: 'person',
      id,
      email,
      role,
      names,
      named: true,
      key_id: id,
    }))
  // Only the names of rules count for people whom the organization does not know.
  for (const { approvers } of requirementsOf(row))
    for (const name of approvers?.users ?? [])
      if (isAddress(name) && (await people.finder(db, orgId)(name)) === null)
        voters.push({ type: 'person', id: name, named: true, role: '', key_id: name })
  const able = voters.filter((voter) => whyNot(row, parties, voter, now) === null)
  return [...new Set(able.map(({ email, id }) => email ?? id).filter(isAddress))].slice(
    0,
    MAX_RECIPIENTS,
  )
}

const OPEN = 'Open in Remit'

/** Characters that Slack reads as links, mentions and entities. */
const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Texts of others are `plain_text`, which has neither links nor mentions. */
const plain = (text: string) => ({ type: 'plain_text', text, emoji: false })

/** Body of an incoming webhook of Slack, in Block Kit. */
function slackBody({ title, fields, link }: Notice): unknown {
  return {
    text: slackText(title),
    blocks: [
      { type: 'header', text: plain(title) },
      ...(fields.length > 0
        ? [{ type: 'section', fields: fields.map(([name, value]) => plain(`${name}\n${value}`)) }]
        : []),
      ...(link === null
        ? []
        : [{ type: 'section', text: { type: 'mrkdwn', text: `<${slackText(link)}|${OPEN}>` } }]),
    ],
  }
}

/** Text runs, unlike text blocks, have no Markdown. */
const run = (text: string, more: object = {}) => ({ type: 'TextRun', text, ...more })

/** Body of a workflow of Microsoft Teams that posts a card, in Adaptive Cards 1.4. */
function teamsBody({ title, fields, link }: Notice): unknown {
  const line = (inlines: readonly object[]) => ({ type: 'RichTextBlock', inlines })
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      line([run(title, { size: 'Medium', weight: 'Bolder' })]),
      ...fields.map(([name, value]) => line([run(`${name}: `, { isSubtle: true }), run(value)])),
    ],
    actions: link === null ? [] : [{ type: 'Action.OpenUrl', title: OPEN, url: link }],
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content }] }
}

const BODIES = { slack: slackBody, teams: teamsBody } as const

/** The body of a message in the format of a chat. */
const chatBody = (format: keyof typeof BODIES, notice: Notice): string =>
  JSON.stringify(BODIES[format](notice))

const isChat = (format: WebhookFormat): format is keyof typeof BODIES =>
  Object.hasOwn(BODIES, format)

const CONNECT_MS = 5_000
const SILENCE_MS = 10_000
/** Less than the lease of an attempt. */
const TOTAL_MS = 30_000

/** Codes of the library, as errors of a delivery. */
const ERRORS: Readonly<Record<string, string>> = {
  EAUTH: 'smtp_login_refused',
  EENVELOPE: 'smtp_recipient_refused',
  EMESSAGE: 'smtp_message_refused',
  EDNS: 'name_not_found',
  ETLS: 'tls_failed',
  ETIMEDOUT: 'timeout',
  ECONNECTION: 'connection_failed',
  ESOCKET: 'connection_failed',
}

/** Sends one message to some addresses. Never rejects. */
async function sendMail(
  { url, from }: SmtpSettings,
  notice: Notice,
  { id, to }: { readonly id: string; readonly to: readonly string[] },
): Promise<DeliveryResult> {
  const transport = nodemailer.createTransport(transportOf(new URL(url)))
  const late = setTimeout(() => transport.close(), TOTAL_MS)
  try {
    await transport.sendMail({
      from,
      to: [...to],
      subject: notice.title,
      text: textOf(notice),
      html: htmlOf(notice),
      messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
      // RFC 3834: no answers of absent people.
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
    return { is: 'delivered', status: null, error: null }
  } catch (error) {
    const { code = '' } = error as { code?: string }
    return { is: 'refused', status: null, error: ERRORS[code] ?? 'smtp_failed' }
  } finally {
    clearTimeout(late)
    transport.close()
  }
}

/** TLS is required, except to this machine. */
function transportOf(url: URL) {
  const { protocol, port, username, password } = url
  const secure = protocol === 'smtps:'
  const host = hostOf(url)
  const isPlain = isLoopbackHost(host)
  return {
    host,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: !secure && !isPlain,
    ignoreTLS: !secure && isPlain,
    tls: { minVersion: 'TLSv1.2' as const },
    ...(username !== '' && {
      auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

const textOf = ({ title, fields, link }: Notice): string =>
  [
    title,
    '',
    ...fields.map(([name, value]) => `${name}: ${value}`),
    ...(link === null ? [] : ['', `Open in Remit: ${link}`]),
    '',
  ].join('\n')

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}
const escaped = (text: string): string => text.replace(/[&<>"]/g, (one) => ENTITIES[one] ?? one)

function htmlOf({ title, fields, link }: Notice): string {
  const rows = fields.map(
    ([name, value]) =>
      `<tr><td style="color:#55605e;padding:2px 16px 2px 0">${escaped(name)}</td><td>${escaped(value)}</td></tr>`,
  )
  const open = link === null ? '' : `<p><a href="${escaped(link)}">Open in Remit</a></p>`
  return `<p><strong>${escaped(title)}</strong></p><table>${rows.join('')}</table>${open}`
}

/** An event for people, in a chat or an e-mail: no vote, and nothing of the context but the amount. */
interface Notice {
  readonly title: string
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** The page of the console; null where the server does not know its address. */
  readonly link: string | null
}

const MAX_TITLE = 150
const MAX_VALUE = 300

/** The notice of an entry. `baseUrl` is the public address of the server. */
function noticeOf(entry: Entry, baseUrl: string | undefined): Notice {
  const { title, fields, path } = contentOf(entry)
  return {
    title: shown(title, MAX_TITLE),
    fields: fields.flatMap(([name, value]) =>
      value === null || value === undefined || value === ''
        ? []
        : [[name, shown(value, MAX_VALUE)] as const],
    ),
    link: baseUrl === undefined ? null : `${baseUrl.replace(/\/+$/, '')}/console${path}`,
  }
}

/** A text for people: credentials cut out, invisible characters spelled out, not too long. */
function shown(text: string, most: number): string {
  const { redacted = text } = checkContent(
    GuardRequest.parse({ content: text, checks: ['secrets'] }),
  )
  const spelled = spellOut(redacted)
  return spelled.length <= most ? spelled : `${spelled.slice(0, most - 1).toWellFormed()}…`
}

interface Content {
  readonly title: string
  readonly fields: readonly (readonly [name: string, value: string | null | undefined])[]
  /** Of the page in the console. */
  readonly path: string
}

type ToldKind = EventKind | typeof TESTED
type ContentOf<Kind extends ToldKind> = (
  entry: Entry,
  data: EntryReading<Kind>,
  path: string,
) => Content

const asked = ({ agent_id, action, resource }: Entry): Content['fields'] => [
  ['Agent', agent_id],
  ['Action', action],
  ['Resource', resource],
]

/** By kind: one that becomes an event has to be told to people too. */
const CONTENTS: { readonly [Kind in ToldKind]: ContentOf<Kind> } = {
  'approval.requested': approvalContent,
  'approval.decided': approvalContent,
  'approval.expired': approvalContent,
  'approval.consumed': approvalContent,
  'webhook.tested': () => ({
    title: 'Test of a webhook',
    fields: [],
    path: '/settings?tab=webhooks',
  }),
  'authorization.decided': (entry, _, path) => ({
    title: `Denied: ${entry.action ?? ''}`,
    fields: [...asked(entry), ['Reason', entry.reason]],
    path,
  }),
  'enforcement.gap': (entry, _, path) => ({
    title: `Ran without an allow: ${entry.action ?? ''}`,
    fields: asked(entry),
    path,
  }),
  'mcp.tool_changed': (_, { tool }) => ({
    title: 'The definition of a tool changed',
    fields: [
      ['Tool', tool?.name],
      ['Server', tool?.upstream],
    ],
    path: '/mcp-tools',
  }),
  'policy_set.drifted': (_, { set, kind, name }, path) => ({
    title: `Changed outside of its policy set: ${name ?? ''}`,
    fields: [
      ['Policy set', set],
      ['Kind', kind],
    ],
    path,
  }),
  'budget.threshold': (_, data, path) => ({
    title: `Budget ${data.budget_id ?? ''}: ${data.threshold_percent ?? ''}% reached`,
    fields: [
      ['Value', data.value],
      ['Window', data.window],
      ['Used', data.used?.toString()],
      ['Limit', data.limit?.toString()],
      ['Unit', data.unit],
    ],
    path,
  }),
  'quota.threshold': (_, { threshold_percent: percent, month, decisions, limit }) => ({
    title: `Decisions of the month: ${percent ?? ''}% of the limit`,
    fields: [
      ['Month', month],
      ['Decisions', decisions?.toString()],
      ['Limit', limit?.toString()],
    ],
    path: '/settings?tab=usage',
  }),
  'spend.threshold': (_, data) => ({
    title: `Spend limit: ${data.threshold_percent ?? ''}% reached`,
    fields: [
      ['Agent', data.agent_id],
      ['Window', data.window],
      ['Spent in USD', data.spent_usd?.toString()],
      ['Limit in USD', data.limit_usd?.toString()],
    ],
    path: '/spend',
  }),
}

function contentOf(entry: Entry): Content {
  const { kind, seq, data } = entry
  const path = `/ledger/${seq}`
  // A newer release may have left messages about kinds of its own.
  if (!Object.hasOwn(CONTENTS, kind)) return { title: kind, fields: asked(entry), path }
  const told = kind as ToldKind
  return CONTENTS[told](entry, readData(told, data) as never, path)
}

const OUTCOMES: Readonly<Record<string, string>> = {
  'approval.requested': 'Approval needed',
  'approval.expired': 'Approval expired',
  'approval.consumed': 'Approval used',
}

/** Only the first entry of a request has its facts. */
function approvalContent(entry: Entry): Content {
  const { kind, action, agent_id, data } = entry
  const { approval } = readData('approval.requested', data)
  const { id, status, votes, expires_at: end, context } = approval ?? {}
  const rules = (approval?.requirements ?? []).map((rule) => ({
    rule_id: rule.rule_id ?? '',
    description: rule.description,
    condition_failed: rule.condition_failed === true,
  }))
  const question = {
    action: action ?? '',
    resource: (approval?.resource ?? entry.resource) as Asked['resource'],
    context: isRecord(context) ? context : {},
  }
  const outcome = OUTCOMES[kind] ?? (status === 'approved' ? 'Approved' : 'Rejected')
  return {
    title: `${outcome}: ${summaryOf(question)}`,
    fields: [
      ['Agent', agent_id],
      ['Request', titleOf(question)],
      ['Resource', resourceText(question)],
      ['Amount', amountText(question)],
      // The description says what matched, where the condition could be evaluated.
      [
        'Rule',
        rules
          .map((rule) => (rule.condition_failed ? null : rule.description) ?? rule.rule_id)
          .join('; '),
      ],
      ['Warning', failedText(rules)],
      ['Votes of', votes?.map(({ approver: by }) => by?.email ?? by?.id).join(', ')],
      [
        'Decide before',
        kind === 'approval.requested' ? end?.replace(/T(.{8}).*/, ' $1 UTC') : null,
      ],
    ],
    path: `/approvals/${encodeURIComponent(id ?? '')}`,
  }
}
