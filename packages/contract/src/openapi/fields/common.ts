/** Fields of many shapes. A key `parent.name` has precedence over `name`. */
export const commonFields = {
  // Every object
  id: 'Identifier of the object.',
  name: 'Display name.',
  description: 'Free text without effect.',
  enabled: 'False: the rule is not evaluated.',
  created_at: 'Time of creation.',
  created_by: 'Key, person or credential that created it.',
  updated_at: 'Time of the last change.',
  revoked_at: 'Time of the revocation; null while it is valid.',
  revoked_by: 'Key or person that revoked it; null while it is valid.',
  version: 'Version of the object.',
  warnings: 'Notes on valid input that is probably a mistake.',
  metadata: 'Free-form facts of the caller. They are recorded and never interpreted.',
  ledger: 'Receipt of the ledger entry that this request wrote.',

  // Lists
  data: 'The objects of this page.',
  next_cursor: 'Pass it as `cursor` to get the next page; null on the last one.',
  limit: 'Maximum number of objects on a page.',
  cursor: 'The `next_cursor` of the previous page.',

  // Actor, action and resource
  agent_id: 'Identifier of the agent.',
  agentID: 'Identifier of the agent, percent-encoded: `/` is `%2F`.',
  action: 'Name of the action, such as `payments.transfer`.',
  actions: 'Patterns of actions. `*` stands for any run of characters.',
  agents: 'Patterns of agent ids. `*` stands for any run of characters.',
  resource: 'The resource acted on: `"type:id"`, an object, or `""` for none.',
  resources: 'Patterns of resources, as `type:id`. `*` stands for any run of characters.',
  'Resource.type': 'Type of the resource.',
  'Resource.id': 'Identifier of the resource within its type.',
  'Resource.properties': 'Facts about the resource, for conditions.',
  context: 'Free-form facts about the request, for conditions and limits.',
  condition: 'CEL condition that must hold for the rule to match; null for none.',
  effect: 'Effect of the rule when it matches.',
  not_before: 'Start of its validity; null for no start.',
  expires_at: 'The end of its validity; null for no end.',
  actor: 'The actor that caused the entry.',
  'Actor.type': 'Kind of the actor, such as `key`, `agent` or `system`.',
  'Actor.id': 'Identifier of the actor within its kind.',

  // Money and time
  from: 'Start of the period, which is part of it.',
  to: 'End of the period, which is not part of it.',
  at: 'Time that the response refers to.',
  duration_ms: 'Duration in milliseconds.',

  // Ledger positions
  seq: 'Sequence number of the entry, counted from 0.',
  hash: 'SHA-256 hash of the entry, in hex.',
  kind: 'Kind of the entry, such as `authorization.decided`.',
  recorded_at: 'Time at which the server recorded the entry.',
  first_seq: 'Sequence number of the first entry; null where there is none.',
  last_seq: 'Sequence number of the last entry; null where there is none.',

  // Secrets
  secret_available: 'False in the repeat of an Idempotency-Key: the secret is not shown again.',

  // Problems
  'Problem.type': 'URI of the problem type. Its last segment is `code`.',
  'Problem.title': 'Title of the problem type, the same for every occurrence.',
  'Problem.status': 'The HTTP status of the response.',
  'Problem.detail': 'Description of this occurrence.',
  'Problem.code': 'Stable code of the problem, for programs.',
  'Problem.request_id': 'Identifier of the request, as in the header `X-Request-Id`.',
  'errors.path': 'Dotted path of the field, or the name of the parameter.',
  'errors.message': 'Message with the accepted values.',
}
