import type { Resource } from '@remit/contract'

/** Returns the resource as rules match it and entries store it: `type:id`, or null for none. */
export function resourceText(resource: Resource | undefined): string | null {
  if (resource === undefined || resource === '') return null
  return typeof resource === 'string' ? resource : `${resource.type}:${resource.id}`
}

/** Returns the type of a resource whose text is ambiguous because the type contains a colon. */
export const unclearType = (resource: Resource | undefined): string | undefined =>
  typeof resource === 'object' && resource.type.includes(':') ? resource.type : undefined

/**
 * Rebuilds the resource of an entry from its text and the additional members (`unclearType`,
 * properties), as conditions read it. Undefined for none.
 */
export function recordedResource(
  text: string | null,
  type?: string,
  properties?: Record<string, unknown>,
): Resource | undefined {
  if (text === null) return undefined
  if (type === undefined && properties === undefined) return text
  const end = type === undefined ? Math.max(0, text.indexOf(':')) : type.length
  return {
    type: text.slice(0, end),
    id: text.slice(end + 1),
    ...(properties && { properties }),
  }
}
