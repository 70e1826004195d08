import type { Issuer } from '@remit/contract'
import { EXCHANGEABLE, PRESETS, SIGNATURE_ALGS } from '@remit/contract/lists'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { remit } from '../../api/client.ts'
import { issuersQuery } from '../../api/queries.ts'
import { useActorText, useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Checkbox, Input, Select, TextArea, UtcInput } from '../../ui/field.tsx'
import { Card, Facts, Grid, Page, Row, Stack } from '../../ui/layout.tsx'
import { Loaded, Missing, Note } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Id, Literal, Time } from '../../ui/values.tsx'
import { DeleteRule, DraftForm, useDraft } from '../rules/editor.tsx'
import { ValidationNote } from '../rules/form.tsx'
import { fieldsOf } from '../rules/validation.ts'
import type { DraftFieldsProps } from '../rules/validation.ts'
import { NEW_CONDITION, TESTS } from './conditions.ts'
import type { ConditionDraft } from './conditions.ts'
import { issuerDrafts } from './draft.ts'
import type { Draft, MappingDraft } from './draft.ts'
import styles from './issuers.module.css'

const PATH = '/v1/identity/idp'

/** One trusted issuer, or the form of a new one, which can begin with the terms of another. */
export function IssuerPage() {
  const { id } = useParams({ from: '/agents/issuers/$id' })
  const { copy } = useSearch({ from: '/agents/issuers/$id' })
  const shown = id === 'new' ? copy : id
  const query = useQuery({ ...issuersQuery, enabled: shown !== undefined })
  const name = query.data?.data.find((one) => one.id === id)?.issuer
  return (
    <Page
      title={id === 'new' ? t.issuers.create : <Literal>{name ?? t.issuers.title(id)}</Literal>}
      lead={name !== undefined && <Id>{id}</Id>}
    >
      {shown === undefined ? (
        <NewIssuer first={issuerDrafts.empty} />
      ) : (
        <Loaded query={query}>
          {({ data }) => {
            const stored = data.find((one) => one.id === shown)
            if (!stored) return <Missing />
            return id === 'new' ? (
              <NewIssuer key={shown} first={issuerDrafts.draftOf(stored)} />
            ) : (
              <StoredIssuer issuer={stored} />
            )
          }}
        </Loaded>
      )}
    </Page>
  )
}

function NewIssuer({ first }: { first: Draft }) {
  const navigate = useNavigate()
  const editor = useDraft({
    kind: 'issuers',
    drafts: issuerDrafts,
    first,
    mayChange: true,
    validate: (body, signal) => remit.trustIssuer({ query: { validate: 'true' }, body, signal }),
    store: (body) => remit.trustIssuer({ body }),
    onSaved: ({ id }) => navigate({ to: '/agents/issuers/$id', params: { id } }),
  })
  return (
    <DraftForm
      editor={editor}
      title={t.issuers.terms}
      className={ui['form']}
      isComplete={!editor.isNew}
      save={editor.isSaving ? t.issuers.fetching : t.policies.create}
      request={() => ({ method: 'POST', path: PATH, body: editor.input })}
    >
      <IssuerForm {...editor.fields} />
    </DraftForm>
  )
}

/** Terms never change: another issuer can begin with them. */
function StoredIssuer({ issuer }: { issuer: Issuer }) {
  const actorText = useActorText()
  const can = useCan()
  const { id, keys } = issuer
  return (
    <Stack>
      <Card
        className={ui['form']}
        title={t.agents.issuers.keys}
        actions={
          <>
            {can('POST /v1/identity/idp') && (
              <Link
                to="/agents/issuers/$id"
                params={{ id: 'new' }}
                search={{ copy: id }}
                className={buttonClass()}
              >
                {t.issuers.copy}
              </Link>
            )}
            {can('DELETE /v1/identity/idp/{idpID}') && (
              <DeleteRule
                kind="issuers"
                texts={t.issuers}
                path={`${PATH}/${id}`}
                onDelete={() => remit.removeIssuer({ params: { idpID: id } })}
              />
            )}
          </>
        }
      >
        <Facts
          rows={[
            [t.agents.issuers.keys, String(keys.count)],
            [
              t.agents.issuers.fetched,
              keys.fetched_at === null ? t.common.never : <Time at={keys.fetched_at} as="full" />,
            ],
            [t.agents.issuers.error, keys.error],
            [t.common.created, <Time key="c" at={issuer.created_at} as="full" />],
            [
              t.common.createdBy,
              <Literal key="b">{actorText({ type: '', id: issuer.created_by }) ?? ''}</Literal>,
            ],
          ]}
        />
      </Card>
      <Card className={ui['form']} title={t.issuers.terms}>
        <Stack>
          <Note tone="info">{t.issuers.immutable}</Note>
          <IssuerForm isReadOnly draft={issuerDrafts.draftOf(issuer)} onDraft={() => undefined} />
        </Stack>
      </Card>
    </Stack>
  )
}

const PRESET_OPTIONS = [['', t.common.none], ...PRESETS] as const
const KEYS = Object.entries(t.issuers.keySources)
const REPLAYS = Object.entries(t.issuers.replays)
const NUMBERS = ['credential_ttl_seconds', 'max_token_age_seconds', 'clock_skew_seconds'] as const

function IssuerForm(props: DraftFieldsProps<Draft>) {
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
