import { Ajv } from 'ajv'
import type { ValidateFunction } from 'ajv'

/**
 * A subset of OSCAL's assessment-results, version 1.2.1, that our documents use, as strict as
 * NIST's JSON schema: no unknown members; no empty lists; the forms of tokens, strings, times,
 * identifiers and references.
 */

const STRING = { type: 'string', pattern: '^\\S(.*\\S)?$' }
const LINE = { type: 'string', pattern: '^[^\\n]+$' }
const TEXT = { type: 'string' }
const TOKEN = { type: 'string', pattern: '^(\\p{L}|_)(\\p{L}|\\p{N}|[.\\-_])*$' }
const URI = { type: 'string', pattern: '^[a-zA-Z][a-zA-Z0-9+\\-.]+:.+$' }
const REFERENCE = { type: 'string', format: 'uri-reference' }
const UUID = {
  type: 'string',
  pattern:
    '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[45][0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$',
}
const TIME = {
  type: 'string',
  pattern:
    '^(19|2[0-9])[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T(2[0-3]|[01][0-9]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?(Z|[-+][0-9]{2}:[0-9]{2})$',
}

type Schema = Readonly<Record<string, unknown>>

const list = (items: Schema): Schema => ({ type: 'array', minItems: 1, items })

/** An object with these members and no others; those whose name ends in `?` may be missing. */
function object(members: Readonly<Record<string, Schema>>): Schema {
  const names = Object.keys(members)
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(members).map(([name, schema]) => [name.replace('?', ''), schema]),
    ),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  }
}

const oneOf = (...values: readonly string[]): Schema => ({ type: 'string', enum: values })

const PROPS = list(
  object({ name: TOKEN, 'ns?': URI, value: STRING, 'class?': TOKEN, 'remarks?': TEXT }),
)
const SELECTED = list(object({ 'control-id': TOKEN }))

const METADATA = object({
  title: LINE,
  'last-modified': TIME,
  version: STRING,
  'oscal-version': { const: '1.2.1' },
  'props?': PROPS,
  'parties?': list(
    object({ uuid: UUID, type: oneOf('person', 'organization'), 'name?': STRING, 'props?': PROPS }),
  ),
  'remarks?': TEXT,
})

const OBSERVATION = object({
  uuid: UUID,
  'title?': LINE,
  description: TEXT,
  'props?': PROPS,
  methods: list(oneOf('EXAMINE', 'INTERVIEW', 'TEST', 'UNKNOWN')),
  'types?': list(TOKEN),
  'relevant-evidence?': list(object({ 'href?': REFERENCE, description: TEXT, 'props?': PROPS })),
  collected: TIME,
})

const FINDING = object({
  uuid: UUID,
  title: LINE,
  description: TEXT,
  'props?': PROPS,
  target: object({
    type: oneOf('statement-id', 'objective-id'),
    'target-id': TOKEN,
    status: object({ state: oneOf('satisfied', 'not-satisfied'), 'reason?': TOKEN }),
  }),
  'related-observations?': list(object({ 'observation-uuid': UUID })),
})

const SELECTION = {
  type: 'object',
  anyOf: [
    object({ 'include-all': object({}), 'exclude-controls?': SELECTED }),
    object({ 'include-controls': SELECTED, 'exclude-controls?': SELECTED }),
  ],
}

const RESULT = object({
  uuid: UUID,
  title: LINE,
  description: TEXT,
  start: TIME,
  'end?': TIME,
  'props?': PROPS,
  'reviewed-controls': object({ 'control-selections': list(SELECTION) }),
  'observations?': list(OBSERVATION),
  'findings?': list(FINDING),
  'remarks?': TEXT,
})

const RESOURCE = object({
  uuid: UUID,
  'title?': LINE,
  'description?': TEXT,
  'props?': PROPS,
  'rlinks?': list(object({ href: REFERENCE, 'media-type?': STRING })),
})

const DOCUMENT = object({
  'assessment-results': object({
    uuid: UUID,
    metadata: METADATA,
    'import-ap': object({ href: REFERENCE, 'remarks?': TEXT }),
    results: list(RESULT),
    'back-matter?': object({ 'resources?': list(RESOURCE) }),
  }),
})

// RFC 3986 section 4.1, as far as its characters go.
const isReference = (text: string): boolean =>
  /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/.test(text)

export const isAssessmentResults: ValidateFunction = new Ajv({
  allErrors: true,
  formats: { 'uri-reference': isReference },
}).compile(DOCUMENT)
