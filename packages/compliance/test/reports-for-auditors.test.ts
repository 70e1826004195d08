import type { CsvPart, ReadyReport } from '@remit/contract'
import { describe, expect, test } from 'vitest'
import { pageOf } from '../src/print/html/page.ts'
import { csvOf } from '../src/report/csv/csv.ts'
import { BAD_FACTS } from './support/bad-facts.ts'
import { readTable } from './support/csv.ts'
import { FRAMEWORKS, quarter, reportOn } from './support/print.ts'

const facts = quarter('DEC-3', 'APR-3', 'GRD-1', 'SCR-2')
const soc2 = reportOn('soc2', facts)
const { content, content_sha256: sha256 } = soc2
const table = (part: CsvPart) => readTable(csvOf({ content, sha256 }, part))
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
      checks_passed: String(
        control.checks.filter((one) => one.result === 'pass' && one.carries).length,
      ),
      checks_too_small: results('too_small'),
      checks_too_young: results('too_young'),
      record_shows: control.record_shows?.join(' '),
      organization_must_supply: control.organization_must_supply,
    })
  }
})

test('the CSV of checks has each check once, with its figures and its minimum', () => {
  const rows = table('checks')
  const row = rows.find((one) => one['check_id'] === 'SCR-2')
  const { ...check } = content.controls
    .flatMap(({ checks }) => checks)
    .find(({ id }) => id === 'SCR-2')!

  expect(new Set(rows.map((one) => one['check_id'])).size).toBe(rows.length)
  expect(rows.length).toBeGreaterThan(30)
  expect(row).toMatchObject({
    check_title: 'Scores acceptable',
    severity: 'medium',
    result: 'fail',
    found: 'exact_match: 17.1% (120 of 700)',
    passes_when: 'at most 10% of the items of each scorer fail',
    relaxed: 'false',
    population: String(check.population),
    basis: '700',
    basis_of: 'scored items',
    least_basis: '30',
    days: '90',
    days_over: 'days of use',
    least_days: '7',
    control_ids: 'PI1.4',
  })
})

test('the CSV of metrics has figures as they are printed, and numbers as numbers', () => {
  const value = (id: string) => table('metrics').find((row) => row['metric_id'] === id)

  expect(value('M02')?.['value']).toBe(
    'sound: yes; verified from entry: 0; first invalid entry: none',
  )
  expect(value('M45')).toMatchObject({ unit: 'count' })
  expect(value('M18')).toMatchObject({ value: '12.9% (4 of 31)', unit: 'percent' })
  expect(value('M23')?.['value']).toBe('0')
  for (const row of table('metrics')) expect(row['value']).not.toMatch(/[{}"]|_seq|\b0\.\d{4}\b/)
})

test.each(['controls', 'evidence'] as const)(
  'the CSV of %s has a date for every sequence number of a sample',
  (part) => {
    const rows = table(part).filter((row) => row['sample_seqs'] !== '')

    expect(rows.length).toBeGreaterThan(20)
    for (const row of rows)
      expect(row['sample_dates']?.split(' ')).toHaveLength(row['sample_seqs']!.split(' ').length)
  },
)

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

  expect(new Set(checks).size).toBe(42)
  for (const check of checks) expect(check).toMatch(/: \S+ \S+ \S+/)
})

test('a printed report on the AI Act names the amendment, and that its text is still to be checked', () => {
  const page = pageOf(reportOn('eu_ai_act', facts)).text
  const [, version = ''] = /class="version">([^<]*)</.exec(page) ?? []
  const [, notice = ''] = /class="notice">([^<]*)</.exec(page) ?? []

  expect(version).toMatch(
    /2024\/1689 .*, amended by Regulation \(EU\) 2026\/1744 \(OJ L, 24\.7\.2026\)$/,
  )
  expect(notice).toMatch(/2026\/1744 \(OJ L, 24\.7\.2026\), check against the Official Journal\.$/)
})

describe('a printed page', () => {
  const { text } = pageOf(soc2)

  test('describes its subject in the header', () => {
    expect(text).toContain('@top-left { ')
    expect(text).toContain('content: "SOC 2, 1 January 2026 to 31 March 2026"')
  })

  test('shows the first and the last entry of a kind of evidence with their days', () => {
    const evidence = content.controls.find(({ id }) => id === 'CC1.5')!.evidence[0]!
    const days = evidence.sample_dates!.map((date) => date!.slice(0, 10))
    const shown = text.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ')

    expect(shown).toContain(
      `${evidence.title} operating ${evidence.count} ${evidence.first_seq} (${days[0]}); ${evidence.last_seq} (${days.at(-1)})`,
    )
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
