import { hash } from 'node:crypto'
import { spellOut, stepsOf } from '@remit/contract/fit'
import { canonicalJson } from '@remit/contract/json'
import type { Ask } from '@remit/core/decision'

/** The subject of an approval: its canonical JSON (RFC 8785) and base64url of its SHA-256. */
export interface Binding {
  readonly text: string
  readonly hash: string
}

/**
 * Binds agent, action, resource and context with its replaced places, or only the given context members.
 * `approval.id` in the context is a reference and is not bound. `omitted`, the digests of what approvers cannot
 * see, always is.
 */
export function bindingOf(
  { request, claims }: Pick<Ask, 'request' | 'claims'>,
  bound: readonly string[] | null,
): Binding {
  const { agent_id: id, action, resource, context = {}, replaced = [] } = request
  const isBound = (name: string | undefined) =>
    bound === null || name === undefined || name === 'omitted' || bound.includes(name)
  const unseen = replaced.filter(
    (place) => !/^\/approval\/id(?:\/|$)/.test(place) && isBound(stepsOf(place)[0]),
  )
  const { subject, actionProperties, readings } = claims
  const text = canonicalJson({
    subject: { type: 'agent', id, ...(isOther(subject, id) && { acting_for: subject }) },
    action: { name: action, ...(actionProperties && { properties: actionProperties }) },
    ...(resource !== undefined && resource !== '' && { resource: plain(resource) }),
    ...(readings && { readings }),
    context: Object.fromEntries(
      Object.entries(withoutReference(context)).filter(([name]) => isBound(name)),
    ),
    ...(unseen.length > 0 && { replaced: unseen }),
  })
  return { text, hash: hash('sha256', text, 'base64url') }
}

/** The context without `approval.id`, and without an `approval` that has nothing else. */
function withoutReference(context: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { approval, ...others } = context
  if (typeof approval !== 'object' || approval === null || Array.isArray(approval))
    return { ...context }
  const { id: _, ...members } = approval as Readonly<Record<string, unknown>>
  return Object.keys(members).length > 0 ? { ...others, approval: members } : others
}

/** The context members to bind for these rules; a rule without a list binds all. */
export function boundMembers(lists: readonly (readonly string[] | null)[]): string[] | null {
  const names = new Set<string>()
  for (const list of lists) {
    if (list === null) return null
    for (const name of list) names.add(name)
  }
  return [...names].toSorted()
}

/** Returns whether a subject contains more than the agent. */
function isOther(subject: Readonly<Record<string, unknown>> | undefined, agentId: string): boolean {
  if (!subject) return false
  return canonicalJson(subject) !== canonicalJson({ type: 'agent', id: agentId })
}

/** Splits `type:id`, so that both spellings of a resource are equal. */
function plain(resource: NonNullable<Ask['request']['resource']>): unknown {
  if (typeof resource === 'object') return resource
  const colon = resource.indexOf(':')
  return colon > 0 && colon < resource.length - 1
    ? { type: resource.slice(0, colon), id: resource.slice(colon + 1) }
    : resource
}

/**
 * Bound text for an approver: invisible and direction-changing characters appear as `\u{…}`. JSON
 * doubles a literal backslash, so no text can imitate the escape.
 */
export const shownText = (text: string): string => spellOut(text)
