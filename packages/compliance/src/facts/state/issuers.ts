import { recordIn, textIn, textsIn, timeIn } from '../recorded-json.ts'
import { endCredentials } from './credentials.ts'
import { recordedObject } from './reducer.ts'
import type { Reducers, RecordedObject } from './reducer.ts'

/** A trusted issuer of tokens. */
export interface IssuerState extends RecordedObject {
  readonly issuer: string
  readonly enabled: boolean
  readonly expiresAt: number | null
}

export const issuerReducers: Reducers = {
  'issuer.trusted': (state, entry) => {
    const object = recordIn(entry.data, 'issuer')
    const id = object && textIn(object, 'id')
    if (!object || id === null) return
    state.issuers.set(id, {
      ...recordedObject(id, object, entry, undefined),
      issuer: textIn(object, 'issuer') ?? '',
      enabled: object['enabled'] !== false,
      expiresAt: timeIn(object, 'expires_at'),
    })
  },
  'issuer.removed': (state, entry) => {
    const object = recordIn(entry.data, 'issuer')
    state.issuers.delete((object && textIn(object, 'id')) ?? '')
    endCredentials(state, entry, textsIn(entry.data, 'revoked_credentials'))
  },
}
