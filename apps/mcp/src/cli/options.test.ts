import { describe, expect, it } from 'vitest'
import { readArguments } from './options.ts'

const names = (...command: string[]) => {
  const read = readArguments(['--', ...command])
  return read?.name
}

describe('the name of the server', () => {
  it.each([
    [['npx', '-y', '@acme/server-files@1.2', '/data'], '@acme/server-files'],
    [['npx', 'files'], 'files'],
    [['/usr/bin/files', '--all'], 'files'],
    [['node', '/opt/files/index.js'], 'files/index.js'],
    [['uvx', 'mcp-server-git'], 'mcp-server-git'],
  ])('of %j is %s', (command, name) => {
    expect(names(...command)).toBe(name)
  })

  it('is the one that is given', () => {
    expect(readArguments(['--name', 'a', '--', 'npx', 'b'])?.name).toBe('a')
  })
})

describe('a wrong command line', () => {
  it.each([
    [['--trust', 'all', '--', 'x'], '--trust: must be pinned or first-use'],
    [['--deny', 'no', '--', 'x'], '--deny: must be result or error'],
    [['--hold', 'long', '--', 'x'], '--hold: must be 0 to 600 seconds'],
    [['x'], 'unknown argument x; write -- before the command'],
    [[], 'expected `remit-mcp [options] -- COMMAND`'],
    [['--'], 'expected `remit-mcp [options] -- COMMAND`'],
    [['--frobnicate', '--', 'x'], '--frobnicate'],
  ])('%j says what is accepted', (argv, message) => {
    expect(() => readArguments(argv)).toThrow(message)
  })
})

it('leaves the options of the server alone', () => {
  const read = readArguments(['--agent', 'a', '--', 'x', '--agent', 'b', '--help'])

  expect(read).toMatchObject({ agent: 'a', command: 'x', args: ['--agent', 'b', '--help'] })
})
