import type { Validation } from '@remit/contract'
import { RemitError } from '@remit/contract/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import type { ReactNode } from 'react'
import { refresh } from '../../api/query-client.ts'
import type { Request } from '../../format/curl.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { ActionForm, ConfirmDelete } from '../../ui/action.tsx'
import { Card, Row, Stack } from '../../ui/layout.tsx'
import { Loaded, Note, Skeleton } from '../../ui/states.tsx'
import { LazyTextDiff } from '../../ui/text-diff.tsx'
import { announce } from '../../ui/toasts.tsx'
import type { Drafts, Version } from './draft.ts'
import { useValidation } from './validation.ts'
import type { DraftFieldsProps } from './validation.ts'

/** The lists of the kinds of rules. A kind is also the key of its queries. */
const LISTS = {
  policies: { to: '/policies', search: {} },
  'approval-rules': { to: '/policies', search: { tab: 'approval-rules' } },
  trust: { to: '/agents', search: { tab: 'trust' } },
  issuers: { to: '/agents', search: { tab: 'issuers' } },
} as const
type Kind = keyof typeof LISTS

interface DraftProps<Rule, Input, Draft, Saved> {
  readonly kind: Kind
  readonly drafts: Drafts<Rule, Input, Draft>
  readonly first: Draft
  /** The version that the draft began with: a newer one makes Save a conflict. */
  readonly stored?: Version<Rule> | null
  readonly mayChange: boolean
  /** The id as typed, where it is no member of the body. */
  readonly id?: string
  readonly validate: (input: Input, signal: AbortSignal, id: string) => Promise<Validation>
  readonly store: (input: Input, headers: { 'if-match'?: string }) => Promise<Saved>
  /** Reads the version that is stored now. */
  readonly read?: () => Promise<Version<Rule>>
  /** Where the page goes once the rule is saved. */
  readonly onSaved?: (saved: Saved) => unknown
}

/** One draft of a rule: checked as it is typed, saved over the version that it began with. */
export function useDraft<Rule, Input, Draft extends { readonly kept: object }, Saved>(
  props: DraftProps<Rule, Input, Draft, Saved>,
) {
  const { kind, drafts, first, stored = null, mayChange, id = '', read } = props
  const [draft, setDraft] = useState(first)
  const [base, setBase] = useState(stored)
  const input = drafts.inputOf(draft)
  const validation = useValidation({
    name: kind,
    input: mayChange && draft !== drafts.empty ? { id, body: input } : null,
    ask: ({ id: typed, body }, signal) => props.validate(body, signal, typed),
  })
  const save = useMutation({
    mutationFn: async ({ edited, version }: { edited: Draft; version: Version<Rule> | null }) => {
      const headers = version ? { 'if-match': version.etag } : {}
      const saved = await props.store(drafts.inputOf(edited), headers)
      if (read) setBase(await read())
      return saved
    },
    onSuccess: async (saved) => {
      announce(t.policies.saved, typeof saved === 'string' ? saved : undefined)
      await refresh(kind)
      await props.onSaved?.(saved)
    },
  })
  const isConflict = save.error instanceof RemitError && save.error.status === 412
  return {
    input,
    mayChange,
    isInvalid: validation.data?.valid === false,
    isNew: draft === drafts.empty,
    isSaving: save.isPending,
    etag: base?.etag,
    save: () => save.mutate({ edited: draft, version: base }),
    /** The error of saving that is not a conflict. */
    error: isConflict ? null : save.error,
    fields: {
      draft,
      onDraft: setDraft,
      isReadOnly: !mayChange,
      validation,
      error: save.error,
    } satisfies DraftFieldsProps<Draft>,
    conflict: isConflict && read && (
      <Conflict
        read={read}
        textOf={({ rule }) => asText(drafts.inputOf(drafts.draftOf(rule)))}
        mine={asText(input)}
        onTheirs={(theirs) => {
          setDraft(drafts.draftOf(theirs.rule))
          setBase(theirs)
          save.reset()
        }}
        onMine={(theirs) => {
          const edited = { ...draft, kept: drafts.draftOf(theirs.rule).kept }
          setDraft(edited)
          setBase(theirs)
          save.mutate({ edited, version: theirs })
        }}
      />
    ),
  }
}

const asText = (value: unknown): string => JSON.stringify(value, null, 2)

interface DraftFormProps {
  readonly editor: Omit<ReturnType<typeof useDraft>, 'fields' | 'input'>
  readonly title?: string
  readonly className?: string | undefined
  /** Buttons beside the title. */
  readonly actions?: ReactNode
  readonly children: ReactNode
  /** The required fields that are not in the draft have values. */
  readonly isComplete: boolean
  /** The text of the button that saves. */
  readonly save: string
  /** The request that saves. */
  readonly request: () => Request
}

/** The form of a rule: its fields, the error of the server, and the button that saves. */
export function DraftForm(props: DraftFormProps) {
  const { editor, title = t.policies.form, className, actions, children } = props
  const { isComplete, save, request } = props
  const { etag } = editor
  return (
    <Card className={className} title={title} actions={actions}>
      <ActionForm
        request={() => ({
          ...request(),
          ...(etag !== undefined && { headers: { 'If-Match': etag } }),
        })}
        verb={save}
        isReadOnly={!editor.mayChange}
        isDisabled={editor.isInvalid || !isComplete}
        action={{ isPending: editor.isSaving, error: editor.error, mutate: editor.save }}
      >
        {children}
      </ActionForm>
    </Card>
  )
}

/** Goes to the list of the rules of a kind. */
export function useLeave(kind: Kind): () => Promise<void> {
  const navigate = useNavigate()
  return () => navigate(LISTS[kind])
}

interface DeleteRuleProps {
  readonly kind: Kind
  readonly texts: { readonly deleteTitle: string; readonly deleteText: string }
  readonly path: string
  readonly onDelete: () => Promise<unknown>
  readonly children?: ReactNode
}

/** The button that deletes the rule of the page. */
export function DeleteRule({ kind, texts, path, onDelete, children }: DeleteRuleProps) {
  const leave = useLeave(kind)
  return (
    <ConfirmDelete
      title={texts.deleteTitle}
      text={texts.deleteText}
      request={() => ({ method: 'DELETE', path })}
      onDelete={onDelete}
      onDeleted={async () => {
        await leave()
        await refresh(kind)
      }}
    >
      {children}
    </ConfirmDelete>
  )
}

interface ConflictProps<Stored> {
  /** Reads the version that is stored now. */
  readonly read: () => Promise<Stored>
  /** The stored version and the draft, as texts that compare well. */
  readonly textOf: (stored: Stored) => string
  readonly mine: string
  readonly onTheirs: (stored: Stored) => void
  readonly onMine: (stored: Stored) => void
}

/** Somebody else was faster: both versions are shown, and the typed text stays until its author decides. */
function Conflict<Stored>(props: ConflictProps<Stored>) {
  const { read, textOf, mine, onTheirs, onMine } = props
  const query = useQuery({ queryKey: ['conflict'], queryFn: read, gcTime: 0, staleTime: 0 })
  return (
    <Stack>
      <Note tone="wait">
        <span role="alert">{t.policies.conflict}</span>
      </Note>
      <Loaded query={query}>
        {(theirs) => (
          // Together: the difference would move the buttons.
          <Suspense fallback={<Skeleton />}>
            <Stack>
              <div>
                <h3>{t.policies.conflictDifference}</h3>
                <LazyTextDiff
                  label={t.policies.conflictDifference}
                  before={textOf(theirs)}
                  after={mine}
                />
              </div>
              <Row>
                <Button onClick={() => onTheirs(theirs)}>{t.policies.showTheirs}</Button>
                <Button onClick={() => onMine(theirs)}>{t.policies.keepMine}</Button>
              </Row>
            </Stack>
          </Suspense>
        )}
      </Loaded>
    </Stack>
  )
}
