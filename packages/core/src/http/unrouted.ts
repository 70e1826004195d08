import { fail } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'

/** A path template (`/v1/ledger/{seq}`) with a supported method. */
export interface Served {
  readonly method: string
  readonly path: string
}

/** Creates the refusal of a request without a route: 405 with `Allow` on a known path, else 404. */
export function refuseUnrouted(served: readonly Served[]): (path: string) => Failure {
  const known = served.map(({ method, path }) => ({ method, matches: templateMatcher(path) }))
  return (path) => {
    const methods = new Set(
      known.filter(({ matches }) => matches.test(path)).map(({ method }) => method),
    )
    if (methods.size === 0) return fail('not_found', `The path ${path} does not exist`)
    if (methods.has('GET')) methods.add('HEAD')
    const allow = [...methods].toSorted().join(', ')
    return fail('method_not_allowed', `${path} supports ${allow}`, { headers: { Allow: allow } })
  }
}

function templateMatcher(path: string): RegExp {
  const parts = path
    .split(/\{\w+\}/)
    .map((literal) => literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^/]+')}$`)
}
