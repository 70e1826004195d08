import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

/** The members of a hook of Codex, by its published schema. */
const call = (id: string, command = 'ls') => ({
  session_id: '0199a213',
  turn_id: 't1',
  transcript_path: null,
  cwd: '/src',
  model: 'gpt',
  permission_mode: 'default',
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: id,
})

describe.each(someDialects())('the hook of Codex on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
    await api.ok('createPolicy', {
      body: {
        effect: 'deny',
        actions: ['codex.Bash'],
        condition: 'context.args.command.startsWith("rm")',
      },
    })
  })
  afterAll(() => api.remit.close())

  const send = (event: string, body: object) =>
    api.ok('codexHook', { body: { hook_event_name: event, ...body } })
  const kinds = async () =>
    (await api.ok('listEntries', { query: { agent_id: 'codex' } })).data.map(({ kind }) => kind)

  it('decides as codex, is silent about an allow, and settles the outcome', async () => {
    expect(await send('PreToolUse', call('c1'))).toEqual({})
    expect(await send('PostToolUse', { ...call('c1'), tool_response: 'ok' })).toEqual({})
    expect(await kinds()).toEqual(['entry.appended', 'authorization.decided'])
  })

  it('denies in the shape that Codex reads', async () => {
    expect(await send('PreToolUse', call('c2', 'rm -rf /'))).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: expect.stringContaining('denied by Remit'),
      },
    })
  })

  const patch = (...lines: string[]) => ({
    ...call('c-patch'),
    tool_name: 'apply_patch',
    tool_input: { command: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') },
  })

  it.each([
    ['adds', ['*** Add File: /etc/x', '+a']],
    ['changes', ['*** Update File: /etc/x', '@@', '-a', '+b']],
    ['deletes', ['*** Delete File: /etc/x']],
    ['moves there', ['*** Update File: a.txt', '*** Move to: /etc/x', '@@', '+b']],
    ['changes as the second', ['*** Update File: a.txt', '+b', '*** Update File: /etc/x', '+b']],
    ['names with dots', ['*** Update File: ../../etc/./x', '+b']],
    ['names with blanks around', ['  *** Update File: /etc/x  ', '+b']],
    ['names behind another blank', ['*** Add File: b', '+b', '\u0085*** Add File: /etc/x', '+a']],
  ])('sees the file that a patch %s', async (_, lines) => {
    await api.ok('createPolicy', {
      body: {
        effect: 'deny',
        actions: ['codex.apply_patch'],
        condition: 'context.files.exists(f, f.startsWith("/etc/"))',
      },
    })

    expect(
      await send('PreToolUse', { ...patch(...lines), tool_use_id: lines.join() }),
    ).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    })
    const other = patch('*** Update File: a.txt', '+*** Update File: /etc/x')
    expect(await send('PreToolUse', other)).toEqual({})
    // A patch that cannot be read has no files to judge.
    expect(await send('PreToolUse', patch('junk'))).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    })
  })

  it.each([
    ['with such a blank at its end', ['*** Add File: /etc/x\u0085', '+a']],
    ['with a line separator', ['*** Add File: b.txt\u2028/../../etc/x', '+a']],
    ['with a carriage return', ['*** Add File: b.txt\r/../../etc/x', '+a']],
    ['with a blank before it', ['*** Add File:  /etc/x', '+a']],
    ['to move to, with a line separator', ['*** Move to: b.txt\u2028/../../etc/x']],
  ])('denies a patch that names a file %s', async (_, lines) => {
    const asked = { ...patch('*** Update File: a.txt', '+b', ...lines), tool_use_id: lines.join() }

    expect(await send('PreToolUse', asked)).toMatchObject({
      hookSpecificOutput: {
        permissionDecision: 'deny',
        permissionDecisionReason: expect.stringContaining('outer blanks or a control character'),
      },
    })
  })

  it('takes a patch with line ends of Windows', async () => {
    const { tool_input, ...rest } = patch('*** Update File: a.txt', '+*** Add File: \u2028')
    const command = tool_input.command.replaceAll('\n', '\r\n')

    expect(
      await send('PreToolUse', { ...rest, tool_use_id: 'w', tool_input: { command } }),
    ).toEqual({})
  })

  it('sees the image that is viewed, in NFC', async () => {
    await api.ok('createPolicy', {
      body: {
        effect: 'deny',
        actions: ['codex.view_image'],
        condition: 'context.files.exists(f, f == "/src/\u00e9.png")',
      },
    })
    const view = (path: string) =>
      send('PreToolUse', { ...call(path), tool_name: 'view_image', tool_input: { path } })

    expect(await view('b.png')).toEqual({})
    expect(await view('e\u0301.png')).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    })
  })

  it('answers a prompt as its call, whatever reason Codex adds to it', async () => {
    const { tool_use_id: _, tool_input, ...prompt } = call('c5', 'rm-safe')
    const { tool_use_id: __, ...other } = call('', 'ls -R')
    const described = { ...tool_input, description: 'outside of the sandbox' }
    expect(await send('PreToolUse', call('c6', 'ls -l'))).toEqual({})
    const before = (await kinds()).length

    const asked = { ...other, tool_input: { command: 'ls -l', description: 'why' } }
    expect(await send('PermissionRequest', asked)).toEqual({})
    expect(await kinds()).toHaveLength(before)
    // One without a call is decided.
    expect(await send('PermissionRequest', { ...prompt, tool_input: described })).toMatchObject({
      hookSpecificOutput: { decision: { behavior: 'deny' } },
    })
    expect(await kinds()).toHaveLength(before + 1)
  })

  it('records a call that ran although its hook was killed', async () => {
    await send('PostToolUse', { ...call('c3'), tool_response: 'ok' })

    expect((await kinds())[0]).toBe('enforcement.gap')
  })

  it('allows explicitly only on request: the permission rules of Codex decide too', async () => {
    const body = { hook_event_name: 'PreToolUse' as const, ...call('c4') }

    expect(await api.ok('codexHook', { body })).toEqual({})
    expect(await api.ok('codexHook', { body, query: { allow: 'true' } })).toMatchObject({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' },
    })
  })
})
