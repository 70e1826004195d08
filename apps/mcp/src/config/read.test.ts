import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readGatewayConfig } from './read.ts'
import { GatewayConfig } from './schema.ts'

const folder = mkdtempSync(join(tmpdir(), 'remit-config-'))
const FILE = join(folder, 'gateway.json')
afterAll(() => rmSync(folder, { recursive: true }))

function read(config: unknown, env: Record<string, string> = {}) {
  writeFileSync(FILE, typeof config === 'string' ? config : JSON.stringify(config))
  return readGatewayConfig(FILE, env)
}
const files = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/src'] }
const upstreams = { files }

it('reads servers, with their secrets from the environment and from files', () => {
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'Bearer from-a-file\n')
  const {
    upstreams: all,
    host,
    port,
  } = read(
    {
      listen: '[::1]:8090',
      upstreams: {
        files: { ...files, env: { TOKEN: { env: 'FILES_TOKEN' }, MODE: 'ro' } },
        search: { url: 'https://search.example/mcp', headers: { authorization: { file: secret } } },
      },
    },
    { FILES_TOKEN: 'from-the-environment' },
  )

  expect([host, port]).toEqual(['::1', 8090])
  expect(all.get('files')).toEqual({
    kind: 'command',
    ...files,
    env: { TOKEN: 'from-the-environment', MODE: 'ro' },
  })
  expect(all.get('search')).toMatchObject({ headers: { authorization: 'Bearer from-a-file' } })
})

it('trusts no tools that nobody admitted, unless it is told to', () => {
  expect(read({ upstreams }).config.trust).toBe('pinned')
})

describe('an unusable configuration is refused with the field and what is accepted', () => {
  it.each([
    ['{', /^.*gateway\.json: .*/],
    ['{"listen":"a:1","listen":"b:1"}', 'listen'],
    [{}, 'upstreams: is required'],
    [{ upstreams: {} }, 'upstreams: must name at least one server'],
    [{ upstreams, trusted: true }, 'trusted: is not a known field'],
    [{ upstreams, trust: 'all' }, 'trust: must be one of "pinned", "first-use"'],
    [{ upstreams, listen: 'here' }, 'listen: must be HOST:PORT'],
    [
      { upstreams, listen: '127.0.0.1:99999' },
      'listen: must be HOST:PORT, with a port up to 65535',
    ],
    [{ upstreams, listen: '0.0.0.0:8090' }, 'public_url: is required'],
    [
      { upstreams, public_url: 'https://a.example/mcp' },
      'public_url: must be an address without path',
    ],
    [{ upstreams, limits: { sessions: 0 } }, 'limits.sessions: must be at least 1'],
    [{ upstreams, hold_seconds: 'long' }, 'hold_seconds: must be a number'],
    [{ upstreams: { 'a/b': files } }, 'upstreams.a/b: its name must be letters, digits and ._-'],
    [{ upstreams: { a: {} } }, 'upstreams.a: must have either "command" or "url"'],
    [{ upstreams: { a: { command: 'x', url: 'http://a' } } }, 'upstreams.a: must have either'],
    [{ upstreams: { a: { command: 1 } } }, 'upstreams.a.command: must be a text'],
    [{ upstreams: { a: { url: 'ftp://a' } } }, 'upstreams.a.url: must be an http or https URL'],
    [
      { upstreams: { a: { url: 'http://u:p@a' } } },
      'upstreams.a.url: must be an address without credentials',
    ],
    [
      { upstreams: { a: { url: 'http://a', headers: { 'a b': 'c' } } } },
      'upstreams.a.headers: must be names and values',
    ],
    [
      { upstreams: { a: { command: 'x', env: { A: { evn: 'B' } } } } },
      'upstreams.a.env.A: must be a text, {"env": "NAME"} or {"file": "PATH"}',
    ],
    [
      { upstreams: { a: { command: 'x', env: { A: { env: 'B' } } } } },
      'upstreams.a.env.A: the variable B is not set',
    ],
    [
      { upstreams: { a: { command: 'x', env: { A: { file: '/no/file' } } } } },
      'upstreams.a.env.A: /no/file cannot be read (no such file or directory)',
    ],
    [{ upstreams, map: { pay: { amount: 'usd' } } }, 'map.pay.amount: '],
    [{ upstreams, map: { pay: { authzen: {} } } }, 'map.pay.authzen: must have "evaluation"'],
    [
      { upstreams, map: { pay: { authzen: {}, action: 'a' } } },
      'map.pay: must have either authzen',
    ],
    [
      { upstreams, map_file: '/none/map.json' },
      'map_file: /none/map.json cannot be read (no such file or directory)',
    ],
  ])('%j', (config, message) => {
    expect(() => read(config)).toThrow(message)
  })

  it('that is not there', () => {
    expect(() => readGatewayConfig(join(folder, 'none.json'), {})).toThrow(
      'cannot be read (no such file or directory)',
    )
  })
})

it('has the JSON Schema that the package ships', () => {
  const shipped = readFileSync(join(import.meta.dirname, '../../gateway.schema.json'), 'utf8')

  expect(JSON.parse(shipped)).toEqual(z.toJSONSchema(GatewayConfig, { io: 'input' }))
})
