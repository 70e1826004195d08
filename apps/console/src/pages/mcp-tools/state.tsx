import type { McpToolState } from '@remit/contract'
import { t } from '../../texts.ts'
import { Badge } from '../../ui/values.tsx'

const TONES = { seen: 'wait', admitted: 'allow', changed: 'deny', withdrawn: undefined } as const

export const ToolState = ({ state }: { state: McpToolState }) => (
  <Badge tone={TONES[state]}>{t.mcpTools.states[state]}</Badge>
)
