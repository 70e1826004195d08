import { recordIn, textIn, textsIn, timeIn } from '../recorded-json.ts'
import { recordedObject } from './reducer.ts'
import type { Reducers, RecordedObject } from './reducer.ts'
import type { FactState } from './state.ts'

/** A permission or denial that was not revoked. */
export interface PermissionState extends RecordedObject {
  readonly effect: string
  /** For a denial, it may be a pattern. */
  readonly agentId: string
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  /** The permission has a condition, which cannot be evaluated here. */
  readonly isConditional: boolean
  readonly notBefore: number | null
  readonly expiresAt: number | null
}

/** Returns whether a permission is in force at a time. */
export const isOpen = ({ notBefore, expiresAt }: PermissionState, time: number): boolean =>
  (notBefore === null || notBefore <= time) && (expiresAt === null || time < expiresAt)

export const permissionReducers: Reducers = {
  'permission.granted': (state, entry) => {
    const object = recordIn(entry.data, 'permission')
    const id = object && textIn(object, 'id')
    if (!object || id === null) return
    const permission: PermissionState = {
      ...recordedObject(id, object, entry, state.permissions.get(id)),
      effect: textIn(object, 'effect') ?? 'allow',
      agentId: textIn(object, 'agent_id') ?? entry.agent_id ?? '',
      actions: textsIn(object, 'actions'),
      resources: textsIn(object, 'resources'),
      isConditional: textIn(object, 'condition') !== null,
      notBefore: timeIn(object, 'not_before'),
      expiresAt: timeIn(object, 'expires_at'),
    }
    state.permissions.set(id, permission)
    dropDeny(state, id)
    if (permission.effect === 'deny') {
      state.denies.set(id, permission)
      state.deniesVersion += 1
    }
  },
  'permission.revoked': (state, { data }) => {
    for (const id of textsIn(data, 'revoked')) {
      state.permissions.delete(id)
      dropDeny(state, id)
    }
  },
}

function dropDeny(state: FactState, id: string): void {
  if (state.denies.delete(id)) state.deniesVersion += 1
}
