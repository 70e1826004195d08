import { spawnSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRemoteKey, parseKeyReference } from '@remit/core/kms'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { request } from './support/process.ts'
import { hasVault, Vault } from './support/vault.ts'

const VERIFIER = join(import.meta.dirname, '../../verify/src/main.ts')
const PATIENCE = { timeout: 60_000, interval: 50 }
const MESSAGE = Buffer.from('checkpoint\n')
/** Nothing that Vault has encrypted. */
const OTHER = 'vault:v1:b3RoZXI='
/** All that Remit may do: as in docs/keys.md. */
const POLICY = /```hcl\n([^]*?)```/.exec(
  readFileSync(join(import.meta.dirname, '../../../docs/keys.md'), 'utf8'),
)?.[1]

describe.skipIf(!hasVault() || !hasModules())('with Vault', () => {
  let installation: Installation
  let vault: Vault
  let token: string
  let env: Record<string, string>
  const file = (name: string) => join(installation.folder, name)
  const open = (name: string, given = token) => {
    const reference = parseKeyReference(`vault+transit:transit/${name}`)
    if (!reference) throw new Error(name)
    return openRemoteKey(reference, { VAULT_ADDR: vault.url, VAULT_TOKEN: given })
  }
  const saveKey = ({ data }: Readonly<Record<string, unknown>>) =>
    writeFileSync(file('ledger-key.enc'), `${(data as { ciphertext: string }).ciphertext}\n`)
  let logged = ''
  const log = pino({ level: 'error' }, { write: (line: string) => void (logged += line) })
  const start = () => createServer(readConfig(env), { log })
  const isSigned = (signature: Uint8Array, raw: Uint8Array) => {
    const x = Buffer.from(raw).toString('base64url')
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return verify(null, MESSAGE, key, signature)
  }

  beforeAll(async () => {
    installation = await createInstallation()
    vault = await Vault.start(installation.folder)
    await vault.call('POST', 'transit/keys/remit')
    for (const name of ['remit-witness', 'rotated'])
      await vault.call('POST', `transit/keys/${name}`, { type: 'ed25519' })
    await vault.call('POST', 'sys/policies/acl/remit', { policy: POLICY })
    token = await vault.token()
    const { privateKey } = generateKeyPairSync('ed25519')
    const pem = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
    const plaintext = pem.toString('base64')
    saveKey(await vault.call('POST', 'transit/encrypt/remit', { plaintext }))
    vi.stubEnv('VAULT_ADDR', vault.url)
    vi.stubEnv('VAULT_TOKEN', token)
    env = {
      ...installation.env,
      REMIT_BOOTSTRAP_ORG: 'acme',
      REMIT_LEDGER_KEY: 'vault+transit:transit/remit',
      REMIT_LEDGER_KEY_FILE: file('ledger-key.enc'),
      REMIT_CHECKPOINT_DIR: file('outside'),
      REMIT_WITNESS: 'vault+transit:transit/remit-witness',
      REMIT_WITNESS_INTERVAL_MS: '1000',
    }
  })
  afterAll(async () => {
    await vault.stop()
    await installation.remove()
    vi.unstubAllEnvs()
  })

  it('a key signs with its newest version, which it tells, also after hundreds of rotations', async () => {
    const key = open('rotated', vault.root)
    const first = await key.publicKey()
    expect(isSigned(await key.sign(MESSAGE), first)).toBe(true)

    for (let count = 0; count < 400; count++)
      await vault.call('POST', 'transit/keys/rotated/rotate')
    const newest = await key.publicKey()
    expect(Buffer.from(newest)).not.toEqual(Buffer.from(first))
    expect(isSigned(await key.sign(MESSAGE), newest)).toBe(true)
  })

  it('a key of another type neither signs nor decrypts, and a missing one is an error', async () => {
    await expect(open('remit', vault.root).publicKey()).rejects.toThrow('not an Ed25519 key')
    await expect(open('remit', vault.root).sign(MESSAGE)).rejects.toThrow('Vault answered 400')
    await expect(open('rotated', vault.root).decrypt(OTHER)).rejects.toThrow('Vault answered 400')
    await expect(open('absent', vault.root).publicKey()).rejects.toThrow('Vault answered 404')
    await expect(open('absent', vault.root).sign(MESSAGE)).rejects.toThrow('Vault answered 400')
  })

  it('the policy of the documentation allows what Remit does, and no other key', async () => {
    await expect(open('remit').decrypt(OTHER)).rejects.toThrow('Vault answered 400')
    expect(await open('remit-witness').sign(MESSAGE)).toHaveLength(64)
    await expect(open('absent').publicKey()).rejects.toThrow('Vault answered 403')
    await expect(open('rotated').sign(MESSAGE)).rejects.toThrow('Vault answered 403')
    await expect(open('remit-witness').decrypt(OTHER)).rejects.toThrow('Vault answered 403')
  })

  it('a token that is wrong, was revoked or has expired is refused', async () => {
    const revoked = await vault.token()
    const lived = open('remit-witness', revoked)
    expect(await lived.sign(MESSAGE)).toHaveLength(64)
    await vault.call('POST', 'auth/token/revoke', { token: revoked })
    await expect(lived.sign(MESSAGE)).rejects.toThrow('Vault answered 403')
    await expect(open('remit-witness', 'hvs.wrong').sign(MESSAGE)).rejects.toThrow('answered 403')

    const short = open('remit-witness', await vault.token({ ttl: '1s' }))
    const refusal = () => short.sign(MESSAGE).then(() => null, String)
    expect(await vi.waitUntil(refusal, PATIENCE)).toBe('KeyServiceError: Vault answered 403')
  })

  describe('a server', () => {
    let server: Awaited<ReturnType<typeof start>>
    let key: string
    let orgId: string
    beforeAll(async () => {
      server = await start()
      key = server.first?.secret ?? ''
      const organization = await request(`${server.url}/v1/organization`, key, 'GET')
      orgId = ((await organization.json()) as { id: string }).id
    })
    afterAll(() => server.stop())

    const read = async <T>(path: string) =>
      (await (await request(`${server.url}${path}`, key, 'GET')).json()) as T
    const saved = () => file(`outside/${orgId}.txt`)
    const decide = async () => {
      const body = { agent_id: 'a', action: 'read' }
      return (await request(`${server.url}/v1/authorize`, key, 'POST', body)).status
    }
    const sizeOfLedger = async () => {
      const { data } = await read<{ data: { seq: number }[] }>('/v1/ledger?limit=1')
      return (data[0]?.seq ?? 0) + 1
    }
    const sizes = () =>
      existsSync(saved())
        ? [...readFileSync(saved(), 'utf8').matchAll(/^\S+\/led_\w+\n(\d+)\n/gm)].map(([, size]) =>
            Number(size),
          )
        : []
    /** Until the last saved checkpoint has all entries of the ledger. */
    const whole = () =>
      vi.waitUntil(async () => (sizes().at(-1) ?? 0) >= (await sizeOfLedger()), PATIENCE)
    /** The verifier keys of the witness that the ledger names, the first one first. */
    const witnesses = async () => {
      const path = '/v1/ledger?kind=witness.set&order=asc'
      const { data } = await read<{ data: { data: { vkey: string } }[] }>(path)
      return data.map((entry) => entry.data.vkey)
    }
    /** Verifies an export and the checkpoints with the witness whose public key Vault tells. */
    const verifyOffline = async () => {
      const { data } = await read<{ data: { vkey: string }[] }>('/v1/ledger/keys')
      const exported = await request(`${server.url}/v1/ledger/export`, key, 'GET')
      writeFileSync(file('ledger.ndjson'), await exported.text())
      const witness = (await witnesses()).at(-1) ?? ''
      const [, encoded = ''] = /^remit\.test\/witness\+\w{8}\+(.+)$/.exec(witness) ?? []
      const raw = Buffer.from(encoded, 'base64').subarray(-32)
      expect(raw.toString('base64')).toBe(await vault.publicKey('remit-witness'))
      const keys = ['--vkey', data[0]?.vkey ?? '', '--witness', witness]
      const options = ['--checkpoint', saved(), '--require-anchor']
      const all = [VERIFIER, file('ledger.ndjson'), ...keys, ...options]
      const { status, stderr } = spawnSync(process.execPath, all, { encoding: 'utf8' })
      return { status, stderr }
    }

    it('decrypts its key at the start, and its checkpoints verify offline with the public key from Vault', async () => {
      expect(await decide()).toBe(200)
      await whole()
      expect(await verifyOffline()).toEqual({ status: 0, stderr: '' })
    })

    it('witnesses with the new version of a rotated key, without a restart, also when the old one is retired', async () => {
      await whole()
      for (const name of ['remit', 'remit-witness'])
        await vault.call('POST', `transit/keys/${name}/rotate`)
      await vault.call('POST', 'transit/keys/remit-witness/config', { min_encryption_version: 2 })
      expect(await decide()).toBe(200)
      await vi.waitUntil(async () => (await witnesses()).length === 2, PATIENCE)
      await whole()
      expect(await verifyOffline()).toEqual({ status: 0, stderr: '' })
    })

    it('starts with a key that was encrypted again, once the old version of the key in Vault is retired', async () => {
      const ciphertext = readFileSync(file('ledger-key.enc'), 'utf8').trim()
      const rewrapped = await vault.call('POST', 'transit/rewrap/remit', { ciphertext })
      await vault.call('POST', 'transit/keys/remit/config', { min_decryption_version: 2 })
      await server.stop()
      await expect(start()).rejects.toThrow(
        /^REMIT_LEDGER_KEY: .* cannot be decrypted: Vault answered 400$/,
      )
      saveKey(rewrapped)
      server = await start()
      expect(await decide()).toBe(200)
      await whole()
    })

    // A server that runs does not need Vault to decide.
    const withoutVault = async (why: string) => {
      const before = readFileSync(saved(), 'utf8')
      expect(await decide()).toBe(200)
      const refusal: unknown = await start().catch((error: unknown) => error)
      expect(String(refusal)).toMatch(
        new RegExp(`REMIT_LEDGER_KEY: \\S+ cannot be decrypted: ${why}$`),
      )
      logged = ''
      await vi.waitUntil(() => logged.includes(why), PATIENCE)
      expect(logged).not.toContain('hvs.')
      expect(readFileSync(saved(), 'utf8')).toBe(before)
    }

    it('decides while Vault is sealed or gone, saves no checkpoint then, and all of them later', async () => {
      await whole()
      await vault.seal()
      await withoutVault('Vault answered 503')
      await vault.stop()
      await withoutVault('Vault did not answer')
      // As after a restart of its machine.
      await vault.run()
      await withoutVault('Vault answered 503')
      await vault.unseal()
      await whole()
      expect(await verifyOffline()).toEqual({ status: 0, stderr: '' })
    })

    it('decides with a revoked token, saves no checkpoint then, and all of them with the next token', async () => {
      await whole()
      await vault.call('POST', 'auth/token/revoke', { token })
      await withoutVault('Vault answered 403')
      await server.stop()
      token = await vault.token()
      vi.stubEnv('VAULT_TOKEN', token)
      server = await start()
      await whole()
      expect(await verifyOffline()).toEqual({ status: 0, stderr: '' })
    })
  })
})
