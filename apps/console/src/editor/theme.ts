import { EditorView } from '@codemirror/view'

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
