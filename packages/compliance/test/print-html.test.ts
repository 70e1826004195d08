import { hash } from 'node:crypto'
import type { ReadyReport } from '@remit/contract'
import { afterEach, describe, expect, test } from 'vitest'
import { html, isolated } from '../src/print/html/markup.ts'
import { pageOf } from '../src/print/html/page.ts'
import { HOSTILE } from './support/hostile.ts'
import { FRAMEWORKS, named, quarter, reportOn } from './support/print.ts'

// Evidence outside the plan is not evidenced.
const used = quarter('ACC-5', 'APR-3', 'DEC-3', 'GRD-1')
const facts = { ...used, organization: { ...used.organization, plan: 'team' as const } }
const reports = FRAMEWORKS.map((framework) => [framework, reportOn(framework, facts)] as const)
const [[, soc2]] = reports as [(typeof reports)[number]]

/** The text that a reader sees: without tags, entities resolved. */
const readable = (page: string): string =>
  page
    .replaceAll(/<style>[^<]*<\/style>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')

describe.each(reports)('the page of %s', (_framework, report) => {
  const { text, policy } = pageOf(report)
  const shown = readable(text)
  const { content } = report

  test('shows every control with its status in words, every finding and every figure', () => {
    for (const { id, title } of content.controls) expect(shown).toContain(`${id} ${title}`)
    for (const { id, text: said } of content.findings) {
      expect(shown).toContain(id)
      expect(shown).toContain(said)
    }
    for (const { id, name } of content.metrics) expect(shown).toContain(`${id} ${name}`)
    for (const [word, count] of [
      ['Evidence found', content.summary.satisfied],
      ['Attention', content.summary.attention],
      ['Not evidenced', content.summary.not_evidenced],
      ['Manual', content.summary.manual],
    ] as const)
      expect(shown).toMatch(new RegExp(`${word} ${count} `))
  })

  test('shows scope, period, notice, hashes and where it is recorded', () => {
    for (const said of [
      content.scope.statement,
      content.notice,
      '1 January 2026 to 31 March 2026',
      '2026-01-01T00:00:00.000Z to before 2026-04-01T00:00:00.000Z',
      report.content_sha256,
      report.ledger_head.hash,
      `recorded in the ledger as entry ${report.record_seq}`,
      content.catalog.sha256,
    ])
      expect(shown).toContain(said)
  })

  test('lists the evidence in the record and the evidence to supply', () => {
    const lists = [...text.matchAll(/<h4>([^<]*)<\/h4>\s*<ul>([\s\S]*?)<\/ul>/g)].map(
      ([, title, items = '']) => [title, readable(items).trim()],
    )
    const computed = content.controls.filter(({ coverage }) => coverage !== 'manual')
    expect(lists.map(([title]) => title)).toEqual(
      computed.flatMap(() => ['The record shows', 'You supply']),
    )
    for (const [i, control] of computed.entries()) {
      const [shows, supplies] = [lists[2 * i]?.[1] ?? '', lists[2 * i + 1]?.[1] ?? '']
      for (const sentence of control.record_shows ?? []) expect(shows).toContain(sentence)
      expect(shows).not.toMatch(/supplied/)
      expect(supplies.length).toBeGreaterThan(5)
      expect(control.record_shows?.some((sentence) => supplies.includes(sentence))).toBe(false)
    }
  })

  test('has no names of fields, no bare fractions and one spelling', () => {
    // Scorers and kinds of entries are called so by those who recorded them.
    const recorded = new Set(['exact_match', 'idp_1', ...Object.keys(content.ledger.by_kind)])
    const names = [...shown.matchAll(/(?<!\.)\b[a-z]+(?:_[a-z0-9]+)+(?=: )/g)].map(([name]) => name)
    expect(names.filter((name) => !recorded.has(name))).toEqual([])
    expect(shown).not.toMatch(/\b0\.\d{4}\b/)
    expect(shown).not.toMatch(/organis/i)
    expect(shown).not.toMatch(/population 0/i)
    expect(shown).not.toMatch(/\bSatisfied\b/)
  })

  test('promises nothing: no share of controls, and none of the words', () => {
    expect(shown).not.toMatch(/\b(compliant|certified|conforms|audit passed|score of)\b/i)
    const summary = /<table class="summary">[\s\S]*?<\/table>/.exec(text)?.[0] ?? ''
    expect(readable(summary)).toContain('Evidence found')
    expect(summary).not.toContain('%')
    expect(shown).not.toMatch(/\d% (?:of|\(\d+ of \d+\)) (?:all )?(?:controls|provisions|criteria)/)
  })

  test('has no script, no style but its sheet, and nothing from elsewhere', () => {
    expect(text).not.toMatch(/<(script|img|iframe|object|embed|link|form|svg|base)\b/i)
    expect(text).not.toMatch(/\s(on\w+|style|src|srcset|action)\s*=/i)
    expect([...text.matchAll(/href="([^"]*)"/g)].every(([, to]) => to?.startsWith('#F-'))).toBe(
      true,
    )
    expect(text.match(/url\(|@import|https?:/g)).toBeNull()
  })

  test('its policy, in the page and beside it, allows that sheet alone', () => {
    const [, sheet = ''] = /<style>([^<]*)<\/style>/.exec(text) ?? []
    const own = `default-src 'none'; style-src 'sha256-${hash('sha256', sheet, 'base64')}'; base-uri 'none'; form-action 'none'`

    expect(policy).toBe(`${own}; frame-ancestors 'none'`)
    expect(text).toContain(`content="${own.replaceAll("'", '&#39;')}"`)
    expect(text.indexOf('http-equiv')).toBeLessThan(text.indexOf('<title>'))
  })

  test('prints the hash and the checkpoint at the foot of every page', () => {
    expect(text).toContain(`"content sha-256 ${report.content_sha256}"`)
    expect(text).toContain(`"checkpoint ${report.ledger_head.size - 1} ${report.ledger_head.hash}"`)
  })
})

describe('the same report', () => {
  const { TZ } = process.env
  afterEach(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })

  test('is the same page, wherever it is written', () => {
    const here = pageOf(soc2).text
    process.env.TZ = 'Pacific/Kiritimati'

    expect(new Date(0).getTimezoneOffset()).not.toBe(0)
    expect(pageOf(structuredClone(soc2)).text).toBe(here)
  })
})

describe('a ledger that did not verify', () => {
  test('is shown first, with the entry', () => {
    const report = reportOn('soc2', quarter('LED-1', 'LED-7'))
    const shown = readable(pageOf(report).text)

    expect(shown).toContain('The ledger did not verify up to the end of the period.')
    expect(shown).toContain('The first invalid entry is seq 50.')
    expect(shown).toContain('Earlier checkpoints disagree at seq 40.')
    expect(readable(pageOf(soc2).text)).not.toContain('did not verify up to')
  })
})

describe('names from outside', () => {
  test('are text, also where they would end their place', () => {
    for (const name of HOSTILE) {
      const { text } = pageOf(named(soc2, name))

      expect(text, name).not.toMatch(/<(script|img|iframe|link|svg|base|!--)/i)
      expect(text.match(/<style>/g), name).toHaveLength(1)
      expect(text.match(/<\/(title|style|html)>/g), name).toHaveLength(3)
      expect(text, name).not.toMatch(/[^\P{Cc}\n]/u)
      expect(text, name).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u2028\uFEFF]/)
    }
  })

  test('an invisible character appears as its code point', () => {
    expect(readable(pageOf(named(soc2, 'a\u202Eb')).text)).toContain('a\\u{202e}b')
  })

  test('are inside of their own direction of writing', () => {
    const { text } = pageOf(named(soc2, 'שלום'))
    const body = text.slice(text.indexOf('<body>')).replaceAll(/<bdi>[^<]*<\/bdi>/g, '')

    expect(text).toContain('<bdi>שלום</bdi>')
    expect(body).not.toContain('שלום')
    expect(isolated('<שלום>').text).toBe('<bdi>&lt;שלום&gt;</bdi>')
  })

  test('a template escapes everything but markup', () => {
    const parts = [html`<b>${1}</b>`, '<i>', null, 0]

    expect(html`<p title="${'"\''}">${parts}</p>`.text).toBe(
      '<p title="&quot;&#39;"><b>1</b>&lt;i&gt;0</p>',
    )
  })
})

// The type keeps the fixture honest: a new member of the document has to be looked at here.
test('the document has no member that the page leaves out unseen', () => {
  const members: (keyof ReadyReport['content'])[] = [
    'schema',
    'framework',
    'catalog',
    'rules',
    'organization',
    'scope',
    'period',
    'ledger',
    'summary',
    'controls',
    'findings',
    'metrics',
    'notice',
  ]

  expect(Object.keys(soc2.content).toSorted()).toEqual(members.toSorted())
})
