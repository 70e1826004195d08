import { SettingError } from '@remit/core/module'
import { Turns } from '@remit/core/threads'
import { describe, expect, it } from 'vitest'
import { readJudges } from './judges.ts'

const env: Record<string, string> = { KEY: 'sk-1', BLANKS: 'sk-1 sk-2', BREAK: 'sk\n' }
const read = (file: unknown) =>
  readJudges({
    text: typeof file === 'string' ? file : JSON.stringify(file),
    variable: (name) => env[name],
  })
const judge = {
  provider: 'openai_compatible',
  base_url: 'https://api.example/v1',
  key_env: 'KEY',
  model: 'm',
}

/** The lines of the complaint. */
function faults(file: unknown): string[] {
  try {
    read(file)
  } catch (error) {
    if (error instanceof SettingError) return error.message.split('\n')
    throw error
  }
  throw new Error('it was accepted')
}

describe('the daily limit', () => {
  it('is 10,000 calls for each organization unless the file says otherwise', () => {
    expect(read({ judges: { main: judge } }).daily).toEqual({ calls: 10_000 })
    const priced = { ...judge, prices: { input: 1, output: 2 } }
    expect(
      read({
        judges: { main: priced },
        daily_per_organization: { calls: 5, cost_usd: 0.25 },
      }).daily,
    ).toEqual({ calls: 5, cost_usd: 0.25 })
  })

  it('of cost is refused where a judge has no prices', () => {
    const file = { judges: { main: judge }, daily_per_organization: { cost_usd: 1 } }

    expect(faults(file)).toEqual([
      'REMIT_JUDGES_FILE: judges.main.prices: are required for daily_per_organization.cost_usd',
    ])
  })

  it.each([
    [{ calls: -1 }, 'daily_per_organization.calls'],
    [{ calls: 1.5 }, 'daily_per_organization.calls'],
    [{ cost_usd: -1 }, 'daily_per_organization.cost_usd'],
    [{ usd: 1 }, 'daily_per_organization.usd'],
  ])('%j is refused, and the field named', (daily_per_organization, field) => {
    expect(faults({ judges: { main: judge }, daily_per_organization })[0]).toContain(
      `REMIT_JUDGES_FILE: ${field}: `,
    )
  })
})

describe('the file of judges', () => {
  it('requires only provider, address and model', () => {
    const { byAlias, byDefault } = read({ judges: { main: { ...judge, key_env: undefined } } })

    expect(byAlias.get('main')).toEqual({
      alias: 'main',
      provider: 'openai_compatible',
      base_url: 'https://api.example/v1',
      key: null,
      model: 'm',
      structured_output: ['json_schema', 'tool', 'json_object'],
      concurrency: 8,
      turns: expect.any(Turns),
    })
    expect(byDefault).toBe(byAlias.get('main'))
  })

  it('reads keys from the environment, and all settings of a judge', () => {
    const more = {
      ...judge,
      base_url: 'http://127.0.0.1:1234/v1/',
      prices: { input: 2, output: 8 },
      structured_output: 'tool',
      max_tokens_field: 'max_tokens',
      concurrency: 2,
      max_cost_usd: 3,
    }

    expect(read({ judges: { main: more } }).byDefault).toMatchObject({
      base_url: 'http://127.0.0.1:1234/v1',
      key: 'sk-1',
      prices: { input: 2, output: 8 },
      structured_output: ['tool'],
      max_tokens_field: 'max_tokens',
      concurrency: 2,
      max_cost_usd: 3,
    })
  })

  it('has a default where it names one; of several, none is it by itself', () => {
    expect(read({ judges: { a: judge, b: judge } }).byDefault).toBeNull()
    expect(read({ judges: { a: judge, b: judge }, default: 'b' }).byDefault?.alias).toBe('b')
  })

  it.each<[string, unknown, string[]]>([
    ['text that is not JSON', '{"judges": {sk-1', ['is not JSON']],
    ['a list', [], ['must be an object, not a list']],
    ['a list of judges', { judges: [] }, ['judges: must be an object, not a list']],
    ['a text that is no object', 'null', ['must be an object, not null']],
    [
      'a model that is missing, and what cannot be a number of requests',
      { judges: { a: { ...judge, model: undefined, concurrency: 'many' } } },
      [
        'judges.a.model: is required: a string',
        'judges.a.concurrency: must be a number, not a string',
      ],
    ],
    ['no judges', { judges: {} }, ['judges: must name at least one judge']],
    [
      'a default that is none',
      { judges: { a: judge }, default: 'b' },
      ['default: there is no judge "b"'],
    ],
    [
      'a key in the file',
      { judges: { a: { ...judge, api_key: 'sk-1' } } },
      ['judges.a.api_key: is not a known field'],
    ],
    [
      'a variable that is not set',
      { judges: { a: { ...judge, key_env: 'NONE' } } },
      ['judges.a.key_env: the variable NONE is not set'],
    ],
    [
      'a key with blanks',
      { judges: { a: { ...judge, key_env: 'BLANKS' }, b: { ...judge, key_env: 'BREAK' } } },
      [
        'judges.a.key_env: BLANKS contains spaces or non-ASCII characters',
        'judges.b.key_env: BREAK contains spaces or non-ASCII characters',
      ],
    ],
    [
      'a variable that the server would refuse',
      { judges: { a: { ...judge, key_env: 'REMIT_KEY' } } },
      [
        'judges.a.key_env: must be the name of an environment variable that does not start with REMIT_',
      ],
    ],
    [
      'a bad alias',
      { judges: { 'a b': judge } },
      [
        'judges.a b: its name must be 1 to 64 characters of A-Z, a-z, 0-9, . _ and -, starting with a letter or digit',
      ],
    ],
    [
      'a limit without prices',
      { judges: { a: { ...judge, max_cost_usd: 1 } } },
      ['judges.a.max_cost_usd: requires prices'],
    ],
    [
      'a field of another provider',
      { judges: { a: { ...judge, provider: 'anthropic', max_tokens_field: 'max_tokens' } } },
      ['judges.a.max_tokens_field: is only allowed for openai_compatible'],
    ],
  ])('refuses %s and says where', (_, file, messages) => {
    expect(faults(file)).toEqual(messages.map((message) => `REMIT_JUDGES_FILE: ${message}`))
  })

  it.each([
    'ftp://api.example',
    'api.example/v1',
    'https://user:sk-1@api.example/v1',
    'https://api.example/v1?key=sk-1',
    'https://api.example/v1#x',
  ])('refuses the address %s without showing it', (base_url) => {
    expect(faults({ judges: { a: { ...judge, base_url } } })).toEqual([
      'REMIT_JUDGES_FILE: judges.a.base_url: must be an http or https URL without user, password, query and fragment',
    ])
  })

  it('names every fault at once', () => {
    const file = { judges: { a: { ...judge, model: '' }, b: { ...judge, concurrency: 0 } }, x: 1 }

    expect(faults(file)).toHaveLength(3)
  })

  it('never shows a key', () => {
    const shown = faults({ judges: { a: { ...judge, key_env: 'BLANKS', max_cost_usd: 1 } } })

    expect(shown.join()).not.toContain('sk-')
  })
})
