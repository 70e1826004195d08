import { on, orgTable, inPart } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { SinkTarget, SinkType, RecordedSink, Sink } from '@remit/contract'
import type { Deps, StoredSecrets } from '@remit/core/module'
import { SecretUnreadable } from '@remit/core/secrets'
import type { SecretBox } from '@remit/core/secrets'
import type { Tables } from '../tables/schema.ts'
import type { SinkRow } from '../tables/sinks.ts'

const sinks = orgTable<Tables, 'sink'>('sink', 'id')

/** Ids sort by creation, and so does the list. */
export const {
  find: findSink,
  list: listSinks,
  count: countSinks,
  insert: insertSink,
  change: changeSink,
  remove: deleteSink,
} = sinks

/** The right of one process to send for a sink, for a limited time. */
export interface Claim {
  readonly holder: string
  readonly now: number
  readonly until: number
}

/** Claims a sink that is due; undefined while another process holds it. */
export const claimSink = (
  db: AnyDatabase,
  { org_id: orgId, id }: Pick<SinkRow, 'org_id' | 'id'>,
  { holder, now, until }: Claim,
): Promise<SinkRow | undefined> =>
  on<Tables>(db)
    .updateTable('sink')
    .set({ holder, held_until: until })
    .where('org_id', '=', orgId)
    .where('id', '=', id)
    .where('enabled', '=', 1)
    .where('retry_at', '<=', now)
    .where((of) => of.or([of('holder', '=', holder), of('held_until', '<=', now)]))
    .returningAll()
    .executeTakeFirst()

/**
 * Stores the result of an attempt that began at `row`. Undefined if the sink was changed or claimed by
 * another process in the meantime: then nothing is stored, and entries may be sent again.
 */
export const settleSink = (
  db: AnyDatabase,
  { org_id: orgId, id, holder, next_seq: from }: SinkRow,
  result: Partial<SinkRow>,
): Promise<SinkRow | undefined> => changeSink(db, orgId, id, result, { holder, next_seq: from })

/** A target as the client gave it. */
export interface WholeTarget {
  readonly url: string
  readonly ca?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly token?: string
  readonly index?: string
  readonly endpoint: string
  readonly bucket: string
  readonly prefix?: string
  readonly region: string
  readonly access_key_id: string
  readonly secret_access_key: string
}

/** Members of a target that are encrypted and never shown. */
type Secrets = Pick<Partial<WholeTarget>, 'headers' | 'token' | 'secret_access_key'>

type Place = Pick<SinkRow, 'org_id' | 'id'>

const placeOf = ({ org_id, id }: Place): string => `sink/${org_id}/${id}/secret`

/** The columns `target` and `secret` of a sink with that target. */
export function sealedTarget(
  box: SecretBox,
  place: Place,
  { headers, token, secret_access_key, ...shown }: Partial<WholeTarget>,
): Pick<SinkRow, 'target' | 'secret'> {
  const target: SinkTarget = { ...shown, ...(headers && { header_names: Object.keys(headers) }) }
  const secrets = JSON.stringify({ headers, token, secret_access_key })
  return { target: JSON.stringify(target), secret: box.seal(secrets, placeOf(place)) }
}

/** The whole target of a sink; null if no key of this process decrypts its secrets. */
export function openTarget(box: SecretBox, row: SinkRow): WholeTarget | null {
  try {
    const secrets = JSON.parse(box.open(row.secret, placeOf(row))) as Secrets
    return { ...(JSON.parse(row.target) as WholeTarget), ...secrets }
  } catch (error) {
    if (error instanceof SecretUnreadable) return null
    throw error
  }
}

/** The URL of a target: for an object store, that of its bucket's endpoint. */
export const urlOfTarget = (type: SinkType, { url, endpoint }: WholeTarget): string =>
  type === 's3' ? endpoint : type === 'syslog' ? url.replace(/^syslog\+tls:/i, 'https:') : url

/** For a change of the key. */
export const sinkSecrets = ({
  db,
  secrets: box,
}: Pick<Deps, 'db' | 'secrets'>): StoredSecrets<SinkRow> => ({
  kind: 'sink',
  rows: (part) => on<Tables>(db).selectFrom('sink').selectAll().where(inPart(part)).execute(),
  async reseal(row) {
    const text = box.open(row.secret, placeOf(row))
    if (box.isCurrent(row.secret)) return false
    const secret = box.seal(text, placeOf(row))
    const { secret: before } = row
    return (await changeSink(db, row.org_id, row.id, { secret }, { secret: before })) !== undefined
  },
})

/** A sink in an entry: without secrets, and without its progress. */
export const recordedSink = (row: SinkRow): RecordedSink => ({
  id: row.id,
  type: row.type,
  target: JSON.parse(row.target) as SinkTarget,
  format: row.format,
  kinds: row.kinds === null ? null : (JSON.parse(row.kinds) as string[]),
  description: row.description,
  enabled: row.enabled === 1,
  created_at: row.created_at,
  created_by: row.created_by,
  updated_at: row.updated_at,
})

/** A sink in API form; `size` is the number of entries in the ledger. */
export const wireSink = (row: SinkRow, size: number): Sink => ({
  ...recordedSink(row),
  state: row.enabled === 0 ? 'paused' : row.error_code === null ? 'streaming' : 'retrying',
  watermark_seq: row.next_seq === 0 ? null : row.next_seq - 1,
  lag_entries: Math.max(0, size - row.next_seq),
  last_sent_at: row.sent_at,
  last_error:
    row.error_code === null
      ? null
      : { code: row.error_code, status: row.error_status, at: row.error_at ?? row.updated_at },
})
