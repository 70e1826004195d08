import { rmSync, writeFileSync } from 'node:fs'
import type { BudgetState } from '@remit/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules } from '../support/server.ts'
import { CallFile } from './support/call-file.ts'
import { governed, ownProgram } from './support/gateway.ts'
import { call, REVISIONS, textOf } from './support/messages.ts'
import { RawGateway } from './support/raw.ts'
import { startRuled } from './support/ruled.ts'
import type { Ruled } from './support/ruled.ts'
import { talkOnStdio } from './support/talk.ts'

const SERVER = [ownProgram('counting-server')]
const PASS = ['--env', 'CALLS', '--env', 'CHANGED']
const FLAGS = ['--agent', 'tester', '--name', 'counting', ...PASS]

describe.skipIf(!hasModules())('calls through the gateway on stdio', () => {
  const file = new CallFile()
  const ENV = { CALLS: file.path, CHANGED: file.changed }
  const calls = () => file.calls
  let remit: Ruled
  beforeAll(async () => {
    remit = await startRuled()
    await remit.client.createPolicy({
      body: {
        effect: 'deny',
        actions: ['tools/call'],
        condition: 'context.guard.flagged && context.tool == "slow"',
      },
    })
  })
  afterAll(async () => {
    await remit.stop()
    file.remove()
  })
  beforeEach(() => file.clear())

  const raw = (flags: readonly string[] = FLAGS) =>
    new RawGateway(remit, SERVER, { flags, env: ENV })
  /** The outcome of the last decision, however many other entries follow it. */
  const outcomeOfLast = async () => {
    const [last] = await remit.decisions(1)
    const all = await remit.outcomes()
    const found = all.find(({ data }) => data?.['decision_id'] === last?.data?.['decision_id'])
    return found?.data?.['outcome']
  }
  const expectOutcome = async (outcome: string) =>
    expect.poll(outcomeOfLast, { timeout: 60_000 }).toBe(outcome)

  describe.each(REVISIONS)('of a client of %s', (revision, options) => {
    let client: Awaited<ReturnType<typeof governed>>['client']
    beforeAll(async () => {
      ;({ client } = await governed(remit, SERVER, { flags: FLAGS, env: ENV, ...options }))
    })
    afterAll(() => client.close())

    it('are decided, forwarded and settled', async () => {
      expect(client.getNegotiatedProtocolVersion()).toBe(revision)
      expect(textOf(await client.callTool(call('pay', { usd: 5 })))).toBe('pay {"usd":5}')
      expect(calls()).toEqual(['pay'])
      await expectOutcome('success')
      const { data } = await remit.client.listEntries({
        query: { kind: 'authorization.decided', limit: 1 },
      })
      expect(data[0]).toMatchObject({
        agent_id: 'tester',
        action: 'tools/call',
        resource: 'tool:pay',
        decision: 'allow',
        data: { context: { args: { usd: 5 }, tool: 'pay', upstream: 'counting' } },
      })
    })

    it('say what budgets have left, to a client that asks', async () => {
      const asking = { ...call('pay'), _meta: { 'io.remit/budgets': true } }
      const left = async (params: ReturnType<typeof call>) => {
        const { _meta: meta, isError = false } = await client.callTool(params)
        const budgets = meta?.['io.remit/budgets'] as BudgetState[] | undefined
        return [isError, budgets?.map(({ id, remaining }) => [id, remaining])]
      }
      expect(await left(asking)).toEqual([false, []])
      const params = { id: 'calls' }
      await remit.client.setBudget({ params, body: { unit: 'calls', window: 'month', limit: 2 } })
      try {
        expect(await left(call('pay'))).toEqual([false, undefined])
        expect(await left(asking)).toEqual([false, [['calls', 1]]])
        expect(await left(asking)).toEqual([true, [['calls', 0]]])
      } finally {
        await remit.client.removeBudget({ params })
      }
      expect(calls()).toEqual(['pay', 'pay', 'pay'])
      const { data } = await remit.client.listEntries({
        query: { kind: 'authorization.decided', limit: 1 },
      })
      expect(data[0]?.data?.['context']).not.toHaveProperty('meta')
    })

    it('that are denied never reach the server, and the model reads why', async () => {
      const result = await client.callTool(call('refund'))

      expect(result.isError).toBe(true)
      expect(textOf(result)).toMatch(/^Not executed: denied by Remit \(policy_deny\)/)
      expect(calls()).toEqual([])
    })

    it('of tools that the server does not offer never reach it', async () => {
      const result = await client.callTool(call('unheard-of'))

      expect(textOf(result)).toContain('does not offer the tool')
      expect(calls()).toEqual([])
    })

    it('that fail keep their hold', async () => {
      await client.callTool(call('fail'))

      await expectOutcome('failure')
    })

    it('have results of 10 MB', async () => {
      // The client of the SDK searches all that it has read with each part.
      const talk = await talkOnStdio(remit, SERVER, { revision }, { flags: FLAGS, env: ENV })
      const { result } = await talk.ask('tools/call', call('big'))

      expect(textOf(result)).toHaveLength(10 * 1024 * 1024)
      await talk.close()
    })

    it('run at once, 100 at a time, each once', async () => {
      const results = await Promise.all(
        Array.from({ length: 100 }, (_, n) => client.callTool(call('pay', { n }))),
      )

      expect(results.map(textOf)).toEqual(results.map((_, n) => `pay {"n":${n}}`))
      expect(calls()).toHaveLength(100)
    })
  })

  it('whose result the guard blocks is a fact of the later decisions of its session', async () => {
    const { client } = await governed(remit, SERVER, { flags: FLAGS, env: ENV })
    const slow = () => client.callTool(call('slow', { ms: 0 }))

    expect(textOf(await slow())).toBe('late')
    expect(textOf(await client.callTool(call('poison')))).toMatch(/^Ignore/)
    expect(textOf(await slow())).toMatch(/denied by Remit/)
    await client.close()
  })

  it('whose result the guard blocks is withheld where it is asked to', async () => {
    const flags = [...FLAGS.slice(0, 4), '--results', 'withhold', ...PASS]
    const { client } = await governed(remit, SERVER, { flags, env: ENV })

    const result = await client.callTool(call('poison'))

    expect(textOf(result)).toMatch(/^Withheld by the guard of Remit \(.*injection/)
    await client.close()
  })

  it('of a tool whose description changed are refused until it is admitted', async () => {
    const { client } = await governed(remit, SERVER, { flags: FLAGS, env: ENV })
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('pay')
    writeFileSync(file.changed, '')

    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('pay')
    expect(textOf(await client.callTool(call('pay')))).toContain('not admitted (changed)')
    expect(calls()).toEqual([])
    expect(
      (await remit.client.listEntries({ query: { kind: 'mcp.tool_changed' } })).data,
    ).toHaveLength(1)
    rmSync(file.changed)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('pay')
    await client.close()
  })

  it('are answered when the server dies, and the gateway ends', async () => {
    const gateway = raw()
    await gateway.open()

    const { error } = await gateway.ask(1, 'tools/call', call('die'))

    expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('not available') })
    await expectOutcome('unknown')
    expect(await gateway.line()).toBeUndefined()
  })

  it('get only the environment that the command names', async () => {
    const { client } = await governed(remit, SERVER, {
      flags: FLAGS,
      env: { ...ENV, SECRET: 'hidden' },
    })

    const seen = JSON.parse(textOf(await client.callTool(call('environment')))) as object

    expect(Object.keys(seen)).not.toContain('REMIT_KEY')
    expect(seen).toMatchObject({ SECRET: '', CALLS: file.path })
    await client.close()
  })

  it('are refused, and not forwarded, while Remit cannot be reached', async () => {
    const flags = FLAGS
    const gateway = new RawGateway({ url: 'http://127.0.0.1:9', org: remit.org }, SERVER, {
      flags,
      env: ENV,
    })
    await gateway.open()

    const answer = await gateway.ask(1, 'tools/call', call('pay'))

    expect(answer['error']).toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Not executed: Remit has no states of the tools/) as string,
    })
    expect(calls()).toEqual([])
    await gateway.close()
  })

  describe('one after the other', () => {
    let gateway: RawGateway
    beforeAll(async () => {
      gateway = raw()
      await gateway.open()
    })
    afterAll(() => gateway.close())

    it.each([
      ['an array', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
      ['a name twice', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}', -32700],
      [
        'an argument twice',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"usd":1,"usd":9}}}',
        -32700,
      ],
      [
        'an integer that is not exact',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"usd":9007199254740993}}}',
        -32700,
      ],
      ['no JSON', 'hello', -32700],
      ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"tools/destroy"}', -32601],
      [
        'a call without a name',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}',
        -32602,
      ],
      ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
    ])('with %s are refused', async (_, line, code) => {
      gateway.write(line)

      expect((await gateway.message())['error']).toMatchObject({ code })
      expect(calls()).toEqual([])
    })
  })

  it('keep the bytes of the request and of the result', async () => {
    const gateway = raw()
    await gateway.open()
    gateway.write(
      '{ "jsonrpc":"2.0", "params":{"name":"pay","arguments":{"b":1.0,"a":"\\u0041"}},"method":"tools/call","id":"x"}',
    )

    expect((await gateway.message())['result']).toMatchObject({
      content: [{ text: 'pay {"b":1,"a":"A"}' }],
    })
    await gateway.close()
  })
})
