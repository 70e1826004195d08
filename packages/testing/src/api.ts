import assert from 'node:assert/strict'
import { contract, PROBLEMS, endpoints, openApi } from '@remit/contract'
import type {
  Contract,
  Endpoint,
  EndpointName,
  Problem,
  ReadyReport,
  ProblemCode,
} from '@remit/contract'
import type { z } from 'zod'
import { createTestRemit } from './remit.ts'
import type { TestOrganization, TestRemit, TestRemitOptions } from './remit.ts'
import { setTimeout } from 'node:timers/promises'

export interface CallOptions {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: unknown
  /** Default: the admin key of the organization. */
  readonly key?: string
  readonly headers?: Record<string, string>
}

export type Ok<N extends EndpointName> = z.output<Contract[N]['ok']>

/** The product with some modules, called by one organization. */
export interface Api {
  readonly remit: TestRemit
  readonly org: TestOrganization
  call(name: EndpointName, options?: CallOptions): Promise<Response>
  /**
   * Returns the body of a success; any other response, or one that does not match the contract,
   * fails the test.
   */
  ok<N extends EndpointName>(name: N, options?: CallOptions): Promise<Ok<N>>
  refusal(name: EndpointName, options?: CallOptions): Promise<Problem>
  /** Returns the same product, called by another organization. */
  as(org: TestOrganization): Api
}

export async function createApi(options: TestRemitOptions): Promise<Api> {
  const remit = await createTestRemit(options)
  return apiOf(remit, await remit.organization())
}

export function apiOf(remit: TestRemit, org: TestOrganization): Api {
  const call: Api['call'] = async (name, { params, query, key = org.key, ...rest } = {}) => {
    const { method, path } = contract[name]
    const response = await remit.call(method, pathOf(path, params, query), { key, ...rest })
    await requireDocumented(name, response)
    return response
  }
  return {
    remit,
    org,
    call,
    ok: async (name, options) => answerOf(name, await call(name, options)),
    refusal: async (name, options) => refusalOf(await call(name, options)),
    as: (other) => apiOf(remit, other),
  }
}

function pathOf(
  template: string,
  params: CallOptions['params'] = {},
  query: CallOptions['query'] = {},
): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  )
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return search === '' ? path : `${path}?${search}`
}

/** Returns the body of a success, checked against the contract, without additional fields. */
export async function answerOf<N extends EndpointName>(
  name: N,
  response: Response,
): Promise<Ok<N>> {
  const endpoint: Endpoint = contract[name]
  const text = await response.text()
  const successes = [endpoint.status, endpoint.alsoStatus]
  const isSuccess = (successes as unknown[]).includes(response.status)
  assert.ok(isSuccess, `${name}: ${response.status} ${text.slice(0, 500)}`)
  if (response.status === 204) {
    assert.equal(text, '')
    return undefined as Ok<N>
  }
  const type = response.headers.get('content-type')?.split(';')[0]
  assert.equal(type, endpoint.produces ?? 'application/json')
  const body: unknown = endpoint.produces ? text : JSON.parse(text)
  assert.deepEqual(endpoint.ok.parse(body), body)
  return body as Ok<N>
}

/** Fails the test for a refusal that the OpenAPI document does not list. */
async function requireDocumented(name: EndpointName, response: Response): Promise<void> {
  const { status } = response
  if (status < 400) return
  const { code } = (await response.clone().json()) as Problem
  assert.ok(isDocumented(name, status, code), `openapi.json has no ${status} ${code} for ${name}`)
}

/** Returns the problem document of a refusal (RFC 9457), checked against the table of codes. */
export async function refusalOf(response: Response): Promise<Problem> {
  const text = await response.text()
  const problem = JSON.parse(text) as Problem
  // An answer to OAuth clients has a member of theirs, and their media type.
  const type = 'error' in problem ? 'application/json' : 'application/problem+json'
  assert.equal(response.headers.get('content-type'), type, text)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  const [status, title] = PROBLEMS[problem.code]
  assert.equal(response.status, status)
  assert.deepEqual(
    { ...problem, detail: '' },
    {
      ...problem,
      type: `urn:remit:problem:${problem.code}`,
      title,
      status,
      detail: '',
      request_id: response.headers.get('x-request-id'),
    },
  )
  assert.notEqual(problem.detail, '')
  return problem
}

/**
 * Waits for a report: the first thread of a process may take longer to start than the response
 * waits.
 */
export async function readyReport(api: Api, body: object): Promise<ReadyReport> {
  let made = await api.ok('createReport', { body })
  while (made.status === 'generating') {
    await setTimeout(50)
    made = await api.ok('getReport', { params: { id: made.id } })
  }
  if (made.status !== 'ready') throw new Error(made.detail)
  return made
}

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
