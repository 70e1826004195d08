/**
 * JSON Schema of the two event classes of OCSF 1.9.0 that sinks use. Written by hand from the
 * attribute lists that the OCSF project publishes (base event, API Activity, Entity Management and the
 * profiles `ai_operation`, `security_control` and `record_integrity`): names, types, required
 * attributes, "at least one of" constraints and enumerations. Attributes that Remit never uses are
 * left out, so a misspelt name is an error.
 */

const text = { type: 'string', minLength: 1 } as const
const whole = { type: 'integer' } as const
const object = <const P extends object>(
  properties: P,
  required: readonly string[] = [],
  more: object = {},
) => ({ type: 'object', additionalProperties: false, properties, required, ...more }) as const

const fingerprint = object(
  { algorithm: text, algorithm_id: { enum: [0, 1, 2, 3, 4, 5, 6, 7, 99] }, value: text },
  ['algorithm_id', 'value'],
)

const attestation = object(
  {
    uid: text,
    authority_uid: text,
    chain_uid: text,
    fingerprint,
    prev_event: object({ uid: text, type_uid: whole, fingerprint }, ['uid']),
  },
  [],
  { anyOf: [{ required: ['fingerprint'] }, { required: ['signatures'] }] },
)

const user = object(
  { uid: text, name: text, type: text, type_id: { enum: [0, 1, 2, 3, 4, 99] } },
  [],
  { anyOf: [{ required: ['uid'] }, { required: ['name'] }] },
)

const metadata = object(
  {
    version: { const: '1.9.0' },
    product: object({ name: text, uid: text, vendor_name: text, version: text }, [], {
      anyOf: [{ required: ['name'] }, { required: ['uid'] }],
    }),
    profiles: {
      type: 'array',
      uniqueItems: true,
      items: { enum: ['ai_operation', 'record_integrity', 'security_control'] },
    },
    uid: text,
    sequence: whole,
    event_code: text,
    log_name: text,
    original_time: text,
    tenant_uid: text,
    correlation_uid: text,
  },
  ['version', 'product'],
)

/** Attributes of every event, and those of the profiles. */
const base = {
  activity_id: whole,
  activity_name: text,
  category_uid: whole,
  class_uid: whole,
  type_uid: whole,
  time: { type: 'integer', minimum: 0 },
  severity_id: { enum: [0, 1, 2, 3, 4, 5, 6, 99] },
  message: text,
  metadata,
  status: text,
  status_id: { enum: [0, 1, 2, 99] },
  status_detail: text,
  unmapped: { type: 'object' },
  actor: object({ user }, ['user']),
  ai_agent: object({ uid: text, name: text, instance_uid: text }, ['uid']),
  action: text,
  action_id: { enum: [0, 1, 2, 3, 4, 99] },
  disposition: text,
  disposition_id: { type: 'integer', minimum: 0, maximum: 99 },
  attestation,
}

const required = [
  'activity_id',
  'category_uid',
  'class_uid',
  'metadata',
  'severity_id',
  'time',
  'type_uid',
]
/** A profile brings its attributes; without it they must be absent. */
const profile = (name: string, attribute: string) => ({
  anyOf: [
    { not: { required: [attribute] } },
    { properties: { metadata: { properties: { profiles: { contains: { const: name } } } } } },
  ],
})
const allOf = [
  profile('ai_operation', 'ai_agent'),
  profile('security_control', 'action_id'),
  profile('record_integrity', 'attestation'),
  // "Other" needs the name that the source uses.
  {
    anyOf: [
      { properties: { activity_id: { not: { const: 99 } } } },
      { required: ['activity_name'] },
    ],
  },
]

export const API_ACTIVITY_SCHEMA = object(
  {
    ...base,
    category_uid: { const: 6 },
    class_uid: { const: 6003 },
    activity_id: { enum: [0, 1, 2, 3, 4, 99] },
    type_uid: { enum: [600300, 600301, 600302, 600303, 600304, 600399] },
    api: object({ operation: text, service: object({ name: text, uid: text, version: text }) }, [
      'operation',
    ]),
    src_endpoint: object({ name: text, uid: text, hostname: text, ip: text }, [], {
      minProperties: 1,
    }),
    resources: { type: 'array', items: object({ uid: text, name: text, type: text }) },
  },
  [...required, 'actor', 'api', 'src_endpoint'],
  { allOf },
)

export const ENTITY_MANAGEMENT_SCHEMA = object(
  {
    ...base,
    category_uid: { const: 3 },
    class_uid: { const: 3004 },
    activity_id: { enum: [0, 1, 2, 3, 4, 99] },
    type_uid: { enum: [300400, 300401, 300402, 300403, 300404, 300499] },
    entity: object({ uid: text, name: text, type: text, version: text }, [], {
      anyOf: [{ required: ['uid'] }, { required: ['name'] }],
    }),
  },
  [...required, 'entity'],
  { allOf },
)
