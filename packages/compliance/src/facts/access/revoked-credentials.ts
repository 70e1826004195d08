import type { FactEntry } from '../entry.ts'
import { recordIn, textIn, textsIn } from '../recorded-json.ts'
import type { CredentialState } from '../state/credentials.ts'
import type { FactState } from '../state/state.ts'

/** The credentials that an entry revokes, as in the state before it. */
export function revokedCredentials({ kind, data }: FactEntry, state: FactState): CredentialState[] {
  return idsIn(kind, data).flatMap((id) => state.credentials.get(id) ?? [])
}

function idsIn(kind: string, data: FactEntry['data']): readonly string[] {
  if (kind === 'agent.removed' || kind === 'issuer.removed')
    return textsIn(data, 'revoked_credentials')
  if (kind !== 'credential.revoked') return []
  const credential = recordIn(data, 'credential')
  const id = credential && textIn(credential, 'id')
  return [...(id === null ? [] : [id]), ...textsIn(data, 'credential_ids')]
}
