import type { Resource } from '@remit/contract'

/** A resource as rules match it and entries name it: `type:id`, or null for none. */
export function resourceText(resource: Resource | undefined): string | null {
  if (resource === undefined || resource === '') return null
  return typeof resource === 'string' ? resource : `${resource.type}:${resource.id}`
}
