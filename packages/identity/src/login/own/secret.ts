import { inPart, on } from '@remit/core/db'
import type { Deps, StoredSecrets } from '@remit/core/module'
import type { SecretBox } from '@remit/core/secrets'
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

/** For a change of the key. */
export const loginSecrets = ({
  db,
  secrets: box,
}: Pick<Deps, 'db' | 'secrets'>): StoredSecrets<Pick<LoginProviderRow, 'org_id' | 'secret'>> => ({
  kind: 'login provider',
  rows: (part) =>
    on<Tables>(db)
      .selectFrom('login_provider')
      .select(['org_id', 'secret'])
      .where(inPart(part))
      .execute(),
  async reseal(row) {
    const text = openSecret(box, row)
    if (text === null || box.isCurrent(row.secret ?? '')) return false
    const { numUpdatedRows } = await on<Tables>(db)
      .updateTable('login_provider')
      .set({ secret: sealSecret(box, row.org_id, text) })
      .where('org_id', '=', row.org_id)
      .where('secret', '=', row.secret)
      .executeTakeFirst()
    return numUpdatedRows > 0n
  },
})
