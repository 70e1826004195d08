import { resourceText } from './resource.ts'
import type { Ask } from './stage.ts'

const NONE: readonly Ask[] = []
const known = new WeakMap<Ask, readonly Ask[]>()

/**
 * The other readings of a request, as requests of their own; most have none. The same ones each time,
 * since stages add facts to a request.
 */
export function readingsOf(ask: Ask): readonly Ask[] {
  const { readings } = ask.claims
  if (readings === undefined || ask.reading !== undefined) return NONE
  let asks = known.get(ask)
  if (!asks) {
    asks = readings.map(({ resource, context }, reading) => ({
      ...ask,
      reading,
      request: { ...ask.request, resource, context: { ...ask.request.context, ...context } },
      resource: resourceText(resource),
    }))
    known.set(ask, asks)
  }
  return asks
}
