import type { AgentSelector, TrustPolicy, TrustPolicyInput } from '@remit/contract'
import { parseJson } from '@remit/contract/fit'
import { draftsOf, lines, linesOf, same, text } from '../rules/draft.ts'

const quoted = (value: string): string => (/^[^\s"]+$/.test(value) ? value : JSON.stringify(value))

/** A selector in one line: a pattern, or labels as `name=value`. */
export const selectorText = (selector: AgentSelector): string =>
  typeof selector === 'string'
    ? selector
    : Object.entries(selector.labels)
        .map(([name, value]) => `${name}=${quoted(value)}`)
        .join(' ')

const LABELS = /^(?:[^\s=]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]*)(?:\s+|$))+$/
const LABEL = /([^\s=]+)=("(?:[^"\\]|\\.)*"|[^\s"]*)/g

export function selectorOf(line: string): AgentSelector {
  if (!LABELS.test(line)) return line
  return {
    labels: Object.fromEntries(
      Array.from(line.matchAll(LABEL), ([, name = '', value = '']) => [
        name,
        value.startsWith('"') ? ((parseJson(value) as string | undefined) ?? value) : value,
      ]),
    ),
  }
}

const selectors = {
  empty: '',
  typed: (value: readonly AgentSelector[]) => value.map(selectorText).join('\n'),
  value: (typed: string) => linesOf(typed).map(selectorOf),
}

export const trustDrafts = draftsOf<TrustPolicy, TrustPolicyInput>()({
  description: text,
  effect: same<'allow' | 'deny'>('allow'),
  source_agents: selectors,
  target_agents: selectors,
  actions: lines(''),
  condition: text,
  enabled: same(true),
  expires_at: same<string | null>(null),
})
export type Draft = typeof trustDrafts.empty
