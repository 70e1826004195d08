import type { ReadyReport } from '@remit/contract'
import {
  actorText,
  concernsText,
  evidenceText,
  figureText,
  findingState,
  openFindingsText,
  openText,
  populationText,
  REASON_TEXTS,
  recordItems,
  resultText,
  STATUS_TEXTS,
  supplyItems,
} from '@remit/contract/report-texts'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { canRunAll, go, openBrowser, openTab, settled, startSession } from './support/browser.ts'
import { startServer } from './support/server.ts'
import type { Server } from './support/server.ts'

const AGENT = 'payer'
const DAY_MS = 86_400_000
/** Two pages of the list, which reads a hundred entries at once. */
const DECISIONS = 130
const PAGE = 100
const CLASSES = ['1 to 10 min', '10 to 60 min', '1 to 4 h', '4 to 24 h', 'over 24 h']
const TIMES = [['under 1 min', '1'], ...CLASSES.map((name) => [name, '0'])]

describe.skipIf(!canRunAll)('a report in Chromium', () => {
  let server: Server
  let browser: Browser
  let page: Page
  let id: string
  const ask = (action: string, amount_usd: number) =>
    server.api.authorize({ body: { agent_id: AGENT, action, context: { amount_usd } } })
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), openBrowser()])
    const { api } = server
    await api.setSpendLimit({ params: { id: AGENT }, body: { daily_usd: 1_000 } })
    await api.setApprovalRule({ params: { id: 'refunds' }, body: { actions: ['pay.refund'] } })
    await api.createPolicy({ body: { effect: 'deny', actions: ['db.*'] } })
    for (let i = 0; i < DECISIONS; i += 10)
      await Promise.all(Array.from({ length: 10 }, () => ask('pay.send', 5)))
    await ask('db.drop', 0)
    const { request_id: requestID = '' } = await ask('pay.refund', 1)
    await api.decideApproval({ params: { requestID }, body: { decision: 'approve' } })
    const { head } = await api.listEntries({ query: { limit: 1 } })
    // Counting runs behind the ledger.
    const now = Date.now()
    // The day so far: a picture of days has one row, at each hour.
    const from = new Date(now - (now % DAY_MS)).toISOString()
    const period = { from, to: new Date(now).toISOString() }
    const counted = async () =>
      (await api.getStats({ query: { ...period, bucket: 'hour', by: 'decision' } })).up_to_seq ?? -1
    await vi.waitUntil(async () => (await counted()) >= (head?.seq ?? 0), { timeout: 120_000 })
    ;({ id } = await api.createReport({ body: { framework: 'soc2', ...period } }))
    const isReady = async () => (await api.getReport({ params: { id } })).status === 'ready'
    await vi.waitUntil(isReady, { timeout: 120_000 })
    const tab = await openTab(browser, server)
    await startSession(tab, server, server.key)
    page = tab.page
    await page.goto(`/console/reports/${id}`)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  /** The texts of a picture's table, row by row. */
  async function tableOf(title: string): Promise<string[][]> {
    const card = page.locator('section', { has: page.getByRole('heading', { name: title }) })
    await card.getByRole('button', { name: 'Show as table' }).click()
    const rows = await card.getByRole('table').getByRole('row').all()
    return Promise.all(rows.slice(1).map((row) => row.getByRole('cell').allTextContents()))
  }

  test.each([
    [
      'Decisions by day and outcome',
      [[expect.stringMatching(/^\d{4}-/), String(DECISIONS), '1', '1']],
    ],
    ['Time until a request was decided', TIMES],
    ['Spend against caps', [[`${AGENT}, highest day`, expect.stringMatching(/650\D.*1,000/)]]],
  ])('"%s" has the figures of the period', async (title, figures) => {
    await page.getByRole('heading', { name: title }).waitFor()

    expect(await tableOf(title)).toEqual(figures)
  })

  /** The text of each part of the page under a heading or summary, without tags. */
  const textsOf = (selector: string): Promise<string[]> => page.locator(selector).allTextContents()
  const contentOf = async () =>
    ((await server.api.getReport({ params: { id } })) as ReadyReport).content

  test('says of each control what the printed page says: status, reason, lists, checks, dates', async () => {
    const { controls } = await contentOf()
    const shown = await textsOf('main details')

    expect(shown).toHaveLength(controls.length)
    expect(new Set(controls.map(({ reason }) => reason)).size).toBeGreaterThan(3)
    for (const [i, control] of controls.entries()) {
      const said = [
        control.id,
        STATUS_TEXTS[control.status],
        control.reason === null ? '' : REASON_TEXTS[control.reason],
        ...(control.coverage === 'manual' ? [] : (recordItems(control) ?? [])),
        ...supplyItems(control.organization_must_supply),
        ...control.checks.flatMap((check) => [
          `${check.id} ${check.title}`,
          resultText(check),
          check.threshold,
          populationText(check),
          figureText(check.value, check.id),
        ]),
        ...control.evidence.flatMap((one) => [
          one.title ?? '',
          evidenceText(one),
          ...one.sample_dates!.map((date) => date!.slice(0, 10)),
        ]),
      ]
      for (const text of said) expect(shown[i]).toContain(text)
    }
  })

  test('shows findings with the title of the check, agents, authors, dates and their state', async () => {
    const { findings } = await contentOf()
    const shown = await textsOf('main article')

    expect(shown).toHaveLength(findings.length)
    expect(findings.length).toBeGreaterThan(1)
    for (const [i, finding] of findings.entries()) {
      const said = [
        `${finding.check} ${finding.title}`,
        finding.text,
        finding.severity,
        ...finding.agents!,
        ...finding.keys!,
        ...finding.dates!.map((date) => date!.slice(0, 10)),
        findingState(finding) ?? '',
        concernsText(finding),
      ]
      for (const text of said) expect(shown[i]).toContain(text)
    }
  })

  test('names who requested it, and the open findings', async () => {
    const report = (await server.api.getReport({ params: { id } })) as ReadyReport
    const [facts] = await textsOf('main dl')

    expect(facts).toContain(actorText(report.generated_by, report.generated_by_person))
    expect(facts).toContain(openFindingsText(report.content))
  })

  test('calls no control satisfied, here and in the list', async () => {
    const { summary } = await contentOf()
    await page.getByText('Controls by status').waitFor()
    const [here] = await textsOf('main')
    await go(page, '/reports')
    const [list] = await textsOf('main')
    await page.goBack()
    await settled(page)

    for (const text of [here, list]) {
      expect(text).toContain('Evidence found')
      expect(text).not.toMatch(/satisfied/i)
    }
    expect(list).toContain(openText(summary))
  })

  test('"All entries behind this control" lists every one, page by page, with a way to each', async () => {
    const { control, seqs } = await longEvidence()
    const card = page.locator('details', { has: page.getByText(control, { exact: true }) })
    await card.locator('summary').click()
    await card.getByRole('button', { name: 'All entries behind this control' }).click()
    const links = card
      .getByRole('region', { name: 'All entries behind this control' })
      .getByRole('link')
    await links.nth(PAGE - 1).waitFor()
    expect(await links.count()).toBe(PAGE)
    await card.getByRole('button', { name: 'Show more' }).click()
    await links.nth(seqs.length - 1).waitFor()

    expect((await links.allTextContents()).map(Number)).toEqual(seqs)
    await links.last().click()
    await page.waitForURL(`**/console/ledger/${seqs.at(-1)}`)
  })

  /** A control with more entries than one page of the list has, and their numbers. */
  async function longEvidence(): Promise<{ control: string; seqs: number[] }> {
    const { content } = (await server.api.getReport({ params: { id } })) as ReadyReport
    // One at a time: each of them reads in a thread.
    for (const { id: control } of content.controls) {
      const query = { control, limit: 1_000 }
      const { data } = await server.api.listReportEvidence({ params: { id }, query })
      if (data.length > PAGE) return { control, seqs: data.map(({ seq }) => seq) }
    }
    throw new Error('every control has one page of entries at most')
  }
})
