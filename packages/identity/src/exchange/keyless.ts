import type { TokenRequest } from '@remit/contract'
import { eachPart } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import { settingsOf } from '@remit/core/orgs/settings'
import { findOrganizations } from '../issuers/store.ts'
import { audiencesOf, issuerOf } from './claims.ts'
import { TokenRefusal } from './refusal.ts'
import { readSubjectToken } from './subject-token.ts'

const MAX_AUDIENCES = 10

/** A client that names its organization, which is a public client of it (RFC 6749 §2.1). */
const isOrganization = (clientId: string | undefined): clientId is string =>
  clientId?.startsWith('org_') === true

/**
 * The organization of a token without an ingest key: the only one that trusts the issuer for one of
 * its audiences and allows keyless exchange, or the one of those that `client_id` names. Null if there
 * is none or several.
 */
export async function organizationOf(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  { subject_token: subjectToken, client_id: clientId }: TokenRequest,
): Promise<string | null> {
  try {
    const { claims } = readSubjectToken(subjectToken)
    const issuer = issuerOf(claims)
    const audiences = audiencesOf(claims)
    if (!audiences || audiences.length > MAX_AUDIENCES) throw new TokenRefusal('aud')
    const parts = await eachPart(
      db,
      (part) => findOrganizations(db, part, issuer, audiences),
      (error, organizations) =>
        log.warn({ err: error, organizations }, 'reading trusted issuers failed'),
    )
    const [found, ...others] = parts
      .flat()
      .filter((row) => row.plan === 'enterprise' && settingsOf(row).keyless_exchange)
      // Any organization can trust the issuer of another one for the same audience.
      .filter((row) => !isOrganization(clientId) || row.id === clientId)
    if (!found || others.length > 0) throw new TokenRefusal('iss')
    return found.id
  } catch (error) {
    if (!(error instanceof TokenRefusal)) throw error
    // No organization, so no ledger to write to.
    log.info({ reason: error.reason }, 'a token exchange without a key was refused')
    return null
  }
}
