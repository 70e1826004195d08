import type { Receipt } from '@remit/contract'
import type { Draft } from '../../src/ledger/format/draft.ts'
import { lane } from '../../src/ledger/write/work.ts'
import { OPERATOR } from '../../src/orgs/administration.ts'
import { handMade } from '@remit/testing'
import type { TestClock, TestRemit } from '@remit/testing'

/** A decision as the server records it, varied by `n`; every third is a denial. */
export const decisionDraft = (n: number): Draft => ({
  kind: 'authorization.decided',
  actor: { type: 'key', id: `key_${n % 7}` },
  agent_id: `agent-${n % 5}`,
  action: n % 2 === 0 ? 'payments.transfer' : 'say "hello"\\',
  resource: n % 4 === 0 ? null : `invoice:${n}`,
  decision: n % 3 === 0 ? 'deny' : 'allow',
  reason: n % 3 === 0 ? 'spend_limit_daily' : 'default_allow',
  data: { context: { decision: 'allow', vendor: 'Müller & Söhne 😀', n }, decision_id: `dec_${n}` },
})

/** Writes the drafts of a piece as they are, and answers with their receipts. */
export const draftLane = lane<readonly Draft[], readonly Receipt[]>('drafts', (works) =>
  Promise.resolve({
    outcomes: works.map(({ job }) => ({
      entries: job.map(handMade),
      reply: (recorded) => recorded.map(({ receipt }) => receipt),
    })),
  }),
)

/** Entries in one commit of their own; the answer has one signed note a receipt. */
export const append = (
  remit: Pick<TestRemit, 'writer'>,
  orgId: string,
  drafts: readonly Draft[],
): Promise<readonly Receipt[]> =>
  remit.writer.submit(draftLane, orgId, drafts, { ...OPERATOR, wantsNote: true })

/** The signed note of a receipt that was asked for with one. */
function noteOf(receipt: Receipt | undefined): string {
  const checkpoint = receipt?.checkpoint
  if (typeof checkpoint !== 'string') throw new TypeError('The receipt has no note')
  return checkpoint
}

/**
 * Lets a ledger grow to `size` entries by commits of ten, `stepMs` apart; returns the signed note of
 * each commit by its size.
 */
export async function grow(
  remit: Pick<TestRemit, 'writer' | 'ledger'>,
  orgId: string,
  size: number,
  clock: TestClock,
  stepMs = 100,
): Promise<Map<number, string>> {
  const notes = new Map<number, string>()
  for (let at = (await remit.ledger.head(orgId)).size; at < size;) {
    const count = Math.min(10, size - at)
    const drafts = Array.from({ length: count }, (_, i) => decisionDraft(at + i))
    clock.advance(stepMs)
    const receipts = await append(remit, orgId, drafts)
    at += count
    notes.set(at, noteOf(receipts.at(-1)))
  }
  return notes
}
