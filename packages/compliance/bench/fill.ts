import { createPrivateKey } from 'node:crypto'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import { OPERATOR } from '@remit/core/orgs'
import { createClock, createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import type { EmptyInstallation } from '@remit/testing/bench'

const DAY_MS = 24 * 60 * 60 * 1000
/** The period of a report that names none begins 90 days ago. */
const DAYS = 89
const AGENTS = 50
const BATCH = 2_000
const SAMPLES = 200

/** An organization of ninety busy days: its entries are real decisions, repeated under other ids. */
export async function fill(
  { databaseUrl, signingKey, modules }: EmptyInstallation,
  entries: number,
): Promise<{ key: string; orgId: string }> {
  const clock = createClock(new Date(Date.now() - DAYS * DAY_MS).toISOString())
  const remit = await createTestRemit({
    url: databaseUrl,
    signingKey: createPrivateKey(signingKey),
    modules,
    clock,
  })
  try {
    const { id: orgId, key } = await remit.organization()
    await configure(remit, key)
    const samples = await sampleDecisions(remit, orgId, key)
    const { size } = await remit.ledger.head(orgId)
    const step = ((DAYS - 1) * DAY_MS) / Math.ceil((entries - size) / BATCH)
    for (let done = size; done < entries; done += BATCH) {
      const count = Math.min(BATCH, entries - done)
      const drafts = Array.from({ length: count }, (_, i) => draft(samples, done + i))
      await remit.writer.work(orgId, OPERATOR, () =>
        Promise.resolve({ entries: drafts, reply: () => undefined }),
      )
      clock.advance(step)
    }
    return { key, orgId }
  } finally {
    await remit.close()
  }
}

async function configure(remit: TestRemit, key: string): Promise<void> {
  const post = (path: string, body: object) => must(remit.call('POST', path, { key, body }))
  for (let i = 0; i < AGENTS; i++)
    await post('/v1/identity/agents', {
      agent_id: `agent-${i}`,
      owners: [{ type: 'user', id: 'ada', email: 'ada@example.org' }],
    })
  await post('/v1/policies', { effect: 'deny', actions: ['payments.*'], condition: LARGE })
  await post('/v1/policies', { effect: 'allow', actions: ['docs.*', 'payments.*'] })
  await post('/v1/approval-rules/mail', { actions: ['mail.*'] })
  await post('/v1/spend-limits/agent-1', { daily_usd: 1e6 })
}

const LARGE = 'has(context.amount) && context.amount > 900.0'

type Decided = EntryDraft<'authorization.decided'>

/**
 * Payloads as the decider writes them for several requests, allow or deny, as text: the entries
 * repeat them.
 */
async function sampleDecisions(remit: TestRemit, orgId: string, key: string): Promise<Decided[]> {
  for (let i = 0; i < SAMPLES; i++) {
    const action = i % 4 === 0 ? 'docs.read' : 'payments.transfer'
    const context = { amount: (i * 37) % 1_000, vendor: 'Müller GmbH', invoice: `INV-${i}` }
    const body = { agent_id: `agent-${i % AGENTS}`, action, resource: `account:${i}`, context }
    await must(remit.call('POST', '/v1/authorize', { key, body }))
  }
  const rows = await remit.db
    .selectFrom('ledger_entry')
    .select('payload')
    .where('org_id', '=', orgId)
    .where('kind', '=', 'authorization.decided')
    .execute()
  return rows.map(({ payload }) => {
    const entry = JSON.parse(payload ?? '') as Omit<Decided, 'kind'>
    return { kind: 'authorization.decided', ...entry }
  })
}

/** Six decisions of seven entries; the seventh is what an agent says that it did. */
function draft(samples: readonly Decided[], i: number): EntryDraft {
  const sample = samples[i % samples.length]
  if (!sample) throw new Error('there are no decisions')
  const decisionId = `dec_${String(i).padStart(26, '0')}`
  if (i % 7 !== 0) return { ...sample, data: { ...sample.data, decision_id: decisionId } }
  const { actor, agent_id, action = null } = sample
  const data = { metadata: { invoice: `INV-${i}` }, trace_id: `trace-${i}` }
  return { kind: 'entry.appended', actor, agent_id, action, data }
}

async function must(answer: Promise<Response>): Promise<void> {
  const response = await answer
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
}
