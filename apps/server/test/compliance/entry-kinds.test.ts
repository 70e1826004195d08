import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { NOT_CARRIED } from '@remit/core/ledger/records'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { live } from './life.ts'
import type { Life } from './life.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const PAGE = readFileSync(join(ROOT, 'docs/entry-kinds.md'), 'utf8')

interface Documented {
  readonly kind: string
  readonly always: readonly string[]
  readonly sometimes: readonly string[]
}

/** Items of the page's lists: kind, when, members of `data`. What is in parentheses is about a member. */
const DOCUMENTED: ReadonlyMap<string, Documented> = new Map(
  PAGE.replaceAll(/\n {2,4}(?=\S)/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const [, kind, , data = ''] =
        /^- `([a-z_]+\.[a-z_]+)`(: .*?)?(?: - `data`: (.*))?$/.exec(line) ?? []
      if (kind === undefined) return []
      const [members = ''] = data.replaceAll(/\([^)]*\)/g, '').split(': `')
      const names = [...members.matchAll(/`([a-z_0-9]+)(\??)`/g)]
      const named = (mark: string) =>
        names.filter(([, , one]) => one === mark).map(([, name]) => name!)
      return [[kind, { kind, always: named(''), sometimes: named('?') }]]
    }),
)

/** Members that belong to one of two forms of an entry, in words of the page. */
const EITHER: ReadonlySet<string> = new Set(['policy.dry_run'])

const sources = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(ROOT, folder, name), 'utf8').replaceAll(/^ \* .*$/gm, ''))

/** Kinds that the source gives to entries, as it spells them. */
const SPELLED = [/kind: '([a-z_]+\.[a-z_]+)'/g, /entryOf\(\s*'([a-z_]+\.[a-z_]+)'/g]
const WRITTEN = ['core', 'governance-enterprise', 'identity', 'compliance']
  .map((name) => `packages/${name}/src`)
  // The community edition has only the first.
  .filter((folder) => existsSync(join(ROOT, folder)))
  .flatMap(sources)
  .flatMap((text) => SPELLED.flatMap((form) => [...text.matchAll(form)].map(([, kind]) => kind!)))

describe.skipIf(!hasModules())('docs/entry-kinds.md', () => {
  it('has every kind that the source spells', () => {
    expect(WRITTEN.length).toBeGreaterThan(30)
    for (const kind of WRITTEN) expect([...DOCUMENTED.keys()], kind).toContain(kind)
  })

  it('lists what pruning does not carry over', () => {
    const [, listed = ''] = /These kinds are not carried over: (.*?)\. Neither/s.exec(PAGE) ?? []
    expect([...listed.matchAll(/`([^`]+)`/g)].map(([, kind]) => kind)).toEqual([...NOT_CARRIED])
  })
})

describe.skipIf(!hasModules())('entries of a driven server', () => {
  let life: Life
  beforeAll(async () => {
    life = await live()
  }, 300_000)
  afterAll(() => life.close())

  it('hold what the page says, no more and no less', () => {
    for (const { kind, seq, data } of life.entries) {
      const page = DOCUMENTED.get(kind)
      expect(page, kind).toBeDefined()
      const members = Object.keys(data ?? {})
      const known = [...page!.always, ...page!.sometimes]
      expect(known, `${seq} ${kind}`).toEqual(expect.arrayContaining(members))
      const missing = page!.always.filter((name) => !members.includes(name))
      expect(EITHER.has(kind) ? [] : missing, `${seq} ${kind}`).toEqual([])
    }
  })

  it('are of every kind but those that a test of their own has', () => {
    const seen = new Set(life.entries.map(({ kind }) => kind))
    expect([...DOCUMENTED.keys()].filter((kind) => !seen.has(kind)).toSorted()).toEqual([
      'guard.counted',
      'issuer.fetch_failed',
      'ledger.erased',
      'ledger.heartbeat',
      'ledger.key_rotated',
      'ledger.pruned',
      'ledger.recovered',
      'organization.deleted',
      'person.sign_in_refused',
      'person.signed_in',
      'person.signed_out',
      'quota.threshold',
      'report.generated',
      'spend.rebuilt',
      'state.carried',
      'webhook.disabled',
      'witness.set',
    ])
  })

  it('hold whole objects: what is changed is there as the API shows it', async () => {
    const of = (kind: string) => life.entries.find((entry) => entry.kind === kind)?.data ?? {}
    const { organization } = of('organization.created') as { organization: object }
    // A count is no part of what an entry keeps.
    const { ledger: _, decisions_this_month: __, ...shown } = await life.api.ok('getOrganization')

    expect(Object.keys(organization).toSorted()).toEqual(Object.keys(shown).toSorted())
    const { key } = of('key.created') as { key: object }
    const { data: keys } = await life.api.ok('listKeys')
    expect(keys).toContainEqual(key)
    expect(of('key.revoked')).toMatchObject({
      key: { role: 'read', revoked_at: expect.any(String) },
    })
    expect(of('spend_limit.removed')).toMatchObject({ spend_limit: { daily_usd: 10 } })
    expect(of('token.exchanged')).toMatchObject({
      scopes: ['authorize'],
      expires_at: expect.any(String),
    })
  })

  it('name the person of the key that made the change', () => {
    for (const kind of [
      'policy.created',
      'policy.deleted',
      'agent.updated',
      'credential.revoked',
    ]) {
      const entry = life.entries.find((one) => one.kind === kind)
      expect(entry?.data, kind).toMatchObject({ person: 'ada@example.org' })
    }
  })
})
