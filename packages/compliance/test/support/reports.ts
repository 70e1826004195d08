import type { Dialect } from '@remit/core/db'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import { defineModule } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import {
  apiOf,
  copyDatabase,
  createClock,
  createDatabase,
  createTestRemit,
  handMade,
} from '@remit/testing'
import type { Api, TestClock, TestOrganization, TestRemitOptions } from '@remit/testing'
import { Generator } from '../../src/report/generator.ts'
import { reportRoutes } from '../../src/report/routes.ts'
import { migrations } from '../../src/tables/schema.ts'
import type { Jobs } from '../../src/jobs/jobs.ts'
import type { EntryInput } from './by-hand.ts'
import { ms, SYSTEM } from './by-hand.ts'
import { goodLedger } from './good-ledger.ts'
import { inlineJobs } from './jobs.ts'

/** The quarter that the tests report on. */
export const QUARTER = { from: '2026-01-01', to: '2026-03-31' } as const
const BEGIN = '2025-06-01T00:00:00.000Z'
const AFTER = '2026-04-02T08:00:00.000Z'

export interface ReportsOptions extends Omit<TestRemitOptions, 'clock' | 'modules'> {
  readonly clock?: TestClock
  /** Default: a new one. */
  readonly org?: TestOrganization
  readonly patienceMs?: number
  /** In place of jobs that run at once. */
  readonly jobs?: (inline: Jobs) => Jobs
}

export interface ReportsApi extends Api {
  readonly clock: TestClock
  readonly generator: Generator
}

/** The product with reports, and an organization that was made long before the quarter. */
export async function createReports(options: ReportsOptions = {}): Promise<ReportsApi> {
  const {
    clock = createClock(BEGIN),
    org,
    // A busy machine must not look like a report that takes long.
    patienceMs = 600_000,
    jobs = (inline) => inline,
    ...rest
  } = options
  let generator: Generator | undefined
  const module = defineModule({
    name: 'compliance',
    migrations,
    setup: (deps) => {
      const given = jobs(inlineJobs(deps))
      generator = new Generator(deps, given)
      const routes = reportRoutes({
        ...deps,
        jobs: given,
        generator,
        patienceMs,
      })
      return { routes, close: () => generator?.close() ?? Promise.resolve() }
    },
  })
  const remit = await createTestRemit({ ...rest, clock, modules: [module] })
  if (!generator) throw new Error('the module was not set up')
  return { ...apiOf(remit, org ?? (await remit.organization())), clock, generator }
}

/** Writes entries as the server would have, at their times; the clock stands at the last one then. */
export async function play(
  { remit, org, clock }: Pick<ReportsApi, 'remit' | 'org' | 'clock'>,
  said: readonly EntryInput[],
): Promise<void> {
  const byTime = Map.groupBy(
    said.filter(({ kind }) => kind !== 'ledger.genesis'),
    ({ at }) => ms(at),
  )
  for (const [at, together] of [...byTime].toSorted(([a], [b]) => a - b)) {
    if (at > clock.now()) clock.set(new Date(at).toISOString())
    const entries = together.map(draftOf)
    await remit.writer.work(org.id, OPERATOR, () =>
      Promise.resolve({ entries, reply: () => undefined }),
    )
  }
}

const draftOf = ({
  at: _at,
  erased: _erased,
  data = {},
  actor = SYSTEM,
  ...said
}: EntryInput): EntryDraft => handMade({ ...said, actor, data })

/** An organization with a good quarter behind it, some days after its end. */
export async function createPlayed(options: ReportsOptions = {}): Promise<ReportsApi> {
  const api = await createReports(options)
  await play(api, goodLedger())
  api.clock.set(AFTER)
  return api
}

/** A quarter that was played once, for many installations. */
export interface PlayedQuarter {
  /** As `createPlayed`, in a copy of the database. */
  readonly create: (options?: ReportsOptions) => Promise<ReportsApi>
  readonly drop: () => Promise<unknown>
}

export async function playQuarter(dialect: Dialect): Promise<PlayedQuarter> {
  const { url, ...database } = await createDatabase(dialect)
  const { remit, org, ...played } = await createReports({ url })
  await play({ remit, org, ...played }, goodLedger())
  await remit.close()
  return {
    create: async (options) => {
      const copy = await copyDatabase(url)
      const clock = createClock(AFTER)
      const { signingKey } = remit
      const api = await createReports({ ...options, url: copy.url, clock, org, signingKey })
      const close = async () => {
        await api.remit.close()
        await copy.drop()
      }
      return { ...api, remit: { ...api.remit, close } }
    },
    drop: () => database.drop(),
  }
}
