import { describe, expect, it } from 'vitest'
import { aRule, NOW } from '../../test/support/rules.ts'
import { ruleWarnings } from './lint.ts'

const warningsOf = (actions: readonly string[], resources: readonly string[] = ['*']) =>
  ruleWarnings(aRule({ actions, resources }), 'deny', NOW)

describe('a rule whose pattern no request matches', () => {
  it.each([
    ['claude.bash', 'write claude.Bash'],
    ['claude.BASH', 'write claude.Bash'],
    ['claude.webfetch', 'write claude.WebFetch'],
    ['claude.multiEdit', 'write claude.MultiEdit'],
    ['claude.todowrite', 'write claude.TodoWrite'],
    ['claude.mytool', 'write claude.Mytool'],
    ['Claude.Bash', 'write claude.Bash'],
    ['claude-code.Bash', 'write claude.Bash'],
    ['claude_code.bash', 'write claude.Bash'],
    ['codex.bash', 'write codex.Bash'],
    ['codex.Apply_Patch', 'write codex.apply_patch'],
    ['claude.mcp__bank__pay', 'the action tools/call and the resource tool:pay'],
    ['codex.mcp__bank__*', 'the action tools/call and the resource tool:*'],
    ['claude.mcp__*', 'the action tools/call and the resource tool:*'],
    ['Tools/Call', 'write tools/call'],
    ['tools.call', 'write tools/call'],
    ['resources.read', 'write resources/read'],
    ['LiteLLM.request', 'write litellm.request'],
    ['tool:write_file', 'write the action tools/call and the resource tool:write_file'],
    ['tool:mcp__bank__pay', 'write the action tools/call and the resource tool:pay'],
    ['Prompt:x', 'write the action prompts/get and the resource prompt:x'],
  ])('as action: %s: %s', (action, better) => {
    const expected = `the pattern ${action} probably never matches a request: `
    const [warning, ...others] = warningsOf([action])

    expect(warning).toContain(expected)
    expect(warning).toContain(better)
    expect(others).toEqual([])
  })

  it.each([
    [['*'], 'tool:mcp__bank__pay', 'write tool:pay'],
    [['*'], 'tool:mcp__my__server__do', 'write tool:server__do'],
    [['*'], 'tool:mcp__bank__*', 'write tool:*'],
    [['*'], 'Tool:pay', 'write tool:pay'],
    [['tools/call'], 'write_file', 'write tool:write_file'],
    [['tools/call'], 'mcp__files__write_file', 'write tool:write_file'],
    [['tools/call'], 'resource:file:///a', 'write tool:'],
    [['resources/read'], 'secret', 'write resource:secret'],
    [['prompts/get'], 'tool:x', 'write prompt:x'],
    [['resources/read'], 'resource:file:/srv/a', 'write resource:file:///srv/a'],
    [['resources/read'], 'resource:file:///srv/%73ecret', 'write resource:file:///srv/secret'],
    [['resources/read'], 'resource:file:///srv/pub/../a', 'write resource:file:///srv/a'],
    [['*'], 'resource:File:///srv/*', 'write resource:file:///srv/*'],
    [['*'], 'resource:file:///srv/./pub/*.txt', 'write resource:file:///srv/pub/*.txt'],
    [['*'], 'resource:file:///../a', 'the address must not leave its root'],
    [['claude.Bash'], 'tool:Bash', 'have no resource'],
    [['claude.Bash', 'codex.*'], 'Bash', 'have no resource'],
  ])('as resource of %j: %s: %s', (actions, resource, better) => {
    const [warning, ...others] = warningsOf(actions, [resource])

    expect(warning).toContain(`the pattern ${resource} probably never matches a request: `)
    expect(warning).toContain(better)
    expect(others).toEqual([])
  })

  it.each<[readonly string[], string]>([
    [['claude.Bash'], '*'],
    [['claude.*'], '*'],
    [['codex.apply_patch'], '*'],
    [['codex.shell'], '*'],
    [['claude.Bash', 'tools/call'], 'tool:bash'],
    [['tools/call'], 'tool:pay'],
    [['tools/call'], 'tool:*'],
    [['tools/call'], '*pay'],
    [['tools/call'], 'account:12'],
    [['resources/read'], 'resource:file:///srv/secret.txt'],
    [['resources/read'], 'resource:file:///srv/pub/*'],
    [['resources/read'], 'resource:*secret.txt'],
    [['resources/read'], 'resource:memo://Insights'],
    [['resources/read'], 'resource:12'],
    [['*'], 'write_file'],
    [['tools/call', 'docs.read'], 'write_file'],
    [['tools/call', 'resources/read'], 'resource:file:///a'],
    [['mcp__bank__pay'], '*'],
    [['write_file'], '*'],
    [['payments.*'], 'account:12'],
    [['litellm.request'], '*'],
  ])('%j and %s may match', (actions, resource) => {
    expect(warningsOf(actions, [resource])).toEqual([])
  })
})
