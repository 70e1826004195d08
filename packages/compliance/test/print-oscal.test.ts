import type { ReadyReport } from '@remit/contract'
import { describe, expect, test } from 'vitest'
import { CATALOGUES } from '../src/catalogue/catalogue.ts'
import { oscalOf, uuidOf, tokenOf } from '../src/print/oscal/assessment-results.ts'
import { factsOf } from './support/facts.ts'
import { HOSTILE } from './support/hostile.ts'
import { isAssessmentResults } from './support/oscal-schema.ts'
import { FRAMEWORKS, named, quarter, reportOn } from './support/print.ts'

interface Prop {
  readonly name: string
  readonly ns: string
  readonly value: string
  readonly class?: string
}
interface Observation {
  readonly uuid: string
  readonly title: string
  readonly props: readonly Prop[]
}
interface Finding {
  readonly props: readonly Prop[]
  readonly target: {
    readonly 'target-id': string
    readonly status: { state: string; reason: string }
  }
  readonly 'related-observations': readonly { readonly 'observation-uuid': string }[]
}
interface Document {
  readonly 'assessment-results': {
    readonly uuid: string
    readonly 'import-ap': { readonly href: string }
    readonly results: readonly [
      {
        readonly props: readonly Prop[]
        readonly 'reviewed-controls': {
          readonly 'control-selections': readonly [
            Record<string, readonly { 'control-id': string }[]>,
          ]
        }
        readonly observations: readonly Observation[]
        readonly findings?: readonly Finding[]
      },
    ]
    readonly 'back-matter': {
      readonly resources: readonly { readonly uuid: string; readonly description: string }[]
    }
  }
}

const documentOf = (report: ReadyReport) => JSON.parse(oscalOf(report)) as Document
const valueOf = (props: readonly Prop[], name: string) =>
  props.find((one) => one.name === name)?.value

// Evidence outside the plan is not evidenced.
const used = quarter('ACC-5', 'APR-3', 'DEC-3', 'GRD-1')
const facts = { ...used, organization: { ...used.organization, plan: 'team' as const } }
const reports = FRAMEWORKS.map((framework) => [framework, reportOn(framework, facts)] as const)
const soc2 = reports[0]![1]

describe.each(reports)('%s as assessment-results', (_framework, report) => {
  const document = documentOf(report)
  const [result] = document['assessment-results'].results
  const byControl = new Map(
    result.observations.map((one) => [valueOf(one.props, 'control-id') ?? '', one]),
  )

  test('is valid OSCAL', () => {
    for (const one of [document, documentOf({ ...report, evaluation: true })]) {
      isAssessmentResults(one)
      expect(isAssessmentResults.errors).toBeNull()
    }
  })

  test('contains the exact status of every control', () => {
    for (const control of report.content.controls) {
      const observed = byControl.get(control.id)?.props ?? []
      expect(valueOf(observed, 'status')).toBe(control.status)
      expect(valueOf(observed, 'status-reason')).toBe(control.reason ?? undefined)
    }
  })

  test('has a finding where a control was judged, and none where it was not', () => {
    expect(report.content.summary.not_evidenced).toBeGreaterThan(0)
    const found = new Map(
      result.findings?.map(({ target }) => [target['target-id'], target.status.state]),
    )

    const states = { satisfied: 'satisfied', attention: 'not-satisfied' } as const
    const expected = report.content.controls.flatMap(({ id, status }) =>
      status === 'satisfied' || status === 'attention' ? [[tokenOf(id), states[status]]] : [],
    )
    expect([...found]).toEqual(expected)
    expect(found.size).toBeGreaterThan(5)
  })

  test('counts controls by status, and open findings apart by severity', () => {
    const counts = (name: string) =>
      Object.fromEntries(
        result.props.flatMap((one) => (one.name === name ? [[one.class, Number(one.value)]] : [])),
      )
    const { summary } = report.content

    expect(counts('controls')).toEqual({
      total: summary.total,
      satisfied: summary.satisfied,
      attention: summary.attention,
      'not-evidenced': summary.not_evidenced,
      manual: summary.manual,
    })
    expect(counts('open-findings')).toEqual({
      critical: summary.open_critical,
      high: summary.open_high,
      medium: summary.open_medium,
      low: summary.open_low,
    })
  })

  test('names manual controls as left out', () => {
    const [selection] = result['reviewed-controls']['control-selections']
    const idsOf = (isManual: boolean) =>
      report.content.controls
        .filter(({ coverage }) => (coverage === 'manual') === isManual)
        .map(({ id }) => ({ 'control-id': tokenOf(id) }))

    expect(selection['include-controls']).toEqual(idsOf(false))
    expect(selection['exclude-controls']).toEqual(idsOf(true))
  })

  test('every finding of ours is an observation, and controls lead to it', () => {
    const ids = new Set(result.observations.map(({ uuid }) => uuid))
    for (const finding of result.findings ?? [])
      for (const one of finding['related-observations'])
        expect(ids.has(one['observation-uuid'])).toBe(true)
    for (const { id, severity } of report.content.findings) {
      const observed = result.observations.find((one) => one.title.startsWith(`${id}:`))
      expect(valueOf(observed?.props ?? [], 'severity')).toBe(severity)
    }
  })

  test('its plan is a resource without content', () => {
    const { 'import-ap': plan, 'back-matter': matter } = document['assessment-results']
    const resource = matter.resources.find(({ uuid }) => plan.href === `#${uuid}`)

    expect(resource?.description).toMatch(/^There is no assessment plan/)
  })

  test('has each identifier once, and properties of our own namespace only', () => {
    const text = JSON.stringify(document)
    const ids = [...text.matchAll(/"uuid":"([^"]+)"/g)].map(([, id]) => id)

    expect(new Set(ids).size).toBe(ids.length)
    expect(text.match(/"name":"[^"]+","value"/)).toBeNull()
  })
})

describe('the same report', () => {
  test('has the same bytes, and another content other identifiers', () => {
    const other = reportOn('soc2', quarter('ACC-5'))

    expect(oscalOf(structuredClone(soc2))).toBe(oscalOf(soc2))
    expect(documentOf(other)['assessment-results'].uuid).not.toBe(
      documentOf(soc2)['assessment-results'].uuid,
    )
  })
})

describe('reports that leave lists empty', () => {
  const manual = reportOn('soc2', facts, (content) => ({
    ...content,
    controls: content.controls.filter(({ coverage }) => coverage === 'manual'),
    findings: [],
  }))

  test('manual controls alone: none is found to be anything', () => {
    const document = documentOf(manual)

    isAssessmentResults(document)
    expect(isAssessmentResults.errors).toBeNull()
    expect(document['assessment-results'].results[0].findings).toBeUndefined()
  })

  test('an organization without an entry: nothing is satisfied', () => {
    for (const framework of FRAMEWORKS) {
      const document = documentOf(reportOn(framework, factsOf([])))

      isAssessmentResults(document)
      expect(isAssessmentResults.errors).toBeNull()
      expect(JSON.stringify(document)).not.toContain('"state":"satisfied"')
    }
  })

  test('a ledger that did not verify: nothing is satisfied, and the reason is not a failed check', () => {
    const document = documentOf(reportOn('nist_ai_rmf', quarter('LED-1')))
    const [{ findings = [] }] = document['assessment-results'].results
    const statuses = findings.map(({ target }) => `${target.status.state} ${target.status.reason}`)

    isAssessmentResults(document)
    expect(isAssessmentResults.errors).toBeNull()
    expect(new Set(statuses)).toEqual(new Set(['not-satisfied other']))
  })
})

test('names from outside break no form, and are no markup', () => {
  for (const name of [...HOSTILE, '', ' ', '\n', '  two\nlines  ']) {
    const text = oscalOf(named(soc2, name))

    isAssessmentResults(JSON.parse(text))
    expect(isAssessmentResults.errors, name).toBeNull()
  }
  const [, title] = /"title":"([^"]*)"/.exec(oscalOf(named(soc2, '<b>*x*</b>'))) ?? []
  expect(JSON.parse(`"${title}"`)).toContain('\\<b\\>\\*x\\*\\</b\\>')
})

describe('ids of controls as tokens', () => {
  test.each([
    ['CC6.2', 'cc6.2'],
    ['PI1.5', 'pi1.5'],
    ['Art. 4', 'art-4'],
    ['Art. 9(2)(c)', 'art-9.2.c'],
    ['Art. 14(4)(a)', 'art-14.4.a'],
    ['GOVERN 1.1', 'govern-1.1'],
    ['MEASURE 2.10', 'measure-2.10'],
  ])('%s is %s', (id, token) => {
    expect(tokenOf(id)).toBe(token)
  })

  test('every control has one of its own', () => {
    for (const { controls } of CATALOGUES.values()) {
      const tokens = controls.map(({ id }) => tokenOf(id))
      expect(new Set(tokens).size).toBe(controls.length)
      expect(tokens.filter((token) => !/^[a-z][a-z0-9.-]*[a-z0-9]$/.test(token))).toEqual([])
    }
  })
})

test('an identifier is a UUID of version 5 of its name', () => {
  expect(uuidOf('a', 'b')).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  )
  expect(uuidOf('a', 'b')).toBe(uuidOf('a', 'b'))
  expect(uuidOf('a', 'b')).not.toBe(uuidOf('a', 'c'))
})
