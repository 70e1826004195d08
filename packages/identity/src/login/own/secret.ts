import { eachPart, inPart, on, SecretUnreadable } from '@remit/core'
import type { Deps, Resealed, SecretBox } from '@remit/core'
import type { LoginProviderRow } from '../../tables/login.ts'
import type { Tables } from '../../tables/schema.ts'

const placeOf = (orgId: string): string => `login_provider/${orgId}/secret`

export const sealSecret = (box: SecretBox, orgId: string, secret: string): string =>
  box.seal(secret, placeOf(orgId))

/** The secret of the client; null for a public client. Throws `SecretUnreadable`. */
export const openSecret = (
  box: SecretBox,
  { org_id, secret }: Pick<LoginProviderRow, 'org_id' | 'secret'>,
): string | null => (secret === null ? null : box.open(secret, placeOf(org_id)))

/** Encrypts the secrets of all providers with the current key. */
export async function resealProviders({ db, secrets: box, log }: Deps): Promise<Resealed> {
  const parts = await eachPart(
    db,
    (part) =>
      on<Tables>(db)
        .selectFrom('login_provider')
        .select(['org_id', 'secret'])
        .where(inPart(part))
        .where('secret', 'is not', null)
        .orderBy('org_id')
        .execute(),
    (error, organizations) =>
      log.error({ err: error, organizations }, 'reading the secrets of OpenID clients failed'),
  )
  const rows = parts.flat()
  let resealed = 0
  let unreadable = 0
  for (const row of rows) {
    const { org_id: orgId, secret } = row
    if (secret === null || box.isCurrent(secret)) continue
    const text = readable(box, row)
    if (text === null) {
      unreadable += 1
      log.error({ orgId }, 'decrypting the secret of an OpenID client failed')
      continue
    }
    const { numUpdatedRows } = await on<Tables>(db)
      .updateTable('login_provider')
      .set({ secret: sealSecret(box, orgId, text) })
      .where('org_id', '=', orgId)
      .where('secret', '=', secret)
      .executeTakeFirst()
    resealed += Number(numUpdatedRows)
  }
  return { resealed, unreadable }
}

function readable(box: SecretBox, row: Pick<LoginProviderRow, 'org_id' | 'secret'>): string | null {
  try {
    return openSecret(box, row)
  } catch (error) {
    if (error instanceof SecretUnreadable) return null
    throw error
  }
}
