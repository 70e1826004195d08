import type { FactEntry } from '../entry.ts'
import { recordIn, textIn, textsIn, timeIn } from '../recorded-json.ts'
import { recordedObject } from './reducer.ts'
import type { Reducers, RecordedObject } from './reducer.ts'
import type { FactState } from './state.ts'

/** A credential that was not revoked. `isLive` considers its expiry. */
export interface CredentialState extends RecordedObject {
  readonly agentId: string
  readonly scopes: readonly string[]
  /** Milliseconds; null where none was recorded. */
  readonly expiresAt: number | null
  /** The trusted issuer, for a token exchange. */
  readonly idpId: string | null
}

export const isLive = ({ expiresAt }: CredentialState, time: number): boolean =>
  expiresAt === null || time < expiresAt

/** Ends credentials by id. */
export function endCredentials(state: FactState, _by: FactEntry, ids: readonly string[]): void {
  for (const id of ids) state.credentials.delete(id)
}

function keepCredential(state: FactState, entry: FactEntry): void {
  const object = recordIn(entry.data, 'credential')
  const id = object && textIn(object, 'id')
  if (!object || id === null) return
  state.sweepCredentials(entry.time)
  state.credentials.set(id, {
    ...recordedObject(id, object, entry, undefined),
    agentId: textIn(object, 'agent_id') ?? entry.agent_id ?? '',
    scopes: textsIn(object, 'scopes'),
    expiresAt: timeIn(object, 'expires_at'),
    idpId: textIn(object, 'idp_id'),
  })
}

export const credentialReducers: Reducers = {
  'credential.issued': keepCredential,
  'credential.rotated': (state, entry) => {
    keepCredential(state, entry)
    const from = recordIn(entry.data, 'rotated_from')
    const old = state.credentials.get((from && textIn(from, 'id')) ?? '')
    if (from && old)
      state.credentials.set(old.id, { ...old, expiresAt: timeIn(from, 'expires_at') })
  },
  'credential.revoked': (state, entry) => {
    const object = recordIn(entry.data, 'credential')
    const id = object && textIn(object, 'id')
    endCredentials(state, entry, id === null ? [] : [id])
    endCredentials(state, entry, textsIn(entry.data, 'credential_ids'))
  },
}
