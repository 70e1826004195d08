import { HOOK_EVENTS } from '@anthropic-ai/claude-agent-sdk'
import type { HookInput } from '@anthropic-ai/claude-agent-sdk'
import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { INPUTS } from '../support/claude-inputs.ts'

const BASE = { session_id: 's1', transcript_path: '/t', cwd: '/src', permission_mode: 'default' }
let calls = 0
const bash = (command = 'ls') => ({
  ...BASE,
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: `toolu_${++calls}`,
})

describe.each(someDialects())('the hook of Claude Code on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
    await api.ok('createPolicy', {
      body: {
        effect: 'deny',
        actions: ['claude.Bash'],
        condition: 'context.args.command.startsWith("rm")',
      },
    })
    await api.ok('createPolicy', {
      body: { effect: 'deny', actions: ['tools/call'], resources: ['tool:delete'] },
    })
    await api.ok('setApprovalRule', {
      params: { id: 'push' },
      body: { actions: ['claude.Bash'], condition: 'context.args.command == "git push"' },
    })
  })
  afterAll(() => api.remit.close())

  const send = (event: string, body: object, query: Record<string, string> = {}) =>
    api.ok('claudeCodeHook', { body: { hook_event_name: event, ...body }, query })
  const pre = (body: object, query?: Record<string, string>) => send('PreToolUse', body, query)
  const newest = async () => (await api.ok('listEntries', { query: { limit: 1 } })).data[0]!

  it('is silent about an allow, so that the rules of the host decide as well', async () => {
    expect(await pre(bash())).toEqual({})
    expect(await newest()).toMatchObject({
      kind: 'authorization.decided',
      agent_id: 'claude-code',
      action: 'claude.Bash',
    })
  })

  it('allows where it was asked to', async () => {
    expect((await pre(bash(), { allow: 'true' })).hookSpecificOutput).toMatchObject({
      permissionDecision: 'allow',
    })
  })

  it('denies with a text for the model', async () => {
    expect((await pre(bash('rm -rf /'))).hookSpecificOutput).toEqual({
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringMatching(/^Not executed: denied by Remit\. ./),
    })
  })

  it('decides a tool of an MCP server as the gateway does', async () => {
    const call = { ...bash(), tool_name: 'mcp__files__delete', tool_input: { path: '/a' } }

    expect((await pre(call)).hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' })
    expect(await newest()).toMatchObject({ action: 'tools/call', resource: 'tool:delete' })
  })

  it.each([
    ['Write', { file_path: '/src/../etc/x', content: '' }, '/src', ['/etc/x']],
    ['MultiEdit', { file_path: 'a/./b', edits: [] }, '/src', ['/src/a/b']],
    ['NotebookEdit', { notebook_path: '/n.ipynb' }, '/src', ['/n.ipynb']],
    ['Read', { file_path: '..\\x' }, 'C:\\src\\a', ['C:\\src\\x']],
    ['Read', { file_path: 'a/../b' }, 'src', ['b']],
    ['Read', { file_path: ['/etc/x'] }, '/src', undefined],
    ['mcp__files__read', { file_path: '/etc/x' }, '/src', undefined],
  ])('tells rules the file of %s %j in one spelling', async (tool_name, tool_input, cwd, files) => {
    await pre({ ...bash(), tool_name, tool_input, cwd })

    const { context } = (await newest()).data as { context: { files?: unknown } }
    expect(context.files).toEqual(files)
  })

  it.each([
    ['Write', { file_path: '~/.bashrc' }, 'unmappable'],
    ['Read', { file_path: ' ~\\secrets' }, 'unmappable'],
    ['NotebookEdit', { notebook_path: '~' }, 'unmappable'],
    ['Write', { file_path: '~backup' }, 'default_allow'],
    ['Write', { file_path: '/a/~/b' }, 'default_allow'],
    ['mcp__files__read', { file_path: '~/x' }, 'default_allow'],
  ])(
    'sees no file below the home folder of a host: %s %j',
    async (tool_name, tool_input, reason) => {
      await pre({ ...bash(), tool_name, tool_input, cwd: '/src' })

      expect(await newest()).toMatchObject({ reason })
    },
  )

  it.each([
    ['mcp__my__files__delete', { name: 'my__files', source: 'project' }],
    ['mcp__my_files__delete', { name: 'my files', source: 'project' }],
  ])('finds the tool in the name %s by the server that the host names', async (name, server) => {
    const call = { ...bash(), tool_name: name, mcp_server: server }

    expect((await pre(call)).hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' })
    expect(await newest()).toMatchObject({
      resource: 'tool:delete',
      data: { context: { upstream: server.name, upstream_source: 'project' } },
    })
  })

  it('asks once about one call, however often the host does', async () => {
    const call = bash()
    await pre(call)
    const { seq } = await newest()
    await pre(call)

    expect((await newest()).seq).toBe(seq)
  })

  it('decides another input of the same call again', async () => {
    const call = bash()
    await pre(call)

    const changed = await pre({ ...call, tool_input: { command: 'rm x' } })

    expect(changed.hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' })
  })

  it('settles the decision once when the tool has run', async () => {
    const call = bash()
    await pre(call)
    const { data: decided } = await newest()
    await send('PostToolUse', { ...call, tool_response: {} })
    const settled = await newest()

    expect(settled).toMatchObject({
      kind: 'entry.appended',
      data: { decision_id: decided!['decision_id'], outcome: 'success', settle: 'held' },
    })
  })

  it('keeps the hold of a call that failed', async () => {
    const call = bash()
    await pre(call)
    await send('PostToolUseFailure', { ...call, error: 'no' })

    const { data, kind } = await newest()

    expect(kind).toBe('entry.appended')
    expect(data).toMatchObject({ outcome: 'failure' })
    expect(data).not.toHaveProperty('settle')
  })

  it.each([
    ['without a decision', async () => bash()],
    [
      'after a denial',
      async () => {
        const call = bash('rm -rf /')
        await pre(call)
        return call
      },
    ],
    [
      'with another input than the decided one',
      async () => {
        const call = bash()
        await pre(call)
        return { ...call, tool_input: { command: 'rm -rf /' } }
      },
    ],
  ])('records a tool that ran %s as a gap', async (_, prepare) => {
    await send('PostToolUse', await prepare())

    expect((await newest()).kind).toBe('enforcement.gap')
  })

  it('waits for an approval, then denies and names it; the next call uses it', async () => {
    const late = await pre(bash('git push'), { timeout: '3' })
    const [approval] = (await api.ok('listApprovals', { query: { status: 'pending' } })).data

    expect(late.hookSpecificOutput).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringContaining(approval!.id),
    })
    await api.ok('decideApproval', {
      params: { requestID: approval!.id },
      body: { decision: 'approve', approver: 'carol' },
    })
    expect(await pre(bash('git push'))).toEqual({})
  })

  it('lets a call pass that is approved while it waits', async () => {
    const waiting = pre(bash('git push'))
    const pending = async () =>
      (await api.ok('listApprovals', { query: { status: 'pending' } })).data[0]
    await expect.poll(pending, { timeout: 30_000 }).toBeDefined()
    await api.ok('decideApproval', {
      params: { requestID: (await pending())!.id },
      body: { decision: 'approve', approver: 'carol' },
    })

    expect(await waiting).toEqual({})
  })

  it('answers a permission prompt by the decision on its call', async () => {
    const allowed = bash('make')
    const denied = bash('rm y')
    await pre(allowed)
    await pre(denied)
    const ask = (call: ReturnType<typeof bash>, query?: Record<string, string>) =>
      send('PermissionRequest', { ...call, tool_use_id: undefined }, query)

    expect(await ask(allowed)).toEqual({})
    expect((await ask(allowed, { allow: 'true' })).hookSpecificOutput).toMatchObject({
      decision: { behavior: 'allow' },
    })
    expect((await ask(denied)).hookSpecificOutput).toMatchObject({
      decision: { behavior: 'deny' },
    })
  })

  const prompt = (command: string, changes: object = {}) => ({
    ...BASE,
    tool_name: 'Bash',
    tool_input: { command },
    ...changes,
  })

  it.each([
    ['no call was decided before', async () => prompt('rm /a')],
    [
      'the call had another input',
      async () => {
        await pre(bash('ls /b'))
        return prompt('rm /b')
      },
    ],
    [
      'the call was one of another session',
      async () => {
        await pre(bash('rm /c'))
        return prompt('rm /c', { session_id: 'other' })
      },
    ],
    [
      'the call has run',
      async () => {
        const call = bash('ls /d')
        await pre(call)
        await send('PostToolUse', { ...call, tool_response: {} })
        await api.ok('createPolicy', {
          body: {
            effect: 'deny',
            actions: ['claude.Bash'],
            condition: 'context.args.command == "ls /d"',
          },
        })
        return prompt('ls /d')
      },
    ],
  ])('decides a permission prompt and records it if %s', async (_, prepare) => {
    const answer = await send('PermissionRequest', await prepare())

    expect(answer.hookSpecificOutput).toMatchObject({ decision: { behavior: 'deny' } })
    expect(await newest()).toMatchObject({
      kind: 'authorization.decided',
      action: 'claude.Bash',
      decision: 'deny',
    })
  })

  it('takes the allow of a prompt for the call that ran after it, and for no other one', async () => {
    expect(await send('PermissionRequest', prompt('ls /e'))).toEqual({})
    const { data: decided } = await newest()
    await send('PostToolUse', { ...bash('ls /e'), tool_response: {} })

    expect(await newest()).toMatchObject({
      kind: 'entry.appended',
      data: { decision_id: decided!['decision_id'], outcome: 'success', settle: 'held' },
    })
    await send('PostToolUse', { ...bash('ls /e'), tool_response: {} })
    expect((await newest()).kind).toBe('enforcement.gap')
  })

  it('uses an approval for one prompt', async () => {
    await api.ok('setApprovalRule', {
      params: { id: 'tag' },
      body: { actions: ['claude.Bash'], condition: 'context.args.command == "git tag"' },
    })
    const ask = () => send('PermissionRequest', prompt('git tag'), { timeout: '3', allow: 'true' })
    const denied = { decision: { behavior: 'deny' } }
    expect((await ask()).hookSpecificOutput).toMatchObject(denied)
    const [approval] = (await api.ok('listApprovals', { query: { status: 'pending' } })).data
    await api.ok('decideApproval', {
      params: { requestID: approval!.id },
      body: { decision: 'approve', approver: 'carol' },
    })

    expect((await ask()).hookSpecificOutput).toMatchObject({ decision: { behavior: 'allow' } })
    expect((await ask()).hookSpecificOutput).toMatchObject(denied)
  })

  it.each(HOOK_EVENTS)('takes the input of the event %s as the SDK types it', async (event) => {
    const input: HookInput = INPUTS[event]
    // The prompt is about a call that was decided before.
    if (event === 'PermissionRequest')
      await api.ok('claudeCodeHook', { body: { ...INPUTS.PreToolUse } })
    const answer = await api.ok('claudeCodeHook', { body: { ...input } })

    const isDenied = event === 'PreToolUse' || event === 'PermissionRequest'
    expect(answer.hookSpecificOutput?.hookEventName).toBe(isDenied ? event : undefined)
    expect(Object.keys(answer)).toEqual(isDenied ? ['hookSpecificOutput'] : [])
  })

  it('answers events without a tool with nothing', async () => {
    expect(await send('SessionStart', BASE)).toEqual({})
  })

  it.each([
    ['no session', { hook_event_name: 'PreToolUse' }, 'session_id'],
    ['no call id', { hook_event_name: 'PreToolUse', ...BASE, tool_name: 'Bash' }, 'tool_use_id'],
    ['no tool', { ...BASE, hook_event_name: 'PreToolUse', tool_use_id: 'x' }, 'tool_name'],
    ['a prompt about no tool', { ...BASE, hook_event_name: 'PermissionRequest' }, 'tool_name'],
    ['no tool name', { ...BASE, hook_event_name: 'PreToolUse', tool_name: '' }, 'tool_name'],
  ])('refuses %s by the field', async (_, body, path) => {
    const problem = await api.refusal('claudeCodeHook', { body })

    expect(problem.errors?.[0]?.path).toBe(path)
  })

  it('shortens an input that is larger than a context', async () => {
    const call = { ...bash(), tool_name: 'Write', tool_input: { content: 'x'.repeat(300_000) } }

    expect(await pre(call)).toEqual({})
    expect(await newest()).toMatchObject({
      data: { context: { args: { content: { length: 300_000 } } } },
    })
  })
})
