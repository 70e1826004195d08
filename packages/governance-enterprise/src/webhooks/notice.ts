import { GuardRequest } from '@remit/contract'
import type { Entry } from '@remit/contract'
import type { EventKind } from '@remit/contract/entries'
import {
  amountText,
  failedText,
  resourceText,
  spellOut,
  summaryOf,
  titleOf,
} from '@remit/contract/fit'
import type { Asked, RequiringRule } from '@remit/contract/fit'
import { inspectContent as checkContent } from '@remit/core/guard'
import type { TESTED } from './message.ts'

/** An event for people, in a chat or an e-mail: no vote, and nothing of the context but the amount. */
export interface Notice {
  readonly title: string
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** The page of the console; null where the server does not know its address. */
  readonly link: string | null
}

const MAX_TITLE = 150
const MAX_VALUE = 300

type Data = Readonly<Record<string, unknown>>

/** The notice of an entry. `baseUrl` is the public address of the server. */
export function noticeOf(entry: Entry, baseUrl: string | undefined): Notice {
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

type ContentOf = (entry: Entry, data: Data, path: string) => Content

const approval: ContentOf = (entry, data) =>
  approvalContent(entry, (data['approval'] ?? {}) as Data)

const asked = ({ agent_id, action, resource }: Entry): Content['fields'] => [
  ['Agent', agent_id],
  ['Action', action],
  ['Resource', resource],
]

/** By kind: one that becomes an event has to be told to people too. */
const CONTENTS: Readonly<Record<EventKind | typeof TESTED, ContentOf>> = {
  'approval.requested': approval,
  'approval.decided': approval,
  'approval.expired': approval,
  'approval.consumed': approval,
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
  'mcp.tool_changed': (_, data) => {
    const { name, upstream } = (data['tool'] ?? {}) as Data
    const fields = [
      ['Tool', textOf(name)],
      ['Server', textOf(upstream)],
    ] as const
    return { title: 'The definition of a tool changed', fields, path: '/mcp-tools' }
  },
  'quota.threshold': (_, data) => ({
    title: `Decisions of the month: ${textOf(data['threshold_percent'])} %`,
    fields: [
      ['Month', textOf(data['month'])],
      ['Decisions', textOf(data['decisions'])],
      ['Limit', textOf(data['limit'])],
    ],
    path: '/settings?tab=usage',
  }),
  'spend.threshold': (_, data) => ({
    title: `Spend limit: ${textOf(data['threshold_percent'])} %`,
    fields: [
      ['Agent', textOf(data['agent_id'])],
      ['Window', textOf(data['window'])],
      ['Spent in USD', textOf(data['spent_usd'])],
      ['Limit in USD', textOf(data['limit_usd'])],
    ],
    path: '/spend',
  }),
}

function contentOf(entry: Entry): Content {
  const { kind, seq, data } = entry
  const path = `/ledger/${seq}`
  // A newer release may have left messages about kinds of its own.
  const known = Object.hasOwn(CONTENTS, kind) ? CONTENTS[kind as EventKind] : null
  return known?.(entry, data ?? {}, path) ?? { title: kind, fields: asked(entry), path }
}

const OUTCOMES: Readonly<Record<string, string>> = {
  'approval.requested': 'Approval needed',
  'approval.expired': 'Approval expired',
  'approval.consumed': 'Approval used',
}

interface Recorded {
  readonly id?: string
  readonly status?: string
  readonly resource?: Asked['resource']
  readonly context?: Asked['context']
  readonly expires_at?: string
  readonly votes?: readonly {
    readonly approver: { readonly id: string; readonly email?: string }
  }[]
  readonly requirements?: readonly RuleOfNotice[]
}

interface RuleOfNotice extends RequiringRule {
  readonly description: string | null
}

/** Only the first entry of a request has its facts. */
function approvalContent({ kind, action, agent_id, resource: text }: Entry, data: Data): Content {
  const recorded = data as Recorded
  const { id = '', votes = [], requirements = [], context = {} } = recorded
  const question = { action: action ?? '', resource: recorded.resource ?? text, context }
  const isOpen = kind === 'approval.requested'
  const outcome = OUTCOMES[kind] ?? (recorded.status === 'approved' ? 'Approved' : 'Rejected')
  return {
    title: `${outcome}: ${summaryOf(question)}`,
    fields: [
      ['Agent', agent_id],
      ['Request', titleOf(question)],
      ['Resource', resourceText(question)],
      ['Amount', amountText(question)],
      ['Rule', requirements.map(ruleText).join('; ')],
      ['Warning', failedText(requirements)],
      ['Votes of', votes.map(({ approver }) => approver.email ?? approver.id).join(', ')],
      ['Decide before', isOpen ? recorded.expires_at?.replace(/T(.{8}).*/, ' $1 UTC') : null],
    ],
    path: `/approvals/${encodeURIComponent(id)}`,
  }
}

/** The description says what matched, where the condition could be evaluated. */
const ruleText = ({ rule_id, description, condition_failed }: RuleOfNotice): string =>
  (condition_failed ? null : description) ?? rule_id

const textOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
