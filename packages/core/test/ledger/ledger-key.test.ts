import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadLedgerKey } from '../../src/ledger/format/note.ts'
import type { KeyThreadData } from '../support/key-thread.ts'

let folder = ''
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'remit-key-'))))
afterEach(() => rmSync(folder, { recursive: true }))

const openAtOnce = async (data: KeyThreadData): Promise<string[]> => {
  const worker = new Worker(new URL('../support/key-thread.ts', import.meta.url), {
    workerData: data,
  })
  const [keys] = (await once(worker, 'message')) as [string[]]
  return keys
}

describe('the ledger key', () => {
  it('is the same for all who start at once without one', async () => {
    const threads = 4
    const rounds = 100
    const arrived = new SharedArrayBuffer(rounds * Int32Array.BYTES_PER_ELEMENT)
    const data = { folder, rounds, threads, arrived }

    const keys = await Promise.all(Array.from({ length: threads }, () => openAtOnce(data)))

    const kept = Array.from({ length: rounds }, (_, round) =>
      readFileSync(join(folder, String(round), 'ledger-key.pem'), 'utf8'),
    )
    expect(new Set(kept).size).toBe(rounds)
    expect(keys).toEqual(keys.map(() => kept))
    expect(readdirSync(join(folder, '0'))).toEqual(['ledger-key.pem'])
  })

  it('can be read by its owner alone, and stays', () => {
    const path = join(folder, 'new', 'ledger-key.pem')
    const made = loadLedgerKey(path, true)

    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    expect(loadLedgerKey(path, true).equals(made)).toBe(true)
    expect(loadLedgerKey(path, false).equals(made)).toBe(true)
  })

  it('is never made in the place of what is there', () => {
    const path = join(folder, 'ledger-key.pem')
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    writeFileSync(path, pem)

    expect(() => loadLedgerKey(path, true)).toThrow('is not an Ed25519 private key')
    expect(readFileSync(path, 'utf8')).toBe(pem)
  })

  it('is not made unless it may be', () => {
    expect(() => loadLedgerKey(join(folder, 'ledger-key.pem'), false)).toThrow('ENOENT')
    expect(readdirSync(folder)).toEqual([])
  })
})
