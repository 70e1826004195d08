import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select, TextArea } from '../../ui/field.tsx'
import { Row, Stack } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'
import { NEW_CONDITION, TESTS } from './conditions.ts'
import type { ConditionDraft } from './conditions.ts'
import styles from './issuers.module.css'

const OPTIONS = TESTS.map((test) => [test, t.issuers.tests[test]] as const)

interface ConditionsFieldProps {
  readonly legend: string
  readonly hint?: string
  readonly fault: string | undefined
  readonly conditions: readonly ConditionDraft[]
  readonly isReadOnly: boolean
  readonly onConditions: (conditions: readonly ConditionDraft[]) => void
}

/** Tests of claims, one a row. */
export function ConditionsField(props: ConditionsFieldProps) {
  const { legend, hint, fault, conditions, isReadOnly, onConditions } = props
  const change = (at: number, part: Partial<ConditionDraft>) =>
    onConditions(conditions.map((one, i) => (i === at ? { ...one, ...part } : one)))
  return (
    <fieldset>
      <legend className={ui['legend']}>{legend}</legend>
      <Stack>
        {conditions.map(({ claim, test, value }, i) => (
          <div key={i} className={styles['condition']}>
            <Input
              mono
              readOnly={isReadOnly}
              label={t.issuers.claim}
              value={claim}
              onValue={(text) => change(i, { claim: text })}
            />
            <Select
              label={t.issuers.test}
              value={test}
              options={OPTIONS}
              disabled={isReadOnly}
              onValue={(text) => change(i, { test: TESTS.find((one) => one === text) ?? 'equals' })}
            />
            {test === 'in' ? (
              <TextArea
                mono
                rows={2}
                readOnly={isReadOnly}
                label={t.issuers.values}
                value={value}
                onValue={(text) => change(i, { value: text })}
              />
            ) : (
              <Input
                mono
                readOnly={isReadOnly}
                label={t.issuers.value}
                value={value}
                onValue={(text) => change(i, { value: text })}
              />
            )}
            {!isReadOnly && (
              <Button
                tone="quiet"
                aria-label={`${t.issuers.removeCondition} ${claim}`}
                onClick={() => onConditions(conditions.filter((_, at) => at !== i))}
              >
                {t.issuers.removeCondition}
              </Button>
            )}
          </div>
        ))}
        {fault && <div className={ui['fault']}>{fault}</div>}
        {hint && <div className={ui['hint']}>{hint}</div>}
        {!isReadOnly && (
          <Row>
            <Button onClick={() => onConditions([...conditions, NEW_CONDITION])}>
              {t.issuers.addCondition}
            </Button>
          </Row>
        )}
      </Stack>
    </fieldset>
  )
}
