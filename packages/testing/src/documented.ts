import { endpoints, openApi } from '@remit/contract'
import type { ProblemCode } from '@remit/contract'

/** Refusals before the endpoint is known. */
const EARLY: ReadonlySet<string> = new Set([
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'header_too_large',
])

interface Document {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly responses: Record<string, Described> }
}
interface Operation {
  readonly operationId: string
  readonly responses: Record<string, Described | { readonly $ref: string }>
}
interface Described {
  readonly description: string
}

/** Descriptions of responses, by operation and status. */
let descriptions: ReadonlyMap<string, string> | null = null

function read(): ReadonlyMap<string, string> {
  const { paths, components } = openApi(endpoints, '1') as unknown as Document
  const shared = new Map(
    Object.entries(components.responses).map(([name, one]) => [
      `#/components/responses/${name}`,
      one,
    ]),
  )
  return new Map(
    Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ operationId, responses }) =>
        Object.entries(responses).map(([status, one]) => {
          const response = '$ref' in one ? shared.get(one.$ref) : one
          return [`${operationId} ${status}`, response?.description ?? '']
        }),
      ),
  )
}

/** Returns whether the OpenAPI document lists a refusal of an endpoint. */
export function isDocumented(name: string, status: number, code: ProblemCode): boolean {
  if (status >= 500 || EARLY.has(code)) return true
  descriptions ??= read()
  return descriptions.get(`${name} ${status}`)?.includes(`\`${code}\``) === true
}
