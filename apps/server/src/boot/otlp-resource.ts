import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import type { Resource } from '@opentelemetry/resources'
import { VERSION } from '../settings/version.ts'

/** The description of this process for a collector. */
export const resourceOf = (serviceName: string): Resource =>
  defaultResource().merge(
    resourceFromAttributes({ 'service.name': serviceName, 'service.version': VERSION }),
  )
