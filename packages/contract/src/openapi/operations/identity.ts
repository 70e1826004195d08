import type { OperationText } from './operation-text.ts'

/** Agents, credentials, trust and issuers. */
export const identityOperations = {
  listAgents: {
    text: 'Lists the registered agents.',
  },
  registerAgent: {
    text: 'Registers an agent. Its id is never given again, not even after a removal.',
    problems: ['agent_exists', 'too_many_agents', 'subject_taken', 'issuer_not_found'],
  },
  getAgent: {
    text: 'Returns one registered agent. `ETag` is its version.',
    problems: ['agent_not_found'],
  },
  changeAgent: {
    text: 'Changes the given members of an agent. `status: "suspended"` denies every decision about it at once, `status: "active"` ends that. With `If-Match` an outdated change is 412.',
    problems: ['agent_not_found', 'subject_taken'],
  },
  removeAgent: {
    text: 'Removes an agent for good and revokes all its credentials. Decisions about it are denied from then on.',
    problems: ['agent_not_found'],
  },
  listCredentials: {
    text: 'Lists the credentials of an agent, newest first. Secrets and their hashes are never shown.',
    problems: ['agent_not_found'],
  },
  issueCredential: {
    text: 'Issues a credential that acts as this agent alone. `secret` is shown once. `rotate` replaces another credential, which keeps working for `overlap_seconds`.',
    problems: [
      'agent_not_found',
      'credential_not_found',
      'credential_ended',
      'agent_suspended',
      'too_many_credentials',
      'invalid_scope',
    ],
  },
  revokeCredential: {
    text: 'Revokes a credential on every process of the installation.',
    problems: ['credential_not_found'],
  },
  introspectCredential: {
    text: 'Tells a tool whether a credential that it received is valid, and whose it is (RFC 7662). An unknown, expired or foreign credential is `active: false`.',
  },
  revokeByText: {
    text: 'Revokes a credential by its text (RFC 7009). The answer is 200 for unknown credentials too.',
  },
  listTrustPolicies: {
    text: 'Lists the trust policies, disabled ones too.',
  },
  createTrustPolicy: {
    text: 'Creates a trust policy. A deny beats every allow, and without a matching policy the answer is deny.',
    problems: ['too_many_trust_policies'],
  },
  deleteTrustPolicy: {
    text: 'Deletes a trust policy. No decision after the answer follows it.',
    problems: ['trust_policy_not_found'],
  },
  evaluateTrust: {
    text: 'Decides whether one registered agent may act towards another, and records the decision. A credential asks for its own agent only, as source or as target.',
    problems: ['agent_mismatch'],
  },
  listIssuers: {
    text: 'Lists the trusted issuers with the state of their keys.',
  },
  trustIssuer: {
    text: 'Trusts an issuer: its tokens can be exchanged for credentials under the given conditions. An issuer cannot be changed, only removed and trusted anew. `validate=true` checks the terms and fetches no keys.',
    problems: ['issuer_exists', 'too_many_issuers'],
  },
  removeIssuer: {
    text: 'Removes a trusted issuer and revokes every credential that its tokens were exchanged for.',
    problems: ['issuer_not_found'],
  },
  authorizationServer: {
    text: 'Returns the metadata of the OAuth endpoints (RFC 8414, section 2). It needs no key. It is 404 where `REMIT_BASE_URL` is not https, except on loopback.',
    problems: ['not_found'],
  },
  exchangeToken: {
    text: 'Exchanges a token of a trusted issuer for a short credential (RFC 8693), as form or JSON. Refusals have the members `error` and `error_description` of RFC 6749, section 5.2, beside those of a problem.',
    problems: ['invalid_grant', 'invalid_scope', 'invalid_target', 'unsupported_grant_type'],
  },
} satisfies Record<string, OperationText>
