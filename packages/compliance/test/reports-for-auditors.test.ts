import type { ReadyReport } from '@remit/contract'
import { describe, expect, test } from 'vitest'
import { pageOf } from '../src/print/html/page.ts'
import { csvOf } from '../src/report/csv/csv.ts'
import { BAD_FACTS } from './support/bad-facts.ts'
import { readTable } from './support/csv.ts'
import { FRAMEWORKS, quarter, reportOn } from './support/print.ts'

const facts = quarter('DEC-3', 'APR-3', 'GRD-1', 'SCR-2')
const soc2 = reportOn('soc2', facts)
const { content, content_sha256: sha256 } = soc2
const table = (part: 'controls' | 'findings' | 'evidence') =>
  readTable(csvOf({ content, sha256 }, part))
const find = (check: string) => content.findings.find((one) => one.check === check)!

describe('the CSV of findings', () => {
  const row = (check: string) => table('findings').find((one) => one['check_id'] === check)

  test('names the title of the check, agents, keys, dates and the correction', () => {
    const { seqs, fixed_seq, fixed_at } = find('DEC-3')

    expect(fixed_seq).toBeGreaterThan(seqs[0]!)
    expect(row('DEC-3')).toMatchObject({
      check_title: 'A stop holds',
      seqs: String(seqs[0]),
      dates: '2026-01-16T00:30:00.000Z',
      agents: 'payer',
      recorded_by: 'key key_app (no named person)',
      fixed_seq: String(fixed_seq),
      fixed_at,
    })
  })

  test('leaves both cells empty where a finding is open', () => {
    expect(row('APR-3')).toMatchObject({ fixed_seq: '', fixed_at: '' })
  })
})

test('the CSV of controls separates evidence in the record from evidence to supply', () => {
  for (const [i, control] of content.controls.entries()) {
    const results = (result: string) =>
      String(control.checks.filter((one) => one.result === result).length)
    expect(table('controls')[i]).toMatchObject({
      control_id: control.id,
      checks_too_small: results('too_small'),
      checks_too_young: results('too_young'),
      record_shows: control.record_shows?.join(' '),
      organization_must_supply: control.organization_must_supply,
    })
  }
})

test('the CSV of evidence has a date for every sequence number of a sample', () => {
  const rows = table('evidence').filter((row) => row['sample_seqs'] !== '')

  expect(rows.length).toBeGreaterThan(20)
  for (const row of rows)
    expect(row['sample_dates']?.split(' ')).toHaveLength(row['sample_seqs']!.split(' ').length)
})

describe('the cover', () => {
  const cover = (generated_by: ReadyReport['generated_by'], person: string | null | undefined) =>
    pageOf({ ...soc2, generated_by, ...(person !== undefined && { generated_by_person: person }) })
      .text.replaceAll(/<[^>]*>/g, '')
      .replaceAll(/\s+/g, ' ')

  test.each([
    ['key', 'key_1', 'ada@example.org', 'key key_1 (ada@example.org)'],
    ['key', 'key_1', null, 'key key_1 (no named person)'],
    ['key', 'key_1', undefined, 'key key_1 '],
    ['person', 'per_1', 'ada@example.org', 'person per_1 (ada@example.org)'],
    ['system', 'remit', null, 'system remit '],
  ] as const)('names the requester: %s %s of %s', (type, id, person, text) => {
    expect(cover({ type, id }, person)).toContain(`requested by ${text}`)
  })
})

describe('findings', () => {
  test('give shares in percent', () => {
    expect(find('SCR-2').text).toContain('failed 17.1% of its items (120 of 700)')
    expect(find('GRD-1').text).toMatch(/^Only \d+(\.\d)?% of active agents/)
  })

  test('of every check say nothing as a bare fraction or by the name of a field', () => {
    const all = quarter(...Object.keys(BAD_FACTS))
    const findings = FRAMEWORKS.flatMap((framework) => reportOn(framework, all).content.findings)

    expect(new Set(findings.map(({ check }) => check)).size).toBeGreaterThan(30)
    for (const { text } of findings) {
      expect(text).not.toMatch(/\b0\.\d{3,}|\b[a-z]+_[a-z]+_[a-z]+\b|\bunknown\b|\{/)
      expect(text).not.toMatch(/organisation/i)
    }
  })
})

test('every check states its criterion in words, not as "none" or "all"', () => {
  const checks = FRAMEWORKS.flatMap((framework) => reportOn(framework, facts).content.controls)
    .flatMap((control) => control.checks)
    .map(({ id, threshold }) => `${id}: ${threshold}`)

  expect(new Set(checks).size).toBe(41)
  for (const check of checks) expect(check).toMatch(/: \S+ \S+ \S+/)
})

describe('a printed page', () => {
  const { text } = pageOf(soc2)

  test('describes its subject in the header', () => {
    expect(text).toContain('@top-left { ')
    expect(text).toContain('content: "SOC 2, 1 January 2026 to 31 March 2026"')
  })

  test('breaks no line within a date, and no page within the two lists of a control', () => {
    const seqs = [...text.matchAll(/class="seqs">([\s\S]*?)<\/(?:td|p)>/g)].map(([, cell]) => cell)

    expect(seqs.length).toBeGreaterThan(20)
    for (const cell of seqs)
      expect(cell?.replaceAll(/<span class="day">\(\d{4}-\d\d-\d\d\)<\/span>/g, '')).not.toMatch(
        /\d{4}-\d\d-\d\d/,
      )
    expect(text).toMatch(/\.day \{ white-space: nowrap; \}/)
    expect(text).toMatch(/\.lists, [^{]*\{ break-inside: avoid; \}/)
  })
})
