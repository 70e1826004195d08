import type { Gate } from '../gate.ts'
import type { SelfTestReport } from '../self-test.ts'

interface Adapter {
  readonly selfTest: (gate: Gate) => Promise<SelfTestReport>
}

/** A framework that an adapter of this package governs. */
export interface Framework {
  readonly name: string
  /** On npm. */
  readonly package: string
  /** Sub-path of this package. */
  readonly adapter: string
  readonly load: () => Promise<Adapter>
  /** The oldest version that the adapter can govern. */
  readonly since: string
  /** Another program runs the tools, and asks a hook in this one first. */
  readonly isHooked?: true
  /** The adapter works without the package. */
  readonly isOptional?: true
}

export const FRAMEWORKS: readonly Framework[] = [
  {
    name: 'Vercel AI SDK',
    package: 'ai',
    adapter: 'vercel',
    load: () => import('../adapters/vercel.ts'),
    since: '7.0.0',
  },
  {
    name: 'OpenAI Agents',
    package: '@openai/agents',
    adapter: 'openai-agents',
    load: () => import('../adapters/openai-agents.ts'),
    since: '0.20.0',
  },
  {
    name: 'LangChain',
    package: 'langchain',
    adapter: 'langchain',
    load: () => import('../adapters/langchain.ts'),
    since: '1.5.0',
  },
  {
    name: 'Mastra',
    package: '@mastra/core',
    adapter: 'mastra',
    load: () => import('../adapters/mastra.ts'),
    since: '1.70.0',
  },
  {
    name: 'Claude Agent SDK',
    package: '@anthropic-ai/claude-agent-sdk',
    adapter: 'claude-agent',
    load: () => import('../adapters/claude-agent.ts'),
    // An older host ignores `onFailure: 'block'`, and a hook that fails lets the call run.
    since: '0.3.300',
    isHooked: true,
  },
  {
    name: 'OpenAI',
    package: 'openai',
    adapter: 'openai',
    load: () => import('../adapters/openai.ts'),
    since: '7.0.0',
    isOptional: true,
  },
]

/** Returns true if a version is at least another one. Pre-releases count as their release. */
export function isAtLeast(version: string, least: string): boolean {
  const [found, wanted] = [version, least].map((text) => text.split(/[.+-]/).map(Number))
  for (const [index, part] of (wanted ?? []).entries()) {
    const difference = (found?.[index] ?? 0) - part
    if (difference !== 0) return difference > 0
  }
  return true
}
