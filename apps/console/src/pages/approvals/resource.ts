import type { Approval } from '@remit/contract'

export const resourceText = ({ resource }: Pick<Approval, 'resource'>): string =>
  typeof resource === 'string' ? resource : resource ? `${resource.type}:${resource.id}` : ''

/** The members that the agent's side does not show; only their digests are in the request. */
export function hiddenIn({ context }: Pick<Approval, 'context'>): string {
  const omitted: unknown = context['omitted']
  return typeof omitted === 'object' && omitted !== null ? Object.keys(omitted).join(', ') : ''
}
