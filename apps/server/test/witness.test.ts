import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { KEY_SERVICE_ENV, startKeyService } from '@remit/testing/pure'
import type { FakeKeyService } from '@remit/testing/pure'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import type { RunningServer } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { cli } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { request } from './support/process.ts'

const VERIFIER = join(import.meta.dirname, '../../verify/src/main.ts')
const PATIENCE = { timeout: 60_000, interval: 50 }

// Only the enterprise edition saves checkpoints.
describe.skipIf(!hasModules())('a server with its keys in a key service', () => {
  let installation: Installation
  let service: FakeKeyService
  let env: Record<string, string>
  let server: RunningServer
  let key: string
  let orgId: string
  let vkey: string
  let witness: string
  const file = (name: string) => join(installation.folder, name)

  beforeAll(async () => {
    for (const [name, value] of Object.entries(KEY_SERVICE_ENV)) vi.stubEnv(name, value)
    installation = await createInstallation()
    service = await startKeyService()
    const { privateKey } = generateKeyPairSync('ed25519')
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    writeFileSync(file('ledger-key.enc'), `${service.wrap(pem).aws}\n`)
    env = {
      ...installation.env,
      REMIT_BOOTSTRAP_ORG: 'acme',
      REMIT_LEDGER_KEY: 'awskms:alias/remit',
      REMIT_LEDGER_KEY_ENDPOINT: service.url,
      REMIT_LEDGER_KEY_FILE: file('ledger-key.enc'),
      REMIT_CHECKPOINT_DIR: file('outside'),
      REMIT_WITNESS: 'vault+transit:transit/remit',
      REMIT_WITNESS_ENDPOINT: service.url,
      REMIT_WITNESS_INTERVAL_MS: '1000',
    }
    server = await createServer(readConfig(env), { log: pino({ level: 'silent' }) })
    key = server.first?.secret ?? ''
    await request(`${server.url}/v1/ledger`, key, 'POST', { action: 'a.b' })
    const organization = await request(`${server.url}/v1/organization`, key, 'GET')
    orgId = ((await organization.json()) as { id: string }).id
    const { data } = (await (await request(`${server.url}/v1/ledger/keys`, key, 'GET')).json()) as {
      data: { vkey: string }[]
    }
    vkey = data[0]?.vkey ?? ''
    await vi.waitUntil(() => existsSync(saved()), PATIENCE)
    const entries = (await (
      await request(`${server.url}/v1/ledger?kind=witness.set`, key, 'GET')
    ).json()) as { data: { data: { vkey: string } }[] }
    witness = entries.data[0]?.data.vkey ?? ''
    const exported = await request(`${server.url}/v1/ledger/export`, key, 'GET')
    writeFileSync(file('ledger.ndjson'), await exported.text())
  })
  afterAll(async () => {
    await server.stop()
    await service[Symbol.asyncDispose]()
    await installation.remove()
    vi.unstubAllEnvs()
  })

  const saved = () => file(`outside/${orgId}.txt`)
  const firstNote = () => `${readFileSync(saved(), 'utf8').split('\n').slice(0, 6).join('\n')}\n`

  function verifyOffline(...args: string[]) {
    const all = [VERIFIER, file('ledger.ndjson'), '--vkey', vkey, '--json', ...args]
    const { status, stdout, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8' })
    return { code: status, stdout: stdout + stderr }
  }

  it('starts with the decrypted key, which is in no file', () => {
    expect(vkey).toMatch(/^remit\.test\/ledger\//)
    expect(readFileSync(file('ledger-key.enc'), 'utf8')).not.toContain('PRIVATE KEY')
  })

  it('does not start when the service does not decrypt the key, and says why', async () => {
    service.fault = 'refuses'
    await expect(createServer(readConfig(env), { log: pino({ level: 'silent' }) })).rejects.toThrow(
      /^REMIT_LEDGER_KEY: .* cannot be decrypted: AWS KMS answered 403$/,
    )
    service.fault = 'none'
  })

  it('saves checkpoints that remit-verify and remit ledger verify confirm with the witness', async () => {
    const offline = verifyOffline('--checkpoint', saved(), '--witness', witness)
    expect(offline).toMatchObject({ code: 0 })
    expect(JSON.parse(offline.stdout)).toMatchObject({ ledger: { anchored_by: 'external' } })

    writeFileSync(file('first.note'), firstNote())
    const args = ['ledger', 'verify', '--checkpoint', file('first.note'), '--witness', witness]
    expect(await cli(args, env)).toMatchObject({ code: 0 })
  })

  it('a checkpoint without the witness is an error in both, after one that has it and alone', async () => {
    const unwitnessed = firstNote().replace(/^— \S*\/witness .*\n/m, '')
    expect(unwitnessed).not.toBe(firstNote())
    writeFileSync(file('unwitnessed.note'), unwitnessed)
    writeFileSync(file('both.txt'), `${firstNote()}\n${unwitnessed}\n`)

    for (const name of ['unwitnessed.note', 'both.txt']) {
      const offline = verifyOffline('--checkpoint', file(name), '--witness', witness)
      expect(offline).toMatchObject({ code: 1 })
      expect(JSON.parse(offline.stdout)).toMatchObject({
        ledger: { first_invalid: { code: 'checkpoint_witness' } },
      })
    }
    const args = ['ledger', 'verify', '--file', file('ledger.ndjson'), '--witness', witness]
    const found = await cli([...args, '--checkpoint', file('unwitnessed.note'), '--json'], env)
    expect(found.code).toBe(1)
    expect(JSON.parse(found.stdout)).toMatchObject({ errors: [{ code: 'checkpoint_witness' }] })
    // Without a pinned witness, it is a checkpoint like any other.
    expect(verifyOffline('--checkpoint', file('unwitnessed.note'))).toMatchObject({ code: 0 })
  })
})
