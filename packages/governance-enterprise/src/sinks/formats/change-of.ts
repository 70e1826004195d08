/** The effect of an administrative entry on its object. */
export type ChangeKind = 'creation' | 'change' | 'deletion'

const CHANGES: Readonly<Record<string, ChangeKind>> = {
  created: 'creation',
  registered: 'creation',
  issued: 'creation',
  invited: 'creation',
  granted: 'creation',
  trusted: 'creation',
  updated: 'change',
  set: 'change',
  rotated: 'change',
  disabled: 'change',
  suspended: 'change',
  resumed: 'change',
  deleted: 'deletion',
  removed: 'deletion',
  revoked: 'deletion',
}

/** Objects with an administration, by the first part of the kind. */
const IAM = new Set(['agent', 'agent_mode', 'credential', 'issuer', 'key', 'permission', 'person'])
const CONFIGURATION = new Set([
  'approval_rule',
  'organization',
  'policy',
  'sink',
  'spend_limit',
  'trust_policy',
  'webhook',
])

/** An administrative change that an entry records. */
export interface AdministrativeChange {
  readonly area: 'iam' | 'configuration'
  /** Type of the changed object, such as `policy`. */
  readonly object: string
  readonly change: ChangeKind
}

/** The administrative change of an entry of this kind; null for all other entries. */
export function changeOf(kind: string): AdministrativeChange | null {
  const [object = '', verb = ''] = kind.split('.')
  const change = CHANGES[verb]
  if (change === undefined) return null
  if (IAM.has(object)) return { area: 'iam', object, change }
  return CONFIGURATION.has(object) ? { area: 'configuration', object, change } : null
}

/** The id of the object that an administrative entry holds; null if it names none. */
export function objectIdOf(
  object: string,
  data: Readonly<Record<string, unknown>> | null,
): string | null {
  const held = data?.[object] ?? data?.['member']
  const fields = typeof held === 'object' && held !== null ? (held as Record<string, unknown>) : {}
  const id = fields['id'] ?? fields['agent_id'] ?? data?.[`${object}_id`]
  return typeof id === 'string' ? id : null
}
