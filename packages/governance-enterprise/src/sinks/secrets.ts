import type { SinkTarget, SinkType } from '@remit/contract'
import { inPart, on } from '@remit/core/db'
import type { Deps, StoredSecrets } from '@remit/core/module'
import { SecretUnreadable } from '@remit/core/secrets'
import type { SecretBox } from '@remit/core/secrets'
import type { Tables } from '../tables/schema.ts'
import type { SinkRow } from '../tables/sinks.ts'
import { changeSink } from './store.ts'

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
