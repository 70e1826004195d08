import { on, orgTable, inPart } from '@remit/core/db'
import type { AnyDatabase, Part } from '@remit/core/db'
import type { Deps, StoredSecrets } from '@remit/core/module'
import { SecretUnreadable } from '@remit/core/secrets'
import type { SecretBox } from '@remit/core/secrets'
import type { Tables } from '../tables/schema.ts'
import type { WebhookRow } from '../tables/webhooks.ts'

const webhooks = orgTable<Tables, 'webhook'>('webhook', 'id')

/** Ids sort by creation, and so does the list. */
export const {
  find: findWebhook,
  list: listWebhooks,
  count: countWebhooks,
  insert: insertWebhook,
} = webhooks

/** Disables a webhook; undefined if it does not exist or is already disabled. */
export const disableWebhook = (
  db: AnyDatabase,
  orgId: string,
  id: string,
  change: { disabled_reason: string; updated_at: string },
): Promise<WebhookRow | undefined> =>
  webhooks.change(db, orgId, id, { enabled: 0, ...change }, { enabled: 1 })

export async function deleteWebhook(
  db: AnyDatabase,
  orgId: string,
  id: string,
): Promise<WebhookRow | undefined> {
  await on<Tables>(db)
    .deleteFrom('webhook_delivery')
    .where('org_id', '=', orgId)
    .where('webhook_id', '=', id)
    .execute()
  return webhooks.remove(db, orgId, id)
}

/** Secrets of a webhook that only its receiver should know. */
export interface WebhookSecrets {
  /** `whsec_` and base64. */
  readonly signing: string
  /**
   * The query of the URL with its question mark, where receivers put tokens; may be empty. For a chat also
   * the path before it, which is its token.
   */
  readonly query: string
}

type Place = Pick<WebhookRow, 'org_id' | 'id' | 'format'>

const placeOf = ({ org_id, id }: Pick<WebhookRow, 'org_id' | 'id'>): string =>
  `webhook/${org_id}/${id}/secret`

/** The columns `url` and `secret` of a webhook with that URL. */
export function sealedColumns(
  box: SecretBox,
  place: Place,
  { url, signing }: { readonly url: string; readonly signing: string },
): Pick<WebhookRow, 'url' | 'secret'> {
  const { shown, query } = partsOf(url, place.format)
  const secrets: WebhookSecrets = { signing, query }
  return { url: shown, secret: box.seal(JSON.stringify(secrets), placeOf(place)) }
}

function partsOf(url: string, format: WebhookRow['format']) {
  if (format === 'email') return { shown: url, query: '' }
  const { origin, pathname, search } = new URL(url)
  return format === null || format === 'standard'
    ? { shown: origin + pathname, query: search }
    : { shown: origin, query: pathname + search }
}

/** Rows from before encryption. */
const isPlain = ({ secret }: WebhookRow): boolean => secret.startsWith('whsec_')

/** The secrets of a row; throws `SecretUnreadable`. */
const secretsOf = (box: SecretBox, row: WebhookRow): WebhookSecrets =>
  isPlain(row)
    ? { signing: row.secret, query: '' }
    : (JSON.parse(box.open(row.secret, placeOf(row))) as WebhookSecrets)

/** The secrets of a row; null if no key of this process decrypts them. */
export function openSecrets(box: SecretBox, row: WebhookRow): WebhookSecrets | null {
  try {
    return secretsOf(box, row)
  } catch (error) {
    if (error instanceof SecretUnreadable) return null
    throw error
  }
}

/** The full URL; without its query if the secrets cannot be decrypted. */
export const fullUrl = (row: WebhookRow, secrets: WebhookSecrets | null): string =>
  row.url + (secrets?.query ?? '')

const PAGE = 200

/** For a change of the key. */
export const webhookSecrets = ({
  db,
  secrets: box,
}: Pick<Deps, 'db' | 'secrets'>): StoredSecrets<WebhookRow> => ({
  kind: 'webhook',
  rows: (part) => allRows(db, part),
  async reseal(row) {
    const secrets = secretsOf(box, row)
    if (box.isCurrent(row.secret)) return false
    const { signing } = secrets
    const sealed = sealedColumns(box, row, { url: fullUrl(row, secrets), signing })
    const { secret } = row
    return (await webhooks.change(db, row.org_id, row.id, sealed, { secret })) !== undefined
  },
})

async function* allRows(db: AnyDatabase, part: Part): AsyncGenerator<WebhookRow> {
  let after: WebhookRow | null = null
  do {
    const rows = await pageAfter(db, part, after)
    yield* rows
    after = rows[PAGE - 1] ?? null
  } while (after)
}

function pageAfter(db: AnyDatabase, part: Part, after: WebhookRow | null): Promise<WebhookRow[]> {
  let query = on<Tables>(db)
    .selectFrom('webhook')
    .selectAll()
    .where(inPart(part))
    .orderBy('org_id')
    .orderBy('id')
  if (after) {
    const { org_id: orgId, id } = after
    query = query.where((of) =>
      of.or([of('org_id', '>', orgId), of.and([of('org_id', '=', orgId), of('id', '>', id)])]),
    )
  }
  return query.limit(PAGE).execute()
}
