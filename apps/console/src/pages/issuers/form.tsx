import { t } from '../../texts.ts'
import { Checkbox, Input, Select, TextArea, UtcInput } from '../../ui/field.tsx'
import { Grid, Stack, Row } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'
import { fieldsOf } from '../rules/validation.ts'
import type { DraftFieldsProps } from '../rules/validation.ts'
import { ValidationNote } from '../rules/form.tsx'
import { ALGS, PRESETS, SCOPES } from './draft.ts'
import type { Draft, MappingRule } from './draft.ts'
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
const NUMBERS = [
  ['ttl', 'credential_ttl_seconds'],
  ['age', 'max_token_age_seconds'],
  ['skew', 'clock_skew_seconds'],
] as const

export function IssuerForm(props: DraftFieldsProps<Draft>) {
  const { draft, isReadOnly = false, validation } = props
  const { set, faultOf, text, choice, check } = fieldsOf(props)
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
        <Checkbox {...check('foreign')} label={t.issuers.foreign} />
      </Grid>
      <Grid>
        <Select {...choice('keys')} label={t.issuers.keys} options={KEYS} />
        {draft.keys === 'url' && (
          <Input {...text('keysUrl', 'jwks')} mono label={t.issuers.keysUrl} />
        )}
      </Grid>
      {draft.keys === 'inline' && (
        <TextArea {...text('keysInline', 'jwks')} mono label={t.issuers.keysInline} />
      )}
      <ConditionsField
        legend={t.issuers.conditions}
        hint={t.issuers.conditionsHint}
        fault={faultOf('conditions')}
        conditions={draft.conditions}
        isReadOnly={isReadOnly}
        onConditions={(conditions) => set({ conditions })}
      />
      <MappingField {...{ draft, isReadOnly }} fault={faultOf('agent')} onDraft={set} />
      <Choices
        legend={t.agents.scopes}
        all={SCOPES}
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
            all={ALGS}
            chosen={draft.algs}
            fault={faultOf('allowed_algs')}
            isReadOnly={isReadOnly}
            onChosen={(algs) => set({ algs })}
          />
          <Grid>
            {NUMBERS.map(([name, path]) => (
              <Input
                {...text(name, path)}
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
  readonly onChosen: (chosen: readonly T[]) => void
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

interface MappingFieldProps {
  readonly draft: Draft
  readonly isReadOnly: boolean
  readonly fault: string | undefined
  readonly onDraft: (change: Partial<Draft>) => void
}

/** The agent that a token stands for. */
function MappingField({ draft, isReadOnly, fault, onDraft }: MappingFieldProps) {
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
