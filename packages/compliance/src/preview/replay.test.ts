import { on } from '@remit/core/db'
import type { Draft } from '@remit/core/ledger/lanes'
import { OPERATOR } from '@remit/core/orgs'
import { createTestRemit, handMade, someDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tables } from '../tables/schema.ts'
import { replay } from './replay.ts'
import type { ReplayTask } from '../jobs/jobs.ts'

/** Denies every agent whose name ends in an odd digit, and takes its time for it. */
const TRIAL = `export const openTrial = async () => ({
  policies: 1, approvalRules: 0, defaultEffect: 'allow', digest: 'd1g357',
  judge({ request }) {
    const until = performance.now() + 0.2
    while (performance.now() < until);
    return /[13579]$/.test(request.agent_id)
      ? { says: 'deny', reason: 'policy_deny', policy: 'odd' }
      : { says: 'pass', reason: null, policy: null }
  },
  approvalRulesFor: () => [],
})`

/** Denies agents of the environment `test`, if it is known who the agent was. */
const BY_AGENT = `export const openTrial = async () => ({
  policies: 1, approvalRules: 0, defaultEffect: 'allow', digest: 'd1g357',
  judge: (_ask, agent) => agent === null ? { says: 'unknown' }
    : agent.environment === 'test' ? { says: 'deny', reason: 'policy_deny', policy: 'test' }
    : { says: 'pass', reason: null, policy: null },
  approvalRulesFor: () => [],
})`

const moduleOf = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`

const TASK: ReplayTask = {
  module: moduleOf(TRIAL),
  overlay: null,
  span: { from: '2020-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' },
  maxDecisions: 100_000,
  limit: 1_000,
  maxMs: 10_000,
  digest: null,
}

const DECISIONS = 600

const decision = (i: number): Draft => ({
  kind: 'authorization.decided',
  actor: { type: 'key', id: 'key' },
  agent_id: `agent-${i}`,
  action: 'a',
  decision: 'allow',
  reason: 'default_allow',
  data: { context: {}, decision_id: `dec_${i}`, matched: [], plan: 'enterprise' },
})
const other: Draft = {
  kind: 'entry.appended',
  actor: { type: 'agent', id: 'x' },
  action: 'authorization.decided',
  decision: 'allow',
  data: {},
}

describe.each(someDialects())('a replay on %s', (dialect) => {
  let remit: TestRemit
  let orgId: string
  beforeAll(async () => {
    remit = await createTestRemit({ dialect })
    orgId = (await remit.organization()).id
    const entries = Array.from({ length: DECISIONS }, (_, i) => [decision(i), other])
      .flat()
      .map(handMade)
    await remit.writer.work(orgId, OPERATOR, () =>
      Promise.resolve({ entries, reply: () => undefined }),
    )
  })
  afterAll(() => remit.close())

  const run = (
    task: Partial<ReplayTask> = {},
    progress: (done: number) => void = () => undefined,
  ) => replay(on<Tables>(remit.db), orgId, { ...TASK, ...task }, progress)

  it('ends after its time, a little further each time, and its parts are the whole', async () => {
    const seqs: number[] = []
    let parts = 0
    for (let span: ReplayTask['span'] | null = TASK.span; span; parts++) {
      const part = await run({ span, maxMs: parts % 2 === 0 ? 20 : -1 })
      expect(part?.counts.decisions).toBeGreaterThan(0)
      seqs.push(...(part?.counts.flips.map(({ seq }) => seq) ?? []))
      span = part?.rest ?? null
    }

    expect(parts).toBeGreaterThan(3)
    const whole = await run()
    expect(whole?.counts).toMatchObject({ decisions: DECISIONS, unchanged: { judged: 300 } })
    expect(whole?.rest).toBeNull()
    expect(seqs).toEqual(whole?.counts.flips.map(({ seq }) => seq))
  })

  it('ignores entries written by callers', async () => {
    const whole = await run()

    expect(whole?.counts.decisions).toBe(DECISIONS)
  })

  it('yields the thread and reports progress', async () => {
    const seen: number[] = []
    let turns = 0
    const turning = setInterval(() => turns++)

    await run({}, (done) => seen.push(done))
    clearInterval(turning)

    expect(seen.length).toBeGreaterThan(2)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    expect(turns).toBeGreaterThan(1)
  })

  it('ends when it is aborted', async () => {
    const stopping = run({}, () => {
      throw new Error('enough')
    })

    await expect(stopping).rejects.toThrow('enough')
  })

  it('knows agents whose registration was pruned, since pruning carries it over', async () => {
    const { id } = await remit.organization()
    const agent = { agent_id: 'agent-1', environment: 'test', labels: {}, owners: [] }
    const payload = { data: { agent, agent_id: 'agent-1' } }
    const carried = {
      seq: 0,
      recorded_at: '2020-01-01T00:00:00.000Z',
      kind: 'agent.registered',
      payload,
    }
    const drafts: Draft[] = [
      decision(1),
      decision(3),
      { kind: 'state.carried', actor: { type: 'system', id: 'remit' }, data: { entry: carried } },
    ]
    const entries = drafts.map(handMade)
    await remit.writer.work(id, OPERATOR, () =>
      Promise.resolve({ entries, reply: () => undefined }),
    )
    const { hash, recorded_at, frontier, vkey } = await remit.ledger.head(id)
    const cut = { org_id: id, size: 3, hash, recorded_at, frontier, vkey }
    await remit.db.insertInto('ledger_cut').values(cut).execute()

    const task = { ...TASK, module: moduleOf(BY_AGENT) }
    const answer = await replay(on<Tables>(remit.db), id, task, () => undefined)

    expect(answer?.counts.flips.map(({ agent_id }) => agent_id)).toEqual(['agent-1'])
    expect(answer?.counts.not_replayable.agent_unknown).toBe(0)
  })

  it('counts a denial of a newer version, and replays none', async () => {
    const { id } = await remit.organization()
    const newer = { ...decision(1), decision: 'deny', reason: 'action_forbidden' } as const
    await remit.writer.work(id, OPERATOR, () =>
      Promise.resolve({ entries: [newer, decision(3)].map(handMade), reply: () => undefined }),
    )

    const found = await replay(on<Tables>(remit.db), id, TASK, () => undefined)

    expect(found?.counts.not_replayable).toMatchObject({ reason_unknown: 1, malformed: 0 })
    expect(found?.counts.flips.map(({ agent_id }) => agent_id)).toEqual(['agent-3'])
  })

  it('ignores rows beyond the head', async () => {
    const { id } = await remit.organization()
    await remit.writer.work(id, OPERATOR, () =>
      Promise.resolve({ entries: [handMade(decision(1))], reply: () => undefined }),
    )
    const { size } = await remit.ledger.head(id)
    const last = await remit.db
      .selectFrom('ledger_entry')
      .selectAll()
      .where('org_id', '=', id)
      .where('seq', '=', size - 1)
      .executeTakeFirstOrThrow()
    await remit.db
      .insertInto('ledger_entry')
      .values({ ...last, seq: size + 5 })
      .execute()

    const found = await replay(on<Tables>(remit.db), id, TASK, () => undefined)
    expect(found?.counts).toMatchObject({ decisions: 1, flips: [{ seq: size - 1 }] })
  })

  it('ignores rows below the cut left by an interrupted pruning', async () => {
    const { id } = await remit.organization()
    const registered = (environment: string): Draft => ({
      kind: 'agent.registered',
      actor: { type: 'system', id: 'remit' },
      agent_id: 'agent-1',
      data: {
        agent: { agent_id: 'agent-1', environment, labels: {}, owners: [] },
        agent_id: 'agent-1',
      },
    })
    const begun = await remit.ledger.head(id)
    const entries = [decision(1), decision(3), registered('test')].map(handMade)
    await remit.writer.work(id, OPERATOR, () =>
      Promise.resolve({ entries, reply: () => undefined }),
    )
    const { size, hash, recorded_at, frontier, vkey } = await remit.ledger.head(id)
    await remit.writer.work(id, OPERATOR, () =>
      Promise.resolve({ entries: [handMade(decision(1))], reply: () => undefined }),
    )
    const cut = { org_id: id, size, hash, recorded_at, frontier, vkey }
    await remit.db.insertInto('ledger_cut').values(cut).execute()

    const counts = async (task: Partial<ReplayTask>) =>
      (await replay(on<Tables>(remit.db), id, { ...TASK, ...task }, () => undefined))?.counts
    const rest = { fromSeq: begun.size, endSeq: size + 1 }

    for (const task of [{}, { span: rest }])
      expect(await counts(task)).toMatchObject({ decisions: 1, flips: [{ seq: size }] })
    // The registration below the cut, which was not carried over, is nothing to go by.
    const byAgent = await counts({ module: moduleOf(BY_AGENT) })
    expect(byAgent).toMatchObject({ decisions: 1, flips: [] })
  })

  it('is null if the rules differ from those of an earlier part', async () => {
    expect(await run({ digest: 'd1g35' })).not.toBeNull()
    expect(await run({ digest: 'other' })).toBeNull()
  })
})
