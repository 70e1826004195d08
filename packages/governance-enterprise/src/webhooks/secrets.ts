import { eachPart, inPart, on, SecretUnreadable } from '@remit/core'
import type { AnyDatabase, Deps, Part, Resealed, SecretBox } from '@remit/core'
import type { Tables } from '../tables/schema.ts'
import type { WebhookRow } from '../tables/webhooks.ts'
import { changeWebhook } from './webhooks-store.ts'

/** Secrets of a webhook that only its receiver should know. */
export interface WebhookSecrets {
  /** `whsec_` and base64. */
  readonly signing: string
  /** The query of the URL with its question mark, where receivers put tokens; may be empty. */
  readonly query: string
}

type Place = Pick<WebhookRow, 'org_id' | 'id'>

const placeOf = ({ org_id, id }: Place): string => `webhook/${org_id}/${id}/secret`

/** The columns `url` and `secret` of a webhook with that URL. */
export function sealedColumns(
  box: SecretBox,
  place: Place,
  { url, signing }: { readonly url: string; readonly signing: string },
): Pick<WebhookRow, 'url' | 'secret'> {
  const { origin, pathname, search } = new URL(url)
  const secrets: WebhookSecrets = { signing, query: search }
  return { url: origin + pathname, secret: box.seal(JSON.stringify(secrets), placeOf(place)) }
}

/** Rows from before encryption. */
const isPlain = ({ secret }: WebhookRow): boolean => secret.startsWith('whsec_')

/** The secrets of a row; null if no key of this process decrypts them. */
export function openSecrets(box: SecretBox, row: WebhookRow): WebhookSecrets | null {
  if (isPlain(row)) return { signing: row.secret, query: '' }
  try {
    return JSON.parse(box.open(row.secret, placeOf(row))) as WebhookSecrets
  } catch (error) {
    if (error instanceof SecretUnreadable) return null
    throw error
  }
}

/** The full URL; without its query if the secrets cannot be decrypted. */
export const fullUrl = (row: WebhookRow, secrets: WebhookSecrets | null): string =>
  row.url + (secrets?.query ?? '')

const PAGE = 200

/**
 * Encrypts the secrets of all webhooks with the current key. Safe to run concurrently in several
 * processes.
 */
export async function resealWebhooks(deps: Deps): Promise<Resealed> {
  const parts = await eachPart(
    deps.db,
    (part) => resealPart(deps, part),
    (error, organizations) =>
      deps.log.error({ err: error, organizations }, 'encrypting webhook secrets failed'),
  )
  return {
    resealed: sum(parts.map((part) => part.resealed)),
    unreadable: sum(parts.map((part) => part.unreadable)),
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

async function resealPart({ db, secrets: box, log }: Deps, part: Part): Promise<Resealed> {
  let resealed = 0
  let unreadable = 0
  let after: Place | null = null
  for (;;) {
    const rows = await pageAfter(db, part, after)
    for (const row of rows) {
      const secrets = openSecrets(box, row)
      if (secrets === null) {
        unreadable += 1
        log.error({ orgId: row.org_id, webhook: row.id }, 'decrypting a webhook secret failed')
        continue
      }
      if (box.isCurrent(row.secret)) continue
      const { signing } = secrets
      const sealed = sealedColumns(box, row, { url: fullUrl(row, secrets), signing })
      // Another process may have replaced it.
      if (await changeWebhook(db, row.org_id, row.id, sealed, { secret: row.secret })) resealed += 1
    }
    after = rows.at(-1) ?? null
    if (rows.length < PAGE || after === null) return { resealed, unreadable }
  }
}

function pageAfter(db: AnyDatabase, part: Part, after: Place | null): Promise<WebhookRow[]> {
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
