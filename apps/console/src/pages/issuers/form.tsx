import { t } from '../../texts.ts'
import { Checkbox, Input, Select, TextArea, UtcInput } from '../../ui/field.tsx'
import { Grid, Stack, Row } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'
import { fieldsOf } from '../rules/validation.ts'
import type { DraftFieldsProps } from '../rules/validation.ts'
import { ValidationNote } from '../rules/form.tsx'
import { EXCHANGEABLE, PRESETS, SIGNATURE_ALGS } from '@remit/contract/lists'
import type { Draft, MappingDraft } from './draft.ts'
import styles from './issuers.module.css'
import { Button } from '../../ui/button.tsx'
import { NEW_CONDITION, TESTS } from './conditions.ts'
import type { ConditionDraft } from './conditions.ts'

const PRESET_OPTIONS = [
  ['', t.common.none],
  ...PRESETS.map((preset) => [preset, preset] as const),
] as const
const KEYS = Object.entries(t.issuers.keySources)
const REPLAYS = Object.entries(t.issuers.replays)
const NUMBERS = ['credential_ttl_seconds', 'max_token_age_seconds', 'clock_skew_seconds'] as const

export function IssuerForm(props: DraftFieldsProps<Draft>) {
  const { draft, isReadOnly = false, validation } = props
  const { set, faultOf, text, choice, check } = fieldsOf(props)
  const keys = fieldsOf({ ...props, draft: draft.jwks, onDraft: (jwks) => set({ jwks }) })
  return (
    <Stack>
      <Grid>
        <Input
          {...text('issuer')}
          mono
          required
          label={t.agents.issuers.issuer}
          hint={t.issuers.issuerHint}
        />
        <Select
          {...choice('preset')}
          label={t.issuers.preset}
          hint={t.issuers.presetHint}
          options={PRESET_OPTIONS}
        />
      </Grid>
      <Grid>
        <TextArea
          {...text('audiences')}
          mono
          rows={2}
          label={t.agents.issuers.audiences}
          hint={t.issuers.audiencesHint}
        />
        <Checkbox {...check('allow_foreign_audiences')} label={t.issuers.foreign} />
      </Grid>
      <Grid>
        <Select {...keys.choice('type')} label={t.issuers.keys} options={KEYS} />
        {draft.jwks.type === 'url' && (
          <Input {...keys.text('url', 'jwks')} mono label={t.issuers.keysUrl} />
        )}
      </Grid>
      {draft.jwks.type === 'inline' && (
        <TextArea {...keys.text('inline', 'jwks')} mono label={t.issuers.keysInline} />
      )}
      <ConditionsField
        legend={t.issuers.conditions}
        hint={t.issuers.conditionsHint}
        fault={faultOf('conditions')}
        conditions={draft.conditions}
        isReadOnly={isReadOnly}
        onConditions={(conditions) => set({ conditions })}
      />
      <MappingField {...props} draft={draft.agent} onDraft={(agent) => set({ agent })} />
      <Choices
        legend={t.agents.scopes}
        all={EXCHANGEABLE}
        chosen={draft.scopes}
        fault={faultOf('scopes')}
        isReadOnly={isReadOnly}
        onChosen={(scopes) => set({ scopes })}
      />
      <details>
        <summary>{t.issuers.more}</summary>
        <Stack>
          <Choices
            legend={t.issuers.algs}
            all={SIGNATURE_ALGS}
            chosen={draft.allowed_algs}
            fault={faultOf('allowed_algs')}
            isReadOnly={isReadOnly}
            onChosen={(allowed_algs) => set({ allowed_algs })}
          />
          <Grid>
            {NUMBERS.map((name) => (
              <Input
                {...text(name)}
                key={name}
                inputMode="numeric"
                label={t.issuers.numbers[name]}
              />
            ))}
          </Grid>
          <Grid>
            <Select {...choice('replay')} label={t.issuers.replay} options={REPLAYS} />
            <UtcInput {...text('expires_at')} label={t.policies.ends} />
          </Grid>
        </Stack>
      </details>
      <Checkbox {...check('enabled')} label={t.policies.enabled} />
      <ValidationNote validation={validation} />
    </Stack>
  )
}

interface ChoicesProps<T extends string> {
  readonly legend: string
  readonly all: readonly T[]
  readonly chosen: readonly T[]
  readonly fault: string | undefined
  readonly isReadOnly: boolean
  readonly onChosen: (chosen: T[]) => void
}

function Choices<T extends string>(props: ChoicesProps<T>) {
  const { legend, all, chosen, fault, isReadOnly, onChosen } = props
  return (
    <fieldset>
      <legend className={ui['legend']}>{legend}</legend>
      <div className={styles['choices']}>
        {all.map((one) => (
          <Checkbox
            key={one}
            label={one}
            isOn={chosen.includes(one)}
            disabled={isReadOnly}
            onToggle={(isOn) =>
              onChosen(all.filter((other) => (other === one ? isOn : chosen.includes(other))))
            }
          />
        ))}
      </div>
      {fault && <div className={ui['fault']}>{fault}</div>}
    </fieldset>
  )
}

const MAPPINGS = Object.entries(t.issuers.mappings)

/** The agent that a token stands for. */
function MappingField(props: DraftFieldsProps<MappingDraft>) {
  const { draft, isReadOnly = false } = props
  const { set, text, choice } = fieldsOf(props)
  const { type, rules } = draft
  return (
    <Stack>
      <Grid>
        <Select
          {...choice('type', type === 'claim' ? '' : 'agent')}
          label={t.issuers.mapping}
          options={MAPPINGS}
        />
        {type === 'claim' && (
          <Input {...text('claim', 'agent')} mono label={t.issuers.agentClaim} />
        )}
      </Grid>
      {type === 'rules' &&
        rules.map((rule, i) => {
          const part = fieldsOf({
            draft: rule,
            onDraft: (changed) => set({ rules: rules.with(i, changed) }),
            isReadOnly,
          })
          return (
            <div key={i} className={styles['rule']}>
              <ConditionsField
                legend={t.issuers.rule(i + 1)}
                fault={undefined}
                conditions={rule.match}
                isReadOnly={isReadOnly}
                onConditions={(match) => part.set({ match })}
              />
              <Row>
                <Input {...part.text('agent_id')} mono label={t.agents.id} />
                {!isReadOnly && (
                  <Button tone="quiet" onClick={() => set({ rules: rules.toSpliced(i, 1) })}>
                    {t.issuers.removeRule}
                  </Button>
                )}
              </Row>
            </div>
          )
        })}
      {type === 'rules' && !isReadOnly && (
        <Row>
          <Button
            onClick={() => set({ rules: [...rules, { match: [NEW_CONDITION], agent_id: '' }] })}
          >
            {t.issuers.addRule}
          </Button>
        </Row>
      )}
    </Stack>
  )
}

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
function ConditionsField(props: ConditionsFieldProps) {
  const { legend, hint, fault, conditions, isReadOnly, onConditions } = props
  return (
    <fieldset>
      <legend className={ui['legend']}>{legend}</legend>
      <Stack>
        {conditions.map((condition, i) => {
          const { text, choice } = fieldsOf({
            draft: condition,
            onDraft: (changed) => onConditions(conditions.with(i, changed)),
            isReadOnly,
          })
          return (
            <div key={i} className={styles['condition']}>
              <Input {...text('claim')} mono label={t.issuers.claim} />
              <Select {...choice('test')} label={t.issuers.test} options={OPTIONS} />
              {condition.test === 'in' ? (
                <TextArea {...text('value')} mono rows={2} label={t.issuers.values} />
              ) : (
                <Input {...text('value')} mono label={t.issuers.value} />
              )}
              {!isReadOnly && (
                <Button
                  tone="quiet"
                  aria-label={`${t.issuers.removeCondition} ${condition.claim}`}
                  onClick={() => onConditions(conditions.toSpliced(i, 1))}
                >
                  {t.issuers.removeCondition}
                </Button>
              )}
            </div>
          )
        })}
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
