import { createTestRemit, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import governance from '../../src/index.ts'
import { apiOf, createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

let calls = 0
const bash = (command = 'ls') => ({
  session_id: 's1',
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: `toolu_${++calls}`,
})
const litellm = (changes: object = {}) => ({
  input_type: 'request' as const,
  texts: ['hello'],
  request_data: { user_api_key_alias: 'support', model: 'small' },
  litellm_call_id: `call_${++calls}`,
  ...changes,
})
const TOOL_CALL = { id: 'c1', function: { name: 'refund', arguments: '{"amount_usd":5}' } }

describe.each(someDialects())('a question that a host repeats, on %s', (dialect) => {
  let api: Api
  /** Another process on the same PostgreSQL; SQLite has one. */
  let there: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
    const { url, signingKey } = api.remit
    there =
      dialect === 'sqlite'
        ? api
        : apiOf(await createTestRemit({ modules: [governance], url, signingKey }), api.org)
    await api.ok('setApprovalRule', {
      params: { id: 'push' },
      body: { actions: ['claude.Bash'], condition: 'context.args.command == "git push"' },
    })
  })
  afterAll(async () => {
    if (there !== api) await there.remit.close()
    await api.remit.close()
  })

  const hook = (event: string, body: object, by = api, query: Record<string, string> = {}) =>
    by.ok('claudeCodeHook', { body: { hook_event_name: event, ...body }, query })
  const pre = (body: object, by = api, query?: Record<string, string>) =>
    hook('PreToolUse', body, by, query)
  const guardrail = (body: object, by = api) => by.ok('litellmGuardrail', { body })
  const decidedFor = async (agent_id: string) =>
    (await api.ok('listEntries', { query: { kind: 'authorization.decided', agent_id } })).data
  const holds = async () =>
    (
      await api.remit.db
        .selectFrom('spend_hold' as never)
        .selectAll()
        .execute()
    ).length

  it('has one decision and one hold, also when it is asked ten times at once', async () => {
    const agent = 'at-once'
    const held = await holds()
    const call = bash()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => pre(call, i % 2 ? there : api, { agent_id: agent })),
    )

    expect(answers).toEqual(answers.map(() => ({})))
    expect(await decidedFor(agent)).toHaveLength(1)
    expect(await holds()).toBe(held + 1)
  })

  it('belongs to its agent, session and call', async () => {
    const call = bash()
    await pre(call, api, { agent_id: 'own-1' })
    await pre(call, api, { agent_id: 'own-2' })
    await pre({ ...call, session_id: 's2' }, api, { agent_id: 'own-1' })
    await pre({ ...call, tool_use_id: 'other' }, api, { agent_id: 'own-1' })

    expect(await decidedFor('own-1')).toHaveLength(3)
    expect(await decidedFor('own-2')).toHaveLength(1)
  })

  it('is denied once a policy denies it, with an entry of its own', async () => {
    const agent_id = 'ruled'
    const call = bash('make')
    await pre(call, api, { agent_id })
    await api.ok('createPolicy', { body: { effect: 'deny', agents: [agent_id] } })

    const denied = { hookSpecificOutput: { permissionDecision: 'deny' } }
    expect(await pre(call, there, { agent_id })).toMatchObject(denied)
    expect(await pre(call, api, { agent_id })).toMatchObject(denied)
    expect((await decidedFor(agent_id)).map(({ decision }) => decision)).toEqual(['deny', 'allow'])
  })

  it('is denied once its agent is suspended, and so is a permission prompt about it', async () => {
    const agent_id = 'stopped'
    const call = bash('make')
    await pre(call, api, { agent_id })
    await api.remit.ports.agentSwitch?.suspend(api.org.id, agent_id, 'test')
    const { tool_use_id: _, ...prompt } = call

    expect(
      (await hook('PermissionRequest', prompt, api, { agent_id, allow: 'true' }))
        .hookSpecificOutput,
    ).toMatchObject({ decision: { behavior: 'deny' } })
    expect((await pre(call, api, { agent_id })).hookSpecificOutput).toMatchObject({
      permissionDecision: 'deny',
    })
  })

  it('of LiteLLM is blocked once the limit is used up, which it holds nothing of', async () => {
    const agent_id = 'spender'
    await api.ok('setSpendLimit', { params: { id: agent_id }, body: { daily_usd: 5 } })
    const call = litellm({ request_data: { user_api_key_alias: agent_id } })

    expect((await guardrail(call)).action).toBe('NONE')
    await api.ok('appendEntry', { body: { agent_id, action: 'x.y', cost_usd: 5 } })
    expect((await guardrail(call)).action).toBe('BLOCKED')
  })

  it('follows its approval, and uses it once', async () => {
    const call = bash('git push')
    await pre(call, api, { timeout: '3' })
    const [approval] = (await api.ok('listApprovals', { query: { status: 'pending' } })).data
    await api.ok('decideApproval', {
      params: { requestID: approval!.id },
      body: { decision: 'approve', approver: 'carol' },
    })
    const answers = await Promise.all([pre(call), pre(call, there), pre(call)])

    expect(answers).toEqual([{}, {}, {}])
    const { data } = await api.ok('listEntries', { query: { kind: 'approval.consumed' } })
    expect(data).toHaveLength(1)
  })

  it('is refused after the call has run, and its outcome is recorded once', async () => {
    const agent_id = 'runner'
    const call = bash()
    await pre(call, api, { agent_id })
    await Promise.all([
      hook('PostToolUse', call, api, { agent_id }),
      hook('PostToolUse', call, there, { agent_id }),
    ])
    await hook('PostToolUse', call, api, { agent_id })

    const { data } = await api.ok('listEntries', { query: { agent_id } })
    expect(data.map(({ kind }) => kind)).toEqual(['entry.appended', 'authorization.decided'])
    expect((await pre(call, api, { agent_id })).hookSpecificOutput).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining('has run already'),
    })
  })

  it.each([
    ['permission_mode', 'default', 'bypassPermissions'],
    ['cwd', '/work', '/prod/x'],
    ['agent_type', 'main', 'worker'],
  ])('is another question with another %s, which rules read', async (member, before, after) => {
    const agent_id = `facts-${member}`
    await api.ok('setApprovalRule', {
      params: { id: member },
      body: { agents: [agent_id], condition: `context.${member} == '${after}'` },
    })
    const call = { ...bash(), [member]: before }
    const query = { agent_id, timeout: '3' }
    expect(await pre(call, api, query)).toEqual({})

    const changed = await pre({ ...call, [member]: after }, there, query)

    expect(changed.hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' })
    const { tool_use_id: _, ...prompt } = { ...call, [member]: after }
    expect((await hook('PermissionRequest', prompt, api, query)).hookSpecificOutput).toMatchObject({
      decision: { behavior: 'deny' },
    })
    expect((await decidedFor(agent_id)).length).toBeGreaterThan(1)
  })

  it('is another question with another server', async () => {
    const agent_id = 'facts-server'
    await api.ok('setApprovalRule', {
      params: { id: 'server' },
      body: { agents: [agent_id], condition: "context.upstream == 'a__b'" },
    })
    const query = { agent_id, timeout: '3' }
    const call = { ...bash(), tool_name: 'mcp__a__b__c', mcp_server: { name: 'a' } }
    expect(await pre(call, api, query)).toEqual({})

    const other = await pre({ ...call, mcp_server: { name: 'a__b' } }, there, query)
    expect(other.hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' })
  })

  it('needs an approval once a rule asks for one', async () => {
    const agent_id = 'asked-later'
    const call = bash()
    expect(await pre(call, api, { agent_id })).toEqual({})
    await api.ok('setApprovalRule', { params: { id: agent_id }, body: { agents: [agent_id] } })

    expect(await pre(call, there, { agent_id, timeout: '3' })).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    })
  })

  it('is settled by its outcome though the folder and the mode have changed since', async () => {
    const agent_id = 'moved'
    const call = { ...bash('cd /tmp'), cwd: '/src', permission_mode: 'plan' }
    await pre(call, api, { agent_id })
    const after = { ...call, cwd: '/tmp', permission_mode: 'default', tool_response: {} }
    await hook('PostToolUse', after, there, { agent_id })

    const { data } = await api.ok('listEntries', { query: { agent_id } })
    expect(data.map(({ kind }) => kind)).toEqual(['entry.appended', 'authorization.decided'])
  })

  it('is one gap if its call ran without a decision', async () => {
    const agent_id = 'gap'
    const call = bash()
    await hook('PostToolUse', call, api, { agent_id })
    await hook('PostToolUse', call, there, { agent_id })

    const { data } = await api.ok('listEntries', { query: { agent_id } })
    expect(data.map(({ kind }) => kind)).toEqual(['enforcement.gap'])
  })

  it('is one decision for a request that LiteLLM retries, and for each of its tool calls', async () => {
    const alias = { user_api_key_alias: 'retrying', model: 'small' }
    const request = litellm({ request_data: alias })
    await Promise.all([guardrail(request), guardrail(request, there), guardrail(request)])
    const response = { ...request, input_type: 'response', tool_calls: [TOOL_CALL] }
    await Promise.all([guardrail(response), guardrail(response, there)])

    const actions = (await decidedFor('retrying')).map(({ action }) => action)
    expect(actions).toEqual(['tools/call', 'litellm.request'])
  })

  it('is as many decisions as a message has calls, also if a model gives all the same id', async () => {
    const request_data = { user_api_key_alias: 'thrice' }
    const tool_calls = [TOOL_CALL, TOOL_CALL, TOOL_CALL]
    const response = litellm({ request_data, input_type: 'response', tool_calls })
    await guardrail(response)
    await guardrail(response, there)

    expect(await decidedFor('thrice')).toHaveLength(3)
  })

  it('of LiteLLM with other texts, another model or another tool call is another one', async () => {
    const request_data = { user_api_key_alias: 'changing', model: 'small' }
    const request = litellm({ request_data })
    await guardrail(request)
    await guardrail({ ...request, texts: ['other'] })
    await guardrail({ ...request, request_data: { ...request_data, model: 'large' } })
    const response = { ...request, input_type: 'response' }
    await guardrail({ ...response, tool_calls: [TOOL_CALL] })
    await guardrail({ ...response, tool_calls: [{ ...TOOL_CALL, id: 'c2' }] })

    expect(await decidedFor('changing')).toHaveLength(5)
  })

  it('of LiteLLM uses an approval once, though the client repeats the id that it chose', async () => {
    const agent_id = 'approved-once'
    await api.ok('setApprovalRule', { params: { id: agent_id }, body: { agents: [agent_id] } })
    const approve = async () => {
      const { data } = await api.ok('listApprovals', { query: { status: 'pending', agent_id } })
      await api.ok('decideApproval', {
        params: { requestID: data[0]!.id },
        body: { decision: 'approve', approver: 'carol' },
      })
    }
    const request = litellm({ request_data: { user_api_key_alias: agent_id } })
    const ask = async (by = api) => (await guardrail(request, by)).action
    expect(await ask()).toBe('BLOCKED')
    await approve()

    expect(await ask()).toBe('NONE')
    expect([await ask(), await ask(there)]).toEqual(['BLOCKED', 'BLOCKED'])
    await approve()
    expect([await ask(there), await ask()]).toEqual(['NONE', 'BLOCKED'])
    const { data } = await api.ok('listEntries', { query: { kind: 'approval.consumed', agent_id } })
    expect(data).toHaveLength(2)
  })

  it('of LiteLLM at once uses an approval once', async () => {
    const agent_id = 'approved-at-once'
    await api.ok('setApprovalRule', { params: { id: agent_id }, body: { agents: [agent_id] } })
    const request = litellm({ request_data: { user_api_key_alias: agent_id } })
    await guardrail(request)
    const { data } = await api.ok('listApprovals', { query: { status: 'pending', agent_id } })
    await api.ok('decideApproval', {
      params: { requestID: data[0]!.id },
      body: { decision: 'approve', approver: 'carol' },
    })

    const answers = await Promise.all(
      [1, 2, 3, 4].map((i) => guardrail(request, i % 2 ? api : there)),
    )

    expect(answers.filter(({ action }) => action === 'NONE')).toHaveLength(1)
  })

  it('of LiteLLM without a call id is decided each time', async () => {
    const request_data = { user_api_key_alias: 'nameless' }
    const request = litellm({ request_data, litellm_call_id: null })
    await guardrail(request)
    await guardrail(request)

    expect(await decidedFor('nameless')).toHaveLength(2)
  })
})
