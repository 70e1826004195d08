import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readyReport } from '@remit/core/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { live } from './life.ts'
import type { Life } from './life.ts'

const VERIFIER = resolve(import.meta.dirname, '../../../verify/src/main.ts')

describe.skipIf(!hasModules())('reports over what every package writes, offline', () => {
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
