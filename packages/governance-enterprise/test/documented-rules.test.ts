import { readdirSync, readFileSync } from 'node:fs'
import { setSettings } from '@remit/core/orgs'
import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compileCondition, ConditionError } from '../src/rules/condition.ts'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const ROOT = new URL('../../../', import.meta.url)
/** Where people copy conditions from: pages, examples, templates and texts of the console. */
const PLACES: readonly (readonly [folder: string, files: RegExp])[] = [
  ['', /^[^/]*\.(?:md|json)$/],
  ['docs', /\.md$/],
  ['examples', /^(?!test\/|node_modules\/).*\.(?:md|ts|json|ya?ml|py)$/],
  ['deploy', /\.(?:md|json|ya?ml|tpl)$/],
  ['apps/console/src', /\.tsx?$/],
  ['apps/console/scripts', /\.ts$/],
  ['apps/mcp', /^(?:README\.md|src\/.*\.ts)$/],
  ['packages/contract/src', /^(?!.*\.test\.).*\.ts$/],
  ['packages/sdk', /^(?:README\.md|src\/(?!.*\.test\.).*\.ts)$/],
  ['sdks/python', /^(?!.*(?:\.venv|site-packages)).*\.(?:md|py)$/],
]
/** Show open conditions to warn of them, in running text. */
const WARNS = new Set([
  'docs/conditions.md',
  'docs/writing-rules.md',
  'docs/adr/0050-one-amount-in-conditions.md',
])

const MEMBER = /\bcondition["']?\s*[:=]\s*(?:("|')((?:\\.|(?!\1)[^\\\n])*)\1|`((?:\\.|[^`\\$])*)`)/g
const PLACEHOLDER = /placeholder\([^']*'((?:\\.|[^'\\])*)'(?:\s*:\s*'((?:\\.|[^'\\])*)')?/g
const CEL_BLOCK = /^```cel\n([\s\S]*?)^```/gm
const IN_TEXT = /`([^`\n]*(?:\bhas\(| in context\b)[^`\n]*)`/g
const BLOCK = /^[ \t]*```[\s\S]*?^[ \t]*```/gm

const unescaped = (text: string) => text.replaceAll(/\\(["'`\\])/g, '$1')

function conditionsIn(file: string, text: string): string[] {
  const members = [...text.matchAll(MEMBER)].map(([, , quoted, literal]) => quoted ?? literal ?? '')
  const placeholders = [...text.matchAll(PLACEHOLDER)].flatMap(([, ...shown]) =>
    shown.filter((one) => one !== undefined),
  )
  const lines = [...text.matchAll(CEL_BLOCK)].flatMap(([, block = '']) => block.trim().split('\n'))
  const spans =
    file.endsWith('.md') && !WARNS.has(file)
      ? [...text.replaceAll(BLOCK, '').matchAll(IN_TEXT)].map(([, span = '']) => span)
      : []
  return [...members, ...placeholders, ...lines, ...spans].map(unescaped)
}

const TRUST = {
  source: 'record',
  target: 'record',
  action: 'string',
  context: 'record',
  now: 'timestamp',
} as const

/** The requests that a deny or approval rule with a condition lets pass; null if it is no condition. */
function openIn(condition: string): string[] | null {
  for (const variables of [undefined, TRUST])
    try {
      return compileCondition(condition, variables).warnings.deny.filter((text) =>
        text.includes('passes this rule'),
      )
    } catch (error) {
      if (!(error instanceof ConditionError)) throw error
    }
  return null
}

const documented = PLACES.flatMap(([folder, files]) =>
  readdirSync(new URL(`${folder}/`.replace(/^\/$/, './'), ROOT), {
    recursive: folder !== '',
    withFileTypes: false,
  })
    .map(String)
    .filter((file) => files.test(file) && !file.includes('node_modules'))
    .map((file) => (folder === '' ? file : `${folder}/${file}`)),
).flatMap((file) =>
  conditionsIn(file, readFileSync(new URL(file, ROOT), 'utf8')).map((condition) => ({
    file,
    condition,
  })),
)

describe('the conditions of documentation, examples and console', () => {
  it('are found', () => {
    const files = new Set(documented.map(({ file }) => file))

    expect(documented.length).toBeGreaterThan(30)
    for (const file of ['openapi.json', 'docs/conditions.md', 'docs/tutorial.md', 'docs/mcp.md'])
      expect(files).toContain(file)
    expect([...files].some((file) => file.startsWith('apps/console/src/pages'))).toBe(true)
    expect(files).toContain('apps/console/src/editor/condition-editor.tsx')
  })

  it('let no request pass that lacks what they compare', () => {
    const open = documented.flatMap(({ file, condition }) =>
      (openIn(condition) ?? []).map((warning) => `${file}: ${condition}: ${warning}`),
    )

    expect(open).toEqual([])
  })

  it('read the amount as amount_usd', () => {
    const spelled = documented.filter(({ condition }) =>
      /(?<![\w.])context\.(?:amount|amount_usd)\b/.test(condition),
    )

    expect(spelled).toEqual([])
  })

  it('show an open one wherever it is written', () => {
    const open = 'has(context.n) && context.n > 5'
    const ways = [
      `\`\`\`sh\n-d '{"condition":"${open}"}'\n\`\`\``,
      `\`\`\`json\n{ "condition": "${open}" }\n\`\`\``,
      `\`\`\`yaml\ncondition: '${open}'\n\`\`\``,
      `\`\`\`ts\nconst body = { condition: \`${open}\` }\n\`\`\``,
      `\`\`\`py\nrule(condition="${open}")\n\`\`\``,
      `\`\`\`cel\naction == 'a'\n${open}\n\`\`\``,
      `Write \`${open}\`.`,
      `Write \`'n' in context && context.n > 5\`.`,
      `placeholder('${open}')`,
    ]

    for (const text of ways)
      expect([text, conditionsIn('a.md', text).flatMap((one) => openIn(one) ?? []).length]).toEqual(
        [text, 1],
      )
  })
})

describe.each(someDialects())('docs/writing-rules.md on %s', (dialect) => {
  let root: Api
  const examples = [
    ...readFileSync(new URL('docs/writing-rules.md', ROOT), 'utf8').matchAll(
      /^```json\n([\s\S]*?)^```/gm,
    ),
  ].map(([, block = '']) => JSON.parse(block) as Record<string, unknown>)
  beforeAll(async () => {
    root = await createApi({ dialect })
  })
  afterAll(() => root.remit.close())

  /** Stores an example in an organization of its own, and returns how it decides. */
  async function rule(at: number, settings: Parameters<typeof setSettings>[2] = {}) {
    const api = root.as(await root.remit.organization())
    const body = examples[at - 1] ?? {}
    const { warnings } =
      'effect' in body
        ? await api.ok('createPolicy', { body })
        : await api.ok('setApprovalRule', { params: { id: 'rule' }, body })
    expect(warnings).toEqual([])
    await setSettings(root.remit.writer, api.org.id, settings)
    return async (context?: object, action = (body['actions'] as string[])[0], more = {}) => {
      const name = action?.replace('*', 'transfer')
      const request = { agent_id: 'payer', action: name, context, ...more }
      const { decision, reason } = await api.ok('authorize', { body: request })
      return `${decision} ${reason}`
    }
  }

  it('has five examples', () => {
    expect(examples).toHaveLength(5)
  })

  it('1: a deny that compares denies what lacks the member, or has another type', async () => {
    const ask = await rule(1)

    expect(await ask({ recipients: 50 })).toBe('deny policy_deny')
    expect(await ask({ recipients: 2 })).toBe('allow default_allow')
    for (const context of [undefined, {}, { recipients: null }, { recipients: '50' }])
      expect(await ask(context)).toBe('deny policy_error')
  })

  it('2: a deny of amounts knows both spellings, and denies what has none or an invalid one', async () => {
    const ask = await rule(2)

    for (const context of [
      { amount_usd: 1005 },
      { amount: 1005 },
      { amount: 1005, currency: 'USD' },
    ])
      expect(await ask(context)).toBe('deny policy_deny')
    expect(await ask({ amount: 5 })).toBe('allow default_allow')
    for (const context of [
      undefined,
      {},
      { amount: '1005' },
      { amount: -1 },
      { amount: 1, amount_usd: 1005 },
      { amount: 5, currency: 'EUR' },
    ])
      expect(await ask(context)).toBe('deny policy_error')
  })

  it('3: an approval rule asks where the member is missing', async () => {
    const ask = await rule(3)

    expect(await ask({ attachments: ['a'] })).toBe('allow default_allow')
    for (const context of [
      undefined,
      {},
      { attachments: ['a', 'b', 'c', 'd'] },
      { attachments: 5 },
    ])
      expect(await ask(context)).toBe('needs_approval approval_required')
  })

  it('4: a deny of arguments denies without them, and if they are no map', async () => {
    const ask = await rule(4)
    const about = (context: object | undefined) =>
      ask(context, 'tools/call', { resource: 'tool:deploy' })

    expect(await about({ args: { branch: 'fix/a' } })).toBe('allow default_allow')
    for (const context of [{ args: { branch: 'release/2' } }, { args: {} }])
      expect(await about(context)).toBe('deny policy_deny')
    for (const context of [
      undefined,
      {},
      { args: ['release/2'] },
      { args: '{"branch":"release/2"}' },
    ])
      expect(await about(context)).toMatch(/^deny policy_(?:deny|error)$/)
    expect(await about({ args: { branch: ['release/2'] } })).toBe('deny policy_error')
  })

  it('5: an allow matches what it knows, and the default denies the rest', async () => {
    const ask = await rule(5, { default_effect: 'deny' })

    for (const context of [
      { amount: 5, payee: 'acme' },
      { amount_usd: 100, payee: 'bolt' },
    ])
      expect(await ask(context)).toBe('allow policy_allow')
    for (const context of [
      undefined,
      { amount: 5 },
      { payee: 'acme' },
      { amount: 101, payee: 'acme' },
      { amount: -5, payee: 'acme' },
      { amount: '5', payee: 'acme' },
      { amount: 5, payee: 'evil' },
      { amount: 5, payee: ['acme'] },
    ])
      expect(await ask(context)).toBe('deny default_deny')
    expect(await ask({ amount: 5, payee: 'acme' }, 'mail.send')).toBe('deny default_deny')
  })
})
