import type { RuleMode } from '@remit/contract'
import { t } from '../../texts.ts'
import { Literal } from '../../ui/values.tsx'
import styles from './rules.module.css'

interface Named {
  readonly description: string | null
  readonly condition: string | null
}

/** Description and condition of a rule. */
export const RuleName = ({ rule: { description, condition } }: { rule: Named }) => (
  <>
    <Literal>{description ?? t.policies.unnamed}</Literal>
    {condition !== null && (
      <Literal as="code" className={styles['condition']} title={condition}>
        {condition}
      </Literal>
    )}
  </>
)

/** Why a rule decides nothing; null for one that is enforced. */
export function stateText({ enabled, mode }: { enabled: boolean; mode: RuleMode }): string | null {
  if (!enabled) return t.policies.disabled
  return mode === 'observe' ? t.policies.observed : null
}

export const CONDITION_COLUMN = {
  name: t.policies.condition,
  value: ({ condition }: Named) => condition,
  isFileOnly: true,
}

/** The patterns of a rule, each in a column. */
export const PATTERN_COLUMNS = (['agents', 'actions', 'resources'] as const).map((name) => ({
  name: t.policies[name],
  value: (rule: Readonly<Record<typeof name, readonly string[]>>) => rule[name].join(', '),
  as: 'id' as const,
}))
