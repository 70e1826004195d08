import { OPERATIONS } from './operations/index.ts'
import type { Endpoint } from '../endpoint.ts'
import { problemHeaders } from './headers.ts'
import type { Json } from './schema.ts'
import { PROBLEMS } from '../problem.ts'
import type { ProblemCode } from '../problem.ts'

/** Errors that follow from the shape of an endpoint, by status, as `serve` in core throws them. */
const COMMON = {
  400: ['invalid_request', 'invalid_json', 'invalid_idempotency_key'],
  401: ['unauthorized'],
  403: [
    'plan_required',
    'role_required',
    'insufficient_scope',
    'principal_not_allowed',
    'organization_suspended',
  ],
  409: ['idempotency_mismatch', 'idempotency_in_progress'],
  410: ['answer_erased'],
  412: ['version_mismatch'],
  413: ['body_too_large'],
  415: ['unsupported_media_type'],
  429: ['rate_limited', 'jobs_busy'],
} as const satisfies Record<number, readonly ProblemCode[]>

type CommonStatus = keyof typeof COMMON

const NAMES: Readonly<Record<CommonStatus, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  429: 'TooManyRequests',
}

function commonStatuses({ method, body, ...rest }: Endpoint): CommonStatus[] {
  const { public: open, viaWriter, takes = [] } = rest
  const post = method === 'POST'
  return [
    // Also a query that the endpoint does not have.
    400,
    ...(open ? [] : [401 as const, 403 as const]),
    ...(post ? [409 as const] : []),
    ...(post && viaWriter ? [410 as const] : []),
    ...(takes.includes('If-Match') ? [412 as const] : []),
    ...(body ? [413 as const, 415 as const] : []),
    ...(open ? [] : [429 as const]),
  ]
}

/** Returns the error responses of an operation, by status. */
export function problemResponses(name: string, endpoint: Endpoint): Json {
  const own = Object.groupBy(OPERATIONS[name]?.problems ?? [], (code) => PROBLEMS[code][0])
  const common = commonStatuses(endpoint)
  const statuses = [...new Set([...common, ...Object.keys(own).map(Number)])].toSorted(
    (a, b) => a - b,
  )
  const response = (status: number) => {
    const shared = common.find((one) => one === status)
    const codes = own[status as CommonStatus] ?? []
    if (shared && codes.length === 0 && !endpoint.oauth)
      return { $ref: `#/components/responses/${NAMES[shared]}` }
    return problem(new Set([...codes, ...(shared ? COMMON[shared] : [])]), endpoint)
  }
  return {
    ...Object.fromEntries(statuses.map((status) => [status, response(status)])),
    default: {
      ...problem([], endpoint),
      description: 'Another problem (RFC 9457). With 503 nothing was done; ask again.',
    },
  }
}

function problem(codes: Iterable<ProblemCode>, { oauth, public: open }: Partial<Endpoint>): Json {
  const type = oauth ? 'application/json' : 'application/problem+json'
  return {
    description: [...codes].map((code) => `- \`${code}\`: ${PROBLEMS[code][1]}.`).join('\n'),
    headers: problemHeaders(open === true),
    content: { [type]: { schema: { $ref: '#/components/schemas/Problem' } } },
  }
}

/** Returns the responses that `problemResponses` refers to. */
export const problemComponents = (): Json =>
  Object.fromEntries(
    Object.entries(COMMON).map(([status, codes]) => [
      NAMES[Number(status) as CommonStatus],
      problem(codes, {}),
    ]),
  )

/** The body of every problem. */
export const PROBLEM_SCHEMA: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(PROBLEMS) },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      description: 'The first fifty faults of the request.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
    errors_omitted: {
      type: 'integer',
      minimum: 1,
      description: 'Number of faults that are not listed.',
    },
  },
}
