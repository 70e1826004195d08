import { autocompletion } from '@codemirror/autocomplete'
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import {
  bracketMatching,
  syntaxHighlighting,
  HighlightStyle,
  StreamLanguage,
} from '@codemirror/language'
import type { StringStream } from '@codemirror/language'
import { setDiagnostics } from '@codemirror/lint'
import type { Diagnostic } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView, keymap, placeholder } from '@codemirror/view'
import { useEffect, useEffectEvent, useRef } from 'react'
import { tags } from '@lezer/highlight'

/** The variables of conditions of policies and approval rules. */
export const RULE_VARIABLES: readonly string[] = [
  'action',
  'action_properties',
  'agent',
  'agent_id',
  'amount_usd',
  'context',
  'now',
  'resource',
  'subject',
]

/** The variables of conditions of trust policies. */
export const TRUST_VARIABLES: readonly string[] = ['action', 'context', 'now', 'source', 'target']

/** A fault at a place in the text; lines and columns count from 1. */
export interface Fault {
  readonly message: string
  readonly line: number
  readonly column: number
}

interface ConditionEditorProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly faults: readonly Fault[]
  readonly isReadOnly?: boolean
  readonly variables: readonly string[]
  /** Names seen below `context`. */
  readonly contextNames: readonly string[]
}

/**
 * An editor for one condition. It lives in a shadow root, where its styles are constructed sheets:
 * in the document they would be an inline element, which the content security policy refuses.
 */
export function ConditionEditor(props: ConditionEditorProps) {
  const { label, value, faults, variables, contextNames, isReadOnly = false } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const names = useRef(contextNames)
  const onValue = useEffectEvent((text: string) => props.onValue(text))
  const firstValue = useEffectEvent(() => value)

  useEffect(() => {
    const element = host.current
    if (!element) return undefined
    const hasAmount = variables.includes('amount_usd')
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: firstValue(),
        extensions: [
          history(),
          bracketMatching(),
          EditorView.lineWrapping,
          autocompletion({ override: [completeCel(variables, () => names.current)] }),
          cel,
          syntaxHighlighting(celColors),
          theme,
          placeholder(hasAmount ? 'amount_usd > 500.0' : 'has(context.ticket)'),
          // Tab moves the focus on: an editor must not trap the keyboard.
          keymap.of([...historyKeymap, ...defaultKeymap]),
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) onValue(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [label, isReadOnly, variables])

  useEffect(() => {
    names.current = contextNames
  }, [contextNames])

  useEffect(() => {
    const editor = view.current
    if (editor && editor.state.doc.toString() !== value)
      editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])

  useEffect(() => {
    const editor = view.current
    if (editor)
      editor.dispatch(
        setDiagnostics(
          editor.state,
          faults.map((fault) => place(editor, fault)),
        ),
      )
  }, [faults])

  return <div ref={host} />
}

function place({ state }: EditorView, { line, column, message }: Fault): Diagnostic {
  const { from, to } = state.doc.line(Math.min(Math.max(1, line), state.doc.lines))
  const start = Math.min(from + Math.max(0, column - 1), to)
  return { from: start, to: Math.min(to, start + 1), severity: 'error', message }
}

const COLORED = new Set([...RULE_VARIABLES, ...TRUST_VARIABLES])

/** Functions of CEL and its `strings` extension. */
const FUNCTIONS = [
  'all',
  'contains',
  'double',
  'duration',
  'endsWith',
  'exists',
  'exists_one',
  'filter',
  'getDayOfWeek',
  'getHours',
  'has',
  'int',
  'join',
  'lowerAscii',
  'map',
  'matches',
  'replace',
  'size',
  'split',
  'startsWith',
  'string',
  'substring',
  'timestamp',
  'trim',
  'upperAscii',
]
const CONSTANTS = new Set(['true', 'false', 'null', 'in'])

function token(stream: StringStream): string | null {
  if (stream.eatSpace()) return null
  if (stream.match(/^\/\/.*/)) return 'comment'
  if (stream.match(/^[rRbB]{0,2}(?:"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/)) return 'string'
  if (stream.match(/^(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)u?/)) return 'number'
  const word = stream.match(/^[A-Za-z_]\w*/)
  if (Array.isArray(word)) {
    const [name = ''] = word
    if (CONSTANTS.has(name)) return 'keyword'
    if (COLORED.has(name)) return 'variableName.special'
    return stream.peek() === '(' ? 'function' : 'propertyName'
  }
  stream.next()
  return 'operator'
}

/** Colors only: the server alone says which conditions are right. */
const cel = StreamLanguage.define<null>({
  name: 'cel',
  token,
  tokenTable: { function: tags.function(tags.variableName) },
})

const celColors = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--info)' },
  { tag: tags.string, color: 'var(--allow)' },
  { tag: tags.number, color: 'var(--wait)' },
  { tag: tags.comment, color: 'var(--muted)' },
  { tag: tags.function(tags.variableName), color: 'var(--info)' },
  { tag: tags.special(tags.variableName), color: 'var(--accent)', fontWeight: '600' },
])

/** Completes variables and functions, and after `context.` the names that requests had lately. */
const completeCel =
  (variables: readonly string[], contextNames: () => readonly string[]) =>
  (context: CompletionContext): CompletionResult | null => {
    const member = context.matchBefore(/context\.\w*/)
    if (member)
      return {
        from: member.from + 'context.'.length,
        options: contextNames().map((label) => ({ label, type: 'property' })),
      }
    const word = context.matchBefore(/\w+/)
    if (!word && !context.explicit) return null
    return {
      from: word?.from ?? context.pos,
      options: [
        ...variables.map((label) => ({ label, type: 'variable' })),
        ...FUNCTIONS.map((label) => ({ label, type: 'function' })),
      ],
    }
  }

/** The tokens of the page are inherited into the shadow root. */
export const theme = EditorView.theme({
  '&': {
    border: '1px solid var(--control)',
    borderRadius: '6px',
    background: 'var(--surface)',
    color: 'var(--text)',
    fontSize: '12px',
  },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '19px' },
  '.cm-content': { padding: '6px 0', minHeight: '64px', caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-tooltip': {
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    background: 'var(--raised)',
    color: 'var(--text)',
    fontSize: '12px',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    background: 'var(--selected)',
    color: 'var(--text)',
  },
  '.cm-diagnostic': { fontFamily: 'var(--sans)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--deny)' },
  '.cm-changedLine': { background: 'var(--allow-soft)' },
  '.cm-deletedChunk': { background: 'var(--deny-soft)' },
})
