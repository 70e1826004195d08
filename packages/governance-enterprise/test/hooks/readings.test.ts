import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

let calls = 0
const call = (tool_name: string, changes: object = {}) => ({
  hook_event_name: 'PreToolUse' as const,
  session_id: 's1',
  cwd: '/src',
  tool_name,
  tool_input: { a: 1 },
  tool_use_id: `toolu_${++calls}`,
  ...changes,
})
const DENIED = { hookSpecificOutput: { permissionDecision: 'deny' } }

describe.each(someDialects())(
  'the name of an MCP tool that a host has joined, on %s',
  (dialect) => {
    let first: Api
    let api: Api
    beforeAll(async () => {
      first = await createApi({ dialect })
    })
    afterAll(() => first.remit.close())
    beforeEach(async () => {
      api = first.as(await first.remit.organization())
    })

    const deny = (resource: string, more: object = {}) =>
      api.ok('createPolicy', {
        body: { effect: 'deny', actions: ['tools/call'], resources: [resource], ...more },
      })
    const claude = (body: object, query: Record<string, string> = {}) =>
      api.ok('claudeCodeHook', { body, query })
    const codex = (body: object) => api.ok('codexHook', { body })
    const entries = async (kind = 'authorization.decided') =>
      (await api.ok('listEntries', { query: { kind } })).data

    it.each([
      ['mcp__my__server__do_thing', 'do_thing'],
      ['mcp__my__server__do_thing', 'server__do_thing'],
      ['mcp__Files__prod___do_thing', 'do_thing'],
      ['mcp__Files__prod___do_thing', '_do_thing'],
      ['mcp__Files__prod___do_thing', 'prod___do_thing'],
      ['mcp__a____b', 'b'],
      ['mcp__a____b', '__b'],
      ['mcp__a__b__c__d__e__f__g__h__i', 'i'],
    ])('is denied by a rule for any reading: %s as %s', async (name, tool) => {
      await deny(`tool:${tool}`)

      expect(await claude(call(name))).toMatchObject(DENIED)
      expect(await codex(call(name))).toMatchObject(DENIED)
    })

    it.each([
      ['the tool', 'context.tool == "do_thing"'],
      ['the server', 'context.upstream == "my__server"'],
      ['the resource', 'resource.id == "do_thing"'],
    ])('is denied by a condition that reads %s of another reading', async (_, condition) => {
      await deny('*', { condition })

      expect(await claude(call('mcp__my__server__do_thing'))).toMatchObject(DENIED)
    })

    it('is allowed with one entry and one hold, which name all readings', async () => {
      await deny('tool:other')

      expect(await claude(call('mcp__my__server__do_thing'))).toEqual({})

      const decided = await entries()
      expect(decided).toHaveLength(1)
      expect(decided[0]).toMatchObject({
        resource: 'tool:server__do_thing',
        data: {
          context: { upstream: 'my', tool: 'server__do_thing' },
          readings: [
            { resource: 'tool:do_thing', context: { upstream: 'my__server', tool: 'do_thing' } },
          ],
        },
      })
    })

    it('has no readings in the entry if there is one', async () => {
      await claude(call('mcp__files__read'))

      expect((await entries())[0]!.data).not.toHaveProperty('readings')
    })

    it('needs an allow for each reading where only what is allowed may run', async () => {
      await api.ok('setAgentMode', {
        params: { agentID: 'claude-code' },
        body: { mode: 'granted' },
      })
      const grant = (id: string, resource: string) =>
        api.ok('grantPermission', {
          params: { id },
          body: { agent_id: 'claude-code', actions: ['tools/call'], resources: [resource] },
        })
      const name = 'mcp__my__server__do_thing'
      await grant('one', 'tool:do_thing')
      expect(await claude(call(name))).toMatchObject(DENIED)

      await grant('two', 'tool:server__do_thing')
      expect(await claude(call(name))).toEqual({})
    })

    it('asks people once for the rules of all readings, and uses the approval once', async () => {
      for (const tool of ['do_thing', 'server__do_thing'])
        await api.ok('setApprovalRule', {
          params: { id: tool },
          body: { actions: ['tools/call'], resources: [`tool:${tool}`] },
        })
      const name = 'mcp__my__server__do_thing'
      expect(await claude(call(name), { timeout: '3' })).toMatchObject(DENIED)
      const { data: pending } = await api.ok('listApprovals', { query: { status: 'pending' } })
      expect(pending).toHaveLength(1)
      await api.ok('decideApproval', {
        params: { requestID: pending[0]!.id },
        body: { decision: 'approve', approver: 'carol' },
      })

      expect(await claude(call(name))).toEqual({})
      expect(await entries('approval.consumed')).toHaveLength(1)
      expect(await claude(call(name), { timeout: '3' })).toMatchObject(DENIED)
    })

    it('does not use the approval of one reading, which the host has named', async () => {
      await api.ok('setApprovalRule', {
        params: { id: 'all' },
        body: { actions: ['tools/call'] },
      })
      const named = call('mcp__my__server__do_thing', { mcp_server: { name: 'my' } })
      await claude(named, { timeout: '3' })
      const { data: pending } = await api.ok('listApprovals', { query: { status: 'pending' } })
      await api.ok('decideApproval', {
        params: { requestID: pending[0]!.id },
        body: { decision: 'approve', approver: 'carol' },
      })

      const joined = call('mcp__my__server__do_thing')
      expect(await claude(joined, { timeout: '3' })).toMatchObject(DENIED)
      expect(await claude({ ...named, tool_use_id: 'later' })).toEqual({})
    })

    it.each([
      ['another server', 'mcp__my__server__do_thing', 'files'],
      ['a longer server', 'mcp__my__server__do_thing', 'my__server__do_thing'],
      ['a server of a tool of the host', 'Bash', 'files'],
      ['a server of claude.ai', 'mcp__claude_ai_Other__read', 'claude.ai Drive'],
    ])('is denied if it contradicts mcp_server: %s', async (_, name, server) => {
      expect(await claude(call(name, { mcp_server: { name: server } }))).toMatchObject(DENIED)
      expect((await entries())[0]).toMatchObject({ decision: 'deny', reason: 'unmappable' })
    })

    it.each([
      ['mcp__my__server__do_thing', 'my__server', 'do_thing'],
      ['mcp__my__server__do_thing', 'my', 'server__do_thing'],
      ['mcp__plugin_a__b__do_thing', 'plugin:a:_b', 'do_thing'],
      ['mcp__claude_ai_Drive_EU__read', 'claude.ai Drive (EU)', 'read'],
      ['mcp__claude_ai_Drive__EU___read', 'claude.ai Drive (EU)', 'read'],
    ])('has one reading if the host names the server: %s of %s', async (name, server, tool) => {
      await deny('tool:none')
      expect(await claude(call(name, { mcp_server: { name: server } }))).toEqual({})

      const [entry] = await entries()
      expect(entry?.resource).toBe(`tool:${tool}`)
      expect(entry?.data).not.toHaveProperty('readings')
    })

    it.each([
      ['more than eight readings', `mcp__${'a__'.repeat(9)}b`],
      ['a part that can be no name', 'mcp__a__b__ c'],
      ['a server and no tool', 'mcp__a__'],
      ['a tool and no server', 'mcp____drop'],
      ['one part', 'mcp__drop'],
      ['no part', 'mcp__'],
    ])('is denied with %s', async (_, name) => {
      expect(await codex(call(name))).toMatchObject(DENIED)
      expect((await entries())[0]).toMatchObject({ reason: 'unmappable' })
    })

    it('is denied on a repeat once a rule denies another reading', async () => {
      const repeated = call('mcp__my__server__do_thing')
      expect(await claude(repeated)).toEqual({})
      await deny('tool:do_thing')

      expect(await claude(repeated)).toMatchObject(DENIED)
    })
  },
)
