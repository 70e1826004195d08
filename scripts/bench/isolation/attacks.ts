import { post } from '../servers.ts'

/** The task of the attacker's process. It prepares immediately, and attacks from `start` to `stop`. */
export interface AttackerSpec {
  readonly target: Target
  readonly attacks: readonly string[]
}

export type FromAttacker =
  | { readonly kind: 'prepared' }
  /** Number of responses by status; 0 is no response. */
  | { readonly kind: 'stopped'; readonly statuses: Readonly<Record<number, number>> }

/** The task of the victim's process: measures from `start` to `stop`. */
export interface VictimSpec {
  readonly url: string
  readonly key: string
  /** A bare echo on the same machine: the cost of the other processes themselves. */
  readonly echoUrl: string
}

/** Milliseconds from sending a request to the end of its response. */
export type Latencies = Readonly<Record<'authorize' | 'health' | 'echo', readonly number[]>>

export type FromVictim =
  | { readonly kind: 'ready' }
  | { readonly kind: 'measured'; readonly latencies: Latencies }

/** The target of an attack: the server of one organization, with the keys of the attacker. */
export interface Target {
  readonly url: string
  readonly admin: string
  /** A key of the role `read`. */
  readonly read: string
}

/** A load that one organization can put on a shared server. */
interface Attack {
  /** Prepares rules and entries, before the measurement. */
  readonly prepare?: (target: Target) => Promise<void>
  requests(target: Target): Requests[] | Promise<Requests[]>
}

/** Requests of which a number runs at any time. */
interface Requests {
  readonly parallel: number
  readonly next: (turn: number) => Sent
}

interface Sent {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly key?: string
  /** JSON, as a value or as text. */
  readonly body?: object | string
}

/** Attacks until `signal` aborts; `count` is called with the status of each response. */
export async function run(
  attack: Attack,
  target: Target,
  signal: AbortSignal,
  count: (status: number) => void,
): Promise<void> {
  for (const { parallel, next } of await attack.requests(target)) {
    let turn = 0
    const one = async () => {
      while (!signal.aborted) count(await send(target, next(turn++), signal))
    }
    for (let started = 0; started < parallel; started++) void one()
  }
}

/**
 * Sends one request, reads its response completely and returns the status; 0 without a response.
 */
async function send(
  { url }: Target,
  { method = 'POST', path, key, body }: Sent,
  signal?: AbortSignal,
): Promise<number> {
  try {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    for await (const _ of response.body ?? []);
    return response.status
  } catch {
    return 0
  }
}

/** Sends a request that must succeed, to prepare an attack. */
async function sendOk(target: Target, sent: Sent): Promise<void> {
  const sendOnce = () => send(target, { key: target.admin, ...sent })
  let status = await sendOnce()
  // The server delays this answer, so that no pause is needed here.
  while (status === 429) status = await sendOnce()
  if (status < 200 || status > 299) throw new Error(`${sent.path} was answered with ${status}`)
}

/** Appends entries of one body, twenty at a time. */
async function append(target: Target, entries: number, body: object): Promise<void> {
  const sent = { path: '/v1/ledger', body: JSON.stringify(body) }
  for (let done = 0; done < entries; done += 20)
    await Promise.all(Array.from({ length: 20 }, () => sendOk(target, sent)))
}

const MIB = 1024 * 1024

/** Returns an object of `bytes` bytes with as many escaped names as fit: 15 bytes each. */
function manyNames(bytes: number): string {
  const names = Array.from({ length: Math.floor(bytes / 15) }, (_, i) => {
    const name = (36 ** 3 + i).toString(36).slice(-4).padStart(4, '0')
    return `"\\u0061${name}":0`
  })
  return `{${names.join(',')}}`
}

/** Names that strict parsing has to unescape and compare, in bodies of the maximum size. */
const escapedNames: Attack = {
  requests({ admin: key }) {
    const scorers = `{"scorer":"exact_match","results":[{"metadata":${manyNames(7 * MIB)}}]}`
    const names = manyNames(0.95 * MIB)
    const authorize = `{"agent_id":"a","action":"b","context":${names}}`
    const guard = `{"content":"a","names":${names}}`
    return [
      { parallel: 1, next: () => ({ path: '/v1/scorers', key, body: scorers }) },
      {
        parallel: 20,
        next: (turn) =>
          turn % 2 === 0
            ? { path: '/v1/authorize', key, body: authorize }
            : { path: '/v1/guard', key, body: guard },
      },
    ]
  },
}

const LOOP = 'context.many.exists(x, !(x in context.many))'
const SEARCH = 'context.text.matches("(a|aa|aaa)+(b|bb|bbb)+c")'
const MADE = 'context.many.map(x, "%.9f".format([x])).join("").size() == 1'

/** Stores rules of every stage with conditions that never match. */
async function storeHeavyRules(target: Target): Promise<void> {
  for (const condition of [LOOP, SEARCH, MADE])
    await sendOk(target, { path: '/v1/policies', body: { effect: 'deny', condition } })
  await sendOk(target, { path: '/v1/approval-rules/heavy', body: { condition: LOOP } })
  await sendOk(target, {
    path: '/v1/delegation/permissions/heavy',
    body: { agent_id: 'heavy', effect: 'deny', condition: LOOP },
  })
}

const CONTEXT = {
  many: Array.from({ length: 900 }, (_, i) => i),
  text: 'a'.repeat(30_000),
}

/** A request for which the heavy rules use their full time limit. */
const heavyRequest = (turn: number) => ({
  // Permissions are for one agent: for the others policies come first.
  agent_id: turn % 2 === 0 ? 'heavy' : 'other',
  action: 'heavy.action',
  context: CONTEXT,
})

/** 300 concurrent decisions, each of which uses the full computing time. */
const heavyConditions: Attack = {
  prepare: storeHeavyRules,
  requests({ admin: key }) {
    const bodies = [0, 1].map((turn) => JSON.stringify(heavyRequest(turn)))
    const next = (turn: number) => ({ path: '/v1/authorize', key, body: bodies[turn % 2] ?? '' })
    return [{ parallel: 300, next }]
  },
}

/** Dry-runs of 400 requests, ten at a time, with a read-only key: with light and heavy rules. */
const dryRuns: Attack = {
  prepare: storeHeavyRules,
  requests({ read: key }) {
    const light = Array.from({ length: 400 }, (_, i) => ({
      agent_id: `agent-${i}`,
      action: 'light.action',
      context: { many: [1, 2, 3], text: 'a' },
    }))
    const heavy = Array.from({ length: 20 }, (_, i) => heavyRequest(i))
    const bodies = [light, heavy].map((requests) => JSON.stringify({ requests }))
    const path = '/v1/compliance/policies/dry-run'
    return [
      { parallel: 10, next: (turn) => ({ path, key, body: bodies[turn % 4 === 3 ? 1 : 0] ?? '' }) },
    ]
  },
}

/** Lists of a thousand large entries, a hundred at a time, and exports, with a read-only key. */
const largeReads: Attack = {
  prepare: (target) =>
    append(target, 600, { action: 'large', metadata: { text: 'é'.repeat(24_000) } }),
  requests: ({ read: key }) => [
    {
      parallel: 100,
      next: (turn) => ({
        method: 'GET',
        path: turn % 10 === 9 ? '/v1/ledger/export' : '/v1/ledger?limit=1000&order=asc',
        key,
      }),
    },
  ],
}

/** Searches of a ledger for trace and decision ids that it does not have, with a key that only reads. */
const searches: Attack = {
  prepare: (target) =>
    append(target, 1_000, { action: 'searched', metadata: { text: 'é'.repeat(4_000) } }),
  requests: ({ read: key }) => [
    {
      parallel: 100,
      next: (turn) => {
        const filter = turn % 2 === 0 ? `trace_id=none-${turn}` : `decision_id=${decisionId(turn)}`
        return { method: 'GET', path: `/v1/ledger?${filter}`, key }
      },
    },
  ],
}

/** An id of a decision that was never made, of the last minute: ULIDs begin with their time. */
function decisionId(turn: number): string {
  const digits = '0123456789abcdefghjkmnpqrstvwxyz'
  let time = Date.now() - (turn % 60_000)
  let text = ''
  for (let i = 0; i < 10; i++) {
    text = (digits[time % 32] ?? '0') + text
    time = Math.floor(time / 32)
  }
  return `dec_${text}${'0'.repeat(16)}`
}

/** Outcomes of decisions that the server has to look for and does not find. */
const outcomeLinks: Attack = {
  requests: ({ admin: key }) => [
    {
      parallel: 100,
      next: (turn) => ({
        path: '/v1/ledger',
        key,
        body: { action: 'done', decision_id: decisionId(turn), outcome: 'success' },
      }),
    },
  ],
}

const PARALLEL = 10

/**
 * AuthZEN requests of a thousand evaluations, each of which is a decision with its entry: ten at a time,
 * each with a key of its own, since the rate is limited per key.
 */
const evaluations: Attack = {
  async requests({ url, admin }) {
    const keys = await Promise.all(
      Array.from({ length: PARALLEL }, () => newKey(url, admin, 'ingest')),
    )
    const body = JSON.stringify({
      subject: { type: 'user', id: 'ann' },
      action: { name: 'read' },
      evaluations: Array.from({ length: 1_000 }, (_, i) => ({
        resource: { type: 'document', id: `d-${i}` },
      })),
    })
    const path = '/access/v1/evaluations'
    return [
      { parallel: PARALLEL, next: (turn) => ({ path, key: keys[turn % PARALLEL] ?? admin, body }) },
    ]
  },
}

/** Creates a key of a role; returns its secret. */
export async function newKey(url: string, admin: string, role: string): Promise<string> {
  const response = await post({ url, organization: { key: admin } }, '/v1/keys', { role })
  const { secret } = (await response.json()) as { secret: string }
  return secret
}

const PATHS = ['/metrics', '/openapi.json', '/docs', '/docs/openapi-explorer.js']

/** The pages that need no key. */
const publicPages: Attack = {
  requests: () => [
    { parallel: 50, next: (turn) => ({ method: 'GET', path: PATHS[turn % PATHS.length] ?? '' }) },
  ],
}

const document = (kind: string, name: string, spec: object) => ({
  apiVersion: 'remit.dev/v1',
  kind,
  name,
  spec,
})

/** Plans whose properties are searched for as long as the server permits: no request breaks them. */
const PLAN = JSON.stringify({
  documents: [
    ...Array.from({ length: 12 }, (_, i) => {
      const condition = `context.a${i} > ${i}.0 && context.b${i} == "text-${i}"`
      return document('Policy', `many-facts-${i}`, { effect: 'allow', condition })
    }),
    ...Array.from({ length: 4 }, (_, i) =>
      document('Property', `nothing-is-denied-${i}`, { never: 'deny', max_cases: 1_000_000 }),
    ),
  ],
})

const properties: Attack = {
  requests: ({ read }) => [
    {
      parallel: 4,
      next: () => ({ path: '/v1/policy-sets/attack/plan', key: read, body: PLAN }),
    },
  ],
}

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'escaped-names': escapedNames,
  'heavy-conditions': heavyConditions,
  'dry-runs': dryRuns,
  'large-reads': largeReads,
  searches,
  'outcome-links': outcomeLinks,
  evaluations,
  properties,
  'public-pages': publicPages,
}
