import { z } from 'zod'
import { FLIPS } from '../dry-run.ts'
import { Plan, Timestamp } from '../primitives.ts'
import { Framework, FrameworkRole, ReadyReport, ReportSummary } from '../report-document.ts'
import { by, EVENT } from './row.ts'
import type { EntryRows } from './row.ts'

const { content_sha256, csv_sha256, ledger_head } = ReadyReport.shape
const bare = { description: '' }

export const reports = {
  'report.generated': {
    ...EVENT,
    says: 'a report was generated',
    data: z.strictObject({
      report_id: z.string(),
      framework: Framework,
      from: Timestamp,
      to: Timestamp,
      categories: z.array(z.string()),
      role: FrameworkRole.nullable(),
      requested_at: Timestamp,
      evaluation: z.boolean().describe('true if the server ran in evaluation mode'),
      content_sha256: content_sha256.meta(bare),
      csv_sha256: csv_sha256.meta(bare),
      catalog_sha256: z.string(),
      checkpoint: z
        .object({ seq: z.int(), hash: z.string() })
        .describe('`seq` and `hash` of the last entry that it read'),
      ledger_head: ledger_head.describe('the status of the whole ledger at that time'),
      summary: ReportSummary,
      verified: z.boolean().nullable().describe('the status up to the end of the period'),
      ...by,
    }),
    agent: 'never',
  },
  'policy.dry_run': {
    ...EVENT,
    says: 'a dry-run, a replay or a plan; never a decision',
    data: z.strictObject({
      method: z.enum(['dry_run', 'replay', 'plan']).describe('`dry_run`, `replay`, `plan`'),
      overlay: z
        .object({
          digest: z.string(),
          added: z.int(),
          rules: z.array(z.string()),
          removed: z.int(),
          removed_ids: z.array(z.string()),
          default_effect: z.enum(['allow', 'deny']).optional(),
          objects: z.record(z.string(), z.object({ set: z.int(), removed: z.int() })).optional(),
        })
        .optional()
        .describe(
          '`digest`, `added`, `rules`, `removed`, `removed_ids`, `default_effect?`, `objects?`',
        ),
      requests: z.int().optional().describe('this and the next three: of a dry-run'),
      outcomes: z.record(z.string(), z.int()).optional(),
      plan: Plan.optional(),
      at: Timestamp.optional(),
      from: Timestamp.optional().describe('this and the next five: of a replay'),
      to: Timestamp.optional(),
      decisions: z.int().optional(),
      first_seq: z.int().nullable().optional(),
      last_seq: z.int().nullable().optional(),
      flipped: z
        .partialRecord(z.enum(FLIPS), z.int())
        .optional()
        .describe('earlier releases have fewer kinds'),
      policy_set: z
        .strictObject({
          id: z.string(),
          plan_digest: z.string(),
          changes: z.int(),
          drift: z.int(),
          tests: z.strictObject({ passed: z.int(), failed: z.int() }),
          replayed: z.int().optional(),
        })
        .optional()
        .describe('of a plan'),
      ...by,
    }),
    agent: 'never',
    carried: 'last',
  },
} as const satisfies EntryRows
