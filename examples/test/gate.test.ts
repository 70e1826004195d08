import { createClient } from '@remit/contract/client'
import { createGate, NotExecuted, RemitDenied } from '@remit/sdk'
import type { Gate, GateOptions } from '@remit/sdk'
import { createClient as createNodeClient } from '@remit/sdk/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

interface Payment {
  readonly usd: number
}

describe.skipIf(!hasModules())('the gate against a real server', () => {
  let server: RemitServer
  beforeAll(async () => {
    server = await startRemit()
    const { client } = server
    await client.createPolicy({ body: { effect: 'deny', actions: ['denied.*'] } })
    await client.setApprovalRule({ params: { id: 'held' }, body: { actions: ['held.*'] } })
  })
  afterAll(() => server.stop())

  let count = 0
  /** A gate of an agent of its own, with a daily limit. */
  async function newGate(options: Partial<GateOptions> = {}): Promise<Gate & { agent: string }> {
    const agent = `agent-${++count}`
    await server.client.setSpendLimit({ params: { id: agent }, body: { daily_usd: 1000 } })
    const gate = createGate({
      client: server.client,
      agentId: agent,
      map: { pay: { amount: '/usd' }, 'held.pay': { amount: '/usd' } },
      onWarning: () => undefined,
      ...options,
    })
    return Object.assign(gate, { agent })
  }
  const spent = async (agent: string) =>
    (await server.client.getSpendLimit({ params: { id: agent } })).spent.day
  const entries = async (agent: string, kind?: string) =>
    (await server.client.listEntries({ query: { agent_id: agent, ...(kind && { kind }) } })).data
  const approve = (id: string) =>
    server.client.decideApproval({
      params: { requestID: id },
      body: { decision: 'approve', approver: 'ada@example.org' },
    })

  it('runs an allowed tool and settles what it cost', async () => {
    const gate = await newGate()
    const pay = gate.wrap('pay', ({ usd }: { usd: number }) => ({ paid: usd }), {
      costOf: ({ paid }) => paid - 0.1 - 0.2,
    })

    expect(await pay({ usd: 40 })).toEqual({ paid: 40 })
    expect(await spent(gate.agent)).toMatchObject({ usd: 39.7, held_usd: 0 })
    expect((await entries(gate.agent, 'entry.appended'))[0]?.data).toMatchObject({
      outcome: 'success',
    })
  })

  it('does not run a denied tool', async () => {
    const gate = await newGate()
    let ran = 0
    const tool = gate.wrap('denied.tool', () => ran++)

    await expect(tool({})).rejects.toBeInstanceOf(RemitDenied)
    expect(ran).toBe(0)
  })

  it('keeps the hold of a tool that throws, and passes its error on', async () => {
    const gate = await newGate()
    const error = new Error('the line broke')
    const pay = gate.wrap<Payment, never>('pay', () => Promise.reject(error))

    await expect(pay({ usd: 7 })).rejects.toBe(error)
    expect(await spent(gate.agent)).toMatchObject({ usd: 0, held_usd: 7 })
    expect((await entries(gate.agent, 'entry.appended'))[0]?.data).toMatchObject({
      outcome: 'failure',
    })
  })

  it('releases the hold for NotExecuted, and for what releaseOn says', async () => {
    const gate = await newGate({ releaseOn: (error) => error instanceof RangeError })
    const pay = gate.wrap('pay', ({ kind }: { usd: number; kind: string }) => {
      throw kind === 'range' ? new RangeError('no') : new NotExecuted('no funds')
    })

    await expect(pay({ usd: 7, kind: 'range' })).rejects.toThrow(RangeError)
    await expect(pay({ usd: 7, kind: 'other' })).rejects.toThrow('no funds')
    expect(await spent(gate.agent)).toMatchObject({ usd: 0, held_usd: 0 })
  })

  it('does not turn a done payment into an error', async () => {
    const gate = await newGate()
    const warnings: string[] = []
    const pay = gate
      .with({ onWarning: (text) => warnings.push(text) })
      .wrap<Payment, string>('pay', () => 'paid', {
        costOf: () => {
          throw new Error('no receipt')
        },
      })

    expect(await pay({ usd: 5 })).toBe('paid')
    expect(warnings).toHaveLength(1)
    expect(await spent(gate.agent)).toMatchObject({ usd: 5, held_usd: 0 })
  })

  it('decides 50 parallel calls with one call id once: one hold, one entry, one run', async () => {
    const gate = await newGate()
    let ran = 0
    const pay = gate.wrap<Payment, number>('pay', () => ++ran, { onDeny: 'return' })

    const results = await Promise.all(
      Array.from({ length: 50 }, () => pay({ usd: 9 }, { callId: 'one' })),
    )

    expect(ran).toBe(1)
    expect(results.filter((result) => result === 1)).toHaveLength(1)
    expect(await entries(gate.agent, 'authorization.decided')).toHaveLength(1)
    expect(await spent(gate.agent)).toMatchObject({ usd: 9, held_usd: 0 })
  })

  it('runs one of 20 gates with one call id, as after restarts', async () => {
    const gate = await newGate({ runId: 'run' })
    let ran = 0
    const results = await Promise.all(
      Array.from({ length: 20 }, () =>
        gate.with({}).wrap<Payment, number>('pay', () => ++ran, { onDeny: 'return' })(
          { usd: 9 },
          { callId: 'one' },
        ),
      ),
    )

    expect(ran).toBe(1)
    expect(results).toContainEqual(expect.objectContaining({ reason: 'already_decided' }))
    expect(await entries(gate.agent, 'authorization.decided')).toHaveLength(1)
  })

  it('runs once in 20 resumes after an approval', async () => {
    const gate = await newGate({ runId: 'run', approval: { mode: 'return' } })
    let ran = 0
    const resume = () =>
      gate.with({}).run({ tool: 'held.pay', input: { usd: 3 }, callId: 'c' }, () => ++ran)

    const first = await resume()
    expect(first).toMatchObject({ kind: 'pending' })
    expect(await resume()).toMatchObject({ kind: 'pending' })
    await approve(first.kind === 'pending' ? first.approvalId : '')
    for (let resumes = 0; resumes < 20; resumes++) await resume()

    expect(ran).toBe(1)
    expect(await spent(gate.agent)).toMatchObject({ usd: 3, held_usd: 0 })
    expect(await entries(gate.agent, 'approval.requested')).toHaveLength(1)
  })

  it('waits for an approval and asks the identical request again', async () => {
    const gate = await newGate()
    const waiting = gate.check({ tool: 'held.pay', input: { usd: 3 }, callId: 'c' })
    await approve(await approvalOf(gate.agent))

    expect(await waiting).toMatchObject({ kind: 'allow', reason: 'approved' })
  })

  it('needs a new approval for a changed argument', async () => {
    const gate = await newGate({ approval: { mode: 'return' } })
    const ask = (usd: number) => gate.check({ tool: 'held.pay', input: { usd }, callId: 'c' })

    const first = await ask(3)
    await approve(first.kind === 'pending' ? first.approvalId : '')
    const changed = await ask(4)

    expect(changed).toMatchObject({ kind: 'pending' })
    expect(changed).not.toMatchObject({ approvalId: Reflect.get(first, 'approvalId') })
    expect(await ask(3)).toMatchObject({ kind: 'allow' })
  })

  it('does not run what changed while it waited', async () => {
    const gate = await newGate({ approval: { mode: 'return' } })
    const input = { usd: 3 }
    const first = await gate.check({ tool: 'held.pay', input, callId: 'c' })
    await approve(first.kind === 'pending' ? first.approvalId : '')
    const call = {
      tool: 'held.pay',
      callId: 'c',
      input: {
        // Reads differ, as if somebody wrote in between.
        get usd() {
          return input.usd++
        },
      },
    }

    expect(await gate.run(call, () => 'ran')).toMatchObject({
      kind: 'deny',
      reason: 'input_changed',
    })
  })

  it('denies with the approval in the message where it refuses to wait', async () => {
    const gate = await newGate({ approval: { mode: 'refuse' } })

    const verdict = await gate.check({ tool: 'held.pay', input: { usd: 3 } })

    expect(verdict).toMatchObject({ kind: 'deny', reason: 'approval_required' })
    expect(verdict).toHaveProperty('message', expect.stringMatching(/apr_/))
  })

  it('denies after a rejection', async () => {
    const gate = await newGate({ approval: { mode: 'return' } })
    const call = { tool: 'held.pay', input: { usd: 3 }, callId: 'c' }
    const first = await gate.check(call)
    await server.client.decideApproval({
      params: { requestID: first.kind === 'pending' ? first.approvalId : '' },
      body: { decision: 'reject', approver: 'ada@example.org' },
    })

    expect(await gate.check(call)).toMatchObject({ kind: 'deny', reason: 'approval_rejected' })
  })

  it('denies what the server refuses, and what cannot be written as JSON', async () => {
    const stranger = createClient({ baseUrl: server.url, key: 'rmk_unknown' })
    const gate = await newGate({ client: stranger })
    const cyclic: Record<string, unknown> = {}
    cyclic['self'] = cyclic

    expect(await gate.check({ tool: 'pay', input: { usd: 1 } })).toMatchObject({
      reason: 'remit_refused',
    })
    expect(await gate.check({ tool: 'pay', input: cyclic })).toMatchObject({ reason: 'unmappable' })
  })

  it('rejects with the reason of its caller, and leaves the others waiting', async () => {
    const gate = await newGate()
    const controller = new AbortController()
    const call = { tool: 'held.pay', input: { usd: 1 }, callId: 'c' }
    const one = gate.check({ ...call, signal: controller.signal })
    const other = gate.check({ ...call, signal: AbortSignal.timeout(100_000) })
    controller.abort('enough')

    await expect(one).rejects.toBe('enough')
    await approve(await approvalOf(gate.agent))
    expect(await other).toMatchObject({ kind: 'allow' })
  })

  /** The approval of an agent, once there is one. */
  async function approvalOf(agent: string): Promise<string> {
    for await (const { data } of server.client.streamApprovals({ query: { after_seq: 0 } })) {
      const id = /"apr_[^"]+"/.exec(data)?.[0].slice(1, -1)
      if (id !== undefined && data.includes(`"${agent}"`)) return id
    }
    throw new Error('the stream ended')
  }

  it('sends contexts within the limits, however large the input is', async () => {
    const gate = await newGate()
    const input = {
      text: 'é'.repeat(60_000),
      nul: 'a\0b',
      half: 'x\ud800',
      big: 2n ** 70n,
      bytes: new Uint8Array(9),
    }

    expect(await gate.check({ tool: 'é'.repeat(256), input })).toMatchObject({ kind: 'allow' })
    const [entry] = await entries(gate.agent, 'authorization.decided')
    expect(entry?.data).toMatchObject({
      context: {
        args: {
          text: { length: 120_000, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
          nul: { start: 'a\ufffdb' },
          big: '1180591620717411303424',
          bytes: { length: 9 },
        },
      },
    })
  })

  it.each([
    ['fetch', createClient],
    ['node:http', createNodeClient],
  ] as const)('proves that it is obeyed, by %s', async (_, create) => {
    const client = create({ baseUrl: server.url, key: server.org.key })
    const gate = await newGate({ client })

    const report = await gate.selfTest()

    expect(report.results.filter(({ passed }) => !passed)).toEqual([])
    expect(report.enforced).toBe(true)
    expect(report.results.map((result) => result.case)).toHaveLength(5)
    expect(await entries(gate.agent, 'authorization.decided')).toEqual([])
  })

  it('sees a host that does not obey', async () => {
    const gate = await newGate()

    const report = await gate.selfTest(async (tested, canary) => {
      await tested.check({ tool: canary.name, input: {}, callId: canary.callId })
      return canary.run()
    })

    expect(report.enforced).toBe(false)
    expect(report.results.filter(({ passed }) => passed)).toEqual([])
  })
})
