import { fail, isoTime } from '@remit/core/base'
import type { Dialect } from '@remit/core/db'
import { fullDialects, someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { LEASE_MS } from '../src/report/generator.ts'
import type { Jobs } from '../src/jobs/jobs.ts'
import { createReports, playQuarter, QUARTER } from './support/reports.ts'
import type { PlayedQuarter, ReportsApi, ReportsOptions } from './support/reports.ts'

const body = { framework: 'soc2', ...QUARTER }

let played: Record<Dialect, PlayedQuarter>
beforeAll(async () => {
  played = { sqlite: await playQuarter('sqlite'), postgres: await playQuarter('postgres') }
})
afterAll(() => Promise.all(Object.values(played).map((quarter) => quarter.drop())))

/** Jobs that do not answer before they are told to. */
function held() {
  const gates: ((go: boolean) => void)[] = []
  const jobs = (inline: Jobs): Jobs => ({
    ...inline,
    report: async (orgId, question, watch) => {
      const ended = new Promise<boolean>((resolve) => {
        watch?.signal?.addEventListener('abort', () => resolve(false))
      })
      const told = new Promise<boolean>((resolve) => gates.push(resolve))
      if (!(await Promise.race([told, ended]))) throw new Error('the process ended')
      return inline.report(orgId, question, watch)
    },
  })
  return { jobs, release: () => gates.splice(0).forEach((go) => go(true)) }
}

const opened = async (
  create: typeof createReports,
  options: ReportsOptions,
): Promise<ReportsApi> => {
  const api = await create(options)
  onTestFinished(() => api.remit.close())
  return api
}

const generatedEntries = async ({ remit, org }: Api): Promise<unknown[]> => {
  const filters = { kind: 'report.generated', limit: 100, order: 'asc' } as const
  const { data: entries } = await remit.ledger.list(org.id, filters)
  // The quarter that is played holds one of its own.
  return entries.flatMap(({ data }) => data?.['report_id'] ?? []).filter((id) => id !== 'rpt_1')
}

const statusOf = async (api: Api, id: string): Promise<string> =>
  (await api.ok('getReport', { params: { id } })).status

/** Waits until something holds: what goes on is real work in the background. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  await vi.waitUntil(holds, { timeout: 60_000, interval: 25 })
}

describe.each(someDialects())('a report that takes long on %s', (dialect) => {
  test('returns 202, can be polled, and is available when finished', async () => {
    const { jobs, release } = held()
    const api = await opened(played[dialect].create, { jobs, patienceMs: 20 })
    const response = await api.call('createReport', { body })
    const asked = (await response.json()) as { id: string }
    const { id } = asked

    expect(response.status).toBe(202)
    expect(response.headers.get('location')).toBe(`/v1/compliance/reports/${id}`)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(asked).toEqual({
      id,
      framework: 'soc2',
      period: { from: '2026-01-01T00:00:00.000Z', to: '2026-04-01T00:00:00.000Z' },
      status: 'generating',
      requested_at: '2026-04-02T08:00:00.000Z',
    })
    expect(await api.ok('getReport', { params: { id } })).toEqual(asked)
    expect((await api.ok('listReports')).data[0]).toMatchObject({ id, summary: null })
    const csv = { params: { id }, query: { format: 'csv' } }
    expect((await api.refusal('getReport', csv)).code).toBe('report_not_ready')
    const evidence = { params: { id }, query: { check: 'DEC-1' } }
    expect((await api.refusal('listReportEvidence', evidence)).code).toBe('report_not_ready')

    release()
    await until(async () => (await statusOf(api, id)) === 'ready')

    expect(await generatedEntries(api)).toEqual([id])
    expect((await api.call('getReport', csv)).status).toBe(200)
  })

  test('belongs to its Idempotency-Key while it is generated and when its process has died', async () => {
    const first = held()
    const begun = await opened(played[dialect].create, { jobs: first.jobs, patienceMs: 20 })
    const headers = { 'idempotency-key': 'once' }
    const { id } = await begun.ok('createReport', { body, headers })
    // As if the process had died before it kept its answer.
    await begun.remit.db.deleteFrom('idempotency_key').execute()

    const again = await opened(createReports, {
      url: begun.remit.url,
      signingKey: begun.remit.signingKey,
      clock: begun.clock,
      patienceMs: 20,
    })
    const other = { ...again, ...again.as(begun.org) }

    const changed = { body: { ...body, framework: 'nist_ai_rmf' }, headers }
    expect((await other.refusal('createReport', changed)).code).toBe('idempotency_mismatch')
    expect((await other.ok('createReport', { body, headers })).id).toBe(id)

    begun.clock.advance(LEASE_MS + 1)
    await again.generator.sweep()
    await begun.remit.db.deleteFrom('idempotency_key').execute()
    const ready = await other.call('createReport', { body, headers })

    expect(ready.status).toBe(201)
    expect(await ready.json()).toMatchObject({ id, status: 'ready' })
    expect(await generatedEntries(other)).toEqual([id])
    // The first process was only slow: it finds that the report is there, and writes nothing.
    const slow = begun.generator.running({ org_id: begun.org.id, id })
    first.release()
    await slow
    expect(slow).toBeDefined()
    expect(await generatedEntries(other)).toEqual([id])
  })

  test('is left alone while its process vouches for it', async () => {
    const { jobs, release } = held()
    const api = await opened(played[dialect].create, { jobs, patienceMs: 20 })
    const { id } = await api.ok('createReport', { body })
    const again = await opened(createReports, {
      url: api.remit.url,
      signingKey: api.remit.signingKey,
      clock: api.clock,
    })

    await again.generator.sweep()
    expect(await statusOf(api, id)).toBe('generating')

    release()
    await until(async () => (await statusOf(api, id)) === 'ready')
  })

  test('goes on at the next start when the server was stopped in an orderly way', async () => {
    const { jobs } = held()
    const api = await opened(played[dialect].create, { jobs, patienceMs: 20 })
    const { id } = await api.ok('createReport', { body })
    await api.generator.close()
    const again = await opened(createReports, {
      url: api.remit.url,
      signingKey: api.remit.signingKey,
      clock: api.clock,
    })
    await again.generator.sweep()

    expect(await statusOf(again.as(api.org), id)).toBe('ready')
  })

  test('is given up after three processes have died over it', async () => {
    const { jobs } = held()
    const api = await opened(played[dialect].create, { jobs, patienceMs: 20 })
    const { id } = await api.ok('createReport', { body, headers: { 'idempotency-key': 'x' } })
    await api.remit.db
      .updateTable('compliance_report' as never)
      .set({ attempts: 3, held_until: 0 } as never)
      .execute()
    await api.generator.sweep()

    expect(await api.ok('getReport', { params: { id } })).toMatchObject({
      status: 'failed',
      detail: 'Generation was started three times, and the process ended each time.',
    })
    const csv = { params: { id }, query: { format: 'csv' } }
    expect((await api.refusal('getReport', csv)).code).toBe('report_not_ready')
    expect(await generatedEntries(api)).toEqual([])
  })
})

describe.each(someDialects())('a report that cannot be generated on %s', (dialect) => {
  test('fails as a whole: no entry without a report, no report without an entry', async () => {
    const jobs = (inline: Jobs): Jobs => ({
      ...inline,
      report: () => Promise.reject(new Error('secret cause')),
    })
    const api = await opened(played[dialect].create, { jobs })
    const problem = await api.refusal('createReport', { body })
    const [listed] = (await api.ok('listReports')).data

    expect(problem.code).toBe('internal_error')
    expect(listed).toMatchObject({ status: 'failed', summary: null })
    const answer = await api.call('getReport', { params: { id: listed!.id } })
    expect(await answer.text()).not.toContain('secret cause')
    expect(await generatedEntries(api)).toEqual([])
  })

  test('stores nothing if it cannot start', async () => {
    const busy = fail('jobs_busy', 'Too many', { headers: { 'Retry-After': '7' } })
    const jobs = (inline: Jobs): Jobs => ({ ...inline, report: () => Promise.reject(busy) })
    const api = await opened(played[dialect].create, { jobs })

    const headers = { 'idempotency-key': 'later' }
    const response = await api.call('createReport', { body, headers })
    expect(response.headers.get('retry-after')).toBe('7')
    expect((await api.ok('listReports')).data).toEqual([])
  })

  test('is not stored if its entry cannot be written', async () => {
    const api = await opened(played[dialect].create, {})
    api.remit.writer.use([
      {
        observe: (entries) =>
          entries.some(({ row }) => row.kind === 'report.generated')
            ? Promise.reject(new Error('the disk is full'))
            : Promise.resolve(),
      },
    ])
    const { status } = await api.call('createReport', { body })

    expect(status).toBe(503)
    expect((await api.ok('listReports')).data[0]).toMatchObject({
      status: 'failed',
      generated_at: null,
      content_sha256: null,
    })
    expect(await generatedEntries(api)).toEqual([])
  })
})

describe.each(fullDialects())('entries that come late on %s', (dialect) => {
  test('are in the report, or the report is read again', async () => {
    let late: (() => Promise<void>) | null = null
    const jobs = (inline: Jobs): Jobs => ({
      ...inline,
      report: async (...asked) => {
        const facts = await inline.report(...asked)
        await late?.()
        late = null
        return facts
      },
    })
    const api = await opened(played[dialect].create, { jobs })
    const to = isoTime(api.clock.now())
    // Another process whose clock is behind: its entry is of the period, and was not read.
    late = async () => {
      api.clock.advance(-1000)
      await api.remit.key(api.org.id, 'read')
      api.clock.advance(1000)
    }
    const report = await api.ok('createReport', { body: { framework: 'soc2', to } })
    if (report.status !== 'ready') throw new Error(report.status)

    expect(report.content.ledger.last_seq).toBe(report.record_seq - 1)
  })

  test('repeatedly: the error names the member of the request to change', async () => {
    const jobs = (inline: Jobs): Jobs => ({
      ...inline,
      report: async (...asked) => {
        const facts = await inline.report(...asked)
        api.clock.advance(-1000)
        await api.remit.key(api.org.id, 'read')
        api.clock.advance(1000)
        return facts
      },
    })
    const api = await opened(played[dialect].create, { jobs })
    const to = isoTime(api.clock.now())

    const { status, detail, errors } = await api.refusal('createReport', {
      body: { framework: 'soc2', to },
    })
    expect(status).toBe(400)
    expect(detail).toContain('to: is too recent: entries of the period are still being written')
    expect(errors?.map(({ path }) => path)).toEqual(['to'])
    expect(await generatedEntries(api)).toEqual([])
  })

  test('cannot appear after the report is recorded: a clock that steps back is refused', async () => {
    const jobs = (inline: Jobs): Jobs => ({
      ...inline,
      report: async (...asked) => {
        const facts = await inline.report(...asked)
        api.clock.advance(-60_000)
        return facts
      },
    })
    const api = await opened(played[dialect].create, { jobs })
    const to = isoTime(api.clock.now())

    const { code, errors } = await api.refusal('createReport', { body: { framework: 'soc2', to } })
    expect(code).toBe('invalid_request')
    expect(errors).toEqual([{ path: 'to', message: 'is in the future by the clock of the ledger' }])
    expect(await generatedEntries(api)).toEqual([])
  })
})
