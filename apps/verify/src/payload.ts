import { canonical, isObject, JsonError } from './jcs.ts'

/** The content of an entry: docs/ledger-format.md section 2. */
export interface Payload {
  readonly actor: { readonly id: string; readonly type: string }
  readonly data: Readonly<Record<string, unknown>>
}

const NAMES = 'action,actor,agent_id,data,decision,reason,resource'

/** Parses a payload; null unless it is the canonical text of an object with exactly its members. */
export function readPayload(text: string): Payload | null {
  try {
    const value: unknown = JSON.parse(text)
    return isPayload(value) && canonical(value) === text ? value : null
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonError) return null
    throw error
  }
}

function isPayload(value: unknown): value is Payload {
  if (!isObject(value) || Object.keys(value).join() !== NAMES) return false
  const { action, actor, agent_id, data, decision, reason, resource } = value
  if (!isObject(actor) || Object.keys(actor).join() !== 'id,type' || !isObject(data)) return false
  return (
    [actor['id'], actor['type']].every((text) => typeof text === 'string') &&
    [action, agent_id, decision, reason, resource].every(
      (text) => text === null || typeof text === 'string',
    )
  )
}
