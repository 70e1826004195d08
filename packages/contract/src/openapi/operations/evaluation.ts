import type { OperationText } from './operation-text.ts'

/** Scorers, the guard, compliance reports, dry-runs and verification. */
export const evaluationOperations = {
  runScorer: {
    text: 'Scores up to 1,000 results with one scorer. A result that cannot be scored has `score: null` and its error, and never counts as 0. The statistics are over the scored results.',
    problems: ['scorer_not_found', 'invalid_params'],
  },
  listScorers: {
    text: 'Lists the scorers of this installation with their parameters as JSON Schema.',
  },
  checkContent: {
    text: 'Checks a text or a conversation for prompt injection, secrets, personal data, invisible characters and canaries. Offsets are UTF-16 indices into the original text. It is a filter, not a security boundary.',
    problems: ['agent_mismatch'],
  },
  createReport: {
    text: 'Generates a compliance report from the ledger. Returns 201 with the report, or 202 with `status: "generating"` and its `Location` if it takes longer than five seconds. The hash of the report is recorded in the ledger.',
  },
  listReports: {
    text: 'Lists the reports of the organization, newest first, without their content.',
  },
  getReport: {
    text: 'Returns one report as JSON, CSV, HTML or OSCAL. `Content-Digest` and `csv_sha256` verify a stored copy against the ledger.',
    problems: ['report_not_found', 'report_not_ready', 'report_changed'],
  },
  listReportEvidence: {
    text: 'Lists the entries behind a control or a check of a report, computed again from the ledger.',
    problems: ['report_not_found', 'report_not_ready', 'report_changed', 'ledger_pruned'],
  },
  dryRunPolicies: {
    text: 'Returns the decisions that `POST /v1/authorize` would make, for one request or up to 1,000, now or at another time, optionally with other policy rules. Nothing changes; one entry records the dry-run.',
    problems: ['too_many_broad_rules'],
  },
  replayPolicies: {
    text: 'Replays recorded decisions of a period under the current rules and an overlay, and counts those that change. One request replays up to 100,000 decisions; `next_cursor` continues.',
    problems: ['rules_changed', 'too_many_broad_rules', 'ledger_pruned'],
  },
  verifyLedger: {
    text: 'Verifies hashes, Merkle tree, signatures and stored reports. Returns 200 even for an invalid ledger; see `valid` and `errors`. `not_checked` lists the limits of the result.',
  },
} satisfies Record<string, OperationText>
