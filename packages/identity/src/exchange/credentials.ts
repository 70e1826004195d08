import { Failure, on } from '@remit/core'
import type { Scope as WorkScope } from '@remit/core'
import { checkLimits } from '../credentials/limits.ts'
import type { Tables } from '../schema.ts'

/** Whether an agent or its organization has as many live credentials as there can be. */
export async function isAtLimit(scope: WorkScope, agentId: string): Promise<boolean> {
  try {
    await checkLimits(scope, agentId, 'exchange')
    return false
  } catch (error) {
    if (error instanceof Failure && error.code === 'too_many_credentials') return true
    throw error
  }
}

/** Ends the live credentials that an issuer's tokens were exchanged for; their ids. */
export async function revokeOfIssuer(
  { tx, orgId, recordedAt }: WorkScope,
  idpId: string,
  by: string,
): Promise<string[]> {
  const rows = await on<Tables>(tx)
    .updateTable('agent_credential')
    .set({ revoked_at: recordedAt, revoked_by: by })
    .where('org_id', '=', orgId)
    .where('idp_id', '=', idpId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', recordedAt)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id).toSorted()
}
