import type { Approval } from '@remit/contract'

export const resourceText = ({ resource }: Pick<Approval, 'resource'>): string =>
  typeof resource === 'string' ? resource : resource ? `${resource.type}:${resource.id}` : ''
