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
      <code className={styles['condition']} title={condition}>
        <Literal>{condition}</Literal>
      </code>
    )}
  </>
)
