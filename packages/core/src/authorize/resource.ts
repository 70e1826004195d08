import type { Resource } from '@remit/contract'

/** A resource as rules match it and entries name it: `type:id`, or null for none. */
export function resourceText(resource: Resource | undefined): string | null {
  if (resource === undefined || resource === '') return null
  return typeof resource === 'string' ? resource : `${resource.type}:${resource.id}`
}

/** The type of a resource whose text does not tell it, since it has a colon of its own. */
export const unclearType = (resource: Resource | undefined): string | undefined =>
  typeof resource === 'object' && resource.type.includes(':') ? resource.type : undefined

/**
 * The resource whose text an entry has, with what the entry adds to it (`unclearType`, properties): to
 * conditions it is the one that was asked about. Undefined for none.
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
