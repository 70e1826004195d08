import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fullDialects, inFullRun, readyReport } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BAD_FACTS, GOOD_CHAIN, GOOD_REPORT } from './support/bad-facts.ts'
import type { Given } from './support/bad-facts.ts'
import { goodLedger } from './support/good-ledger.ts'
import { FRAMEWORKS } from './support/print.ts'
import { createReports, play, QUARTER } from './support/reports.ts'
import type { ReportsApi } from './support/reports.ts'

const VERIFIER = resolve(import.meta.dirname, '../../../apps/verify/src/main.ts')
const isRun = inFullRun('remit-verify on reports') && existsSync(VERIFIER)
const AFTER = '2026-04-02T08:00:00.000Z'

interface Verdict {
  readonly status: string
  readonly ledger: { readonly status: string; readonly anchored_by: string }
  readonly reports: readonly {
    readonly status: string
    readonly looked_up: number
    readonly not_checked: readonly string[]
    readonly errors: readonly { readonly code: string; readonly detail: string }[]
  }[]
}

// An independent package of the same repository.
describe.skipIf(!isRun).each(fullDialects())('remit-verify on %s', (dialect) => {
  const folder = mkdtempSync(join(tmpdir(), 'remit-offline-'))
  const at = (name: string): string => join(folder, name)
  let api: ReportsApi
  let vkey = ''

  /** An organization of which most is good and some is not, and a report on it of each kind. */
  beforeAll(async () => {
    api = await createReports({ dialect })
    const good = { said: goodLedger(), chain: GOOD_CHAIN, report: GOOD_REPORT }
    const checks = ['ACC-5', 'APR-1', 'APR-3', 'DEC-3', 'GRD-1', 'SPD-2', 'LED-6']
    const { said } = checks.reduce<Given>((so, check) => BAD_FACTS[check]?.(so) ?? so, good)
    await play(api, said)
    api.clock.set(AFTER)
    for (const framework of FRAMEWORKS) {
      const body = { framework, ...QUARTER }
      const made = await readyReport(api, body)
      const { key } = api.org
      const path = `/v1/compliance/reports/${made.id}`
      const stored = await api.remit.call('GET', path, { key })
      writeFileSync(at(`${framework}.json`), await stored.text())
    }
    let text = ''
    for await (const chunk of await api.remit.ledger.export(api.org.id)) text += chunk
    writeFileSync(at('ledger.ndjson'), text)
    const { vkey: signs } = JSON.parse(text.slice(0, text.indexOf('\n'))) as { vkey: string }
    vkey = signs
  })
  afterAll(async () => {
    await api.remit.close()
    rmSync(folder, { recursive: true })
  })

  function run(...args: readonly string[]) {
    const given = [VERIFIER, at('ledger.ndjson'), '--vkey', vkey, '--json', ...args]
    const { status, stdout, stderr } = spawnSync(process.execPath, given, { encoding: 'utf8' })
    return { status, stderr, verdict: JSON.parse(stdout || 'null') as Verdict }
  }

  test('finds the export and the reports of all frameworks as they were made', () => {
    const files = FRAMEWORKS.flatMap((framework) => ['--report', at(`${framework}.json`)])
    const { status, verdict } = run('--require-anchor', ...files)

    for (const { errors } of verdict.reports) expect(errors).toEqual([])
    expect(verdict.ledger).toMatchObject({ status: 'ok', anchored_by: 'signature' })
    for (const { not_checked } of verdict.reports)
      expect(not_checked.join()).not.toContain('no hash and no entry')
    for (const { looked_up: lookedUp } of verdict.reports) expect(lookedUp).toBeGreaterThan(50)
    expect(status).toBe(0)
  })

  test('finds one digit of a report that was changed', () => {
    const text = readFileSync(at('soc2.json'), 'utf8')
    const changed = text.replace(/("population":)(\d)/, (_, name: string, digit: string) => {
      return `${name}${(Number(digit) + 1) % 10}`
    })
    writeFileSync(at('changed.json'), changed)
    const { status, verdict } = run('--report', at('changed.json'))

    expect(changed).not.toBe(text)
    expect(status).toBe(1)
    expect(verdict.ledger.status).toBe('ok')
    expect(verdict.reports[0]?.errors.map(({ code }) => code)).toContain('content_changed')
  })
})
