import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { InventoryInput } from '@remit/contract'
import { scratchFolder } from '@remit/testing/pure'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { discover, machinePlaces, repositoryPlaces } from '../src/discover/discover.ts'

const SECRET = 'sk-secret-1234'
const remitHook = (change: object = {}) => ({
  type: 'http',
  url: `https://remit.example.com/v1/hooks/claude-code?agent_id=${SECRET}`,
  headers: { Authorization: `Bearer ${SECRET}` },
  onFailure: 'block',
  ...change,
})
const claude = (hook: object, group: object = {}, more: object = {}) => ({
  hooks: { PreToolUse: [{ ...group, hooks: [hook] }] },
  ...more,
})

describe('remit discover', () => {
  let folder: string
  const folders: string[] = []
  beforeEach(() => {
    folder = scratchFolder('discover')
    folders.push(folder)
  })
  afterAll(() => folders.forEach((path) => rmSync(path, { recursive: true, force: true })))

  const write = (path: string, content: object | string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(
      join(folder, path),
      typeof content === 'string' ? content : JSON.stringify(content),
    )
  }
  const inRepository = (gateways: string[] = []) =>
    discover({ ...repositoryPlaces(folder), gateways })
  const onMachine = () =>
    discover({
      ...machinePlaces({ HOME: folder, APPDATA: join(folder, 'app') }),
      gateways: [],
    })
  const agents = () => inRepository().items.filter(({ kind }) => kind === 'agent')
  const only = (servers: object, gateways: string[] = []) => {
    write('.mcp.json', { mcpServers: servers })
    return inRepository(gateways).items.filter(({ kind }) => kind === 'mcp_server')
  }

  test('names a server beside a governed one of the same name in the same file', () => {
    write('.cursor/mcp.json', {
      mcpServers: { files: { command: 'npx', args: ['-y', 'other-server'] } },
      servers: { files: { command: 'remit-mcp' } },
    })
    const found = inRepository().items.filter(({ kind }) => kind === 'mcp_server')

    expect(found.map(({ name, governed }) => [name, governed])).toEqual([
      ['files', false],
      ['files', true],
    ])
  })

  test('takes an address for governed as it is requested, and shows none of another scheme', () => {
    const gateway = 'https://gateway.example/mcp'
    const found = only(
      {
        above: { url: `${gateway}/../other` },
        below: { url: `${gateway}/./files` },
        odd: { url: `${SECRET}:x` },
      },
      [gateway],
    )

    expect(found.map(({ name, governed }) => [name, governed])).toEqual([
      ['above', false],
      ['below', true],
      ['odd', false],
    ])
    expect(JSON.stringify(found)).not.toContain(SECRET)
  })

  test('reads every host of a machine, and shows the home folder as ~', () => {
    const server = { command: 'npx', args: ['-y', 'some-server'] }
    write('.claude.json', {
      mcpServers: { one: server },
      projects: { '/src/app': { mcpServers: { two: server } } },
    })
    write('.codex/config.toml', '[mcp_servers.three]\ncommand = "uvx"\nargs = ["tool"]\n')
    write('.cursor/mcp.json', { mcpServers: { four: { url: `https://x.example/${SECRET}` } } })
    write('.codeium/windsurf/mcp_config.json', { mcpServers: { five: { serverUrl: 'http://y' } } })
    write('.gemini/settings.json', '{ // a comment\n "mcpServers": {"six": {"command": "six"},},}')
    write('.copilot/mcp-config.json', { mcpServers: { seven: server } })
    for (const app of ['.config', 'Library/Application Support', 'app']) {
      write(`${app}/Claude/claude_desktop_config.json`, { mcpServers: { eight: server } })
      write(`${app}/Code/User/mcp.json`, { servers: { nine: server } })
    }

    const { items, unread } = onMachine()

    expect(unread).toEqual([])
    const names = (kind: string) => items.filter((one) => one.kind === kind).map(({ name }) => name)
    expect(names('mcp_server').toSorted()).toEqual(
      ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'].toSorted(),
    )
    expect(names('agent').toSorted()).toEqual(
      [
        'Claude Code',
        'Claude Desktop',
        'Codex',
        'Cursor',
        'VS Code',
        'Windsurf',
        'Gemini CLI',
        'GitHub Copilot CLI',
      ].toSorted(),
    )
    expect(items.every(({ path }) => path.startsWith('~'))).toBe(true)
    expect(InventoryInput.safeParse({ host: 'h', items, unread }).error).toBeUndefined()
  })

  test('names files that cannot be read, and reads the others', () => {
    write('.mcp.json', '{"mcpServers": {')
    write('.codex/config.toml', '[mcp_servers')
    write('.vscode/mcp.json', '[]')
    mkdirSync(join(folder, '.gemini/settings.json'), { recursive: true })
    write('.cursor/mcp.json', { mcpServers: { four: { command: 'x' } } })

    const { items, unread } = inRepository()

    expect(unread.toSorted()).toEqual(
      ['.codex/config.toml', '.gemini/settings.json', '.mcp.json', '.vscode/mcp.json'].toSorted(),
    )
    expect(items.map(({ name }) => name)).toEqual(['Cursor', 'four'])
  })

  test('finds nothing in an empty folder', () => {
    expect(inRepository()).toEqual({ items: [], unread: [] })
  })

  test.each([
    ['of the command remit-mcp', { command: '/usr/bin/remit-mcp', args: ['--', 'x'] }, true],
    ['of npx @remit/mcp', { command: 'npx', args: ['-y', '@remit/mcp@0.1.0', '--', 'x'] }, true],
    ['at a gateway', { url: 'https://gate.example/mcp/files' }, true],
    ['that names the gateway as an argument', { command: 'x', args: ['@remit/mcp'] }, false],
    ['beside the gateway', { url: 'https://gate.example.evil/mcp' }, false],
    ['without anything', {}, false],
    ['that is no object', 'x', false],
  ])('a server %s is governed: %s', (_, server, governed) => {
    expect(only({ s: server }, ['https://gate.example'])).toMatchObject([{ governed }])
  })

  test('tells how servers are started, and no secret', () => {
    write('.claude/settings.json', claude(remitHook(), {}, { env: { KEY: SECRET } }))
    const items = only({
      a: { command: 'npx', args: ['-y', 'server-files', SECRET], env: { TOKEN: SECRET } },
      b: { command: 'npx', args: ['--token', SECRET, 'x'] },
      c: { url: `https://user:${SECRET}@x.example:8443/${SECRET}?k=${SECRET}#${SECRET}` },
      d: { command: '/opt/bin/tool.exe', args: [SECRET], headers: { Authorization: SECRET } },
      e: { url: SECRET },
      f: { command: `API_KEY=${SECRET} npx -y server` },
      g: { command: `/bin/sh -c "TOKEN=a/${SECRET}"` },
      h: { command: `tool --token ${SECRET}` },
      i: { command: 'C:\\Program Files\\nodejs\\npx.cmd', args: ['-y', 'server-files'] },
    })

    expect(items.map(({ detail }) => detail)).toEqual([
      'stdio: npx server-files',
      'stdio: npx',
      'http: https://x.example:8443',
      'stdio: tool',
      'http: not readable',
      'stdio: a command line',
      'stdio: a command line',
      'stdio: a command line',
      'stdio: npx server-files',
    ])
    expect(JSON.stringify(inRepository())).not.toContain(SECRET)
  })

  test.each([
    ['the hook of Remit', claude(remitHook()), true, 'hooks ask Remit'],
    ['a matcher for all', claude(remitHook(), { matcher: '*' }), true, 'hooks ask Remit'],
    ['a matcher for some', claude(remitHook(), { matcher: 'Bash' }), false, 'matcher'],
    ['no onFailure', claude(remitHook({ onFailure: 'continue' })), false, 'onFailure'],
    ['another address', claude(remitHook({ url: 'https://x/hook' })), false, 'no hook'],
    ['no hooks', {}, false, 'no hook'],
    ['hooks that are off', claude(remitHook(), {}, { disableAllHooks: true }), false, 'disable'],
  ])('Claude Code with %s is governed: %s', (_, settings, governed, reason) => {
    write('.claude/settings.json', settings)

    expect(agents()).toMatchObject([
      { name: 'Claude Code', governed, detail: expect.stringContaining(reason) },
    ])
  })

  test.each([
    ['the command', 'remit-sdk hook codex --timeout 60', true],
    ['the old command', 'remit hook codex', false],
    ['npx', 'npx -y @remit/sdk hook codex', true],
    ['another command', 'echo remit', false],
    ['the command of another program', 'notremit-sdk hook codex', false],
  ])('Codex with %s is governed: %s', (_, command, governed) => {
    write(
      '.codex/config.toml',
      `[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "${command}"\n`,
    )

    expect(agents()).toMatchObject([{ name: 'Codex', governed }])
  })

  test('names that the inventory does not take are shown as it does', () => {
    const items = only({ 'a*b\u202e': { command: 'x' }, ' ': { command: 'x' }, '': {} })

    expect(items.map(({ name }) => name)).toEqual(['a?b?', 'unnamed', 'unnamed'])
  })
})
