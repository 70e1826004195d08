import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { inFullRun, readyReport } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { live } from './life.ts'
import type { Life } from './life.ts'

const isRun = inFullRun('reports offline') && hasModules()

const ROOT = resolve(import.meta.dirname, '../../../..')
const VERIFIER = join(ROOT, 'apps/verify/src/main.ts')

/** Of a package that others must not import. */
interface Verifier {
  readonly isKnown: (evidence: string) => boolean
  readonly isEvidence: (evidence: string, entry: object, period: object) => boolean
}

it.skipIf(!isRun)('remit-verify knows every entry kind that is evidence', async () => {
  const { isEvidence, isKnown } = (await import(
    join(ROOT, 'apps/verify/src/evidence-kinds.ts')
  )) as Verifier
  const data = join(ROOT, 'packages/compliance/data/evidence-kinds.json')
  const kinds = JSON.parse(readFileSync(data, 'utf8')) as { id: string; reads: string[] }[]
  const period = { from: '2026-01-01', to: '2026-02-01' }
  const unknown = kinds.flatMap(({ id, reads }) =>
    reads.filter((kind) => !isEvidence(id, { kind, recorded_at: '2026-01-15' }, period)),
  )

  expect(kinds.filter(({ id }) => !isKnown(id))).toEqual([])
  expect(unknown).toEqual([])
})

describe.skipIf(!isRun)('reports over what every package writes, offline', () => {
  const folder = mkdtempSync(join(tmpdir(), 'remit-life-'))
  const files: string[] = []
  let life: Life
  beforeAll(async () => {
    life = await live()
    const { api, clock } = life
    clock.advance(1000)
    const to = new Date(clock.now()).toISOString()
    for (const framework of ['soc2', 'eu_ai_act', 'nist_ai_rmf']) {
      const made = await readyReport(api, { framework, from: '2026-11-20', to })
      const file = join(folder, `${framework}.json`)
      writeFileSync(file, JSON.stringify(made))
      files.push('--report', file)
    }
    let text = ''
    for await (const chunk of await api.remit.ledger.export(api.org.id)) text += chunk
    writeFileSync(join(folder, 'ledger.ndjson'), text)
  }, 300_000)
  afterAll(async () => {
    await life.close()
    rmSync(folder, { recursive: true })
  })

  it('agree with the export of their ledger in everything that they name', () => {
    const args = [VERIFIER, join(folder, 'ledger.ndjson'), ...files, '--json']
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    const { ledger, reports } = JSON.parse(stdout) as {
      ledger: { status: string }
      reports: { status: string; errors: unknown[]; looked_up: number }[]
    }

    expect(ledger.status).toBe('ok')
    expect(reports.flatMap(({ errors }) => errors)).toEqual([])
    for (const { looked_up: lookedUp } of reports) expect(lookedUp).toBeGreaterThan(20)
    expect(status).toBe(0)
  })
})
