import { recordIn, textIn, textsIn, timeIn } from '../read.ts'
import { endCredentials } from './credentials.ts'
import { kept } from './fold.ts'
import type { Folds, Kept } from './fold.ts'

/** A trusted issuer of tokens. */
export interface IssuerState extends Kept {
  readonly issuer: string
  readonly enabled: boolean
  readonly expiresAt: number | null
}

export const issuerFolds: Folds = {
  'issuer.trusted': (state, entry) => {
    const object = recordIn(entry.data, 'issuer')
    const id = object && textIn(object, 'id')
    if (!object || id === null) return
    state.issuers.set(id, {
      ...kept(id, object, entry, undefined),
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
