import type { World } from './world.ts'

export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

type Json = Record<string, unknown>

const withBody = (sent: Sent, body: string): Sent => ({ ...sent, body })
const withHeaders = (sent: Sent, headers: Record<string, string>): Sent => ({
  ...sent,
  headers: { ...sent.headers, ...headers },
})

const member =
  (change: (body: Json, name: string, world: World) => void) =>
  (sent: Sent, world: World): Sent => {
    const body = JSON.parse(sent.body ?? '{}') as Json
    const names = Object.keys(body)
    if (names.length > 0) change(body, world.pick(names), world)
    return withBody(sent, JSON.stringify(body))
  }

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const VALUES = [
  null,
  5,
  -0.5,
  '',
  'x'.repeat(300),
  ' blank ',
  'a\u200bb',
  'A\u0301',
  [],
  {},
  [1],
  true,
  '*',
]

const BODIES: readonly ((sent: Sent, world: World) => Sent)[] = [
  member((body, name) => delete body[name]),
  member((body, name, world) => (body[name] = world.pick(VALUES))),
  member((body, name, world) => (body[name] = world.pick(VALUES))),
  member((body, name) => (body[`${name}_x`] = 1)),
  member((body) => (body['context'] = JSON.parse(nested(33)) as unknown)),
  member(
    (body) =>
      (body['context'] = Object.fromEntries(Array.from({ length: 2_001 }, (_, i) => [`n${i}`, 0]))),
  ),
  member((body) => (body['context'] = { text: 'x'.repeat(70_000) })),
  (sent) => withBody(sent, (sent.body ?? '').replace(/^\{/, '{"__proto__":{"a":1},')),
  (sent) => withBody(sent, (sent.body ?? '').replace(/^\{("\w+":(?:"[^"]*"|\d+))/, '{$1,$1')),
  (sent) => withBody(sent, (sent.body ?? '').replace(/\}$/, ',}')),
  (sent) => withBody(sent, (sent.body ?? '').replace(/\}$/, ',"n":1e400}')),
  (sent) => withBody(sent, (sent.body ?? '').replace(/\}$/, ',"s":"\\ud800"}')),
  (sent, world) =>
    withBody(sent, world.pick(['', '[]', 'null', '5', '{', `\ufeff${sent.body ?? ''}`, '\u0000'])),
  (sent, world) =>
    withBody(sent, world.chance(20) ? JSON.stringify({ x: 'y'.repeat(1_100_000) }) : '{}'),
]
const TYPES = [
  'text/plain',
  'application/json; charset=utf-8',
  'application/json; charset=latin1',
  '',
  'application/x-www-form-urlencoded',
  'application/jsonx',
  'APPLICATION/JSON',
]

/** Everything around the body. */
const AROUND: readonly ((sent: Sent, world: World) => Sent)[] = [
  (sent, world) => withHeaders(sent, { 'content-type': world.pick(TYPES) }),
  (sent) => withHeaders(sent, { 'content-encoding': 'gzip' }),
  (sent, world) =>
    withHeaders(sent, {
      authorization: world.pick(['Bearer x', 'Basic eDp5', '', `Bearer rmk_${'a'.repeat(40)}`]),
    }),
  (sent) => withHeaders(sent, { prefer: 'receipt' }),
  (sent) => withHeaders(sent, { prefer: 'receipt' }),
  (sent) =>
    withHeaders(sent, { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }),
  (sent, world) => withHeaders(sent, { 'x-request-id': world.pick(['', 'a b', 'x'.repeat(300)]) }),
  (sent, world) => withHeaders(sent, { 'idempotency-key': world.pick(['', 'x'.repeat(256), 'ü']) }),
  (sent) => withHeaders(sent, { origin: 'https://evil.example', cookie: 'remit=x' }),
  (sent, world) => ({ ...sent, method: world.pick(['GET', 'PUT', 'HEAD', 'OPTIONS', 'DELETE']) }),
  (sent, world) => ({
    ...sent,
    path: sent.path + world.pick(['/', '/x', '?x=1', '%2e', '?limit=1&limit=2']),
  }),
]

const ROLES = [
  'admin',
  'ingest',
  'approver',
  'read',
  'revoked',
  'free',
  'team',
  'ada',
  'agent',
  'secret',
  'operator',
]
const earlier = new WeakMap<World, Sent[]>()

/** Varies some requests: who sends them, their faults, and repeats of earlier ones under one key. */
export function varied(world: World, sent: Sent): Sent {
  const sentBefore = earlier.get(world) ?? []
  earlier.set(world, sentBefore)
  if (sentBefore.length > 0 && world.chance(6)) {
    const before = world.pick(sentBefore)
    // The same, or another body or another caller under the same key.
    if (world.chance(55)) return before
    const key = { 'idempotency-key': before.headers['idempotency-key'] ?? '' }
    if (world.chance(60))
      return withHeaders({ ...sent, path: before.path, method: before.method }, key)
    return withHeaders(before, { authorization: `Bearer ${world.keys['admin']}` })
  }
  if (sent.method !== 'GET' && world.chance(12)) {
    const keyed = withHeaders(sent, { 'idempotency-key': `k-${world.below(1e6)}` })
    sentBefore.unshift(keyed)
    sentBefore.splice(12)
    return keyed
  }
  if (world.chance(6)) {
    const role = world.pick(ROLES)
    const key = role === 'secret' ? world.known('secret') : world.keys[role]
    return withHeaders(sent, { authorization: `Bearer ${key}` })
  }
  if (sent.body !== undefined && world.chance(9)) return world.pick(BODIES)(sent, world)
  return world.chance(7) ? world.pick(AROUND)(sent, world) : sent
}
