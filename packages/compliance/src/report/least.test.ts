import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { factsWith, idle, notApplicable, passed } from '../../test/support/synthetic.ts'
import type { Given } from '../../test/support/synthetic.ts'
import { catalogue, CATALOGUES, CHECKS } from '../catalogue/catalogue.ts'
import { scopeOf } from '../catalogue/report-scope.ts'
import { contentOf } from './document.ts'

const CASES = [...CHECKS.values()]
const CARRYING = CASES.filter(({ carries }) => carries)

/** All controls of a framework. */
function controlsOf(framework: 'soc2' | 'eu_ai_act' | 'nist_ai_rmf', given: Given) {
  const of = catalogue(framework)
  const scope = { categories: Object.keys(of.framework.groups ?? {}), role: null }
  return contentOf(of, scope, factsWith(given)).controls
}

const resultOf = (id: string, given: Given) =>
  [...CATALOGUES.keys()]
    .flatMap((framework) => controlsOf(framework, given))
    .flatMap(({ checks }) => checks)
    .find((check) => check.id === id)

describe('the least from which a check may pass', () => {
  test.each(CASES)('$id states it: a number of something, and days', ({ least, carries }) => {
    expect(least.population).toBeGreaterThanOrEqual(1)
    expect(least.of).toMatch(/^[a-z]/)
    const rare = least.population < 10 ? 3 : 7
    expect(carries ? least.days >= rare : least.days === 0).toBe(true)
  })

  test.each(CARRYING)(
    '$id passes with that many, and with one less is too small',
    ({ id, least }) => {
      const at = (population: number) => resultOf(id, { outcomes: [{ ...passed(id), population }] })

      expect(at(least.population)).toMatchObject({ result: 'pass', basis: least.population, least })
      expect(at(least.population - 1)).toMatchObject({
        result: least.population === 1 ? 'not_applicable' : 'too_small',
        basis: least.population - 1,
      })
    },
  )

  test.each(CARRYING)(
    '$id passes over that many days, and over one less is too young',
    ({ id, least }) => {
      const over = (days: number) =>
        resultOf(id, {
          days: { [least.over]: days },
          outcomes: [{ ...passed(id), days }],
        })

      expect(over(least.days)).toMatchObject({ result: 'pass', days: least.days })
      expect(over(least.days - 1)).toMatchObject({ result: 'too_young', days: least.days - 1 })
    },
  )

  test.each(CARRYING.filter(({ least }) => least.over !== 'use'))(
    '$id passes over no less than a week of use',
    ({ id, least }) => {
      const days = { use: 6, first_to_last: 90 }

      expect(resultOf(id, { days })).toMatchObject({
        result: 'too_young',
        days: 6,
        least: { ...least, days: 7, over: 'use' },
      })
    },
  )

  test('is in docs/compliance.md', () => {
    const page = new URL('../../../../docs/compliance.md', import.meta.url)
    const [, table = ''] = readFileSync(page, 'utf8').split('### Minimum evidence')
    const rows = [...table.matchAll(/^\| `(.*?)` *\|(.*)\|$/gm)].map(([, id = '', cells = '']) => [
      id,
      ...cells.split('|').map((cell) => cell.trim()),
    ])
    const days = {
      cases: 'with them',
      use: 'of use',
      first_to_last: 'of the period',
      record: 'of record',
      organization: 'of the organization',
    }

    expect(rows).toEqual(
      CASES.map(({ id, title, least, carries }) => [
        id,
        title,
        String(least.population),
        least.of,
        carries ? `${least.days} ${days[least.over]}` : '-',
      ]),
    )
  })

  test.each(CARRYING.filter(({ least }) => least.over === 'cases'))(
    '$id without a case does not apply',
    ({ id }) => {
      const outcome = { ...passed(id), basis: 0, days: 0 }
      expect(resultOf(id, { outcomes: [outcome] })?.result).toBe('not_applicable')
      expect(resultOf(id, { outcomes: [{ ...outcome, ok: false }] })?.result).toBe('fail')
    },
  )

  test('a failure over however few stays one', () => {
    const outcome = { ...passed('DEC-2'), population: 1, ok: false }
    expect(resultOf('DEC-2', { outcomes: [outcome] })?.result).toBe('fail')
  })
})

describe('a control', () => {
  const control = (framework: 'soc2' | 'eu_ai_act' | 'nist_ai_rmf', id: string, given: Given) =>
    controlsOf(framework, given).find((one) => one.id === id)

  test('with a check that is too small or too young is not evidenced, for that reason', () => {
    const small = { outcomes: [{ ...passed('DEC-2'), population: 20 }] }

    expect(control('eu_ai_act', 'Art. 13(1)', small)).toMatchObject({
      status: 'not_evidenced',
      reason: 'too_small',
      record_shows: [],
    })
    expect(control('eu_ai_act', 'Art. 13(1)', { days: { use: 6 } })).toMatchObject({
      status: 'not_evidenced',
      reason: 'too_young',
    })
  })

  test.each([
    ['a pass of it is no evidence', 'DEC-6', 'Art. 26(5)'],
    ['it is about the ledger', 'LED-1', 'Art. 13(1)'],
  ])('shows no check of too few cases beside evidence, also if %s', (_, id, about) => {
    const given = { outcomes: [{ ...passed(id), population: 1, basis: 1 }] }

    const shown = [...CATALOGUES.keys()]
      .flatMap((framework) => controlsOf(framework, given))
      .filter(({ status }) => status === 'satisfied')
      .flatMap(({ checks }) => checks)
      .filter(({ severity }) => severity !== 'low')
    expect(shown.filter(({ result }) => result.startsWith('too'))).toEqual([])
    expect(control('eu_ai_act', about, given)?.status).toBe('satisfied')
  })

  test('in a period shorter than an interval says that it is short, and not that it is empty', () => {
    const few = (id: string) => ({ ...passed(id), basis: 1 })
    const short = { days: { first_to_last: 10, use: 10 }, outcomes: [few('SCR-1'), few('SCR-2')] }

    expect(resultOf('SCR-1', short)).toMatchObject({ result: 'too_young', basis: 1, days: 10 })
    expect(resultOf('SCR-2', short)).toMatchObject({ result: 'too_small', basis: 1, days: 10 })
    expect(control('soc2', 'PI1.4', short)?.reason).toBe('too_young')
  })

  test('with less than a week of use is never satisfied, however old the organization is', () => {
    const days = { use: 6, first_to_last: 6 }
    for (const framework of CATALOGUES.keys())
      for (const { status } of controlsOf(framework, { days })) expect(status).not.toBe('satisfied')
  })

  test('PI1.5 is not evidenced by a record of 15 days, which cannot show a retention of six months', () => {
    const young = control('soc2', 'PI1.5', { days: { record: 15 } })

    expect(young).toMatchObject({ status: 'not_evidenced', reason: 'too_young' })
    expect(young?.checks.find(({ id }) => id === 'LED-4')).toMatchObject({
      result: 'too_young',
      days: 15,
      least: { days: 183 },
    })
  })

  test('CC6.3 needs a check on separation of duties that applied', () => {
    const without = (...ids: string[]) =>
      control('soc2', 'CC6.3', { outcomes: ids.map(notApplicable) })

    expect(without('APR-3', 'CHG-3')).toMatchObject({
      status: 'not_evidenced',
      reason: 'nothing_to_check',
    })
    expect(without('APR-3')?.status).toBe('satisfied')
    expect(without('CHG-3')?.status).toBe('satisfied')
  })

  test('is not carried by earlier reports that are intact', () => {
    const others = [...CHECKS.keys()].filter((id) => id !== 'REP-1').map(notApplicable)

    for (const framework of CATALOGUES.keys())
      for (const { status } of controlsOf(framework, { outcomes: others }))
        expect(status).not.toBe('satisfied')
  })

  test('shows missing operation before too little data', () => {
    const given = {
      outcomes: [{ ...passed('DEC-2'), population: 1 }],
      evidence: [idle('authorization_decisions')],
    }
    expect(control('eu_ai_act', 'Art. 13(1)', given)?.reason).toBe('not_exercised')
  })
})

describe('a serious finding', () => {
  test.each([
    ['eu_ai_act', { role: 'deployer' }, 'Art. 26(5)'],
    ['eu_ai_act', { role: 'provider' }, 'Art. 72(2)'],
    ['soc2', {}, 'CC7.2'],
    ['soc2', { categories: ['privacy', 'processing_integrity'] }, 'PI1.3'],
    ['nist_ai_rmf', {}, 'MEASURE 2.4'],
    ['nist_ai_rmf', { categories: ['GOVERN'] }, 'GOVERN 1.5'],
    ['nist_ai_rmf', { categories: ['MAP'] }, 'MAP 3.5'],
    ['nist_ai_rmf', { categories: ['MANAGE'] }, 'MANAGE 4.1'],
  ] as const)('of %s for %j is about a control in scope', (framework, asked, fallback) => {
    const of = catalogue(framework)
    const scope = scopeOf(of, asked)
    for (const { id, severity } of CASES.filter((one) => /high|critical/.test(one.severity))) {
      const failures = [{ params: {}, count: 1, seqs: [5] }]
      const outcomes = [{ ...passed(id), ok: false, failures }]
      const chain = id.startsWith('LED-') ? { firstBadSeq: 5 } : {}
      const content = contentOf(of, scope, factsWith({ outcomes, chain }))
      const [finding] = content.findings
      const named = content.controls.filter((one) =>
        CHECKS.get(id)!.controls[framework].includes(one.id),
      )

      expect(content.summary.attention, id).toBeGreaterThan(0)
      expect(content.summary[`open_${severity}`], id).toBe(1)
      expect(finding?.controls.length, id).toBeGreaterThan(0)
      const isElsewhere = named.length > 0 || id.startsWith('LED-')
      expect(isElsewhere || finding?.controls.join() === fallback, id).toBe(true)
    }
  })
})
