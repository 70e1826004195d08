import { parseJson } from '@remit/contract/json'
import { fieldErrors, FOR_FIELD_ERRORS, isoTime } from '@remit/core/base'
import { SettingError } from '@remit/core/module'
import type { JudgesSource, Deps } from '@remit/core/module'
import { Turns } from '@remit/core/threads'
import { z } from 'zod'
import { bulkInsert, Cleanup, deleteInBatches, orgTable } from '@remit/core/db'
import { sql } from 'kysely'
import type { Tables } from '../../tables/schema.ts'
import type { JudgeCall } from './plan.ts'
import type { VerdictShape } from './verdict.ts'

/** The methods to request an answer of a given shape. */
const FORMS = ['json_schema', 'tool', 'json_object'] as const
export type JsonForm = (typeof FORMS)[number]

const Alias = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error: 'must be 1 to 64 characters of A-Z, a-z, 0-9, . _ and -, starting with a letter or digit',
})
const Price = z.number().min(0).max(10_000)
/** USD per million tokens. */
const Prices = z.strictObject({ input: Price, output: Price, cached_input: Price.optional() })
export type Prices = Readonly<z.output<typeof Prices>>

/** The settings of one judge in the operator's file. */
export const JudgeSettings = z.strictObject({
  provider: z.enum(['openai_compatible', 'anthropic']),
  base_url: z
    .string()
    .refine(isBaseUrl, 'must be an http or https URL without user, password, query and fragment')
    .transform((url) => url.replace(/\/+$/, '')),
  key_env: z
    .string()
    .regex(/^(?!REMIT_)[A-Za-z_][A-Za-z0-9_]*$/, {
      error: 'must be the name of an environment variable that does not start with REMIT_',
    })
    .optional(),
  model: z.string().min(1).max(256),
  prices: Prices.optional(),
  structured_output: z
    .enum(['auto', ...FORMS])
    .default('auto')
    .transform((form): readonly [JsonForm, ...JsonForm[]] => (form === 'auto' ? FORMS : [form])),
  max_tokens_field: z.enum(['max_completion_tokens', 'max_tokens']).optional(),
  concurrency: z.int().min(1).max(256).default(8),
  max_cost_usd: z.number().positive().max(1e6).optional(),
})

/** The daily (UTC) limit of each organization. */
export const DailySettings = z.strictObject({
  calls: z.int().min(0).max(1e9).default(10_000),
  cost_usd: z.number().min(0).max(1e6).optional(),
})

const JudgesFile = z.strictObject({
  judges: z
    .record(Alias, JudgeSettings)
    .refine((judges) => Object.keys(judges).length > 0, 'must name at least one judge'),
  default: z.string().optional(),
  daily_per_organization: DailySettings.prefault({}),
})
type JudgesFile = z.output<typeof JudgesFile>

/** A configured model, ready to be called. */
export interface Judge extends Readonly<z.output<typeof JudgeSettings>> {
  readonly alias: string
  /** Null if the server requires none. Never in logs, responses or the ledger. */
  readonly key: string | null
  /**
   * Queues the calls of this process, whose runs take turns. The size is halved when the server
   * reports too many calls, and grows by one after each success.
   */
  readonly turns: Turns<object>
  /** The JSON form that the server accepted. */
  acceptedForm?: JsonForm
}

export interface Judges {
  readonly byAlias: ReadonlyMap<string, Judge>
  /** The judge of requests that name none. */
  readonly byDefault: Judge | null
  readonly daily: Readonly<z.output<typeof DailySettings>>
}

export const NO_JUDGES: Judges = {
  byAlias: new Map(),
  byDefault: null,
  daily: DailySettings.parse({}),
}

function isBaseUrl(text: string): boolean {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return false
  return url.username + url.password + url.search + url.hash === ''
}

/** Reads the judges file. Throws `SettingError` with every invalid field; never shows a key. */
export function readJudges(source: JudgesSource): Judges {
  const file = parseJson(source.text)
  // The parser's own message would quote the text, which may contain a key.
  if (file === undefined) throw faulty(['is not JSON'])
  const { data, error } = JudgesFile.safeParse(file, FOR_FIELD_ERRORS)
  const faults = error
    ? fieldErrors(error.issues).map(({ path, message }) => `${path}: ${message}`.replace(/^: /, ''))
    : [...faultsOf(data, source)]
  if (!data || faults.length > 0) throw faulty(faults)
  const judges = Object.entries(data.judges).map(([alias, settings]): Judge => {
    const { key_env: name, concurrency: size } = settings
    const key = name === undefined ? null : (source.variable(name) ?? null)
    return { ...settings, alias, key, turns: new Turns({ size, each: size }) }
  })
  const name = data.default ?? (judges.length === 1 ? judges[0]?.alias : undefined)
  return {
    byAlias: new Map(judges.map((judge) => [judge.alias, judge])),
    byDefault: judges.find(({ alias }) => alias === name) ?? null,
    daily: data.daily_per_organization,
  }
}

const faulty = (faults: readonly string[]): SettingError =>
  new SettingError(faults.map((fault) => `REMIT_JUDGES_FILE: ${fault}`).join('\n'))

/** The faults of a file in which every field has the right shape. */
function* faultsOf(file: JudgesFile, source: JudgesSource): Generator<string> {
  const { judges, default: byDefault, daily_per_organization: daily } = file
  for (const [alias, { key_env: name, ...judge }] of Object.entries(judges)) {
    const at = `judges.${alias}`
    const key = name === undefined ? 'none' : source.variable(name)
    if (!key) yield `${at}.key_env: the variable ${name} is not set`
    else if (!/^[\x21-\x7e]+$/.test(key))
      yield `${at}.key_env: ${name} contains spaces or non-ASCII characters`
    if (judge.max_cost_usd !== undefined && !judge.prices)
      yield `${at}.max_cost_usd: requires prices`
    if (judge.max_tokens_field && judge.provider === 'anthropic')
      yield `${at}.max_tokens_field: is only allowed for openai_compatible`
    if (daily.cost_usd !== undefined && !judge.prices)
      yield `${at}.prices: are required for daily_per_organization.cost_usd`
  }
  if (byDefault !== undefined && !Object.hasOwn(judges, byDefault))
    yield `default: there is no judge ${JSON.stringify(byDefault)}`
}

type CacheDeps = Pick<Deps, 'db' | 'clock' | 'log'>

const DAY_MS = 24 * 60 * 60 * 1000
const VERDICT_DAYS = 7
const COUNT_DAYS = 35
const COLUMNS = { org_id: 'text', cache_key: 'text', verdict: 'text', created_at: 'text' } as const

const { list } = orgTable<Tables, 'judge_verdict'>('judge_verdict', 'cache_key')

const daysAgo = ({ clock }: CacheDeps, days: number): string => isoTime(clock.now() - days * DAY_MS)

/** Gives calls their stored verdicts of the last seven days, if they still fit. */
export async function readCached(
  deps: CacheDeps,
  orgId: string,
  calls: readonly JudgeCall[],
  shape: VerdictShape,
): Promise<void> {
  const rows = await list(deps.db, orgId, { where: { cache_key: calls.map(({ key }) => key) } })
  const oldest = daysAgo(deps, VERDICT_DAYS)
  const valid = rows.filter(({ created_at }) => created_at > oldest)
  const texts = new Map(valid.map(({ cache_key, verdict }) => [cache_key, verdict]))
  for (const call of calls) call.verdict = shape.readCached(texts.get(call.key))
}

/** Stores new verdicts. A failure is logged, and the verdict is requested again next time. */
export async function storeVerdicts(
  { db, clock, log }: CacheDeps,
  org_id: string,
  calls: readonly JudgeCall[],
): Promise<void> {
  const created_at = isoTime(clock.now())
  const rows = calls.flatMap(({ key: cache_key, verdict }) =>
    verdict ? { org_id, cache_key, verdict: JSON.stringify(verdict), created_at } : [],
  )
  // Equal results of a request have equal keys, and a statement writes a row only once.
  const byKey = new Map(rows.map((row) => [row.cache_key, row]))
  const replacing = `on conflict (org_id, cache_key) do update
    set verdict = excluded.verdict, created_at = excluded.created_at`
  await bulkInsert(db, 'judge_verdict', COLUMNS, [...byKey.values()], replacing).catch(
    (error: unknown) => log.error({ err: error }, 'storing judge verdicts failed'),
  )
}

/** Deletes old verdicts, and old counts of the daily limit. */
export const judgeCleanup = (deps: CacheDeps): Cleanup =>
  new Cleanup(deps, 'judge verdicts', async (part, signal) => {
    await deleteInBatches(deps.db, part, signal, {
      table: 'judge_day',
      key: ['org_id', 'day'],
      where: sql`day < ${daysAgo(deps, COUNT_DAYS).slice(0, 10)}`,
    })
    await deleteInBatches(deps.db, part, signal, {
      table: 'judge_verdict',
      key: ['org_id', 'cache_key'],
      where: sql`created_at <= ${daysAgo(deps, VERDICT_DAYS)}`,
    })
  })
