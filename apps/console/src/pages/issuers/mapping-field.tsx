import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Grid, Row, Stack } from '../../ui/layout.tsx'
import { NEW_CONDITION } from './conditions.ts'
import { ConditionsField } from './conditions-field.tsx'
import type { Draft, MappingRule } from './draft.ts'
import styles from './issuers.module.css'

const MAPPINGS = Object.entries(t.issuers.mappings)

interface MappingFieldProps {
  readonly draft: Draft
  readonly isReadOnly: boolean
  readonly fault: string | undefined
  readonly onDraft: (change: Partial<Draft>) => void
}

/** The agent that a token stands for. */
export function MappingField({ draft, isReadOnly, fault, onDraft }: MappingFieldProps) {
  const { mapping, claim, rules } = draft
  const change = (at: number, part: Partial<MappingRule>) =>
    onDraft({ rules: rules.map((one, i) => (i === at ? { ...one, ...part } : one)) })
  return (
    <Stack>
      <Grid>
        <Select
          label={t.issuers.mapping}
          value={mapping}
          options={MAPPINGS}
          disabled={isReadOnly}
          fault={mapping === 'claim' ? undefined : fault}
          onValue={(type) => onDraft({ mapping: type as Draft['mapping'] })}
        />
        {mapping === 'claim' && (
          <Input
            mono
            readOnly={isReadOnly}
            label={t.issuers.agentClaim}
            value={claim}
            fault={fault}
            onValue={(text) => onDraft({ claim: text })}
          />
        )}
      </Grid>
      {mapping === 'rules' &&
        rules.map(({ match, agent_id }, i) => (
          <div key={i} className={styles['rule']}>
            <ConditionsField
              legend={t.issuers.rule(i + 1)}
              fault={undefined}
              conditions={match}
              isReadOnly={isReadOnly}
              onConditions={(conditions) => change(i, { match: conditions })}
            />
            <Row>
              <Input
                mono
                readOnly={isReadOnly}
                label={t.agents.id}
                value={agent_id}
                onValue={(text) => change(i, { agent_id: text })}
              />
              {!isReadOnly && (
                <Button
                  tone="quiet"
                  onClick={() => onDraft({ rules: rules.filter((_, at) => at !== i) })}
                >
                  {t.issuers.removeRule}
                </Button>
              )}
            </Row>
          </div>
        ))}
      {mapping === 'rules' && !isReadOnly && (
        <Row>
          <Button
            onClick={() => onDraft({ rules: [...rules, { match: [NEW_CONDITION], agent_id: '' }] })}
          >
            {t.issuers.addRule}
          </Button>
        </Row>
      )}
    </Stack>
  )
}
