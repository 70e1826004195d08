import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generateKey } from '@remit/core/keys'
import { describe, expect, test } from 'vitest'
import { ignoredNames, readConfig, sortNames } from '../src/settings/config.ts'
import { ConfigError, ENVIRONMENT } from '../src/settings/environment.ts'
import { itemsOf } from './support/markdown.ts'

const ROOT = resolve(import.meta.dirname, '../../..')

const messageOf = (env: Record<string, string>): string => {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  throw new Error('it was accepted')
}

describe('docs/configuration.md', () => {
  const text = readFileSync(resolve(ROOT, 'docs/configuration.md'), 'utf8')

  test('has a row for every variable, with its default and meaning, and no others', () => {
    const defaults = ENVIRONMENT.parse({}) as Readonly<
      Record<string, string | number | boolean | undefined>
    >
    const rows = itemsOf(text).filter(({ term }) => term.startsWith('`REMIT_'))
    const shown = (value: string | number | boolean | undefined) =>
      value === undefined
        ? 'none'
        : `\`${typeof value === 'boolean' ? Number(value) : String(value)}\``

    expect(rows).toEqual(
      Object.entries(ENVIRONMENT.shape).map(([name, { description }]) => ({
        term: `\`${name}\``,
        detail: `default ${shown(defaults[name])}`,
        text: description,
      })),
    )
  })
})

test('a name that documentation, SDKs, examples or deployment files use is a setting or is silent', () => {
  const folders = '{docs,sdks,examples,deploy,packages/sdk/src}/**'
  const files = globSync([folders, '{.,apps/*,packages/*}/README.md'], {
    cwd: ROOT,
    exclude: ['**/node_modules', '**/__pycache__'],
    withFileTypes: true,
  })
  const names = files
    .filter((file) => file.isFile())
    .flatMap(
      (file) => readFileSync(join(file.parentPath, file.name), 'utf8').match(/REMIT_\w+/g) ?? [],
    )
  const { nearMisses, unknown } = sortNames(
    Object.fromEntries(names.map((name) => [name, 'x'])),
    Object.keys(ENVIRONMENT.shape),
  )
  expect({ nearMisses, unknown }).toEqual({ nearMisses: [], unknown: [] })
  expect(names).toContain('REMIT_IMAGE')
})

describe('readConfig', () => {
  test('needs nothing', () => {
    expect(readConfig({})).toMatchObject({
      REMIT_DATABASE_URL: 'sqlite:./data/remit.db',
      REMIT_HOST: '127.0.0.1',
      REMIT_PORT: 8080,
      REMIT_EVALUATION: false,
    })
  })

  test('takes what it is given, and an empty value for none', () => {
    const { secret } = generateKey()
    const env = {
      REMIT_PORT: '0',
      REMIT_EVALUATION: '1',
      REMIT_BOOTSTRAP_KEY: secret,
      REMIT_METRICS_PORT: '',
      REMIT_LOG_LEVEL: '',
    }

    expect(readConfig(env)).toMatchObject({
      REMIT_PORT: 0,
      REMIT_EVALUATION: true,
      REMIT_BOOTSTRAP_KEY: secret,
      REMIT_LOG_LEVEL: 'info',
    })
    expect(readConfig(env)).not.toHaveProperty('REMIT_METRICS_PORT')
  })

  test('takes several origins of pages', () => {
    const { REMIT_CORS_ORIGINS: origins } = readConfig({
      REMIT_CORS_ORIGINS: 'https://app.example.org, http://localhost:5173',
    })

    expect(origins).toEqual(['https://app.example.org', 'http://localhost:5173'])
  })

  test('leaves the variables of others alone', () => {
    const env = {
      REMIT_KEY: 'rmk_x',
      REMIT_API_KEY: 'rmk_x',
      REMIT_URL: 'http://localhost:8080',
      REMIT_WEBHOOK_SECRET: 'whsec_x',
      REMIT_CREDENTIAL: 'rmc_x',
      REMIT_TEST_DATABASE_URL: 'x',
      PATH: '/bin',
    }

    expect(readConfig(env)).toEqual(readConfig({}))
    expect(ignoredNames(env)).toEqual([])
  })

  test.each([
    ['REMIT_PORT', '65536', 'must be a whole number from 0 to 65535'],
    ['REMIT_PORT', '-1', 'must be a whole number from 0 to 65535'],
    ['REMIT_PORT', '80.5', 'must be a whole number from 0 to 65535'],
    ['REMIT_EVALUATION', 'yes', 'must be 0 or 1'],
    ['REMIT_BASE_URL', 'remit.example.com', 'must be an http or https URL'],
    ['REMIT_LOG_LEVEL', 'loud', 'must be fatal, error, warn, info, debug, trace or silent'],
    ['REMIT_RATE_LIMIT', '1e3', 'must be a whole number from 0 to 1000000'],
    ...[
      '*',
      'app.example.org',
      'https://app.example.org/',
      'https://a.example https://b.example',
    ].map((value) => [
      'REMIT_CORS_ORIGINS',
      value,
      'must be origins such as https://app.example.org, separated by commas, without a path or *',
    ]),
    ['REMIT_SPEND_DEADLINE_MS', '0', 'must be a whole number from 1 to 10000'],
    [
      'REMIT_BOOTSTRAP_ORG',
      'org_1',
      'must be 1 to 128 printable characters without outer blanks, not beginning with org_',
    ],
  ])('refuses %s=%s, saying what was given and what is accepted', (name, value, accepted) => {
    expect(messageOf({ [name]: value })).toBe(`${name} ${accepted}; given: "${value}"`)
  })

  test.each([
    ['REMIT_DATABASE_URL', 'mysql://u:swordfish@h/d'],
    ['REMIT_DATABASE_URL', 'postgres://u:sword%fish@h/d'],
    ['REMIT_DATABASE_URL', 'sqlite:'],
    ['REMIT_SPEND_URL', 'ftp://u:swordfish@h'],
    ['REMIT_GUARD_MODEL_URL', 'https://u:swordfish@h'],
    ['REMIT_BOOTSTRAP_KEY', 'rmk_swordfish'],
    ['REMIT_BOOTSTRAP_KEY', `${generateKey().secret.slice(0, -6)}000000`],
  ])('refuses a bad %s without showing it', (name, value) => {
    expect(messageOf({ [name]: value })).toMatch(
      new RegExp(`^${name} must be .+; given: \\(not shown\\)$`),
    )
  })

  test('names every bad value at once', () => {
    expect(
      messageOf({ REMIT_PORT: 'x', REMIT_HOST: 'ok', REMIT_EVALUATION: 'x' }).split('\n'),
    ).toHaveLength(2)
  })

  test.each([
    ['REMIT_LISENSE_KEY', 'REMIT_LICENSE_KEY'],
    ['REMIT_PROT', 'REMIT_PORT'],
    ['REMIT_DATABASE', 'REMIT_DATABASE_URL'],
    ['REMIT_USAGE_SINK_KEY', 'REMIT_USAGE_SINK_KEY_FILE'],
    // Three letters from REMIT_BASE_URL.
    ['REMIT_SPEE_URL', 'REMIT_SPEND_URL'],
    ['REMIT_BASE_URI', 'REMIT_BASE_URL'],
    ['REMIT_METRIC_PORT', 'REMIT_METRICS_PORT'],
    ['REMIT_ALLOW_LOOPBACK_TARGET', 'REMIT_ALLOW_LOOPBACK_TARGETS'],
  ])('refuses %s, which is nearly %s, whatever its value', (name, setting) => {
    expect(messageOf({ [name]: 'swordfish' })).toBe(
      `${name} is not a setting; did you mean ${setting}?`,
    )
  })

  test.each([
    ['REMIT_PORT', 'tcp://10.96.0.7:80'],
    ['REMIT_METRICS_PORT', 'tcp://10.96.0.8:9090'],
    ['REMIT_DNS_PORT', 'udp://10.96.0.9:53'],
    ['REMIT_SERVICE_HOST', '10.96.0.7'],
    ['REMIT_SERVICE_PORT', '80'],
    ['REMIT_SERVICE_PORT_HTTP', '80'],
    ['REMIT_PORT_80_TCP', 'tcp://10.96.0.7:80'],
    ['REMIT_PORT_80_TCP_PROTO', 'tcp'],
    ['REMIT_PORT_80_TCP_PORT', '80'],
    ['REMIT_PORT_80_TCP_ADDR', '10.96.0.7'],
    ['REMIT_METRICS_PORT_9090_TCP_ADDR', '10.96.0.8'],
    ['REMIT_POSTGRES_SERVICE_HOST', '10.96.0.10'],
    ['REMIT_POSTGRES_PORT', 'tcp://10.96.0.10:5432'],
  ])('leaves %s=%s alone, which Kubernetes sets for a Service', (name, value) => {
    expect(readConfig({ [name]: value })).toEqual(readConfig({}))
    expect(ignoredNames({ [name]: value })).toEqual([])
  })

  test.each([
    ['REMIT_PORT', 'tcp:/10.96.0.7'],
    ['REMIT_BASE_URL', 'tcp://10.96.0.7:80'],
  ])('refuses %s=%s, which no Service sets', (name, value) => {
    expect(messageOf({ [name]: value })).toContain(name)
  })

  test('ignores a name that is like no setting, and says so', () => {
    const env = { REMIT_FLAVOUR: 'vanilla', REMIT_PORT: '0' }

    expect(readConfig(env)).toMatchObject({ REMIT_PORT: 0 })
    expect(ignoredNames(env)).toEqual([
      'REMIT_FLAVOUR is ignored: unknown setting; see docs/configuration.md',
    ])
  })

  test('refuses one port for both', () => {
    expect(messageOf({ REMIT_METRICS_PORT: '8080' })).toContain('REMIT_METRICS_PORT')
    expect(readConfig({ REMIT_PORT: '0', REMIT_METRICS_PORT: '0' })).toMatchObject({
      REMIT_METRICS_PORT: 0,
    })
  })
})
