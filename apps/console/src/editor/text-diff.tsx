import { unifiedMergeView } from '@codemirror/merge'
import { EditorState } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { useLayoutEffect, useRef } from 'react'
import { spellOut } from '../format/literal.ts'
import { theme } from './condition-editor.tsx'

interface TextDiffProps {
  readonly label: string
  readonly before: string
  readonly after: string
}

/** Two texts in one, with what was removed and added. */
export function TextDiff({ label, before, after }: TextDiffProps) {
  const host = useRef<HTMLDivElement>(null)
  // Before the first paint, so that nothing below moves.
  useLayoutEffect(() => {
    const element = host.current
    if (!element) return undefined
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: spellOut(after, true),
        extensions: [
          theme,
          EditorView.lineWrapping,
          EditorState.readOnly.of(true),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          unifiedMergeView({
            original: spellOut(before, true),
            mergeControls: false,
            gutter: true,
          }),
        ],
      }),
    })
    return () => editor.destroy()
  }, [label, before, after])
  return <div ref={host} />
}
