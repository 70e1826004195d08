/**
 * JSON Schema of the fields of the Elastic Common Schema 9.0 that sinks use, written by hand from the
 * published field reference: names, types, and the allowed values of `event.kind`, `category`, `type`
 * and `outcome`, with the types that each category expects. `remit` is a namespace of ours.
 */

const keyword = { type: 'string', minLength: 1 } as const
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
})
const some = (items: object) => ({ type: 'array', items, minItems: 1, uniqueItems: true })

const TYPES_OF = {
  api: [
    'access',
    'admin',
    'allowed',
    'change',
    'creation',
    'deletion',
    'denied',
    'end',
    'info',
    'start',
    'user',
  ],
  authentication: ['start', 'end', 'info'],
  configuration: ['access', 'change', 'creation', 'deletion', 'info'],
  iam: ['admin', 'change', 'creation', 'deletion', 'group', 'info', 'user'],
}

export const ECS_SCHEMA = object(
  {
    '@timestamp': {
      type: 'string',
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
    },
    ecs: object({ version: { const: '9.0.0' } }, ['version']),
    message: keyword,
    event: {
      ...object(
        {
          kind: {
            enum: [
              'alert',
              'asset',
              'enrichment',
              'event',
              'metric',
              'pipeline_error',
              'signal',
              'state',
            ],
          },
          category: some({ enum: Object.keys(TYPES_OF) }),
          type: some(keyword),
          action: keyword,
          outcome: { enum: ['failure', 'success', 'unknown'] },
          id: keyword,
          sequence: { type: 'integer' },
          hash: keyword,
          module: keyword,
          dataset: keyword,
          provider: keyword,
          reason: keyword,
        },
        ['kind', 'category', 'type', 'action', 'outcome'],
      ),
      allOf: Object.entries(TYPES_OF).map(([category, types]) => ({
        anyOf: [
          { properties: { category: { not: { contains: { const: category } } } } },
          { properties: { type: { items: { enum: types } } } },
        ],
      })),
    },
    organization: object({ id: keyword }),
    service: object({ name: keyword, type: keyword }),
    user: object({ id: keyword, name: keyword }),
    related: object({ user: { type: 'array', items: keyword }, hash: some(keyword) }),
    trace: object({ id: keyword }),
    span: object({ id: keyword }),
    remit: { type: 'object' },
  },
  ['@timestamp', 'ecs', 'message', 'event', 'organization', 'related', 'remit'],
)
