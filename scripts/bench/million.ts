import type { LedgerEntryRow } from '@remit/core/db'
import { lane } from '@remit/core/ledger/lanes'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import { createChainVerifier, verifyDatabase } from '@remit/core/ledger/records'
import { OPERATOR } from '@remit/core/orgs'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { alternate, median, quantile, ratio } from '@remit/testing/bench'
import type { Result } from '@remit/testing/bench'
import { ENTRY } from './requests.ts'

const PAGE = 1_000

const draftsLane = lane<EntryDraft, void>('bench', (works) =>
  Promise.resolve({
    outcomes: works.map(({ job }) => ({ entries: [job], reply: () => undefined })),
  }),
)

/** A ledger of `entries` on SQLite: verification against reading, proofs, memory. */
export async function millionSuite(entries: number, rounds: number): Promise<Result[]> {
  const remit = await createTestRemit()
  const { id } = await remit.organization()
  await grow(remit, id, Math.floor(entries / 10))
  const before = settledMemory()
  await grow(remit, id, entries - Math.floor(entries / 10))
  const after = settledMemory()

  const values = await alternate(rounds, {
    read: () => perCpuSecond(entries, () => readAll(remit, id, () => undefined)),
    // Starting at the second entry without a frontier, there is no tree to compare.
    chain: () => perCpuSecond(entries, () => verifyAll(remit, id, { size: 1 })),
    tree: () => perCpuSecond(entries, () => verifyAll(remit, id)),
    whole: () => perCpuSecond(entries, () => verifyDatabase(remit.db, id)),
  })
  const proofs: number[] = []
  for (let i = 0; i < 500; i++) {
    const started = performance.now()
    await remit.ledger.proof(id, Math.floor(Math.random() * entries))
    proofs.push(performance.now() - started)
  }
  await remit.close()
  return [
    verification('the chain', values.chain, values.read, { atLeast: 0.45 }),
    verification('the chain with its Merkle root', values.tree, values.read, { atLeast: 0.33 }),
    verification('also copies, nodes, checkpoints', values.whole, values.read, null),
    {
      name: `inclusion proof at ${entries} entries, p99`,
      value: quantile(proofs, 0.99),
      unit: ' ms',
      goal: { below: 10 },
      detail: `p50 ${median(proofs).toFixed(2)} ms`,
    },
    {
      name: `memory after ${entries} entries, of after a tenth`,
      value: after / before,
      goal: { below: 1.25 },
      detail: `${Math.round(after / 2 ** 20)} MiB resident`,
    },
  ]
}

async function grow(remit: TestRemit, orgId: string, entries: number): Promise<void> {
  for (let done = 0; done < entries; done += 512) {
    const jobs = Array.from({ length: Math.min(512, entries - done) }, (_, i): EntryDraft => ({
      kind: 'entry.appended',
      actor: { type: 'agent', id: `agent-${i % 50}` },
      agent_id: `agent-${i % 50}`,
      action: ENTRY.action,
      data: { metadata: ENTRY.metadata, trace_id: `trace-${done + i}` },
    }))
    await Promise.all(jobs.map((job) => remit.writer.submit(draftsLane, orgId, job, OPERATOR)))
  }
}

function verification(
  what: string,
  values: readonly number[],
  read: readonly number[],
  goal: Result['goal'],
): Result {
  const detail = `${Math.round(median(values))} against ${Math.round(median(read))} entries/cpu-s`
  return { name: `verify ${what}, of reading`, value: ratio(values, read), goal, detail }
}

async function verifyAll(remit: TestRemit, orgId: string, start?: { size: number }): Promise<void> {
  const verifier = createChainVerifier({ org_id: orgId, ...(start && { start }) })
  await readAll(remit, orgId, (row) => {
    if (row.seq >= (start?.size ?? 0)) verifier.entry(row)
  })
  const { error_count } = verifier.finish({ stopped: true })
  if (error_count > 0) throw new Error(`the ledger does not verify: ${error_count} errors`)
}

/** Reads the pages that verification reads. */
async function readAll(
  { db }: TestRemit,
  orgId: string,
  see: (row: LedgerEntryRow) => void,
): Promise<void> {
  for (let seq = -1; ;) {
    const page = await db
      .selectFrom('ledger_entry')
      .selectAll()
      .where('org_id', '=', orgId)
      .where('seq', '>', seq)
      .orderBy('seq')
      .limit(PAGE)
      .execute()
    const last = page.at(-1)
    if (!last) return
    for (const row of page) see(row)
    seq = last.seq
  }
}

async function perCpuSecond(entries: number, work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (entries * 1e6) / (user + system)
}

function settledMemory(): number {
  globalThis.gc?.()
  return process.memoryUsage().rss
}
