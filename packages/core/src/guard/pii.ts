import { findPersonalData as findSpans } from '../personal-data/personal-data.ts'
import type { Detection } from './detection.ts'

/** Finds personal data, which redaction replaces. Linear. */
export const findPersonalData = (text: string): Detection[] =>
  findSpans(text).map(({ kind, start, end }) => ({
    detector: `pii.${kind}`,
    category: 'pii',
    severity: 'medium',
    start,
    end,
    view: 'original',
    reason: `pii:${kind}`,
    replacement: `[REDACTED:${kind}]`,
  }))
