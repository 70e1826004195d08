/**
 * Sends the requests of one part to a new installation, one at a time, and writes what it answers and
 * stores: `run-part.ts DIALECT PART SHARE [FOLDER]`. Prints digests and counts as JSON.
 */
import { createHash } from 'node:crypto'
import { createWriteStream, mkdirSync } from 'node:fs'
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { draw, setHurry, setTime, timeNow } from './determinism.ts'
import { startProduct } from './product.ts'
import type { Dialect } from './product.ts'
import { PARTS } from './requests.ts'
import type { Row } from './requests.ts'
import { varied } from './variations.ts'
import type { Sent } from './variations.ts'
import { World } from './world.ts'

const [dialect = 'sqlite', title = '', share = '1', folder] = process.argv.slice(2)
const part = PARTS.get(title)
if (!part) throw new Error(`there is no part ${title}`)

const OPERATOR_KEY = `rmo_${'k'.repeat(43)}`
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
const ids = {
  next(prefix: string, ms: number): string {
    let time = ''
    for (let left = ms; time.length < 10; left = Math.floor(left / 32))
      time = (DIGITS[left % 32] ?? '') + time
    const random = [...draw(`id ${prefix}`).subarray(0, 16)]
    return prefix + time + random.map((byte) => DIGITS[byte % 32]).join('')
  },
}

// Sections of the record, each with a digest of its own.
const sections = new Map<string, ReturnType<typeof openSection>>()
function openSection(kind: string) {
  const digest = createHash('sha256')
  const file = folder === undefined ? null : createWriteStream(`${folder}/${title}.${kind}.jsonl`)
  return {
    write(value: unknown) {
      const line = `${JSON.stringify(value, (_, item: unknown) => asText(item))}\n`
      digest.update(line)
      file?.write(line)
    },
    end: () => {
      file?.end()
      return digest.digest('hex').slice(0, 16)
    },
  }
}
/** A buffer has the same text from both databases. */
function asText(item: unknown): unknown {
  const { type, data } = (item ?? {}) as { type?: unknown; data?: unknown }
  return type === 'Buffer' && Array.isArray(data)
    ? Buffer.from(data as number[]).toString('hex')
    : item
}
function sectionOf(of: string) {
  const known = sections.get(of) ?? openSection(of)
  sections.set(of, known)
  return known
}
if (folder !== undefined) mkdirSync(folder, { recursive: true })

const world = new World()
/** A service of measured spend, which also fails. */
const source = createServer((_, response) => {
  const amounts = [12.5, 12.5, 80, -1, null]
  const body = world.chance(85) ? JSON.stringify({ usd: world.pick(amounts) }) : 'no JSON'
  response.writeHead(world.pick([200, 200, 200, 200, 500])).end(body)
})
await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', () => resolve()))
const { port } = source.address() as AddressInfo
const product = await startProduct(dialect as Dialect, {
  clock: { now: timeNow },
  ids,
  ...(part.has !== 'batches' && { maxBatch: 1 }),
  ...(part.has === 'a spend source' && { spendUrl: `http://127.0.0.1:${port}/spend` }),
  ...(part.has === 'an operator' && { operatorKey: OPERATOR_KEY }),
})
const organization = await product.organization('Corpus', 'enterprise')
world.keep('org_', organization.id)
const caller = {
  orgId: organization.id,
  plan: 'enterprise',
  principal: { type: 'key', id: organization.keyId, role: 'admin', person: null },
  configVersion: null,
} as const

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let count = 0
const reached = new Set<string>()
function reach(text: string): void {
  for (const [, word = ''] of text.matchAll(/"(?:reason|code)\\?":\\?"([a-z_]+)/g))
    reached.add(word)
}

/** Sends a request and records the answer without what the machine decides. */
async function send(sent: Sent): Promise<void> {
  const id = `${title}-${++count}`
  const jump = world.below(200) === 0 ? world.pick([3_600_000, 3_600_000, 86_400_000]) : 0
  setTime(timeNow() + world.below(1_500) + jump)
  const headers = { 'x-request-id': id, ...sent.headers }
  const answer = await new Promise<{ status: number; headers: string[][]; body: string }>(
    (resolve, reject) => {
      const { method, path } = sent
      const request = httpRequest(product.url, { agent, method, path, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const raw = response.rawHeaders
          const pairs = raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []))
          resolve({
            status: response.statusCode ?? 0,
            headers: pairs.filter(([name]) => name !== 'Date'),
            body: Buffer.concat(chunks).toString(),
          })
        })
      })
      request.on('error', reject)
      request.end(sent.body)
    },
  )
  const etag = answer.headers.find(([name]) => name?.toLowerCase() === 'etag')?.[1]
  world.learn(sent.path, answer.body, etag)
  reach(answer.body)
  // The refusal of a credential, as a key or to an introspection, is recorded after the answer.
  if (answer.status === 401 || sent.path.startsWith('/v1/identity/')) await product.settled()
  sectionOf('answers').write({ id, ...sent, answer })
}

function requestOf(row: Row): Sent {
  const { method, by } = row
  const path = row.path.replaceAll(/\{(\??)([\w:-]+)\}/g, (_, isQuery: string, of: string) => {
    const value = String(world.valueOf(isQuery + of))
    return isQuery ? value : encodeURIComponent(value)
  })
  const headers = world.fill(row.headers ?? {}) as Record<string, string>
  if (headers['if-match'] === '$etag') headers['if-match'] = world.tagOf(path)
  const key = by === 'secret' ? world.known('secret') : world.keys[by]
  if (key !== undefined) headers['authorization'] = `Bearer ${key}`
  const content = world.fill(row.body)
  if (content === undefined) return { method, path, headers }
  headers['content-type'] = 'application/json'
  return { method, path, headers, body: JSON.stringify(content) }
}
const change = (method: string, path: string, body?: unknown) =>
  send(requestOf({ weight: 1, by: 'admin', method, path, body }))

/** A key of each role, one of an agent, and those that are refused. */
async function createKeys(): Promise<void> {
  world.keys['admin'] = organization.key
  world.keys['operator'] = OPERATOR_KEY
  for (const plan of ['free', 'team'] as const)
    world.keys[plan] = (await product.organization(`On ${plan}`, plan)).key
  const people = { ada: 'ada@example.org', bob: 'bob@example.org' } as const
  for (const role of ['ingest', 'approver', 'read', 'ada', 'bob', 'revoked']) {
    const person = role in people ? { person: people[role as keyof typeof people] } : {}
    const named = role in people ? 'approver' : role === 'revoked' ? 'ingest' : role
    await change('POST', '/v1/keys', { role: named, ...person })
    world.keys[role] = world.newest('secret')
  }
  await change('DELETE', `/v1/keys/${world.newest('key_')}`)
}

const draws = (rows: readonly Row[]): Row => {
  const sum = rows.reduce((total, { weight }) => total + weight, 0)
  let at = (world.below(1e6) / 1e6) * sum
  return rows.find(({ weight }) => (at -= weight) < 0) ?? (rows[0] as Row)
}

/** Tables that a stage or the record needs. */
const TABLES =
  'agent_permission agent_mode agent_stop spend_limit spend_total spend_hold policy_rule policy_revision approval_rule approval_request agent trust_policy organization ingest_key idempotency_key ledger_entry ledger_checkpoint webhook'

/** Breaks one thing after the other: a table is away, or no entry can be written. */
function outages() {
  const tables = TABLES.split(' ').filter((table) => product.tables.includes(table))
  const broken =
    dialect === 'sqlite'
      ? [`create trigger broken before insert on ledger_entry begin select raise(abort, 'x'); end`]
      : [
          `create function broken() returns trigger language plpgsql as $$ begin raise exception 'x'; end $$`,
          `create trigger broken before insert on ledger_entry execute function broken()`,
        ]
  const mended =
    dialect === 'sqlite'
      ? ['drop trigger broken']
      : ['drop trigger broken on ledger_entry', 'drop function broken()']
  let mend: readonly string[] = []
  let left = 6
  const run = async (statements: readonly string[]) => {
    for (const statement of statements) await product.run(statement)
  }
  const end = async () => {
    await run(mend)
    mend = []
  }
  return {
    end,
    async next() {
      if (left-- > 0) return
      left = mend.length > 0 ? 1 : 6
      if (mend.length > 0) return end()
      const table = world.pick([...tables, ''])
      // A setting can change every rule, so nothing is known by heart then.
      const actions = [`data.n${world.below(900) + 1}`]
      await change('PATCH', '/v1/organization', { settings: { consequential_actions: actions } })
      await run(table === '' ? broken : [`alter table ${table} rename to away`])
      mend = table === '' ? mended : [`alter table away rename to ${table}`]
    },
  }
}

await createKeys()
for (const row of part.setup) {
  await send(requestOf(row))
  if (row.path.endsWith('/credentials')) world.keys['agent'] ??= world.newest('secret')
}
const enough = part.requests * Number(share)
const outage = part.has === 'outages' ? outages() : null
while (count < enough) {
  await outage?.next()
  if (part.has === 'batches' && world.chance(90)) {
    const bodies = Array.from({ length: 32 }, () => world.fill(part.rows[world.below(2)]?.body))
    setTime(timeNow() + world.below(60_000))
    count += bodies.length
    const settled = await product.decideTogether(caller, bodies)
    sectionOf('answers').write(
      settled.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason))),
    )
    continue
  }
  setHurry(world.chance(1) ? 1 : 0)
  await send(varied(world, requestOf(draws(part.rows))))
  setHurry(0)
}
await outage?.end()

const SECTIONS: readonly [RegExp, string][] = [
  [/^ledger_/, 'ledger'],
  [/^idempotency_key$/, 'idempotency'],
  [/^spend_/, 'spend'],
  [/^approval_request$/, 'approvals'],
  [/^webhook_delivery$/, 'outbox'],
]
/** Records the rows of some tables, in a section of their own or in that of their table. */
async function recordRows(tables: readonly string[], of?: string): Promise<void> {
  for (const table of tables) {
    const section = of ?? SECTIONS.find(([pattern]) => pattern.test(table))?.[1] ?? 'rest'
    const rows = await product.rows(table)
    const lines = rows.map((row) => JSON.stringify({ table, row }))
    lines.forEach(reach)
    for (const line of lines.toSorted()) sectionOf(section).write(JSON.parse(line))
  }
}
// The times of migrations are those of the machine.
await recordRows(product.tables.filter((table) => !/^(migration_|schema_release)/.test(table)))
// What a pruned ledger keeps.
setTime(timeNow() + 401 * 86_400_000)
sectionOf('pruned').write(await product.prune(organization.id))
await recordRows(
  product.tables.filter((table) => table.startsWith('ledger_')),
  'pruned',
)
agent.destroy()
source.close()
await product.close()
const digests = Object.fromEntries(
  [...sections].map(([of, section]) => [`${title}/${of}`, section.end()]),
)
const { user, system } = process.cpuUsage()
const seconds = (user + system) / 1e6
console.log(JSON.stringify({ digests, count, seconds, reached: [...reached].toSorted() }))
