import { fieldErrors, FOR_FIELD_ERRORS, SettingError } from '@remit/core'
import type { JudgesSource } from '@remit/core'
import { z } from 'zod'

/** The methods to request an answer of a given shape. */
export const FORMS = ['json_schema', 'tool', 'json_object'] as const
export type JsonForm = (typeof FORMS)[number]

/** A configured model, ready to be called. */
export interface Judge {
  readonly alias: string
  readonly provider: 'openai_compatible' | 'anthropic'
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** Null if the server requires none. Never in logs, responses or the ledger. */
  readonly key: string | null
  readonly model: string
  readonly prices: Prices | null
  /** The forms to try, in order; the first accepted one is cached. */
  readonly forms: readonly JsonForm[]
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens'
  readonly concurrency: number
  /** The maximum cost of one request; null for no limit. */
  readonly maxCostUsd: number | null
}

/** USD per million tokens. */
export interface Prices {
  readonly input: number
  readonly output: number
  readonly cachedInput: number
}

/** The judges of an installation. */
export interface Judges {
  readonly byAlias: ReadonlyMap<string, Judge>
  /** The judge of requests that name none. */
  readonly byDefault: Judge | null
  /** The daily (UTC) limit of each organization. */
  readonly daily: DailyLimit
}

export interface DailyLimit {
  readonly calls: number
  /** Integer micro-USD; null for no limit. */
  readonly costMicro: number | null
}

/** The default daily calls of each organization. */
const DAILY_CALLS = 10_000

export const NO_JUDGES: Judges = {
  byAlias: new Map(),
  byDefault: null,
  daily: { calls: DAILY_CALLS, costMicro: null },
}

const Alias = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must be 1 to 64 characters of A-Z, a-z, 0-9, . _ and -, starting with a letter or digit',
  )
const Price = z.number().min(0).max(10_000)

/** The settings of one judge in the operator's file. */
export const JudgeSettings = z.strictObject({
  provider: z.enum(['openai_compatible', 'anthropic']),
  base_url: z
    .string()
    .refine(isBaseUrl, 'must be an http or https URL without user, password, query and fragment'),
  key_env: z
    .string()
    .regex(/^(?!REMIT_)[A-Za-z_][A-Za-z0-9_]*$/, {
      error: 'must be the name of an environment variable that does not start with REMIT_',
    })
    .optional(),
  model: z.string().min(1).max(256),
  prices: z
    .strictObject({ input: Price, output: Price, cached_input: Price.optional() })
    .optional(),
  structured_output: z.enum(['auto', ...FORMS]).default('auto'),
  max_tokens_field: z.enum(['max_completion_tokens', 'max_tokens']).optional(),
  concurrency: z.int().min(1).max(256).default(8),
  max_cost_usd: z.number().positive().max(1e6).optional(),
})

/** The settings of the limit of each organization. */
export const DailySettings = z.strictObject({
  calls: z.int().min(0).max(1e9).default(DAILY_CALLS),
  cost_usd: z.number().min(0).max(1e6).optional(),
})

const JudgesFile = z.strictObject({
  judges: z
    .record(Alias, JudgeSettings)
    .refine((judges) => Object.keys(judges).length > 0, 'must name at least one judge'),
  default: z.string().optional(),
  daily_per_organization: DailySettings.optional(),
})

function isBaseUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username + url.password + url.search + url.hash === ''
  )
}

/** Reads the judges file. Throws `SettingError` with every invalid field; never shows a key. */
export function readJudges(source: JudgesSource): Judges {
  const { data, error } = JudgesFile.safeParse(parse(source.text), FOR_FIELD_ERRORS)
  if (error)
    throw faulty(
      fieldErrors(error.issues).map(({ path, message }) =>
        path === '' ? message : `${path}: ${message}`,
      ),
    )
  const faults: string[] = []
  const judges = Object.entries(data.judges).map(([alias, settings]) => {
    const key = settings.key_env === undefined ? null : (source.variable(settings.key_env) ?? '')
    const at = `judges.${alias}`
    if (key === '') faults.push(`${at}.key_env: the variable ${settings.key_env} is not set`)
    else if (key !== null && !/^[\x21-\x7e]+$/.test(key)) {
      faults.push(`${at}.key_env: ${settings.key_env} contains spaces or non-ASCII characters`)
    }
    if (settings.max_cost_usd !== undefined && !settings.prices)
      faults.push(`${at}.max_cost_usd: requires prices`)
    if (settings.max_tokens_field && settings.provider === 'anthropic')
      faults.push(`${at}.max_tokens_field: is only allowed for openai_compatible`)
    return toJudge(alias, settings, key)
  })
  const byAlias = new Map(judges.map((judge) => [judge.alias, judge]))
  const only = judges.length === 1 ? judges[0] : undefined
  const byDefault = data.default === undefined ? only : byAlias.get(data.default)
  if (data.default !== undefined && !byDefault)
    faults.push(`default: there is no judge ${JSON.stringify(data.default)}`)
  const { calls = DAILY_CALLS, cost_usd: cost } = data.daily_per_organization ?? {}
  const unpriced = judges.filter(({ prices }) => prices === null)
  if (cost !== undefined)
    faults.push(
      ...unpriced.map(
        ({ alias }) => `judges.${alias}.prices: are required for daily_per_organization.cost_usd`,
      ),
    )
  if (faults.length > 0) throw faulty(faults)
  const costMicro = cost === undefined ? null : Math.floor(cost * 1e6)
  return { byAlias, byDefault: byDefault ?? null, daily: { calls, costMicro } }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, which may contain a key.
    throw faulty(['is not JSON'])
  }
}

const faulty = (faults: readonly string[]): SettingError =>
  new SettingError(faults.map((fault) => `REMIT_JUDGES_FILE: ${fault}`).join('\n'))

function toJudge(
  alias: string,
  settings: z.output<typeof JudgeSettings>,
  key: string | null,
): Judge {
  const { prices, structured_output: form } = settings
  return {
    alias,
    provider: settings.provider,
    baseUrl: settings.base_url.replace(/\/+$/, ''),
    key,
    model: settings.model,
    prices: prices
      ? {
          input: prices.input,
          output: prices.output,
          cachedInput: prices.cached_input ?? prices.input,
        }
      : null,
    forms: form === 'auto' ? FORMS : [form],
    maxTokensField: settings.max_tokens_field ?? 'max_completion_tokens',
    concurrency: settings.concurrency,
    maxCostUsd: settings.max_cost_usd ?? null,
  }
}
