import { createPrivateKey, sign } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/settings/config.ts'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import type { RunningServer } from '../src/boot/serve.ts'
import { cli, cliJson, createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

let installation: Installation
let env: Record<string, string>
let key: string

beforeAll(async () => {
  installation = await createInstallation()
  env = { ...installation.env, REMIT_LOG_LEVEL: 'silent' }
  key = (await createOrg(env)).key.secret
})
afterAll(() => installation.remove())

const file = (name: string) => join(installation.folder, name)
const grow = () => cliJson(['key', 'create', '--role', 'read'], env)
const look = (url: string, state: string, ...more: string[]) =>
  cli(
    ['ledger', 'watch', url, '--once', '--json', '--key', key, '--state', file(state), ...more],
    {},
  )
const stateOf = (name: string) =>
  JSON.parse(readFileSync(file(name), 'utf8')) as { vkey: string; size: number; note: string }

describe.skipIf(!hasModules())('ledger watch on a real ledger', () => {
  let server: RunningServer | null = null
  const start = async () => (server = await createServer(readConfig(env))).url
  const stop = async () => {
    await server?.stop()
    server = null
  }
  afterEach(stop)

  test('pins the first key it sees and says so; --vkey spares that', async () => {
    const url = await start()
    const first = await look(url, 'first.json')
    const again = await look(url, 'first.json')
    const { vkey } = stateOf('first.json')
    const pinned = await look(url, 'pinned.json', '--vkey', vkey)

    expect(first).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^remit: pinned the key .+\n$/),
    })
    expect(first.stderr).toContain(vkey)
    expect(JSON.parse(first.stdout)).toMatchObject({
      status: 'ok',
      pinned: true,
      grown: null,
      vkey,
    })
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(again.stdout)).toMatchObject({ pinned: false, grown: 0 })
    expect(pinned).toMatchObject({ code: 0, stderr: '' })
  })

  test('a ledger that only grew is in order at every size, and its state anchors a verification', async () => {
    const url = await start()
    await look(url, 'grown.json')
    const before = stateOf('grown.json').size
    for (let more = 1; more <= 9; more++) {
      for (let i = 0; i < more; i++) await grow()
      const { code, stdout } = await look(url, 'grown.json')
      expect({ code, grown: JSON.parse(stdout).grown }).toEqual({ code: 0, grown: more })
    }

    expect(stateOf('grown.json').size).toBe(before + 45)
    const verified = await cliJson(['ledger', 'verify', '--checkpoint', file('grown.json')], env)
    expect(verified).toMatchObject({ status: 'ok', anchored_by: 'external' })
  })

  test('a ledger that went back to an older state is an alarm, when shorter and when it has grown again', async () => {
    const path = env['REMIT_DATABASE_URL']!.slice('sqlite:'.length)
    copyFileSync(path, file('backup.db'))
    const url = await start()
    await grow()
    await grow()
    await look(url, 'rolled.json')
    await stop()
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
    copyFileSync(file('backup.db'), path)
    const rolled = await start()
    const shorter = await look(rolled, 'rolled.json')
    const kept = readFileSync(file('rolled.json'), 'utf8')
    await grow()
    await grow()
    const same = await look(rolled, 'rolled.json')
    await grow()
    const longer = await look(rolled, 'rolled.json')

    expect(shorter).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('ALARM, shrank'),
    })
    expect(same).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('ALARM, forked'),
    })
    expect(longer).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('ALARM, forked'),
    })
    expect(readFileSync(file('rolled.json'), 'utf8')).toBe(kept)
  })

  test('a checkpoint of another key is an alarm; the new key of a rotation is taken from outside', async () => {
    const url = await start()
    await look(url, 'rotated.json')
    await stop()
    const newKey = file('rotated.pem')
    await cliJson(['ledger', 'keygen', newKey], env)
    const { new_vkey } = await cliJson<{ new_vkey: string }>(
      ['ledger', 'rotate-key', '--new-key', newKey],
      env,
    )
    env = { ...env, REMIT_LEDGER_KEY_FILE: newKey }
    await grow()
    const rotated = await start()
    const alarm = await look(rotated, 'rotated.json')
    const followed = await look(rotated, 'rotated.json', '--vkey', new_vkey)
    const after = await look(rotated, 'rotated.json')

    expect(alarm).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('ALARM, signature'),
    })
    expect(followed).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(followed.stdout)).toMatchObject({ grown: 2, vkey: new_vkey })
    expect(after.code).toBe(0)
  })

  test('a key that may not read the ledger could not run: 2', async () => {
    const url = await start()
    const refused = await cli(['ledger', 'watch', url, '--once', '--state', file('refused.json')], {
      REMIT_KEY: 'rmk_wrong',
    })

    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('401 unauthorized'),
    })
  })

  test('without --once it looks until it is told to end, also while the log is away', async () => {
    const ended = new AbortController()
    const url = await start()
    const onText = (text: string) => {
      if (text.includes(' ok: ')) void stop()
      if (text.includes('is unavailable')) ended.abort()
    }
    const args = ['--key', key, '--state', file('loop.json'), '--interval', '1']
    const watched = await cli(
      ['ledger', 'watch', url, ...args],
      {},
      { signal: ended.signal, onText },
    )

    expect(watched.code).toBe(0)
    expect(watched.stdout).toMatch(/^\S+ ok: \d+ entries \(first check\)\n$/)
    expect(watched.stderr).toMatch(/remit: the log is unavailable: ECONNREFUSED\n$/)
  })
})

/** A log that answers as a test wants it to. */
async function withLog(
  answers: RequestListener,
  work: (url: string) => Promise<void>,
): Promise<void> {
  const log = createHttpServer(answers).listen(0, '127.0.0.1')
  await once(log, 'listening')
  try {
    await work(`http://127.0.0.1:${(log.address() as AddressInfo).port}`)
  } finally {
    log.closeAllConnections()
    log.close()
  }
}

describe('ledger watch on a log that cheats', () => {
  let honest: {
    readonly note: string
    readonly vkey: string
    readonly size: number
    readonly root: string
  }
  let grown: typeof honest

  const checkpoint = async () => {
    const { note, vkey, size } = await cliJson<typeof honest>(['ledger', 'checkpoint'], env)
    return { note, vkey, size, root: Buffer.from(note.split('\n')[2]!, 'base64').toString('hex') }
  }
  const seen = (name: string) =>
    writeFileSync(file(name), JSON.stringify({ ...honest, checked_at: '2026-11-20T08:00:00.000Z' }))
  const serving =
    (note: string, proof: readonly string[]): RequestListener =>
    (request, response) =>
      response.end(
        JSON.stringify(
          request.url?.includes('consistency') ? { proof } : { note, vkey: honest.vkey },
        ),
      )

  beforeAll(async () => {
    honest = await checkpoint()
    await grow()
    grown = await checkpoint()
  })

  test('a note whose signature does not fit its text is an alarm', () =>
    withLog(
      serving(grown.note.replace(`\n${grown.size}\n`, `\n${grown.size + 1}\n`), []),
      async (url) => {
        seen('altered.json')

        expect(await look(url, 'altered.json')).toMatchObject({
          code: 1,
          stderr: expect.stringContaining('ALARM, signature'),
        })
        expect(await look(url, 'first-altered.json')).toMatchObject({ code: 1, stdout: '' })
      },
    ))

  test('a note of the pinned key over another log is an alarm', () => {
    const body = `elsewhere.test/ledger\n${grown.note.split('\n').slice(1, 3).join('\n')}\n`
    const [name = '', keyId = ''] = honest.vkey.split('+')
    const pem = readFileSync(env['REMIT_LEDGER_KEY_FILE']!)
    const signature = sign(null, Buffer.from(body), createPrivateKey(pem))
    const line = Buffer.concat([Buffer.from(keyId, 'hex'), signature]).toString('base64')

    return withLog(serving(`${body}\n— ${name} ${line}\n`, []), async (url) => {
      seen('elsewhere.json')

      expect(await look(url, 'elsewhere.json')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('The checkpoint has the origin elsewhere.test/ledger'),
      })
    })
  })

  test.each([
    ['no proof', []],
    ['a proof of something else', [Buffer.alloc(32).toString('base64')]],
    ['hashes that are none', ['nonsense']],
  ])('growth with %s is an alarm', (_what, proof) =>
    withLog(serving(grown.note, proof), async (url) => {
      seen('unproven.json')

      expect(await look(url, 'unproven.json')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('ALARM, forked'),
      })
    }),
  )

  test.each<[string, RequestListener]>([
    ['is down', (_, response) => response.writeHead(503).end()],
    ['answers nonsense', (_, response) => response.end('<html>')],
    ['is not there', (_, response) => response.writeHead(404).end()],
  ])('a log that %s is no alarm: 2, and the state stays', (_what, answers) =>
    withLog(answers, async (url) => {
      seen('no-answer.json')
      const before = readFileSync(file('no-answer.json'), 'utf8')

      expect(await look(url, 'no-answer.json')).toMatchObject({ code: 2, stdout: '' })
      expect(readFileSync(file('no-answer.json'), 'utf8')).toBe(before)
    }),
  )

  test('the key is not carried to where a log redirects', async () => {
    const asked: unknown[] = []
    const elsewhere: RequestListener = (request, response) => {
      asked.push(request.headers.authorization)
      response.end()
    }
    await withLog(elsewhere, (target) =>
      withLog(
        (_, response) => response.writeHead(307, { location: target }).end(),
        async (url) => {
          expect((await look(url, 'redirected.json')).code).toBe(2)
        },
      ),
    )

    expect(asked).toEqual([])
  })
})

describe('ledger watch', () => {
  test.each([
    ['a state file that is none', ['http://localhost:1', '--key', 'k', '--state', '@broken']],
    ['no key', ['http://localhost:1', '--state', '@new']],
    ['no URL', ['localhost', '--key', 'k', '--state', '@new']],
    [
      'a verifier key that is none',
      ['http://localhost:1', '--key', 'k', '--state', '@new', '--vkey', 'x'],
    ],
    [
      'no time between two looks',
      ['http://localhost:1', '--key', 'k', '--state', '@new', '--interval', '0'],
    ],
  ])('could not run: %s', async (_what, args) => {
    writeFileSync(file('broken'), '{"size": 1}')
    const paths = args.map((arg) => (arg.startsWith('@') ? file(arg.slice(1)) : arg))
    const { code, stdout, stderr } = await cli(['ledger', 'watch', ...paths, '--once'], {})

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})
