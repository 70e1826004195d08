import { createPrivateKey } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LedgerEntryRow } from '@remit/core/db'
import { lane } from '@remit/core/ledger/lanes'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import { OPERATOR } from '@remit/core/orgs'
import { createTestRemit } from '@remit/testing'
import Database from 'better-sqlite3'
import { createInstallation } from './installation.ts'
import { alternate, median, ratio } from './report.ts'
import type { Result } from './report.ts'
import { ENTRY } from './requests.ts'

const BATCH = 100
const BATCHES = 200

/** A lane that writes the given drafts. */
const draftsLane = lane<EntryDraft, void>('bench', (works) =>
  Promise.resolve({
    outcomes: works.map(({ job }) => ({ entries: [job], reply: () => undefined })),
  }),
)

const draft = (i: number): EntryDraft => ({
  kind: 'entry.appended',
  actor: { type: 'agent', id: ENTRY.agent_id },
  agent_id: ENTRY.agent_id,
  action: ENTRY.action,
  resource: ENTRY.resource,
  data: { metadata: ENTRY.metadata, outcome: ENTRY.outcome, trace_id: `trace-${i}` },
})

/** Entries through the writer, in process, against plain inserts of the same rows, both durable. */
export async function appendSuite(rounds: number): Promise<Result[]> {
  const installation = await createInstallation('sqlite')
  const remit = await createTestRemit({
    url: installation.databaseUrl,
    signingKey: createPrivateKey(installation.signingKey),
  })
  const { id } = await remit.organization()
  const ours = () =>
    perSecond(async () => {
      for (let batch = 0; batch < BATCHES; batch++) {
        const drafts = Array.from({ length: BATCH }, (_, i) => draft(i))
        await Promise.all(drafts.map((job) => remit.writer.submit(draftsLane, id, job, OPERATOR)))
      }
    })
  await ours()
  const sample = await remit.db
    .selectFrom('ledger_entry')
    .selectAll()
    .where('seq', '>', 10)
    .limit(BATCH)
    .execute()
  const raw = new RawTable(sample)
  const values = await alternate(rounds, {
    raw: () => perSecond(async () => raw.insert(BATCHES)),
    ours,
  })
  raw.close()
  await remit.close()
  await installation.remove()
  return [
    {
      name: 'append in process, batches of 100, sqlite, of raw inserts',
      value: ratio(values.ours, values.raw),
      goal: { atLeast: 0.55 },
      detail: `${Math.round(median(values.ours))} against ${Math.round(median(values.raw))} entries/s`,
    },
  ]
}

async function perSecond(work: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await work()
  return (BATCH * BATCHES * 1000) / (performance.now() - started)
}

/** The same table and indexes, written by the driver alone. */
class RawTable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'remit-bench-'))
  readonly #file = new Database(join(this.#folder, 'raw.db'))
  readonly #rows: readonly LedgerEntryRow[]
  readonly #insert: Database.Transaction
  #seq = 0

  constructor(rows: readonly LedgerEntryRow[]) {
    this.#rows = rows
    const names = Object.keys(rows[0] ?? {})
    this.#file.pragma('journal_mode = WAL')
    this.#file.pragma('synchronous = FULL')
    this.#file.pragma('wal_autocheckpoint = 4000')
    const columns = names.map((name) => `${name} ${name === 'seq' ? 'integer' : 'text'}`).join(', ')
    this.#file.exec(`create table ledger_entry (${columns}, primary key (org_id, seq))`)
    this.#file.exec('create index ledger_entry_of_agent on ledger_entry (org_id, agent_id, seq)')
    const insert = this.#file.prepare(
      `insert into ledger_entry (${names.join(', ')}) values (${names.map((name) => `@${name}`).join(', ')})`,
    )
    this.#insert = this.#file.transaction(() => {
      for (const row of this.#rows) insert.run({ ...row, seq: this.#seq++ })
    })
  }

  insert(batches: number): void {
    for (let batch = 0; batch < batches; batch++) this.#insert()
  }

  close(): void {
    this.#file.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
