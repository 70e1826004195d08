import { describe, expect, test } from 'vitest'
import { verifyExport } from '../src/index.ts'
import { JsonError } from '../src/jcs.ts'
import { ReportCheck } from '../src/report.ts'
import { contentOf, reportAndExport } from './support/report.ts'
import { sound } from './support/vectors.ts'

const { report, lines } = reportAndExport()
const text = JSON.stringify(report)

async function check(document: string, entries: readonly string[] = lines) {
  const reportCheck = new ReportCheck(document)
  const ledger = await verifyExport(entries, { onEntry: (entry) => reportCheck.entry(entry) })
  return reportCheck.end(ledger.org_id, ledger.checked.from_seq)
}

const codes = async (document: string, entries?: readonly string[]) =>
  (await check(document, entries)).errors.map(({ code }) => code)

describe('a report and the export that records it', () => {
  test('agree, however the report is laid out', async () => {
    expect((await verifyExport(lines)).status).toBe('ok')
    expect(await check(text)).toMatchObject({ status: 'ok', errors: [], looked_up: 6 })
    expect(await check(JSON.stringify(report, null, 2))).toMatchObject({ status: 'ok' })
  })

  test('say what nobody vouches for', async () => {
    const { not_checked } = await check(JSON.stringify({ ...report, verdict: 'good' }))

    expect(not_checked).toContain('verdict: no hash and no entry covers them.')
    expect(not_checked).toContainEqual(expect.stringMatching(/^The conclusions of the report/))
  })

  test('disagree after the change of any one digit', async () => {
    const digits = [...text.matchAll(/\d/g)].map(({ index }) => index)
    const missed: string[] = []
    for (const at of digits) {
      const digit = (Number(text[at]) + 1) % 10
      const changed = `${text.slice(0, at)}${digit}${text.slice(at + 1)}`
      const found = await check(changed).catch((error: unknown) => error)
      if (!(found instanceof JsonError) && (found as { status: string }).status === 'ok')
        missed.push(changed.slice(at - 30, at + 10))
    }

    expect(digits.length).toBeGreaterThan(300)
    expect(missed).toEqual([])
  })
})

describe('a report of which one member was changed', () => {
  const { ledger_head: head } = report

  test.each<[string, object, ...string[]]>([
    ['id', { id: 'rpt_2' }, 'report_id'],
    ['framework', { framework: 'eu_ai_act' }, 'framework'],
    ['period', { period: { ...report.period, from: '2026-01-01T00:00:00.000Z' } }, 'from'],
    ['generated_at', { generated_at: '2026-03-02T08:00:00.001Z' }, 'generated_at'],
    ['generated_by_person', { generated_by_person: 'eve@example.org' }, 'generated_by_person'],
    ['generated_by', { generated_by: { type: 'human', id: 'key_1' } }, 'generated_by'],
    ['evaluation', { evaluation: false }, 'evaluation'],
    ['evaluation, left out', { evaluation: undefined }, 'evaluation'],
    ['content_sha256', { content_sha256: 'a'.repeat(64) }, 'content_sha256'],
    ['csv_sha256', { csv_sha256: 'a'.repeat(64) }, 'csv_sha256'],
    ['ledger_head.size', { ledger_head: { ...head, size: 7 } }, 'ledger_head', 'checkpoint'],
    ['ledger_head.hash', { ledger_head: { ...head, hash: 'a'.repeat(64) } }, 'ledger_head'],
    ['ledger_head.verified', { ledger_head: { ...head, verified: false } }, 'ledger_head'],
    ['ledger_head.first_bad_seq', { ledger_head: { ...head, first_bad_seq: 0 } }, 'ledger_head'],
    [
      'ledger_head.anchors_checked',
      { ledger_head: { ...head, anchors_checked: 99 } },
      'ledger_head',
    ],
    ['ledger_head, a member more', { ledger_head: { ...head, note: 'sound' } }, 'ledger_head'],
  ])('%s: is not what was recorded', async (_name, change, ...names) => {
    const { errors } = await check(JSON.stringify({ ...report, ...change }))
    const { detail = '' } = errors.find(({ code }) => code === 'record_differs') ?? {}

    for (const name of names) expect(detail.split(/[:,] /)).toContain(name)
  })

  test('record_seq: there is no such record', async () => {
    expect(await codes(JSON.stringify({ ...report, record_seq: 7 }))).toContain('record_missing')
  })

  // As a server that lies would write it: the content is hashed, and its entry says otherwise.
  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['summary', { summary: { total: 2, satisfied: 2, attention: 0, not_evidenced: 0, manual: 0 } }],
    ['verified', { verified: false }],
    ['categories', { categories: ['privacy'] }],
    ['role', { role: 'provider' }],
    ['ledger_head', { ledger_head: { ...head, verified: false } }],
  ])('%s of the entry: is not what the report says', async (name, recorded) => {
    const made = reportAndExport(contentOf(), report.generated_at, recorded)
    const { errors } = await check(JSON.stringify(made.report), made.lines)

    expect(errors).toEqual([{ code: 'record_differs', detail: `seq 8: ${name}` }])
  })

  test('is found by the entry of before the whole head was recorded as far as it goes', async () => {
    const recorded = { evaluation: undefined, ledger_head: undefined, verified: undefined }
    const made = reportAndExport(contentOf(), report.generated_at, recorded)
    const { status, not_checked } = await check(JSON.stringify(made.report), made.lines)
    const moved = { ...made.report, ledger_head: { ...head, size: 7 } }

    expect(status).toBe('ok')
    expect(not_checked).toContain(
      'evaluation, ledger_head.verified, ledger_head.first_bad_seq, ledger_head.anchors_checked: no hash and no entry covers them.',
    )
    expect(await codes(JSON.stringify(moved), made.lines)).toContain('record_differs')
  })
})

describe('a report that does not fit its ledger', () => {
  const honest = contentOf()
  const { ledger } = honest
  const [control] = honest.controls
  const evidence = { ...control!.evidence[0]! }
  const withEvidence = (change: object) => ({
    controls: [{ ...control!, evidence: [{ ...evidence, ...change }] }],
  })

  // As a server that lies would write it: hashed and recorded like any other.
  test.each([
    ['counts an entry too many', { ledger: { ...ledger, entries: 5 } }, 'period_differs'],
    ['begins elsewhere', { ledger: { ...ledger, first_seq: 2 } }, 'period_differs'],
    ['ends elsewhere', { ledger: { ...ledger, last_seq: 7 } }, 'period_differs'],
    [
      'counts a kind that is not there',
      { ledger: { ...ledger, by_kind: { 'authorization.decided': 3, 'guard.checked': 1 } } },
      'period_differs',
    ],
    [
      'names another hash',
      { ledger: { ...ledger, hash_at_last: 'a'.repeat(64) } },
      'period_differs',
    ],
    ['calls on an entry that is not there', withEvidence({ sample: [3, 99] }), 'entry_missing'],
    ['calls on what a caller wrote', withEvidence({ sample: [3, 5] }), 'evidence_differs'],
    ['calls on what came before', withEvidence({ sample: [2, 3] }), 'evidence_differs'],
    [
      'calls on what came before, of any kind',
      withEvidence({ kind: 'ledger_integrity', sample: [2, 3] }),
      'evidence_differs',
    ],
    ['calls on what came later', withEvidence({ last_seq: 7 }), 'evidence_differs'],
    ['finds what is not there', { findings: [{ id: 'F-0001', seqs: [99] }] }, 'entry_missing'],
    ['finds what came later', { findings: [{ id: 'F-0001', seqs: [7] }] }, 'finding_differs'],
    ['is about another', { organization: { id: 'org_b', name: 'B' } }, 'other_ledger'],
    [
      'is about another period than it says outside',
      { period: { ...honest.period, from: '2026-01-31T00:00:00.000Z' } },
      'record_differs',
    ],
  ])('%s', async (_name, change, code) => {
    const made = reportAndExport(contentOf(change))

    expect((await verifyExport(made.lines)).status).toBe('ok')
    expect(await codes(JSON.stringify(made.report), made.lines)).toContain(code)
  })

  test.each([
    ['a rule that stood before', { kind: 'policy_rules', sample: [2] }, ''],
    [
      'anything of the period, for the record as a whole',
      { kind: 'ledger_integrity', sample: [5] },
      '',
    ],
    [
      'a kind that is not known',
      { kind: 'something_new', sample: [5] },
      'The evidence of something_new',
    ],
  ])('may call on %s', async (_name, change, said) => {
    const made = reportAndExport(
      contentOf(withEvidence({ first_seq: null, last_seq: null, ...change })),
    )
    const verdict = await check(JSON.stringify(made.report), made.lines)

    expect(verdict).toMatchObject({ status: 'ok' })
    expect(verdict.not_checked.some((one) => one.startsWith(said))).toBe(true)
  })

  test.each([
    ['of another ledger', sound.lines],
    ['that ends before it', lines.slice(0, -2)],
  ])('is not confirmed by an export %s', async (_name, entries) => {
    expect(await codes(text, entries)).toContain('record_missing')
  })

  test('whose entry was erased is not confirmed', async () => {
    const record = JSON.parse(lines.at(-2)!) as object
    const erased = lines.with(
      lines.length - 2,
      JSON.stringify({ ...record, salt: null, payload: null }),
    )

    expect(await codes(text, erased)).toEqual(['record_differs'])
  })

  test('that was recorded before its period was over is not confirmed', async () => {
    const made = reportAndExport(contentOf(), '2026-02-28T23:59:59.999Z')

    const { errors } = await check(JSON.stringify(made.report), made.lines)

    expect(errors).toContainEqual({
      code: 'record_differs',
      detail: expect.stringContaining('the recording time'),
    })
  })

  test('may come with an export that begins inside the period: what is missing is said', async () => {
    const header = { ...(JSON.parse(lines[0]!) as object), from_seq: 5 }
    const verdict = await check(text, [JSON.stringify(header), ...lines.slice(6)])

    expect(verdict.status).toBe('ok')
    expect(verdict.not_checked).toContainEqual(expect.stringMatching(/^The counts of the period/))
    expect(verdict.not_checked).toContainEqual(expect.stringMatching(/^3 sequence numbers/))
  })
})

describe('what is no report', () => {
  test.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['nothing', ''],
    ['an export', lines.join('\n')],
    ['one that is being generated', '{"id":"rpt_1","status":"generating"}'],
    ['a name twice', text.replace('"status"', '"status":"failed","status"')],
    ['a name twice, spelled otherwise', text.replace('"status"', '"st\\u0061tus":1,"status"')],
    ['a name twice deep inside', text.replace('"first_seq"', '"first_seq":1,"first_seq"')],
    ['an unknown form', text.replace('report/1', 'report/2')],
    ['unpaired surrogate', text.replace('Acme', '\\ud800')],
    ['a number beyond all', text.replace('"entries":4', '"entries":1e999')],
    ['a sequence number that is text', text.replace('"seqs":[1,4]', '"seqs":["1","4"]')],
  ])('%s', (_name, document) => {
    expect(() => new ReportCheck(document)).toThrow(JsonError)
  })
})
