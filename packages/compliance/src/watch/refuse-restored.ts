import { readData } from '@remit/contract/entries'
import { on, organizationIds } from '@remit/core/db'
import type { AnyDatabase, CoreTables } from '@remit/core/db'
import { sizeOfNote } from '@remit/core/ledger/proofs'
import { SettingError } from '@remit/core/module'
import type { Deps } from '@remit/core/module'
import { dataIn } from '../facts/entry.ts'
import { readNotes } from './checkpoint-files.ts'

type CheckDeps = Pick<Deps, 'db' | 'ledger' | 'log' | 'settings'>

/**
 * Throws `SettingError` if a checkpoint outside the database is ahead of a ledger: a backup was
 * restored, and new entries would contradict receipts of the lost ones. An entry `ledger.recovered`
 * about the loss permits the start.
 */
export async function refuseRestored({ db, ledger, log, settings }: CheckDeps): Promise<void> {
  const { checkpointDir } = settings
  if (checkpointDir === undefined) return
  const behind: string[] = []
  for (const id of await organizationIds(db)) {
    try {
      const { size } = await ledger.head(id)
      const { notes } = await readNotes(checkpointDir, id)
      const ahead = notes.map((note) => sizeOfNote(note) ?? 0).filter((kept) => kept > size)
      const losses = ahead.length > 0 ? await recordedLosses(db, id) : []
      const isKnown = (kept: number) =>
        losses.some(
          ({ from_seq: from, to_seq: to }) =>
            from !== null && to !== null && from < kept && kept <= to + 1,
        )
      const most = Math.max(0, ...ahead.filter((kept) => !isKnown(kept)))
      if (most > 0) behind.push(`${id} has ${size} entries, a checkpoint has ${most}`)
    } catch (error) {
      log.error({ err: error, orgId: id }, 'comparing a ledger with its saved checkpoints failed')
    }
  }
  if (behind.length > 0)
    throw new SettingError(
      `REMIT_CHECKPOINT_DIR is ahead of the database: ${behind.join('; ')}. If a backup was restored, record the loss with \`remit ledger recover\` and start again`,
    )
}

/** The losses that entries `ledger.recovered` record. */
async function recordedLosses(db: AnyDatabase, orgId: string) {
  const rows = await on<CoreTables>(db)
    .selectFrom('ledger_entry')
    .select('payload')
    .where('org_id', '=', orgId)
    .where('kind', '=', 'ledger.recovered')
    .execute()
  return rows.flatMap(({ payload }) => readData('ledger.recovered', dataIn(payload)).lost ?? [])
}
