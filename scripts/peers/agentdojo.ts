import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startRemit } from '../../examples/test/support/server.ts'
import { environmentOf, runPython } from './authlib.ts'
import { ROOT, table } from './environment.ts'

/** Counts of a suite, as agentdojo_suites.py prints them. */
interface Counts {
  readonly tasks: number
  /** Tasks that were solved, each without an injection. */
  readonly solved: number
  readonly solved_without: number
  /** Tasks that a person was asked about, and how often. */
  readonly asked: number
  readonly asked_calls: number
  /** Of a task and an injection that the agent read. */
  readonly pairs: number
  readonly attacks: number
  readonly attacks_without: number
  /** Tasks solved although their agent was hijacked. */
  readonly solved_attacked: number
  readonly passed: Readonly<Record<string, number>>
}

/** Runs the suites of AgentDojo against a server of its own. */
export async function runSuites(): Promise<{ figures: string; problems: string[] }> {
  const server = await startRemit({ failedKeyLimit: 0 })
  try {
    const env = { ...environmentOf(server), PYTHONPATH: join(ROOT, 'sdks/python/src') }
    const { code, output } = await runPython('agentdojo', 'agentdojo_suites.py', env)
    if (code !== 0) return { figures: '', problems: [`the suites ended with ${code}`] }
    return { figures: figuresOf(output), problems: [] }
  } finally {
    await server.stop()
  }
}

function figuresOf(output: string): string {
  const { version, benchmark, suites } = JSON.parse(output) as {
    version: string
    benchmark: string
    suites: Record<string, Counts>
  }
  const rules = JSON.parse(
    readFileSync(join(ROOT, 'scripts/peers/agentdojo_rules.json'), 'utf8'),
  ) as Record<string, { says: string }>
  const percent = (part: number, whole: number) =>
    `${part} of ${whole} (${((100 * part) / whole).toFixed(1)} %)`
  const names = ['suite', 'solved without Remit', 'solved with Remit', 'tasks that ask (calls)']
  const attacks = ['attacks without Remit', 'with Remit', 'solved under attack']
  const rows = Object.entries(suites).map(([name, one]) => [
    name,
    `${one.solved_without} of ${one.tasks}`,
    `${one.solved} of ${one.tasks}`,
    `${one.asked} (${one.asked_calls})`,
    percent(one.attacks_without, one.pairs),
    percent(one.attacks, one.pairs),
    `${one.solved_attacked} of ${one.pairs}`,
  ])
  const says = Object.entries(suites).map(([name, { passed }]) => {
    const through = Object.entries(passed).map(([task, count]) => `\`${task}\` (${count})`)
    const what =
      through.length > 0 ? `Gets through: ${through.join(', ')}.` : 'Nothing gets through.'
    return `- **${name}**: ${rules[name]?.says} ${what}`
  })
  return `AgentDojo ${version}, benchmark ${benchmark}.

${table([...names, ...attacks], rows)}

${says.join('\n')}`
}
