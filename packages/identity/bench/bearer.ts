import { hash } from 'node:crypto'
import { Authenticator } from '@remit/core/keys'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { mint } from '../src/credentials/mint.ts'
import { Hasher } from '../src/credentials/hasher.ts'
import identity from '../src/index.ts'
import { alternate, median, ratio } from '@remit/testing/bench'
import type { BenchTools, Result } from '@remit/testing/bench'

const STORED = 2_000
const CHECKS = 100_000
const LOOKS = 4_000
const REQUESTS = 400

/** The cost of the credential check, compared with its lower bound and within a request. */
export async function bearerSuite(tools: BenchTools): Promise<Result[]> {
  const remit = await createTestRemit({ modules: [identity] })
  try {
    const secrets = await store(remit)
    return [
      await againstTheLeast(tools, remit, secrets),
      await withinARequest(tools, remit, secrets),
    ]
  } finally {
    await remit.close()
  }
}

/** Credentials of one agent, beyond the limits of the API. */
async function store(remit: TestRemit): Promise<string[]> {
  const { id: orgId, key } = await remit.organization()
  const body = { agent_id: 'payer', owners: [{ type: 'team', id: 'bench' }] }
  const made = await remit.call('POST', '/v1/identity/agents', { key, body })
  if (made.status !== 201) throw new Error(await made.text())
  const hasher = new Hasher()
  const grant = {
    agentId: 'payer',
    scopes: ['authorize', 'guard'] as const,
    expiresAt: Date.now() + 3_600_000,
    issuedBy: 'bench',
  }
  return remit.db.transaction().execute(async (tx) => {
    const scope = { tx, orgId, recordedAt: new Date().toISOString() }
    const secrets: string[] = []
    while (secrets.length < STORED)
      secrets.push((await mint(scope as Parameters<typeof mint>[0], hasher, grant)).secret)
    return secrets
  })
}

/** As on the way to the writer, which checks again in its transaction: by CPU time. */
async function againstTheLeast(
  { rounds }: BenchTools,
  remit: TestRemit,
  secrets: readonly string[],
): Promise<Result> {
  const authenticator = new Authenticator(remit.db, 'enterprise')
  authenticator.use(remit.ports.credentials)
  const headers = secrets.map((secret) => `Bearer ${secret}`)
  for (const header of headers) await authenticator.authenticate(header)
  const least = new Map(secrets.map((secret) => [hash('sha256', secret), secret]))
  const measures = {
    ours: () =>
      perSecond(CHECKS, async (i) => {
        if (!authenticator.recall(headers[i % STORED])) throw new Error('not found')
      }),
    least: () =>
      perSecond(CHECKS, async (i) => {
        if (!least.get(hash('sha256', secrets[i % STORED] ?? ''))) throw new Error('not found')
      }),
  }
  for (const measure of Object.values(measures)) await measure()
  const values = await alternate(rounds, measures)
  return {
    name: 'bearer checks a second: of SHA-256 and a Map',
    value: ratio(values.ours, values.least),
    goal: { atLeast: 0.33 },
    detail: `${thousands(median(values.ours))}, ${thousands(median(values.least))}`,
  }
}

/** As in requests without the writer, which read the row every time. */
async function withinARequest(
  { rounds, startRemit }: BenchTools,
  remit: TestRemit,
  secrets: readonly string[],
): Promise<Result> {
  const server = await startRemit()
  try {
    const authorization = `Bearer ${await issue(server)}`
    const ask = async (i: number) => {
      const response = await fetch(`${server.url}/v1/guard`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ content: `${i}: ${TEXT}` }),
      })
      if (!response.ok) throw new Error(await response.text())
      await response.arrayBuffer()
    }
    const look = async (i: number) => {
      const found = await remit.ports.credentials?.authenticate(secrets[i % STORED] ?? '')
      if (!found) throw new Error('not found')
    }
    const measures = {
      check: async () => median(await microseconds(LOOKS, look)),
      request: async () => median(await microseconds(REQUESTS, ask)),
    }
    for (const measure of Object.values(measures)) await measure()
    const { check, request } = await alternate(rounds, measures)
    return {
      name: 'bearer check with its row: share of /v1/guard p50',
      value: (100 * median(check)) / median(request),
      unit: ' %',
      goal: { below: 5 },
      detail: `${median(check).toFixed(1)} us of ${median(request).toFixed(0)} us`,
    }
  } finally {
    await server.stop()
  }
}

async function issue({
  url,
  headers,
}: Pick<Awaited<ReturnType<BenchTools['startRemit']>>, 'url' | 'headers'>): Promise<string> {
  const post = async (path: string, body: object) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as { secret: string }
  }
  const agents = '/v1/identity/agents'
  await post(agents, { agent_id: 'payer', owners: [{ type: 'team', id: 'bench' }] })
  return (await post(`${agents}/payer/credentials`, { scopes: ['guard'] })).secret
}

async function perSecond(count: number, work: (i: number) => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < count; i++) await work(i)
  const { user, system } = process.cpuUsage(before)
  return (count * 1e6) / (user + system)
}

async function microseconds(count: number, work: (i: number) => Promise<void>): Promise<number[]> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const started = performance.now()
    await work(i)
    times.push((performance.now() - started) * 1000)
  }
  return times
}

const thousands = (value: number): string => `${Math.round(value / 1000)} k/s`

const TEXT =
  'The quarterly figures are in. Revenue rose by four per cent, mostly in the north, and costs stayed where they were. ' +
  'Please write a summary for the board in three sentences, with the two numbers that matter most, and say what we do not know yet. ' +
  'The draft of last time is attached for its tone.'
