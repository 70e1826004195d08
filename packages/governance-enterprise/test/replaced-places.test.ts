import { fitted } from '@remit/contract/fit'
import type { Json, JsonObject } from '@remit/contract/fit'
import { form, largeContext } from '@remit/testing/large-calls'
import { runs, someDialects } from '@remit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const nested = (levels: number): Json => {
  let value: Json = []
  for (let level = 1; level < levels; level++) value = [value]
  return value
}
const lines = Array.from({ length: 700 }, (_, i) => ({ sku: `A${i}`, qty: 1, price: 9.99 }))
const LARGE: [string, object][] = [
  ['32 nested lists', { memo: nested(32) }],
  ['700 lines', { rows: lines }],
  ['400 short texts', { rows: Array.from({ length: 400 }, () => 'x'.repeat(200)) }],
  ['a long text', { memo: 'x'.repeat(70_000) }],
]
let calls = 0
const ID = () => `call-${++calls}`

describe.each(someDialects())('a call that does not fit into a request on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
    const deny = (resource: string, condition: string) =>
      api.ok('createPolicy', {
        body: {
          effect: 'deny',
          actions: ['tools/call'],
          resources: [`tool:${resource}`],
          condition,
        },
      })
    await deny('pay', 'has(context.args.amount) && context.args.amount > 1000')
    await deny('memo', 'has(context.args.memo.forbidden)')
    await deny('list', "'forbidden' in context.args.memo")
    await api.ok('createPolicy', {
      body: {
        effect: 'deny',
        actions: ['claude.Bash'],
        condition: 'context.args.command.contains("rm -rf")',
      },
    })
    await api.ok('createPolicy', {
      body: {
        effect: 'allow',
        agents: ['payer'],
        actions: ['ledger.write'],
        condition: 'has(context.args.memo)',
      },
    })
    await api.ok('setApprovalRule', {
      params: { id: 'large' },
      body: {
        actions: ['tools/call'],
        resources: ['tool:ask'],
        condition: 'has(context.args.memo.forbidden)',
      },
    })
    await api.ok('setSpendLimit', { params: { id: 'capped' }, body: { daily_usd: 10 } })
  })
  afterAll(() => api.remit.close())

  const hook = async (host: 'claudeCodeHook' | 'codexHook', tool: string, args: unknown) => {
    const body = {
      session_id: 's',
      transcript_path: '/t',
      cwd: '/w',
      permission_mode: 'default',
      hook_event_name: 'PreToolUse',
      tool_name: tool,
      tool_input: args,
      tool_use_id: ID(),
    }
    const { hookSpecificOutput: said } = await api.ok(host, { body, query: { timeout: 3 } })
    return (said as { permissionDecision?: string } | undefined)?.permissionDecision ?? 'allow'
  }
  const litellm = async (tool: string, args: unknown) => {
    const called = {
      id: ID(),
      type: 'function',
      function: { name: tool, arguments: JSON.stringify(args) },
    }
    const { action } = await api.ok('litellmGuardrail', {
      body: { input_type: 'response', texts: [], tool_calls: [called], litellm_call_id: ID() },
    })
    return action === 'NONE' ? 'allow' : 'deny'
  }
  /** As the gates of the SDKs and the gateway ask. */
  const gate = async (tool: string, context: JsonObject, more: object = {}) => {
    const { context: sent, replaced } = await fitted(context)
    return api.ok('authorize', {
      body: {
        agent_id: 'payer',
        action: 'tools/call',
        resource: `tool:${tool}`,
        context: sent,
        ...(replaced.length > 0 && { replaced }),
        ...more,
      },
    })
  }
  const DOORS: [string, (tool: string, args: object) => Promise<string>][] = [
    ['a gate', async (tool, args) => (await gate(tool, { args, tool } as JsonObject)).decision],
    ['Claude Code', (tool, args) => hook('claudeCodeHook', `mcp__bank__${tool}`, args)],
    ['Codex', (tool, args) => hook('codexHook', `mcp__bank__${tool}`, args)],
    ['LiteLLM', litellm],
  ]

  describe.each(DOORS)('through %s', (_, ask) => {
    it.each(LARGE)('is decided by the members beside %s', async (__, large) => {
      expect(await ask('pay', { amount: 5000, ...large })).toBe('deny')
      expect(await ask('pay', { amount: 5, ...large })).toBe('allow')
    })

    it('is denied by a rule about what is too deep or too large', async () => {
      expect(await ask('memo', { memo: { a: nested(40) } })).toBe('allow')
      expect(await ask('memo', { memo: { a: lines, b: 'x'.repeat(70_000), c: nested(5) } })).toBe(
        'allow',
      )
      expect(await ask('memo', { amount: 1, memo: lines.map((line, i) => ({ ...line, i })) })).toBe(
        'deny',
      )
      expect(
        await ask('list', { amount: 1, memo: Array.from({ length: 700 }, () => 'x'.repeat(100)) }),
      ).toBe('deny')
    })

    it('is denied where its arguments are no object', async () => {
      for (const args of [[{ amount: 5000 }], '{"amount":5000}', 5000])
        expect(await ask('pay', args as object)).toBe('deny')
    })
  })

  it('is denied in the shell beside an argument that is too deep', async () => {
    expect(await hook('claudeCodeHook', 'Bash', { command: 'rm -rf /srv', x: nested(40) })).toBe(
      'deny',
    )
    expect(await hook('claudeCodeHook', 'Bash', { command: 'ls', x: nested(40) })).toBe('allow')
  })

  it('needs an approval, is not allowed, and spends nothing where a rule reads what was replaced', async () => {
    const context = { args: { memo: lines.map((line, i) => ({ ...line, i })) } } as JsonObject

    expect(await gate('ask', context)).toMatchObject({ decision: 'needs_approval' })
    const written = await gate('any', context, { action: 'ledger.write' })
    expect(written).toMatchObject({ reason: 'default_allow' })
    expect(await gate('any', { args: { memo: 1 } }, { action: 'ledger.write' })).toMatchObject({
      reason: 'policy_allow',
    })
    for (const replaced of ['/amount_usd', '/amount', '/currency']) {
      const spent = { amount_usd: 5, amount: 5, currency: 'USD' }
      expect(await gate('any', spent, { agent_id: 'capped', replaced: [replaced] })).toMatchObject({
        decision: 'deny',
        reason: 'amount_invalid',
      })
    }
  })

  it('is judged by an omitted member as by a replaced one, and spends the amount that it hides', async () => {
    const omitted = { '/amount': 'k4_PEB9N', '/memo': 'x7-Qm3Lr' }
    const sent = (context: JsonObject) => ({ args: {}, omitted, ...context })

    expect(await gate('pay', sent({}))).toMatchObject({ decision: 'deny', reason: 'policy_error' })
    expect(await gate('ask', sent({}))).toMatchObject({ decision: 'needs_approval' })
    expect(await gate('any', sent({}), { action: 'ledger.write' })).toMatchObject({
      reason: 'default_allow',
    })
    const own = { args: { omitted, memo: 1 } }
    expect(await gate('any', own, { action: 'ledger.write' })).toMatchObject({
      reason: 'policy_allow',
    })
    expect(await gate('any', sent({ amount_usd: 4 }), { agent_id: 'capped' })).toMatchObject({
      decision: 'allow',
    })
    expect(await gate('any', sent({ amount_usd: 7 }), { agent_id: 'capped' })).toMatchObject({
      reason: 'spend_limit_daily',
    })
  })

  it('names what was replaced in its answer, its entry and its preview', async () => {
    const context = { args: { amount: 5, rows: lines } } as JsonObject
    const told = ['context_replaced: /args/rows']

    const { warnings, decision_id } = await gate('pay', context)
    expect(warnings).toEqual(told)
    const { data } = await api.ok('listEntries', { query: { limit: 1 } })
    expect(data[0]?.data).toMatchObject({ decision_id, replaced: ['/args/rows'] })
    expect(data[0]?.data).toMatchObject({
      context: { args: { amount: 5, rows: { sha256: expect.any(String) } } },
    })
  })

  it('is another request for its approval than a value that looks the same', async () => {
    const body = (context: object, replaced?: string[]) => ({
      agent_id: 'payer',
      action: 'tools/call',
      resource: 'tool:ask',
      context,
      ...(replaced && { replaced }),
    })
    const stub = { length: 5, sha256: 'aa', forbidden: true }
    const first = await api.ok('authorize', { body: body({ args: { memo: stub } }) })
    const again = await api.ok('authorize', { body: body({ args: { memo: stub } }) })
    const other = await api.ok('authorize', {
      body: body({ args: { memo: stub } }, ['/args/memo']),
    })

    expect(again.approval?.id).toBe(first.approval?.id)
    expect(other.decision).toBe('needs_approval')
    expect(other.approval?.id).not.toBe(first.approval?.id)
  })

  it('is denied, and recorded, where nothing of it could be kept', async () => {
    const wide = Object.fromEntries(Array.from({ length: 2_100 }, (_, i) => [`n${i}`, i]))

    expect(await gate('any', wide)).toMatchObject({
      decision: 'deny',
      reason: 'context_unseen',
      matched: [],
    })
    const { data } = await api.ok('listEntries', { query: { limit: 1 } })
    expect(data[0]).toMatchObject({ reason: 'context_unseen', data: { replaced: [''] } })
  })

  it.each([
    [['/args/none'], 'replaced.0'],
    [['/args/memo', 'args'], 'replaced.1'],
    [['/args/memo/00'], 'replaced.0'],
    [['/args/memo/2'], 'replaced.0'],
    [['/__proto__'], 'replaced.0'],
    [['/args/~'], 'replaced.0'],
    [['/args', '/args/a~2'], 'replaced.1'],
    [Array.from({ length: 101 }, () => '/args'), 'replaced'],
    [[`/${'x'.repeat(1_024)}`], 'replaced.0'],
    [[5], 'replaced.0'],
    ['/args', 'replaced'],
  ])('is refused with places that are not in its context: %j', async (replaced, path) => {
    const args = { memo: [1, 2], '~': 1, 'a~2': 1 }
    const body = { agent_id: 'a', action: 'b', context: { args }, replaced }
    const { status, errors } = await api.refusal('authorize', { body })

    expect({ status, paths: errors?.map((error) => error.path) }).toMatchObject({
      status: 400,
      paths: [path],
    })
  })

  it('is never allowed where the whole call is not, whatever the rules and the door', async () => {
    const forms = fc.sample(form, 40)
    for (const [i, { text }] of forms.entries())
      await api.ok('createPolicy', {
        body: {
          effect: 'deny',
          actions: ['tools/call'],
          resources: [`tool:t${i}`],
          condition: text,
        },
      })
    const tools = fc.integer({ min: 0, max: forms.length - 1 })
    const requests = fc.tuple(largeContext, tools, fc.constantFrom(...DOORS))
    let allowed = 0
    for (const [{ args }, tool, [door, ask]] of fc.sample(requests, runs(600, 60))) {
      const decision = await ask(`t${tool}`, args as object)
      if (decision !== 'allow') continue
      allowed++
      const facts = { args, tool: `t${tool}` } as JsonObject
      expect([door, forms[tool]?.text, forms[tool]?.says(facts)]).toEqual([
        door,
        forms[tool]?.text,
        false,
      ])
    }
    expect(allowed).toBeGreaterThan(0)
  })
})
