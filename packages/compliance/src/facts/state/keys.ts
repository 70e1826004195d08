import { recordIn, textIn } from '../recorded-json.ts'
import type { Reducers } from './reducer.ts'

/** An ingest key. A revoked one is kept, since earlier entries name it. */
export interface KeyState {
  readonly id: string
  readonly role: string
  /** The person of the key; null for a shared one. */
  readonly person: string | null
  readonly seq: number
  readonly time: number
  readonly revoked: { readonly seq: number; readonly time: number } | null
}

export const keyReducers: Reducers = {
  'key.created': (state, { seq, time, data }) => {
    const object = recordIn(data, 'key')
    const id = object && textIn(object, 'id')
    if (!object || id === null) return
    const role = textIn(object, 'role') ?? ''
    state.keys.set(id, { id, role, person: textIn(object, 'person'), seq, time, revoked: null })
  },
  'key.revoked': (state, { seq, time, data }) => {
    const key = state.keys.get(textIn(data, 'key_id') ?? '')
    if (key) state.keys.set(key.id, { ...key, revoked: { seq, time } })
  },
}
