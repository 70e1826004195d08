import { hash } from 'node:crypto'
import { ReportContent } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import { describe, expect, test } from 'vitest'
import {
  factsWith,
  failed,
  idle,
  notApplicable,
  operated,
  passed,
} from '../../test/support/synthetic.ts'
import type { Given } from '../../test/support/synthetic.ts'
import { CATALOGUES, CHECKS, catalogue } from '../catalogue/catalogue.ts'
import { contentOf, sealed } from './document.ts'

const SECURITY = { categories: ['security'], role: null }
const reportOf = (given: Given = {}) => contentOf(catalogue('soc2'), SECURITY, factsWith(given))

describe('the content of a report', () => {
  test('has the shape of the contract, and no field beyond it', () => {
    for (const of of CATALOGUES.values()) {
      const scope = { categories: Object.keys(of.framework.groups ?? {}), role: null }
      const content = contentOf(of, scope, factsWith({ outcomes: [failed('APR-3')] }))
      expect(ReportContent.parse(content)).toEqual(content)
    }
  })

  test('is hashed over its canonical JSON', () => {
    const content = reportOf()
    const { text, sha256 } = sealed(content)

    expect(text).toBe(canonicalJson(JSON.parse(text)))
    expect(JSON.parse(text)).toEqual(content)
    expect(sha256).toBe(hash('sha256', Buffer.from(text, 'utf8'), 'hex'))
  })

  test('has the controls in the order of the framework, and counts them by status', () => {
    const { controls, summary } = reportOf({ outcomes: [failed('ACC-5')] })

    expect(controls.map(({ id }) => id)).toEqual(catalogue('soc2').framework.default_scope)
    expect(summary).toEqual({
      total: 33,
      satisfied: 16,
      attention: 1,
      not_evidenced: 0,
      manual: 16,
      open_critical: 0,
      open_high: 1,
      open_medium: 0,
      open_low: 0,
    })
  })

  test('lists the checks of each control with their results', () => {
    const { controls } = reportOf({ outcomes: [failed('ACC-5')] })
    const control = controls.find(({ id }) => id === 'CC6.2')!

    expect(control.checks).toContainEqual({
      id: 'ACC-5',
      title: CHECKS.get('ACC-5')!.title,
      severity: 'high',
      result: 'fail',
      carries: true,
      value: { count: 0 },
      threshold: '0',
      relaxed: false,
      population: 1000,
      basis: 1000,
      days: 90,
      least: CHECKS.get('ACC-5')!.least,
    })
    expect(control.findings).toEqual(['F-0001'])
    expect(control.evidence[0]).toEqual({
      kind: 'credential_lifecycle',
      title: 'Credentials of agents',
      operated: true,
      reason: null,
      count: 3,
      first_seq: 4,
      last_seq: 9,
      sample: [4, 5, 9],
      sample_dates: [null, null, null],
    })
    expect(control.organization_must_supply).toContain('must be supplied')
  })

  test('has all fifty metrics; one that was not measured is null over nothing', () => {
    const { metrics } = reportOf()

    expect(metrics).toHaveLength(53)
    expect(metrics[0]).toMatchObject({ id: 'M01', value: { entries: 6 }, population: 6 })
    expect(metrics[1]).toMatchObject({ id: 'M02', value: null, population: 0 })
  })

  test('names no last hash for a period without entries', () => {
    const facts = factsWith()
    const ledger = { ...facts.ledger, entries: 0, firstSeq: null, lastSeq: null, byKind: {} }
    const content = contentOf(catalogue('soc2'), SECURITY, { ...facts, ledger })

    expect(content.ledger).toMatchObject({ entries: 0, last_seq: null, hash_at_last: null })
  })

  test('can be written whatever a forged entry holds', () => {
    const name = `half \uD83D of \u0000 a "pair"`
    const outcome = { ...passed('DEC-3'), ok: false }
    const params = { agent_id: '\uDC00{n}', n: 2, seq: 3 }
    const failures = [{ params, count: 2, seqs: [3] }]
    const content = reportOf({ name, outcomes: [{ ...outcome, failures }] })

    expect(content.organization.name).toBe(`half \uFFFD of \u0000 a "pair"`)
    expect(content.findings[0]?.text).toBe(
      'Agent \uFFFD{n} was allowed 2 times after it was stopped by entry 3.',
    )
    expect(() => sealed(content)).not.toThrow()
  })
})

describe('the list of what the record contains', () => {
  const listOf = (id: string, given: Given) =>
    reportOf(given).controls.find((control) => control.id === id)?.record_shows

  test('has the evidence that operated and the checks that passed, with figures', () => {
    const given = {
      outcomes: [
        notApplicable('ACC-4'),
        { ...passed('TRU-2'), population: 5, basis: 7, threshold: 'all are trusted' },
      ],
      evidence: [idle('agent_registry'), { ...operated('trusted_issuers'), count: 1 }],
    }

    expect(listOf('CC6.2', given)).toEqual([
      'Credentials of agents: 3 entries.',
      'Trusted issuers and token exchanges: 1 entry.',
      'ACC-5 Registered first: 0; issued credentials: 1000 (minimum: 1); days of use: 90 (minimum: 7).',
      'CHG-1 Changes have an author: 0; changes: 1000 (minimum: 5); days with them: 90 (minimum: 3).',
      'TRU-2 Exchanges only from trusted issuers: all are trusted; exchanges: 7 (minimum: 5); days with them: 90 (minimum: 3).',
    ])
  })

  test('names no check that failed, and for a control that wants attention only those that passed', () => {
    for (const of of CATALOGUES.values())
      for (const nth of [0, 1]) {
        const scope = { categories: Object.keys(of.framework.groups ?? {}), role: null }
        const outcomes = [...CHECKS.keys()].filter((_, i) => i % 2 === nth).map((id) => failed(id))
        const { controls } = contentOf(of, scope, factsWith({ outcomes }))
        const attentive = controls.filter(({ status }) => status === 'attention')
        for (const { id, checks, record_shows: shows } of attentive) {
          const passing = checks.filter(
            ({ id: check, result }) => result === 'pass' && CHECKS.get(check)!.carries,
          )
          expect(
            shows?.map((sentence) => sentence.split(' ')[0]),
            id,
          ).toEqual(passing.map((check) => check.id))
        }
        expect(attentive.length).toBeGreaterThan(10)
      }
  })

  test('does not name earlier reports, hosts or gaps: a pass shows nothing', () => {
    for (const [control, check] of [
      ['CC4.1', 'REP-1'],
      ['CC6.8', 'DEC-7'],
      ['CC7.4', 'DEC-6'],
    ] as const)
      expect(listOf(control, {})?.join()).not.toMatch(new RegExp(`${check}|report`, 'i'))
  })

  test('is empty for a ledger that did not verify', () => {
    for (const { record_shows: shows } of reportOf({ chain: { firstBadSeq: 3 } }).controls)
      expect(shows).toEqual([])
  })
})

describe('findings', () => {
  test('come by severity, check and first entry, and are numbered in that order', () => {
    const two = {
      ...failed('ACC-4'),
      failures: [
        { params: { n: 1 }, count: 1, seqs: [40] },
        { params: { n: 2 }, count: 2, seqs: [7, 8] },
      ],
    }
    const outcomes = [failed('ACC-7'), failed('TRU-2', [3]), two, failed('DEC-3', [99])]
    const { findings } = reportOf({ outcomes })

    expect(findings.map(({ id, check, seqs }) => [id, check, seqs[0]])).toEqual([
      ['F-0001', 'DEC-3', 99],
      ['F-0002', 'ACC-4', 7],
      ['F-0003', 'ACC-4', 40],
      ['F-0004', 'TRU-2', 3],
      ['F-0005', 'ACC-7', 5],
    ])
    expect(reportOf({ outcomes: outcomes.toReversed() }).findings).toEqual(findings)
  })

  test('hold at most fifty sequence numbers with the full count, and a hundred a check', () => {
    const failures = Array.from({ length: 300 }, (_, i) => ({
      params: { agent_id: `a${i}`, n: 60, seq: i },
      count: 60,
      seqs: Array.from({ length: 60 }, (_one, k) => i * 100 + k),
    }))
    const { findings } = reportOf({ outcomes: [{ ...failed('DEC-3'), failures }] })

    expect(findings).toHaveLength(101)
    expect(findings.every(({ seqs }) => seqs.length === 50)).toBe(true)
    expect(findings[0]).toMatchObject({ count: 60 })
    expect(findings[100]).toMatchObject({ text: '200 more like these.', count: 12_000 })
  })

  /** A failure of DEC-1 over entries of so many agents, and over `beyond` entries more. */
  const ofAgents = (agents: number, beyond = 0) => {
    const seqs = Array.from({ length: agents }, (_, i) => i)
    const failures = [{ params: { n: 1, allows: 1 }, count: agents + beyond, seqs }]
    const facts = factsWith({ outcomes: [{ ...failed('DEC-1'), failures }] })
    const at = '2026-01-02T08:00:00.000Z'
    const entries = seqs.map((i) => [i, { at, agentId: `a${i}`, by: `key k${i % 2}` }] as const)
    const [finding] = contentOf(catalogue('soc2'), SECURITY, {
      ...facts,
      entries: new Map(entries),
    }).findings
    return finding
  }

  test('name ten agents in the text, how many more there are, and all in a list', () => {
    expect(ofAgents(12)).toMatchObject({
      text: expect.stringMatching(
        / Agents: a0, .*, a9 and 2 more\. Recorded by: key k0, key k1\. /,
      ),
      agents: Array.from({ length: 12 }, (_, i) => `a${i}`),
    })
    expect(ofAgents(10)?.text).toMatch(/ Agents: a0, .*, a9\. /)
  })

  test('over more than fifty entries say which entries the names are of', () => {
    expect(ofAgents(50, 7)?.text).toMatch(
      / Agents: a0, .*, a9 and 40 more, in the first 50 entries\. Recorded by: key k0, key k1, in the first 50 entries\. /,
    )
  })

  test('that are omitted are corrected if every one of them was, by the last correction', () => {
    const rest = (...fixes: (number | null)[]) => {
      const first = Array.from({ length: 100 }, (_, i) => ({ fixedBy: null, seqs: [i] }))
      const others = fixes.map((fixedBy, i) => ({ fixedBy, seqs: [100 + i] }))
      const failures = [...first, ...others].map((one) => ({ params: {}, count: 1, ...one }))
      return reportOf({ outcomes: [{ ...failed('DEC-3'), failures }] }).findings.at(-1)
    }

    expect(rest(300, 200)).toMatchObject({
      text: '2 more like these. Corrected by entry 300.',
      fixed_seq: 300,
    })
    expect(rest(300, null)).toMatchObject({ text: '2 more like these.', fixed_seq: null })
  })

  test('of the chain are about every computed control, others about those that name them', () => {
    const { findings } = reportOf({
      chain: { firstBadSeq: 3 },
      outcomes: [failed('LED-1'), failed('ACC-5')],
    })

    expect(findings.map(({ check, controls }) => [check, controls.length])).toEqual([
      ['LED-1', 17],
      ['ACC-5', 1],
    ])
  })

  test('of a check that does not apply are none', () => {
    expect(reportOf({ outcomes: [{ ...failed('ACC-5'), population: 0 }] }).findings).toEqual([])
  })
})
