import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ReportContent } from '@remit/contract'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import { fileArchive, pruneLedger } from '@remit/core/orgs'
import { apiOf, createClock, createTestRemit, readyReport, someDialects } from '@remit/testing'
import type { Api, TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import compliance from '../src/index.ts'
import type { EntryInput } from './support/by-hand.ts'
import {
  ADA,
  agent,
  APP,
  approvalRule,
  BO,
  change,
  credential,
  decision,
  key,
  policy,
} from './support/entries.ts'
import { play } from './support/reports.ts'

const LARGE = 'payments.large'

const BO_APPROVES = {
  approver: { type: 'person', id: 'bo@example.org', named: true },
  role: 'approver',
  key_id: BO.id,
  decision: 'approve',
  comment: null,
} as const

/** An entry about the request `apr_1`, which is open for days. */
function told(at: string, kind: string, approval: object = {}, data: object = {}): EntryInput {
  const request = {
    id: 'apr_1',
    status: 'pending',
    agent_id: 'payer',
    action: LARGE,
    requirements: [{ rule_id: 'large', required: 1 }],
    votes: [],
    requested_by: { type: 'key', id: APP.id, person: null },
    acting_for: null,
    requested_at: '2026-03-09T23:40:00.000Z',
    expires_at: '2026-03-20T00:00:00.000Z',
    decided_at: null,
    usable_until: null,
    ...approval,
  }
  return {
    at,
    kind: `approval.${kind}`,
    actor: APP,
    agent_id: 'payer',
    action: LARGE,
    data: { approval: request, ...data },
  }
}

const opened = (at: string, approval: object = {}, matched: object[] = []): EntryInput[] => [
  decision(at, {
    action: LARGE,
    decision: 'needs_approval',
    reason: 'approval_required',
    data: {
      matched: [...matched, { kind: 'approval_rule', id: 'large' }],
      approval: { id: 'apr_1', status: 'pending' },
    },
  }),
  told(at, 'requested', { requested_at: at, context: {}, ...approval }),
]

const answer = (at: string, status: string): object => ({
  status,
  votes: [{ ...BO_APPROVES, at }],
  decided_at: at,
  usable_until: status === 'approved' ? '2026-03-20T00:00:00.000Z' : null,
})

const decided = (at: string, status = 'approved'): EntryInput =>
  told(at, 'decided', answer(at, status), { vote: { ...BO_APPROVES, at } })

const allowed = (at: string, approval?: object): EntryInput =>
  decision(at, {
    action: LARGE,
    reason: approval ? 'approved' : 'policy_allow',
    ...(approval && { data: { approval } }),
  })

const used = (at: string): EntryInput[] => [
  allowed(at, { id: 'apr_1', status: 'consumed' }),
  told(at, 'consumed', { ...answer(at, 'approved'), status: 'consumed' }),
]

const expired = (at: string, approval: object = {}): EntryInput =>
  told(at, 'expired', { ...approval, status: 'expired' })

interface Case {
  readonly name: string
  readonly entries: readonly EntryInput[]
  /** The days before which everything is pruned, one after another. */
  readonly cuts?: readonly string[]
  readonly period?: readonly [from: string, to: string]
  /** Checks that fail, with and without the pruning. */
  readonly fails: readonly string[]
}

const CASES: readonly Case[] = [
  {
    name: 'a request from before the cut that an allow passes over',
    entries: [
      ...opened('2026-03-09T23:40:00.000Z'),
      change('2026-03-10T00:05:00.000Z', 'approval_rule.removed', {
        approval_rule: { id: 'large', enabled: true, actions: [LARGE] },
      }),
      allowed('2026-03-10T00:10:00.000Z'),
      expired('2026-03-10T23:40:00.000Z', { expires_at: '2026-03-10T23:40:00.000Z' }),
    ],
    fails: ['APR-1', 'APR-4', 'APR-6', 'CHG-4'],
  },
  {
    name: 'an approval from before the cut that is used after it',
    entries: [
      ...opened('2026-03-09T23:40:00.000Z'),
      decided('2026-03-09T23:50:00.000Z'),
      ...used('2026-03-10T00:10:00.000Z'),
    ],
    fails: [],
  },
  {
    name: 'a request that is pending at the cut and used later',
    entries: [
      ...opened('2026-03-09T23:40:00.000Z'),
      decided('2026-03-10T09:00:00.000Z'),
      ...used('2026-03-10T10:00:00.000Z'),
    ],
    fails: [],
  },
  {
    name: 'one that ran out before the cut and is recorded as such after it',
    entries: [
      ...opened('2026-03-08T12:00:00.000Z', { expires_at: '2026-03-09T12:00:00.000Z' }),
      allowed('2026-03-10T00:10:00.000Z'),
      expired('2026-03-10T00:20:00.000Z', { expires_at: '2026-03-09T12:00:00.000Z' }),
    ],
    fails: ['APR-1'],
  },
  {
    name: 'one that was closed before the cut, and so is passed over by nothing',
    entries: [
      ...opened('2026-03-09T12:00:00.000Z'),
      expired('2026-03-09T13:00:00.000Z', { expires_at: '2026-03-09T13:00:00.000Z' }),
      allowed('2026-03-10T00:10:00.000Z'),
    ],
    fails: [],
  },
  {
    name: 'an allow that rests on what was rejected before the cut',
    entries: [
      ...opened('2026-03-09T12:00:00.000Z'),
      decided('2026-03-09T13:00:00.000Z', 'rejected'),
      allowed('2026-03-10T00:10:00.000Z', { id: 'apr_1', status: 'consumed' }),
    ],
    fails: ['APR-1', 'APR-2'],
  },
  {
    name: 'a request over two cuts',
    entries: [
      ...opened('2026-03-09T23:40:00.000Z'),
      decided('2026-03-11T12:00:00.000Z'),
      ...used('2026-03-15T10:00:00.000Z'),
    ],
    cuts: ['2026-03-10', '2026-03-15'],
    period: ['2026-03-15', '2026-03-15'],
    fails: [],
  },
  {
    name: 'one that was closed between two cuts',
    entries: [
      ...opened('2026-03-09T23:40:00.000Z'),
      expired('2026-03-11T12:00:00.000Z'),
      allowed('2026-03-15T10:00:00.000Z'),
    ],
    cuts: ['2026-03-10', '2026-03-15'],
    period: ['2026-03-15', '2026-03-15'],
    fails: [],
  },
  {
    name: 'who wrote a policy by which a request came so far, and then approved it',
    entries: [
      change('2026-03-09T23:30:00.000Z', 'policy.created', { policy: { id: 'pol_bo' } }, BO),
      ...opened('2026-03-09T23:40:00.000Z', {}, [{ kind: 'policy', id: 'pol_bo' }]),
      decided('2026-03-10T00:10:00.000Z'),
    ],
    fails: ['CHG-3'],
  },
  {
    name: 'a credential that outlived its agent, removed before the cut',
    entries: [
      agent('2026-03-05T08:00:00.000Z', 'old'),
      credential('2026-03-05T09:00:00.000Z', 'cred_1', { agent_id: 'old' }),
      {
        ...change('2026-03-06T09:00:00.000Z', 'agent.removed', { revoked_credentials: [] }),
        agent_id: 'old',
      },
      change('2026-03-10T09:00:00.000Z', 'credential.revoked', { credential: { id: 'cred_1' } }),
    ],
    fails: ['ACC-4'],
  },
  {
    name: 'a credential that ended by a rotation, whose successor has ended too',
    entries: [
      credential('2026-03-05T09:00:00.000Z', 'cred_1', { expires_at: '2027-03-01T00:00:00.000Z' }),
      change('2026-03-06T09:00:00.000Z', 'credential.rotated', {
        credential: {
          id: 'cred_2',
          agent_id: 'payer',
          scopes: ['authorize'],
          expires_at: '2026-03-06T12:00:00.000Z',
        },
        rotated_from: { id: 'cred_1', expires_at: '2026-03-06T09:00:00.000Z' },
      }),
      decision('2026-03-09T12:00:00.000Z'),
      decision('2026-03-10T09:00:00.000Z'),
    ],
    fails: [],
  },
  {
    name: 'a policy that was tried before the cut and made after it',
    entries: [
      change('2026-03-09T20:00:00.000Z', 'policy.dry_run', { method: 'dry_run' }),
      policy('2026-03-10T08:00:00.000Z', 'pol_new'),
    ],
    fails: [],
  },
]

/** The first entries of every ledger. */
const BEGIN: readonly EntryInput[] = [
  key(ADA.id, 'admin', 'ada@example.org'),
  key(BO.id, 'approver', 'bo@example.org'),
  key(APP.id, 'authorize', null),
  agent('2026-03-01T00:01:00.000Z', 'payer'),
  policy('2026-03-01T00:02:00.000Z', 'pol_allow'),
  approvalRule('2026-03-01T00:03:00.000Z', 'large'),
  decision('2026-03-02T12:00:00.000Z'),
]

/** So that there is a decision to judge in what is left, and a neighbor to it. */
const LATER: readonly EntryInput[] = [
  decision('2026-03-10T22:00:00.000Z'),
  decision('2026-03-15T22:00:00.000Z'),
]

/** Metrics and checks that say how far the record reaches, or how much of it was verified. */
const OF_RECORD: ReadonlySet<string> = new Set('M02 M03 M04 M07 M08'.split(' '))
const SIZED: ReadonlySet<string> = new Set('LED-1 LED-2 LED-4 LED-7'.split(' '))

/** All that a report says of the period. */
function saidOf({ ledger, metrics, controls, ...rest }: ReportContent): object {
  const { verified_from_seq: _, ...ofPeriod } = ledger
  return {
    ...rest,
    ledger: ofPeriod,
    metrics: metrics.filter(({ id }) => !OF_RECORD.has(id)),
    controls: controls.map((control) => ({
      ...control,
      checks: control.checks.map((check) =>
        SIZED.has(check.id) ? { ...check, population: null, basis: null, days: null } : check,
      ),
    })),
  }
}

describe.each(someDialects())(
  'reports of a ledger that is pruned up to the period, on %s',
  (dialect) => {
    const clock = createClock('2026-03-01T00:00:00.000Z')
    const folder = mkdtempSync(join(tmpdir(), 'remit-carried-'))
    let remit: TestRemit
    let files = 0
    beforeAll(async () => {
      remit = await createTestRemit({ dialect, clock, modules: [compliance] })
    })
    afterAll(async () => {
      await remit.close()
      rmSync(folder, { recursive: true })
    })

    async function played(entries: readonly EntryInput[]): Promise<Api> {
      clock.set('2026-03-01T00:00:00.000Z')
      const api = apiOf(remit, await remit.organization('enterprise'))
      await play({ ...api, clock }, [...BEGIN, ...entries, ...LATER])
      clock.set('2028-01-01T00:00:00.000Z')
      return api
    }

    const prune = async ({ org }: Api, day: string) => {
      const pruned = await pruneLedger(
        { ...remit, clock, signer: createLedgerSigner(remit.signingKey) },
        org.id,
        {
          upTo: { before: Date.parse(day) },
          acknowledgeShortRetention: false,
          archive: fileArchive(join(folder, `${++files}.ndjson`)),
          reason: 'retention',
        },
      )
      expect(pruned).not.toBeNull()
    }

    test.each(CASES)(
      'say the same of $name',
      async ({
        entries,
        cuts = ['2026-03-10'],
        period: [from, to] = ['2026-03-10', '2026-03-10'],
        fails,
      }) => {
        const api = await played(entries)
        const report = async (): Promise<ReportContent> =>
          (await readyReport(api, { framework: 'eu_ai_act', from, to })).content
        const before = await report()
        const failing = new Set(
          before.findings.map(({ check }) => check).filter((check) => !check.startsWith('GRD')),
        )

        for (const day of cuts) await prune(api, day)
        const after = await report()

        expect([...failing].toSorted()).toEqual(fails)
        expect(saidOf(after)).toEqual(saidOf(before))
      },
    )
  },
)
