import { withTimeLimit } from '@remit/contract/client'
import type { Gate } from '../gate.ts'
import type { SelfTestReport, SelfTestResult } from '../self-test.ts'
import type { Project } from './project.ts'

const SDK = '@remit/sdk'
/** The modules that have `createGate`. */
const GATES = [SDK, `${SDK}/node`]
const MAX_MS = 120_000

export type Enforcement =
  | 'enforced'
  /** The host asks a hook of this process; without the process it does not ask. */
  | 'enforced_while_the_hook_runs'
  | 'not_enforced'
  | 'not_tested'

/** The result for one framework of a project. */
export interface Finding {
  readonly framework: string
  readonly language: 'javascript' | 'python'
  readonly package: string
  /** Null where it is not installed. */
  readonly version: string | null
  readonly adapter: string
  readonly enforcement: Enforcement
  /** The reason, where it is not enforced or not tested. */
  readonly detail: string
  /** The cases of the self-test; empty where it did not run. */
  readonly cases: readonly SelfTestResult[]
}

/** The examined project, and the packages as this program loads them. */
interface Subject {
  readonly project: Project
  /** The version of a package that the adapters load. */
  readonly loaded: (name: string) => string | null
  readonly frameworks?: readonly Framework[]
}

/** Runs the self-test for every framework of a project, and for wrapped tools. */
export async function examine(
  gate: Gate,
  { project, loaded, frameworks = FRAMEWORKS }: Subject,
): Promise<{ findings: Finding[]; unused: string[] }> {
  const hasAdapter = ({ adapter }: Framework) => project.importsModule(`${SDK}/${adapter}`)
  const isDeclared = ({ package: name }: Framework) => project.declares(name)
  const used = frameworks.filter(
    (framework) =>
      hasAdapter(framework) || (isDeclared(framework) && project.imports(framework.package)),
  )
  const unused = frameworks.filter((one) => isDeclared(one) && !used.includes(one))
  const findings: Finding[] = []
  if (importsGate(project))
    findings.push({
      ...(await tested(() => gate.selfTest(), false)),
      framework: 'Wrapped tools',
      language: 'javascript',
      package: SDK,
      version: project.installed(SDK),
      adapter: `${SDK} (gate.wrap)`,
    })
  for (const framework of used)
    findings.push({
      ...(await examined(gate, framework, project, loaded)),
      framework: framework.name,
      language: 'javascript',
      package: framework.package,
      version: project.installed(framework.package),
      adapter: `${SDK}/${framework.adapter}`,
    })
  return { findings, unused: unused.map((framework) => framework.package) }
}

const importsGate = (project: Project): boolean => GATES.some((name) => project.importsModule(name))

type Judgment = Pick<Finding, 'enforcement' | 'detail' | 'cases'>

const untested = (enforcement: 'not_enforced' | 'not_tested', detail: string): Judgment => ({
  enforcement,
  detail,
  cases: [],
})

async function examined(
  gate: Gate,
  framework: Framework,
  project: Project,
  loaded: Subject['loaded'],
): Promise<Judgment> {
  const { package: name, adapter, since, load, isHooked = false, isOptional = false } = framework
  const version = project.installed(name)
  if (version === null && !isOptional) return untested('not_tested', `${name} is not installed`)
  if (!project.importsModule(`${SDK}/${adapter}`)) {
    const missing = `no file imports ${SDK}/${adapter}`
    if (isHooked || !importsGate(project)) return untested('not_enforced', missing)
    const wrapped = await tested(() => gate.selfTest(), false)
    return { ...wrapped, detail: `${missing}; tested through gate.wrap${after(wrapped.detail)}` }
  }
  if (version !== null && !isAtLeast(version, since))
    return untested('not_enforced', `the adapter needs ${name} ${since} or newer`)
  const other = loaded(name)
  // Else the test would tell nothing about the version that the project runs.
  if (!isOptional && other !== version)
    return untested('not_tested', `${SDK} finds ${other === null ? 'no' : other} ${name}`)
  return tested(async () => (await load()).selfTest(gate), isHooked)
}

const after = (detail: string): string => (detail === '' ? '' : `: ${detail}`)

/** A framework that throws, or never ends, proves nothing. */
async function tested(
  selfTest: () => Promise<SelfTestReport>,
  isHooked: boolean,
): Promise<Judgment> {
  try {
    const { enforced, results } = await withTimeLimit(MAX_MS, undefined, selfTest)
    const failed = results.filter(({ passed }) => !passed)
    if (enforced)
      return {
        enforcement: isHooked ? 'enforced_while_the_hook_runs' : 'enforced',
        detail: '',
        cases: results,
      }
    const detail = failed.map((result) => `${result.case}: ${result.detail}`).join('; ')
    return { enforcement: 'not_enforced', detail, cases: results }
  } catch (error) {
    return untested('not_tested', error instanceof Error ? error.message : String(error))
  }
}

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

const FRAMEWORKS: readonly Framework[] = [
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
