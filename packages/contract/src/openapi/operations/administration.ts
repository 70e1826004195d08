import type { OperationText } from './operation-text.ts'

/** The organization, its keys, its webhooks, its sinks and its ledger. */
export const administrationOperations = {
  getOrganization: {
    text: 'Returns the organization of the key with all its settings.',
  },
  changeOrganization: {
    text: 'Changes settings. Omitted settings do not change, and `null` restores a default. The change applies to every decision after the response.',
  },
  getSession: {
    text: 'Returns the caller of the session cookie or key, its organization, and the endpoints of this server that it may call. Without a valid session, `principal` is null. The console shows what this lists.',
  },
  startSession: {
    text: 'Exchanges an ingest key for a session cookie. The session has the rights of the key and ends with it, after an hour without a request, and after twelve hours. Only pages of this server can sign in.',
    problems: ['unauthorized', 'csrf_refused', 'key_login_off', 'rate_limited'],
  },
  endSession: {
    text: 'Ends the session on every process of the installation and removes the cookie. For a person whose identity provider has its own sign-out, `Location` is its URL.',
    problems: ['csrf_refused'],
  },
  listPeople: {
    text: 'Lists the people of the organization, oldest first.',
  },
  invitePerson: {
    text: 'Invites a person. The first sign-in with this address, verified by the identity provider, makes the person active; from then on the issuer and its subject identify the person. No e-mail is sent.',
    problems: ['person_exists', 'too_many_people'],
  },
  changePerson: {
    text: 'Changes a person. A new role or `disabled` ends the sessions of the person on every process before the response.',
    problems: ['person_not_found', 'last_admin', 'role_managed'],
  },
  removePerson: {
    text: 'Removes a person and ends their sessions before the response. Their votes and entries remain.',
    problems: ['person_not_found', 'last_admin'],
  },
  getLoginProvider: {
    text: 'Returns the OpenID provider that signs the people of the organization in, without the secret of the client.',
    problems: ['login_provider_not_found'],
  },
  setLoginProvider: {
    text: 'Sets the OpenID provider of the organization. From then on, its people sign in with this provider only. The server reads the metadata of the issuer and the TXT records of the domains before it stores them. With another issuer, people are found by their verified address at their next sign-in, and the sessions of all other people end.',
  },
  removeLoginProvider: {
    text: 'Removes the OpenID provider of the organization and ends the sessions of all other people. People sign in with the provider of the server, if it has one.',
    problems: ['login_provider_not_found'],
  },
  getUsage: {
    text: 'Returns the usage of past hours. It is counted from the ledger, so that an export can confirm every count: each row names its entries. The last hour appears some minutes after its end.',
  },
  listKeys: {
    text: 'Lists the ingest keys of the organization, including revoked ones. Secrets and their hashes are never shown.',
  },
  createKey: {
    text: 'Creates an ingest key. `secret` is shown once; a repeat under the same Idempotency-Key has `secret: null`.',
  },
  rotateKey: {
    text: 'Replaces a key with a new one that has the same role, person and name. The old key is revoked before the response.',
    problems: ['key_not_found'],
  },
  revokeKey: {
    text: 'Revokes a key on every process of the installation. The last key that can administer the organization cannot be revoked.',
    problems: ['key_not_found', 'last_admin_key'],
  },
  listWebhooks: {
    text: 'Lists the webhooks of the organization. Their secrets are never shown again.',
  },
  createWebhook: {
    text: 'Creates a webhook. Events are sent as Standard Webhooks messages, signed with `secret`, which is shown once. The URL must be https on port 443 of the public internet.',
    problems: ['too_many_webhooks'],
  },
  getWebhook: {
    text: 'Returns one webhook with the number of pending messages and the last delivery.',
    problems: ['webhook_not_found'],
  },
  deleteWebhook: {
    text: 'Deletes a webhook and its undelivered messages.',
    problems: ['webhook_not_found'],
  },
  listDeliveries: {
    text: 'Lists the messages for a webhook with every attempt, newest first. Deliveries are kept for 7 days after they ended.',
    problems: ['webhook_not_found'],
  },
  redeliver: {
    text: 'Sends a message again, whatever its state; the receiver recognizes the repeat by the same `webhook-id`. Poll the deliveries for the result.',
    problems: ['webhook_not_found', 'delivery_not_found'],
  },
  testWebhook: {
    text: 'Sends a message of the type `webhook.test`, signed like every other one, and records `webhook.tested` in the ledger. A disabled webhook receives nothing.',
    problems: ['webhook_not_found'],
  },
  listSinks: {
    text: 'Lists the sinks of the organization with their progress. Secrets of targets are never shown.',
  },
  createSink: {
    text: 'Creates a sink. It receives every entry of `kinds` from `from_seq` on, in order and at least once; a sink that cannot send stops and never skips. The receiver must be https or TLS on the public internet, unless the operator allows private networks.',
    problems: ['too_many_sinks'],
  },
  getSink: {
    text: 'Returns one sink with its watermark, the number of entries that it has yet to examine, and its last error.',
    problems: ['sink_not_found'],
  },
  changeSink: {
    text: 'Changes a sink. `target` replaces the whole target. `from_seq` sends again, or skips on purpose; the entry `sink.updated` records it. Any change retries at once.',
    problems: ['sink_not_found'],
  },
  deleteSink: {
    text: 'Deletes a sink. What it has not sent is not sent.',
    problems: ['sink_not_found'],
  },
  testSink: {
    text: 'Sends one record of the kind `test` in the format of the sink and waits for the result. The record is not an entry of the ledger.',
    problems: ['sink_not_found'],
  },
  listEntries: {
    text: 'Lists ledger entries by the given filters, newest first unless `order=asc`. `head` is the last entry of the ledger. Pruned entries return 410.',
    problems: ['agent_mismatch', 'ledger_pruned'],
  },
  appendEntry: {
    text: 'Appends an entry of the kind `entry.appended`. `cost_usd` counts as spend; with `decision_id` it settles the amount that the decision held, once.',
    problems: ['decision_not_found', 'decision_settled', 'agent_mismatch', 'scope_required'],
  },
  getCheckpoint: {
    text: 'Returns the newest checkpoint: a C2SP signed note with the size and the Merkle root of the ledger. Keep copies outside of the installation to detect a rollback.',
  },
  getConsistency: {
    text: 'Proves that the newer tree contains all entries of the older one (RFC 6962). Both sizes must be between 1 and the size of the ledger.',
    problems: ['size_not_signed', 'ledger_pruned'],
  },
  listLedgerKeys: {
    text: 'Lists the keys that have signed checkpoints of the ledger, with the entries at which they began and ended. The ledger itself names these keys: pin the first one that you see, and accept another one only with its rotation.',
  },
  streamEntries: {
    text: 'Streams new entries as server-sent events, from the end of the ledger or after `after_seq`. The id of an event is the sequence number, and its name is the kind. Entries arrive within a second of their commit. The stream ends with the key or session.',
    problems: ['overloaded'],
  },
  exportEntries: {
    text: 'Streams the ledger as NDJSON for offline verification with `remit-verify`. An interrupted export resumes with `after_seq`.',
    problems: ['ledger_pruned'],
  },
  getEntry: {
    text: 'Returns one entry with its payload. An erased payload is `data: null`.',
    problems: ['ledger_entry_not_found', 'ledger_pruned'],
  },
  getProof: {
    text: 'Proves that an entry is in the ledger: a C2SP tlog-proof with the signed checkpoint. The default `size` is that of the newest tree.',
    problems: ['ledger_entry_not_found', 'size_not_signed', 'ledger_pruned'],
  },
} satisfies Record<string, OperationText>
